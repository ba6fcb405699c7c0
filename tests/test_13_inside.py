"""Notebook 13: its model by another route, its exercises, and more seeds."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to
from two_layers import run_by_numpy

from posenc.stored import load_weights
from posenc_helpers import angular_frequencies, rotate

NAME = Path(__file__).stem.removeprefix("test_")
PAIRS = angular_frequencies(16)
STILL = 0 * PAIRS
LENGTHS = {32: (8, 16), 64: (16, 26), 128: (16, 26)}


@pytest.fixture(scope="module")
def names() -> dict:
    """What the notebook defines, before anything is trained."""
    return run_up_to(NAME, "train")


@pytest.fixture(scope="module")
def measured(names) -> dict:
    """The functions that look at a trained model, without the training."""
    stranger = stored_model(names, "stranger")
    given = names | {"STILL": STILL, "stranger": stranger}
    cells = ["silence", "check-1", "check-2", "check-3"]
    return run_cells(NAME, *cells, **given)


def stored_model(names, name):
    model = names["Copier"]([PAIRS, PAIRS], seed=0)
    model.set_weights(load_weights(name))
    return model


# The task.


@pytest.mark.parametrize(("seq_len", "stretch"), LENGTHS.items())
def test_an_answer_follows_the_last_letter_wherever_it_stood(
    names, seq_len, stretch
):
    rng = np.random.default_rng(seq_len)
    texts, answers = names["make_texts"](200, seq_len, rng, stretch)
    assert texts.shape == answers.shape == (200, seq_len)
    for text, answer in zip(texts, answers, strict=True):
        period = (answer < 0).sum()
        assert stretch[0] <= period <= stretch[1]
        assert len(set(text[:period])) == period  # all different
        for place in range(seq_len):
            earlier = np.flatnonzero(text[:place] == text[place])
            wanted = {text[p + 1] for p in earlier} or {-1}
            assert wanted == {answer[place]}


# The model.


@pytest.mark.parametrize("pairs", [2, 8])
def test_turn_is_the_helpers_rotation(names, pairs):
    x = np.random.default_rng(pairs).normal(size=(2, 3, 50, 2 * pairs))
    frequencies = np.random.default_rng(1).uniform(size=pairs)
    wanted = rotate(x, np.arange(50), layout="half", frequencies=frequencies)
    made = names["turn"](np.float32(x), frequencies)
    np.testing.assert_allclose(made, wanted, atol=1e-4)


@pytest.mark.parametrize("name", ["inside", "stranger"])
def test_the_model_is_what_it_says_by_numpy(names, name):
    """One text, one head after the other, in float64."""
    model = stored_model(names, name)
    rng = np.random.default_rng(0)
    heads = np.float32(rng.uniform(size=(2, 4)) > 0.3)
    frequencies = np.where(rng.uniform(size=(2, 8)) > 0.3, PAIRS, 0)
    for seq_len in (2, 32, 128):
        text = rng.integers(26, size=seq_len)
        changes = {"frequencies": frequencies, "heads": heads}
        ratings, maps = names["run"](model, text[np.newaxis], **changes)
        wanted, looked = run_by_numpy(load_weights(name), text, **changes)
        np.testing.assert_allclose(ratings[0], wanted, atol=1e-3)
        heads_first = np.concatenate(maps, axis=1)[0]
        np.testing.assert_allclose(heads_first, looked, atol=1e-3)


# What the text says of trained models.


def accuracies(names, model) -> dict[str, np.ndarray]:
    """Accuracy by length, without each head, with each pair stopped."""

    def by_length(frequencies):
        return [
            names["accuracy"](model, *each, frequencies=frequencies)
            for each in LENGTHS.items()
        ]

    def without_head(place):
        heads = np.ones(8, "float32")
        heads[place] = 0
        return names["accuracy"](model, heads=heads.reshape(2, 4))

    def without_pair(place):
        turns = np.ones(16)
        turns[place] = 0
        frequencies = turns.reshape(2, 8) * PAIRS
        return names["accuracy"](model, frequencies=frequencies)

    fast = np.where(np.arange(8) < 2, PAIRS, 0)
    return {
        "both": np.array(by_length([PAIRS, PAIRS])),
        "taken": np.array(by_length([PAIRS, STILL])),
        "no first": names["accuracy"](model, frequencies=[STILL, PAIRS]),
        "two pairs": names["accuracy"](model, frequencies=[fast, PAIRS]),
        "heads": np.array([without_head(k) for k in range(8)]).reshape(2, 4),
        "pairs": np.array([without_pair(k) for k in range(16)]).reshape(2, 8),
    }


def one_back(names, model) -> np.ndarray:
    """Weight of each head of the first layer on the position before."""
    texts, _ = names["make_texts"](50, 32, np.random.default_rng(6))
    looks = np.array(names["run"](model, texts)[1][0])
    return np.mean([np.trace(t, 1, 2, 1) / 31 for t in looks], axis=0)


@pytest.fixture(scope="module")
def found(names) -> dict:
    """What the stored models can do, by their name."""
    return {
        name: accuracies(names, stored_model(names, name))
        for name in ("inside", "stranger")
    }


def assert_as_in_all_models(names, model, found):
    """What the text says of all such models, whatever their seed."""
    first, second = found["heads"]
    shares = one_back(names, model)
    assert shares[first.argmin()] > shares.max() - 0.05
    assert second.min() > 0.97 > first.min()
    assert found["pairs"][0, :2].min() < 0.95
    assert found["pairs"][0, 2:].min() > 0.97
    assert found["two pairs"] > 0.97
    assert found["taken"][0] > found["both"][0] - 0.02
    assert found["taken"][2] > found["both"][2] + 0.05
    assert found["no first"] < 0.4


@pytest.mark.parametrize("name", ["inside", "stranger"])
def test_the_stored_models_are_such_models(names, found, name):
    assert_as_in_all_models(names, stored_model(names, name), found[name])


def test_the_note_of_the_figure_is_true(found):
    found = found["inside"]
    first, second = found["heads"]
    assert first.argmin() == 2
    assert 0.4 < first[2] < 0.6
    assert np.delete(first, 2).min() > 0.94
    assert second.min() > 0.99
    assert set(np.flatnonzero(found["pairs"].ravel() < 0.98)) == {0, 1}
    assert found["taken"][0] > 0.99
    assert found["taken"][2] > found["both"][2] + 0.1


@pytest.mark.parametrize("name", ["inside", "stranger"])
def test_long_texts_go_wrong_in_the_first_layer(names, name):
    model = stored_model(names, name)
    rng = np.random.default_rng(5)
    texts, answers = names["make_texts"](40, 128, rng, (16, 26))
    far = {}
    for second in ("RoPE", "none"):
        frequencies = [PAIRS, PAIRS if second == "RoPE" else STILL]
        looks = names["run"](model, texts, frequencies=frequencies)[1][1]
        far[second] = on_far_answers(np.mean(looks, axis=1), answers)
    assert far["RoPE"] < 0.3 < 0.45 < far["none"]
    assert names["accuracy"](model, 128, (16, 26), sight=(32, 128)) > 0.95
    assert names["accuracy"](model, 128, (16, 26), sight=(128, 32)) < 0.55


def on_far_answers(looks, answers) -> float:
    """Weight of the last 32 positions on answers 32 or more back."""
    found = []
    for weights, answer in zip(looks, answers, strict=True):
        period = (answer < 0).sum()
        for place in range(96, 128):
            where = np.arange(place + 1 - period, -1, -period)
            found.append(weights[place, where[where <= place - 32]].sum())
    return np.mean(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 8))
def test_models_of_other_seeds_are_as_the_text_says(names, seed):
    model = names["Copier"]([PAIRS, PAIRS], seed)
    assert names["train"](model)[-1] > 0.98
    assert_as_in_all_models(names, model, accuracies(names, model))


@pytest.mark.slow
def test_at_base_10_the_second_layer_cannot_spare_its_positions(names):
    pairs = angular_frequencies(16, max_wavelength=10)
    model = names["Copier"]([pairs, pairs], seed=0)
    assert names["train"](model)[-1] > 0.98
    taken = names["accuracy"](model, frequencies=[pairs, STILL])
    assert taken < 0.1


# The exercises.


def rule(text, wrong=""):
    before, last = text[:-1], text[-1]
    if last not in before:
        return -1
    place = before.index(last)
    return {
        "": text[place + 1],
        "itself": last,
        "place": place,
    }[wrong]


def test_exercise_1_takes_the_rule_and_knows_the_slips(measured):
    check = measured["check_1"]
    assert_replies(check, [rule], "Correct.")
    for wrong, hint in [
        ("itself", ("What follows it?", "The answer is at the next one")),
        ("place", ("That is a place.", "The answer is at the next one")),
    ]:
        assert_replies(check, [partial(rule, wrong=wrong)], hint)


def test_exercise_2_takes_both_heads_in_order(measured):
    check = measured["check_2"]
    assert_replies(check, [[2, 0]], "Correct.")
    assert_replies(check, [[0, 2]], "Which one does the model miss more?")
    assert_replies(check, [2, 0], "Give both")
    assert_replies(
        check, [[1, 3]], ("lose without each", "Measure accuracy(stranger")
    )


def turning(*first, second=()):
    """Frequencies of which only these pairs turn."""
    kept = [np.isin(np.arange(8), pairs) for pairs in (first, second)]
    return np.where(kept, PAIRS, 0)


def test_exercise_3_takes_few_pairs_that_are_enough(measured):
    check = measured["check_3"]
    enough = [turning(0, 1), turning(0, 1, second=(5, 6)).tolist()]
    assert_replies(check, enough, "Correct.")
    alone = [turning(0), turning(1), turning(2, 3)]
    assert_replies(check, alone, ("tell 0, 1 and 2", "the two fastest"))
    many = turning(*range(8))
    assert_replies(check, [many], ("Does the second", "slow pairs too"))
    for wrong in (PAIRS, 3 * turning(0, 1), "all"):
        assert_replies(check, [wrong], "shape [2, 8]")
