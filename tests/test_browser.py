"""The notebooks as a reader meets them: in JupyterLab, in a browser."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import nbformat
import pytest
from conftest import NOTEBOOKS, ROOT

ARTIFACTS = ROOT / "artifacts"
OPENED = [path for path in NOTEBOOKS if path.name[:2] < "06"]
IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
CONNECTED = "#jp-main-statusbar :text('| Idle')"
RED = '[data-mime-type="application/vnd.jupyter.stderr"]'  # errors too
MINUTE = 60_000  # milliseconds, as Playwright counts
BROKEN = {
    "works": "1 + 1",
    "complains": "import sys; print('careful', file=sys.stderr)",
    "fails": "1 / 0",
    "never runs": "2 + 2",
}


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
            server_info = json.loads(file.read_text() or "{}")
            if "url" in server_info:
                urlopen(server_info["url"] + "api", timeout=30).close()
                # A workspace for each, so that no tab is left from before.
                place = "lab/workspaces/{{0}}/tree/{{0}}.ipynb?token="
                return ("{url}" + place + "{token}").format(**server_info)
        time.sleep(0.2)
    raise AssertionError((home / "log").read_text())


def without_outputs(path: Path) -> nbformat.NotebookNode:
    """A notebook as if never run: what is then seen was made just now."""
    notebook = nbformat.read(path, as_version=4)
    for cell in code(notebook):
        cell.outputs, cell.execution_count = [], None
        cell.metadata.pop("jupyter", None)  # a folded cell has no number
    return notebook


def code(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run_all(browser, lab, notebook, name: str):
    """Open a notebook in JupyterLab and run all of its cells."""
    url, folder = lab
    nbformat.write(notebook, folder / f"{name}.ipynb")
    page = browser.new_page(viewport={"width": 1200, "height": 1500})
    page.goto(url.format(name))
    page.locator(".jp-Notebook .jp-Cell").nth(
        len(notebook.cells) - 1
    ).wait_for(state="attached", timeout=MINUTE)
    page.locator(CONNECTED).first.wait_for(timeout=MINUTE)
    page.locator(IDLE).wait_for(timeout=MINUTE)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(
        """() => {
            const all = document.querySelectorAll('.jp-CodeCell');
            const said = [...all].map(
                c => c.querySelector('.jp-InputPrompt').textContent);
            return said.some(s => /\\d/.test(s))
                && !said.some(s => s.includes('*'));
        }""",
        timeout=3 * MINUTE,
    )
    page.locator(IDLE).wait_for(timeout=MINUTE)
    return page


def problems(page, notebook) -> list[str]:
    """What a reader would stumble over, if anything."""
    found = [f"in red: {text}" for text in texts(page, RED)]
    prompts = texts(page, ".jp-CodeCell .jp-InputPrompt")
    ran = [f"[{n}]:" for n in range(1, len(code(notebook)) + 1)]
    if prompts != ran:
        found.append(f"prompts are {prompts}")
    return found


def texts(page, selector: str) -> list[str]:
    found = page.locator(selector).all_text_contents()
    return [text.strip() for text in found]


def stored_pictures(path: Path) -> int:
    cells = code(nbformat.read(path, as_version=4))
    outputs = [output for cell in cells for output in cell.outputs]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def formulas(notebook) -> int:
    prose = [c.source for c in notebook.cells if c.cell_type == "markdown"]
    plain = re.sub(r"```.*?```|`[^`\n]*`", "", "\n\n".join(prose), flags=re.S)
    return len(re.findall(r"\$\$.+?\$\$|\$[^$]+?\$", plain, re.S))


def move_slider(page, widget) -> None:
    """Move the first slider with the keyboard; wait for a new picture."""
    picture = widget.locator("img").last
    picture.wait_for(timeout=MINUTE)
    before = picture.get_attribute("src")
    handle = widget.locator(".noUi-handle").first
    handle.scroll_into_view_if_needed()
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        """([widget, before]) => {
            const pictures = widget.querySelectorAll('img');
            return pictures.length === 1 && pictures[0].src !== before;
        }""",
        arg=[widget.element_handle(), before],
        timeout=MINUTE,
    )


@pytest.mark.parametrize("path", OPENED, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(browser, lab, path):
    notebook = without_outputs(path)
    page = run_all(browser, lab, notebook, path.stem)
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / f"{path.stem}.png")
    assert problems(page, notebook) == []

    widgets = page.locator(".jp-OutputArea-output .widget-interact")
    in_widgets = widgets.locator("img").count()
    pictures = page.locator(".jp-OutputArea img").count() - in_widgets
    assert pictures == stored_pictures(path)

    assert page.locator("mjx-container").count() == formulas(notebook)
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0

    sliders = sum("interact(" in cell.source for cell in code(notebook))
    assert widgets.count() == sliders
    for widget in widgets.all():
        move_slider(page, widget)
        page.screenshot(path=ARTIFACTS / f"{path.stem}-slider.png")
    assert problems(page, notebook) == []
    page.close()


def test_a_broken_notebook_is_noticed(browser, lab):
    cells = [nbformat.v4.new_code_cell(line) for line in BROKEN.values()]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": kernel}
    )
    page = run_all(browser, lab, notebook, "broken")
    stderr, error, prompts = problems(page, notebook)
    assert stderr == "in red: careful"
    assert "ZeroDivisionError" in error
    assert prompts == "prompts are ['[1]:', '[2]:', '[3]:', '[ ]:']"
    page.close()
