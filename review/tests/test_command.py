"""The command, and the package by itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from posenc_review import __main__ as command

REVIEW = Path(__file__).parents[1]
MODULE = """
import numpy as np
from rope import rope as rotate
from test_tables import table

NUMBER = 7


def late(rows, width):
    return table(rows + 1, width)[1:]


def clipped(x, positions):
    return rotate(x, np.minimum(positions, 99))
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command as if typed; return its exit code and what it says."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "raises.py").write_text("raise RuntimeError('no device')")
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)

    def run(words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["posenc-review", *words.split()])
        try:
            status = command.main()
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        return status, said.out + said.err

    return run


TURN = "mine:rotate --rotary --max-len 200"
TYPED = [  # what is typed, the exit code, what is said
    ("mine:table --max-len 64", 0, "Convention: paper, interleaved."),
    ("mine:late --width 32 --max-len 99", 1, "are 1 more than the token's"),
    ("mine:late --width 32 --max-len 99 --start 1", 0, "Findings: 0"),
    (TURN, 0, "Convention: half, base 10000."),
    (f"{TURN} --base 500", 1, "All are those of base 10000"),
    (f"{TURN} --config config.json", 2, "No module named 'transformers'"),
    ("mine:clipped --rotary --max-len 200", 1, "100 turned as 99, 101 as 99"),
    ("mine:rotate", 1, "A call of 64 rows fails: AttributeError"),
    ("mine:nobody", 2, "has no attribute 'nobody'"),
    ("yours:table", 2, "No module named 'yours'"),
    ("raises:rotate", 2, "raises:rotate: RuntimeError: no device"),
    ("mine:NUMBER", 2, "encoder=7: give a function"),
    ("mine:table --layout half", 2, "--layout is for rotary functions"),
    (f"{TURN} --start 3", 2, "--start is for tables"),
]


@pytest.mark.parametrize(("words", "status", "said"), TYPED)
def test_what_is_printed(run, words, status, said):
    exit_code, printed = run(words)
    assert exit_code == status
    assert said in printed
    assert "Traceback" not in printed


def test_it_can_be_installed_by_itself(tmp_path):
    """As `pip install ./review` does, with nothing beside it but NumPy."""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        pytest.skip("no uv")
    install = [uv, "pip", "install", "--quiet", "--no-deps"]
    install += ["--python", sys.executable, "--target", tmp_path, REVIEW]
    subprocess.run(install, check=True)
    files = {path.name for path in (tmp_path / "posenc_review").glob("*.py")}
    assert files == {path.name for path in REVIEW.glob("posenc_review/*.py")}
    words = "def rotate(x, positions):\n    return x\n"
    (tmp_path / "mine.py").write_text(words)
    review = f"{sys.executable} -m posenc_review mine:rotate --rotary"
    alone = {"cwd": tmp_path, "env": {"PATH": "/usr/bin:/bin"}}
    done = subprocess.run(review.split(), capture_output=True, **alone)
    assert done.returncode == 1
    assert b"no column is mixed with another" in done.stdout
    assert done.stderr == b""
