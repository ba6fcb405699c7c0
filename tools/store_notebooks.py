"""Run notebooks top to bottom and store them as the tests want them.

usage: uv run tools/store_notebooks.py [NOTEBOOK...]    (default: all)
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


def run(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
    ).execute()
    for cell in notebook.cells:
        # A widget's stored output is an address that no one can open.
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            cell.outputs = []
    notebook.metadata = {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        }
    }
    nbformat.write(notebook, path)


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]]
    for path in chosen or sorted(NOTEBOOKS.glob("*.ipynb")):
        print("running", path.name, flush=True)
        run(path)
