"""The notebooks as a reader meets them: in JupyterLab, in a browser.

`uv run pytest -m slow tests/test_jupyterlab.py` after a newer JupyterLab.
"""

import nbformat
import pytest
from built_site import some
from conftest import PATHS
from in_browser import PROMPTS, jupyterlab, run_all
from posenc_series.cells import is_folded

RED = '[data-mime-type="application/vnd.jupyter.stderr"]'  # errors too


def texts(page, selector: str) -> list[str]:
    found = page.locator(selector).all_text_contents()
    return [text.strip() for text in found]


@pytest.mark.slow
@pytest.mark.parametrize("path", some(PATHS), ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(browser, tmp_path, path):
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        cell.outputs = []  # so that nothing is left of what is stored
    # Every cell in the page at once, also those that one must scroll to.
    with jupyterlab(browser, tmp_path, windowing="none") as open_notebook:
        page = open_notebook(notebook, path.stem)
        run_all(page)
        assert texts(page, RED) == []
        # A folded cell shows its first line, which says what it is.
        assert page.evaluate(PROMPTS) == [
            "" if is_folded(cell) else f"[{number}]:"
            for number, cell in enumerate(cells, 1)
        ]
        first_lines = [c.source.split("\n")[0] for c in cells if is_folded(c)]
        assert texts(page, ".jp-CodeCell .jp-InputPlaceholder") == first_lines
        assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
