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
    assert len(text.splitlines()) <= 130


class Computer:
    """A computer that pretends to install and run.

    Attributes:
        there: The programs in the project's folders, such as ".uv/uv".
        fails: Parts of commands that fail here.
        ran: The commands that were run.
        env: The environment variables of the last one that had some.
    """

    def __init__(self):
        self.there, self.fails, self.ran, self.env = set(), set(), [], {}

    def program(self, name, folder):
        path = f"{folder.name}/{name}"
        return path if path in self.there else None

    def run(self, command, env=None, quiet=False):
        text = " ".join(map(str, command))
        self.ran.append(text)
        self.env = env or self.env
        if any(part in text for part in self.fails):
            return 1
        for part, program in {
            "pip install": ".uv/uv",
            "-m venv": ".uv/python",
            "--inexact": ".venv/python",
        }.items():
            if part in text:
                self.there.add(program)
        return 0

    def all_of(self, part):
        return [command for command in self.ran if part in command]


@pytest.fixture
def computer(monkeypatch) -> Computer:
    it = Computer()
    monkeypatch.setattr(start, "run", it.run)
    monkeypatch.setattr(start, "program", it.program)
    monkeypatch.setattr(start.shutil, "which", lambda name: name)
    return it


@pytest.fixture
def typed(monkeypatch):
    def type_in(*words):
        monkeypatch.setattr(sys, "argv", ["start.py", *words])
        return start.main()

    return type_in


def test_a_notebook_brings_what_it_needs_and_nothing_is_removed(
    computer, typed
):
    for words, file, heavy in [
        ([], "00_in_one_sitting", False),
        (["7"], "07_rotary", False),
        (["05", "--no-browser"], "05_phrase_demo", True),
    ]:
        assert not typed(*words)
        sync, _, lab = computer.ran[-3:]
        assert "--inexact" in sync
        assert ("tensorflow" in sync) == heavy
        assert "-m jupyterlab" in lab
        assert f"{file}.ipynb" in lab
    assert " --no-browser" in lab
    assert "'77'" in typed("77")


def test_without_a_network_it_opens_what_is_installed(computer, typed):
    computer.fails = {"--offline"}
    typed()
    assert (
        len(computer.all_of("--inexact")) == 2
    )  # the second one with a network
    computer.fails = {"--inexact"}
    assert not typed("01")
    computer.fails = {"--inexact", "import"}
    with pytest.raises(SystemExit, match="Check the network"):
        typed("01")


def test_uv_is_installed_in_the_project_by_what_there_is(computer, typed):
    computer.fails = {"--help"}  # an old uv
    typed()
    assert len(computer.all_of("pip install")) == 1
    assert str(start.UV) in computer.env["UV_CACHE_DIR"]
    assert str(start.UV) in computer.env["UV_PYTHON_INSTALL_DIR"]
    computer.there, computer.ran = set(), []
    computer.fails |= {"--target"}  # as without pip, or an old one
    typed()
    assert computer.all_of("pip install")[-1].startswith(".uv/python ")
    computer.there = set()
    computer.fails |= {"pip install"}
    with pytest.raises(SystemExit, match="apt\ninstall python3-pip"):
        typed()


def test_it_says_what_the_computer_is_ready_for(computer, typed, capsys):
    assert "Ready for no notebook yet" in typed("check")
    computer.there = {".venv/python"}
    typed("check")
    assert capsys.readouterr().out.endswith("14 15 16\n")
    computer.fails = {"keras"}
    typed("check")
    ready, rest = capsys.readouterr().out.splitlines()
    assert ready == "Ready for 00 01 02 03 07 10 11 12 14 15 16"
    assert "python3 start.py 04 adds" in rest


def test_the_tests_are_those_of_pytest(computer, typed):
    typed("test", "-k", "rotary")
    assert computer.ran[-1] == "uv run pytest -k rotary"


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
