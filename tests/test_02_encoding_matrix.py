"""Notebook 02: the hands of 01, the misprint, and its exercises."""

import math

import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc_helpers import position_encoding


@pytest.mark.parametrize("d_model", [2, 8, 512])
def test_the_clock_hands_of_notebook_01_make_the_matrix(names, d_model):
    clock_hands = run_cells("01_sine_waves", "setup", "hands")["clock_hands"]
    wavelengths = 2 * np.pi / names["angular_frequencies"](d_model)
    made, expected = clock_hands(50, wavelengths), names["by_hands"]
    np.testing.assert_allclose(made, expected(50, d_model), atol=1e-13)


def test_the_misprint_is_right_at_position_1_alone(names):
    off = names["misprint"](1000, 64) - position_encoding(1000, 64)
    right = np.abs(off).max(axis=1) < 0.01
    assert np.flatnonzero(right).tolist() == [1]


def test_the_narrower_the_farther_tensor2tensor_is_off(names):
    gaps = [
        np.abs(names["tensor2tensor"](2, d) - names["by_halves"](2, d)).max()
        for d in (8, 16, 32, 64, 128, 256, 512, 1024)
    ]
    assert gaps == sorted(gaps, reverse=True)


def by_slices(position, d_model):
    row = np.zeros((1, d_model))
    exponents = np.arange(0, d_model, 2) * (-math.log(10_000) / d_model)
    row[:, 0::2] = np.sin(position * np.exp(exponents))
    row[:, 1::2] = np.cos(position * np.exp(exponents))
    return row


def exponent_doubled(position, d_model):
    angles = position / 10_000 ** (2 * np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()


def tuples(position, d_model):
    row = by_slices(position, d_model)[0]
    return list(zip(row[0::2], row[1::2], strict=True))


WAY_THERE = [*range(0, 64, 2), *range(1, 64, 2)]
WAY_BACK = [i + half for i in range(32) for half in (0, 32)]
REPLIES = [
    (1, [10_000 ** (-4 / 5), 6.31e-4, [0.00063]], "Correct."),
    (1, [10_000**-4 / 5, 10_000**-2 * 2 / 5], "put brackets"),
    (1, [10_000 ** (-8 / 5)], "i counts pairs"),
    (1, [10_000 ** (-2 / 5)], "Count i from 0"),
    (1, [10_000 ** (4 / 5)], "Mind the minus"),
    (1, [0.0006], "more digits"),
    (2, [WAY_BACK, tuple(WAY_BACK), np.argsort(WAY_THERE)], "Correct."),
    (2, [WAY_THERE], "the way there"),
    (2, [np.reshape(WAY_BACK, (32, 2))], "nested"),
    (2, [list(range(1, 65))], "number 63"),
    (2, [np.ones(64), WAY_BACK[:4]], "Hint: One flat list"),
    (3, [by_slices, lambda p, d: by_slices(p, d)[0].tolist()], "Correct."),
    (3, [tuples], "Correct."),
    (3, [exponent_doubled], "i counts pairs"),
    (3, [lambda p, d: by_slices(p, d).round(4)], "Round nothing"),
    (3, [lambda p, d: by_slices(int(p), d)], "this is row 2"),
    (3, [lambda p, d: by_slices(p, 2 * d)[:, ::4]], "return 64 numbers"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
