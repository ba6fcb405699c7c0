"""Notebook 13: its model by another route, its exercises, and more seeds."""

import io
import itertools
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to
from two_layers import run_by_numpy

from posenc.stored import load_weights
from posenc_helpers import angular_frequencies, position_encoding, rotate

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
    cells = ["silence", "check-1", "check-2", "check-3"]
    return run_cells(NAME, *cells, **names)


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


def assert_as_the_text_says(names, model):
    """Of all ten models."""
    found = accuracies(names, model)
    first, second = found["heads"]
    assert 0.5 < first.min() < 0.95
    shares = one_back(names, model)
    assert shares[first.argmin()] > max(0.55, shares.max() - 0.05)
    assert second.min() > 0.98
    assert 0.05 < 1 - found["pairs"][0, 0] < 0.35
    assert 0 < 1 - found["pairs"][0, 1] < 0.1
    assert found["pairs"][0, 2:].min() > 0.985
    assert found["pairs"][1].min() > 0.985
    assert found["two pairs"] > 0.98
    assert found["taken"][0] > found["both"][0] - 0.02
    assert found["taken"][2] > found["both"][2] + 0.1
    assert found["no first"] < 0.4


@pytest.mark.parametrize("name", ["inside", "stranger"])
def test_the_stored_models_are_such_models(names, name):
    assert_as_the_text_says(names, stored_model(names, name))


def test_the_note_of_the_figure_is_true(names):
    found = accuracies(names, stored_model(names, "inside"))
    first, second = found["heads"]
    assert first.argmin() == 2
    assert 0.4 < first[2] < 0.6
    assert np.delete(first, 2).min() > 0.94
    assert second.min() > 0.99
    assert set(np.flatnonzero(found["pairs"].ravel() < 0.98)) == {0, 1}
    assert found["taken"][0] > 0.99
    assert found["taken"][2] > found["both"][2] + 0.1


class ShortSight:
    """NumPy for the notebook, with a causal mask that also has a far end.

    `reach` gives how many positions each layer sees, itself included.
    """

    def __init__(self, *reach):
        self.reach = itertools.cycle(reach)

    def __getattr__(self, name):
        return getattr(np, name)

    def tri(self, seq_len, dtype):
        too_far = np.tri(seq_len, k=-next(self.reach), dtype=dtype)
        return np.tri(seq_len, dtype=dtype) & ~too_far


@pytest.mark.parametrize("name", ["inside", "stranger"])
def test_long_texts_go_wrong_in_the_first_layer(names, name, monkeypatch):
    model = stored_model(names, name)
    rng = np.random.default_rng(5)
    texts, answers = names["make_texts"](40, 128, rng, (16, 26))
    share, far = {}, {}
    for second in ("RoPE", "none"):
        frequencies = [PAIRS, PAIRS if second == "RoPE" else STILL]
        first, looks = names["run"](model, texts, frequencies=frequencies)[1]
        back = np.diagonal(first, -1, axis1=2, axis2=3).mean(axis=0)
        share = {"start": back[:, :31].mean(axis=1), "end": back[:, -32:]}
        far[second] = on_far_answers(np.mean(looks, axis=1), answers)
    head = share["start"].argmax()
    assert share["start"][head] > 0.6
    assert share["end"][head].mean() < 0.3 * share["start"][head]
    if name == "inside":
        assert share["start"][head] == pytest.approx(0.72, abs=0.02)
        assert share["end"][head].mean() == pytest.approx(0.18, abs=0.02)
    assert 0.15 < far["RoPE"] < 0.3
    assert far["none"] > 0.45

    seen = names["attend"].__globals__
    monkeypatch.setitem(seen, "np", ShortSight(32, 128))
    assert names["accuracy"](model, 128, (16, 26)) > 0.95
    monkeypatch.setitem(seen, "np", ShortSight(128, 32))
    assert names["accuracy"](model, 128, (16, 26)) < 0.55


def on_far_answers(looks, answers) -> float:
    """Weight of the last 32 positions on answers 32 or more back."""
    found = []
    for weights, answer in zip(looks, answers, strict=True):
        period = (answer < 0).sum()
        for place in range(96, 128):
            where = np.arange(place + 1 - period, -1, -period)
            found.append(weights[place, where[where <= place - 32]].sum())
    return np.mean(found)


def test_pair_0_comes_around_where_the_head_looks_in_long_texts():
    turns = (np.array([39, 57, 101]) - 1) * PAIRS[0] / (2 * np.pi)
    assert np.abs(turns - turns.round()).max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("letters", [26, 52])
@pytest.mark.parametrize("seed", range(5))
def test_ten_models_are_as_the_text_says(letters, seed):
    names = run_up_to(NAME, "train")
    names["LETTERS"] = letters
    model = names["Copier"]([PAIRS, PAIRS], seed)
    curve = names["train"](model)
    assert curve[-1] > 0.98
    assert_as_the_text_says(names, model)


@pytest.mark.slow
def test_more_training_leaves_the_work_to_one_head():
    names = run_up_to(NAME, "train")
    model = names["Copier"]([PAIRS, PAIRS], seed=0)
    names["train"](model, steps=2000)
    found = accuracies(names, model)
    head = found["heads"][0].argmin()
    assert found["heads"][0, head] < 0.2
    assert one_back(names, model)[head] > 0.95
    assert 0.05 < found["taken"][2] - found["both"][2] < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "none", "second"])
def test_other_positions_are_as_the_text_says(kind):
    keras = pytest.importorskip("keras")
    names = run_up_to(NAME, "train")
    second = PAIRS if kind == "second" else STILL
    model = names["Copier"]([STILL, second], seed=0)
    rows = np.zeros((128, 64), "float32")
    if kind == "learned":
        rows = model.matrix(128, spread=0.1)
    elif kind == "sinusoidal":
        rows = np.float32(position_encoding(128, 64) / 2)

    class Lookup:
        """Looks letters up, and adds the positions' rows to them."""

        def __getattr__(self, name):
            return getattr(keras.ops, name)

        def take(self, table, texts, axis):
            found = keras.ops.take(table, texts, axis=axis)
            return found + rows[: texts.shape[1]]

    names["ops"] = Lookup()
    curve = names["train"](model)
    if kind in ("none", "second"):
        assert curve[6] < 0.7
        assert 0.75 < curve[-1] < 0.93
    else:
        assert curve[-1] > 0.99
        assert accuracies(names, model)["heads"].min() > 0.9


# The exercises.


def reply(check, answer) -> str:
    said = io.StringIO()
    with redirect_stdout(said):
        check(answer)
    return said.getvalue()


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
        ("itself", "What follows it?"),
        ("place", "That is a place."),
    ]:
        assert_replies(check, [partial(rule, wrong=wrong)], hint)


def test_exercise_2_takes_both_heads_in_order(names, measured):
    stranger = stored_model(names, "stranger")
    check = run_cells(NAME, "check-2", **measured, stranger=stranger)[
        "check_2"
    ]
    shares = one_back(names, stranger)
    two = set(np.argsort(shares)[2:].tolist())
    said = {
        pair: reply(check, list(pair)) for pair in itertools.permutations(two)
    }
    assert sorted("Correct" in words for words in said.values()) == [0, 1]
    assert any("Which one" in words for words in said.values())
    assert "Give both" in reply(check, two.pop())


def test_exercise_3_takes_the_ratio_of_two_gaps(measured):
    right = (1 - np.cos(1)) / (1 - np.cos(0.1))
    assert_replies(measured["check_3"], [right, 92], "Correct.")
    assert_replies(measured["check_3"], [10], "two cosines")
    assert_replies(measured["check_3"], [1 / right], "other way around")
    assert_replies(measured["check_3"], [100], "Offset 1 scores s")
