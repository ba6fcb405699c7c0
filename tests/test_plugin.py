"""The comparison of figures must notice what an eye would notice."""

import io
from base64 import b64encode
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plugin import difference, is_compared

from posenc_helpers import plot_matrix, position_encoding

TURNS = np.arange(60) / 8


def png(draw) -> list[str]:
    """The picture that a function draws on an Axes, as a notebook has it."""
    figure, ax = plt.subplots(figsize=(4, 3))
    draw(ax)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=200)
    plt.close(figure)
    return [b64encode(stream.getvalue()).decode()]


def sine(ax):
    ax.plot(np.sin(TURNS), "C0")
    ax.plot(np.cos(TURNS), "C1--")


def swapped(ax):
    ax.plot(np.cos(TURNS), "C0")
    ax.plot(np.sin(TURNS), "C1--")


def moved_by_a_hair(ax):
    ax.plot(np.sin(TURNS) + 0.001, "C0")
    ax.plot(np.cos(TURNS) + 0.001, "C1--")


def other_label(ax):
    sine(ax)
    ax.set_xlabel("Position")


def heatmap(ax):
    plot_matrix(position_encoding(40, 16), ax)


def heatmap_with_a_wrong_column(ax):
    encoding = position_encoding(40, 16)
    encoding[:, 5] = encoding[:, 4]
    plot_matrix(encoding, ax)


@pytest.mark.parametrize(
    ("stored", "made"),
    [
        (sine, swapped),
        (sine, other_label),
        (heatmap, heatmap_with_a_wrong_column),
    ],
)
def test_a_wrong_figure_is_noticed(stored, made):
    assert "apart" in difference(png(stored), png(made))


def test_a_hair_is_not():
    assert difference(png(sine), png(moved_by_a_hair)) == ""


def test_a_missing_and_a_larger_picture_are_noticed():
    assert "1 pictures where 0" in difference([], png(sine))
    small, large = io.BytesIO(), io.BytesIO()
    for stream, dpi in ((small, 100), (large, 200)):
        plt.figure(figsize=(2, 1)).savefig(stream, dpi=dpi)
        plt.close("all")
    stored, made = (
        [b64encode(each.getvalue()).decode()] for each in (small, large)
    )
    assert "stored" in difference(stored, made)


@pytest.mark.parametrize(
    ("name", "tags", "compared"),
    [
        ("figure-clock", [], True),
        ("figure-loops", [], False),
        ("figure-order", [], False),
        ("sliders", ["nbval-ignore-output"], False),
    ],
)
def test_only_what_varies_is_exempt(name, tags, compared):
    cell = SimpleNamespace(id=name, metadata={"tags": tags})
    assert is_compared(cell) == compared
