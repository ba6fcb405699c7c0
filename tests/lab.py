"""JupyterLab in a browser, for the slow tests."""

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
from urllib.error import URLError
from urllib.request import urlopen

import nbformat

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
PROMPTS = """() => [...document.querySelectorAll('.jp-CodeCell')].map(
    c => c.querySelector('.jp-InputPrompt')?.textContent.trim() ?? '')"""
ALL_RAN = f"""() => {{
    const said = ({PROMPTS})();
    return said.some(s => /\\d/.test(s)) && !said.some(s => s.includes('*'));
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
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "HOME": str(home)},
            stdout=log,
            stderr=log,
        )
    try:
        address = f"http://127.0.0.1:{port}/"
        wait_for(address, server, home / "log")
        yield partial(open_notebook, browser, folder, address)
    finally:
        stop(server)


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + 90
    while time.monotonic() < until and server.poll() is None:
        with suppress(URLError):
            return urlopen(f"{address}api", timeout=30).close()
        time.sleep(0.2)
    raise AssertionError(log.read_text())


def stop(server: subprocess.Popen) -> None:
    """Ask it to close its kernels; a busy machine may not get there."""
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def open_notebook(browser, folder: Path, address: str, notebook, name: str):
    """Open a notebook, and wait until one can run it."""
    nbformat.write(notebook, folder / f"{name}.ipynb")
    page = browser.new_page(viewport={"width": 1200, "height": 1500})
    # A workspace for each, so that no tab is left from before.
    page.goto(f"{address}lab/workspaces/{name}/tree/{name}.ipynb")
    cells = page.locator(".jp-Notebook .jp-Cell")
    last = cells.nth(len(notebook.cells) - 1)
    last.wait_for(state="attached", timeout=MINUTE)
    wait_until_idle(page)
    return page


def wait_until_idle(page) -> None:
    page.locator(CONNECTED).first.wait_for(timeout=MINUTE)
    page.locator(IDLE).wait_for(timeout=MINUTE)


def choose(page, menu: str, entry: str) -> None:
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=entry, exact=True).click()


def run_all(page) -> None:
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(ALL_RAN, timeout=3 * MINUTE, polling=NOW_AND_THEN)
    page.locator(IDLE).wait_for(timeout=MINUTE)
    page.evaluate(SETTLED)
