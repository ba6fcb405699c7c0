"""Notebook 01: its five wishes and who fulfills them; exercises."""

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
        bool(np.abs(signal(5) - rows[:5]).max() < 1e-9),
        bool(10 * neighbors.min() >= np.sqrt(squares.max())),
        bool(neighbors.max() < others.min() + 1e-4),
        bool(max(spread) < 1e-4),
    ]


LACKS = {
    "index": {"bounded", "distinct"},
    "index_over_length": {"any length", "distinct"},
    "index_over_100000": {"distinct"},
    "binary_digits": {"smooth", "comparable"},
    "one_wave": {"smooth", "comparable"},
    "fast_hand": {"smooth"},
    "slow_hand": {"distinct"},
    "clock_hands": set(),
}


@pytest.mark.parametrize("name", LACKS)
def test_only_many_hands_fulfill_all_wishes(built, name):
    found = built["properties"](built[name])
    assert {wish for wish, there in found.items() if not there} == LACKS[name]
    assert list(found.values()) == wishes_by_hand(built[name])


@pytest.mark.parametrize("share", [0.005, 0.05, 0.2])
def test_the_tenth_is_not_critical(built, share):
    """Of the wish "distinct": other shares give the same table."""
    for name, lacks in LACKS.items():
        is_distinct = built["step_size"](built[name]) >= share
        if name != "one_wave":  # 0.134, not in the table of section 4
            assert is_distinct == ("distinct" not in lacks), name


def distances(hands: np.ndarray, seq_len: int) -> np.ndarray:
    """Of two rows of clock hands, by offset from 1 on, over their length."""
    turns = np.outer(np.arange(1, seq_len), hands)
    return np.sqrt(np.mean(4 * np.sin(turns / 2) ** 2, axis=1))


def test_no_single_hand_fulfills_all_wishes():
    for frequency in np.geomspace(1e-4, np.pi, 5000):
        found = distances([frequency], 1000)
        assert found[0] < 0.1 or found.min() < found[0] - 1e-9


def test_a_fast_hand_is_back_at_position_64(built):
    """Of the 100 positions of Figure 6, seen from position 20."""
    tips = built["transformer_hands"](2)(100)
    near = np.linalg.norm(tips - tips[20], axis=1) < 0.1
    assert np.flatnonzero(near).tolist() == [20, 64]


@pytest.mark.parametrize("n", [10_000, 100_000, 500_000])
@pytest.mark.parametrize("seq_len", [10, 50, 500, 2000])
def test_from_which_width_on_the_encoding_is_smooth(n, seq_len):
    """From 12 on for the paper's n, as the notebook says, else a bit later.

    The factor between wavelengths is then below 2 pi.
    """
    for width in [*range(2, 34, 2), 48, 64, 128, 512]:
        found = distances(n ** (-np.arange(0, width, 2) / width), seq_len)
        assert found[0] >= 0.19  # distinct, at each width
        is_smooth = found.min() >= found[0] - 1e-9
        assert is_smooth == (n ** (2 / width) < 2 * math.pi)


@pytest.mark.parametrize("width", [2, 4, 6, 8, 10])
def test_in_narrow_encodings_positions_0_and_6_are_more_alike(width):
    found = distances(10_000 ** (-np.arange(0, width, 2) / width), 10)
    assert found[5] < found[0]


def test_two_hands_reach_a_thousand_positions_and_three_reach_further():
    assert is_good((36, 1000), 1000)
    assert is_good((30, 800, 20_000), 10_000)
    assert not any(
        is_good((fast, slow), 3000)
        for fast in range(2, 64)
        for slow in range(fast, 4000, 7)
    )


def is_good(wavelengths, seq_len: int) -> bool:
    hands = 2 * np.pi / np.array(wavelengths)
    if distances(hands, 2)[0] < 0.1:
        return False
    found = distances(hands, seq_len)
    return found.min() >= found[0] - 1e-9


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
    (
        3,
        [(36, 1000), (1000, 36), [40.0, 1500], np.array([36, 1000])],
        "Correct.",
    ),
    (3, [(12, 1500), (37, 40)], "Hint: Not smooth"),
    (3, [(60, 6000)], "Hint: Not distinct"),
    (3, [(40, 80)], "back at once"),
    (3, [36, (36, 1000, 5), "36, 1000"], "Give a pair"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(built, number, answers, reply):
    assert_replies(built[f"check_{number}"], answers, reply)
