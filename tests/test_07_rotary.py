"""Notebook 07: RoPE as in the helpers, and its claims on other seeds."""

import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc_helpers import angular_frequencies, rotate

SEEDS = range(20)


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


@pytest.mark.parametrize("seed", SEEDS)
def test_rotated_values_show_the_absolute_position(names, seed):
    words = np.random.default_rng(seed).normal(size=(5, 24))
    attend, back = names["attend"], names["back"]
    first, later = (attend(words, start) for start in (0, 1000))
    np.testing.assert_allclose(first, later, atol=1e-9)
    first, later = (attend(words, start, True) for start in (0, 1000))
    assert abs(first - later).max() > 0.5
    first, later = back(first, 0), back(later, 1000)
    np.testing.assert_allclose(first, later, atol=1e-9)
    # The third choice is no detour back to the first.
    assert abs(first - attend(words, 0)).max() > 0.01


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("seed", range(5))
def test_only_equal_vectors_fade(seed, width):
    queries, others = np.random.default_rng(seed).normal(size=(2, 2000, width))
    kinds = {"equal": queries, "independent": others}
    kinds["made"] = rotate(queries, 1000)
    sizes = {}
    for kind, keys in kinds.items():
        turned = [rotate(keys, -far) for far in (0, 10, 100, 1000, 10_000)]
        scores = [np.sum(queries * key, axis=1) for key in turned]
        sizes[kind] = np.sqrt(np.mean(np.square(scores), axis=1) / width)
    assert abs(sizes["independent"] - 1).max() < 0.1
    assert (np.diff(sizes["equal"][:4]) < 0).all()
    assert sizes["equal"][3] < 0.4 * sizes["equal"][0]
    assert sizes["made"][3] == pytest.approx(sizes["equal"][0])
    assert sizes["made"].argmax() == 3


@pytest.mark.parametrize("width", [16, 64, 128])
@pytest.mark.parametrize("seed", range(5))
def test_vectors_with_a_common_direction_fade_as_well(seed, width):
    """Independent numbers alone do not keep the size of scores."""
    queries, keys = np.random.default_rng(seed).uniform(size=(2, 2000, width))
    turned = [rotate(keys, -far) for far in (0, 10, 1000)]
    scores = [np.mean(np.sum(queries * key, axis=1)) for key in turned]
    assert scores[0] > 1.3 * scores[1] > 1.3 * scores[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_vectors_stay_far_from_the_largest_score(seed):
    query, key = np.random.default_rng(seed).normal(size=(2, 64))
    scores = rotate(np.tile(key, (127, 1)), np.arange(-63, 64)) @ query
    largest = np.linalg.norm(query) * np.linalg.norm(key)
    assert abs(scores).max() < 0.6 * largest


def test_equal_vectors_fade_in_waves():
    queries = np.random.default_rng(0).normal(size=(200, 64))
    scores = [np.sum(queries * rotate(queries, -far)) for far in range(200)]
    assert (np.diff(scores) > 0).sum() > 20


@pytest.mark.parametrize("seed", SEEDS)
def test_gains_that_come_last_lose_the_offset(names, seed):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(2, 1, 16))
    queries, keys = np.repeat(query, 24, axis=0), np.repeat(key, 24, axis=0)
    first, last = names["norm_then_rotate"], names["rotate_then_norm"]
    spread = names["diagonal_spread"]

    def scores(order, gain):
        return order(queries, gain) @ order(keys, gain).T / 4

    ones, own = np.ones(16), rng.uniform(0.5, 1.5, size=16)
    np.testing.assert_allclose(scores(first, ones), scores(last, ones))
    assert spread(scores(first, own)) < 1e-12
    assert spread(scores(last, own)) > 0.1
    closer = 1 + 0.2 * (own - 1)
    assert spread(scores(last, closer)) < spread(scores(last, own))
    # It is the two gains of a pair that have to agree.
    in_pairs = np.repeat(own[:8], 2)
    np.testing.assert_allclose(scores(first, in_pairs), scores(last, in_pairs))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_shift_test_sees(names, seed):
    query, key = np.random.default_rng(seed).normal(size=(2, 1, 16))
    queries, keys = np.repeat(query, 24, axis=0), np.repeat(key, 24, axis=0)
    at, spread = np.arange(24), names["diagonal_spread"]
    by_pairs, by_halves = names["rotate_interleaved"], names["rotate_half"]
    mixed = by_pairs(queries, at) @ by_halves(keys, at).T
    assert spread(mixed) > 0.1
    right = by_pairs(queries, at) @ by_pairs(keys, at).T
    late = by_pairs(queries, at) @ by_pairs(keys, at + 1).T
    assert spread(late) < 1e-12
    assert abs(late - right).max() > 0.1
    unseen = {
        "layout": by_halves,
        "sign": lambda x, places: by_pairs(x, -places),
        "part": lambda x, places: names["rotate_part"](x, places, 8),
        "base": lambda x, places: rotate(
            x, places, frequencies=angular_frequencies(16, 500_000)
        ),
    }
    for error, port in unseen.items():
        wrong = port(queries, at) @ port(keys, at).T
        assert spread(wrong) < 1e-12, error
        assert abs(wrong - right).max() > 0.1, error


def compares_vectors(port):
    """An answer to exercise 3 that asks for too much."""
    vectors = np.random.default_rng(1).normal(size=(3, 16))
    return np.allclose(port(vectors, [0, 4, 9]), rotate(vectors, [0, 4, 9]))


def compares_scores(at, divide=False, equal=False):
    """An answer to exercise 3: one query, one key, at two positions."""

    def score(port):
        vectors = np.random.default_rng(1).normal(size=(2, 1, 16))
        if equal:
            vectors[1] = vectors[0]
        query, key = (port(v, [p]) for v, p in zip(vectors, at, strict=True))
        return (query @ key.T).item()

    return lambda port: np.isclose(
        score(port) / (4 if divide else 1), score(rotate)
    )


REPLIES = [
    (1, [-0.416], "Correct."),
    (1, [np.cos(8)], "subtracted"),
    (1, [np.sin(2)], "cosine"),
    (1, [np.cos(2) / np.sqrt(2)], "undivided"),
    (1, [-0.42], "three decimals"),
    (2, [[0, 4, 1, 5, 2, 6, 3, 7], (0, 4, 1, 5, 2, 6, 3, 7)], "Correct."),
    (2, [[0, 2, 4, 6, 1, 3, 5, 7]], "from interleaved to half"),
    (3, [compares_scores((9, 2))], "Correct."),
    (3, [compares_scores((4, 3))], "go past position 5"),
    (3, [lambda port: True], "yes to every port"),
    (3, [compares_scores((9, 2), divide=True)], "divide by 4"),
    (3, [compares_scores((9, 2), equal=True)], "query and a key that differ"),
    (3, [compares_vectors], "np.isclose"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    cells = run_cells("07_rotary", "ports", f"check-{number}", **names)
    assert_replies(cells[f"check_{number}"], answers, reply)
