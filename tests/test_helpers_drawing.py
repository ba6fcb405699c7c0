"""The drawing helpers, on the data of what they draw."""

import io
from base64 import b64decode

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import posenc_helpers as helpers

MATRIX = np.array([[0.0, 1.0, -1.0], [0.5, -0.5, 0.25]])


@pytest.fixture
def ax():
    with plt.rc_context():
        helpers.use_series_style()
        figure, axes = plt.subplots()
        yield axes
        plt.close(figure)


def test_signed_heatmap(ax):
    assert helpers.plot_matrix(MATRIX, ax) is ax
    (image,) = ax.images
    assert np.array_equal(image.get_array(), MATRIX)
    assert (*image.get_clim(), image.get_cmap().name) == (-1, 1, "RdBu_r")
    assert image.get_interpolation() == "nearest"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Column", "Position")
    assert image.colorbar.ax.get_ylabel() == "Value"
    assert ax.yaxis_inverted(), "position 0 is on top"


def test_heatmap_with_positions_along_x(ax):
    helpers.plot_matrix(MATRIX, ax, positions_along="x")
    assert np.array_equal(ax.images[0].get_array(), MATRIX.T)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Position", "Column")


@pytest.mark.parametrize(
    ("signed", "limits", "expected"),
    [
        (False, None, (0, 1, "viridis")),
        (False, (0, 9), (0, 9, "viridis")),
        (True, (-2, 2), (-2, 2, "RdBu_r")),
    ],
)
def test_colors_are_the_callers_choice(ax, signed, limits, expected):
    matrix, how = np.abs(MATRIX), {"signed": signed, "limits": limits}
    (image,) = helpers.plot_matrix(matrix, ax, colorbar=False, **how).images
    assert (*image.get_clim(), image.get_cmap().name) == expected
    assert image.colorbar is None


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
    arguments = {"matrix": MATRIX, "ax": ax} | {name: value}
    with pytest.raises((TypeError, ValueError), match=f"^{name} .*{shown}"):
        helpers.plot_matrix(**arguments)


def displayed(monkeypatch, figure):
    """What `show` hands to the notebook: a picture, and how to show it."""
    calls = []
    monkeypatch.setattr(
        helpers, "display", lambda data, **how: calls.append((data, how))
    )
    helpers.show(figure, alt="Three columns of colors.")
    ((data, how),) = calls
    assert how["raw"] is True
    assert data["text/plain"].startswith("<Figure size ")
    png = b64decode(data["image/png"].encode())  # bytes break in Pyodide
    return Image.open(io.BytesIO(png)), how["metadata"]["image/png"]


@pytest.mark.parametrize("inches", [3.0, 3.005, 3.01])
def test_a_figure_is_shown_at_half_its_size_and_closed(
    ax, monkeypatch, inches
):
    """Half of it is whole pixels, or a screen that shows it blurs it."""
    ax.figure.set_size_inches(inches, inches)
    picture, how = displayed(monkeypatch, ax.figure)
    width = picture.width / 2
    assert how == {"alt": "Three columns of colors.", "width": width}
    assert picture.height % 2 == 0
    assert 195 < picture.height / inches < 215  # dots an inch
    assert ax.figure.number not in plt.get_fignums()


def test_few_colors_make_a_figure_small_and_a_rare_one_stays(ax, monkeypatch):
    """An orange dot among many blues, which a palette could swallow."""
    wave = np.sin(np.arange(450) / 9) ** 2 * np.cos(np.arange(450))
    ax.plot(wave, color="#3f90da", linewidth=0.9)
    ax.plot(377, 0, "o", color="#ffa90e")
    picture, _ = displayed(monkeypatch, ax.figure)
    found = [color for _, color in picture.convert("RGB").getcolors(1 << 22)]
    assert (picture.format, picture.mode) == ("PNG", "P")
    assert len(found) <= 128
    apart = np.abs(np.array(found) - [0xFF, 0xA9, 0x0E]).max(axis=1)
    assert apart.min() <= 10
