"""Notebook 02: its pictures, its two suspects, its exercises."""

import math

import matplotlib.pyplot as plt
import mpmath
import numpy as np
import pytest
from conftest import assert_replies, run_up_to

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


def test_the_table_is_drawn_with_its_numbers(built, published):
    table = np.array(published["hand_table"]["matrix"])
    figure, ax = plt.subplots()
    assert built["plot_table"](table, ["I", "am", "a", "robot"], ax) is ax
    for text in ax.texts:
        column, row = text.get_position()
        assert text.get_text() == f"{table[row, column]:.2f}"
    assert len(ax.texts) == 16
    assert np.array_equal(ax.images[0].get_array(), table)
    plt.close(figure)


def test_the_misprint_is_right_at_position_1_alone(built):
    wrong = built["misprint"](200, 64) - position_encoding(200, 64)
    right_rows = np.flatnonzero(np.abs(wrong).max(axis=1) < 1e-9)
    assert right_rows.tolist() == [1]


def test_the_loop_leaves_an_odd_column_empty_and_parity_does_not(built):
    assert not built["by_loop"](5, 3)[:, 2].any()
    expected = position_encoding(5, 3)
    assert np.allclose(built["by_parity"](5, 3), expected, atol=1e-13)


def test_each_suspect_makes_the_error_that_theory_gives(built):
    """An angle that is off by a little moves its sine by its cosine."""
    for position, row, shown in [(100_000, 2, 0.0020), (1_000_000, 3, 0.030)]:
        exact = [
            mpmath.mpf(10_000) ** (mpmath.mpf(-i) / 256) for i in range(256)
        ]
        stored = [mpmath.mpf(float(np.float32(float(w)))) for w in exact]
        off = [
            abs(mpmath.sin(position * s) - mpmath.sin(position * w))
            for s, w in zip(stored, exact, strict=True)
        ]
        error = np.abs(built["only_frequencies"] - built_exact(built))[row]
        assert math.isclose(error.max(), max(off), rel_tol=1e-6)
        assert float(f"{float(max(off)):.1e}") == shown
        # a stored angle is off by half a step of float32 at most
        angles = [position * float(w) for w in exact]
        steps = np.spacing(np.float32(angles)) / 2
        error = np.abs(built["only_angles"] - built_exact(built))[row]
        assert np.all(error <= steps * 1.001)
        assert error.max() > 0.25 * steps.max()


def built_exact(built):
    return np.sin(np.outer(built["far"], built["frequencies"]))


def by_stack(position, d_model):
    angles = position * 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()


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


def concatenated(position, d_model):
    row = by_stack(position, d_model)
    return np.append(row[0::2], row[1::2])


WAY_BACK = [i + half for i in range(32) for half in (0, 32)]
THERE = [*range(0, 64, 2), *range(1, 64, 2)]
RIGHT = {
    1: [math.cos(0.5), 0.88, 0.878, [0.8776], np.array([[0.8776]])],
    2: [10_000 ** (-4 / 5), 0.000631, 6.31e-4, [0.00063], np.array(0.00063)],
    3: [
        WAY_BACK,
        tuple(WAY_BACK),
        np.array(WAY_BACK),
        np.array(WAY_BACK, float),
        np.argsort(THERE),
        np.arange(64).reshape(2, 32).T.ravel(),
    ],
    4: [by_stack, by_pairs, by_slices],
    5: [10_000 ** (255 / 256), 9647, 9646.6, [9647], np.array([9646.62])],
}
WRONG = {
    1: [0.479, math.cos(5), math.sin(5), 1.0, 0.87, "0.88", None, [0.88, 1]],
    2: [0, 0.0251, 3.98e-7, 0.00215, 1585, 0.0006, "0.000631", None],
    3: [
        THERE,
        WAY_BACK[:4],
        range(64),
        [64] * 64,
        "0, 32",
        None,
        0,
        [str(column) for column in WAY_BACK],
        [*WAY_BACK[:63], 63.5],
    ],
    4: [
        lambda p, d: position_encoding(1, d, start_index=p)[0],
        lambda p, d: position_encoding(p + 1, d)[p],
        lambda p, d: position_encoding(1, d, start_index=int(p))[0],
        concatenated,
        lambda p, d: by_stack(p, d)[0::2],
        lambda p, d: by_stack(p, d).reshape(-1, 2),
        lambda p, d: by_stack(1, d),
        lambda p, d: by_stack(p, d).reshape(-1, 2)[:, ::-1].ravel(),
        lambda p, d: by_stack(p, d).round(4),
        lambda p, d: None,
        lambda p: p,
        0.5,
    ],
    5: [10_000, 60_611.5, 1e-4, 255 / 256, 10_368, 9961, 9822, "9647", None],
}


@pytest.mark.parametrize("number", RIGHT)
def test_right_answers_in_any_form_are_taken(built, number):
    assert_replies(built[f"check_{number}"], RIGHT[number], "Correct.\n")


@pytest.mark.parametrize("number", WRONG)
def test_wrong_answers_get_a_hint(built, number):
    check = built[f"check_{number}"]
    assert_replies(check, WRONG[number], "Not yet. Hint: ")


def in_float32(position, d_model):
    frequencies = 10_000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.float32(position) * frequencies.astype(np.float32)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1).ravel()


REPLIES = [
    (1, math.cos(5 * 10_000**-0.5), "n is 100 here"),
    (1, math.sin(0.5), "Odd columns hold cosines"),
    (2, 100 ** (-4 / 5), "n = 100"),
    (3, [[i, i + 32] for i in range(32)], "one flat list"),
    (3, np.reshape(WAY_BACK, (32, 2)), "one flat list"),
    (3, THERE, "the way there"),
    (3, [column - 64 for column in WAY_BACK], "from the left"),
    (3, range(64), "Where is the cosine of pair i"),
    (3, None, "Give a list"),
    (3, "0, 32, 1, 33", "Give a list"),
    (3, (column for column in WAY_BACK), "Give a list"),
    (3, zip(range(32), range(32, 64), strict=True), "Give a list"),
    (3, [column + 1 for column in WAY_BACK], "Where is the cosine"),
    (4, lambda p, d: by_stack(p, d)[::-1], "Put the position"),
    (
        4,
        lambda p, d: by_stack(p, d).reshape(-1, 2)[:, ::-1].ravel(),
        "The sine comes first",
    ),
    (4, lambda p, d: by_stack(p, d).round(4), "Round nothing"),
    (4, in_float32, "float32"),
    (4, lambda p, d: None, "64"),
    (4, concatenated, "Interleave"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_a_likely_error_gets_the_reply_that_fits(
    built, capsys, number, answer, reply
):
    built[f"check_{number}"](answer)
    said = capsys.readouterr().out
    assert reply in said
    assert "raised" not in said


def test_the_difference_to_tensor2tensor_does_not_grow_for_ever(built):
    ours = position_encoding(100, 8)
    ours = np.hstack([ours[:, 0::2], ours[:, 1::2]])
    gaps = np.abs(built["tensor2tensor"](100, 8) - ours).max(axis=1)
    assert gaps.argmax() == 64
    assert gaps[99] < 0.5 * gaps[64]
    paper, other = (64 * 10_000 ** (-1 / k) for k in (4, 3))  # pair 1
    assert abs(paper - other - math.pi) < 0.3  # half a turn, or about


def test_peace_with_tensor2tensor_is_peace(built):
    right = 10_000 ** (255 / 256)
    peace = built["tensor2tensor"](100, 512, right)
    war = built["tensor2tensor"](100, 512)
    ours = position_encoding(100, 512)
    ours = np.hstack([ours[:, 0::2], ours[:, 1::2]])
    assert np.abs(peace - ours).max() < 1e-12
    gaps = np.abs(war - ours).max(axis=1)
    assert gaps.argmax() == 99
    assert np.all(np.diff(gaps[[0, 1, 10, 50, 99]]) > 0)
