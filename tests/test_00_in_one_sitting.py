"""Notebook 00: its experiment and its exercise."""

import numpy as np
import pytest
from conftest import assert_replies


def test_the_experiment_comes_out_so_on_seeds_that_are_not_printed(names):
    def mean_share(positions):
        seeds = range(1000, 1004)
        return np.mean([names["right_answers"](s, positions) for s in seeds])

    steps = np.repeat(np.arange(5)[:, np.newaxis], 32, axis=1)
    assert mean_share(names["position_encoding"](5, 32)) > 0.99
    assert mean_share(steps / 5) > 0.98
    assert mean_share(steps / 100) < 0.7
    assert mean_share(names["position_encoding"](5, 32) / 20) < 0.7


REPLIES = [
    (1, [[0.3, 0.03, 0.003], [1, 1 / 6, 1 / 36, 1 / 216]], "Do fewer"),
    (1, [(0.15, 0.00375), np.array([0.15, 0.00375])], "One would not do"),
    (1, [[1, 0.1, 0.01, 0.001]], ("0 and 63 only 0.645", "[0.17, 0.02, 0.63")),
    (1, [[1], [1, 0.1], [1, 0.5, 0.25, 0.125]], "lack neighbors closest"),
    (1, [[0.006]], ("lack clear steps", "the longest vector is 0.100")),
    (1, [[], 1, "1, 0.1", [1] * 5, [np.nan], [[1, 0.1]]], "one to four"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_the_exercise_replies_to_what_people_write(
    names, number, answers, reply
):
    assert_replies(names[f"check_{number}"], answers, reply)
