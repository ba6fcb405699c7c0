"""Notebook 01: what its pictures hold, its last section, its exercises."""

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


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize("angle", [0.3, 2.0, 4.5])
def test_a_clock_shows_the_sine_upright_and_the_cosine_flat(built, ax, angle):
    assert built["plot_clock"](angle, ax) is ax
    x, y = math.cos(angle), math.sin(angle)
    lines = {line.get_label(): line for line in ax.lines}
    assert np.allclose(lines["sine"].get_xydata(), [[x, 0], [x, y]])
    assert np.allclose(lines["cosine"].get_xydata(), [[0, 0], [x, 0]])
    (hand,) = ax.texts
    assert np.allclose(hand.xy, (x, y))
    assert hand.xyann == (0, 0)


def test_the_shadows_are_curves_of_their_names(built, ax):
    sines, cosines = built["sines"], built["cosines"]
    built["plot_shadows"](sines, cosines, ax)
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    angles = [p / 6 * math.pi for p in range(12)]
    assert np.allclose(drawn["sine"], [math.sin(a) for a in angles])
    assert np.allclose(drawn["cosine"], [math.cos(a) for a in angles])


def test_a_changed_wave_lies_over_the_default_one(built, ax):
    built["plot_wave"](ax, amplitude=1.5, wavelength=24, phase=np.pi / 2)
    default, changed, dots = ax.lines
    expected = [1.5 * math.cos(math.pi * p / 12) for p in range(25)]
    assert np.allclose(dots.get_ydata(), expected)
    assert np.allclose(changed.get_ydata()[::20], expected)
    assert np.allclose(default.get_ydata()[::60], [0, 1, 0, -1] * 2 + [0])


def test_digits_are_drawn_lowest_first(built, ax):
    digits = [[int(bit) for bit in f"{p:03b}"[::-1]] for p in range(8)]
    built["plot_digits"](np.array(digits), ax)
    for row, line in enumerate(ax.lines):
        drawn = line.get_ydata() - 1.5 * row
        assert drawn.tolist() == [line[row] for line in digits]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["1s", "2s", "4s"]


def test_hands_are_drawn_by_speed_from_top_to_bottom(built):
    figure, axes = plt.subplots(3, 1)
    built["plot_hands"](6, axes)
    tips = [ax.texts[0].xy for ax in axes]  # half, quarter, eighth of a turn
    assert np.allclose(tips, [(-1, 0), (0, 1), (0.5**0.5, 0.5**0.5)])
    assert axes[0].get_title() == "Position 6"
    plt.close(figure)


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
    assert picture.stat().st_size < 60_000


def step_and_width(rows) -> tuple[float, float]:
    apart = [
        [math.dist(rows[a], rows[b]) for a in range(64)] for b in range(64)
    ]
    return max(apart[p][p + 1] for p in range(63)), max(map(max, apart))


def test_what_the_figure_calls_gliding_is_smooth(built):
    """The drawn cosines alone, and the hands that the text speaks of."""
    hands = built["clock_hands"](64)
    step, width = step_and_width(hands[:, 1:12:2])
    assert step < width / 2
    step, width = step_and_width(hands)
    assert step < width / 6
    step, width = step_and_width(built["binary_digits"](64))
    assert step == width
    step, width = step_and_width(built["hands_as_fast_as_digits"](64))
    assert step > width / 2


def attention_by_sums(rows, w_query, w_key, w_value):
    outputs, all_weights = [], []
    for row in rows:
        scores = [row @ w_query @ (other @ w_key) for other in rows]
        raised = [math.exp(score / 6**0.5) for score in scores]
        weights = [value / sum(raised) for value in raised]
        parts = [w * (o @ w_value) for w, o in zip(weights, rows, strict=True)]
        outputs.append(sum(parts))
        all_weights.append(weights)
    return np.array(outputs), np.array(all_weights)


def test_with_the_signal_the_order_of_the_words_is_noticed(built):
    matrices = [built[name] for name in ("w_query", "w_key", "w_value")]
    turns = 2 * np.pi * np.arange(5)[:, None] / [12, 12, 24, 24, 48, 48]
    signal = np.where([1, 0, 1, 0, 1, 0], np.sin(turns), np.cos(turns))
    pooled, rows, weights = [], [], []
    for sentence in ["the dog chased the cat", "the cat chased the dog"]:
        vectors = [built["word_vectors"][word] for word in sentence.split()]
        out, attended = attention_by_sums(vectors + signal, *matrices)
        pooled.append(out.mean(axis=0))
        rows.append(out)
        weights.append(attended)
    assert round(math.dist(*pooled), 3) == 0.578
    assert round(math.dist(rows[0][1], rows[1][4]), 3) == 1.156
    assert round(math.dist(rows[0][0], rows[0][3]), 3) == 0.822
    assert np.allclose(built["weights"], weights[0])
    # "chased" looks at the two "the", in both sentences
    assert min(w[2, 0] + w[2, 3] for w in weights) > 0.99


def test_each_of_a_thousand_draws_notices_the_swap(built):
    swap, replaced = np.transpose(built["draws"])
    assert len(swap) == 1000
    assert swap.min() > 0.03
    assert 0.6 < np.median(swap) < np.median(replaced) < 1


def test_there_are_sixty_orders(built):
    orders = set(permutations(built["words"]))
    vectors = [built["attend"](order).mean(axis=0) for order in orders]
    gaps = [math.dist(a, b) for a in vectors for b in vectors if a is not b]
    assert len(orders) == 60
    assert min(gaps) > 1e-3


def chord(offset, angular_frequency):
    return math.hypot(
        math.sin(offset * angular_frequency),
        math.cos(offset * angular_frequency) - 1,
    )


def by_cases(offset, angular_frequency):
    angle = offset * angular_frequency % (2 * math.pi)
    if angle > math.pi:
        angle = 2 * math.pi - angle
    return 2 * math.sin(angle / 2)


RIGHT = {
    1: [628.3185, 628, np.array([628.32]), [628.3], 200 * np.pi],
    2: [
        chord,
        by_cases,
        lambda k, w: 2 * np.abs(np.sin(k * w / 2)),
        lambda k, w: np.array([np.sqrt(2 - 2 * np.cos(k * w))]),
        lambda k, w: abs(np.exp(1j * k * w) - 1),
    ],
    3: [(1, 60), [1, 60], np.array([1.0, 60.0])],
    4: [(37, 40), [40, 37], np.array([39, 32]), (39.0, 40)],
}
WRONG = {
    1: [100, 0.01, 314, "628", "many", [628, 628], None, 0.0016],
    2: [
        lambda k, w: 2 * math.sin(k * w / 2),
        lambda k, w: 2 * math.sin(k * w),
        lambda k, w: 2 * abs(math.sin(w / 2)),
        lambda k, w: abs(math.sin(k * w / 2)),
        lambda k, w: 2 * math.sin(min(k * w, math.pi) / 2),
        lambda k, w: 2 * math.sin(k * w % math.pi / 2),
        lambda k, w: max(0, 2 * math.sin(k * w / 2)),
        lambda k, w: 2 * math.sin(min(k * w, 2 * math.pi - k * w) / 2),
        lambda k, w: k * w,
        lambda k, w: None,
        lambda k: k,
        1.4142,
        "2 sin",
    ],
    3: [(1, 120), (1, 1), (60, 1), (60, 60), 60, "(1, 60)", None, (1, 24)],
    4: [(20, 40), (41, 40), (37, 40, 39), (37.5, 40), 37, "37, 40", (0, 40)],
}


@pytest.mark.parametrize("number", RIGHT)
def test_right_answers_in_any_form_are_taken(built, number):
    assert_replies(built[f"check_{number}"], RIGHT[number], "Correct.\n")


@pytest.mark.parametrize("number", WRONG)
def test_wrong_answers_get_a_hint(built, number):
    check = built[f"check_{number}"]
    assert_replies(check, WRONG[number], "Not yet. Hint: ")


REPLIES = [
    (1, 0.01 / (2 * np.pi), "That is the frequency."),
    (1, 314, "half a turn"),
    (2, lambda k, w: None, "No number was returned."),
    (2, lambda k, w: str(chord(k, w)), "No number was returned."),
    (2, lambda k, w: round(chord(k, w), 3), "do not round"),
    (2, lambda k, w: [round(chord(k, w), 2)], "Which angle"),
    (2, lambda k, w: 2 * math.sin(k * w), "Halve"),
    (2, lambda k, w: 2 * abs(math.sin(k * w)), "Halve"),
    (2, lambda k, w: 2 * math.sin(k * w / 2), "never negative"),
    (3, (52, 60), "Did you round before?"),
    (3, (60, 60), "Section 1"),
    (3, (1, 120), "a new order"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_a_likely_error_gets_the_reply_that_fits(
    built, capsys, number, answer, reply
):
    built[f"check_{number}"](answer)
    assert reply in capsys.readouterr().out


def test_the_picture_counts_digits_and_hands():
    with plt.rc_context():
        drawn = run_up_to(NAME, "figure-bits-and-hands")["axes"]
    assert [ax.get_xlabel() for ax in drawn] == ["Digit", "Hand"]
    digits, cosines = (ax.images[0].get_array() for ax in drawn)
    powers = 2 ** np.arange(6)
    assert np.array_equal(digits @ powers, np.arange(64))
    turns = np.arange(64)[:, np.newaxis] / (12 * powers)
    assert np.allclose(cosines, np.cos(2 * np.pi * turns))
