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


def nearest(row):
    table = position_encoding(1000, 512)
    return int(np.argmin([np.sum((row - each) ** 2) for each in table]))


def among_100(row):
    return np.argmax(position_encoding(100, 512) @ row)


def shift(offset):
    turn = offset * 10_000 ** (-np.arange(0, 512, 2) / 512)
    matrix = np.zeros((512, 512))
    even, odd = np.arange(0, 512, 2), np.arange(1, 512, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(turn)
    matrix[odd, even], matrix[even, odd] = np.sin(turn), -np.sin(turn)
    return matrix


REPLIES = [
    (1, [nearest], "Correct."),
    (1, [among_100], "`encoding` has 100 rows"),
    (2, [np.linalg.inv, np.transpose], "Correct."),
    (2, [lambda matrix: matrix], "That is the same rotation"),
    (3, [shift(5), 3 * shift(5), shift(5).tolist()], "Correct."),
    (3, [shift(-5)], "That looks back"),
    (3, [np.eye(16)], "Of shape (512, 512)"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(
    names, monkeypatch, number, answers, reply
):
    for name in ("encoding", "wavelengths", "scores", "weights", "table"):
        monkeypatch.setitem(names, name, "used again by the reader")
    assert_replies(names[f"check_{number}"], answers, reply)
