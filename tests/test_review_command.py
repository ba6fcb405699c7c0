"""The command: python -m posenc_review."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from posenc_review import __main__ as command

MODULE = """
import sys
import numpy as np

NUMBER = 7


def good(seq_len, d_model):
    angles = np.outer(
        np.arange(seq_len), 10_000 ** (-np.arange(0, d_model, 2) / d_model)
    )
    return np.stack([np.sin(angles), np.cos(angles)], 2).reshape(seq_len, -1)


def bad(seq_len, d_model):
    print("here is the table")
    return good(seq_len, d_model) * (np.arange(seq_len) > 0)[:, None]


def late(seq_len, d_model):
    return good(seq_len + 3, d_model)[3:]


def rotate(x, positions, base=10_000):
    half = x.shape[-1] // 2
    angles = positions[..., None] * base ** (-np.arange(half) / half)
    cosine, sine = np.cos(angles), np.sin(angles)
    one, other = x[..., :half], x[..., half:]
    turned = one * cosine - other * sine, one * sine + other * cosine
    return np.concatenate(turned, axis=-1)


def clipped(x, positions):
    return rotate(x, np.minimum(positions, 2047))


class Inner:
    good = staticmethod(good)
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


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("mine:good --max-len 64", 0, ". Convention: paper, interleaved.\n"),
        ("mine:good --width 8 --max-len 128", 0, "Rows: 128,"),
        ("mine:Inner.good --width 8", 0, "Findings: 0"),
        (
            "mine:good --convention tensor2tensor",
            2,
            "give one of paper, interleaved; p",
        ),
        ("mine:good --width 8 --base 500 --max-len 99", 1, "- wavelengths: "),
        ("mine:late --width 8 --start 3", 0, "Findings: 0"),
        ("mine:late --max-len 99 --tolerance 2", 0, "Findings: 0"),
        ("mine:bad --max-len 99", 1, "At row 0, the result is zero"),
        (
            "mine:rotate --rotary --max-len 2100",
            0,
            "Convention: half, base 10000.\n",
        ),
        ("mine:rotate --rotary --width 8 --max-len 2100", 0, "Findings: 0"),
        ("mine:rotate --rotary --max-len 100", 0, "positions 0 to 99,"),
        (
            "mine:rotate --rotary --base 500 --max-len 2100",
            1,
            "- base: The base is 10000",
        ),
        (
            "mine:rotate --rotary --layout half --max-len 2100",
            0,
            "Findings: 0",
        ),
        (
            "mine:rotate --rotary --layout interleaved --max-len 2100",
            1,
            "- layout: ",
        ),
        (
            "mine:rotate --rotary --config config.json --max-len 2100",
            1,
            "- base: ",
        ),
        (
            "mine:rotate --rotary --config config.json --max-len 2100",
            1,
            "The config asks for base 500000, radians per position 1, 0.44",
        ),
        ("mine:clipped --rotary --max-len 2100", 1, "From position 2048 on"),
        ("mine:clipped --rotary --max-len 2048", 0, "Findings: 0"),
        ("mine:rotate", 1, "- table: Asked for 4 rows: "),
        ("mine:good --rotary", 1, "- result: "),
    ],
)
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
        ("mine:rotate --rotary --start 3", "--start is for a table"),
        ("mine:rotate --rotary --width 1", "--width 1: give 2 to"),
        (
            "mine:rotate --rotary --config dynamic.json",
            "unknown scaling 'dynamic'; known are default, linear,",
        ),
        ("mine:rotate --rotary --config none.json", "none.json"),
        (
            "mine:rotate --rotary --config config.json --layers all",
            "layers='all': the config has only one set",
        ),
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
    _, out, _ = run("mine:rotate --rotary --width 2 --json")
    assert json.loads(out)["base"] is None


def test_help_names_each_option_and_what_it_is_for(run):
    status, out, _ = run("--help")
    assert status == 0
    for option in (
        "--rotary",
        "--base",
        "--config",
        "--layers",
        "--json",
    ):
        assert option in out
    assert "memory grows" in " ".join(out.split())


def test_the_folder_alone_is_enough(tmp_path):
    """Copied elsewhere, without docstrings: messages are no docstrings."""
    shutil.copytree(ROOT / "posenc_review", tmp_path / "posenc_review")
    (tmp_path / "mine.py").write_text(MODULE)
    begin = [sys.executable, "-OO", "-X", "importtime", "-m", "posenc_review"]
    done = subprocess.run(
        [*begin, "mine:clipped", "--rotary", "--max-len=2100"],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert (
        "- far positions: From position 2048 on, all are taken" in done.stdout
    )
    for module in ("tensorflow", "matplotlib", "posenc_helpers"):
        assert module not in done.stderr
