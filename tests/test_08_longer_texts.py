"""Notebook 08: its claims by another route, on more seeds; its exercises."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells
from test_letters import BACKS, READERS, build, definitions

from posenc_helpers import angular_frequencies, rotate

NAME = Path(__file__).stem.removeprefix("test_")
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


def sum_of_two_tops(names):
    return 10 * (names["waves"](9)[1] + names["waves"](9)[8])


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


def turns_the_first_columns(vectors, positions, pairs):
    turned = rotate(vectors, positions, layout="half")
    return np.hstack([turned[:, : 2 * pairs], vectors[:, 2 * pairs :]])


def turns_the_right_columns_as_a_small_head(vectors, positions, pairs):
    half = vectors.shape[-1] // 2
    columns = [*range(pairs), *range(half, half + pairs)]
    result = vectors.copy()
    result[:, columns] = rotate(vectors[:, columns], positions, layout="half")
    return result


def encoder_bucket(offset):
    """T5's encoder, one offset at a time, by its published boundaries."""
    starts = [*range(9), 12, 16, 23, 32, 46, 64, 91]
    bucket = sum(abs(offset) >= start for start in starts[1:])
    return bucket + (16 if offset < 0 else 0)


def into_the_past_alone(offsets):
    """Exercise 2: the sign is lost."""
    return [encoder_bucket(abs(offset)) for offset in offsets]


own = ("does a small head have", "Rotate the whole head")
REPLIES = [
    (2, lambda offsets: list(map(encoder_bucket, offsets)), "Correct."),
    (2, into_the_past_alone, "share buckets"),
    (2, lambda offsets: offsets, ("30 ahead", "then add 16")),
    (3, turns_a_part, "Correct."),
    (3, turns_a_small_head, own),
    (3, turns_the_first_columns, ("Which columns", "8 + i")),
    (3, turns_the_right_columns_as_a_small_head, own),
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
    assert_replies(check_1, [sum_of_two_tops(names)], middle)
    short = ("never seen", "all 160 offsets")
    assert_replies(check_1, [trained_for_two(names, 20)], short)
    assert_replies(check_1, [np.zeros(16)], "Which offset gets most")
    assert_replies(check_1, [np.zeros(8)], "form that the exercise asks")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 5])
@pytest.mark.parametrize("kind", READERS)
def test_what_readers_find_is_alike_for_other_seeds(names, kind, seed):
    reached = names["train_and_test"](build(names, kind, seed))
    print(f"\n{kind} {seed}:\n{reached.T}")
    near, far = np.median(reached.reshape(4, 2, 3), axis=2).T
    at_20, at_40 = np.array([near[0], far[0]]), np.array([near[1], far[1]])
    if kind == "Readers":
        assert reached.max() < 0.5
    elif kind in ("LearnedReaders", "SinusoidalReaders"):
        assert at_20.min() > 0.85
        assert at_40.max() < 0.4
    elif kind == "RotaryReaders":
        assert reached[3].max() < 0.5  # little is left at 160
        assert 0.3 < at_40.min() <= at_40.max() < 0.85
        assert at_20.min() > 0.85
    elif kind == "ALiBiReaders":
        assert near.min() > 0.85
        assert far.max() < 0.35
    else:
        assert min(*at_20, *at_40) > 0.85


@pytest.mark.slow
def test_alibi_misses_the_far_letter_after_four_times_as_many_steps(names):
    readers = build(names, "ALiBiReaders")
    names["train"](readers, BACKS, steps=1200)
    reached = names["accuracy"](readers, BACKS, 20)
    assert np.median(reached[3:]) < 0.35


@pytest.mark.parametrize("base", [100, 10_000, 500_000])
def test_a_head_set_by_hand_holds_at_each_offset_and_base(names, base):
    cells = run_cells(NAME, "waves", **names)
    cells["angular_frequencies"] = partial(
        angular_frequencies, max_wavelength=base
    )
    for target in range(20):
        head = 10 * cells["waves"](20)[target]
        for length in (20, 160, 1000):
            assert cells["weights_of"](head, length)[target] > 0.95


def test_what_training_leaves_open_depends_on_offset_and_optimizer(names):
    """Adam in place of plain descent: offset 8 holds, offset 15 falls."""
    waves, weights_of = names["waves"], names["weights_of"]

    def adam(target, steps=1000):
        head, mean, square = np.zeros(16), 0.0, 0.0
        for step in range(1, steps + 1):
            weights = weights_of(head, 20)
            weights[target] -= 1
            slope = weights @ waves(20)
            mean = 0.9 * mean + 0.1 * slope
            square = 0.999 * square + 0.001 * slope**2
            rate = 0.05 * (1 + np.cos(np.pi * step / steps))
            unbiased = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            head = head - rate * mean / (1 - 0.9**step) / unbiased
        return head

    def kept(head, target):
        assert weights_of(head, 20)[target] > 0.9
        return weights_of(head, 160)[target]

    plain = names["train_head"]
    assert kept(plain(8), 8) < 0.5 < 0.95 < kept(adam(8), 8)
    assert kept(adam(15), 15) < 0.05 < kept(plain(15), 15)


def test_the_bias_of_alibi_may_be_one_row_for_all_queries(names):
    scores = np.random.default_rng(6).normal(size=20)
    slope, keys = names["alibi_slopes"](8)[2], np.arange(20)
    published = np.exp(scores - slope * (19 - keys))
    ours = np.exp(scores + slope * keys)
    np.testing.assert_allclose(ours / ours.sum(), published / published.sum())


def test_the_head_is_a_rotary_head(names):
    """What is learned are scores of a query with one key, rotated."""
    query, key = np.random.default_rng(16).normal(size=(2, 16))
    turned = rotate(np.tile(key, (50, 1)), -np.arange(50), layout="half")
    waves = names["waves"](50)
    head, *_ = np.linalg.lstsq(waves, turned @ query, rcond=None)
    np.testing.assert_allclose(waves @ head, turned @ query, atol=1e-8)
