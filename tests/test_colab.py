"""Each notebook's first cell, for Colab: silent, or clear about a file."""

import re
import subprocess
import sys

import nbformat
import pytest
from conftest import NOTEBOOKS

MODULES = ["posenc_helpers", "posenc_layers"]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def sources(request) -> list[str]:
    cells = nbformat.read(request.param, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def imported(sources: list[str]) -> list[str]:
    text = "\n".join(sources)
    return [m for m in MODULES if re.search(rf"^from {m} import", text, re.M)]


def run_first_cell(sources, folder) -> subprocess.CompletedProcess:
    """Run it as Colab would: in a folder, and the project not installed."""
    (folder / "cell.py").write_text(sources[0])
    return subprocess.run(
        [sys.executable, "-S", "cell.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_it_names_the_file_to_upload(sources, tmp_path):
    for missing in imported(sources):
        folder = tmp_path / missing
        folder.mkdir()
        for name in set(MODULES) - {missing}:
            (folder / f"{name}.py").touch()
        done = run_first_cell(sources, folder)
        last = done.stderr.strip().splitlines()[-1]
        assert last == (
            f"ImportError: {missing}.py is not here: upload it, or clone."
        )


def test_it_is_silent_when_all_is_there(sources, tmp_path):
    for name in imported(sources):
        (tmp_path / f"{name}.py").touch()
    done = run_first_cell(sources, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_fetches_nothing(sources):
    names = re.findall(r"^(?:from|import) (\S+)", sources[0], re.MULTILINE)
    assert names == ["importlib.util"]
    assert not re.search(r"[!%]|http|exec|__import__", sources[0])
