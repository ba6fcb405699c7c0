"""Notebook 08: its claims by another route, on more seeds; its exercises."""

from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to
from test_letters import BACKS, READERS, build

from posenc_helpers import angular_frequencies, rotate

NAME = Path(__file__).stem.removeprefix("test_")
LENGTHS = [20, 40, 80, 160]


@pytest.fixture(scope="module")
def names() -> dict:
    """What the notebook defines, before anything is trained."""
    return run_up_to(NAME, "verdict")


def test_t5_buckets_begin_where_its_published_code_begins_them(names):
    # 16 * 8 ** (k / 16), rounded up: where bucket 16 + k begins there.
    starts = [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    far = np.searchsorted(starts, np.arange(16, 400), side="right")
    expected = [*range(16), *(15 + far)]
    assert names["t5_bucket"](np.arange(400)).tolist() == expected


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


REPLIES = [
    (1, [0.0023, np.log(10) / 1000], "Correct."),
    (1, [0.001], "powers of e"),
    (1, [0.002], "one more digit"),
    (1, [-0.0023026], "already"),
    (2, [lambda offsets: list(map(encoder_bucket, offsets))], "Correct."),
    (2, [into_the_past_alone], "share buckets"),
    (3, [turns_a_part], "Correct."),
    (3, [turns_a_small_head], "small head"),
    (3, [turns_the_first_columns], "8 + i"),
    (3, [turns_the_right_columns_as_a_small_head], "small head"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    cells = run_cells(NAME, f"check-{number}", **names)
    assert_replies(cells[f"check_{number}"], answers, reply)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", READERS)
def test_words_of_the_tables_hold_for_other_seeds(names, kind, seed):
    reached = names["train_and_test"](build(names, kind, seed))
    print(f"\n{kind} {seed}:\n{reached.T}")
    near, far = np.median(reached.reshape(4, 2, 3), axis=2).T
    at_20, at_40 = np.array([near[0], far[0]]), np.array([near[1], far[1]])
    if kind == "Readers":
        assert reached.max() < 0.5
    elif kind in ("LearnedReaders", "SinusoidalReaders"):
        assert at_20.min() > 0.85
        is_exception = kind == "SinusoidalReaders" and seed == 5
        assert at_40.max() < (0.4 if is_exception else 0.35)
    elif kind in ("RotaryReaders", "T5Readers"):
        assert reached[3].max() < 0.5  # little is left at 160
        assert 0.35 < at_40.min() <= at_40.max() < 0.85
        assert at_20.min() > 0.85
    elif kind == "ALiBiReaders":
        assert near.min() > 0.85
        assert far.max() < 0.35
    else:
        assert min(*at_20, *at_40) > 0.85


@pytest.mark.parametrize("steps", [1000, 3000])
@pytest.mark.parametrize("trained", [10, 20, 40])
def test_a_wide_head_holds_where_a_narrow_one_does_not(names, trained, steps):
    """At eight times the length of training, for all offsets but the last."""
    given = names | {"TRAINED": trained}
    cells = run_cells(NAME, "look-at", "train-head", **given)
    train_head, look_at = cells["train_head"], cells["look_at"]
    for target in range(1, trained):
        narrow, wide = (train_head(w, target, steps) for w in (8, 128))
        assert look_at(narrow, target, trained) > 0.9
        assert look_at(narrow, target, 8 * trained) < 0.6
        assert look_at(wide, target, trained) > 0.9
        kept = look_at(wide, target, 8 * trained)
        assert kept > 0.9 if target < trained - 1 else kept < 0.1


@pytest.mark.parametrize("base", [100, 1000, 1e5, 5e5, 1e6])
def test_the_width_of_a_head_decides_with_other_bases_too(names, base):
    cells = run_cells(NAME, "look-at", "train-head", **names)
    train_head, look_at = cells["train_head"], cells["look_at"]
    cells["angular_frequencies"] = lambda w: angular_frequencies(w, base)
    for target in range(1, 19):
        assert look_at(train_head(8, target), target, 160) < 0.7
        assert look_at(train_head(128, target), target, 160) > 0.9


def test_with_a_base_of_ten_million_a_narrow_head_keeps_near_offsets(names):
    cells = run_cells(NAME, "look-at", "train-head", **names)
    cells["angular_frequencies"] = lambda w: angular_frequencies(w, 1e7)
    kept = [
        cells["look_at"](cells["train_head"](8, target), target, 160)
        for target in (1, 2, 3, 8)
    ]
    assert min(kept[:3]) > 0.9
    assert kept[3] < 0.5


@pytest.mark.parametrize("target", [1, 8])
def test_where_a_wide_head_starts_matters(names, target):
    """Random starts: as in an untrained head, and eight times as large."""
    cells = run_cells(NAME, "look-at", "train-head", **names)
    rng = np.random.default_rng(target)
    query, key = rng.normal(size=(2, 5000, 128))
    untrained = np.std((query * key).reshape(5000, 2, 64).sum(1) / 128**0.5)
    starts = rng.normal(size=(10, 128))

    def kept(size):
        trained = (
            cells["train_head"](128, target, start=size * start)
            for start in starts
        )
        return [cells["look_at"](head, target, 160) for head in trained]

    assert min(kept(untrained)) > 0.9
    assert min(kept(8 * untrained)) < 0.5


def test_the_bias_of_alibi_may_be_one_row_for_all_queries(names):
    cells = run_cells(NAME, "alibi-slopes", "look-at", **names)
    scores = np.random.default_rng(6).normal(size=20)
    slope, keys = cells["alibi_slopes"](8)[2], np.arange(20)
    published = cells["softmax"](scores - slope * (19 - keys))
    np.testing.assert_allclose(
        cells["softmax"](scores + slope * keys), published
    )


@pytest.mark.parametrize("width", [8, 128])
def test_the_head_is_a_rotary_head(names, width):
    """What is learned are scores of a query with one key, rotated."""
    waves = run_cells(NAME, "look-at", "train-head", **names)["waves"]
    query, key = np.random.default_rng(width).normal(size=(2, width))
    turned = rotate(np.tile(key, (50, 1)), -np.arange(50), layout="half")
    head, *_ = np.linalg.lstsq(waves(width, 50), turned @ query, rcond=None)
    fitted = waves(width, 50) @ head
    np.testing.assert_allclose(fitted, turned @ query, atol=1e-8)


@pytest.mark.slow
def test_which_letter_rope_keeps_depends_on_the_width_of_the_heads(names):
    for seed in range(3):
        readers = names["RotaryReaders"]([10_000] * 6, head_width=8, seed=seed)
        near, far = names["train_and_test"](readers)[1].reshape(2, 3)
        assert near.mean() < 0.35
        assert far.mean() > 0.85


@pytest.mark.slow
def test_four_times_as_many_steps_help_plain_t5_alone(names):
    for kind, low, high in [
        ("ALiBiReaders", 0, 0.35),
        ("RotaryReaders", 0.45, 0.7),
        ("T5Readers", 0.7, 0.9),
    ]:
        readers = build(names, kind)
        names["train"](readers, BACKS, steps=1200)
        reached = names["accuracy"](readers, BACKS, 40)
        print(f"\n{kind}: {reached}")
        assert low < np.median(reached[3:]) < high  # the far letter


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_wide_heads_hold_at_twice_the_length_and_no_further(names, seed):
    """Three to four minutes for each seed, on a busy machine."""
    readers = names["RotaryReaders"]([10_000] * 6, head_width=128, seed=seed)
    reached = names["train_and_test"](readers).reshape(4, 2, 3)
    near, far = np.median(reached, axis=2).T
    print(f"\n{reached}")
    assert min(near[1], far[1]) >= 0.9
    assert 0.3 < near[2] < 0.65 < 0.75 < far[2]
    assert near[3] < 0.4
    assert 0.6 < far[3] < 0.85
