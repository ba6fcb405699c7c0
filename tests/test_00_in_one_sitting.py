"""Notebook 00: its formula, its experiment and its exercise."""

import numpy as np
import pytest
from conftest import assert_replies

from posenc_helpers import encode_positions


@pytest.mark.parametrize(("d", "n"), [(2, 10_000), (64, 10_000), (4, 100)])
def test_the_formula_is_the_one_of_the_series(names, d, n):
    expected = encode_positions(range(100), d, n)
    made = names["position_encoding"](100, d, n)
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-12)


def test_four_hands_bring_6_closer_to_0_than_a_neighbor_and_32_do_not(names):
    four, many = (names["position_encoding"](1000, d) for d in (8, 64))
    to_0 = np.linalg.norm(four - four[0], axis=1)
    assert to_0[6] < to_0[1]
    assert np.linalg.norm(many - many[0], axis=1)[1:].argmin() == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [16, 64, 512])
def test_added_to_words_position_vectors_lose_the_offset(names, seed, d):
    vectors = names["position_encoding"](100, d)
    x, y = np.random.default_rng(seed).normal(size=(2, d))
    near, far = ((x + vectors[p]) @ (y + vectors[p + 3]) for p in (10, 50))
    assert abs(near - far) > 0.05
    assert vectors[10] @ vectors[13] == pytest.approx(
        vectors[50] @ vectors[53]
    )


def test_the_experiment_comes_out_so_on_seeds_that_are_not_printed(names):
    def shares(positions, heads):
        seeds = range(1000, 1008)
        return [names["share_right"](seed, positions, heads) for seed in seeds]

    waves = names["position_encoding"](5, 32)
    fifths = np.repeat(np.arange(5)[:, np.newaxis] / 5, 32, axis=1)
    assert set(shares(np.zeros((5, 32)), 16)) == {0.5}
    assert np.mean(shares(waves, 16)) > 0.99
    assert np.mean(shares(fifths, 16)) > 0.98
    assert np.mean(shares(waves, 4)) < 0.95


def by_matrix(pair, angle):
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin], [sin, cos]]) @ pair


def overwritten(pair, angle):
    x, y = pair
    x = x * np.cos(angle) - y * np.sin(angle)
    return x, x * np.sin(angle) + y * np.cos(angle)


REPLIES = [
    (by_matrix, "Correct."),
    (lambda pair, angle: by_matrix(np.c_[list(pair)], angle), "Correct."),
    (overwritten, "needs the old x"),
    (lambda pair, angle: None, "`return` missing"),
    (lambda pair, angle: by_matrix(pair, -angle), "clockwise"),
    (lambda pair, angle: complex(*pair) * np.exp(1j * angle), "two numbers"),
    (lambda pair, angle: by_matrix(pair, np.deg2rad(angle)), "in radians"),
    (lambda pair, angle: by_matrix(pair, angle)[0], "both x and y"),
]


@pytest.mark.parametrize(("answer", "reply"), REPLIES)
def test_the_exercise_replies_to_what_people_write(names, answer, reply):
    assert_replies(names["check_1"], [answer], reply)
