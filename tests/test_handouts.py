"""The handouts hold what they should, work offline, and print well."""

import re
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import NOTEBOOKS, ROOT
from fontTools.ttLib import TTFont

sys.path.insert(0, str(ROOT / "workshop"))
import handouts

MEGABYTES = 4
A4, LETTER = (595, 842), (612, 792)  # in points
BOUND = "positional_encoding"
OPEN_FOLDS = """document.querySelectorAll('details').forEach(
    fold => { fold.open = true; })"""
OVERFLOWING = """() => [...document.querySelectorAll('main *')]
    .filter(e => getComputedStyle(e).display !== 'inline')
    .filter(e => getComputedStyle(e).overflowX !== 'auto')
    .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
    .map(e => e.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("handouts")
    handouts.main(["--output", str(folder)])
    return folder


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    notebook = nbformat.read(request.param, as_version=4)
    notebook.metadata.stem = request.param.stem
    return notebook


@pytest.fixture
def student(made, notebook) -> BeautifulSoup:
    return parse(made / "student" / f"{notebook.metadata.stem}.html")


@pytest.fixture
def instructor(made, notebook) -> BeautifulSoup:
    return parse(made / "instructor" / f"{notebook.metadata.stem}.html")


@cache
def parse(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def tagged(notebook, tag: str, kind: str = "code") -> list:
    return [
        cell
        for cell in notebook.cells
        if tag in cell.metadata.get("tags", []) and cell.cell_type == kind
    ]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_everything_is_inside_the_file(made):
    files = sorted(made.rglob("*.html"))
    assert len(files) == 2 * len(NOTEBOOKS)
    for file in files:
        page, text = parse(file), file.read_text(encoding="utf-8")
        assert file.stat().st_size < MEGABYTES * 1e6
        assert not page.select("script, link, iframe, object, embed")
        for element in page.select("[src]"):
            assert element["src"].startswith("data:")
        assert all(
            address.startswith("data:")
            for address in re.findall(r"url\(\s*[\"']?([^)]+)", text)
        )
        assert "@import" not in text


def test_links_between_handouts_lead_somewhere(made):
    for file in made.rglob("*.html"):
        page = parse(file)
        ids = [element["id"] for element in page.select("[id]")]
        assert len(ids) == len(set(ids))
        for link in page.select("a[href]"):
            target = link["href"]
            if target.startswith("#"):
                assert target[1:] in ids
            elif not target.startswith("http"):
                assert (file.parent / target).exists(), target


def test_every_picture_arrives_with_its_text(notebook, student, instructor):
    def texts(cells):
        return [
            output.metadata["image/png"]["alt"]
            for cell in cells
            for output in cell.get("outputs", ())
            if "image/png" in output.get("data", {})
            and "exercise" not in cell.metadata.get("tags", [])
        ]

    for_students = [
        cell
        for cell in notebook.cells
        if "solution" not in cell.metadata.get("tags", [])
    ]
    assert [i["alt"] for i in instructor("img")] == texts(notebook.cells)
    assert [i["alt"] for i in student("img")] == texts(for_students)


def test_headings_are_in_order_and_the_language_is_said(student):
    levels = [int(h.name[1]) for h in student.find_all(re.compile("^h[1-6]$"))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert student.html["lang"] == "en"
    assert student.title.text.strip()


def test_students_get_no_solution_and_instructors_all(
    notebook, student, instructor
):
    solutions = tagged(notebook, "solution")
    solutions += tagged(notebook, "solution", "markdown")
    assert solutions
    for cell in solutions:
        if cell.cell_type == "code":
            assert squeezed(cell.source) in squeezed(instructor.text)
            assert squeezed(cell.source) not in squeezed(student.text)
    assert not student.select(".celltag_solution")
    assert len(instructor.select(".celltag_solution")) == len(solutions)
    stdout = [e.text.strip() for e in student.select(".output")]
    assert "Correct." not in stdout


def test_students_get_room_to_answer(notebook, student, instructor):
    questions = len(tagged(notebook, "predict", "markdown"))
    exercises = len(tagged(notebook, "exercise"))
    assert len(student("textarea")) == questions + exercises
    assert all(e.parent.name == "label" for e in student("textarea"))
    assert not instructor("textarea")
    assert "Not answered yet" not in student.text + instructor.text


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
    assert len(student.select("details .celltag_reveal")) == len(folds)


def test_what_moves_says_so(notebook, student):
    moving = tagged(notebook, "nbval-ignore-output")
    expected = [
        handouts.SLIDERS if "interact(" in cell.source else handouts.PROGRESS
        for cell in moving
    ]
    assert [e.text for e in student.select(".label")] == expected


def test_formulas_are_set_in_a_font_that_has_them(notebook, instructor):
    prose = "\n\n".join(
        cell.source for cell in notebook.cells if cell.cell_type == "markdown"
    )
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", prose, flags=re.S)
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", prose, re.S)
    found = instructor("math")
    assert len(found) == len(formulas)
    font = TTFont(ROOT / "workshop/handout/STIXTwoMath.woff")
    assert "MATH" in font
    known = set(font.getBestCmap())
    for formula in found:
        letters = {ord(c) for c in formula.text if not c.isspace()}
        assert letters <= known | {0x2061}
        assert "\\" not in formula.text


@pytest.mark.parametrize("latex", [r"\nonsense{a}", r"a \big"])
def test_a_formula_that_cannot_be_set_is_refused(latex):
    with pytest.raises(handouts.HandoutError, match="cannot set"):
        handouts.mathml(latex, "inline")


def test_a_picture_without_text_is_refused(tmp_path):
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    cell = next(c for c in notebook.cells if c.id == "figure-shuffle")
    cell.outputs[0].metadata = {}
    nbformat.write(notebook, tmp_path / "01_no_alt.ipynb")
    with pytest.raises(handouts.HandoutError, match="figure-shuffle"):
        handouts.main(
            [str(tmp_path / "01_no_alt.ipynb"), "--output", str(tmp_path)]
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.ipynb"], "not a notebook: absent.ipynb"),
        (["README.md"], "not a notebook: README.md"),
        (["--paper", "a5"], "invalid choice: 'a5'"),
        (["--pdf", "--browser", "/no/browser"], "no browser at /no/browser"),
    ],
)
def test_errors_are_said_in_one_line(arguments, said, tmp_path):
    command = [sys.executable, "workshop/handouts.py", *arguments]
    command += ["--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_pdf_without_a_browser_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(handouts.HandoutError, match="leave out --pdf"):
        handouts.main(["--pdf", "--output", str(tmp_path)])


def open_offline(browser, file: Path, **options):
    """Open a file with the network off; the page and what it asked for."""
    context = browser.new_context(offline=True, **options)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), wait_until="networkidle")
    return page, [url for url in asked if not url.startswith("data:")]


@pytest.mark.parametrize("kind", handouts.KINDS)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_in_a_browser_with_the_network_off(browser, made, path, kind):
    """It asks for nothing, axe finds nothing, and no part is cut off."""
    name = f"{kind}/{path.stem}.html"
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, asked = open_offline(browser, made / name)
    assert asked == [(made / name).as_uri()]
    assert page.evaluate("[...document.images].every(i => i.naturalWidth)")
    assert page.evaluate("document.fonts.check('16px \"Handout Math\"')")
    page.evaluate(OPEN_FOLDS)
    violations = axe.Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in violations] == []
    for media, width in [("screen", 1200), ("screen", 360), ("print", 537)]:
        page.emulate_media(media=media)
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOWING) == []
    page.context.close()


def test_a_fold_prints_open(browser, made):
    file = made / "student" / f"{NOTEBOOKS[0].stem}.html"
    page, _ = open_offline(browser, file)
    answer = page.locator("details .celltag_reveal").first
    assert answer.evaluate("e => e.checkVisibility()") is False
    page.emulate_media(media="print")
    assert answer.evaluate(
        "e => e.checkVisibility({contentVisibilityAuto: true})"
    )
    page.context.close()


def test_links_along_the_series_are_not_printed(browser, made):
    file = made / "student" / f"{NOTEBOOKS[1].stem}.html"
    page, _ = open_offline(browser, file)
    for media, shown in [("screen", True), ("print", False)]:
        page.emulate_media(media=media)
        for text in ["Previous: ", "Next: "]:
            lines = page.locator("p", has_text=text).all()
            assert [line.is_visible() for line in lines] == [shown] * 2
    page.context.close()


def test_pdfs_one_by_one_and_bound(browser, tmp_path):
    two = [str(path) for path in NOTEBOOKS[:2]]
    handouts.main([*two, "--pdf", "--output", str(tmp_path)])
    for kind in handouts.KINDS:
        names = [NOTEBOOKS[0].stem, NOTEBOOKS[1].stem, BOUND]
        found = {p.stem: p for p in (tmp_path / kind).glob("*.pdf")}
        assert sorted(found) == sorted(names)
        pages = [check_pdf(found[name], A4) for name in names]
        assert pages[2] == 1 + pages[0] + pages[1]


def test_pdf_on_letter_paper(browser, tmp_path):
    html = handouts.page(NOTEBOOKS[:1], "student", "letter", lambda _: None)
    pdf = tmp_path / "letter.pdf"
    pages = handouts.print_pdf(html, pdf, handouts.find_browser())
    assert pages == check_pdf(pdf, LETTER)


def check_pdf(path: Path, box: tuple[int, int]) -> int:
    """Tagged, outlined, of the right size, and free of this machine."""
    data = path.read_bytes()
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", data)
    for width, height in boxes:
        assert abs(float(width) - box[0]) < 1
        assert abs(float(height) - box[1]) < 1
    for part in (b"/StructTreeRoot", b"/Outlines", b"/Lang", b"/Alt"):
        assert part in data, part
    assert b"file:" not in data
    assert len(boxes) > 5
    return len(boxes)
