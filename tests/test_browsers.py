"""The site, its figures and its notebooks in Firefox and in WebKit.

Chromium, which Playwright drives, has tests of its own. These want two more
packages: `uv run --with selenium --with marionette-driver pytest -m slow ...`.
"""

import shutil

import pages
import pytest
from conftest import PATHS
from copies import names_for_browser
from in_browser import (
    BEGIN,
    DRAGS,
    RUN_ALL,
    STATE,
    lab_server,
)
from other_browsers import open_firefox, open_webkit

pytestmark = pytest.mark.slow

FIRST = PATHS[0]
NAMES = ["index", *(path.stem for path in PATHS)]
# A frame stands for a narrow window: WebKit's own cannot be so narrow.
FRAME = """(width, page) => {
    document.body.innerHTML =
        `<iframe width="${width}" height="800" src="${page}"></iframe>`;
    const frame = document.querySelector('iframe');
    return new Promise(done => { frame.onload = () => done([
        frame.contentDocument.documentElement.scrollWidth,
        frame.contentWindow.innerWidth]); }); }"""
HOST = "document.querySelector('posenc-play')"
# Bring it into sight, again once pictures above it have come; where it is.
PLACE = """async element => {
    const scroll = () =>
        element.scrollIntoView({block: 'center', behavior: 'instant'});
    scroll();
    await new Promise(soon => setTimeout(soon, 200));
    scroll();
    const box = element.getBoundingClientRect();
    return [box.x + 40, box.y + box.height / 2]; }"""
SLIDERS = "({}).shadowRoot.querySelectorAll('[type=range]')"


@pytest.fixture(scope="module", params=[open_firefox, open_webkit])
def other(request):
    """Firefox, then WebKit; each is left out where it is not installed."""
    with request.param() as opened:
        yield opened


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_a_phone(other, address, name):
    other.resize(1280, 1000)
    other.goto(address)
    scrolled, shown = other.call(FRAME, 390, f"{address}{name}.html")
    assert scrolled <= shown


@pytest.mark.parametrize("name", [FIRST.stem, "07_rotary"])
def test_folds_open_by_mouse_and_by_key(other, address, name):
    """What was predicted then stands beside the answer."""
    other.resize(1280, 1000)
    other.goto(f"{address}{name}.html")
    click(other, "document.querySelector('textarea[data-question]')")
    other.press("x")
    folds = "document.querySelectorAll('article details')"
    for i in range(other.run(f"{folds}.length")):
        summary = f"{folds}[{i}].querySelector('summary')"
        if i % 2:
            other.run(f"{summary}.focus()")
            other.press("Enter")
        else:
            click(other, summary)
        assert other.run(f"{folds}[{i}].open")
    beside = "document.querySelector('.answer .predicted').textContent"
    assert other.run(beside) == "You predicted: x"


def click(other, element: str) -> None:
    """Press the mouse on an element, given as an expression."""
    other.drag(other.run(f"({PLACE})({element})"), (0, 0))


def move_figure(other, host: str) -> None:
    """Drag each grip, and press keys at each slider; see that it answers."""
    other.wait_for(f"!!({host}).stage?.view")
    figure = other.run(f"{host}.getAttribute('figure')")
    for grip, by, wanted in DRAGS[figure]:
        start = other.run(f"({BEGIN})({host}, {grip!r})")
        before = other.run(f"({STATE})({host})")
        other.drag(start, by)
        now = other.run(f"({STATE})({host})")
        changed = {key for key in now if now[key] != before[key]}
        assert changed == wanted.keys(), (figure, grip)
    sliders = SLIDERS.format(host)
    for i in range(other.run(f"{sliders}.length")):
        slider = f"{sliders}[{i}]"
        other.run(f"{slider}.focus()")
        other.press("Home")
        low = other.run(f"{slider}.getAttribute('aria-valuetext')")
        other.press("ArrowRight")
        high = other.run(f"{slider}.getAttribute('aria-valuetext')")
        assert low != high, (figure, i)


ADDED = """# Solve the exercise, wrongly and rightly
def wrong(pair, angle):
    return pair[0] * np.cos(angle), pair[1] * np.sin(angle)

def right(pair, angle):
    (x, y), c, s = pair, np.cos(angle), np.sin(angle)
    return x * c - y * s, x * s + y * c

check_1(wrong)
check_1(right)"""


def test_the_first_notebook_runs_whole_in_the_browser(other, address):
    """Its exercise is answered wrongly, and then rightly."""
    student, _ = names_for_browser([FIRST])[FIRST.stem]
    other.resize(1280, 1000)
    other.goto(address + pages.lite_address(student))
    look_at_cells(other.call(RUN_ALL, ADDED))


def look_at_cells(cells: list[dict]) -> None:
    """No cell failed; the last said of two answers what it should."""
    outputs = [o for cell in cells for o in cell.get("outputs", ())]
    assert not [o for o in outputs if o["output_type"] == "error"]
    said = "".join("".join(o.get("text", "")) for o in cells[-1]["outputs"])
    assert "Not yet." in said
    assert said.index("Not yet.") < said.index("Correct.")


def test_the_first_notebook_runs_whole_in_jupyterlab(other, tmp_path):
    """Its exercise too; and then its figure moves, by mouse and by keys."""
    other.resize(1280, 1000)
    with lab_server(tmp_path, windowing="none") as (folder, address):
        shutil.copy(FIRST, folder)
        other.goto(f"{address}lab/tree/{FIRST.name}")
        cells = other.call(RUN_ALL, ADDED)
        look_at_cells(cells)
        move_figure(other, HOST)
        # What is not saved, one would be asked about.
        other.run("window.jupyterapp.commands.execute('docmanager:save')")
        other.goto("about:blank")
