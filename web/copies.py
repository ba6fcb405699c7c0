"""Copies of notebooks: to download with one's own work, and for Colab."""

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from posenc_series.cells import is_folded
from posenc_series.chapters import relink, student_notebook
from posenc_series.listing import COLAB

# `--no-deps`, so that what Colab has installed stays as it is.
BRING_MODULES = """\
# Bring the series' modules
%pip install --quiet --no-deps {}"""
ARCHIVE = "https://github.com/{}/archive/HEAD.zip"


def write_to_download(paths: Sequence[Path], folder: Path) -> None:
    """Write the copies that a page fills with what its reader has written."""
    folder.mkdir()
    for path in paths:
        nbformat.write(student_notebook(path), folder / path.name)


def write_for_colab(
    paths: Sequence[Path], folder: Path, repository: str, site: str
) -> None:
    """Write the copies that Colab opens.

    Args:
        paths: The notebooks.
        folder: What the branch `colab` of the repository is to hold.
        repository: OWNER/NAME on GitHub.
        site: The address of the pages, for links to notebooks without a copy;
            if it is empty, these links become plain text.
    """
    names = {path.name for path in paths}

    def link(text: str, file: str, anchor: str) -> str:
        if file in names or not file:
            address = COLAB.format(repository, file) if file else ""
            anchor = anchor.replace("cell-id", "scrollTo")
        elif site and file.endswith(".ipynb"):
            address = site + file.replace(".ipynb", ".html")
        else:
            return text
        return f"[{text}]({address}{anchor})"

    folder.mkdir()
    bring = BRING_MODULES.format(ARCHIVE.format(repository))
    for path in paths:
        copy = student_notebook(path)
        for cell in copy.cells:
            cell.metadata.id = cell.id  # which Colab scrolls to
            if cell.cell_type == "raw":  # which Colab cannot edit
                cell.cell_type = "markdown"
            if cell.cell_type == "markdown":
                cell.source = relink(cell.source, link)
            elif is_folded(cell):
                _fold_on_colab(cell)
        cell = nbformat.v4.new_code_cell(bring, id="bring-modules")
        copy.cells.insert(1, cell)
        nbformat.write(copy, folder / path.name)


def _fold_on_colab(cell: NotebookNode) -> None:
    """Fold a cell as Colab does, which shows the title of a form."""
    title = cell.source.partition("\n")[0].removeprefix("# ").rstrip(":")
    cell.source = f"# @title {title}\n{cell.source}"
    cell.metadata.cellView = "form"
