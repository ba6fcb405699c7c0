"""Notebook 13: its model by another route, its exercises, and more seeds."""

from functools import partial

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to
from two_layers import run_by_numpy

from posenc.stored import load_weights
from posenc_helpers import angular_frequencies

NAME = "13_inside"
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


# Cells that assert what the text says of the model that they train.
CELLS = """
shares maps silence stop stop-each reveal-pairs reveal-long reveal-sight
"""


def accuracy_by_head(names, model) -> np.ndarray:
    """Accuracy without each head, of a model that is as the text says."""
    given = names | {"both": model, "first_only": model, "STILL": STILL}
    found = run_cells(NAME, *CELLS.split(), **given)
    looks = found["one_back"](found["maps"][0])
    heads = [found["silence"](*each) for each in np.ndindex(2, 4)]
    without = [names["accuracy"](model, heads=each) for each in heads]
    first, second = np.reshape(without, (2, 4))
    assert looks[first.argmin()] > looks.max() - 0.05
    assert second.min() > 0.97 > first.min()
    return np.array(without)


def test_the_figures_model_is_as_the_text_and_its_note_say(names):
    without = accuracy_by_head(names, stored_model(names, "inside"))
    assert 0.4 < without[2] < 0.6 < 0.94 < np.delete(without, 2).min()


@pytest.mark.slow
def test_a_model_of_another_seed_is_as_the_text_says(names):
    model = names["Copier"]([PAIRS, PAIRS], seed=1)
    assert names["train"](model, 300)[-1] > 0.98
    accuracy_by_head(names, model)


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
