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


def test_a_direction_that_there_is_not_is_named(ax):
    with pytest.raises(ValueError, match=r"^positions_along .*'z'"):
        helpers.plot_matrix(np.eye(3), ax, positions_along="z")


def test_few_colors_make_a_figure_small_and_a_rare_one_stays(ax, monkeypatch):
    """An orange dot among many blues, which a palette could swallow."""
    shown = []
    monkeypatch.setattr(
        "IPython.display.display", lambda data, **_: shown.append(data)
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
