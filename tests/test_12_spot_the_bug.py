"""Notebook 12: its exercises, and the format that it imitates."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_replies

from posenc_helpers import position_encoding


def test_bfloat16_rounds_as_the_format_does(names):
    random = np.random.default_rng(4).normal(scale=1e3, size=10_000)
    numbers = np.append(np.arange(100_000), random).astype(np.float32)
    expected = numbers.astype(ml_dtypes.bfloat16).astype(np.float64)
    np.testing.assert_array_equal(names["bfloat16"](numbers), expected)


SUM = "np.sum(table(e, 64) ** 2, axis=1)"
DOTS = "(table(e, 512)[1:] @ table(e, 512)[1:].T)"
# The body of a check `e`; a wrong one hears what it misjudges.
REPLIES = [
    (1, f"near({SUM}, 4)", "Correct."),
    (1, "near(np.sum(table(e, 64) ** 2), 256)", "on its own?"),
    (1, f"near({SUM}, 1)", ("How many pairs", "Each of the 4 pairs adds 1")),
    (1, "near(*np.linalg.norm(table(e, 64)[[0, -1]], axis=1))", "uneven"),
    (2, f"near({DOTS}[:-1, :-1], {DOTS}[1:, 1:])", "Correct."),
    (2, f"all(np.ptp(np.diag({DOTS}, k)) < 1e-3 for k in (0, 9))", "Correct."),
    (2, f"near(np.diag({DOTS}), 4)", "'b' should fail"),
    (3, "near(table(e, 70_000)[:64], table(e, 64))", "Correct."),
    (3, "near(table(e, 1000)[:64], table(e, 64))", "'n' should fail"),
]


@pytest.mark.parametrize(("number", "body", "reply"), REPLIES)
def test_exercises_1_to_3_judge_a_check(names, number, body, reply):
    answer = eval(f"lambda e: {body}", names)
    assert_replies(names[f"check_{number}"], [answer], reply)


def changed(rows: object, columns: object, source: object) -> Callable:
    """The right encoder, with some entries taken from other columns."""

    def encoder(seq_len: int, d_model: int) -> np.ndarray:
        encoding = position_encoding(seq_len, d_model)
        encoding[rows, columns] = encoding[rows, source]
        return encoding

    return encoder


def test_exercise_4_takes_what_is_wrong_and_passes_all_checks(names):
    exchanged = changed(slice(None), [2, 3, 6, 7], [6, 7, 2, 3])
    constant = changed(slice(600, 700), slice(None), [0])

    def needs_600_rows(seq_len: int, d_model: int) -> np.ndarray:
        encoding = position_encoding(seq_len, d_model)
        encoding[600] = 0
        return encoding

    for answers, reply in (
        ([exchanged, constant], "Correct."),
        ([position_encoding], ("wrong by more than", "exchange columns")),
        ([names["encoder_a"]], ("first of these look", "no row after 511")),
        ([needs_600_rows], "raised IndexError: index 600 is out of bounds"),
    ):
        assert_replies(names["check_4"], answers, reply)


def test_a_check_that_nobody_wrote_is_said_to_be_open(names, capsys):
    for open_answer in (lambda encoder: ..., lambda encoder: 1 / 0):
        names["tally"]("of a student's copy", open_answer)
        reply = "no answer that runs yet, so this check is left out\n"
        assert capsys.readouterr().out == f"of a student's copy: {reply}"
