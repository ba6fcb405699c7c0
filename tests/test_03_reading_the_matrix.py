"""Notebook 03: other random matrices, and its exercises."""

import numpy as np
import pytest
from conftest import assert_replies

from posenc_helpers import position_encoding


def test_another_random_matrix_loses_the_offset_and_a_shift_keeps_it(names):
    rows, rng = position_encoding(96, 64), np.random.default_rng(1)
    random, weights = rng.normal(size=(64, 64)), rng.normal(size=64)

    def spread(matrix):
        scores = [rows[p] @ matrix @ rows[p + 3] for p in range(90)]
        return np.std(scores) / np.sqrt(64)

    assert spread(random / np.sqrt(64)) > 0.2
    assert spread(np.diag(weights)) > 0.05
    assert spread(names["shift_matrix"](7, 64)) < 1e-9


def distances(row, seq_len=1000):
    return np.linalg.norm(position_encoding(seq_len, 512) - row, axis=1)


def column_by_column(row):
    return np.abs(position_encoding(1000, 512) - row).argmin()


def by_the_slow_hand(row):
    return np.arctan2(row[-2], row[-1]) * 10_000 ** (510 / 512)


def shift(offset):
    turn = offset * 10_000 ** (-np.arange(0, 512, 2) / 512)
    matrix = np.zeros((512, 512))
    even, odd = np.arange(0, 512, 2), np.arange(1, 512, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(turn)
    matrix[odd, even], matrix[even, odd] = np.sin(turn), -np.sin(turn)
    return matrix


REPLIES = [
    (1, [lambda row: int(distances(row).argmin())], "Correct."),
    (1, [lambda row: distances(row, 100).argmin()], "did you search"),
    (1, [column_by_column], "A position above 999?"),
    (1, [lambda row: distances(row).min()], ("Which row is it?", "argmin")),
    (1, [by_the_slow_hand], ("move your hand?", "by hundreds")),
    (1, [lambda row: 0], "Always 0?"),
    (1, [lambda row: 3], ("from each of 1000 rows?", "is its distance")),
    (2, [10 * shift(5), (12 * shift(5)).tolist()], "Correct."),
    (2, [12 * shift(-5).T], "Correct."),
    (2, [shift(5), 2 * shift(5)], ("ahead of the next?", "ten times")),
    (2, [shift(-5), 10 * shift(-5)], ("position 50", "Shift the other way.")),
    (2, [np.eye(16), 5, shift], "shape (512, 512)"),
    (2, [np.eye(512)], ("Position 0 gives 0.017 to 5.", "five after it?")),
    (3, [[1, 0.17, 0.03, 0.005], [0.6, 0.06, 0.006]], "Correct."),
    (3, [[1, 1 / 6, 1 / 36, 1 / 216]], "The largest similarity"),
    (3, [[1, 0.1, 0.01, 0.001], [2, 1, 0.1]], ("by then?", "six times")),
    (3, [[0.001], [0, 0], [2 * np.pi]], ("from each other?", "one radian")),
    (3, [[1, 2, 3, 4, 5], 5, "one", [], [[1]]], "Give one to four numbers."),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
