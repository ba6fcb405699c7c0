"""What tests do in a browser: pages, JupyterLab, figures to play with."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest
from playwright.sync_api import Locator

from posenc.play import FIGURES, play

# Any page.

OPEN_FOLDS = """() => {
    document.querySelectorAll('details').forEach(d => { d.open = true; });
    return Promise.all(document.getAnimations().map(a => a.finished)); }"""


def violations(page, part: str | None = None) -> list[tuple[str, str]]:
    """What axe finds wrong: the rule, and the first element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    how = {"resultTypes": ["violations"], "preload": False}
    report = axe.run(page, part, how).response
    return [
        (violation["id"], violation["nodes"][0]["html"])
        for violation in report["violations"]
    ]


def wait_for_themes(page, dark: int) -> None:
    """Wait until so many figures have dark colors."""
    dark_ones = "document.querySelectorAll('posenc-play[dark]').length"
    page.wait_for_function(f"{dark_ones} === {dark}")


# JupyterLab.

IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
CONNECTED = "#jp-main-statusbar :text('| Idle')"
PROMPTS = """() => [...document.querySelectorAll('.jp-CodeCell')].map(
    c => c.querySelector('.jp-InputPrompt')?.textContent.trim() ?? '')"""
ALL_RAN = f"""() => {{
    const seen = ({PROMPTS})();
    return seen.some(s => /\\d/.test(s)) && !seen.some(s => s.includes('*'));
}}"""
MINUTE = 60_000  # milliseconds, as Playwright counts
# By default Playwright asks at each frame, which leaves time for little else.
NOW_AND_THEN = 200


@contextmanager
def jupyterlab(browser, home: Path, windowing: str) -> Iterator[Callable]:
    """Start a JupyterLab of its own; the function that opens a notebook."""
    folder = home / "notebooks"
    folder.mkdir()
    settings = home / ".jupyter/lab/user-settings/@jupyterlab"
    settings /= "notebook-extension"
    settings.mkdir(parents=True)
    plain = json.dumps({"windowingMode": windowing})
    (settings / "tracker.jupyterlab-settings").write_text(plain)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser"]
    command += ["--allow-root", f"--port={port}", "--ServerApp.port_retries=0"]
    command += ["--IdentityProvider.token=", "--ServerApp.ip=127.0.0.1"]
    env = {**os.environ, "HOME": str(home)}
    address = f"http://127.0.0.1:{port}/"
    with (home / "log").open("w") as log:
        options = {"cwd": folder, "env": env, "stdout": log, "stderr": log}
        with subprocess.Popen(command, **options) as server:
            try:
                wait_for(address, server, home / "log")
                yield partial(open_notebook, browser, folder, address)
            finally:
                server.terminate()


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until and server.poll() is None:
        with suppress(URLError):
            return urlopen(f"{address}api", timeout=30).close()
        time.sleep(0.2)
    raise AssertionError(log.read_text())


def open_notebook(browser, folder: Path, address: str, notebook, name: str):
    """Open a notebook, and wait until one can run it."""
    nbformat.write(notebook, folder / f"{name}.ipynb")
    page = browser.new_page(viewport={"width": 1200, "height": 1500})
    # A workspace for each, so that no tab is left from before.
    page.goto(f"{address}lab/workspaces/{name}/tree/{name}.ipynb")
    cells = page.locator(".jp-Notebook .jp-Cell")
    last = cells.nth(len(notebook.cells) - 1)
    last.wait_for(state="attached", timeout=MINUTE)
    page.locator(CONNECTED).first.wait_for(timeout=MINUTE)
    page.locator(IDLE).wait_for(timeout=MINUTE)
    return page


def run_all(page) -> None:
    for entry in ("Run", "Run All Cells"):
        page.get_by_role("menuitem", name=entry, exact=True).click()
    page.wait_for_function(ALL_RAN, timeout=10 * MINUTE, polling=NOW_AND_THEN)
    page.locator(IDLE).wait_for(timeout=MINUTE)
    page.wait_for_timeout(1000)  # until the last output is drawn


# Figures to play with.

STATE = "figure => figure.state"
MOVE = """(figure, state) => {
    figure.move(state);
    const shown = selector =>
        [...figure.shadowRoot.querySelectorAll(selector)]
        .map(node => node.textContent);
    return [shown('.says')[0], shown('svg text')]; }"""
BEGIN = """(figure, name) => {
    for (const [setting, {start}] of Object.entries(
        figure.figure.settings)) figure.move({[setting]: start});
    const grips = figure.shadowRoot.querySelectorAll(
        `.grip[data-drag="${name}"]`);
    const grip = grips[grips.length - 1];
    grip.scrollIntoView({block: 'center', behavior: 'instant'});
    const box = grip.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2]; }"""
# For each figure: what is dragged, how far at 1280 pixels, and which settings
# that changes to what.
DRAGS = {
    "hands": [("row", (0, 80), {"position": 27})],
    "apart": [("mark", (60, 0), {"position": 29})],
    "pair": [
        ("both", (0, 40), {"position": 27}),
        ("later", (0, 40), {"offset": 23}),
        ("offset", (75, 0), {"offset": 11}),
    ],
    "alike": [("mark", (-100, 0), {"position": 20})],
    "rotary": [
        ("bar", (600, 0), {"query": 51, "key": 63}),  # as far as it goes
        ("key", (-150, 0), {"key": 17}),
    ],
    "unseen": [
        ("trained", (100, 0), {"trained": 44}),
        ("length", (200, 0), {"length": 89}),
    ],
    "patches": [("query", (63, 42), {"row": 8, "column": 12})],
    "inside": [("letter", (-100, 0), {"position": 19})],
}


def displayed(name: str, **settings: float | str) -> str:
    """The HTML that a call of `play` displays."""
    with patch("posenc.play.display") as display:
        play(name, **settings)
    return display.call_args.args[0]["text/html"]


def page_of_figures() -> str:
    """A page with all figures."""
    cells = [f'<div class="cell">{displayed(name)}</div>' for name in FIGURES]
    return (
        '<!doctype html><html lang="en"><title>Figures</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<main><h1>Figures</h1>{''.join(cells)}</main>"
    )


@contextmanager
def new_page(browser, html: str, **options) -> Iterator:
    """A page that reaches nothing, and in which no error may happen."""
    with browser.new_context(offline=True, **options) as context:
        page, errors = context.new_page(), []
        page.on("pageerror", lambda error: errors.append(error))
        page.set_content(html)
        yield page
        assert errors == []


@pytest.fixture(scope="module")
def figures(browser) -> Iterator:
    """All figures on an open page; they stay as a test has left them."""
    with new_page(browser, page_of_figures(), has_touch=True) as page:
        yield page


def the(page, name: str) -> Locator:
    """The figure of this name."""
    return page.locator(f"posenc-play[figure={name}]")


def moved(page, name: str, **state: float | str) -> tuple[str, list[str]]:
    """Move a figure; what it says, and all words in its pictures."""
    return the(page, name).evaluate(MOVE, state)


def keys(figure: Locator) -> None:
    """Press keys at each slider, button and switch, and type."""
    for slider in figure.get_by_role("slider").all():
        slider.press("Home")
        value = slider.get_attribute("aria-valuetext")
        slider.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") != value
    for button in figure.get_by_role("radio").all()[:-1]:
        button.press("ArrowRight")
        assert not button.is_checked()
    for switch in figure.get_by_role("checkbox").all():
        switch.press("Space")
        assert not switch.is_checked()
        switch.press("Space")
    for field in figure.get_by_role("textbox").all():
        field.fill("Any 4 letters")
        assert "anyletters" in figure.evaluate(STATE).values()


def drag(figure: Locator, grip: str, by: tuple, move: Callable) -> dict:
    """Put a figure back, drag a grip so many pixels; what that changed."""
    start = figure.evaluate(BEGIN, grip)
    before = figure.evaluate(STATE)
    move(figure.page, start, by)
    now = figure.evaluate(STATE)
    return {name: now[name] for name in now if now[name] != before[name]}


def by_mouse(page, start: list[float], by: tuple) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0], start[1] + by[1], steps=4)
    page.mouse.up()


def by_finger(page, start: list[float], by: tuple) -> None:
    devtools = page.context.new_cdp_session(page)

    def send(kind: str, *points: dict) -> None:
        touch = {"type": kind, "touchPoints": points}
        devtools.send("Input.dispatchTouchEvent", touch)

    send("touchStart", {"x": start[0], "y": start[1]})
    for part in range(1, 9):
        x, y = (at + far * part / 8 for at, far in zip(start, by, strict=True))
        send("touchMove", {"x": x, "y": y})
    send("touchEnd")
    devtools.detach()
