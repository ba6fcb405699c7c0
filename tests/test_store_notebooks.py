"""The one command that an author needs: what it mends, and what it leaves."""

import json
import subprocess
import sys

import nbformat
import store_notebooks
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

UNTIDY = [
    new_markdown_cell("### Exercise 1. Add\n"),
    new_code_cell(
        "def check_1(answer):\n    return answer == 2",
        metadata={"tags": ["check"]},
    ),
    new_code_cell("check_1(...)", metadata={"tags": ["exercise"]}),
    new_code_cell(
        "confirm = lambda check, solution: print(check(solution))\n"
        "confirm(check_1, 1+1)",
        metadata={"tags": ["solution"]},
    ),
    new_code_cell("one = 1"),
    new_code_cell(
        "import posenc_helpers",
        id="1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",  # as JupyterLab gives
        execution_count=17,
        metadata={"editable": True, "jupyter": {"source_hidden": True}},
    ),
]


def one_cell(source: str) -> bytes:
    cell = new_code_cell(source, id="one")
    return nbformat.writes(new_notebook(cells=[cell])).encode()


def store(*paths) -> subprocess.CompletedProcess:
    command = [sys.executable, store_notebooks.__file__, *paths]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_an_editor_left_is_corrected(tmp_path):
    untidy = new_notebook(cells=UNTIDY)
    untidy.metadata = {"language_info": {"name": "python"}}
    text = json.loads(nbformat.writes(untidy))
    del text["cells"][3]["id"]
    text["cells"][4]["id"] = text["cells"][5]["id"]
    path = tmp_path / "untidy.ipynb"
    path.write_text(json.dumps(text))
    done = store(path)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec"}
    task, check, answer, solution, _, module = notebook.cells
    names = [cell.id for cell in (task, check, answer, solution)]
    assert names == ["exercise-1", "check-1", "answer-1", "solution-1"]
    assert len({cell.id for cell in notebook.cells}) == len(UNTIDY)
    assert task.source == "### Exercise 1. Add"
    assert solution.source.endswith("confirm(check_1, 1 + 1)")
    folded = [bool(cell.metadata.get("jupyter")) for cell in notebook.cells]
    assert folded == [False, True, False, True, False, False]
    assert module.metadata == {}
    counts = [cell.execution_count for cell in notebook.cells[1:]]
    assert counts == [1, 2, 3, 4, 5]
    assert solution.outputs[0].text == "True\n"
    assert "corrected cells: exercise-1, check-1, answer-1" in done.stdout
    assert not store_notebooks.mend(notebook)


def test_what_cannot_be_stored_is_named_and_left_alone(tmp_path):
    """The last one ends the command, since nobody can read it."""
    contents = {
        "error": (one_cell("1 / 0"), "ZeroDivisionError"),
        "dying": (one_cell("import os; os._exit(1)"), "Kernel died"),
        "no_text": (b"\xff\xfe", "is no notebook"),
    }
    files = [tmp_path / f"{name}.ipynb" for name in contents]
    for file in files:
        file.write_bytes(contents[file.stem][0])
    done = store(*files)
    assert done.returncode == 1
    for file in files:
        content, words = contents[file.stem]
        assert words in done.stderr + done.stdout
        assert file.name in done.stderr + done.stdout
        assert file.read_bytes() == content
