"""Notebook 07: RoPE as in the helpers, and its claims on other seeds."""

import numpy as np
import pytest
from conftest import assert_replies

from posenc_helpers import angular_frequencies, rotate


@pytest.mark.parametrize("width", [2, 16, 64])
@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_rope_is_the_helpers(names, layout, width):
    vectors = np.random.default_rng(width).normal(size=(5, width))
    positions = [0, 1, 2, 77, 4095]
    made = names[f"rotate_{layout}"](vectors, positions)
    expected = rotate(vectors, positions, layout=layout)
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-12)


def test_each_pair_is_a_wave_of_the_offset(names):
    """The formula of a score, with angles by `arctan2`."""
    q, k = (names[name].reshape(8, 2) for name in ("query", "key"))
    between = np.arctan2(q[:, 1], q[:, 0]) - np.arctan2(k[:, 1], k[:, 0])
    lengths = np.hypot(*q.T) * np.hypot(*k.T)
    for p, r in [(7, 4), (0, 0), (3, 90)]:
        angles = between + (p - r) * angular_frequencies(16)
        expected = np.sum(lengths * np.cos(angles)) / 4
        assert names["score"](p, r) == pytest.approx(expected)


def test_equal_keys_fade_and_independent_ones_do_not():
    """With another seed, width and base."""
    slow = angular_frequencies(128, 500_000)
    queries, others = np.random.default_rng(1).normal(size=(2, 2000, 128))

    def sizes(keys):
        turned = [rotate(keys, -far, frequencies=slow) for far in (0, 1000)]
        scores = np.sum(queries * turned, axis=-1)
        return np.sqrt(np.mean(scores**2, axis=1) / 128)

    here, far = sizes(queries)
    ahead = rotate(queries, 1000, frequencies=slow)
    assert far < 0.8 * here
    assert sizes(ahead)[1] == pytest.approx(here)
    assert abs(sizes(others) - 1).max() < 0.1


def one_pair(pair, query, key):
    """A query and a key that are zero but for one pair."""
    vectors = np.zeros((2, 16))
    vectors[:, 2 * pair : 2 * pair + 2] = query, key
    return vectors.tolist()


def compares_vectors(port):
    """An answer to exercise 3 that asks for too much."""
    vectors = np.random.default_rng(1).normal(size=(3, 16))
    return np.allclose(port(vectors, [0, 4, 9]), rotate(vectors, [0, 4, 9]))


def compares_scores(last, divide=1, tolerance=1e-4, step=1):
    """An answer to exercise 3: a key at 2, a query at many positions."""

    def judge(port):
        query, key = np.random.default_rng(1).normal(size=(2, 1, 16))
        at = np.arange(0, last + 1, step)
        queries = np.repeat(query, len(at), axis=0)
        found = port(queries, at) @ port(key, [2]).T / divide
        right = rotate(queries, at) @ rotate(key, [2]).T
        return np.allclose(found, right, rtol=0, atol=tolerance)

    return judge


def one_row(port):
    return np.all(port(np.ones((1, 16)), np.arange(0, 10_001, 100)) > 0)


def shift_test(port):
    query, key = np.random.default_rng(1).normal(size=(2, 1, 16))
    here = port(query, [7]) @ port(key, [4]).T
    late = port(query, [5007]) @ port(key, [5004]).T
    return np.allclose(here, late, atol=1e-4)


REPLIES = [
    (1, [one_pair(2, (1, 0), (0, 1))], "Correct."),
    (1, [one_pair(3, (0, -2), (2, 0))], "Correct."),
    (1, [one_pair(2, (1, 0), (1, 0))], ("the waves begin?", "right angle")),
    (1, [one_pair(2, (0, 1), (1, 0))], ("which side", "Negate the key")),
    (
        1,
        [one_pair(0, (1, 0), (0, 1))],
        ("turned by then", ": -0.189 and 0.189."),
    ),
    (1, [one_pair(0, (1e-4, 0), (0, 1e-4))], "turned by then"),
    (1, [[[x] for x in one_pair(2, (1, 0), (0, 1))]], "Correct."),
    (1, [[[0] * 16, [0] * 15]], ("16 numbers each", "np.zeros((2, 16))")),
    (1, [one_pair(0, (0, 1), (1, 0))], ("Next to the query", "Negate the k")),
    (1, [np.zeros((2, 16)).tolist()], "Look at 1 before and 1 after: 0.000"),
    (1, [[1, 0], 7, np.ones((16, 2))], "16 numbers each"),
    (2, [[0, 4, 1, 5, 2, 6, 3, 7], (0, 4, 1, 5, 2, 6, 3, 7)], "Correct."),
    (2, [[0, 2, 4, 6, 1, 3, 5, 7]], ("hold pair 0?", "begin with 0, 4")),
    (2, [[4, 0, 5, 1, 6, 2, 7, 3]], ("Which of the two", "begin with 0, 4")),
    (3, [compares_scores(9999)], "Correct."),
    (
        3,
        [compares_scores(last) for last in (8, 200, 4000)],
        ("late", "at all positions"),
    ),
    (3, [compares_scores(9999, tolerance=1e-9)], ("float32", "atol=1e-3")),
    (3, [compares_scores(9999, divide=4)], "divided by 4?"),
    (3, [compares_vectors], ("What do you compare", "scores alone")),
    (3, [shift_test], ("Are these?", "random query and key")),
    (3, [compares_scores(9999, step=100)], ("How many", "at all positions")),
    (3, [compares_scores(9999, step=9999)], ("How many", "at all positions")),
    (3, [one_row], "one row for each position"),
    (3, [lambda port: True], ("Yes to every port?", "those of rotate")),
    (3, [lambda port: None], "True for rotate_interleaved."),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
