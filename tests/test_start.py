"""The first command: what it installs and opens, and the learners' copies."""

import ast
import sys

import nbformat
import pytest
from conftest import ROOT
from posenc_series import chapters
from posenc_series.commands import CommandError
from posenc_series.learners import WRITTEN, write_notebooks
from small_series import write_small_series

import start


def test_it_needs_nothing_else_and_an_old_python_can_read_it():
    text = (ROOT / "start.py").read_text()
    nodes = list(ast.walk(ast.parse(text, feature_version=(3, 8))))
    imports = [n for n in nodes if isinstance(n, ast.Import)]
    names = {name.name for each in imports for name in each.names}
    names |= {n.module for n in nodes if isinstance(n, ast.ImportFrom)}
    assert names <= sys.stdlib_module_names


INSTALLS = {
    "pip install": ".uv/uv",
    "-m venv": ".uv/python",
    "--inexact": ".venv/python",
}


class Computer:
    """A computer that pretends to install and run what is typed.

    Attributes:
        there: The programs in the project's folders, such as ".uv/uv".
        fails: Parts of commands that fail here.
        ran: The commands that were run.
    """

    def __init__(self, monkeypatch):
        self.there, self.fails, self.ran = set(), set(), []
        self.set = monkeypatch.setattr
        self.set(start, "run", self.run)
        self.set(start, "program", self.program)
        self.set(start.shutil, "which", lambda name: name)

    def program(self, name, folder):
        path = f"{folder.name}/{name}"
        return path if path in self.there else None

    def run(self, command, env=None, quiet=False):
        text = " ".join(map(str, command))
        self.ran.append(text)
        if any(part in text for part in self.fails):
            return 1
        self.there |= {INSTALLS[part] for part in INSTALLS if part in text}
        return 0

    def type_in(self, *words):
        self.ran = []
        self.set(sys, "argv", ["start.py", *words])
        return start.main()


@pytest.fixture
def computer(monkeypatch) -> Computer:
    return Computer(monkeypatch)


@pytest.mark.parametrize(
    ("words", "file", "heavy"),
    [
        ([], "00_in_one_sitting", False),
        (["7"], "07_rotary", False),
        (["05", "--no-browser"], "05_phrase_demo", True),
    ],
)
def test_a_notebook_brings_what_it_needs(computer, words, file, heavy):
    assert not computer.type_in(*words)
    sync, _, lab = computer.ran[-3:]
    assert "--inexact" in sync  # nothing is removed
    assert ("tensorflow" in sync) == heavy
    assert f"/lab/tree/{file}.ipynb " in lab
    assert lab.endswith(" --no-browser") == ("--no-browser" in words)


def test_without_a_network_it_opens_what_is_installed(computer):
    computer.type_in()
    computer.fails = {"--inexact"}
    assert not computer.type_in("01")
    computer.fails |= {"import"}
    with pytest.raises(SystemExit, match="Is there a network"):
        computer.type_in("01")


def test_uv_is_installed_in_the_project_by_what_there_is(computer):
    computer.fails = {"--help"}  # an old uv
    computer.type_in()
    assert any(f"--target={start.UV}" in command for command in computer.ran)
    computer.there = set()
    computer.fails |= {"--target"}  # as without pip, or an old one
    computer.type_in()
    assert any(c.startswith(".uv/python -m pip") for c in computer.ran)
    computer.there = set()
    computer.fails |= {"pip install"}
    with pytest.raises(SystemExit, match="apt install\npython3-pip"):
        computer.type_in()


def test_it_says_what_the_computer_is_ready_for(computer, capsys):
    assert "Ready for no notebook yet" in computer.type_in("check")
    computer.there = {".venv/python"}
    computer.type_in("check")
    assert capsys.readouterr().out.endswith("14 15 16\n")
    computer.fails = {"keras"}
    computer.type_in("check")
    ready, rest = capsys.readouterr().out.splitlines()
    assert ready == "Ready for 00 01 02 03 07 10 11 12 14 15 16"
    assert "python3 start.py 04 adds" in rest
    assert "'77'" in computer.type_in("77")


# Learners' copies.


def test_what_was_edited_is_kept_and_the_rest_is_renewed(tmp_path, capsys):
    small = write_small_series(tmp_path)
    folder = tmp_path / "class" / "copies"
    write_notebooks(small, folder, with_solutions=True)
    first, second = (folder / path.name for path in small)
    solved = folder / "solutions" / second.name
    assert nbformat.read(solved, 4) == chapters.solutions(small[1])
    assert write_notebooks(small, folder) == []

    ran = nbformat.read(second, 4)  # in JupyterLab, and nothing was written
    ran.metadata.language_info = {"name": "python"}
    ran.cells[3].execution_count = 1
    nbformat.write(ran, second)
    first.write_text("work of hours")
    write_notebooks(small, folder)
    assert capsys.readouterr().out == ""  # there is nothing newer
    for path in small:
        changed = nbformat.read(path, 4)
        changed.cells[0].source += "More."
        nbformat.write(changed, path)
    assert write_notebooks(small, folder) == [second]
    assert f"{first} was edited: kept." in capsys.readouterr().out
    assert first.read_text() == "work of hours"
    assert "More." in second.read_text()

    (folder / WRITTEN).write_text("[")  # who edited what, then?
    second.write_text("more work")
    assert write_notebooks(small, folder) == []
    first.unlink()
    assert write_notebooks(small, folder) == [first]
    with pytest.raises(CommandError, match="would replace itself"):
        write_notebooks(small, tmp_path)


def test_a_copy_says_how_to_get_tensorflow(tmp_path):
    paths = [ROOT / "notebooks/05_phrase_demo.ipynb"]
    write_notebooks(paths, tmp_path)
    _, second, *_ = nbformat.read(tmp_path / paths[0].name, 4).cells
    assert "`python3 start.py 05`" in second.source
