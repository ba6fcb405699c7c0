"""What several test files share."""

import json
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import settings

# The same examples each time, and no stopwatch: a busy machine is no bug.
settings.register_profile("series", deadline=None, derandomize=True)
settings.load_profile("series")

TESTS = Path(__file__).parent
ROOT = TESTS.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="session")
def published() -> dict:
    """The numbers that the five source tutorials print."""
    return json.loads((TESTS / "published_values.json").read_text())


def run_cells(notebook: str, *cell_ids: str, **given: object) -> dict:
    """Run the named cells of a notebook; return the names they define.

    This is how a test gets hold of a function that a notebook builds:
    out of the notebook itself, never out of a copy. `given` are names
    that the cells expect from cells that are left out.
    """
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    cells = {c.id: c for c in nbformat.read(path, as_version=4).cells}
    namespace: dict = dict(given)
    for cell_id in cell_ids:
        exec(cells[cell_id].source, namespace)
    return namespace


def run_up_to(notebook: str, last_cell: str, **given: object) -> dict:
    """Run a notebook's code up to a cell, that one included.

    Exercises stay open and solutions are left out, as a reader who
    skips them would have it.
    """
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    namespace: dict = dict(given)
    for cell in nbformat.read(path, as_version=4).cells:
        tags = cell.metadata.get("tags", ())
        if cell.cell_type == "code" and "solution" not in tags:
            exec(cell.source, namespace)
        if cell.id == last_cell:
            return namespace
    raise KeyError(f"{notebook} has no cell {last_cell}")


@pytest.fixture(scope="module")
def browser():
    """The system's Chromium, driven by Playwright; skips without one."""
    sys.path.insert(0, str(ROOT / "workshop"))
    from handouts import BROWSER_OPTIONS, HandoutError, find_browser

    api = pytest.importorskip("playwright.sync_api")
    try:
        path = find_browser()
    except HandoutError:
        pytest.skip("no Chromium on the PATH, nor named by CHROMIUM")
    # Stopped with the module: its event loop would disturb the notebooks'.
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=BROWSER_OPTIONS
        )
        yield chromium
        chromium.close()
