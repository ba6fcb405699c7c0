"""Copies of notebooks: to download with one's own work, and for Colab."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from posenc_series.cells import is_folded
from posenc_series.chapters import (
    read_notebook,
    relink,
    student_notebook,
)
from posenc_series.listing import COLAB, ROOT

Address = Callable[[str], str | None]  # of the notebook of this name
Names = Mapping[str, tuple[str, str]]  # of a student's and of the full copy
READERS = (student_notebook, read_notebook)
# What notebooks import, and in which folder it is.
MODULES = {"posenc_helpers": ".", "posenc": ".", "posenc_review": "review"}
BROUGHT = (".py", ".js", ".json")
ARCHIVE = "https://github.com/{}/archive/refs/heads/colab.zip"
BRING_MODULES = """\
# Bring the series' modules; what is installed here stays as it is.
import io
import zipfile
from pathlib import Path
from urllib.request import urlopen

with urlopen("{}") as answer:
    archive = zipfile.ZipFile(io.BytesIO(answer.read()))
for name in archive.namelist():
    path = Path(*Path(name).parts[1:])  # without the archive's own folder
    if path.suffix in (".py", ".js", ".json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(name))"""


def sources_of(module: str) -> dict[Path, Path]:
    """The files of a module or package, each with its place for imports."""
    home = ROOT / MODULES[module]
    files = [home / f"{module}.py", *sorted((home / module).rglob("*.*"))]
    return {
        path: path.relative_to(home)
        for path in files
        if path.suffix in BROUGHT and path.exists()
    }


def names_on_colab(paths: Sequence[Path]) -> Names:
    """Name the student's and the full copy of each notebook."""
    return {path.stem: (path.name, f"full/{path.name}") for path in paths}


def write_to_download(paths: Sequence[Path], folder: Path) -> None:
    """Write the copies that a page fills with what its reader has written."""
    for path in paths:
        _write(student_notebook(path), folder / path.name)


def write_for_colab(
    paths: Sequence[Path], folder: Path, repository: str, elsewhere: Address
) -> None:
    """Write the copies that Colab opens, and the modules they bring.

    Args:
        paths: The notebooks.
        folder: What the branch `colab` of the repository is to hold.
        repository: OWNER/NAME on GitHub.
        elsewhere: Gives the address of a notebook without a copy.
    """
    source = BRING_MODULES.format(ARCHIVE.format(repository))
    names = names_on_colab(paths)
    for kind, read in enumerate(READERS):
        files = {stem: both[kind] for stem, both in names.items()}
        addresses = {
            stem: COLAB.format(repository, file)
            for stem, file in files.items()
        }
        for path in paths:
            copy = read(path)
            _relink(copy, addresses, elsewhere, "#scrollTo=")
            for cell in copy.cells:
                cell.metadata.id = cell.id  # which Colab scrolls to
                _fold_on_colab(cell)
                if cell.cell_type == "raw":  # which Colab cannot edit
                    cell.cell_type = "markdown"
            cell = nbformat.v4.new_code_cell(source, id="bring-modules")
            copy.cells.insert(1, cell)
            _write(copy, folder / files[path.stem])
    for module in MODULES:
        for path, place in sources_of(module).items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder / place)


def _fold_on_colab(cell: NotebookNode) -> None:
    """Fold what JupyterLab folds: Colab shows the title of a form."""
    if not is_folded(cell):
        return
    first_line = cell.source.partition("\n")[0]
    title = first_line.removeprefix("# ").rstrip(":")
    cell.source = f"# @title {title}\n{cell.source}"
    cell.metadata.cellView = "form"


def _relink(
    copy: NotebookNode,
    addresses: Mapping[str, str],
    elsewhere: Address,
    to_cell: str,
) -> None:
    """Let a copy's links lead to the other copies, or to pages elsewhere.

    Args:
        copy: The notebook; it is changed.
        addresses: Of the copies, by the names of notebooks.
        elsewhere: Gives the address of a notebook without a copy.
        to_cell: What stands between the address of a copy and a cell's id.
    """

    def link(name: str, cell: str) -> str | None:
        address, before = addresses.get(name, ""), to_cell
        if name and not address:
            address, before = elsewhere(name), "#cell-id="
        if address is None or not cell:
            return address
        return f"{address}{before}{cell}"

    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, link)


def _write(copy: NotebookNode, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(copy, file)
