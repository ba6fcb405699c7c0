"""Notebook 01: its table of wishes, its pictures, attention, exercises."""

import io
import math
from base64 import b64decode
from itertools import permutations

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from conftest import ROOT, assert_replies, run_up_to
from PIL import Image

NAME = "01_sine_waves"


@pytest.fixture(scope="module")
def built() -> dict:
    with plt.rc_context():
        return run_up_to(NAME, "nav-end")


@pytest.mark.parametrize("angle", [0.3, 2.0, 4.5])
def test_a_clock_shows_the_sine_upright_and_the_cosine_flat(built, angle):
    figure, ax = plt.subplots()
    built["plot_clock"](angle, ax)
    x, y = math.cos(angle), math.sin(angle)
    lines = {line.get_label(): line for line in ax.lines}
    assert np.allclose(lines["sine"].get_xydata(), [[x, 0], [x, y]])
    assert np.allclose(lines["cosine"].get_xydata(), [[0, 0], [x, 0]])
    (hand,) = ax.texts
    assert np.allclose(hand.xy, (x, y))
    plt.close(figure)


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
    path = ROOT / "notebooks" / f"{NAME}.ipynb"
    cells = {c.id: c for c in nbformat.read(path, as_version=4).cells}
    (output,) = cells["figure-bits-and-hands"].outputs
    figure = io.BytesIO(b64decode(output.data["image/png"]))
    picture = ROOT / ".github" / "binary-and-waves.png"
    boxes = [
        np.asarray(Image.open(file).convert("RGB").reduce(8), float)
        for file in (figure, picture)
    ]
    assert boxes[0].shape == boxes[1].shape
    assert np.abs(boxes[0] - boxes[1]).max() < 40  # of 255


def attention_by_sums(rows, w_query, w_key, w_value) -> np.ndarray:
    outputs = []
    for row in rows:
        scores = [row @ w_query @ (other @ w_key) for other in rows]
        raised = [math.exp(score / 6**0.5) for score in scores]
        weights = [value / sum(raised) for value in raised]
        parts = [w * (o @ w_value) for w, o in zip(weights, rows, strict=True)]
        outputs.append(sum(parts))
    return np.array(outputs)


def test_with_the_signal_the_order_of_the_words_is_noticed(built):
    matrices = [built[name] for name in ("w_query", "w_key", "w_value")]
    turns = 2 * np.pi * np.arange(5)[:, None] / [12, 12, 24, 24, 48, 48]
    signal = np.where([1, 0, 1, 0, 1, 0], np.sin(turns), np.cos(turns))
    rows = []
    for sentence in ["the dog chased the cat", "the cat chased the dog"]:
        vectors = [built["word_vectors"][word] for word in sentence.split()]
        rows.append(attention_by_sums(vectors + signal, *matrices))
    first, swapped = rows
    pooled = first.mean(axis=0), swapped.mean(axis=0)
    assert round(math.dist(*pooled), 3) == 0.7
    assert round(math.dist(first[1], swapped[4]), 3) == 1.86
    assert round(math.dist(first[0], first[3]), 3) == 1.037


def test_draws_that_the_notebook_has_not_seen_notice_the_swap_too(built):
    draws = [built["swap_and_replace"](seed) for seed in range(1000, 2000)]
    swap, replaced = np.transpose(draws)
    assert swap.min() > 0
    assert np.median(swap) < np.median(replaced)


def test_there_are_sixty_orders_and_any_two_differ(built):
    orders = set(permutations(built["words"]))
    vectors = [built["attend"](order).mean(axis=0) for order in orders]
    gaps = [math.dist(a, b) for a in vectors for b in vectors if a is not b]
    assert len(orders) == 60
    assert min(gaps) > 1e-3


def chord(offset, angular_frequency):
    angle = offset * angular_frequency % (2 * math.pi)
    return 2 * math.sin(min(angle, 2 * math.pi - angle) / 2)


def only_to_half_a_turn(offset, angular_frequency):
    if offset * angular_frequency <= math.pi:
        return chord(offset, angular_frequency)


RIGHT = {
    1: [628.3185, 628, [628.3], 200 * np.pi],
    2: [chord, lambda k, w: np.array([np.sqrt(2 - 2 * np.cos(k * w))])],
    3: [(1, 60), np.array([1.0, 60.0])],
    4: [(37, 40), np.array([39, 32]), (39.0, 40), (31, 33)],
}
WRONG = [
    (1, np.array(0.0016), "That is the frequency"),
    (1, 0.0628, "Hint: Each position adds 0.01"),
    (1, 314, "half a turn"),
    (2, lambda k, w: 2 * math.sin(k * w / 2), "never negative"),
    (2, only_to_half_a_turn, "`return` missing?"),
    (2, lambda k, w: [2 * math.sin(k * w / 2), 1], "Hint: Which angle"),
    (3, (1, 120), "is it a new order"),
    (3, ("1", "60"), "Hint: In how many orders"),
    (4, (41, 40), "Neither may be above 40"),
    (4, [[39, 40]], "Hint: After how many positions"),
    (4, (25, 40), "Hint: After how many positions"),
]


@pytest.mark.parametrize("number", RIGHT)
def test_right_answers_in_any_form_are_taken(built, number):
    assert_replies(built[f"check_{number}"], RIGHT[number], "Correct.\n")


@pytest.mark.parametrize(("number", "answer", "reply"), WRONG)
def test_a_likely_error_gets_the_reply_that_fits(
    built, capsys, number, answer, reply
):
    built[f"check_{number}"](answer)
    assert reply in capsys.readouterr().out
