"""Notebook 07: its suspects are wrong as named, its checks catch them.

What is expected is written here from the formulas, with `math` and one
entry at a time, or is a known number; never taken from the notebook.
"""

import math

import ml_dtypes
import nbformat
import numpy as np
import pytest
from conftest import ROOT, run_up_to

from posenc_helpers import position_encoding
from posenc_review import CONVENTIONS, review

NOTEBOOK = "07_spot_the_bug"
# Each bug's symptoms, reasoned out by hand.
FIVE = "rotation, wavelengths, dot products, far row"
FAILS = {
    "a": "wavelengths, far row",
    "b": f"row 2, {FIVE}",
    "c": f"row length, {FIVE}",
    "d": "row 2",
    "e": "wavelengths",
    "f": "far row",
    "g": "dot products",
    "h": "batch axis",
    "k": "rotation",
    "m": "wavelengths, far row",
    "n": "first rows",
    "p": "row length",
}


@pytest.fixture(scope="module")
def names() -> dict:
    """All that the notebook defines when every exercise is left open."""
    return run_up_to(NOTEBOOK, "answer-10")


def play(last: str, answers: dict[str, str]) -> dict:
    """Run up to a cell, with answers in place of the exercises' own."""
    path = ROOT / "notebooks" / f"{NOTEBOOK}.ipynb"
    namespace: dict = {}
    for cell in nbformat.read(path, as_version=4).cells:
        tags = cell.metadata.get("tags", ())
        if cell.cell_type == "code" and "solution" not in tags:
            exec(answers.get(cell.id, cell.source), namespace)
        if cell.id == last:
            return namespace
    raise KeyError(last)


def solutions() -> dict[str, str]:
    path = ROOT / "notebooks" / f"{NOTEBOOK}.ipynb"
    return {
        cell.id.replace("solution", "answer"): cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if cell.id.startswith("solution")
    }


def wave(position: int, column: int, exponent: float) -> float:
    """Sine or cosine, by column, of position * 10000**-exponent."""
    angle = position / 10_000**exponent
    return math.cos(angle) if column % 2 else math.sin(angle)


# Entry [3, column] at d_model = 8, from the formula of each bug.
ENTRIES = {
    "a": lambda k: wave(3, k, 4 * (k // 2) / 8),
    "b": lambda k: (math.cos if k % 2 else math.sin)(
        (3 / 10_000) ** (2 * (k // 2) / 8)
    ),
    "c": lambda k: wave(3, k, 2 * k / 8),
    "d": lambda k: wave(3, k + 1, 2 * (k // 2) / 8),
    "e": lambda k: wave(3, k, (k // 2) / 3),
    "k": lambda k: wave(3, k // 4, 2 * (k % 4) / 8),
    "m": lambda k: wave(3, k, -2 * (k // 2) / 8),
}


@pytest.mark.parametrize("letter", ENTRIES)
def test_a_wrong_formula_is_wrong_as_named(names, letter):
    row = names["SUSPECTS"][letter](4, 8)[3]
    expected = [ENTRIES[letter](column) for column in range(8)]
    np.testing.assert_allclose(row, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("letter", "fghnp")
def test_a_hidden_bug_is_right_where_people_look(names, letter):
    rows = np.squeeze(names["SUSPECTS"][letter](64, 8))[1:]
    expected = [
        [wave(p, k, 2 * (k // 2) / 8) for k in range(8)] for p in range(1, 64)
    ]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-5)


def test_hidden_bugs_are_wrong_elsewhere(names):
    suspects = names["SUSPECTS"]
    assert suspects["f"](2, 8).dtype == np.float32
    g = suspects["g"](259, 8)
    np.testing.assert_array_equal(g[256], g[257])
    assert suspects["h"](5, 8).shape == (5, 1, 8)
    stretched = math.sin(10 / (10_000 * 100_000 / 65_536) ** 0.25)
    assert suspects["n"](100_000, 8)[10, 2] == pytest.approx(stretched)
    assert not suspects["p"](5, 8)[0].any()


def test_bfloat16_rounds_as_the_format_does(names):
    random = np.random.default_rng(4).normal(scale=1e3, size=10_000)
    for numbers in (np.arange(100_000.0), random.astype(np.float32)):
        expected = numbers.astype(ml_dtypes.bfloat16).astype(np.float64)
        np.testing.assert_array_equal(names["bfloat16"](numbers), expected)


def test_each_suspect_shows_the_expected_symptoms(names):
    grid = {x: ", ".join(failed) for x, failed in names["grid"].items()}
    assert grid == FAILS
    assert names["failures"](position_encoding) == []
    alike = [x for x in FAILS if list(FAILS.values()).count(FAILS[x]) > 1]
    assert alike == ["a", "m"]


def test_each_check_alone_catches_some_suspect(names):
    alone = {failed for failed in FAILS.values() if "," not in failed}
    assert alone == set(names["CHECKS"])


def test_easy_checks_let_eight_through(names):
    assert names["caught"] == {
        "shape": [],
        "range": [],
        "row 0": ["b", "d", "k", "p"],
        "rows differ": [],
    }


@pytest.mark.parametrize("letter", FAILS)
def test_the_module_finds_what_the_notebook_finds(names, letter):
    suspect = names["SUSPECTS"][letter]
    found = list(review(suspect, 8, convention=CONVENTIONS[0]).findings)
    assert ", ".join(x for x in found if x != "every row") == FAILS[letter]
    assert ("every row" in found) == (letter != "h")


def test_left_open_or_answered_wrongly_nothing_breaks(capsys):
    play("only-one", {})
    said = capsys.readouterr().out
    assert said.count("Not answered yet") == 8
    assert said.count("nobody yet: it is still open") == 8
    assert "at large: a b c d e f g h k m n p\nOurs stand in for: row" in said
    wrong = ("True", "lambda e: 1 / 0", "lambda e: None", "lambda: 3")
    answers = {
        f"answer-{n}": f"check_{n}({wrong[n % 4]})" for n in range(1, 9)
    }
    assert play("only-one", answers)["ACCEPTED"] == {}
    said = capsys.readouterr().out
    assert said.count("Not yet. Hint: ") == 8
    assert "Give a function of one encoder" in said
    assert "it raises ZeroDivisionError" in said
    assert "it returns None" in said
    assert said.count("nobody yet: it is not accepted yet") == 8


def test_dots_left_in_are_no_wrong_answer(names, capsys):
    for n, answer in enumerate(
        ("lambda e: near(table(e, 3)[2, 0], ...)", "lambda e: ...", "..."), 1
    ):
        names[f"check_{n}"](eval(answer, names))
        assert "Not answered yet" in capsys.readouterr().out
    names["check_2"](
        eval("lambda e: near(table(e, 3)[2, ..., 0], np.sin(2))", names)
    )
    assert capsys.readouterr().out == "Correct.\n"
    names["ACCEPTED"].clear()


def test_an_array_of_answers_is_named(names, capsys):
    names["check_1"](
        eval("lambda e: np.sum(table(e, 64) ** 2, 1) == 4", names)
    )
    assert "64 values; give one True or False" in capsys.readouterr().out


def test_all_eight_answered_are_said_to_be_so(capsys):
    play("checks", solutions())
    said = capsys.readouterr().out
    assert "Ours stand in for: none, all eight are answered" in said
    assert "still at large: nobody" in said


def test_half_answered_ours_stand_in_for_the_rest(capsys):
    right = solutions()
    half = {f"answer-{n}": right[f"answer-{n}"] for n in (1, 4, 6)}
    names = play("only-one", half)
    assert list(names["ACCEPTED"]) == ["row length", "wavelengths", "far row"]
    assert {x: ", ".join(f) for x, f in names["grid"].items()} == FAILS
    said = capsys.readouterr().out
    assert (
        "Ours stand in for: row 2, rotation, dot products, first rows" in said
    )
    assert (
        "wavelengths, catches a b c e m\nstill at large: d f g h k n" in said
    )


# A check that is nearly right, with what it is told.
MUCH, LITTLE, BROKEN = "too much", "too little", "fails the right encoder"
NEAR_MISSES = [
    (1, "lambda e: near(np.sum(table(e, 64) ** 2), 256)", LITTLE),
    (1, "lambda e: near(np.sum(table(e, 2) ** 2, axis=1), 4)", LITTLE),
    (1, "lambda e: near(table(e, 64)[0], [0, 1] * 4)", MUCH),
    (1, "lambda e: near(np.sum(table(e, 64) ** 2, axis=0), 4)", BROKEN),
    (1, "lambda e: np.sum(table(e, 64) ** 2, axis=1) == 4", BROKEN),
    (2, "lambda e: near(table(e, 3)[0, 0], 0)", LITTLE),
    (2, "lambda e: near(table(e, 3)[1, 0], np.sin(1))", LITTLE),
    (2, "lambda e: near(table(e, 3)[2], position_encoding(3, 8)[2])", MUCH),
    (3, "lambda e: near(np.abs(hands(e)), 1)", LITTLE),
    (4, "lambda e: True", LITTLE),
    (
        5,
        "lambda e: near(np.diag(d := table(e, 512) @ table(e, 512).T), 4)",
        MUCH,
    ),
    (
        6,
        "lambda e: near(np.sort(table(e, FAR + 1)[FAR]), TRUE_ROWS[0], 1e-6)",
        MUCH,
    ),
    (6, "lambda e: near(table(e, FAR + 1)[FAR], TRUE_ROWS[0], 1e-6)", BROKEN),
    (7, "lambda e: near(table(e, 70_000)[5], table(e, 64)[5])", LITTLE),
    (7, "lambda e: near(table(e, 1000)[:64], table(e, 64))", LITTLE),
    (8, "lambda e: e(4, 8).shape == (4, 8)", MUCH),
]


@pytest.mark.parametrize(("number", "answer", "told"), NEAR_MISSES)
def test_a_near_miss_hears_what_is_amiss(names, number, answer, told, capsys):
    names[f"check_{number}"](eval(answer, names))
    said = capsys.readouterr().out
    assert said.startswith("Not yet. Hint: It "), said
    assert told in said
    assert names["ACCEPTED"] == {}


RIGHT = dict(zip(FAILS, [6, 11, 8, 4, 9, 1, 2, 10, 5, 12, 7, 3], strict=True))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (RIGHT, "Correct."),
        (list(RIGHT.values()), "Correct."),
        (tuple(RIGHT.values()), "Correct."),
        ("6, 11, 8, 4, 9, 1, 2, 10, 5, 12, 7, 3", "Correct."),
        ({x.upper(): str(number) for x, number in RIGHT.items()}, "Correct."),
        (RIGHT | {"a": 12, "m": 6}, "10 of 12 are right"),
        ({"a": 6, "b": 11}, "2 of 12 are right"),
        ([6, 11, ...], "Not answered yet"),
        ({"a": 6, "b": ...}, "Not answered yet"),
        ({}, "0 of 12"),
        (7, "raised TypeError"),
        ("acb", "raised ValueError"),
        ({"a": "what?"}, "raised ValueError"),
        (..., "Not answered yet"),
    ],
)
def test_exercise_9_takes_names_in_several_forms(names, answer, told, capsys):
    names["check_9"](answer)
    said = capsys.readouterr().out
    assert told in said
    assert not any(bug in said for bug in names["BUGS"].values())


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"row 2", "far row"}, "Correct."),
        (["far row", "row 2"], "Correct."),
        ("Row 2, far row", "Correct."),
        ({"row 2"}, "not all"),
        (set(), "Some do"),
        ({"row two"}, "as they stand"),
        ({"row 2", "far row", "rotation"}, "row of a given number"),
        (5, "raised TypeError"),
    ],
)
def test_exercise_10(names, answer, told, capsys):
    names["check_10"](answer)
    assert told in capsys.readouterr().out


def test_libraries_follow_the_conventions_that_the_text_says(names):
    seen = {
        library.__name__: review(library, 64, max_len=600).convention
        for library in [*names["libraries"], names["tutorial_example"]]
    }
    assert seen.pop("tensor2tensor") == "tensor2tensor, concatenated"
    assert seen.pop("tensorflow_2023") == "paper, concatenated"
    assert seen.pop("marian") == "paper, concatenated"
    assert set(seen.values()) == {"paper, interleaved"}
