"""What notebook 05 claims of its phrases and sums, beyond what it prints."""

import numpy as np
import pytest
from conftest import assert_replies


def test_words_and_positions_collide_below_the_length_only(names):
    """Word 25 at position 3 has no partner: no position has number 25."""
    sums = names["fixed"](np.tile(np.arange(200)[:, np.newaxis], 20)).numpy()
    for word, position in ((3, 7), (0, 19), (19, 18)):
        assert np.array_equal(sums[word, position], sums[position, word])
    assert len(np.unique(sums.reshape(-1, 50), axis=0)) == 200 * 20 - 190


@pytest.mark.parametrize("seed", range(1, 6))
def test_pairs_come_back_where_single_guesses_fail(names, seed):
    pair_share = names["pair_share"]
    assert pair_share(8, seed=seed) == 1
    assert pair_share(8, noise=0.1, seed=seed) >= 0.995
    assert pair_share(8, noise=0.1, shrink=1 / 25, seed=seed) < 0.15
    assert 0.6 < pair_share(64, noise=0.1, shrink=1 / 25, seed=seed) < 0.8
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
        return ((table - rest) ** 2).sum(axis=1).argmin()

    return answer


REPLIES = [
    (1, [("a", 3), ["A", np.int64(3)]], "Correct."),
    (1, [(7, 3)], "7 is the id"),
    (1, [("to", 7)], "the pair itself"),
    (2, [435], "How many different ones remain?"),
    (2, [29_535], "Two equal numbers"),
    (3, [guess_position("right")], "Correct."),
    (3, [guess_position("word")], "That is the word"),
    (3, [guess_position("word still in it")], "The word is still in it"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
