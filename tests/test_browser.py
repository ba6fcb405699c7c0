"""The notebooks as a reader meets them: in JupyterLab, in a browser.

`uv run pytest -m slow tests/test_browser.py` after a newer JupyterLab.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
import pytest
from conftest import NOTEBOOKS, ROOT
from series.cells import is_folded

ARTIFACTS = ROOT / "artifacts"
CLEAR = "Restart Kernel and Clear Outputs of All Cells…"
OUTPUT = ".jp-OutputArea-output"
PROMPTS = """() => [...document.querySelectorAll('.jp-CodeCell')].map(
    c => c.querySelector('.jp-InputPrompt')?.textContent.trim() ?? '')"""
SIZES = """() => [...document.querySelectorAll('.jp-OutputArea-output img')]
    .filter(i => i.checkVisibility())
    .map(i => [i.clientWidth, i.naturalWidth, i.parentElement.clientWidth])"""
# Outputs are drawn a moment after the kernel has sent them.
SETTLED = """() => new Promise(settled => {
    let soon = setTimeout(settled, 500);
    const later = () => {
        clearTimeout(soon);
        soon = setTimeout(settled, 500); };
    new MutationObserver(later).observe(
        document.querySelector('.jp-Notebook'),
        {childList: true, subtree: true, characterData: true}); })"""
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
CONNECTED = "#jp-main-statusbar :text('| Idle')"
RED = '[data-mime-type="application/vnd.jupyter.stderr"]'  # errors too
MINUTE = 60_000  # milliseconds, as Playwright counts
# Asked at each frame, the page would do nothing but draw frames.
NOW_AND_THEN = 200


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[tuple[str, Path]]:
    """A JupyterLab of its own: its address, and its notebook folder."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    folder.mkdir()
    settings = home / "settings/@jupyterlab/notebook-extension"
    settings.mkdir(parents=True)
    # Every cell in the page at once, also those that one must scroll to.
    plain = {"windowingMode": "none"}
    (settings / "tracker.jupyterlab-settings").write_text(json.dumps(plain))
    server = start_server(home, folder)
    try:
        yield address(home, server), folder
    finally:
        stop(server)


def start_server(home: Path, folder: Path) -> subprocess.Popen:
    environment = {
        **os.environ,
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser"]
    command += ["--allow-root", "--ServerApp.port=0"]
    with (home / "log").open("w") as log:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log
        )


def stop(server: subprocess.Popen) -> None:
    """Ask it to close its kernels; a busy machine may not get there."""
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def address(home: Path, server: subprocess.Popen) -> str:
    """Wait until the server answers; its address, {0} for a notebook."""
    until = time.monotonic() + 90
    while time.monotonic() < until and server.poll() is None:
        for file in (home / "runtime").glob("jpserver-*.json"):
            # The file may be there before all of it, or before the server.
            with suppress(ValueError, URLError):
                server_info = json.loads(file.read_text())
                urlopen(server_info["url"] + "api", timeout=30).close()
                # A workspace for each, so that no tab is left from before.
                place = "lab/workspaces/{{0}}/tree/{{0}}.ipynb?token="
                return ("{url}" + place + "{token}").format(**server_info)
        time.sleep(0.2)
    raise AssertionError((home / "log").read_text())


def code(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def open_notebook(browser, lab, notebook, name: str):
    """Open a notebook in JupyterLab, and wait until it is ready."""
    url, folder = lab
    nbformat.write(notebook, folder / f"{name}.ipynb")
    page = browser.new_page(viewport={"width": 1200, "height": 1500})
    page.goto(url.format(name))
    page.locator(".jp-Notebook .jp-Cell").nth(
        len(notebook.cells) - 1
    ).wait_for(state="attached", timeout=MINUTE)
    wait_until_idle(page)
    return page


def wait_until_idle(page) -> None:
    page.locator(CONNECTED).first.wait_for(timeout=MINUTE)
    page.locator(IDLE).wait_for(timeout=MINUTE)


def choose(page, menu: str, entry: str) -> None:
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=entry, exact=True).click()


def clear_outputs(page) -> None:
    """Do what each notebook asks for before one begins."""
    choose(page, "Kernel", CLEAR)
    page.get_by_role("button", name="Confirm").click()
    page.locator(".jp-Dialog").wait_for(state="detached", timeout=MINUTE)
    page.wait_for_function(
        "() => !document.querySelector('.jp-OutputArea-output')",
        timeout=MINUTE,
        polling=NOW_AND_THEN,
    )
    wait_until_idle(page)


def run_all(page) -> None:
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(
        f"() => {{ const said = ({PROMPTS})();"
        " return said.some(s => /\\d/.test(s))"
        " && !said.some(s => s.includes('*')); }",
        timeout=3 * MINUTE,
        polling=NOW_AND_THEN,
    )
    page.locator(IDLE).wait_for(timeout=MINUTE)
    page.evaluate(SETTLED)


def texts(page, selector: str) -> list[str]:
    found = page.locator(selector).all_text_contents()
    return [text.strip() for text in found]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(browser, lab, path):
    notebook = nbformat.read(path, as_version=4)
    page = open_notebook(browser, lab, notebook, path.stem)
    assert page.locator(OUTPUT).count() > 0
    clear_outputs(page)

    run_all(page)
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / f"{path.stem}.png")
    assert texts(page, RED) == []
    # A folded cell shows its first line, which says what it is, and no number.
    cells = code(notebook)
    assert page.evaluate(PROMPTS) == [
        "" if is_folded(cell) else f"[{number}]:"
        for number, cell in enumerate(cells, 1)
    ]
    first_lines = [c.source.split("\n")[0] for c in cells if is_folded(c)]
    assert texts(page, ".jp-CodeCell .jp-InputPlaceholder") == first_lines
    for shown, dots, room in page.evaluate(SIZES):
        assert abs(shown - min(dots / 2, room)) <= 1
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    page.close()
