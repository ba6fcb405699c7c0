"""Write learners' copies of the notebooks, to work in.

A copy that was edited since it was written is kept. If its notebook has
changed as well, it is named.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from posenc_series.chapters import solutions, student_notebook
from posenc_series.commands import CommandError, parser, run
from posenc_series.listing import NOTEBOOKS

WRITTEN = ".written.json"  # checksums of the notebooks that were written
NEEDS_TENSORFLOW = (
    "*This notebook needs TensorFlow. If it is missing, close JupyterLab and"
    " type `python3 start.py {}`.*"
)


def write_notebooks(
    paths: Sequence[Path], folder: Path, with_solutions: bool = False
) -> list[Path]:
    """Write learners' copies into a folder, and solutions into one within.

    Returns:
        The files that are new or were renewed.

    Raises:
        CommandError: If it is the folder of one of the notebooks.
    """
    copies = {}
    for path in paths:
        if path.resolve().parent == folder.resolve():
            raise CommandError(f"{path} would replace itself")
        copies[path.name] = _copy_to_work_in(path)
        if with_solutions and (solved := solutions(path)):
            copies[f"solutions/{path.name}"] = solved
    folder.mkdir(parents=True, exist_ok=True)
    note, new = folder / WRITTEN, []
    written = _read_note(note)
    for name, copy in copies.items():
        file, content = folder / name, nbformat.writes(copy) + "\n"
        checksum, before = _checksum(content), written.get(name)
        if file.exists():
            there = _checksum(file.read_text("utf-8"))
            if checksum in (before, there):
                continue  # nothing is newer
            if there != before:
                print(
                    f"{file} was edited: kept. There is a newer one, which"
                    " you get if you rename yours and start again."
                )
                continue
        file.parent.mkdir(exist_ok=True)
        file.write_text(content, "utf-8", newline="\n")
        written[name] = checksum
        new.append(file)
    note.write_text(json.dumps(written, indent=1) + "\n", "utf-8")
    return new


def _copy_to_work_in(path: Path) -> NotebookNode:
    """A learner's copy, which says what to do without TensorFlow."""
    copy = student_notebook(path)
    for each in NOTEBOOKS:
        if each.tensorflow and each.file == path.name:
            text = NEEDS_TENSORFLOW.format(each.number)
            cell = new_markdown_cell(text, id="needs-tensorflow")
            copy.cells.insert(1, cell)
    return copy


def _read_note(note: Path) -> dict[str, str]:
    """The checksums in a file; none if it is missing or damaged."""
    try:
        return dict(json.loads(note.read_text("utf-8")))
    except (OSError, TypeError, ValueError):
        return {}


def _checksum(text: str) -> str:
    """A checksum of a notebook's cells, whether or not they have run.

    JupyterLab also saves a notebook that was only opened, and adds metadata.
    """
    with suppress(KeyError, TypeError, ValueError):
        cells = json.loads(text)["cells"]
        text = json.dumps(["".join(cell["source"]) for cell in cells])
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    """Write the copies of all notebooks."""
    command = parser(__doc__)
    command.add_argument("folder", type=Path, help="where to write them")
    command.add_argument(
        "--solutions", action="store_true", help="write the solutions, too"
    )
    asked = command.parse_args()
    paths = [each.path for each in NOTEBOOKS]
    if new := write_notebooks(paths, asked.folder, asked.solutions):
        print(f"{asked.folder}: new or renewed: {len(new)}")


if __name__ == "__main__":
    run(main)
