"""Notebook 09: experiments on its readers, the rule, configurations."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc.letters import MARKER, RotaryReaders, accuracy, train
from posenc_helpers import angular_frequencies

NAME = Path(__file__).stem.removeprefix("test_")


@pytest.fixture(scope="module")
def names():
    """What the notebook defines, without the readers that it trains."""
    untrained = RotaryReaders([10_000] * 3, head_width=8)
    given = {"NEAR": [1] * 3, "TRAINED": 20, "WIDTH": 8, "PAIRS": 4}
    cells = ("setup", "similarity", "found", "wavelengths", "stopped")
    cells += ("pair-scores", "rule", "half-turn", "falls", "remedies")
    return run_cells(NAME, *cells, "base-scores", usual=untrained, **given)


def scores_of(readers, count, **changes):
    """Scores [reader, key, head] of one random key at `count` offsets."""
    rng, sizes = np.random.default_rng(0), (readers.readers, 1, 8, 8)
    query, key = rng.normal(size=(2, 1, *sizes)).astype("float32")
    keys = np.repeat(key, count, axis=2)
    offsets = np.tile(np.arange(count, dtype="float32"), (1, sizes[0], 1))
    return np.asarray(readers.scores(query, keys, offsets, **changes))[0]


def test_stop_and_window_change_the_scores_as_they_say():
    readers = RotaryReaders([10_000, 100], head_width=8)
    free, near = scores_of(readers, 40), pytest.approx
    stopped = scores_of(readers, 40, stop=[19] * 4)
    assert stopped[:, :20] == near(free[:, :20], abs=1e-5)
    assert stopped[:, 30] == near(free[:, 19], abs=1e-5)
    one = scores_of(readers, 40, stop=[np.inf, 19, np.inf, np.inf])
    assert one[:, :20] == near(free[:, :20], abs=1e-5)
    assert abs(one[:, 30] - free[:, 30]).max() > 0.01
    windowed = scores_of(readers, 40, window=3)
    assert windowed[:, :3] == near(free[:, :3], abs=1e-5)
    assert (windowed[:, 3:] < -1e8).all()
    slower = scores_of(readers, 40, frequencies=readers.frequencies / 2)
    assert slower[:, 10] == near(free[:, 5], abs=1e-5)


def test_pair_scores_add_up_to_the_mean_score_of_a_letter(names):
    readers = names["usual"]
    offsets = np.array([1, 7, 30])
    parts = [names["pair_scores"](readers, pair, offsets) for pair in range(4)]
    means = 0
    for letter in range(8):
        texts = np.full((1, 3, 31), letter)
        texts[:, :, -1] = MARKER
        _, vectors, _ = readers.attend(texts)
        x = np.asarray(vectors)
        query = x[:, :, -1:] @ np.asarray(readers.query)
        keys = x @ np.asarray(readers.key)
        gap = np.float32(30 - np.arange(31)) * np.ones((1, 3, 1), "float32")
        scores = readers.scores(readers.cut(query), readers.cut(keys), gap)
        means = means + np.asarray(scores)[0][:, 30 - offsets] / 8
    right = means.swapaxes(1, 2)
    assert np.sum(parts, axis=0) == pytest.approx(right, abs=1e-3)


def test_remedies_slow_the_pairs_that_they_should(names):
    usual = np.array([angular_frequencies(8)] * 3)
    assert names["interpolated"](usual, 4) == pytest.approx(usual / 4)
    slower = usual / names["ntk_aware"](usual, 4)
    # With base b * s ** (w / (w - 2)), pair i is s ** (i / 3) slower.
    for row in slower:
        assert row == pytest.approx([4 ** (i / 3) for i in range(4)])
    slower = usual / names["by_parts"](usual, 4)
    assert slower == pytest.approx(np.array([[1, 4, 4, 4]] * 3))


def test_scores_of_two_bases_agree_as_their_angles_do(names):
    bases = [angular_frequencies(128, base) for base in (500_000, 10_000)]
    for offset in (1, 16, 256, 1024):
        expected = np.cos(offset * (bases[0] - bases[1])).mean()
        assert names["agreement"](offset) == pytest.approx(expected, abs=0.05)


def reads(config):
    found = config.get("rope_parameters", config)
    return found.get("full_attention", found).get("rope_theta")


def first(config):
    return float(str(config).partition("rope_theta': ")[2][:3] or 0) or None


REPLIES = [
    (1, 11, "Correct."),
    (1, 22, "Count pairs"),
    (2, lambda base: {1e4: 1, 100: 2}[base], "Correct."),
    (2, lambda base: 2, "Right for 100"),
    (2, lambda base: 0, "the *best* mean"),
    (2, lambda base: {1e4: 1.0, 100: 0.95}[base], "has that share"),
    (3, reads, "Correct."),
    (3, lambda config: reads(config) or 10_000, "do not guess"),
    (3, first, "local"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answer, reply):
    # The bases themselves stand in for the readers of exercise 2.
    given = names | {
        "RotaryReaders": lambda bases, **_: bases[0],
        "train": lambda readers, backs: readers,
    }
    cells = run_cells(NAME, f"check-{number}", **given)
    assert_replies(cells[f"check_{number}"], [answer], reply)


def culprits_of(names, seed):
    """The notebook's experiment, with another seed."""
    given = names | {"RotaryReaders": partial(RotaryReaders, seed=seed)}
    return run_cells(NAME, "culprits", **given)["culprits"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rule_holds_for_other_seeds_and_bases(names, seed):
    culprits = culprits_of(names, seed)
    bases = [10, 30, 100, 300, 1000, 10_000]  # 10 has no suspect at 40
    more = {(8, 20): bases, (8, 40): bases[1:]}
    for (width, trained), bases in (names["settings"] | more).items():
        found = culprits(bases, width, trained)
        rule = [names["suspect"](base, width, trained) for base in bases]
        print(width, trained, bases, found)
        assert found.tolist() == rule


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_rule_breaks_in_heads_of_32_columns(names, seed):
    found = culprits_of(names, seed)([300, 1000], 32, 20)
    named = [names["suspect"](base, 32, 20) for base in (300, 1000)]
    assert (found < named).all(), (found, named)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("base", "width", "trained", "pair"), [(300, 16, 20, 1), (1000, 8, 30, 0)]
)
def test_rule_breaks_where_another_pair_stops_low(
    names, seed, base, width, trained, pair
):
    found = culprits_of(names, seed)([base], width, trained)
    assert found.tolist() == [pair]
    assert names["suspect"](base, width, trained) == pair + 1
    # Its wave has made some whole turns and about a half.
    turns = (trained - 1) / names["wavelengths"](base, width)[pair]
    assert turns % 1 == pytest.approx(0.55, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_remedies_do_the_same_for_other_seeds(names, seed):
    readers, backs = RotaryReaders([1e4] * 3, head_width=8, seed=seed), [1] * 3
    train(readers, backs)
    for remedy, holds_at_80 in (
        ("interpolated", False),
        ("ntk_aware", False),
        ("by_parts", True),
    ):
        for length, holds in ((40, True), (80, holds_at_80)):
            slower = names[remedy](readers.frequencies, length / 20)
            found = accuracy(readers, backs, length, frequencies=slower)
            assert (found.mean() > 0.5) == holds


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_findings_hold_for_other_seeds(names, seed):
    bases = np.repeat([1e4, 1e6, 1e8, 1e10, 1.5], 3)
    readers = RotaryReaders(bases, head_width=8, seed=seed)
    backs = [1] * 15
    train(readers, backs)
    usual, largest = slice(3), slice(9, 12)
    assert accuracy(readers, backs, 160, window=20)[usual].min() > 0.8
    for pair in range(4):
        stop = names["stop_only"](pair, 19)
        for length in (40, 80, 160):
            reached = accuracy(readers, backs, length, stop=stop)[usual]
            assert (reached.min() > 0.8) == (pair == 1)
    lengths = np.round(20 * 1.12 ** np.arange(30)).astype(int)
    fell = names["falls"](readers, lengths)
    ratios = fell[:9] / [names["half_turn"](base) for base in bases[:9]]
    print("\n", seed, ratios.round(2), fell[9:])
    assert ratios.min() > 0.7
    assert ratios.max() < 1.6
    assert fell[largest].max() < 0.2 * names["half_turn"](1e10)
    assert fell[12:].min() > fell[usual].max()  # base 1.5 holds longer
    reached = [accuracy(readers, backs, 40, window=n) for n in (20, 21)]
    assert reached[0][largest].mean() > 0.7
    assert reached[1][largest].mean() < 0.75
