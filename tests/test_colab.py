"""The README's start cell for Colab: silent, or clear about what lacks."""

import re
import subprocess
import sys

import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
START_CELL = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
MODULES = ["posenc_helpers.py", "posenc_layers.py"]


def run_start_cell(folder) -> subprocess.CompletedProcess:
    """Run it as Colab would: in a folder, and the project not installed."""
    (folder / "cell.py").write_text(START_CELL)
    return subprocess.run(
        [sys.executable, "-S", "cell.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("missing", MODULES)
def test_it_names_the_file_to_upload(tmp_path, missing):
    for name in set(MODULES) - {missing}:
        (tmp_path / name).touch()
    done = run_start_cell(tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {missing} is not here: upload it")


def test_it_does_nothing_when_all_is_there(tmp_path):
    for name in MODULES:
        assert (ROOT / name).exists()
        (tmp_path / name).touch()
    done = run_start_cell(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_fetches_nothing():
    imported = re.findall(r"^(?:from|import) (\S+)", START_CELL, re.MULTILINE)
    assert imported == ["importlib.util"]
    assert not re.search(r"[!%]|http|exec|__import__", START_CELL)
