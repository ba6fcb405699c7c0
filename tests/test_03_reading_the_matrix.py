"""Notebook 03: what it measures, moves and draws."""

import io
from base64 import b64decode

import matplotlib.pyplot as plt
import mpmath
import nbformat
import numpy as np
import pytest
from conftest import ROOT, run_cells, run_up_to
from PIL import Image

import posenc_helpers
from posenc_helpers import position_encoding

NOTEBOOK = "03_reading_the_matrix"


@pytest.fixture(scope="module")
def read():
    """The notebook's names, and its figures by what they are called."""
    path = ROOT / "notebooks" / f"{NOTEBOOK}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    names = [c.id for c in cells if c.id.startswith("figure-")]
    names = [n for n in names if not n.endswith("-text")]
    drawn = []
    with pytest.MonkeyPatch.context() as patch, plt.rc_context():
        patch.setattr(
            posenc_helpers, "show", lambda fig, alt: drawn.append(fig)
        )
        built = run_up_to(NOTEBOOK, "nav-end")
        yield built, dict(zip(names, drawn, strict=True))
        plt.close("all")


def exact_wavelength(i: int, d_model: int, n: int) -> float:
    with mpmath.workdps(30):
        power = mpmath.mpf(2 * i) / d_model
        return float(2 * mpmath.pi * mpmath.mpf(n) ** power)


@pytest.mark.parametrize(("d_model", "n"), [(4, 100), (64, 10_000), (512, 50)])
def test_measured_wavelengths(d_model, n, read):
    matrix = position_encoding(60, d_model, max_wavelength=n)
    exact = [exact_wavelength(i, d_model, n) for i in range(d_model // 2)]
    measured = read[0]["measured_wavelengths"](matrix)
    np.testing.assert_allclose(measured, exact, rtol=1e-9)


def test_the_longest_wavelength_is_what_the_prose_says(read):
    assert round(exact_wavelength(255, 512, 10_000), 2) == 60_611.48
    assert round(float(read[0]["wavelengths"][-1]), 2) == 60_611.48


def test_the_shift_matrix_shifts():
    cells = ["setup", "rotation-matrix", "shift-matrix"]
    shift_matrix = run_cells(NOTEBOOK, *cells)["shift_matrix"]
    for offset in (500, -7):
        moved = position_encoding(20, 32, start_index=7) @ shift_matrix(
            offset, 32
        )
        expected = position_encoding(20, 32, start_index=7 + offset)
        np.testing.assert_allclose(moved, expected, atol=1e-12)


def test_heatmaps_show_the_matrix_on_whole_pixels(read):
    _, figures = read
    for name, shape in [("heatmap", (100, 512)), ("transposed", (300, 100))]:
        ax = figures[f"figure-{name}"].axes[0]
        expected = position_encoding(100, max(shape))
        if name == "transposed":
            expected = expected.T
        (image,) = ax.images
        np.testing.assert_allclose(image.get_array(), expected, atol=1e-12)
        inches = ax.get_window_extent().size / ax.figure.dpi
        pixels = 200 * inches / shape[::-1]
        np.testing.assert_allclose(pixels, pixels.round(), atol=1e-6)


def stored_picture(name: str) -> np.ndarray:
    path = ROOT / "notebooks" / f"{NOTEBOOK}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    (png,) = [
        output.data["image/png"]
        for cell in cells
        if cell.id == name
        for output in cell.outputs
    ]
    return np.asarray(Image.open(io.BytesIO(b64decode(png))).convert("RGB"))


@pytest.mark.parametrize("name", ["heatmap", "transposed"])
def test_every_stripe_of_the_stored_heatmaps_is_as_wide(name):
    """Slow sines and cosines take turns: two pixels each, no moire."""
    picture = stored_picture(f"figure-{name}").astype(int)
    if name == "transposed":  # stripes from left to right: turn it
        picture = np.swapaxes(picture, 0, 1)
    line = picture[150]  # near position 20
    changes = np.flatnonzero(np.abs(np.diff(line, axis=0)).sum(axis=1) > 200)
    widths = np.diff(changes)
    stripes = widths[-150:-20]  # the color bar or the axis comes last
    assert (stripes == 2).mean() > 0.97, stripes


def test_rows_and_columns_are_drawn_as_they_are(read):
    _, figures = read
    rows = figures["figure-rows"].axes[0].lines
    encoding = position_encoding(100, 512)
    for line, position in zip(rows, [0, 4, 8, 12], strict=True):
        np.testing.assert_allclose(
            line.get_ydata(), encoding[position, 0:200:2]
        )
        assert line.get_label() == f"position {position}"
    columns = figures["figure-columns"].axes[0].lines
    for line, column in zip(columns, [0, 20, 40, 60], strict=True):
        frequency = 10_000 ** (-column / 200)
        waves = np.sin(np.arange(20) * frequency)
        np.testing.assert_allclose(line.get_ydata(), waves, atol=1e-12)
        assert line.get_label() == f"column {column}"


def test_lines_are_told_apart_by_ordered_colors(read):
    for name in ("figure-rows", "figure-columns"):
        lines = read[1][name].axes[0].lines
        weights = [0.2126, 0.7152, 0.0722]
        light = [
            np.dot(plt.matplotlib.colors.to_rgb(line.get_color()), weights)
            for line in lines
        ]
        assert light == sorted(light)
        assert len(set(light)) == 4


def test_similarity_is_the_cosine_between_rows(read):
    ax = read[1]["figure-similarity"].axes[0]
    offsets = np.subtract.outer(np.arange(100), np.arange(100))
    frequencies = 10_000 ** (-np.arange(0, 512, 2) / 512)
    expected = np.mean([np.cos(offsets * w) for w in frequencies], axis=0)
    drawn = ax.images[0].get_array()
    np.testing.assert_allclose(drawn, expected, atol=1e-9)
    low, high = ax.images[0].get_clim()
    assert (low, round(high, 9)) == (0.4, 1)
    assert low < drawn.min() < low + 0.1, "the whole scale is used"


def test_the_rises_are_shaded(read):
    """Each shaded step of figure 9 goes up, and no other one does."""
    ax = read[1]["figure-monotone"].axes[1]
    offsets, values = ax.lines[0].get_data()
    up = np.asarray(offsets)[1:][np.diff(values) > 0]
    shaded = [patch.get_x() + patch.get_width() for patch in ax.patches]
    assert np.round(shaded, 9).tolist() == up.tolist()


def test_both_hands_are_back_at_377(read):
    hands = read[1]["figure-margin"].axes[1].lines[:2]
    for line in hands:
        offsets, distances = map(np.asarray, line.get_data())
        assert offsets[distances.argmin()] == 377
        assert distances.min() < 0.01


def test_ticks_stand_where_blocks_begin(read):
    ax = read[1]["figure-shift"].axes[0]
    assert ax.get_xticks().tolist() == list(range(0, 16, 2))
    assert ax.get_yticks().tolist() == list(range(0, 16, 2))


def replies(capsys, check, *answers):
    capsys.readouterr()
    for answer in answers:
        check(answer)
    return capsys.readouterr().out.splitlines()


def test_an_undoing_for_one_matrix_only_is_refused(read, capsys):
    built, _ = read
    check, back = built["check_3"], built["shift_matrix"](-7, 16)
    right, single, raw = replies(
        capsys, check, np.linalg.inv, lambda matrix: back, back
    )
    assert right == "Correct."
    assert "Only for one shift" in single
    assert raw.startswith("Not yet. Hint: A function")


def test_the_column_is_recognized(read, capsys):
    said = replies(capsys, read[0]["check_2"], 77, 154, 155)
    assert said[0] == "Correct."
    assert all("a column" in line for line in said[1:])


def test_looking_ahead_is_not_looking_back(read, capsys):
    shift_matrix = read[0]["shift_matrix"]
    ahead, back = replies(
        capsys,
        read[0]["check_5"],
        3 * shift_matrix(5, 512),
        shift_matrix(-5, 512),
    )
    assert ahead == "Correct."
    assert "looks back" in back


def test_an_undoing_in_place_is_as_good(read, capsys):
    def in_place(matrix):
        matrix[:] = matrix.T.copy()
        return matrix

    assert replies(capsys, read[0]["check_3"], in_place) == ["Correct."]


def test_the_width_is_512_where_the_exercises_begin(read):
    """Exercise 2 may be answered by formula, with n and d as they are."""
    built, _ = read
    assert (built["n"], built["d"]) == (10_000, 512)


def test_hints_for_other_shapes_and_offsets(read, capsys):
    built, _ = read
    ahead = [built["shift_matrix"](k, 512) for k in (3, 6, 0)]
    said = replies(capsys, built["check_5"], np.eye(16), 7, "five", *ahead)
    assert all("Of shape (512, 512)" in line for line in said[:3])
    assert all("looks elsewhere" in line for line in said[3:5])
    assert "looks at itself" in said[5]
