"""Run notebooks from top to bottom, and store them as the tests want them.

What an editor leaves behind is corrected and named: how code is formatted,
ids of cells, metadata, counts, which cells are folded. Then the cells whose
outputs changed are named, for you to look at. A notebook that stops at an
error is left as it was.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
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


def mend(notebook: NotebookNode) -> dict[str, list[str]]:
    """Correct all that needs no running; return what was corrected, where."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.source = cell.source.strip()
    return {
        "ids": give_ids(notebook),
        "metadata and folding": clean_metadata(notebook),
        "formatting": format_code(notebook),
    }


def give_ids(notebook: NotebookNode) -> list[str]:
    """Name the parts of exercises as tests do; make all ids unique."""
    parts = [exercise_part(cell) for cell in notebook.cells]
    given, used = [], set()
    for cell, part in zip(notebook.cells, parts, strict=True):
        old = cell.get("id")
        if part and part not in used:
            new = part
        elif old and not part and old not in used and old not in parts:
            new = old
        else:
            new = nbformat.v4.new_code_cell().id
        used.add(new)
        if new != old:
            cell.id = new
            given.append(new)
    return given


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


def clean_metadata(notebook: NotebookNode) -> list[str]:
    """Keep the tags, and fold what they say is not part of the lesson."""
    cleaned = []
    if notebook.metadata != {"kernelspec": KERNELSPEC}:
        notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC})
        cleaned.append("the notebook's own")
    for cell in notebook.cells:
        wanted = {}
        if tags(cell):
            wanted["tags"] = cell.metadata.tags
        if cell.cell_type == "code" and not FOLDED.isdisjoint(tags(cell)):
            wanted["jupyter"] = {"source_hidden": True}
        if cell.metadata != wanted:
            cell.metadata = nbformat.from_dict(wanted)
            cleaned.append(cell.id)
    return cleaned


def format_code(notebook: NotebookNode) -> list[str]:
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
    if done.returncode:
        return []
    changed = []
    formatted = nbformat.reads(done.stdout, as_version=4)
    for cell, new in zip(notebook.cells, formatted.cells, strict=True):
        if cell.source != new.source:
            cell.source = new.source
            changed.append(cell.id)
    return changed


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


def outputs(notebook: NotebookNode) -> dict[str, str]:
    """The outputs of each cell, by its id, to be compared."""
    return {
        cell.id: json.dumps(
            [{**each, "execution_count": None} for each in cell.outputs],
            sort_keys=True,
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


def read(path: Path) -> tuple[NotebookNode, dict[str, list[str]]]:
    """Read a notebook and correct it; also return what was corrected, where.

    Raises:
        CommandError: If the file is no notebook.
        OSError: If it cannot be read.
    """
    with as_a_notebook(path):
        notebook = nbformat.v4.reads(path.read_text(encoding="utf-8"))
        mended = mend(notebook)
        nbformat.validate(notebook)
    return notebook, mended


def store(path: Path) -> bool:
    """Correct, run and write a notebook; tell whether it ran to its end."""
    notebook, mended = read(path)
    print(path.name, flush=True)
    for what, where in mended.items():
        if where:
            print(f"  corrected {what}:", ", ".join(where))
    before = outputs(notebook)
    try:
        run(notebook, path.parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
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
    paths = parser.parse_args().paths
    for path in paths:
        read(path)  # before any of them runs
    ran = [store(path) for path in paths]
    raise SystemExit(0 if all(ran) else 1)


if __name__ == "__main__":
    commands.run(main)
