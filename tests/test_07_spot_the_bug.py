"""Notebook 07: each suspect's symptoms, and the exercises."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_replies, cells_of

from posenc_helpers import position_encoding
from posenc_review import review

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
    """All that the notebook defines when every exercise is solved."""
    namespace: dict = {}
    for cell in cells_of(NOTEBOOK):
        if cell.cell_type == "code":
            exec(cell.source, namespace)
    return namespace


def test_bfloat16_rounds_as_the_format_does(names):
    random = np.random.default_rng(4).normal(scale=1e3, size=10_000)
    for numbers in (np.arange(100_000.0), random.astype(np.float32)):
        expected = numbers.astype(ml_dtypes.bfloat16).astype(np.float64)
        np.testing.assert_array_equal(names["bfloat16"](numbers), expected)


def test_each_suspect_shows_the_expected_symptoms(names):
    grid = {x: ", ".join(failed) for x, failed in names["grid"].items()}
    assert grid == FAILS
    assert names["failures"](position_encoding) == []


@pytest.mark.parametrize("letter", FAILS)
def test_the_module_finds_what_the_notebook_finds(names, letter):
    suspect = names["SUSPECTS"][letter]
    found = list(review(suspect, 8, convention="paper, interleaved").findings)
    assert ", ".join(x for x in found if x != "every row") == FAILS[letter]
    assert ("every row" in found) == (letter != "h")


SUM = "np.sum(table(e, 64) ** 2, axis=1)"
DOTS = "(table(e, 512)[1:] @ table(e, 512)[1:].T)"
BATCH = "(np.zeros((4, 4, 8)) + e(4, 8))"
# The body of a check `e`; a wrong one hears what it misjudges.
REPLIES = [
    (1, f"near({SUM}, 4)", "Correct."),
    (1, f"np.isclose({SUM}, 4)", "Return one True or False"),
    (1, f"near({SUM}, 1)", "'the right table' should pass"),
    (1, "near(np.sum(table(e, 64) ** 2), 256)", "uneven rows' should fail"),
    (2, f"near({DOTS}[:-1, :-1], {DOTS}[1:, 1:])", "Correct."),
    (
        2,
        f"all(np.ptp(np.diag({DOTS}, k)) < 1e-3 for k in range(0, 511, 50))",
        "Correct.",
    ),
    (2, f"near(np.diag({DOTS}), 4)", "'b' should fail"),
    (3, "near(table(e, 70_000)[:64], table(e, 64))", "Correct."),
    (3, "near(table(e, 1000)[:64], table(e, 64))", "'n' should fail"),
    (3, "near(e(70_000, 8)[:64], e(64, 8))", "batch axis' should pass"),
    (4, f"{BATCH}.ndim == 3 and near({BATCH}[0], {BATCH}[-1])", "Correct."),
    (4, "e(4, 8).shape in [(4, 8), (1, 4, 8)]", "four sentences' should pass"),
    (4, "e(4, 8).shape == (4, 8)", "batch axis' should pass"),
    (4, f"near({BATCH}[0], {BATCH}[-1])", "(1, 4, 1, 8)' should fail"),
    (4, "1 / 0", "ZeroDivisionError"),
]


@pytest.mark.parametrize(("number", "body", "reply"), REPLIES)
def test_exercises_1_to_4_judge_a_check(names, number, body, reply):
    answer = eval(f"lambda e: {body}", names)
    assert_replies(names[f"check_{number}"], [answer], reply)


def test_usual_tests_let_eight_pass_and_from_one_fails_two(names):
    usual = ("has_its_shape", "stays_in_range", "row_0_is_0_1", "rows_differ")
    passed = [
        letter
        for letter, suspect in names["SUSPECTS"].items()
        if not any(names["fails"](names[ask], suspect) for ask in usual)
    ]
    assert "".join(passed) == "acefghmn"
    assert names["failures"](names["from_one"]) == ["row 2", "far row"]
    assert review(names["from_one"], 8, start=1).findings == {}


def changed(rows: object, columns: object, source: object) -> Callable:
    """The right encoder, with some entries taken from other columns."""

    def encoder(seq_len: int, d_model: int) -> np.ndarray:
        encoding = position_encoding(seq_len, d_model)
        encoding[rows, columns] = encoding[rows, source]
        return encoding

    return encoder


def test_exercise_5_takes_what_is_wrong_and_passes_all_eight(names):
    beaten = [changed(slice(None), [2, 3, 6, 7], [6, 7, 2, 3])]
    beaten += [changed(slice(600, 700), slice(None), [0])]
    assert_replies(names["check_5"], beaten, "Correct.")
    noticed = [position_encoding, names["encoder_f"]]
    assert_replies(names["check_5"], noticed, "Not yet. ")
    raises = [lambda seq_len, d_model: 1 / 0]
    assert_replies(names["check_5"], raises, "ZeroDivisionError")


def test_a_negated_slow_pair_is_not_called_a_shift():
    """At width 8, half a turn of it is a whole number of turns elsewhere."""

    def negated(seq_len: int, d_model: int) -> np.ndarray:
        encoding = position_encoding(seq_len, d_model)
        encoding[:, -2:] *= -1
        return encoding

    assert "Columns 6 to 7 are negated" in str(review(negated, 8))


def test_a_layer_is_reviewed_by_the_line_in_the_text():
    def layer(batch: np.ndarray) -> np.ndarray:
        return batch + position_encoding(*batch.shape[1:])

    (text,) = [c.source for c in cells_of(NOTEBOOK) if c.id == "review-layers"]
    (line,) = [x for x in text.splitlines() if x.startswith("review(lambda")]
    given = {"review": review, "np": np, "layer": layer}
    assert eval(line, given).findings == {}
