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
    assert image.get_clim() == (-1, 1)
    assert image.get_cmap().name == "RdBu_r"
    assert image.get_interpolation() == "nearest"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Column", "Position")
    assert image.colorbar.ax.get_ylabel() == "Value"
    top, bottom = ax.get_ylim()[::-1]
    assert top < bottom, "position 0 is on top"


def test_heatmap_with_positions_along_x(ax):
    helpers.plot_matrix(MATRIX, ax, positions_along="x")
    assert np.array_equal(ax.images[0].get_array(), MATRIX.T)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Position", "Column")


def test_unsigned_heatmap(ax):
    helpers.plot_matrix(np.abs(MATRIX), ax, signed=False)
    assert ax.images[0].get_cmap().name == "viridis"
    assert ax.images[0].get_clim() == (0, 1)


def test_limits_and_color_bar_are_the_callers_choice(ax):
    helpers.plot_matrix(MATRIX, ax, limits=(-0.2, 0.2), colorbar=False)
    assert ax.images[0].get_clim() == (-0.2, 0.2)
    assert ax.images[0].colorbar is None
    helpers.plot_matrix(MATRIX, ax, signed=False, limits=(0, 9))
    assert ax.images[1].get_clim() == (0, 9)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("positions_along", "z", "'z'"),
        ("limits", (1, -1), r"\(1, -1\)"),
        ("limits", (0, 1, 2), r"\(0, 1, 2\)"),
    ],
)
def test_a_bad_setting_of_a_heatmap_is_named(ax, name, value, shown):
    with pytest.raises(ValueError, match=f"^{name} .*{shown}"):
        helpers.plot_matrix(MATRIX, ax, **{name: value})


def test_all_axes_in_the_place_of_one_are_told_apart(ax):
    with pytest.raises(TypeError, match=r"^ax .*axes\[0\].*shape \(2,\)"):
        helpers.plot_matrix(MATRIX, np.array([ax, ax]))


@pytest.fixture
def shown(monkeypatch):
    """What `show` hands to the notebook."""
    calls = []
    monkeypatch.setattr(
        helpers, "display", lambda data, **how: calls.append((data, how))
    )
    return calls


def picture_of(shown) -> Image.Image:
    ((data, _),) = shown
    assert isinstance(data["image/png"], str), "bytes break in Pyodide"
    return Image.open(io.BytesIO(b64decode(data["image/png"])))


def colors_of(picture) -> np.ndarray:
    found = picture.convert("RGB").getcolors(1 << 22)
    return np.array([color for _, color in found])


def test_show_displays_once_with_alt_text_and_closes(ax, shown):
    helpers.plot_matrix(MATRIX, ax)
    assert helpers.show(ax.figure, alt="Three columns of colors.") is None
    ((data, how),) = shown
    assert how["raw"] is True
    assert how["metadata"]["image/png"]["alt"] == "Three columns of colors."
    assert data["text/plain"].startswith("<Figure size ")
    assert ax.figure.number not in plt.get_fignums()


def test_show_draws_at_twice_the_density(ax, shown):
    ax.figure.set_size_inches(6, 2)
    ax.text(0.5, 0.5, "wide enough")
    helpers.show(ax.figure, alt="An empty frame with a few words.")
    picture = picture_of(shown)
    assert 1_150 < picture.width < 1_250  # 6 inches, less or more a margin
    assert 370 < picture.height < 430


@pytest.mark.parametrize("width", [3.0, 3.005, 3.01])
def test_half_the_size_is_a_whole_number_of_pixels(ax, shown, width):
    """Otherwise a screen that shows it at half its size blurs it."""
    ax.figure.set_size_inches(width, width)
    helpers.show(ax.figure, alt="An empty frame of two axes.")
    picture = picture_of(shown)
    half = shown[0][1]["metadata"]["image/png"]["width"]
    assert (2 * half, picture.height % 2) == (picture.width, 0)


def test_show_keeps_a_figure_small(ax, shown):
    ax.imshow(np.random.default_rng(0).random((9, 9)))
    helpers.show(ax.figure, alt="Squares of many different colors.")
    picture = picture_of(shown)
    assert picture.format == "PNG"
    assert picture.mode == "P"
    assert len(colors_of(picture)) <= 128
    assert len(b64decode(shown[0][0]["image/png"])) < 30_000


def test_a_rare_color_arrives_as_it_is(ax, shown):
    """An orange dot among many blues, which a palette could swallow."""
    wave = np.sin(np.arange(450) / 9) ** 2 * np.cos(np.arange(450))
    ax.plot(wave, color="#3f90da", linewidth=0.9)
    ax.plot(377, 0, "o", color="#ffa90e")
    helpers.show(ax.figure, alt="A wave with a dot.")
    orange = [0xFF, 0xA9, 0x0E]
    apart = np.abs(colors_of(picture_of(shown)) - orange).max(axis=1)
    assert apart.min() <= 10
