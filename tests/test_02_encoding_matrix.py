"""Notebook 02: published numbers, the hands of 01, and its exercises."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to

from posenc_helpers import position_encoding

NAME = "02_encoding_matrix"


@pytest.fixture(scope="module")
def built() -> dict:
    with plt.rc_context():
        return run_up_to(NAME, "nav-end")


def test_the_tables_are_the_published_ones(built, published):
    assert built["hand_table"].tolist() == published["hand_table"]["matrix"]
    layer = published["layer_20x200"]
    assert built["published_corners"].tolist() == layer["values"]
    rows, columns = built["corners"]
    assert rows.ravel().tolist() == layer["rows"]
    assert columns.ravel().tolist() == layer["columns"]


FORMS = ["by_hands", "by_loop", "by_parity", "vectorized", "by_exp_log"]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_gives_the_published_numbers(built, published, form):
    table, layer = published["hand_table"], published["layer_20x200"]
    off = np.abs(built[form](4, 4, 100) - table["matrix"])
    assert off.max() < table["print_rounding"]
    off = np.abs(built[form](20, 200)[built["corners"]] - layer["values"])
    assert off.max() < layer["print_rounding"]


@pytest.mark.parametrize("d_model", [2, 8, 512])
def test_the_clock_hands_of_notebook_01_make_the_matrix(built, d_model):
    clock_hands = run_cells("01_sine_waves", "setup", "hands")["clock_hands"]
    frequencies = built["angular_frequencies"](d_model)
    expected = position_encoding(50, d_model)
    for made in (
        clock_hands(50, 2 * np.pi / frequencies),
        built["by_hands"](50, d_model),
    ):
        np.testing.assert_allclose(made, expected, atol=1e-13)
    factors = frequencies[:-1] / frequencies[1:]
    np.testing.assert_allclose(factors, 10_000 ** (2 / d_model))


def test_the_loop_leaves_an_odd_column_empty_and_the_others_do_not(built):
    assert not built["by_loop"](5, 3)[:, 2].any()
    for form in FORMS[2:]:
        expected = position_encoding(5, 3)
        np.testing.assert_allclose(built[form](5, 3), expected, atol=1e-13)


@pytest.mark.parametrize("d_model", [4, 64, 512])
def test_the_misprint_is_right_at_position_1_alone(built, d_model):
    off = built["misprint"](1000, d_model) - position_encoding(1000, d_model)
    right = np.abs(off).max(axis=1) < 0.01
    assert np.flatnonzero(right).tolist() == [1]


def by_slices(position, d_model):
    row = np.zeros((1, d_model))
    exponents = np.arange(0, d_model, 2) * (-math.log(10_000) / d_model)
    row[:, 0::2] = np.sin(position * np.exp(exponents))
    row[:, 1::2] = np.cos(position * np.exp(exponents))
    return row


def one_per_column(position, d_model):
    angles = position / 10_000 ** (np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2, np.cos(angles), np.sin(angles))


def exponent_doubled(position, d_model):
    angles = position / 10_000 ** (2 * np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()


def tuples(position, d_model):
    row = by_slices(position, d_model)[0]
    return list(zip(row[0::2], row[1::2], strict=True))


def sines_first(position, d_model):
    row = by_slices(position, d_model)[0]
    return np.concatenate([row[0::2], row[1::2]])


WAY_THERE = [*range(0, 64, 2), *range(1, 64, 2)]
WAY_BACK = [i + half for i in range(32) for half in (0, 32)]
REPLIES = [
    (1, [10_000 ** (-4 / 5), 6.31e-4, [0.00063]], "Correct."),
    (1, [10_000**-4 / 5, 10_000**-2 * 2 / 5], "put brackets"),
    (1, [10_000 ** (-8 / 5)], "i counts pairs"),
    (1, ["10_000 ** (-4 / 5)"], "is text; give numbers"),
    (2, [WAY_BACK, tuple(WAY_BACK), np.argsort(WAY_THERE)], "Correct."),
    (2, [WAY_THERE], "the way there"),
    (3, [by_slices, lambda p, d: by_slices(p, d)[0].tolist()], "Correct."),
    (3, [tuples], "Correct."),
    (3, [one_per_column], "one frequency"),
    (3, [exponent_doubled], "i counts pairs"),
    (3, [sines_first], "Interleave"),
    (3, [lambda p, d: None], "`return` missing"),
    (3, [lambda p, d: by_slices(p, d).round(4)], "Round nothing"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(built, number, answers, reply):
    assert_replies(built[f"check_{number}"], answers, reply)
