"""The notebooks as a reader meets them: in JupyterLab, in a browser.

`uv run pytest -m slow tests/test_jupyterlab.py` after a newer JupyterLab.
"""

import nbformat
import pytest
from built_site import some
from conftest import PATHS
from in_browser import IDLE, MINUTE, PROMPTS, jupyterlab, run_all
from nbformat.v4 import new_markdown_cell, new_notebook
from playwright.sync_api import expect
from posenc_series.cells import is_folded
from store_notebooks import KERNELSPEC

RED = '[data-mime-type="application/vnd.jupyter.stderr"]'  # errors too


@pytest.fixture(scope="module")
def open_notebook(browser, tmp_path_factory):
    # Every cell in the page at once, also those that one must scroll to.
    home = tmp_path_factory.mktemp("lab")
    with jupyterlab(browser, home, windowing="none") as opener:
        yield opener


def texts(page, selector: str) -> list[str]:
    found = page.locator(selector).all_text_contents()
    return [text.strip() for text in found]


@pytest.mark.slow
@pytest.mark.parametrize("path", some(PATHS), ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(open_notebook, path):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        cell.outputs = []  # so that nothing is left of what is stored
    page = open_notebook(notebook, path.stem)
    run_all(page)
    assert texts(page, RED) == []
    # A folded cell shows its first line, which says what it is, and no number.
    assert page.evaluate(PROMPTS) == [
        "" if is_folded(cell) else f"[{number}]:"
        for number, cell in enumerate(cells, 1)
    ]
    first_lines = [c.source.split("\n")[0] for c in cells if is_folded(c)]
    assert texts(page, ".jp-CodeCell .jp-InputPlaceholder") == first_lines
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    page.close()


@pytest.mark.slow
def test_links_lead_to_cells_here_and_in_another_notebook(browser, tmp_path):
    """The other one is open: when it opens, it may scroll too soon."""

    def below(text: str, title: str):
        lines = [new_markdown_cell(f"Line {n}") for n in range(60)]
        ending = new_markdown_cell(f"## {title}", id=title)
        cells = [new_markdown_cell(text), *lines, ending]
        return new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})

    links = "[one](#cell-id=near) and [two](other.ipynb#cell-id=far)"
    with jupyterlab(browser, tmp_path, "contentVisibility") as open_notebook:
        open_notebook(below("", "far"), "other").close()
        page = open_notebook(below(links, "near"), "links")
        near, far = (
            page.get_by_role("heading", name=n) for n in ("near", "far")
        )
        page.get_by_role("link", name="one").click()
        expect(near).to_be_in_viewport(timeout=MINUTE)
        page.get_by_role("link", name="two").click()
        far.wait_for(state="attached", timeout=MINUTE)
        expect(page.locator(IDLE)).to_have_count(2, timeout=MINUTE)
        page.get_by_role("tab", name="links.ipynb").click()
        page.get_by_role("link", name="two").click()
        expect(far).to_be_in_viewport(timeout=MINUTE)
        page.close()
