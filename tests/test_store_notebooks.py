"""The one command that an author needs: what it mends, and what it leaves."""

import json
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

UNTIDY = [
    new_markdown_cell("### Exercise 1. Add\n"),
    new_code_cell(
        "def check_1(answer):\n    return answer == 2",
        metadata={"tags": ["check"]},
    ),
    new_code_cell("check_1(...)", metadata={"tags": ["exercise"]}),
    new_code_cell("check_1(1+1)", metadata={"tags": ["solution"]}),
    new_code_cell(
        "print('progress')", metadata={"tags": ["nbval-ignore-output"]}
    ),
    new_code_cell(
        "import posenc_helpers",
        id="1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",  # as JupyterLab gives
        execution_count=17,
        metadata={"editable": True, "jupyter": {"source_hidden": True}},
    ),
]


def store(*paths):
    command = [sys.executable, ROOT / "tools/store_notebooks.py", *paths]
    return subprocess.run(command, capture_output=True, text=True)


def dying_notebook() -> bytes:
    cell = new_code_cell("import os; os._exit(1)", id="dies")
    return nbformat.writes(new_notebook(cells=[cell])).encode()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Two notebooks after one command: an untidy one, and one that stops."""
    folder = tmp_path_factory.mktemp("notebooks")
    untidy = new_notebook(cells=UNTIDY)
    untidy.metadata = {"language_info": {"name": "python"}}
    text = json.loads(nbformat.writes(untidy))
    del text["cells"][3]["id"]
    text["cells"][4]["id"] = text["cells"][5]["id"]
    (folder / "untidy.ipynb").write_text(json.dumps(text))
    stops = new_notebook(cells=[new_code_cell("1 / 0")])
    nbformat.write(stops, folder / "stops.ipynb")
    before = (folder / "stops.ipynb").read_bytes()
    done = store(folder / "stops.ipynb", folder / "untidy.ipynb")
    return folder, before, done


def test_what_an_editor_left_is_corrected(stored):
    folder, _, done = stored
    notebook = nbformat.read(folder / "untidy.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec"}
    task, check, answer, solution, progress, module = notebook.cells
    names = [cell.id for cell in (task, check, answer, solution)]
    assert names == ["exercise-1", "check-1", "answer-1", "solution-1"]
    assert len({cell.id for cell in notebook.cells}) == len(UNTIDY)
    assert task.source == "### Exercise 1. Add"
    assert solution.source == "check_1(1 + 1)"
    folded = [bool(cell.metadata.get("jupyter")) for cell in notebook.cells]
    assert folded == [False, True, False, True, False, False]
    assert module.metadata == {}
    counts = [cell.execution_count for cell in notebook.cells[1:]]
    assert counts == [1, 2, 3, 4, 5]
    assert solution.outputs[0].data["text/plain"] == "True"
    assert progress.outputs == []
    assert "corrected ids: exercise-1, check-1, answer-1" in done.stdout
    assert "corrected formatting: solution-1" in done.stdout


def test_a_notebook_that_stops_is_left_as_it_was(stored):
    folder, before, done = stored
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout
    assert (folder / "stops.ipynb").read_bytes() == before


def test_a_second_time_there_is_nothing_to_mend(stored):
    folder, _, _ = stored
    done = store(folder / "untidy.ipynb")
    assert done.returncode == 0
    assert done.stdout.split("\n")[:-1] == [
        "untidy.ipynb",
        "  changed outputs: none",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"{}", "is no notebook"),
        (b"not json", "is no notebook"),
        (b"\xff\xfe", "is no notebook"),
        (dying_notebook(), "Kernel died"),
    ],
    ids=["missing", "empty", "no JSON", "no text", "dying"],
)
def test_what_cannot_be_stored_is_named_and_left_alone(
    content, said, tmp_path
):
    file = tmp_path / "x.ipynb"
    if content is not None:
        file.write_bytes(content)
    done = store(file)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert str(file) in done.stderr + done.stdout
    assert said in done.stderr + done.stdout
    assert content is None or file.read_bytes() == content
