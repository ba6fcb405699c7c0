"""Notebook 08: its claims by another route, another seed; its exercises."""

from functools import partial

import numpy as np
import pytest
from conftest import assert_replies, run_cells
from test_letters import build, definitions

from posenc_helpers import angular_frequencies, rotate

NAME = "08_longer_texts"
LENGTHS = [20, 40, 80, 160]


@pytest.fixture(scope="module")
def names() -> dict:
    """What the notebook defines, without the readers that it trains."""
    cells = ("train-and-test", "waves", "train-head")
    return run_cells(NAME, *cells, TRAINED=20, **definitions())


def test_t5_buckets_begin_where_its_published_code_begins_them(names):
    # 16 * 8 ** (k / 16), rounded up: where bucket 16 + k begins there.
    starts = [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    far = np.searchsorted(starts, np.arange(16, 400), side="right")
    expected = [*range(16), *(15 + far)]
    assert names["t5_bucket"](np.arange(400)).tolist() == expected


def trained_for_two(names, length):
    head = np.zeros(16)
    for _ in range(5000):
        weights = names["weights_of"](head, length)
        weights[[1, 8]] -= 0.5
        head -= 0.5 * weights @ names["waves"](length)
    return head


def turns_a_part(vectors, positions, pairs):
    """Exercise 3: the other pairs do not turn at all."""
    frequencies = angular_frequencies(vectors.shape[-1])
    frequencies[pairs:] = 0
    return rotate(vectors, positions, layout="half", frequencies=frequencies)


def turns_a_small_head(vectors, positions, pairs):
    turned, rest = np.split(vectors, [2 * pairs], axis=1)
    return np.hstack([rotate(turned, positions, layout="half"), rest])


def encoder_bucket(offset):
    """T5's encoder, one offset at a time, by its published boundaries."""
    starts = [*range(9), 12, 16, 23, 32, 46, 64, 91]
    bucket = sum(abs(offset) >= start for start in starts[1:])
    return bucket + (16 if offset < 0 else 0)


own = ("does a small head have", "Rotate the whole head")
REPLIES = [
    (2, lambda offsets: list(map(encoder_bucket, offsets)), "Correct."),
    (
        2,
        lambda x: list(map(encoder_bucket, abs(x))),
        ("share buckets", "offset is negative"),
    ),
    (2, lambda offsets: offsets, ("30 ahead", "then add 16")),
    (3, turns_a_part, "Correct."),
    (3, turns_a_small_head, own),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answer, reply):
    cells = run_cells(NAME, f"check-{number}", **names)
    assert_replies(cells[f"check_{number}"], [answer], reply)


def test_exercise_1_takes_any_head_that_looks_at_both(names):
    check_1 = run_cells(NAME, "check-1", **names)["check_1"]
    right = trained_for_two(names, 160)
    assert_replies(check_1, [right, list(1.1 * right)], "Correct.")
    middle = ("slow waves", "take 0.5 from each")
    two_tops = 10 * names["waves"](9)[[1, 8]].sum(axis=0)
    assert_replies(check_1, [two_tops], middle)
    short = ("are new", "all 160 offsets")
    assert_replies(check_1, [trained_for_two(names, 20)], short)
    assert_replies(check_1, [np.zeros(16)], "do offsets 1 and 8 get")
    sixteen = ("How many numbers", "Eight cosines")
    assert_replies(check_1, [np.zeros(8), (1, 8), "1 and 8"], sixteen)


LEVELS = {
    "found": (0.85, 1),
    "some": (0.3, 0.85),
    "not all": (0, 0.6),
    "lost": (0, 0.35),
}
REACHED = {  # near at 20 and at 40, far at 20 and at 40
    "LearnedReaders": ["found", "lost", "found", "lost"],
    "SinusoidalReaders": ["found", "lost", "found", "not all"],
    "RotaryReaders": ["found", "some", "found", "some"],
    "ALiBiReaders": ["found", "found", "lost", "lost"],
    "T5Readers": ["found", "found", "found", "found"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", REACHED)
def test_what_readers_find_is_alike_for_another_seed(names, kind):
    reached = names["train_and_test"](build(names, kind, seed=1))
    near, far = reached.reshape(4, 2, 2).mean(axis=2).T
    means = [*near[:2], *far[:2]]
    for share, level in zip(means, REACHED[kind], strict=True):
        low, high = LEVELS[level]
        assert low <= share <= high, means


@pytest.mark.parametrize("base", [100, 10_000, 500_000])
def test_a_head_set_by_hand_holds_at_other_offsets_and_bases(names, base):
    cells = run_cells(NAME, "waves", **names)
    cells["angular_frequencies"] = partial(
        angular_frequencies, max_wavelength=base
    )
    for target in range(20):
        head = 10 * cells["waves"](20)[target]
        for length in (20, 160, 1000):
            assert cells["weights_of"](head, length)[target] > 0.95


def test_the_head_is_a_rotary_head(names):
    """What is learned are scores of a query with one key, rotated."""
    query, key = np.random.default_rng(16).normal(size=(2, 16))
    turned = rotate(np.tile(key, (50, 1)), -np.arange(50), layout="half")
    (a, b), (c, d) = query.reshape(2, 8), key.reshape(2, 8)
    head = np.concatenate([a * c + b * d, a * d - b * c])
    scores = names["waves"](50) @ head
    np.testing.assert_allclose(scores, turned @ query, atol=1e-9)
