"""What notebook 05 claims of its phrases, and what its figures draw."""

import itertools

import numpy as np
import pytest
from conftest import run_cells

NAME = "05_phrase_demo"
CELLS = (
    *("setup", "phrases", "sizes", "vectorize", "ids", "tokens", "fixed"),
    "practical",
    *("distances", "different-rows", "hunts", "twin-of"),
    *("sums", "nearest", "nearest-rows", "own-phrase", "own-twin"),
    *(f"check-{number}" for number in range(1, 5)),
)


@pytest.fixture(scope="module")
def names():
    return run_cells(NAME, *CELLS)


def test_fixed_rows_are_the_sum_of_two_rows_of_sinusoids(names):
    """What Figure 1 draws, by hand."""
    ids, rows = names["ids"], names["fixed_rows"]
    positions = np.broadcast_to(np.arange(20), ids.shape)
    angles = np.stack([ids, positions])[..., np.newaxis]
    angles = angles / 10_000 ** (np.arange(0, 50, 2) / 50)
    right = np.stack([np.sin(angles), np.cos(angles)], axis=-1).sum(axis=0)
    assert rows == pytest.approx(right.reshape(rows.shape), abs=1e-5)


def test_phrase_of_ones_own_has_its_rows_in_its_twin(names):
    words = names["own_pair"]
    assert " ".join(words[0]) == names["own"]
    assert heap(names["own_ids"]) == heap(names["twin_of"](names["own_ids"]))
    assert words[0] != words[1]


def heap(phrase):
    """What both tables fixed leave of a phrase: pairs without order."""
    return sorted(tuple(sorted(pair)) for pair in enumerate(phrase))


@pytest.mark.parametrize(("length", "words"), [(4, 6), (5, 5)])
def test_two_phrases_are_one_heap_only_if_they_are_twins(names, length, words):
    alike = {}
    for phrase in itertools.product(range(words), repeat=length):
        alike.setdefault(tuple(heap(phrase)), set()).add(phrase)
    assert {len(phrases) for phrases in alike.values()} == {1, 2}
    for phrases in alike.values():
        for phrase in phrases:
            twin = tuple(names["twin_of"](np.array(phrase)).tolist())
            assert {phrase, twin} == phrases


def test_phrase_of_two_rings_is_one_heap_with_its_twin(names):
    phrase = np.array([1, 2, 0, 4, 5, 3, 9])
    twin = names["twin_of"](phrase)
    assert twin.tolist() == [2, 0, 1, 5, 3, 4, 9]
    assert heap(phrase) == heap(twin)


def test_foxes_and_hens_are_the_same_rows_only_if_words_are_fixed(names):
    def sorted_rows(layer):
        return [
            rows[np.lexsort(rows.round(4).T)]
            for rows in layer(names["hunt_ids"]).numpy()
        ]

    first, second = sorted_rows(names["fixed"])
    assert first == pytest.approx(second, abs=1e-5)
    first, second = sorted_rows(names["practical"])
    assert np.abs(first - second).max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_attention_and_mean_miss_it_whatever_the_weights(names, seed):
    run = run_cells(NAME, "orders", "look", **names)
    look, rng = run["look"], np.random.default_rng(seed)
    look.set_weights([rng.normal(size=w.shape) for w in look.get_weights()])
    assert not run["tells_apart"](names["fixed"](names["hunt_ids"]))
    assert run["tells_apart"](names["practical"](names["hunt_ids"]))
    assert run["tells_apart"](names["practical"](run["order_ids"]))


def test_relu_before_the_mean_tells_the_orders_apart(names):
    run = run_cells(NAME, "orders", **names)
    rows = names["practical"](run["order_ids"]).numpy()
    first, second = rows.mean(axis=1)
    assert np.abs(first - second).max() < 1e-6
    first, second = np.maximum(rows, 0).mean(axis=1)
    assert np.abs(first - second).max() > 1e-3


def test_neighbors_tell_the_twins_apart_that_attention_does_not(names):
    first, second = names["fixed"](names["hunt_ids"]).numpy()
    pairs = [rows[:-1] * rows[1:] for rows in (first, second)]
    assert np.abs(np.subtract(*(p.mean(0) for p in pairs))).max() > 0.1


def test_every_double_is_a_word_and_a_position_that_trade_places(names):
    pairs = {(min(w, p), max(w, p)) for w in range(38) for p in range(20)}
    assert names["different_rows"](names["fixed"], 38) == len(pairs) == 570
    assert names["different_rows"](names["practical"], 38) == 38 * 20


def test_nearest_is_the_row_at_the_smallest_distance(names):
    rng = np.random.default_rng(5)
    sums, rows = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    apart = [[((s - row) ** 2).sum() for row in rows] for s in sums]
    assert (
        names["nearest"](sums, rows).tolist() == np.argmin(apart, 1).tolist()
    )


@pytest.mark.parametrize("seed", range(1, 6))
def test_words_are_the_easier_ones_on_other_seeds(names, seed):
    rng = np.random.default_rng(seed)
    for width in (8, 16, 32, 128):
        words = rng.normal(size=(100, width))
        words *= np.sqrt(width / 2 / (words**2).sum(axis=1))[:, np.newaxis]
        table = names["random_sums"](width)[1]
        word, position = rng.integers(100, size=(2, 1000))
        sums = words[word] + table[position]
        of_words = np.mean(names["nearest"](sums, words) == word)
        of_places = np.mean(names["nearest"](sums, table) == position)
        assert of_words > of_places + 0.1
        assert names["nearest_pair"](words) > names["nearest_pair"](table)


def guess_position(step):
    """Exercise 4, right or with a slip."""

    def answer(one_sum, words, table):
        word = ((words - one_sum) ** 2).sum(axis=1).argmin()
        if step == "word":
            return word
        rest = one_sum if step == "word still in it" else one_sum - words[word]
        return ((table - rest) ** 2).sum(axis=1).argmin()

    return answer


@pytest.mark.parametrize(
    ("number", "answer", "reply"),
    [
        (1, 16, "Correct."),
        (1, np.array([16.0]), "Correct."),
        (1, 22.6, "Count the pairs, not the columns."),
        (1, 256, "square of the norm"),
        (2, ("a", 3), "Correct."),
        (2, ["A", np.int64(3)], "Correct."),
        (2, (7, 3), "7 is the id"),
        (2, ("to", 7), "the row itself"),
        (2, (..., ...), "Not answered yet"),
        (3, 29_565, "Correct."),
        (3, 435, "How many different ones remain?"),
        (3, 29_535, "equal numbers has no double"),
        (4, guess_position("right"), "Correct."),
        (4, guess_position("word"), "That is the word"),
        (4, guess_position("word still in it"), "The word is still in it"),
        (4, lambda one_sum: 3, "TypeError"),
    ],
)
def test_exercise_is_answered_with_a_fitting_hint(
    names, capsys, number, answer, reply
):
    names[f"check_{number}"](answer)
    assert reply in capsys.readouterr().out
