"""Notebook 02: published numbers, the hands of 01, float32, exercises."""

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


FORMS = ["by_loop", "by_parity", "vectorized", "by_exp_log"]


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
    wavelengths = built["wavelengths"](d_model)
    expected = position_encoding(50, d_model)
    for hands in (clock_hands, built["clock_hands"]):
        made = hands(50, wavelengths)
        np.testing.assert_allclose(made, expected, atol=1e-13)
    factors = wavelengths[1:] / wavelengths[:-1]
    np.testing.assert_allclose(factors, 10_000 ** (2 / d_model))


def test_the_misprint_is_right_at_position_1_alone(built):
    wrong = built["misprint"](200, 64) - position_encoding(200, 64)
    right_rows = np.flatnonzero(np.abs(wrong).max(axis=1) < 1e-9)
    assert right_rows.tolist() == [1]


def test_the_loop_leaves_an_odd_column_empty_and_the_others_do_not(built):
    assert not built["by_loop"](5, 3)[:, 2].any()
    for form in FORMS[1:]:
        expected = position_encoding(5, 3)
        np.testing.assert_allclose(built[form](5, 3), expected, atol=1e-13)


def test_the_difference_to_tensor2tensor_does_not_grow_for_ever(built):
    ours = position_encoding(100, 8)
    ours = np.hstack([ours[:, 0::2], ours[:, 1::2]])
    gaps = np.abs(built["tensor2tensor"](100, 8) - ours).max(axis=1)
    assert (gaps.argmax(), round(gaps.max(), 2)) == (64, 1.98)
    assert gaps[99] < 0.5 * gaps[64]
    paper, other = (64 * 10_000 ** (-1 / k) for k in (4, 3))  # pair 1
    assert abs(paper - other - math.pi) < 0.3  # half a turn, or about


def test_another_wavelength_makes_peace_with_tensor2tensor(built):
    peace = built["tensor2tensor"](100, 512, 10_000 ** (255 / 256))
    ours = position_encoding(100, 512)
    ours = np.hstack([ours[:, 0::2], ours[:, 1::2]])
    assert np.abs(peace - ours).max() < 1e-12


@pytest.mark.parametrize("position", [10_000, 300_000, 2_000_000])
def test_errors_of_float32_add_up_elsewhere_too(built, position):
    """At other positions: worst cases add, typical ones by squares."""
    near = np.arange(position, position + 300)
    exact = np.outer(near, built["frequencies"])
    off = np.outer(near, built["to_float32"](built["frequencies"]))
    cases = [off, built["to_float32"](exact), built["to_float32"](off)]
    errors = [np.abs(np.sin(c) - np.sin(exact)).max(axis=1) for c in cases]
    one, two, both = (np.median(each) for each in errors)
    assert 0.75 < both / math.hypot(one, two) < 1.25
    assert errors[2].max() < 1.05 * (errors[0].max() + errors[1].max())


def by_pairs(position, d_model):
    row = []
    for i in range(d_model // 2):
        angle = position / 10_000 ** (2 * i / d_model)
        row += [math.sin(angle), math.cos(angle)]
    return row


def by_slices(position, d_model):
    row = np.zeros((1, d_model))
    exponents = np.arange(0, d_model, 2) * (-math.log(10_000) / d_model)
    row[:, 0::2] = np.sin(position * np.exp(exponents))
    row[:, 1::2] = np.cos(position * np.exp(exponents))
    return row


def one_per_column(position, d_model):
    angles = position / 10_000 ** (np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2, np.cos(angles), np.sin(angles))


def column_for_pair(position, d_model):
    angles = position / 10_000 ** (2 * np.arange(d_model) / d_model)
    return np.where(np.arange(d_model) % 2, np.cos(angles), np.sin(angles))


def of_100(position, d_model):
    hands = [position / 100 ** (2 * i / d_model) for i in range(d_model // 2)]
    return [f(angle) for angle in hands for f in (math.sin, math.cos)]


def sines_alone(position, d_model):
    row = by_slices(position, d_model)[0]
    row[1::2] = 0
    return row


WAY_BACK = [i + half for i in range(32) for half in (0, 32)]
THERE = [*range(0, 64, 2), *range(1, 64, 2)]
RIGHT = {
    1: [10_000 ** (-4 / 5), 6.31e-4, [0.00063], np.array(0.00063)],
    2: [WAY_BACK, tuple(WAY_BACK), np.argsort(THERE)],
    3: [by_pairs, by_slices],
    4: [10_000 ** (255 / 256), 9647, np.array([9646.62])],
}
WRONG = [
    (1, 10_000**-4 / 5, "put brackets"),
    (1, 10_000**-2 * 2 / 5, "put brackets"),
    (1, 10_000 ** (-8 / 5), "i counts pairs"),
    (1, [1.0, 0.0251, 0.000631], "Hint: Column 4"),
    (2, THERE, "the way there"),
    (2, [float(column) for column in WAY_BACK], "whole numbers"),
    (3, one_per_column, "have one frequency"),
    (3, column_for_pair, "not columns"),
    (3, of_100, "Is n 10 000"),
    (3, sines_alone, "Odd columns hold cosines"),
    (3, lambda p, d: by_slices(p, d).round(4), "Round nothing"),
    (3, lambda p, d: by_pairs(p, d) if p == 2.5 else None, "`return` missing"),
    (4, 2 * np.pi * 10_000 ** (255 / 256), "Leave out the 2π"),
    (4, 10_368, "it must be smaller"),
    (4, 9600, "Its slowest frequency"),  # near, and wrong
]


@pytest.mark.parametrize("number", RIGHT)
def test_right_answers_in_any_form_are_taken(built, number):
    assert_replies(built[f"check_{number}"], RIGHT[number], "Correct.\n")


@pytest.mark.parametrize(("number", "answer", "reply"), WRONG)
def test_a_likely_error_gets_the_reply_that_fits(
    built, capsys, number, answer, reply
):
    built[f"check_{number}"](answer)
    assert reply in capsys.readouterr().out
