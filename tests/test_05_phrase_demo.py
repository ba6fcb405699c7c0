"""What notebook 05 claims of its phrases and tables, beyond what it prints."""

import numpy as np
import pytest
from conftest import assert_replies


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


@pytest.mark.slow
def test_a_table_of_another_seed_has_found_the_neighbors(names):
    import store_models  # and with it TensorFlow

    _, (words, places) = store_models.train_on_prose(seed=1)
    similar = names["cosine"](places[:, np.newaxis], places)
    assert np.median(np.diag(similar, 1)) > 0.85
    assert similar.min() < -0.8
    share = np.linalg.svd(places - places.mean(axis=0))[1] ** 2
    assert share[:2].sum() > 0.8 * share.sum()  # a circle, more or less
    assert share[1] > 0.7 * share[0]
    few = (words[:, np.newaxis] + places).reshape(-1, 50)[:, :8]
    assert np.all(names["nearest"](few, few) == np.arange(len(few)))


def guess_position(step):
    """Exercise 3, right or with a slip."""

    def answer(one_sum, words, places):
        word = ((words - one_sum) ** 2).sum(axis=1).argmin()
        if step == "word":
            return word
        if step == "position of the word":
            return ((places - words[word]) ** 2).sum(axis=1).argmin()
        rest = one_sum - (word if step == "number" else words[word])
        if step == "word still in it":
            rest = one_sum
        position = ((places - rest) ** 2).sum(axis=1).argmin()
        return (word, position) if step == "both" else position

    return answer


REPLIES = [
    (1, [["give me death", "me give death"]], "Correct."),
    (1, [["give me a"] * 2], ("Two different", "Change one")),
    (1, [["give me " * 11, "me give " * 11]], ("How long", "3 to 20 words")),
    (1, [["give me the cat", "me give the cat"], ["a", "of"]], "How long"),
    (1, [["give me a", "you me to"]], ("the means add up?", "a mean?")),
    (1, [["give me"], "give me", 3], ("a list of two", "in quotes")),
    (2, [105, 105.0], "Correct."),
    (2, [196], ("row 5, column 3", "a sum of their own")),
    (2, [91], ("how many are lost", "a sum of their own")),
    (2, [50], ("Draw 3 rows", "Six of nine")),
    (3, [guess_position("right")], "Correct."),
    (3, [guess_position("word")], ("or the word?", "Subtract the vector")),
    (3, [guess_position("both")], "one number for each"),
    (3, [guess_position("word still in it")], ("What else is", "Subtract")),
    (3, [guess_position("number")], ("or its vector?", "words[number]")),
    (3, [guess_position("position of the word")], ("remains", "Subtract")),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
