"""Notebook 01: what it claims of clock hands, and its exercises."""

import math

import numpy as np
import pytest
from conftest import ROOT, assert_replies, cells_of
from PIL import Image

from tests import compare_figures

CLEAR = ["binary_digits", "fast_hand", "clock_hands"]
NOT_CLEAR = ["index", "index_over_length", "index_over_100000", "slow_hand"]


@pytest.mark.parametrize("share", [0.005, 0.05, 0.2])
def test_the_tenth_of_clear_steps_is_not_critical(names, share):
    assert all(names["step_size"](names[x]) >= share for x in CLEAR)
    assert all(names["step_size"](names[x]) < share for x in NOT_CLEAR)


def test_a_fast_hand_is_back_at_position_64(names):
    tips = names["transformer_hands"](2)(100)
    near = np.linalg.norm(tips - tips[20], axis=1) < 0.1
    assert np.flatnonzero(near).tolist() == [20, 64]


def test_the_readme_shows_the_figure_of_the_notebook():
    cells = {cell.id: cell for cell in cells_of("01_sine_waves")}
    (output,) = cells["figure-bits-and-hands"].outputs
    shown = Image.open(ROOT / ".github/binary-and-waves.png").convert("RGB")
    assert (
        compare_figures.difference(compare_figures.picture(output), shown)
        == ""
    )


def chord(offset, angular_frequency):
    angle = offset * angular_frequency % (2 * math.pi)
    return 2 * math.sin(min(angle, 2 * math.pi - angle) / 2)


def only_to_half_a_turn(offset, angular_frequency):
    if offset * angular_frequency <= math.pi:
        return chord(offset, angular_frequency)


REPLIES = [
    (1, [628.3185, 628, [628.3], 200 * np.pi], "Correct."),
    (1, [np.array(0.0016)], "That is the frequency"),
    (1, [62.8, 6283], "Count the zeros"),
    (1, [0.0628], "Hint: Each position adds 0.01"),
    (1, [314], "half a turn"),
    (2, [chord], "Correct."),
    (2, [lambda k, w: [np.sqrt(2 - 2 * np.cos(k * w))]], "Correct."),
    (2, [lambda k, w: 2 * math.sin(k * w / 2)], "never negative"),
    (2, [only_to_half_a_turn], "nothing was returned"),
    (2, [lambda k, w: 2 * np.sin(min(k * w, 3) / 2)], "but not for (4, 1.0)"),
    (2, [lambda k, w: 2 * math.sin(k * w % math.pi / 2)], "2π, not π"),
    (2, [lambda k, w: math.sin(k * w)], "height of the tip"),
    (2, [lambda k, w: abs(math.sin(k * w))], "how high or low"),
    (3, [(40, 1000), [1000, 36], np.array([40.0, 1500])], "Correct."),
    (3, [(12, 1500)], "Rows 12 apart are closer (0.0355) than neighbors"),
    (3, [(37, 40)], "Rows 999 apart are closer (0.11"),
    (3, [(40, 80)], "Rows 80 apart are closer (0.0000)"),
    (3, [(60, 6000)], "The steps are not clear: 0.074 of a row"),
    (3, [(..., 1000), ...], "Not answered yet"),
    (3, [36, (36, 1000, 5), "36, 1000", ("a", 5), (0, 100)], "Give a pair"),
    (3, [(36, 1300)], "closer (0.1229) than neighbors (0.1233)"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
