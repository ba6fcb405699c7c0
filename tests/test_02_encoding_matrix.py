"""Notebook 02: the hands of 01, and its exercises."""

import math

import numpy as np
import pytest
from conftest import assert_replies, run_cells


def test_the_clock_hands_of_notebook_01_make_the_matrix(names):
    clock_hands = run_cells("01_sine_waves", "setup", "hands")["clock_hands"]
    wavelengths = 2 * np.pi / names["angular_frequencies"](8)
    matrix = names["by_hands"](50, 8)
    np.testing.assert_allclose(
        clock_hands(50, wavelengths), matrix, atol=1e-13
    )


def by_slices(position, d_model, factor=1):
    row = np.zeros((1, d_model))
    exponents = np.arange(0, d_model, 2) * (-math.log(10_000) / d_model)
    row[:, 0::2] = np.sin(position * np.exp(factor * exponents))
    row[:, 1::2] = np.cos(position * np.exp(factor * exponents))
    return row


def last_of_all_rows(position, d_model):
    return [by_slices(p, d_model) for p in range(position + 1)][-1]


WAY_THERE = [*range(0, 64, 2), *range(1, 64, 2)]
WAY_BACK = [i + half for i in range(32) for half in (0, 32)]
REPLIES = [
    (1, [by_slices, lambda p, d: by_slices(p, d)[0].tolist()], "Correct."),
    (1, [lambda p, d: list(by_slices(p, d).reshape(-1, 2))], "Correct."),
    (1, [lambda p, d: by_slices(p, d, factor=2)], "or even columns"),
    (1, [lambda p, d: by_slices(p, d)[0, WAY_THERE]], "the half layout"),
    (1, [last_of_all_rows], ("all the rows before", "2 * i /")),
    (1, [lambda p, d: by_slices(p, d).round(4)], ("within 0.01", "float64")),
    (1, [lambda p, d: by_slices(int(p), d)], "2.5 gets row 2"),
    (1, [lambda p, d: by_slices(p, 2 * d)[:, ::4]], "return 64 numbers"),
    (
        1,
        [lambda p, d: np.zeros(d)],
        ("Which columns hold it?", "2 * i + 1 hold"),
    ),
    (2, [WAY_BACK, tuple(WAY_BACK), np.argsort(WAY_THERE)], "Correct."),
    (2, [np.reshape(WAY_BACK, (32, 2)), np.array(WAY_BACK) / 1], "Correct."),
    (2, [WAY_THERE], ("Try it on by_halves", "where are the sine and cos")),
    (2, [list(range(1, 65))], "number 63"),
    (
        2,
        [[k + k % 2 * 32 for k in range(64)]],
        ("column 32, not", "hand by hand"),
    ),
    (2, [[0] * 64], ("where are the sine", "hand by hand")),
    (2, [WAY_BACK[:4]], ("Give 64 numbers", "hand by hand")),
    (3, [(50, 7), [13, 9], np.array([50, 7])], "Correct."),
    (3, [(1, 2)], ("At (1, 2), less than 0.1 off: misp", "own is right")),
    (3, [(1, 3)], ("impostors(1, 3)", "567 positions work: try a larger")),
    (3, [(50, 0)], ("columns, own, spacing, half. impost", "even columns")),
    (3, [(30, 3)], ("impostors(30, 3)", "567 positions work: try anoth")),
    (3, [(0, 63)], ("At (0, 63), less", "None works in column")),
    (3, [(1000, 2), (1.5, 2), 7, "1, 2"], "As a pair, give a position"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
