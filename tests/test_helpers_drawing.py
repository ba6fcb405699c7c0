"""What no stored figure shows of the drawing helpers."""

import io
from base64 import b64decode

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import posenc_helpers as helpers


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("positions_along", "z", "'z'"),
        ("limits", (1, -1), r"\(1, -1\)"),
        ("limits", (0, 1, 2), r"\(0, 1, 2\)"),
        ("ax", np.array([None, None]), r"axes\[0\].*shape \(2,\)"),
    ],
)
def test_a_bad_argument_of_a_heatmap_is_named(ax, name, value, shown):
    arguments = {"matrix": np.eye(3), "ax": ax} | {name: value}
    with pytest.raises((TypeError, ValueError), match=f"^{name} .*{shown}"):
        helpers.plot_matrix(**arguments)


def test_few_colors_make_a_figure_small_and_a_rare_one_stays(ax, monkeypatch):
    """An orange dot among many blues, which a palette could swallow."""
    shown = []
    monkeypatch.setattr(
        helpers, "display", lambda data, **_: shown.append(data)
    )
    wave = np.sin(np.arange(450) / 9) ** 2 * np.cos(np.arange(450))
    ax.plot(wave, color="#3f90da", linewidth=0.9)
    ax.plot(377, 0, "o", color="#ffa90e")
    helpers.show(ax.figure, alt="A blue wave and an orange dot.")
    png = b64decode(shown[0]["image/png"].encode())  # bytes break in Pyodide
    picture = Image.open(io.BytesIO(png))
    found = [color for _, color in picture.convert("RGB").getcolors(1 << 22)]
    assert (picture.format, picture.mode) == ("PNG", "P")
    assert len(found) <= 128
    apart = np.abs(np.array(found) - [0xFF, 0xA9, 0x0E]).max(axis=1)
    assert apart.min() <= 10
