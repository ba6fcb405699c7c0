"""Pages that run, in Chromium, and in Firefox and WebKit as far as here.

EVERY=1 tries every page of a kind, in place of the first. Playwright drives
Chromium. The two others are the system's, and their clients are not locked:
`xvfb-run -a uv run --with selenium --with marionette-driver pytest -m slow`.
"""

import json
import os
import re
import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import nbformat
import pytest
from built_site import RUN, some, stored
from conftest import PATHS
from in_browser import OPEN_FOLDS, violations
from nbclient import NotebookClient
from posenc_series.cells import tags
from posenc_series.chapters import read_notebook
from posenc_series.listing import NOTEBOOKS

pytestmark = pytest.mark.slow

FIRST = PATHS[0]
NUMPY = [each.path for each in NOTEBOOKS if not each.tensorflow]


def assert_as_stored(ran: list[dict], path) -> None:
    """Texts are equal; pictures have the alt text, and nearly the width."""
    shown = {cell.pop("id"): cell for cell in ran}
    for cell in read_notebook(path).cells:
        if cell.cell_type == "code":
            wanted, found = stored(cell), shown[cell.id]
            widths = [each.pop("widths") for each in (wanted, found)]
            assert found == wanted, cell.id
            assert widths[1] == pytest.approx(widths[0], abs=4), cell.id


@pytest.mark.parametrize("path", some(NUMPY), ids=lambda path: path.stem)
def test_a_page_runs_as_stored_and_stays_accessible(page, address, path):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}{path.stem}.html")
    assert_as_stored(page.evaluate(RUN), path)
    page.evaluate(OPEN_FOLDS)
    page.wait_for_timeout(600)  # the theme sees after a while what scrolls
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def exercise(path) -> tuple[str, str]:
    """The id of the first exercise's cell, and code that answers it."""
    cells = [c for c in read_notebook(path).cells if c.cell_type == "code"]
    answer = next(cell for cell in cells if "exercise" in tags(cell))
    solution = next(c.source for c in cells if "confirm(check_1" in c.source)
    return answer.id, re.sub(r"confirm\((\w+), ", r"\1(", solution)


def test_an_exercise_is_solved_kept_and_taken_along(page, address, tmp_path):
    answer, right = exercise(FIRST)
    page.goto(f"{address}{FIRST.stem}.html")
    room = page.locator(".prediction[data-question]").first
    if room.locator("input").count():
        room.locator("input").last.check()
    room.locator("textarea").fill("It <b>never</b> does.")
    page.get_by_role("button", name="Run this page here").last.click()
    cell = page.locator(f"[id='cell-id={answer}'] + .cell")
    code, says = cell.locator("textarea"), cell.locator(".cell-bar span")
    for text, reply in [("check_1(0)", "Not yet"), (right, "Correct.")]:
        code.fill(text)
        code.press("Shift+Enter")
        cell.get_by_text(reply).wait_for()
    assert says.inner_text().endswith("right")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download my notebook").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    texts = {cell.id: cell.source for cell in notebook.cells}
    assert texts[answer] == right
    assert "It <b>never</b> does." in "".join(texts.values())

    page.goto(address)
    card = page.locator(f"a.chapter[href='{FIRST.stem}.html']")
    assert "exercises right" in card.inner_text()
    page.goto(f"{address}{FIRST.stem}.html")
    page.locator("details.answer > summary").first.click()
    page.get_by_text("You predicted: It <b>never</b> does.").wait_for()
    assert right in cell.inner_text()  # before Python runs
    page.get_by_role("button", name="Run this page here").first.click()
    code.wait_for()
    assert code.input_value() == right
    cell.get_by_role("button", name="Reset").click()
    assert "..." in code.input_value()


# Code in the scratch cell, and what is then said below it or of Python.
BAD = {
    "list(range(10**5))": "does not show the rest",
    "x = 1\ndef f(:": "Cell {}, line 2",
    "print(1)\n1 / 0": "Cell {}, line 2",
    "input()": "a page cannot ask for input",
    "%time 1": "is for IPython",
    "import numpy as np\n[np.ones(2**27) for _ in '12345']": "Unable to alloc",
    "import sys\nsys.setrecursionlimit(10**6)\n"
    "def f(): f()\nf()": "made Python fail",
    "while True: pass": "still runs",
}


def test_what_goes_wrong_is_said_and_python_goes_on(page, address):
    page.goto(f"{address}{FIRST.stem}.html")
    page.get_by_role("button", name="Run this page here").first.click()
    field = page.locator("[id='cell-id=scratch'] + .cell textarea")
    cell, status = page.locator(".cell").last, page.locator(".session [role]")
    field.wait_for()  # the scratch cell comes once the scripts are there
    number = page.locator(".cell").count()
    for code, words in BAD.items():
        field.fill(code)
        field.press("Shift+Enter")
        page.get_by_text(words.format(number)).last.wait_for()
        if "while" in code:
            break
        page.wait_for_function("!posenc.session.running")
        again = page.get_by_role("button", name="Start Python again")
        if again.is_visible():
            again.click()
    page.get_by_role("button", name="Stop", exact=True).click()
    assert "all variables are gone" in status.inner_text()
    field.fill("6 * 7")
    field.press("Shift+Enter")
    cell.get_by_text("42", exact=True).wait_for()


def test_nothing_is_kept_and_nothing_loads(browser, address, project):
    """Without storage, and from a file, pages say so and work as they can."""
    page = browser.new_page()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw 1; }})"
    )
    page.goto(f"{address}{FIRST.stem}.html")
    assert "keeps nothing" in page.locator(".your-work").inner_text()
    page.goto(f"file://{project}/site/{FIRST.stem}.html")
    run = page.locator("[data-run]")
    assert "python3 -m http.server" in run.inner_text()
    assert run.get_by_role("button").count() == 0
    page.close()


LOST = [
    ("session.js", None, ".run", "network is back"),
    ("packages.bin", b"\x1f\x8b", ".session [role]", "did not arrive whole"),
]


@pytest.mark.parametrize(("file", "body", "place", "words"), LOST)
def test_what_does_not_load_is_named(
    browser, address, file, body, place, words
):
    def lose(route):
        route.abort() if body is None else route.fulfill(body=body)

    page = browser.new_page()
    page.route(f"**/{file}*", lose)
    page.goto(f"{address}{FIRST.stem}.html")
    page.get_by_role("button", name="Run this page here").first.click()
    page.locator(place).filter(has_text=words).first.wait_for()
    page.close()


# The other browsers: what opens a page there, and what runs a script.

PATIENCE = 600  # seconds; Python in WebKit, on a busy machine, needs 200


@contextmanager
def open_firefox():
    module = pytest.importorskip("marionette_driver.marionette")
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if not program:
        pytest.skip("no Firefox: apt-get install firefox-esr")
    firefox = module.Marionette(
        bin=program, headless=True, gecko_log=os.devnull
    )
    try:
        firefox.start_session()
        firefox.timeout.script = firefox.timeout.page_load = PATIENCE
        yield (
            firefox.navigate,
            partial(firefox.execute_async_script, sandbox=None),
        )
    finally:
        firefox.cleanup()


@contextmanager
def open_webkit():
    webdriver = pytest.importorskip("selenium.webdriver")
    programs = list(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser"))
    if not programs or "DISPLAY" not in os.environ:
        pytest.skip("no WebKit: apt-get install webkit2gtk-driver xvfb xauth")
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(programs[0])
    options.add_argument("--automation")
    with webdriver.WebKitGTK(options) as webkit:
        webkit.set_script_timeout(PATIENCE)
        webkit.set_page_load_timeout(PATIENCE)
        yield webkit.get, webkit.execute_async_script


@pytest.mark.parametrize("opens", [open_firefox, open_webkit])
@pytest.mark.parametrize("path", some([PATHS[0], PATHS[12]]))
def test_a_page_runs_as_stored_elsewhere(opens, address, path):
    """A promise is awaited, and its value handed over as JSON."""
    with opens() as (goto, run):
        goto(f"{address}{path.stem}.html")
        done = "value => arguments[arguments.length - 1]"
        ran = run(f"({RUN})().then({done}(JSON.stringify(value)))")
        assert_as_stored(json.loads(ran), path)
