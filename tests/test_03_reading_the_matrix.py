"""Notebook 03: what it measures, moves and draws, and its exercises."""

import matplotlib.pyplot as plt
import mpmath
import numpy as np
import pytest
from conftest import assert_replies, run_up_to

import posenc_helpers
from posenc_helpers import position_encoding

NAME = "03_reading_the_matrix"


@pytest.fixture(scope="module")
def read():
    """The notebook's names, and its figures in their order."""
    drawn = []
    with pytest.MonkeyPatch.context() as patch, plt.rc_context():
        patch.setattr(
            posenc_helpers, "show", lambda fig, alt: drawn.append(fig)
        )
        yield run_up_to(NAME, "nav-end"), drawn
        plt.close("all")


@pytest.fixture
def built(read) -> dict:
    return read[0]


def test_the_published_pictures_show_what_they_showed(read, published):
    figures = published["figures"]
    heatmaps, lines = read[1][0].axes, read[1][1].axes
    shown = [ax.images[0].get_array() for ax in heatmaps if ax.images]
    size = figures["heatmap_100x512"]
    expected = position_encoding(size["seq_len"], size["d_model"])
    np.testing.assert_allclose(shown[0], expected, atol=1e-12)
    size = figures["heatmap_100x300_transposed"]
    expected = position_encoding(size["seq_len"], size["d_model"]).T
    np.testing.assert_allclose(shown[1], expected, atol=1e-12)
    rows = figures["sinusoid_rows"]
    expected = position_encoding(13, rows["d_model"])[:, 0:200:2]
    for line, position in zip(lines[0].lines, rows["positions"], strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected[position])
    size = figures["line_plot_20x200"]
    expected = position_encoding(size["seq_len"], size["d_model"])
    for line, column in zip(lines[1].lines, [0, 20, 40, 60], strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected[:, column])


def exact_wavelength(i: int, d_model: int, n: int) -> float:
    with mpmath.workdps(30):
        power = mpmath.mpf(2 * i) / d_model
        return float(2 * mpmath.pi * mpmath.mpf(n) ** power)


@pytest.mark.parametrize(("d_model", "n"), [(4, 100), (64, 10_000), (512, 50)])
def test_measured_wavelengths(d_model, n, built):
    matrix = position_encoding(60, d_model, max_wavelength=n)
    exact = [exact_wavelength(i, d_model, n) for i in range(d_model // 2)]
    measured = built["measured_wavelengths"](matrix)
    np.testing.assert_allclose(measured, exact, rtol=1e-9)


def test_columns_cross_zero_in_equal_steps_and_rows_do_not(built):
    """The answer to the Predict, for every row and column drawn."""
    encoding, crossings = position_encoding(400, 512), built["crossings"]
    for column in (2, 20, 60, 100):
        steps = np.diff(crossings(encoding[:, column]))
        assert np.ptp(steps) <= 1
    for row in (8, 12):
        steps = np.diff(crossings(encoding[row, 0:200:2]))
        assert np.all(steps[1:] > steps[:-1] + 3)


MARGINS = [
    (100, 4, 377, 0.006),
    (10_000, 4, 622, 0.051),
    (100, 512, 1, 0.325),
    (10_000, 512, 1, 0.232),
]


@pytest.mark.parametrize(("n", "d_model", "offset", "margin"), MARGINS)
def test_margins_are_those_of_the_rows(built, n, d_model, offset, margin):
    rows = position_encoding(1000, d_model, max_wavelength=n)
    length = np.linalg.norm(rows[0])
    apart = [
        np.linalg.norm(rows[k:] - rows[:-k], axis=1).min() / length
        for k in range(1, 1000)
    ]
    assert 1 + int(np.argmin(apart)) == offset
    assert round(min(apart), 3) == margin
    found = built["distance_by_offset"](np.arange(1, 1000), d_model, n)
    np.testing.assert_allclose(found, apart, atol=1e-9)


def test_the_shift_matrix_shifts(built):
    for offset in (500, -7):
        rows = position_encoding(20, 32, start_index=7)
        moved = rows @ built["shift_matrix"](offset, 32)
        expected = position_encoding(20, 32, start_index=7 + offset)
        np.testing.assert_allclose(moved, expected, atol=1e-12)


@pytest.mark.parametrize("position", [20, 50, 75])
def test_looking_back_is_soft(built, position):
    """The weights again, from rows instead of a rotation."""
    rows = position_encoding(100, 512)
    raised = np.exp(rows @ rows[position - 3] / np.sqrt(512))
    weights = raised / raised.sum()
    np.testing.assert_allclose(built["weights"][position], weights)
    assert weights.argmax() == position - 3
    assert weights[position - 3].round(2) in (0.21, 0.22)
    assert 0.6 < weights[position - 5 : position].sum() < 0.7


def nearest(row):
    table = position_encoding(1000, 512)
    return int(np.argmin([np.sum((row - each) ** 2) for each in table]))


def most_alike(row):
    return np.argmax(position_encoding(1000, 512) @ row)


def exactly_equal(row):
    return (position_encoding(1000, 512) == row).all(axis=1).argmax()


def among_100(row):
    return np.argmax(position_encoding(100, 512) @ row)


def in_place(matrix):
    matrix[:] = matrix.T.copy()
    return matrix


def returns_nothing(matrix):
    matrix.T  # noqa: B018 (a slip on purpose)


def shift(offset):
    turn = offset * 10_000 ** (-np.arange(0, 512, 2) / 512)
    matrix = np.zeros((512, 512))
    even, odd = np.arange(0, 512, 2), np.arange(1, 512, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(turn)
    matrix[odd, even], matrix[even, odd] = np.sin(turn), -np.sin(turn)
    return matrix


RIGHT = {
    1: [nearest, most_alike],
    2: [np.linalg.inv, np.transpose, in_place],
    3: [shift(5), 3 * shift(5), shift(5).tolist()],
}
WRONG = [
    (1, exactly_equal, "Noise leaves no row equal"),
    (1, among_100, "`encoding` has 100 rows"),
    (1, lambda row: nearest(row) + 1, "Hint: How far is it"),
    (2, returns_nothing, "`return` missing"),
    (2, lambda matrix: matrix, "That is the same rotation"),
    (3, shift(-5), "That looks back"),
    (3, np.eye(16), "Of shape (512, 512)"),
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


def test_checks_do_not_read_names_that_a_reader_uses_again(built, monkeypatch):
    for name in ("encoding", "wavelengths", "scores", "weights", "table"):
        monkeypatch.setitem(built, name, "used again")
    for number, answers in RIGHT.items():
        assert_replies(built[f"check_{number}"], answers[:1], "Correct.\n")
