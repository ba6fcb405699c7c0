"""Notebook 09: experiments on its readers, the rule, configurations."""

import numpy as np
import pytest
from conftest import LazyModule, assert_replies, run_cells

from posenc_helpers import angular_frequencies

letters = LazyModule("posenc.letters")
NAME = "09_why_10000"


@pytest.fixture(scope="module")
def names():
    """What the notebook defines, without the readers that it trains."""
    untrained = letters.RotaryReaders([10_000] * 3, head_width=8)
    settings = {"NEAR": [1] * 3, "TRAINED": 20, "WIDTH": 8, "PAIRS": 4}
    cells = ("setup", "wavelengths", "stopped", "pair-scores", "rule", "fails")
    cells += ("culprits", "remedies", "configs", "base-scores", "configs-3")
    return run_cells(NAME, *cells, usual=untrained, **settings)


def test_pair_scores_add_up_to_the_mean_score_of_a_letter(names):
    readers = names["usual"]
    offsets = np.array([1, 7, 30])
    parts = [names["pair_scores"](readers, pair, offsets) for pair in range(4)]
    means = 0
    for letter in range(8):
        texts = np.full((1, 3, 31), letter)
        texts[:, :, -1] = letters.MARKER
        x = np.asarray(readers.attend(texts)[1])
        query = x[:, :, -1:] @ np.asarray(readers.query)
        keys = x @ np.asarray(readers.key)
        gap = np.float32(30 - np.arange(31)) * np.ones((1, 3, 1), "float32")
        scores = readers.scores(readers.cut(query), readers.cut(keys), gap)
        means = means + np.asarray(scores)[0][:, 30 - offsets] / 8
    right = means.swapaxes(1, 2)
    assert np.sum(parts, axis=0) == pytest.approx(right, abs=1e-3)


def test_remedies_slow_the_pairs_that_they_should(names):
    usual = angular_frequencies(8)[np.newaxis]
    # With base b * s ** (w / (w - 2)), pair i is s ** (i / 3) slower.
    by_ntk = [4 ** (pair / 3) for pair in range(4)]
    expected = {"interpolated": [4] * 4, "ntk_aware": by_ntk}
    expected["by_parts"] = [1, 4, 4, 4]
    for remedy, factors in expected.items():
        slower = usual / names[remedy](usual, 4)
        assert slower[0] == pytest.approx(factors), remedy


def test_scores_of_two_bases_agree_as_their_angles_do(names):
    bases = [angular_frequencies(128, base) for base in (500_000, 10_000)]
    for offset in (1, 16, 256):
        expected = np.cos(offset * (bases[0] - bases[1])).mean()
        assert names["agreement"](offset) == pytest.approx(expected, abs=0.05)


def reads(config):
    found = config.get("rope_parameters", config)
    return found.get("full_attention", found).get("rope_theta")


USUAL = angular_frequencies(8)
REPLIES = [
    (1, 11, "Correct."),
    (1, 22, ("Count pairs", "64 columns")),
    (1, 12, ("for one turn", "above 2 048")),
    (2, USUAL / [1, 2.5, 2.5, 2.5], "Correct."),
    (2, [1, 0.04, 0, 0], "Correct."),
    (2, USUAL, ("up again too early", "half a turn of")),
    (2, USUAL / [1, 4, 4, 4], ("slower than needed", "Faster")),
    (2, USUAL / 4, ("has pair 0 done", "Keep pair 0")),
    (2, [1, 0.04, 1, 1], "Correct."),
    (2, [1, -0.04, 0, 0], ("Which way", "positive")),
    (2, [1, 0.3, 0, 0], ("does each pair turn", "half a turn of pair 1")),
    (2, USUAL, "Right at 20: 0.90, at 80: 0.30"),
    (2, USUAL[:3], "Give four numbers"),
    (3, reads, "Correct."),
    (3, lambda config: 3.0, "Which layers"),
    (3, lambda config: config["rope_theta"], ("KeyError", "in rope_param")),
    (3, lambda config: reads(config) or 0, ("guessed base", "Return None")),
    (3, lambda config: config.get("rope_theta"), "For {'rope_parameters'"),
    (3, {"rope_theta": 5.0}, "Give a function"),
]


def accuracy_by_pairs(readers, backs, length, frequencies):
    """As trained readers are: pair 0 as it was, and pair 1 slower."""
    slower = 0.1 / frequencies[0, 1]
    fits = 0.5 < slower < 3 if length == 20 else slower > 2.3
    return np.full(3, 0.9 if fits and frequencies[0, 0] > 0.9 else 0.3)


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answer, reply):
    own = names | {"accuracy": accuracy_by_pairs}
    check = run_cells(NAME, f"check-{number}", **own)[f"check_{number}"]
    assert_replies(check, [answer], reply)


def well_short(base, width, trained):
    """The restated rule, from the wavelengths alone."""
    waves = 2 * np.pi * base ** (np.arange(width // 2) / (width // 2))
    return np.flatnonzero(waves >= 1.25 * trained)[:1].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "trained", "bases"),
    [(8, 40, [150, 400, 1000, 4500, 1e5, 1e6]), (16, 20, [1700, 1e4, 1e6])],
)
def test_first_suspect_is_guilty_at_other_lengths_and_widths(
    names, width, trained, bases
):
    readers = letters.RotaryReaders(bases, head_width=width, seed=0)
    letters.train(readers, [1] * len(bases), seq_len=trained)
    reached = names["stop_each"](readers, 4 * trained, trained)
    found = reached[1:].argmax(axis=0)
    rule = [well_short(base, width, trained) for base in bases]
    assert [[pair] for pair in found] == rule


@pytest.mark.slow
def test_findings_hold_for_another_seed(names):
    bases = np.repeat([1e4, 1e6, 1e8, 1e10], 3)
    readers = letters.RotaryReaders(bases, head_width=8, seed=1)
    backs, usual = [1] * 12, slice(3)
    letters.train(readers, backs)
    lengths = np.round(20 * 1.12 ** np.arange(30)).astype(int)
    half_turns = [names["wavelengths"](base)[1] / 2 for base in bases]
    ratios = names["fails"](readers, lengths) / half_turns
    assert 0.7 < ratios[:9].min() < ratios[:9].max() < 1.7
    assert ratios[9:].max() < 0.25

    def right(remedy, length):
        slower = names[remedy](readers.frequencies[usual], 4)
        slower = np.concatenate([slower, readers.frequencies[3:]])
        found = letters.accuracy(readers, backs, length, frequencies=slower)
        return found[usual].mean()

    assert right("ntk_aware", 20) > 0.9 > 0.85 > right("by_parts", 20) > 0.5
    assert right("interpolated", 20) < 0.5 < right("by_parts", 80)
    assert right("ntk_aware", 80) < 0.5
