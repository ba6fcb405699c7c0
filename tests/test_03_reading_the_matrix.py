"""Notebook 03: the published pictures, its wavelengths, its exercises."""

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


def test_many_hands_keep_positions_apart_and_two_do_not(built):
    offsets, distance = np.arange(1, 1000), built["distance_by_offset"]
    for d_model in (16, 64, 512):
        for n in (100, 10_000, 500_000):
            assert distance(offsets, d_model, n).argmin() == 0
    assert offsets[distance(offsets, 4, 100).argmin()] == 377
    assert offsets[distance(offsets, 4, 10_000).argmin()] == 622


def test_the_fewer_hands_the_sooner_and_the_more_similarity_rises(built):
    firsts, largest = [], []
    for width in (16, 32, 64, 128, 256, 512, 1024, 4096):
        similarity = built["similarity_by_offset"](np.arange(5001), width)
        rises = np.diff(similarity)
        firsts.append(np.flatnonzero(rises > 0)[0])
        largest.append(rises.max())
        far = rises[1000:] > 0  # up and down in turn
        assert 0.45 < far.mean() < 0.56
    assert firsts == sorted(firsts)
    assert largest == sorted(largest, reverse=True)


def test_looking_back_is_softer_in_longer_texts_and_narrower_heads(built):
    share = [
        built["look_back"](seq_len, d_model)[50, 47]
        for seq_len, d_model in [(100, 512), (1000, 512), (1000, 64)]
    ]
    assert share == sorted(share, reverse=True)
    widths = [built["look_back"](100, d)[50, 47] for d in (64, 128, 256, 1024)]
    assert widths == sorted(widths)


def nearest(row):
    table = position_encoding(1000, 512)
    return int(np.argmin([np.sum((row - each) ** 2) for each in table]))


def exactly_equal(row):
    return (position_encoding(1000, 512) == row).all(axis=1).argmax()


def among_100(row):
    return np.argmax(position_encoding(100, 512) @ row)


def shift(offset):
    turn = offset * 10_000 ** (-np.arange(0, 512, 2) / 512)
    matrix = np.zeros((512, 512))
    even, odd = np.arange(0, 512, 2), np.arange(1, 512, 2)
    matrix[even, even] = matrix[odd, odd] = np.cos(turn)
    matrix[odd, even], matrix[even, odd] = np.sin(turn), -np.sin(turn)
    return matrix


REPLIES = [
    (1, [nearest], "Correct."),
    (1, [exactly_equal], "Noise leaves no row equal"),
    (1, [among_100], "`encoding` has 100 rows"),
    (2, [np.linalg.inv, np.transpose], "Correct."),
    (2, [lambda matrix: print(end="")], "`return` missing"),
    (2, [lambda matrix: matrix], "That is the same rotation"),
    (3, [shift(5), 3 * shift(5), shift(5).tolist()], "Correct."),
    (3, [shift(-5)], "That looks back"),
    (3, [np.eye(16)], "Of shape (512, 512)"),
]


@pytest.mark.parametrize(("number", "answers", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(built, number, answers, reply):
    assert_replies(built[f"check_{number}"], answers, reply)


def test_checks_do_not_read_names_that_a_reader_uses_again(built, monkeypatch):
    for name in ("encoding", "wavelengths", "scores", "weights", "table"):
        monkeypatch.setitem(built, name, "used again")
    for number, answers, reply in REPLIES:
        assert_replies(built[f"check_{number}"], answers, reply)
