"""Notebook 13: its model by another route, its exercises, and more seeds."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to
from two_layers import run_by_numpy

from posenc.stored import load_weights
from posenc_helpers import angular_frequencies

NAME = Path(__file__).stem.removeprefix("test_")
PAIRS = angular_frequencies(16)
STILL = 0 * PAIRS
LENGTHS = {32: (8, 16), 64: (16, 26), 128: (16, 26)}


@pytest.fixture(scope="module")
def names() -> dict:
    """What the notebook defines, before anything is trained."""
    return run_up_to(NAME, "train")


def stored_model(names, name):
    model = names["Copier"]([PAIRS, PAIRS], seed=0)
    model.set_weights(load_weights(name))
    return model


@pytest.mark.parametrize("name", ["inside", "stranger"])
def test_the_model_is_what_it_says_by_numpy(names, name):
    """One text, one head after the other, in float64."""
    model = stored_model(names, name)
    rng = np.random.default_rng(0)
    heads = np.float32(rng.uniform(size=(2, 4)) > 0.3)
    frequencies = np.where(rng.uniform(size=(2, 8)) > 0.3, PAIRS, 0)
    for seq_len in (2, 128):
        text = rng.integers(26, size=seq_len)
        changes = {"frequencies": frequencies, "heads": heads}
        ratings, maps = names["run"](model, text[np.newaxis], **changes)
        wanted, looked = run_by_numpy(load_weights(name), text, **changes)
        np.testing.assert_allclose(ratings[0], wanted, atol=1e-3)
        heads_first = np.concatenate(maps, axis=1)[0]
        np.testing.assert_allclose(heads_first, looked, atol=1e-3)


def accuracies(names, model) -> dict[str, np.ndarray]:
    """Accuracy at all lengths, without each head, with each pair stopped."""

    def by_length(frequencies):
        return [
            names["accuracy"](model, *each, frequencies=frequencies)
            for each in LENGTHS.items()
        ]

    def with_each_at_zero(ones):
        for place in np.ndindex(ones.shape):
            changed = ones.copy()
            changed[place] = 0
            yield changed

    heads = with_each_at_zero(np.ones((2, 4), "float32"))
    pairs = with_each_at_zero(np.array([PAIRS, PAIRS]))
    without_head = [names["accuracy"](model, heads=each) for each in heads]
    stopped = [names["accuracy"](model, frequencies=each) for each in pairs]
    few = [np.where(np.isin(PAIRS, PAIRS[:n]), PAIRS, 0) for n in (0, 1, 2)]
    return {
        "both": by_length([PAIRS, PAIRS]),
        "taken": by_length([PAIRS, STILL]),
        "fastest": [by_length([first, PAIRS])[0] for first in few],
        "heads": np.reshape(without_head, (2, 4)),
        "pairs": np.reshape(stopped, (2, 8)),
    }


def assert_as_in_all_models(names, model) -> dict[str, np.ndarray]:
    """What the text says of its model is true of others, too."""
    found = accuracies(names, model)
    texts, _ = names["make_texts"](50, 32, np.random.default_rng(6))
    looks = np.array(names["run"](model, texts)[1][0])
    one_back = np.diagonal(looks, -1, 2, 3).mean(axis=(0, 2))
    first, second = found["heads"]
    assert one_back[first.argmin()] > one_back.max() - 0.05
    assert second.min() > 0.97 > first.min()
    assert found["pairs"][0, :2].min() < 0.95
    assert found["pairs"][0, 2:].min() > 0.97
    none, pair_0, two = found["fastest"]
    assert none < 0.4 < pair_0 < 0.8 < 0.97 < two
    assert found["taken"][0] > found["both"][0] - 0.02
    assert found["taken"][2] > found["both"][2] + 0.05
    assert names["accuracy"](model, 128, (16, 26), sight=(32, 128)) > 0.9
    assert names["accuracy"](model, 128, (16, 26), sight=(128, 32)) < 0.6
    return found


def test_the_strangers_model_is_as_the_text_says(names):
    assert_as_in_all_models(names, stored_model(names, "stranger"))


def test_the_figures_model_is_as_the_text_and_its_note_say(names):
    found = assert_as_in_all_models(names, stored_model(names, "inside"))
    heads = found["heads"].ravel()
    assert 0.4 < heads[2] < 0.6 < 0.94 < np.delete(heads, 2).min()
    assert set(np.flatnonzero(found["pairs"].ravel() < 0.98)) == {0, 1}
    assert found["taken"][2] > found["both"][2] + 0.1


@pytest.mark.slow
def test_a_model_of_another_seed_is_as_the_text_says(names):
    model = names["Copier"]([PAIRS, PAIRS], seed=1)
    assert names["train"](model, 300)[-1] > 0.98
    assert_as_in_all_models(names, model)


def rule(text, wrong=""):
    """Exercise 1, right or with a slip."""
    before, last = text[:-1], text[-1]
    if last not in before:
        return -1
    place = before.index(last)
    return {"": text[place + 1], "itself": last, "place": place}[wrong]


@pytest.mark.parametrize(("seq_len", "stretch"), LENGTHS.items())
def test_the_answers_are_what_the_rule_gives(names, seq_len, stretch):
    rng = np.random.default_rng(seq_len)
    drawn = names["make_texts"](20, seq_len, rng, stretch)
    for text, answer in zip(*drawn, strict=True):
        begun = [text[: end + 1].tolist() for end in range(seq_len)]
        assert list(map(rule, begun)) == answer.tolist()


def turning(*first, second=()):
    """Frequencies of which only these pairs turn."""
    kept = [np.isin(np.arange(8), pairs) for pairs in (first, second)]
    return np.where(kept, PAIRS, 0)


ENOUGH = [turning(0, 1), turning(0, 1, second=(5, 6)).tolist()]
TOO_FEW = [turning(0), turning(1), turning(2, 3)]
AFTER = "The answer is at the next one"
REPLIES = [
    (1, [rule], "Correct."),
    (1, [partial(rule, wrong="itself")], ("What follows it?", AFTER)),
    (1, [partial(rule, wrong="place")], ("That is a place.", AFTER)),
    (2, [[2, 0]], "Correct."),
    (2, [[0, 2]], "Which one does the model miss more?"),
    (2, [2, 0], "Give both"),
    (2, [[1, 3]], ("lose without each", "Measure accuracy(stranger")),
    (3, ENOUGH, "Correct."),
    (3, TOO_FEW, ("tell 0, 1 and 2", "the two fastest")),
    (3, [turning(*range(8))], ("does neither layer", "slow ones")),
    (3, [PAIRS, 3 * turning(0, 1), "all"], "shape [2, 8]"),
]


@pytest.fixture(scope="module")
def checks(names) -> dict:
    stranger = stored_model(names, "stranger")
    cells = ["silence", "check-1", "check-2", "check-3"]
    return run_cells(NAME, *cells, **names, STILL=STILL, stranger=stranger)


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(checks, number, answers, reply):
    assert_replies(checks[f"check_{number}"], answers, reply)
