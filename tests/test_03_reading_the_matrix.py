"""Notebook 03: what it claims beyond what it prints, and its exercises."""

import numpy as np
import pytest
from conftest import assert_replies

from posenc_helpers import position_encoding


@pytest.mark.parametrize("d_model", [16, 64, 512])
@pytest.mark.parametrize("n", [100, 10_000, 500_000])
def test_with_many_hands_the_closest_rows_are_neighbors(names, d_model, n):
    offsets = np.arange(1, 1000)
    assert names["distance_by_offset"](offsets, d_model, n).argmin() == 0


def test_the_fewer_hands_the_sooner_and_the_more_similarity_rises(names):
    firsts, largest = [], []
    for width in (16, 32, 64, 128, 256, 512, 1024, 4096):
        similarity = names["similarity_by_offset"](np.arange(5001), width)
        rises = np.diff(similarity)
        firsts.append(np.flatnonzero(rises > 0)[0])
        largest.append(rises.max())
        far = rises[1000:] > 0  # up and down in turn
        assert 0.45 < far.mean() < 0.56
    assert firsts == sorted(firsts)
    assert largest == sorted(largest, reverse=True)


def test_looking_back_is_softer_in_longer_texts_and_narrower_heads(names):
    sizes = [(1000, 64), (100, 64), (100, 128), (100, 256), (100, 1024)]
    shares = [names["look_back"](*size)[50, 47] for size in sizes]
    assert shares == sorted(shares)


@pytest.mark.parametrize("seq_len", [60, 100, 1000])
def test_a_larger_shift_looks_more_sharply(names, seq_len):
    for factor, least, most in ((1, 0.18, 0.24), (10, 0.88, 0.93)):
        share = names["look_back"](seq_len, 512, factor)[50, 47]
        assert least < share < most


@pytest.mark.parametrize("d_model", [64, 128, 512])
def test_a_position_ten_times_as_far_moves_its_row_to_the_right(d_model):
    table = position_encoding(1000, d_model)
    for position in (3, 8, 99):
        far, near = table[10 * position], table[position]
        assert far[d_model // 4 :] == pytest.approx(near[: -d_model // 4])


def test_only_wide_tables_make_far_rows_unlike(names):
    by_offset = names["similarity_by_offset"]
    assert by_offset(np.array([377]), 4, 100) > 0.999
    assert by_offset(np.arange(622, 623), 4, 10_000) > 0.998
    for width in (512, 1024):
        similarity = by_offset(np.arange(1001), width)
        assert similarity[100] < similarity[30] < similarity[10] < 0.95
        assert similarity[200:].max() < similarity[10]


@pytest.mark.parametrize("d_model", [16, 64, 512])
@pytest.mark.parametrize("seed", range(3))
def test_a_random_matrix_breaks_the_offset_and_a_shift_keeps_it(
    names, d_model, seed
):
    rows = position_encoding(96, d_model)
    random = np.random.default_rng(seed).normal(size=(d_model, d_model))

    def spread(matrix):
        scores = [rows[p] @ matrix @ rows[p + 3] for p in range(90)]
        return np.std(scores) / np.sqrt(d_model)

    assert spread(random / np.sqrt(d_model)) > 0.2
    assert spread(names["shift_matrix"](7, d_model)) < 1e-9


def nearest(row):
    table = position_encoding(1000, 512)
    return int(np.argmin([np.sum((row - each) ** 2) for each in table]))


def among_100(row):
    return np.argmax(position_encoding(100, 512) @ row)


def column_by_column(row):
    return np.abs(position_encoding(1000, 512) - row).argmin()


def smallest_distance(row):
    return np.linalg.norm(position_encoding(1000, 512) - row, axis=1).min()


def shift(offset):
    turn = offset * 10_000 ** (-np.arange(0, 512, 2) / 512)
    matrix = np.zeros((512, 512))
    even, odd = np.arange(0, 512, 2), np.arange(1, 512, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(turn)
    matrix[odd, even], matrix[even, odd] = np.sin(turn), -np.sin(turn)
    return matrix


def five_ahead_except_at_first():
    """The first five positions look at themselves, all others five ahead."""
    table = position_encoding(100, 512)
    seen = np.concatenate([table[:5], table[10:]])
    return np.linalg.pinv(table[:95]) @ seen


REPLIES = [
    (1, [nearest], "Correct."),
    (1, [among_100], "`encoding` has 100 rows"),
    (1, [column_by_column], "one distance for each row"),
    (1, [smallest_distance], "not the smallest distance"),
    (2, [np.linalg.inv, np.transpose], "Correct."),
    (2, [lambda matrix: matrix], "That is the same rotation"),
    (3, [shift(5), 3 * shift(5), shift(5).tolist()], "Correct."),
    (3, [five_ahead_except_at_first()], "Which matrix moves a row"),
    (3, [shift(-5)], "That looks back"),
    (3, [np.eye(16), 5, shift], "shape (512, 512)"),
    (3, [np.eye(512)], "Position 0 looks at 0."),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(
    names, monkeypatch, number, answers, reply
):
    for name in ("encoding", "wavelengths", "scores", "weights", "table"):
        monkeypatch.setitem(names, name, "used again by the reader")
    assert_replies(names[f"check_{number}"], answers, reply)
