"""The handouts hold what they should, work offline, and print well."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import handouts
import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import NOTEBOOKS, ROOT
from fontTools.ttLib import TTFont
from nbclient import NotebookClient
from pypdf import PdfReader
from series import chapters
from series.cells import tags
from series.formulas import mathml
from small_series import TITLES, small_notebook, write_small_series

MEGABYTES = 4
A4 = (595, 842)  # in points
BOUND = "positional_encoding"
OPEN_FOLDS = """document.querySelectorAll('details').forEach(
    fold => { fold.open = true; })"""
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


@pytest.fixture(scope="module")
def made(small, tmp_path_factory) -> Path:
    """What the command makes of the small series, PDF included."""
    folder = tmp_path_factory.mktemp("made")
    done = run_command(*small, "--pdf", "--output", folder)
    if "Chrome or Edge, and none was found" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stderr == ""
    return folder


def run_command(*arguments) -> subprocess.CompletedProcess:
    command = [sys.executable, "workshop/handouts.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@cache
def page_of(path: Path, kind: str) -> BeautifulSoup:
    html = handouts.page([path], kind, "a4", lambda name: f"{name}.html")
    return BeautifulSoup(html, "html.parser")


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request) -> Path:
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


@pytest.fixture
def student(path) -> BeautifulSoup:
    return page_of(path, "student")


def tagged(notebook, tag: str, kind: str = "code") -> list:
    cells = [cell for cell in notebook.cells if cell.cell_type == kind]
    return [cell for cell in cells if tag in tags(cell)]


def without_solutions(notebook) -> list:
    return [cell for cell in notebook.cells if "solution" not in tags(cell)]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


# Pages.


def test_everything_is_inside_the_page(student):
    text = str(student)
    assert len(text) < MEGABYTES * 1e6
    assert not student.select("link, iframe, object, embed")
    ours = handouts.PLAY_SCRIPT.read_text("utf-8").strip()
    plays = [ours] if student.select("posenc-play") else []
    assert [script.text.strip() for script in student("script")] == plays
    assert all(e["src"].startswith("data:") for e in student.select("[src]"))
    addresses = re.findall(r"url\(\s*[\"']?([^)]+)", text)
    assert all(address.startswith("data:") for address in addresses)
    assert "@import" not in text


def test_links_lead_somewhere_and_the_sections_are_listed(student):
    assert student.html["lang"] == "en"
    contents = [link.text for link in student.select(".contents a")]
    assert contents == [heading.text for heading in student("h2")]
    ids = [element["id"] for element in student.select("[id]")]
    assert len(ids) == len(set(ids))
    names = {f"{path.stem}.html" for path in NOTEBOOKS}
    for link in student.select("a[href]"):
        target = link["href"]
        if target.startswith("#"):
            assert target[1:] in ids
        elif not target.startswith("http"):
            assert target in names


def test_answers_are_folded_away_from_their_questions(notebook, student):
    folds = student("details")
    assert len(folds) == len(tagged(notebook, "reveal"))
    questions = student.select(".celltag_predict")
    assert len(questions) == len(folds)
    for question, fold in zip(questions, folds, strict=True):
        assert question.find_next("details") is fold
        assert not fold.select(".celltag_predict, .celltag_exercise")
        assert fold.select_one(".celltag_reveal")
        assert not fold.has_attr("open")


def test_formulas_are_set_in_a_font_that_has_them(student):
    found = student("math")
    assert not any("$" in e.text for e in student.select("p, li, td"))
    font = TTFont(ROOT / "workshop/templates/STIXTwoMath.woff")
    assert "MATH" in font
    known = set(font.getBestCmap())
    for formula in found:
        letters = {ord(c) for c in formula.text if not c.isspace()}
        assert letters <= known | {0x2061}
        assert "\\" not in formula.text


def test_a_small_notebook_for_students(small):
    page = page_of(small[0], "student")
    cells = [e["id"].split("=")[1] for e in page.select("[id^=cell-id]")]
    left_out = {"draw", "check-1", "solution-1", "solution-1-text"}
    wanted = [c.id for c in small_notebook("", "").cells]
    assert cells == [f"01-{name}" for name in wanted if name not in left_out]
    hidden = "folded|HINT|SOLVED|CLEAR|Not answered yet"
    assert not re.search(hidden, page.main.text)
    questions, exercises = ["Your prediction"] * 2, ["Your answer"]
    assert [e.parent.text for e in page("textarea")] == questions + exercises
    assert [i["alt"] for i in page("img")] == ["A teal box."]
    assert "answer_1 = ..." in page.text
    said = [e.text for e in page.select(".label")]
    assert said == [chapters.PROGRESS]


def test_instructors_get_everything(small):
    page = page_of(small[0], "instructor")
    cells = small_notebook("", "").cells
    found = [e["id"].split("=")[1] for e in page.select("[id^=cell-id]")]
    assert found == [f"01-{cell.id}" for cell in cells]
    for cell in cells:
        if cell.cell_type == "code":
            assert squeezed(cell.source) in squeezed(page.text)
    assert [i["alt"] for i in page("img")] == ["A teal box.", "The solution."]
    assert [e.text for e in page.select(".label")].count("Solution") == 2
    assert not page.select("textarea, details, .prompt")
    assert "Not answered yet" not in page.text


def test_a_formula_that_cannot_be_set_is_refused():
    with pytest.raises(chapters.NotebookError, match="cannot set"):
        mathml(r"\nonsense{a}", "inline")


THIN = '<mspace width="0.167em"/>'


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"a\!b", "<mi>a</mi><mi>b</mi>"),
        ("a / b", '<mi>a</mi><mo lspace="0" rspace="0">/</mo><mi>b</mi>'),
        (r"2 \sin x", f"<mn>2</mn>{THIN}<mi>sin</mi>{THIN}<mi>x</mi>"),
        ("a = -1", '<mo form="prefix">&#x02212;</mo><mn>1</mn>'),
        ("a + |b|", '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;'),
        (r"\sin^2 x", "<msup><mi>sin</mi><mn>2</mn></msup>"),
        (r"\mathrm{i}", '<mi mathvariant="normal">&#x00069;</mi>'),
        (r"\overline{ab}", '<mo stretchy="true">&#x0203E;</mo>'),
    ],
)
def test_formulas_are_spaced_as_tex_spaces_them(latex, wanted):
    assert wanted in mathml(latex, "inline")


def test_a_picture_without_text_is_refused(small, tmp_path):
    notebook = nbformat.read(small[0], as_version=4)
    cell = next(c for c in notebook.cells if c.id == "figure-a")
    cell.outputs[0].metadata = {}
    nbformat.write(notebook, tmp_path / "01_no_alt.ipynb")
    with pytest.raises(chapters.NotebookError, match=r"01_no_alt.*figure-a"):
        handouts.main(
            [str(tmp_path / "01_no_alt.ipynb"), "--output", str(tmp_path)]
        )


def test_a_page_links_to_exported_pages_only(small, tmp_path):
    first, second = small
    handouts.main([str(first), "--output", str(tmp_path)])
    html = (tmp_path / "student" / f"{first.stem}.html").read_text()
    assert "Next: the other" in html
    assert second.stem not in html


# Notebooks to work in.


def test_a_student_notebook_is_the_notebook_without_answers(path, notebook):
    copy = chapters.student_notebook(path)
    nbformat.validate(copy)
    assert copy.metadata == notebook.metadata
    originals = without_solutions(notebook)
    for cell, original in zip(copy.cells, originals, strict=True):
        assert (cell.id, cell.metadata) == (original.id, original.metadata)
        if cell.cell_type == "code":
            assert cell.source == original.source
            assert (cell.outputs, cell.execution_count) == ([], None)
    text = "\n".join(cell.source for cell in copy.cells)
    assert chapters.CLEAR_OUTPUTS not in text


def functions(cells) -> set[str]:
    """What functions do, whatever they are called and say of themselves."""
    found = set()
    for cell in cells:
        tree = ast.parse(cell.source if cell.cell_type == "code" else "")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                if ast.get_docstring(node) is not None:
                    node.body = node.body[1:]
                found.add(ast.unparse(node.body))
    return found - {"..."}


def test_a_student_notebook_holds_no_solution(path, notebook):
    """Nor does it speak of any, folded or not."""
    copy = chapters.student_notebook(path)
    solutions = functions(tagged(notebook, "solution"))
    assert not solutions & functions(copy.cells)
    assert "solution" not in "\n".join(cell.source for cell in copy.cells)


SOME = [
    pytest.param(
        path,
        id=path.stem,
        marks=[] if path.stem.startswith("07") else pytest.mark.slow,
    )
    for path in NOTEBOOKS
]


@pytest.mark.parametrize("path", SOME)
def test_a_student_notebook_runs(path):
    copy = chapters.student_notebook(path)
    NotebookClient(copy, timeout=300, kernel_name="python3").execute()
    for cell in tagged(copy, "exercise"):
        said = "".join(output.get("text", "") for output in cell.outputs)
        assert "Not answered yet" in said, cell.id


def test_a_student_notebook_folds_the_explanation(small):
    """What the student runs stays open; so does what comes after it."""
    cells = {c.id: c for c in chapters.student_notebook(small[0]).cells}
    folded = {
        name for name, cell in cells.items() if "<details>" in cell.source
    }
    assert folded == {"explain-a", "caption-a", "explain-b"}
    assert "\n\nIt is four.\n\n</details>" in cells["explain-b"].source


@pytest.mark.parametrize("solutions", [False, True])
def test_notebooks_are_written_and_nothing_else(small, tmp_path, solutions):
    folder = tmp_path / "class" / "copies"
    option = ["--solutions"] * solutions
    paths = map(str, small)
    handouts.main([*paths, "--notebooks", str(folder), *option])
    read = chapters.read_notebook if solutions else chapters.student_notebook
    written = {path.name: read(path) for path in small}
    assert {
        path.name: nbformat.read(path, as_version=4)
        for path in folder.iterdir()
    } == written


def test_no_work_is_lost(small, tmp_path):
    handouts.write_notebooks(small, tmp_path)
    handouts.write_notebooks(small, tmp_path)  # the same again: no harm
    first, second = sorted(tmp_path.iterdir())
    second.write_text("work of hours")
    first.unlink()
    with pytest.raises(handouts.HandoutError, match=r"02_second.*--overwrite"):
        handouts.write_notebooks(small, tmp_path)
    assert second.read_text() == "work of hours"
    assert not first.exists()  # all or nothing
    handouts.write_notebooks(small, tmp_path, overwrite=True)
    assert nbformat.read(second, as_version=4).cells


def test_an_edited_notebook_beside_the_pages_is_kept(small, tmp_path, capsys):
    handouts.renew_notebooks(small, tmp_path)
    kept, old = (tmp_path / path.name for path in small)
    kept.write_text("work of hours")
    changed = nbformat.read(small[1], as_version=4)
    changed.cells[0].source += "More."
    newer = tmp_path / "newer" / small[1].name
    newer.parent.mkdir()
    nbformat.write(changed, newer)

    capsys.readouterr()
    handouts.renew_notebooks([small[0], newer], tmp_path)
    assert kept.read_text() == "work of hours"
    assert f"{kept} was edited: kept." in capsys.readouterr().out
    assert "More." in old.read_text()
    handouts.renew_notebooks(small, tmp_path, overwrite=True)
    assert nbformat.read(kept, as_version=4).cells


def test_a_notebook_never_replaces_itself(small):
    before = small[0].read_bytes()
    with pytest.raises(handouts.HandoutError, match="not replaced"):
        handouts.write_notebooks(small, small[0].parent, overwrite=True)
    assert small[0].read_bytes() == before


# The command.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("README.md", "NOTEBOOK: not a notebook: README.md"),
        ("--pdf --browser /no/such", "no browser: /no/such (named by --brow"),
        ("--pdf --notebooks none", "--pdf goes without --notebooks"),
        ("--output README.md", "--output: not a folder: README.md"),
        ("--solutions", "goes with --notebooks FOLDER"),
        ("--notebooks=", "the name of the folder is empty"),
        ("{0}/a/x.ipynb {0}/b/x.ipynb", "have the same name"),
        ("{0}/a/x.ipynb", "x.ipynb has no cells"),
        ("{0}/a/y.ipynb", "y.ipynb is no notebook"),
        ("{0}/a/y.ipynb --notebooks {0}/out", "y.ipynb is no notebook"),
    ],
)
def test_errors_are_said_in_a_line(
    arguments, said, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(ROOT)
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        nbformat.write(nbformat.v4.new_notebook(), folder / "x.ipynb")
    (tmp_path / "a/y.ipynb").write_text("{}")
    out = tmp_path / "out"
    output = [] if "--output" in arguments else ["--output", str(out)]
    errors = (SystemExit, handouts.HandoutError, chapters.NotebookError)
    with pytest.raises(errors) as stopped:
        handouts.main([*arguments.format(tmp_path).split(), *output])
    assert said in capsys.readouterr().err + str(stopped.value)
    assert not out.exists()


def test_pdf_without_a_browser_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(handouts, "BROWSERS", ())
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(handouts.HandoutError, match="leave out --pdf"):
        handouts.main(["--pdf", "--output", str(tmp_path)])


def test_the_command_makes_all_that_it_promises(made, small):
    stems = [path.stem for path in small]
    pages = {f"{stem}.{end}" for stem in stems for end in ("html", "pdf")}
    pages.add(f"{BOUND}.pdf")
    notebooks = {path.name for path in small}
    notebooks.add(handouts.WRITTEN)
    found = {k: {p.name for p in (made / k).iterdir()} for k in handouts.KINDS}
    assert found == {"student": pages | notebooks, "instructor": pages}
    assert {path.name for path in made.iterdir()} == set(handouts.KINDS)


# In print.


@pytest.fixture(scope="module", params=handouts.KINDS)
def bound(request, made):
    return PdfReader(made / request.param / f"{BOUND}.pdf")


def pdf_of(made: Path, kind: str, name: str):
    return PdfReader(made / kind / f"{name}.pdf")


def page_with(pdf, text: str) -> int:
    """The number of the only page that has this text."""
    found = [n for n, page in enumerate(pdf.pages, 1) if text in read(page)]
    assert len(found) == 1, (text, found)
    return found[0]


def read(page) -> str:
    return " ".join(page.extract_text().split())


def test_contents_and_links_lead_to_the_chapters(bound):
    starts = []
    for title in ("01 The one", '02 The "other"'):
        starts.append(page_with(bound, f"{title[3:]} Its subject"))
        said = re.search(re.escape(title) + r" (\d+)", read(bound.pages[0]))
        assert int(said[1]) == starts[-1]
    cover, *rest = [targets(bound, page) for page in bound.pages]
    assert cover == starts
    # Each chapter speaks of the other one, and of nothing else.
    assert [target for page in rest for target in page] == starts[::-1]


def targets(pdf, page) -> list[int]:
    """Page numbers that the links on a page lead to."""
    named = pdf.named_destinations
    found = []
    for annotation in page.get("/Annots", []):
        link = annotation.get_object()
        place = named[link["/Dest"]]
        found.append(pdf.get_destination_page_number(place) + 1)
    return found


def test_an_answer_is_not_on_the_page_of_its_question(made):
    for name in TITLES:
        pdf = pdf_of(made, "student", name)
        for letter in "AB":
            question = page_with(pdf, f"QUESTION-{letter}")
            assert page_with(pdf, f"ANSWER-{letter}") > question


def test_pdfs_are_tagged_outlined_and_of_the_right_size(made):
    for kind in handouts.KINDS:
        pdfs = sorted((made / kind).glob("*.pdf"))
        pages = [check_pdf(pdf) for pdf in pdfs]
        assert pages[2] == 1 + pages[0] + pages[1]


def check_pdf(path: Path) -> int:
    """Tagged, outlined, of the right size, and free of this machine."""
    data = path.read_bytes()
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    for width, height in sizes:
        assert abs(float(width) - A4[0]) < 1
        assert abs(float(height) - A4[1]) < 1
    for part in (b"/StructTreeRoot", b"/Outlines", b"/Lang", b"/Alt"):
        assert part in data, part
    assert b"file:" not in data
    return len(sizes)


# In a browser. From here on Playwright runs in this process, so that the
# command, which starts its own, cannot.


def open_offline(browser, page: BeautifulSoup):
    """Open a page with the network off; the page and what it asked for."""
    opened = browser.new_context(offline=True).new_page()
    asked = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.set_content(str(page))
    return opened, [url for url in asked if not url.startswith("data:")]


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
    for path in NOTEBOOKS
]


def violations(page) -> list[tuple[str, str]]:
    """What axe finds wrong: the rule, and the first element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    how = {"resultTypes": ["violations"], "preload": False}
    found = axe.run(page, None, how).response
    return [
        (violation["id"], violation["nodes"][0]["html"])
        for violation in found["violations"]
    ]


@pytest.mark.parametrize(("path", "kind"), PAGES)
def test_in_a_browser_with_the_network_off(browser, path, kind):
    """It asks for nothing, axe finds nothing, and no part is cut off."""
    page, asked = open_offline(browser, page_of(path, kind))
    assert asked == []
    assert page.evaluate("[...document.images].every(i => i.naturalWidth)")
    loaded = page.evaluate(LOADED)
    assert loaded == ["Handout Math"] * (page.locator("math").count() > 0)
    page.evaluate(OPEN_FOLDS)
    assert violations(page) == []
    for media, width in [("screen", 1200), ("screen", 360), ("print", 537)]:
        page.emulate_media(media=media)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOWING) == []
        for shown, wanted, room, dots in page.evaluate(SIZES):
            assert abs(shown - min(wanted, room)) <= 1
            assert abs(dots - 2 * wanted) <= 1
    page.context.close()
