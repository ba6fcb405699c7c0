"""Run notebooks from top to bottom, and store them as the tests want them.

What an editor leaves behind is corrected: how code is formatted, ids of
cells, metadata, counts, which cells are folded. The cells that were corrected
are named, and those whose outputs changed, for you to look at. A notebook that
stops at an error is left as it was.
"""

import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode
from posenc_series import commands
from posenc_series.cells import FOLDED, PLAY_SCRIPT, tags
from posenc_series.chapters import as_a_notebook
from posenc_series.listing import NOTEBOOKS, ROOT

KERNELSPEC = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}


def mend(notebook: NotebookNode) -> list[str]:
    """Correct all that needs no running; return the ids of changed cells."""
    before = deepcopy(notebook.cells)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC})
    give_ids(notebook)
    for cell in notebook.cells:
        cell.source = cell.source.strip()
        clean_metadata(cell)
    format_code(notebook)
    pairs = zip(before, notebook.cells, strict=True)
    return [cell.id for old, cell in pairs if cell != old]


def give_ids(notebook: NotebookNode) -> None:
    """Name the parts of exercises as tests do; make all ids unique."""
    parts = [exercise_part(cell) for cell in notebook.cells]
    used = set()
    for cell, part in zip(notebook.cells, parts, strict=True):
        old = cell.get("id")
        if part and part not in used:
            new = part
        elif old and not part and old not in used and old not in parts:
            new = old
        else:
            new = nbformat.v4.new_code_cell().id
        used.add(new)
        cell.id = new


def exercise_part(cell: NotebookNode) -> str | None:
    """The part of an exercise that a cell is, such as "answer-2", or None."""
    found = tags(cell)
    if cell.cell_type == "markdown":
        kind, sign = "exercise", r"^### Exercise (\d+)\. "
    elif "check" in found:
        kind, sign = "check", r"\Adef check_(\d+)\("
    elif "solution" in found:
        kind, sign = "solution", r"^confirm\(check_(\d+),"
    elif "exercise" in found:
        kind, sign = "answer", r"^check_(\d+)\("
    else:
        return None
    named = re.search(sign, cell.source, re.MULTILINE)
    return f"{kind}-{named[1]}" if named else None


def clean_metadata(cell: NotebookNode) -> None:
    """Keep the tags, and fold what they say is not part of the lesson."""
    wanted = {}
    if tags(cell):
        wanted["tags"] = cell.metadata.tags
    if cell.cell_type == "code" and tags(cell) & FOLDED:
        wanted["jupyter"] = {"source_hidden": True}
    cell.metadata = nbformat.from_dict(wanted)


def format_code(notebook: NotebookNode) -> None:
    """Format the code with ruff; code that it cannot parse stays as it is."""
    command = [sys.executable, "-m", "ruff", "format", "--config"]
    command += [str(ROOT / "pyproject.toml"), "--stdin-filename=any.ipynb"]
    done = subprocess.run(
        command,
        input=nbformat.writes(notebook),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if done.returncode == 0:
        formatted = nbformat.reads(done.stdout, as_version=4)
        for cell, new in zip(notebook.cells, formatted.cells, strict=True):
            cell.source = new.source


def run(notebook: NotebookNode, folder: Path) -> None:
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        # No warning that messages inside this machine are not encrypted.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    ).execute()
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            html = output.get("data", {}).get("text/html")
            if html:
                output.data["text/html"] = PLAY_SCRIPT.sub("", html)


def outputs(notebook: NotebookNode) -> dict[str, list[dict]]:
    """The outputs of each cell, by its id, to be compared."""
    return {
        cell.id: [{**each, "execution_count": None} for each in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def store(path: Path) -> bool:
    """Correct, run and write a notebook; tell whether it ran to its end."""
    with as_a_notebook(path):
        notebook = nbformat.v4.reads(path.read_text(encoding="utf-8"))
        corrected = mend(notebook)
        nbformat.validate(notebook)
    print(f"{path.name}\n  corrected cells:", ", ".join(corrected) or "none")
    before = outputs(notebook)
    try:
        run(notebook, path.parent)
    except (CellExecutionError, DeadKernelError, TimeoutError) as error:
        print(f"  {path} is not stored, it stops at an error:", error)
        return False
    now = outputs(notebook)
    changed = [name for name in now if now[name] != before.get(name)]
    print("  changed outputs:", ", ".join(changed) or "none", flush=True)
    nbformat.write(notebook, path)
    return True


def main() -> None:
    """Store the notebooks that the command line names."""
    parser = commands.parser(__doc__)
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        default=[each.path for each in NOTEBOOKS],
        metavar="NOTEBOOK",
        help="the notebooks to store (default: all of them)",
    )
    ran = [store(path) for path in parser.parse_args().paths]
    raise SystemExit(0 if all(ran) else 1)


if __name__ == "__main__":
    commands.run(main)
