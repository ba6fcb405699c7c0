"""The handouts hold what they should, work offline, and print well."""

import re
from functools import cache
from pathlib import Path

import handouts
import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import PATHS, ROOT, slow_but
from fontTools.ttLib import TTFont
from in_browser import violations
from posenc_series.commands import CommandError
from posenc_series.listing import NOTEBOOKS
from pypdf import PdfReader
from small_series import code, picture, small_notebook, write_small_series

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
    i.parentElement.clientWidth])"""


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return write_small_series(tmp_path_factory.mktemp("small"))[0]


@cache
def as_html(path: Path, kind: str) -> BeautifulSoup:
    return BeautifulSoup(handouts.page(path, kind), "html.parser")


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def student(request) -> BeautifulSoup:
    return as_html(request.param, "student")


# Pages.


def test_links_lead_somewhere_in_the_page(student):
    ids = [element["id"] for element in student.select("[id]")]
    assert len(ids) == len(set(ids))
    targets = {link["href"] for link in student.select("a[href]")}
    there = {f"#{name}" for name in ids}
    assert not {t for t in targets - there if not t.startswith("http")}


def test_nothing_speaks_of_folded_cells(student):
    for cell in student.select(".markdown"):
        assert not re.search("folded|Run All Above", cell.text)


def test_a_prediction_is_ticked_or_written(student):
    for question in student.select(".predict"):
        is_written = "Your prediction" in str(question.find_next_sibling())
        assert is_written != ("☐ something else" in question.text)


def test_formulas_are_set_in_a_font_that_has_them(student):
    assert not any("$" in e.text for e in student.select("p, li, td"))
    font = TTFont(ROOT / "workshop/templates/STIXTwoMath.woff")
    assert "MATH" in font
    known = {*font.getBestCmap(), 0x2061}
    for formula in student("math"):
        assert {ord(c) for c in formula.text if not c.isspace()} <= known
        assert "\\" not in formula.text


def shown(page: BeautifulSoup) -> list[str]:
    """The ids of the cells that a page shows."""
    found = page.select("[id^=cell-id]")
    return [e["id"].removeprefix("cell-id=") for e in found]


def test_a_small_notebook_for_students(small):
    page = as_html(small, "student")
    left_out = {"draw", "check-1", "solution-1", "solution-1-text", "nav-end"}
    wanted = [c.id for c in small_notebook("", "").cells]
    assert shown(page) == [name for name in wanted if name not in left_out]
    hidden = "folded|HINT|SOLVED|Not answered yet"
    assert not re.search(hidden, page.main.text)
    assert [e.parent.text for e in page("textarea")] == [
        *("Your prediction", "Your prediction", "Your answer")
    ]
    assert [i["alt"] for i in page("img")] == ["A teal box."]
    assert "answer_1 = ..." in page.text
    for question in page.select(".predict"):
        # With what leads to it.
        assert question.parent["class"] == ["together"]
        assert question.find_previous_sibling(class_="cell")


def test_instructors_get_everything(small):
    page = as_html(small, "instructor")
    cells = small_notebook("", "").cells
    assert shown(page) == [cell.id for cell in cells if cell.id != "nav-end"]
    text = "".join(page.text.split())
    for cell in cells:
        if cell.cell_type == "code":
            assert "".join(cell.source.split()) in text
    assert [i["alt"] for i in page("img")] == ["A teal box.", "The solution."]
    assert not page.select("textarea, .answer")


def test_a_sheet_says_what_its_notebook_asks_and_answers():
    text = " ".join(handouts.sheet(PATHS[0]).split())
    for words in (
        "| ____ | ____ |",
        "permuting its inputs permutes its outputs",
        "`solution_1 = [",
    ):
        assert words in text
    ends = re.findall(r"\| \d+ \| (\d+) \|", text)
    assert abs(int(ends[-1]) - NOTEBOOKS[0].minutes) <= 5


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_sheet_answers_the_key_question_in_words(path):
    answer = handouts.sheet(path).split("**Answer.** ")[1].split("\n\n")[0]
    assert len(answer.split()) > 15
    assert "print(" not in answer
    assert not answer.endswith(":")


# The command.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("00 --sections Nowhere", "no section 'Nowhere'; there are: Follow"),
        ("00 --pdf", "print the pages from any browser"),
        ("{0}/z.ipynb", "z.ipynb, cell one: a picture without a text"),
    ],
)
def test_what_cannot_be_written_is_named(
    arguments, said, monkeypatch, tmp_path
):
    monkeypatch.setenv("CHROMIUM", "/no/browser")
    cell = code("one", "draw()", outputs=[picture(alt="")])
    no_alt = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(no_alt, tmp_path / "z.ipynb")
    out = tmp_path / "out"
    command = [*arguments.format(tmp_path).split(), "--output", str(out)]
    with pytest.raises(CommandError, match=said):
        handouts.main(command)
    assert not out.exists()


# In a browser, and in print.


def test_a_pdf_is_tagged_and_an_answer_begins_a_page(small, browser, tmp_path):
    file = tmp_path / "page.pdf"
    handouts.print_pdf(handouts.page(small, "student"), file, browser)
    text = "PAGE".join(page.extract_text() for page in PdfReader(file).pages)
    for letter in "AB":
        before, answer, _ = text.partition(f"ANSWER-{letter}")
        assert answer and re.search(f"(?s)QUESTION-{letter}.*PAGE", before)
    data = file.read_bytes()
    for part in (b"/StructTreeRoot", b"/Outlines", b"/Lang", b"/Alt"):
        assert part in data, part


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_sheet_has_two_pages_at_most(browser, path, tmp_path):
    html = handouts.sheet_page("it", handouts.sheet(path))
    assert handouts.print_pdf(html, tmp_path / "sheet.pdf", browser) <= 2


@pytest.mark.parametrize("path", slow_but("04"))
@pytest.mark.parametrize("kind", handouts.KINDS)
def test_in_a_browser_with_the_network_off(browser, path, kind):
    """It asks for nothing, axe finds nothing, and no part is cut off."""
    asked = []
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.set_content(handouts.page(path, kind))
        assert page.evaluate("[...document.images].every(i => i.naturalWidth)")
        has_formulas = page.locator("math").count() > 0
        assert page.evaluate(LOADED) == ["Formulas"] * has_formulas
        assert violations(page) == []
        for media, width in [("screen", 360), ("print", 537)]:
            page.emulate_media(media=media)
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(OVERFLOWING) == []
            for shown, wanted, room in page.evaluate(SIZES):
                assert abs(shown - min(wanted, room)) <= 1
    assert [url for url in asked if not url.startswith("data:")] == []
