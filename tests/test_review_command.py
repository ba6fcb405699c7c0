"""The command: python -m posenc_review."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from posenc_review import __main__ as command
from posenc_review import settings

MODULE = """
import numpy as np
from test_review_rotary import rotary
from test_review_tables import right as good

NUMBER = 7
rotate = rotary()
clipped = rotary(read=lambda p: np.minimum(p, 2047))


def bad(seq_len, d_model):
    print("here is the table")
    return good(seq_len, d_model) * (np.arange(seq_len) > 0)[:, None]


def late(seq_len, d_model):
    return good(seq_len + 3, d_model)[3:]


class Inner:
    good = staticmethod(good)
"""
ALONE = """
def rotate(x, positions):
    return x
"""
CONFIG = {"head_dim": 32, "rope_theta": 500_000}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command as if typed; return its exit code and what it says."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "needy.py").write_text("import nothing_of_this_name")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "dynamic.json").write_text(
        json.dumps(CONFIG | {"rope_scaling": {"type": "dynamic"}})
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)

    def run(words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["posenc_review", *words.split()])
        try:
            status = command.main()
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return status, said.out, said.err

    return run


TURN = "mine:rotate --rotary --max-len 99"
PRINTED = [
    ("mine:good --max-len 64", 0, ". Convention: paper, interleaved.\n"),
    ("mine:good --width 8 --max-len 128", 0, "Rows: 128,"),
    ("mine:Inner.good --width 8", 0, "Findings: 0"),
    ("mine:good --width 8 --base 500 --max-len 99", 1, "- wavelengths: "),
    ("mine:late --width 8 --start 3", 0, "Findings: 0"),
    ("mine:late --max-len 99 --tolerance 2", 0, "Findings: 0"),
    ("mine:bad --max-len 99", 1, "At row 0, the result is zero"),
    ("mine:rotate", 1, "- table: Asked for 4 rows: "),
    ("mine:good --rotary", 1, "- result: "),
    (TURN, 0, "Convention: half, base 10000.\n"),
    (f"{TURN} --width 8", 0, "positions 0 to 98,"),
    (f"{TURN} --base 500", 1, "- base: The base is 10000"),
    (f"{TURN} --layout half", 0, "Findings: 0"),
    (f"{TURN} --layout interleaved", 1, "- layout: "),
    (f"{TURN} --config config.json", 1, "- base: "),
    (f"{TURN} --config config.json", 1, "config asks for base 500000, radia"),
    ("mine:clipped --rotary --max-len 2100", 1, "From position 2048 on"),
    ("mine:clipped --rotary --max-len 2048", 0, "Findings: 0"),
]


@pytest.mark.parametrize(("words", "status", "said"), PRINTED)
def test_what_is_found_is_printed(run, words, status, said):
    exit_code, *printed = run(words)
    assert exit_code == status
    assert said in "".join(printed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mine:nobody", "has no attribute 'nobody'"),
        ("yours:good", "No module named 'yours'; modules are looked for"),
        ("mine", "mine is a module: give package.module:function"),
        ("mine.py:good", "leave out .py"),
        ("needy:good", "error: No module named 'nothing_of_this_name'\n"),
        ("mine:NUMBER", "mine:NUMBER is no function\n"),
        ("mine:good --width 0", "error: --width 0: give"),
        ("mine:good --width wide", "argument --width"),
        ("mine:good --layout half", "--layout is for --rotary"),
        ("mine:good --convention tensor2tensor", "give one of paper, inter"),
        (f"{TURN} --start 3", "--start is for a table"),
        (f"{TURN} --width 1", "--width 1: give 2 to"),
        (f"{TURN} --config dynamic.json", "scaling 'dynamic'; known are def"),
        (f"{TURN} --config none.json", "none.json"),
        (f"{TURN} --config config.json --layers all", "layers='all': the con"),
        ("", "required: target"),
    ],
)
def test_what_cannot_begin_exits_with_2(run, words, said):
    status, _, error = run(words)
    assert status == 2
    assert said in error


def test_json_is_one_object_and_nothing_else(run):
    status, out, error = run("mine:bad --width 8 --json")
    found = json.loads(out)
    assert "here is the table" in error
    assert status == found["exit_code"] == 1
    assert found["findings"][0] == {
        "name": "row length",
        "words": "In each row the squares should sum to 1 for each pair; those"
        " of row 0 are off by -4 of 4.",
        "position": 0,
    }
    assert found["convention"] == "unknown"

    status, out, _ = run("mine:clipped --rotary --json --max-len 2100")
    found = json.loads(out)
    assert status == found["exit_code"] == 1
    assert found["findings"][0]["position"] == 2048
    assert (found["base"], found["layout"]) == (10_000, "half")
    assert found["convention"] == "half, base 10000"
    _, out, _ = run(f"{TURN} --width 2 --json")
    assert json.loads(out)["base"] is None


def test_what_takes_much_says_so_first(run, monkeypatch):
    monkeypatch.setattr(settings, "MUCH", 99 * 64)
    assert "may take" not in run(TURN)[2]
    assert "at 99 x 66 numbers: this may" in run(f"{TURN} --width 66")[2]
    assert "at 100 x 64 numbers" in run("mine:good --max-len 100")[2]


def test_the_folder_alone_is_enough(tmp_path):
    """Copied elsewhere, without docstrings: messages are no docstrings."""
    shutil.copytree(ROOT / "posenc_review", tmp_path / "posenc_review")
    (tmp_path / "mine.py").write_text(ALONE)
    begin = [sys.executable, "-OO", "-X", "importtime", "-m", "posenc_review"]
    done = subprocess.run(
        [*begin, "mine:rotate", "--rotary"],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "- rotation: Nothing turns" in done.stdout
    for module in ("tensorflow", "matplotlib", "posenc_helpers"):
        assert module not in done.stderr
