"""What notebook 05 claims of its phrases, beyond those it prints."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import assert_replies, run_up_to

NAME = "05_phrase_demo"


@pytest.fixture(scope="module")
def names():
    with plt.rc_context():
        return run_up_to(NAME, "nav-end")


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


@pytest.mark.parametrize("seed", range(3))
def test_attention_and_mean_miss_it_whatever_the_weights(names, seed):
    look, rng = names["look"], np.random.default_rng(seed)
    look.set_weights([rng.normal(size=w.shape) for w in look.get_weights()])
    assert not names["tells_apart"](names["fixed"](names["hunt_ids"]))
    assert names["tells_apart"](names["practical"](names["hunt_ids"]))
    assert names["tells_apart"](names["practical"](names["order_ids"]))


def test_relu_before_the_mean_tells_the_orders_apart(names):
    rows = names["practical"](names["order_ids"]).numpy()
    first, second = rows.mean(axis=1)
    assert np.abs(first - second).max() < 1e-6
    first, second = np.maximum(rows, 0).mean(axis=1)
    assert np.abs(first - second).max() > 1e-3


def test_nearest_is_the_row_at_the_smallest_distance(names):
    rng = np.random.default_rng(5)  # rows of all lengths
    sums, rows = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    apart = np.linalg.norm(sums[:, np.newaxis] - rows, axis=2)
    assert np.array_equal(names["nearest"](sums, rows), apart.argmin(axis=1))


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


REPLIES = [
    (1, [16, np.array([16.0])], "Correct."),
    (1, [22.6], "Count the pairs, not the columns."),
    (1, [256], "square of the norm"),
    (2, [("a", 3), ["A", np.int64(3)]], "Correct."),
    (2, [(7, 3)], "7 is the id"),
    (2, [("to", 7)], "the row itself"),
    (3, [29_565], "Correct."),
    (3, [435], "How many different ones remain?"),
    (3, [29_535], "equal numbers has no double"),
    (4, [guess_position("right")], "Correct."),
    (4, [guess_position("word")], "That is the word"),
    (4, [guess_position("word still in it")], "The word is still in it"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
