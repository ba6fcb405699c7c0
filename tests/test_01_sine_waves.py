"""Notebook 01: the picture that the README shows of it, and its exercises."""

import numpy as np
import pytest
from conftest import ROOT, assert_replies, cells_of
from PIL import Image

from tests import compare_figures


def test_the_readme_shows_the_figure_of_the_notebook():
    cells = {cell.id: cell for cell in cells_of("01_sine_waves")}
    (output,) = cells["figure-bits-and-hands"].outputs
    shown = Image.open(ROOT / ".github/binary-and-waves.png").convert("RGB")
    drawn = compare_figures.picture(output)
    assert compare_figures.difference(drawn, shown) == ""


@pytest.mark.slow
@pytest.mark.parametrize("wavelength", [2.3, 7.3, 12, 100, 1000, 6283])
def test_no_single_hand_is_read_more_often(names, wavelength):
    hands = names["clock_hands"]
    off = names["misses"](lambda seq_len: hands(seq_len, [wavelength]), 0.01)
    assert np.mean(off == 0) < 0.3


IN_A_LINE = "Both are back at each common multiple"
REPLIES = [
    (1, [313, [313], np.array(313.0)], "Correct."),
    (1, [315], ("What does the fast hand say", "Which is nearest to 315?")),
    (1, [45, 135], ("In which quarter", "Below: 270 to 360")),
    (1, [1], "come around many times"),
    (1, [325], "Is a nearer position possible?"),
    (1, [49], "Where is the slow one?"),
    (1, [314], ("About where is the slow hand", "At 30 degrees")),
    (2, [12 / 13, 0.923, 12 / 25, -12 / 11, [12 / 37]], "Correct."),
    (2, [12], "That is the same hand"),
    (2, [-12, 12 / 11], ("Which way does your hand turn?", "13/12 turns")),
    (2, [24, 6, 1], ("Where should it be?", "let it turn once more")),
    (3, [(37, 28), [31, 33], np.array([40, 27])], "Correct."),
    (3, [(31, 33)], "Your closest two rows are 0.190 apart"),
    (3, [(12, 24)], ("Rows 24 apart are equal", IN_A_LINE)),
    (3, [(20, 39)], ("Rows 780 apart are equal", IN_A_LINE)),
    (3, [(25, 50), 37, (31.5, 33), "31, 33", (1, 2, 3)], "Give a pair"),
    (3, [(..., 33), ...], "Not answered yet"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answers, reply):
    assert_replies(names[f"check_{number}"], answers, reply)
