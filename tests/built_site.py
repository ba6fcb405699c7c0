"""The web edition, built from nothing and served, for the slow tests."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from nbformat import NotebookNode
from posenc_series.cells import PLAY_SCRIPT
from posenc_series.listing import ROOT

MINUTES = 120_000  # two, in milliseconds
# Start Python on the open page, and run all its cells but the scratch cell;
# what each of them shows.
RUN = """async () => {
    const pause = () => new Promise(soon => setTimeout(soon, 50));
    document.querySelector('.run button').click();
    while (!globalThis.posenc.session?.isReady) await pause();
    const { session } = posenc;
    const cells = session.cells.filter(({ id }) => id !== 'scratch');
    session.plan(cells);
    while (session.running) await pause();
    return Promise.all(cells.map(async ({ id, box }) => {
        const all = selector =>
            [...box.querySelectorAll(`.cell_output ${selector}`)];
        await Promise.all(all('img').map(image => image.decode()));
        return {
            id,
            text: all('pre').map(pre => pre.textContent).join('').trim(),
            figures: all('posenc-play').map(
                ({ dataset: { lmSuppressShortcuts, ...data } }) => data),
            alts: all('img').map(image => image.alt),
            widths: all('img').map(image => +image.getAttribute('width')),
        }; })); }"""


def some(values: Sequence) -> Sequence:
    """The first of some values; all if EVERY is set in the environment."""
    return values if os.environ.get("EVERY") else values[:1]


def stored(cell: NotebookNode) -> dict:
    """What a cell of a notebook shows, as RUN has it."""
    text, figures, alts, widths = "", [], [], []
    for output in cell.outputs:
        data = output.get("data", {})
        html = PLAY_SCRIPT.sub("", data.get("text/html", ""))
        text += output.get("text", "")
        if "image/png" in data:
            about = output.metadata["image/png"]
            alts.append(about["alt"])
            widths.append(about["width"])
        elif "<posenc-play" in html:
            settings = re.findall(r' data-(\w+)="([^"]*)"', html)
            figures.append({name: unescape(each) for name, each in settings})
        else:
            text += data.get("text/plain", "")
    shown = {"text": text.strip(), "figures": figures}
    return shown | {"alts": alts, "widths": widths}


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """The project with its site; downloads that are kept are taken along."""
    project = tmp_path_factory.mktemp("project")
    made = shutil.ignore_patterns("__pycache__", "doctrees", "source")
    folders = ".github notebooks posenc review tools web workshop"
    for name in folders.split():
        shutil.copytree(ROOT / name, project / name, ignore=made)
    for path in [ROOT / "INSTALL.md", ROOT / "posenc_helpers.py"]:
        shutil.copy(path, project)
    listed = project / "notebooks/series.toml"
    text = listed.read_text("utf-8")
    text = re.sub("(?m)^address = .*", 'address = "https://x.org/y/"', text)
    text = re.sub("(?m)^repository = .*", 'repository = "owner/name"', text)
    listed.write_text(text, "utf-8")
    command = [os.environ.get("UV", "uv"), "run", project / "web/build.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture(scope="session")
def address(project) -> Iterator[str]:
    """Where the site is served: below a folder, as for a project."""
    command = [sys.executable, "-u", "-m", "http.server", "0"]
    command += ["--bind", "127.0.0.1", "-d", project]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        port = re.search(r"port (\d+)", server.stdout.readline())[1]
        yield f"http://127.0.0.1:{port}/site/"
        server.terminate()


@pytest.fixture
def page(browser, address) -> Iterator:
    """A page of a new reader, which asks for nothing but the site."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(MINUTES)
    asked, failed = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("response", lambda r: r.status >= 400 and failed.append(r.url))
    context.on("weberror", lambda error: failed.append(error.error))
    yield context.new_page()
    context.close()
    here = urlsplit(address).netloc
    hosts = {urlsplit(url.removeprefix("blob:")).netloc for url in asked}
    assert hosts <= {here, ""}  # nothing for what is in the page itself
    assert failed == []
