"""What notebook 05 claims of its phrases and sums, beyond what it prints."""

import keras
import numpy as np
import pytest
from conftest import assert_replies

from posenc.layers import PositionEmbeddingFixedWeights


def test_words_and_positions_collide_below_the_length_only(names):
    """Word 25 at position 3 has no partner: no position has number 25."""
    sums = names["fixed"](np.tile(np.arange(200)[:, np.newaxis], 20)).numpy()
    for word, position in ((3, 7), (0, 19), (19, 18)):
        assert np.array_equal(sums[word, position], sums[position, word])
    assert len(np.unique(sums.reshape(-1, 50), axis=0)) == 200 * 20 - 190


def orders_of(moved, length=20):
    """Two phrases of ids: words and positions of `moved` form a ring."""
    first = np.arange(40, 40 + length)  # ids that no position has
    second = first.copy()
    first[list(moved)] = [*moved[1:], moved[0]]
    second[list(moved)] = [moved[-1], *moved[:-1]]
    return np.array([first, second])


@pytest.mark.parametrize("width", [6, 51, 512])
@pytest.mark.parametrize("moved", [(5, 6, 8), (2, 5, 8), (0, 19, 7, 3)])
def test_words_that_change_places_leave_the_same_set_of_rows(width, moved):
    ids = orders_of(moved)
    assert sorted(ids[0]) == sorted(ids[1])
    for learned_words, same in ((False, 20), (True, 20 - len(moved))):
        layer = PositionEmbeddingFixedWeights(
            20, 200, width, learned_words=learned_words
        )
        first, second = (set(map(bytes, rows)) for rows in layer(ids).numpy())
        assert len(first & second) == same


def test_two_words_are_not_enough(names):
    """Of all words and positions below 20, exchanged two by two."""
    every = np.tile(np.arange(20)[:, np.newaxis], 20)
    sums = names["fixed"](every).numpy().reshape(400, 50)
    row = np.unique(sums, axis=0, return_inverse=True)[1].reshape(20, 20)
    a, b, p, q = np.ix_(*[np.arange(20)] * 4)
    before = np.sort(np.broadcast_arrays(row[a, p], row[b, q]), axis=0)
    after = np.sort(np.broadcast_arrays(row[b, p], row[a, q]), axis=0)
    same = (before == after).all(axis=0) & (a != b) & (p != q)
    assert not same.any()


@pytest.mark.parametrize("seed", range(1, 6))
def test_attention_loses_the_order_of_the_published_rows(names, seed):
    keras.utils.set_random_seed(seed)
    attention = keras.layers.MultiHeadAttention(num_heads=4, key_dim=12)
    apart = {}
    for learned_words in (False, True):
        layer = PositionEmbeddingFixedWeights(
            20, 200, 50, learned_words=learned_words
        )
        rows = layer(names["order_ids"])
        for causal in (False, True):
            out = attention(rows, rows, use_causal_mask=causal).numpy()
            first, second = out.mean(axis=1)
            apart[learned_words, causal] = np.abs(first - second).max()
    assert apart.pop((False, False)) < 2e-6
    assert min(apart.values()) > 1e-4


@pytest.mark.parametrize(
    "seed",
    [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3, 4, 5))],
)
def test_pairs_come_back_where_single_guesses_fail(names, seed):
    pair_share = names["pair_share"]
    assert pair_share(8, seed=seed) == 1
    assert pair_share(8, noise=0.1, seed=seed) >= 0.995
    assert pair_share(8, noise=0.1, shrink=1 / 25, seed=seed) < 0.15
    assert 0.6 < pair_share(64, noise=0.1, shrink=1 / 25, seed=seed) < 0.8
    assert pair_share(256, noise=0.1, shrink=1 / 25, seed=seed) > 0.995
    for width in (8, 16, 32, 128):
        words, table, word, place, sums = names["random_sums"](
            width, seed=seed
        )
        of_words = np.mean(names["nearest"](sums, words) == word)
        of_places = np.mean(names["nearest"](sums, table) == place)
        assert of_places < min(0.9, of_words - 0.1)


def guess_position(step):
    """Exercise 3, right or with a slip."""

    def answer(one_sum, words, table):
        word = ((words - one_sum) ** 2).sum(axis=1).argmin()
        if step == "word":
            return word
        rest = one_sum if step == "word still in it" else one_sum - words[word]
        position = ((table - rest) ** 2).sum(axis=1).argmin()
        return (word, position) if step == "both" else position

    return answer


REPLIES = [
    (1, [("a", 3), ["A", np.int64(3)], (" a", 3.0), "a 3"], "Correct."),
    (1, [3, "a"], "Give a pair"),
    (1, [("a", 7)], "At which position"),
    (1, [("you", 3)], "Which word"),
    (1, [("you", 7)], "Swap the roles"),
    (1, [(7, 3)], "7 is the id"),
    (1, [("to", 7)], "the pair itself"),
    (2, [435], "That is how many are lost"),
    (2, [870], "loses one sum"),
    (2, [29_535], "Two equal numbers"),
    (3, [guess_position("right")], "Correct."),
    (3, [guess_position("word")], "That is the word"),
    (3, [guess_position("both")], "Return the position alone"),
    (3, [lambda one_sum, words, table: one_sum], "not a vector"),
    (3, [guess_position("word still in it")], "The word is still in it"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
