"""Notebook 01: its table of wishes, the README's picture, exercises."""

import io
import math
from base64 import b64decode

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ROOT, assert_replies, cells_of, run_up_to
from PIL import Image

NAME = "01_sine_waves"


@pytest.fixture(scope="module")
def built() -> dict:
    with plt.rc_context():
        return run_up_to(NAME, "nav-end")


def wishes_by_hand(signal) -> list[bool]:
    """The five, from all distances between any two of 1000 rows."""
    rows = signal(1000)
    squares = (rows**2).sum(axis=1)
    square = squares[:, None] + squares - 2 * rows @ rows.T
    apart = np.sqrt(np.clip(square, 0, None))
    others = apart[np.triu_indices(1000, 1)]
    neighbors = np.diagonal(apart, 1)
    spread = [np.ptp(np.diagonal(apart, k)) for k in range(1, 1000)]
    return [
        bool(rows.min() >= -1 and rows.max() <= 1),
        bool(others.min() > 1e-4),
        bool(np.abs(signal(5) - rows[:5]).max() < 1e-9),
        bool(neighbors.max() < others.min() + 1e-4),
        bool(max(spread) < 1e-4),
    ]


SIGNALS = ["index", "index_over_length", "binary_digits", "one_wave"]
SIGNALS += ["clock_hands", "fast_hands"]


@pytest.mark.parametrize("name", SIGNALS)
def test_the_table_of_wishes_is_right(built, name):
    found = built["properties"](built[name])
    assert list(found.values()) == wishes_by_hand(built[name])


def test_the_readme_shows_the_figure_of_the_notebook():
    cells = {cell.id: cell for cell in cells_of(NAME)}
    (output,) = cells["figure-bits-and-hands"].outputs
    figure = io.BytesIO(b64decode(output.data["image/png"]))
    picture = ROOT / ".github" / "binary-and-waves.png"
    boxes = [
        np.asarray(Image.open(file).convert("RGB").reduce(8), float)
        for file in (figure, picture)
    ]
    assert boxes[0].shape == boxes[1].shape
    assert np.abs(boxes[0] - boxes[1]).max() < 40  # of 255


def test_draws_that_the_notebook_has_not_seen_notice_the_swap_too(built):
    draws = [built["swap_and_replace"](seed) for seed in range(1000, 2000)]
    swap, replaced = np.transpose(draws)
    assert swap.min() > 0
    assert np.median(swap) < np.median(replaced)


def chord(offset, angular_frequency):
    angle = offset * angular_frequency % (2 * math.pi)
    return 2 * math.sin(min(angle, 2 * math.pi - angle) / 2)


def only_to_half_a_turn(offset, angular_frequency):
    if offset * angular_frequency <= math.pi:
        return chord(offset, angular_frequency)


REPLIES = [
    (1, [628.3185, 628, [628.3], 200 * np.pi], "Correct."),
    (1, [np.array(0.0016)], "That is the frequency"),
    (1, [0.0628], "Hint: Each position adds 0.01"),
    (1, [314], "half a turn"),
    (2, [chord], "Correct."),
    (2, [lambda k, w: [np.sqrt(2 - 2 * np.cos(k * w))]], "Correct."),
    (2, [lambda k, w: 2 * math.sin(k * w / 2)], "never negative"),
    (2, [only_to_half_a_turn], "`return` missing?"),
    (3, [(1, 60), np.array([1.0, 60.0])], "Correct."),
    (3, [(1, 120)], "is it a new order"),
    (4, [(37, 40), np.array([39, 32]), (39.0, 40)], "Correct."),
    (4, [(41, 40)], "Neither may be above 40"),
    (4, [(25, 40)], "Hint: After how many positions"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(built, number, answers, reply):
    assert_replies(built[f"check_{number}"], answers, reply)
