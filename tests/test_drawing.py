"""The drawing and exercise helpers, on the data of what they draw."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
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


def test_heatmap_refuses_an_unknown_orientation(ax):
    with pytest.raises(ValueError, match=r"positions_along.*'z'"):
        helpers.plot_matrix(MATRIX, ax, positions_along="z")


def test_columns_are_drawn_against_position(ax):
    assert helpers.plot_columns(MATRIX, [2, 0], ax) is ax
    for line, column in zip(ax.lines, [2, 0], strict=True):
        assert line.get_xdata().tolist() == [0, 1]
        assert np.array_equal(line.get_ydata(), MATRIX[:, column])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["column 2", "column 0"]
    assert ax.get_xlabel() == "Position"


def test_rows_are_drawn_against_column(ax):
    assert helpers.plot_rows(MATRIX, iter([1]), ax) is ax
    (line,) = ax.lines
    assert line.get_xdata().tolist() == [0, 1, 2]
    assert np.array_equal(line.get_ydata(), MATRIX[1])
    assert ax.get_xlabel() == "Column"


def test_lines_are_told_apart_by_ordered_colors(ax):
    helpers.plot_columns(MATRIX, range(3), ax)
    colors = [to_rgb(line.get_color()) for line in ax.lines]
    lightness = [np.dot(color, [0.2126, 0.7152, 0.0722]) for color in colors]
    assert lightness == sorted(lightness)
    assert len(set(colors)) == 3


def test_similarity_is_the_cosine_of_the_angle_between_rows(ax):
    rows = np.array([[3.0, 0.0], [0.0, 0.1], [5.0, 5.0]])
    assert helpers.plot_similarity(rows, ax) is ax
    drawn = ax.images[0].get_array()
    half = np.sqrt(0.5)
    expected = [[1, 0, half], [0, 1, half], [half, half, 1]]
    np.testing.assert_allclose(drawn, expected, atol=1e-15)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Position", "Position")
    assert ax.images[0].colorbar.ax.get_ylabel() == "Cosine similarity"


def test_show_displays_once_with_alt_text_and_closes(ax, monkeypatch):
    helpers.plot_matrix(MATRIX, ax)
    shown = []
    monkeypatch.setattr(
        helpers, "display", lambda data, **how: shown.append((data, how))
    )
    assert helpers.show(ax.figure, alt="Three columns of colors.") is None
    ((data, how),) = shown
    assert how["metadata"]["image/png"]["alt"] == "Three columns of colors."
    assert data["text/plain"].startswith("<Figure size ")
    picture = Image.open(io.BytesIO(data["image/png"])).convert("RGB")
    colors = {color for _, color in picture.getcolors(1 << 20)}
    red = tuple(int(255 * part) for part in plt.get_cmap("RdBu_r")(1.0)[:3])
    assert min(np.abs(np.subtract(c, red)).max() for c in colors) <= 6
    assert ax.figure.number not in plt.get_fignums()


def test_a_rare_color_arrives_as_it_is(ax, monkeypatch):
    """An orange dot among many blues, which a palette could swallow."""
    wave = np.sin(np.arange(450) / 9) ** 2 * np.cos(np.arange(450))
    ax.plot(wave, color="#3f90da", linewidth=0.9)
    ax.plot(377, 0, "o", color="#ffa90e")
    shown = []
    monkeypatch.setattr(
        helpers, "display", lambda data, **how: shown.append(data)
    )
    helpers.show(ax.figure, alt="A wave with a dot.")
    picture = Image.open(io.BytesIO(shown[0]["image/png"])).convert("RGB")
    colors = np.array([color for _, color in picture.getcolors(1 << 20)])
    orange = np.array([0xFF, 0xA9, 0x0E])
    assert np.abs(colors - orange).max(axis=1).min() <= 10


def test_the_style_is_set():
    with plt.rc_context():
        helpers.use_series_style()
        assert plt.rcParams["figure.constrained_layout.use"]
        first = plt.rcParams["axes.prop_cycle"].by_key()["color"][0]
        assert first.lower() == "#3f90da"  # petroff10


def reply(capsys, *arguments, **options) -> str:
    helpers.check(*arguments, **options)
    return capsys.readouterr().out


def test_check_asks_for_an_answer(capsys):
    assert reply(capsys, ..., 5, "hint").startswith("Not answered yet")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (2, 2.0000001),
        ([1, 2], np.array([1.0, 2.0])),
        (" Sine ", "sine"),
        (8, lambda x: x % 4 == 0),
        (np.True_, True),
    ],
    ids=repr,
)
def test_check_accepts(capsys, answer, expected):
    assert reply(capsys, answer, expected, "hint") == "Correct.\n"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (3, 2),
        ([1, 2, 3], [1, 2]),
        ([[1, 2]], [1, 2]),
        ("cosine", "sine"),
        ("three", 3),
        (None, 3),
        (7, lambda x: x % 4 == 0),
        (float("nan"), 1),
    ],
    ids=repr,
)
def test_check_answers_with_the_hint(capsys, answer, expected):
    assert "Not yet. Hint: look" in reply(capsys, answer, expected, "look")


def test_check_knows_typical_mistakes(capsys):
    mistakes = [(4, "that is the column"), (8, "that is the row")]
    said = reply(capsys, 8, 2, "look", mistakes=mistakes)
    assert said == "Not yet. Hint: that is the row\n"


def test_check_survives_an_answer_that_raises(capsys):
    said = reply(capsys, "x", lambda answer: answer / 2, "give a number")
    assert "TypeError" in said
    assert "give a number" in said


def test_check_honors_the_tolerance(capsys):
    assert "Correct" in reply(capsys, 3.14, np.pi, "hint", tolerance=0.01)
    assert "Not yet" in reply(capsys, 3.1, np.pi, "hint", tolerance=0.01)
