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
from test_review_rotary import rope
from test_review_tables import rows, table

NUMBER = 7
good, bad, late = table(), rows(0, 0, 0), table(read=lambda n: n + 3)
rotate, clipped = rope(), rope(read=lambda p: np.minimum(p, 2047))


def loud(seq_len, d_model):
    print("here is the table")
    return bad(seq_len, d_model)
"""
ALONE = """
def rotate(x, positions):
    return x
"""
CONFIG = {"head_dim": 32, "rope_theta": 5e5, "max_position_embeddings": 99}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command as if typed; return its exit code and what it says."""
    dynamic = CONFIG | {"rope_scaling": {"type": "dynamic"}}
    for name, text in (
        ("mine.py", MODULE),
        ("needy.py", "import nothing_of_this_name"),
        ("config.json", json.dumps(CONFIG)),
        ("dynamic.json", json.dumps(dynamic)),
    ):
        (tmp_path / name).write_text(text)
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
PRINTED = [  # what is typed, the exit code, what is said
    ("mine:good --max-len 64", 0, ". Convention: paper, interleaved.\n"),
    (
        "mine:good --width 8 --base 500 --max-len 99",
        1,
        "- every row: The waves fit base 10000",
    ),
    ("mine:late --width 8 --start 3", 0, "Findings: 0"),
    ("mine:late --max-len 99 --tolerance 2", 0, "Findings: 0"),
    ("mine:bad --max-len 99 --tolerance 2", 0, "Findings: 0"),
    ("mine:bad --max-len 99", 1, "At row 0, the result is zero"),
    ("mine:rotate", 1, "- table: Asked for 4 rows: "),
    ("mine:good --rotary", 1, "- result: "),
    (TURN, 0, "Convention: half, base 10000.\n"),
    (f"{TURN} --width 8", 0, "positions 0 to 98,"),
    (f"{TURN} --base 500", 1, "- base: The base is 10000"),
    (f"{TURN} --layout interleaved", 1, "- layout: "),
    (f"{TURN} --config config.json", 1, "- base: "),
    (f"{TURN} --config config.json", 1, "\nNote: whether pairs are "),
    (f"{TURN} --config config.json", 1, "config asks for base 500000, radia"),
    ("mine:rotate --rotary --config config.json", 1, "positions 0 to 98,"),
    ("mine:clipped --rotary --max-len 2100", 1, "From position 2048 on"),
    ("", 2, "required: target"),
    ("mine:nobody", 2, "has no attribute 'nobody'"),
    ("yours:good", 2, "No module named 'yours'; modules are looked for"),
    ("mine", 2, "mine is a module: give package.module:function"),
    ("mine.py:good", 2, "leave out .py"),
    ("needy:good", 2, "error: No module named 'nothing_of_this_name'\n"),
    ("mine:NUMBER", 2, "mine:NUMBER is no function\n"),
    ("mine:good --layout half", 2, "--layout is for --rotary"),
    ("mine:good --convention tensor2tensor", 2, "give one of paper, inter"),
    (f"{TURN} --start 3", 2, "--start is for a table"),
    (f"{TURN} --width 1", 2, "--width 1: give 2 to 1024"),
    (f"{TURN} --max-len 9", 2, "--max-len 9: give 42 to"),
    (f"{TURN} --base 1", 2, "--base 1.0: give a number above 1"),
    (f"{TURN} --tolerance -1", 2, "--tolerance -1.0: give a number of 0 or"),
    (
        f"{TURN} --layout both",
        2,
        "--layout 'both': give one of interleaved; h",
    ),
    (
        f"{TURN} --layers full",
        2,
        "--layers 'full': these are layers of a conf",
    ),
    (f"{TURN} --config dynamic.json", 2, "scaling 'dynamic'; known are def"),
    (f"{TURN} --config none.json", 2, "none.json"),
    (f"{TURN} --config config.json --layers all", 2, "layers='all': the con"),
]


@pytest.mark.parametrize(("words", "status", "said"), PRINTED)
def test_what_is_printed(run, words, status, said):
    exit_code, *printed = run(words)
    assert exit_code == status
    assert said in "".join(printed)


def test_json_is_one_object_and_nothing_else(run):
    status, out, error = run("mine:loud --width 8 --json")
    found = json.loads(out)
    assert "here is the table" in error
    assert status == found["exit_code"] == 1
    first = found["findings"][0]
    assert list(first) == ["name", "words", "position"]
    assert (first["name"], first["position"]) == ("every row", 0)

    _, out, _ = run("mine:clipped --rotary --json --max-len 2100")
    found = json.loads(out)
    assert found["findings"][0]["position"] == 2048
    assert (found["base"], found["layout"]) == (10_000, "half")
    assert found["partners"][1] == [1, 33]
    assert (found["asked_alone"], found["error"]) == (0, None)
    _, out, _ = run(f"{TURN} --width 2 --json")
    assert json.loads(out)["base"] is None


def test_what_takes_much_says_so_first(run, monkeypatch):
    monkeypatch.setattr(settings, "MUCH", 99 * 64)
    assert "may take" not in run(TURN)[2]
    said = run(f"{TURN} --width 66")[2]
    assert "99 x 66 numbers" in said and "take a minute" in said
    said = run("mine:good --max-len 1000")[2]
    assert "1000 x 64 numbers" in said and "some minutes" in said


def test_the_folder_alone_is_enough(tmp_path):
    """Copied elsewhere, without docstrings: messages are no docstrings."""
    shutil.copytree(ROOT / "review/posenc_review", tmp_path / "posenc_review")
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
