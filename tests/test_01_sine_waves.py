"""Notebook 01: its claims on another seed, and its exercises."""

import numpy as np
import pytest
from conftest import assert_replies


def test_blurs_of_another_seed_are_read_alike(names):
    def off(signal, blur):
        return np.abs(names["misses"](names[signal], blur, seed=1))

    def share_off_by_one(signal):
        wrong = off(signal, 0.5)
        return np.mean(wrong[wrong > 0] == 1)

    assert np.mean(off("index", 0.01) == 0) < 0.1
    for hand in ("slow_hand", "fast_hand"):
        assert 0.2 < np.mean(off(hand, 0.01) == 0) < 0.3
    assert np.mean(off("both_hands", 0.01) == 0) == 1
    assert np.mean(off("binary_digits", 0.5) == 0) > 0.75
    assert np.mean(off("clock_hands", 0.5) == 0) < 0.5
    assert share_off_by_one("binary_digits") < 0.2
    assert share_off_by_one("clock_hands") > 0.6


IN_A_LINE = "Both are back at each common multiple"
REPLIES = [
    (1, [313, [313], np.array(313.0)], "Correct."),
    (1, [315], ("What does the fast hand say", "Which is nearest to 315?")),
    (1, [45, 135], ("In which quarter", "Between 270 and 360")),
    (1, [1], "come around many times"),
    (1, [325], "Which one is nearer to 315?"),
    (1, [49], "Fast hand: yes. The slow one?"),
    (1, [-47, 673], ("Both hands fit", "360 positions")),
    (1, [314], ("About where is the slow hand", "At 30 degrees")),
    (2, [12 / 13, 0.923, 12 / 25, -12 / 11, [12 / 37]], "Correct."),
    (2, [12], "That is the same hand"),
    (
        2,
        [-12, 12 / 11],
        ("Which way does your hand turn?", "A whole turn more"),
    ),
    (2, [6, 1, 1 / 12], ("Where should it be?", "A whole turn more")),
    (2, [13 / 12, 25 / 12], ("turns per position", "one over your number")),
    (2, [24], ("Your hand is slower", "A whole turn more")),
    (3, [(35, 32), [31, 33], np.array([36, 29])], "Correct."),
    (3, [(31, 33)], "Your closest two rows are 0.190 apart"),
    (3, [(12, 24)], ("Rows 24 apart are equal", IN_A_LINE)),
    (3, [(39, 28)], ("Rows 196 apart: 0.161", "slower hand")),
    (3, [(20, 39)], ("Rows 780 apart are equal", IN_A_LINE)),
    (3, [(25, 50), 37, (31.5, 33), "31, 33", (1, 2, 3)], "Give a pair"),
    (3, [(..., 33), ...], "Not answered yet"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
