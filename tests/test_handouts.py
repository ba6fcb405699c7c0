"""The handouts hold what they should, work offline, and print well."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import handouts
import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import PATHS, ROOT
from fontTools.ttLib import TTFont
from in_browser import OPEN_FOLDS, violations
from posenc_series.commands import CommandError
from posenc_series.listing import NOTEBOOKS
from pypdf import PdfReader
from small_series import (
    TITLES,
    code,
    notebook_with_a_form,
    small_notebook,
    teal_picture,
    write_small_series,
)

A4 = (595, 842)  # in points
OVERFLOWING = """() => {
    const scrolls = e => getComputedStyle(e).overflowX === 'auto'
        || e.parentElement && scrolls(e.parentElement);
    return [...document.querySelectorAll('main, main *')]
        .filter(e => getComputedStyle(e).display !== 'inline' && !scrolls(e))
        .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
        .map(e => e.outerHTML.slice(0, 200)); }"""
LOADED = """document.fonts.ready.then(fonts => [...fonts]
    .filter(font => font.status === 'loaded')
    .map(font => font.family.replaceAll('"', '')))"""
SIZES = """[...document.images].filter(i => i.checkVisibility()).map(i => [
    i.clientWidth, Number(i.getAttribute('width')),
    i.parentElement.clientWidth, i.naturalWidth])"""


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> list[Path]:
    return write_small_series(tmp_path_factory.mktemp("small"))


@cache
def as_html(path: Path, kind: str) -> BeautifulSoup:
    beside = [path.stem for path in PATHS] + [*TITLES]
    html = handouts.page(path, kind, beside=beside)
    return BeautifulSoup(html, "html.parser")


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def student(request) -> BeautifulSoup:
    return as_html(request.param, "student")


# Pages.


def test_links_lead_somewhere_and_the_sections_are_listed(student):
    contents = [link.text for link in student.select(".contents a")]
    assert contents == [heading.text for heading in student("h2")]
    ids = [element["id"] for element in student.select("[id]")]
    assert len(ids) == len(set(ids))
    there = {f"#{name}" for name in ids}
    there |= {f"{path.stem}.html" for path in PATHS}
    there |= {
        f"{path.stem}.html#{each['id']}"
        for path in PATHS
        for each in as_html(path, "student").select("[id^=cell-id]")
    }
    targets = {link["href"] for link in student.select("a[href]")}
    assert not {t for t in targets - there if not t.startswith("http")}


def test_nothing_speaks_of_folded_cells(student):
    for cell in student.select(".markdown"):
        assert not re.search("folded|Run All Above", cell.text)


def test_choices_need_no_room_to_write(student):
    for question in student.select(".predict"):
        room = str(question.find_next_sibling())
        has_choices = "something else" in question.text
        assert bool(re.search("Your prediction|do you say", room)) != (
            has_choices
        )


def test_formulas_are_set_in_a_font_that_has_them(student):
    assert not any("$" in e.text for e in student.select("p, li, td"))
    font = TTFont(ROOT / "workshop/templates/STIXTwoMath.woff")
    assert "MATH" in font
    known = {*font.getBestCmap(), 0x2061}
    for formula in student("math"):
        assert {ord(c) for c in formula.text if not c.isspace()} <= known
        assert "\\" not in formula.text


def shown(page: BeautifulSoup) -> list[str]:
    """The ids of the cells that a page of the small series shows."""
    found = page.select("[id^=cell-id]")
    return [e["id"].removeprefix("cell-id=") for e in found]


def test_a_small_notebook_for_students(small):
    page = as_html(small[0], "student")
    left_out = {"draw", "check-1", "solution-1", "solution-1-text"}
    wanted = [c.id for c in small_notebook("", "").cells]
    assert shown(page) == [name for name in wanted if name not in left_out]
    hidden = "folded|HINT|SOLVED|Not answered yet"
    assert not re.search(hidden, page.main.text)
    questions, exercises = ["Your prediction"] * 2, ["Your answer"]
    assert [e.parent.text for e in page("textarea")] == questions + exercises
    assert [i["alt"] for i in page("img")] == ["A teal box."]
    assert "answer_1 = ..." in page.text
    for letter, other, fold in zip("AB", "BA", page("details"), strict=True):
        assert f"ANSWER-{letter}" in fold.text
        assert not re.search(f"QUESTION|ANSWER-{other}", fold.text)
        assert not fold.has_attr("open")


def test_students_judge_sentences_before_they_see_a_verdict(tmp_path):
    path = tmp_path / "15_sentences.ipynb"
    nbformat.write(notebook_with_a_form(), path)
    page = as_html(path, "student")
    (room,) = page("textarea")
    assert "true / false / it depends" in room.parent.text
    assert "Not answered yet" not in page.text
    (fold,) = page("details")
    assert "VERDICT" in fold.text
    assert "SO-OR-NOT" not in fold.text


def test_instructors_get_everything(small):
    page = as_html(small[0], "instructor")
    cells = small_notebook("", "").cells
    assert shown(page) == [cell.id for cell in cells]
    text = "".join(page.text.split())
    for cell in cells:
        if cell.cell_type == "code":
            assert "".join(cell.source.split()) in text
    assert [i["alt"] for i in page("img")] == ["A teal box.", "The solution."]
    assert [e.text for e in page.select(".label")].count("Solution") == 2
    assert not page.select("textarea, details, .prompt")
    assert "Not answered yet" not in page.text


def test_a_page_links_to_exported_pages_only(small, tmp_path):
    first, second = small
    handouts.main([str(first), "--output", str(tmp_path)])
    html = (tmp_path / "student" / f"{first.stem}.html").read_text()
    assert "Next: the other" in html
    assert second.stem not in html


def test_a_page_of_one_section(small):
    html = handouts.page(small[0], "student", ["recap"])
    page = BeautifulSoup(html, "html.parser")
    assert shown(page) == ["title", "aims", "recap", "nav-end"]


def test_a_sheet_says_what_its_notebook_asks_and_answers():
    text = " ".join(handouts.sheet(PATHS[0]).split())
    for words in (
        "dog chased the cat",
        "| Meet RoPE |",
        "**C** with all three | ____ | ____ |",
        "permuting its inputs permutes its outputs",
        "*Ask:* What did the index divided by 5 reach?",
        '`solution_1 = ["000", "001", "011", "010", "110",',
    ):
        assert words in text
    ends = re.findall(r"\| \d+ \| (\d+) \|", text)
    assert abs(int(ends[-1]) - NOTEBOOKS[0].minutes) <= 5


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_sheet_has_two_pages(browser, path, tmp_path):
    html = handouts.sheet_page("it", handouts.sheet(path))
    assert handouts.print_pdf(html, tmp_path / "sheet.pdf", browser) == 2


# The command.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("README.md", "NOTEBOOK: not a notebook: README.md; name a file"),
        ("77", "not a notebook: 77"),
        ("--pdf", "print the pages from any browser"),
        ("--output README.md", "README.md"),
        ("{0}/a/x.ipynb", "x.ipynb has no cells"),
        ("{0}/a/y.ipynb", "y.ipynb is no notebook"),
        ("{0}/a/w.ipynb", "w.ipynb is no notebook: Additional properties"),
        ("{0}/a/z.ipynb", "z.ipynb, cell one: a picture without a text"),
    ],
)
def test_errors_are_said_in_a_line(
    arguments, said, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    (tmp_path / "a").mkdir()
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "a/x.ipynb")
    (tmp_path / "a/y.ipynb").write_text("{}")
    cell = code("one", "draw()", outputs=[teal_picture(alt="")])
    no_alt = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(no_alt, tmp_path / "a/z.ipynb")
    no_outputs = nbformat.writes(no_alt).replace("outputs", "output")
    (tmp_path / "a/w.ipynb").write_text(no_outputs)
    out = tmp_path / "out"
    output = [] if "--output" in arguments else ["--output", str(out)]
    with pytest.raises((SystemExit, CommandError, OSError)) as stopped:
        handouts.main([*arguments.format(tmp_path).split(), *output])
    assert said in capsys.readouterr().err + str(stopped.value)
    assert not list(out.rglob("*.*"))


# In print.


@pytest.fixture(scope="module")
def made(small, tmp_path_factory) -> Path:
    """What the command makes of the small series, PDF included."""
    folder = tmp_path_factory.mktemp("made")
    command = [sys.executable, ROOT / "workshop/handouts.py", *small, "--pdf"]
    done = subprocess.run(
        [*command, "--output", folder], capture_output=True, text=True
    )
    if "PDF needs a browser" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stderr == ""
    return folder


def test_the_command_makes_all_that_it_promises(made):
    pages = {f"{stem}.{end}" for stem in TITLES for end in ("html", "pdf")}
    for kind in handouts.KINDS:
        assert {path.name for path in (made / kind).iterdir()} == pages
    sheets = {path.name for path in (made / "sheets").iterdir()}
    assert sheets == {"feedback.html", "feedback.pdf"}


def page_with(pdf: PdfReader, text: str) -> int:
    """The number of the only page that has this text."""
    found = [n for n, page in enumerate(pdf.pages, 1) if text in words(page)]
    assert len(found) == 1, (text, found)
    return found[0]


def words(page) -> str:
    return " ".join(page.extract_text().split())


def test_an_answer_is_not_on_the_page_of_its_question(made):
    for name in TITLES:
        pdf = PdfReader(made / "student" / f"{name}.pdf")
        for letter in "AB":
            question = page_with(pdf, f"QUESTION-{letter}")
            assert page_with(pdf, f"ANSWER-{letter}") > question


def test_pdfs_are_tagged_outlined_and_of_the_right_size(made):
    for pdf in made.rglob("0*.pdf"):
        data = pdf.read_bytes()
        sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
        for size in sizes:
            assert [float(side) for side in size] == pytest.approx(A4, abs=1)
        for part in (b"/StructTreeRoot", b"/Outlines", b"/Lang", b"/Alt"):
            assert part in data, part
        assert b"file:" not in data  # of this machine


# In a browser. From here on Playwright runs in this process, so that the
# command, which starts its own, cannot.


BY_DEFAULT = ("student-01", "student-04", "instructor-01")
PAGES = [
    pytest.param(
        path,
        kind,
        id=f"{kind}-{path.stem}",
        marks=[]
        if f"{kind}-{path.stem[:2]}" in BY_DEFAULT
        else pytest.mark.slow,
    )
    for kind in handouts.KINDS
    for path in PATHS
]


@pytest.mark.parametrize(("path", "kind"), PAGES)
def test_in_a_browser_with_the_network_off(browser, path, kind):
    """It asks for nothing, axe finds nothing, and no part is cut off."""
    asked = []
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.set_content(str(as_html(path, kind)))
        assert page.evaluate("[...document.images].every(i => i.naturalWidth)")
        loaded = page.evaluate(LOADED)
        has_formulas = page.locator("math").count() > 0
        assert loaded == ["Formulas"] * has_formulas
        page.evaluate(OPEN_FOLDS)
        assert violations(page) == []
        for media, width in [
            ("screen", 1200),
            ("screen", 360),
            ("print", 537),
        ]:
            page.emulate_media(media=media)
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(OVERFLOWING) == []
            for shown, wanted, room, dots in page.evaluate(SIZES):
                assert abs(shown - min(wanted, room)) <= 1
                assert abs(dots - 2 * wanted) <= 1
    assert [url for url in asked if not url.startswith("data:")] == []
