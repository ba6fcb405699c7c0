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


GRAY = ["000", "001", "011", "010", "110", "111", "101", "100"]
BINARY = [f"{number:03b}" for number in range(8)]
REPLIES = [
    (1, [GRAY, GRAY[::-1], [list(map(int, row)) for row in GRAY]], "Correct."),
    (1, [[row[::-1] for row in GRAY]], "[1, 3, 1, 3, 1]"),
    (1, [BINARY], ("From 1 to 2, how many digits flip?", "edges of a cube")),
    (1, [["000", "001"] * 4], ("comes twice?", "All eight")),
    (
        1,
        [GRAY[:7], [0, 1, 3, 2], 7, ["012"] * 8, ["ab"]],
        "eight texts in quotes",
    ),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_the_exercise_replies_to_what_people_write(
    names, number, answers, reply
):
    assert_replies(names[f"check_{number}"], answers, reply)
