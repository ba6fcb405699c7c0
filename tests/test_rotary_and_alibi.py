"""What notebook 08 builds, held to formulas written another way."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import run_cells
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc_helpers import plot_matrix

NAME = "08_beyond_sinusoids"
MODEL_CELLS = [
    "setup",
    "rotate-pairs",
    "rotation-matrix",
    "compare-matrix",
    "rotate-halves",
    "library-form",
    "library-compare",
    "alibi-slopes",
    "alibi-bias",
    "task-sizes",
    "make-texts",
    "model-sizes",
    "attention-bias",
    "rope-layer",
    "attention-weights",
    "heads",
    "merge-heads",
    "attention-layer",
    "embed-layer",
    "reader",
    "training-sizes",
    "train",
    "accuracy",
]
LENGTHS = (10, 20, 40, 80, 160)


@pytest.fixture(scope="module")
def names():
    cells = "setup rotate-pairs rotate-halves alibi-slopes alibi-bias"
    return run_cells(NAME, *cells.split(), "t5-buckets")


@pytest.fixture(scope="module")
def model_names():
    return run_cells(NAME, *MODEL_CELLS)


def turned_one_by_one(vector, position, pairs):
    """RoPE as section 3.2.2 of the RoFormer paper, number by number."""
    turned = [0.0] * len(vector)
    for i, (first, second) in enumerate(pairs):
        angle = position / 10_000 ** (2 * i / len(vector))
        a, b = vector[first], vector[second]
        turned[first] = a * math.cos(angle) - b * math.sin(angle)
        turned[second] = b * math.cos(angle) + a * math.sin(angle)
    return turned


@pytest.mark.parametrize("width", [2, 4, 16, 64])
@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_rope_is_the_papers_rotation_in_both_layouts(names, layout, width):
    half = width // 2
    columns = {
        "pairs": [(2 * i, 2 * i + 1) for i in range(half)],
        "halves": [(i, i + half) for i in range(half)],
    }[layout]
    vectors = np.random.default_rng(width).normal(size=(5, width))
    positions = [0, 1, 2, 77, 4095]
    expected = [
        turned_one_by_one(v, p, columns)
        for v, p in zip(vectors, positions, strict=True)
    ]
    turned = names[f"rotate_{layout}"](vectors, positions)
    assert turned == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("rotate", ["rotate_pairs", "rotate_halves"])
@settings(max_examples=50, deadline=None)
@given(
    query_at=st.integers(0, 10_000),
    key_at=st.integers(0, 10_000),
    shift=st.integers(0, 10_000),
)
def test_rope_scores_depend_on_the_offset_alone(
    names, rotate, query_at, key_at, shift
):
    query, key = np.random.default_rng(5).normal(size=(2, 1, 32))

    def score(moved):
        turned = names[rotate](query, [query_at + moved])
        return (turned @ names[rotate](key, [key_at + moved]).T).item()

    assert score(0) == pytest.approx(score(shift), abs=1e-8)


def test_alibi_slopes_are_those_the_paper_prints(names):
    eight = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert names["alibi_slopes"](8).tolist() == eight
    sixteen = names["alibi_slopes"](16)
    assert sixteen[:2] == pytest.approx([2**-0.5, 2**-1])
    assert sixteen[1:] / sixteen[:-1] == pytest.approx([2**-0.5] * 15)


def test_alibi_bias_is_the_table_in_the_papers_figure(names):
    bias = names["alibi_bias"](5, 8)
    assert bias.shape == (8, 5, 5)
    for head, query, key in itertools.product(range(8), range(5), range(5)):
        slope = 0.5 ** (head + 1)
        assert bias[head, query, key] == (key - query) * slope


def test_t5_buckets_in_whole_numbers(names):
    # Bucket 16 + k starts where (distance / 16) ** 16 reaches 8 ** k.
    for distance in range(300):
        bucket = distance
        if distance >= 16:
            k = max(
                k for k in range(17) if distance**16 >= 16**16 * 8**k or k == 0
            )
            bucket = min(16 + k, 31)
        assert names["t5_bucket"](np.array([distance])) == [bucket], distance


def test_tensors_turn_like_arrays(model_names):
    vectors = np.random.default_rng(1).normal(size=(2, 3, 40, 8))
    turned = model_names["rope"](vectors.astype("float32"), 10_000)
    expected = model_names["rotate_halves"](vectors, np.arange(40))
    assert np.asarray(turned) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("scheme", ["none", "RoPE", "ALiBi"])
def test_attention_sees_the_past_through_its_window(model_names, scheme):
    layer = model_names["Attention"](scheme, 10_000)
    layer.window = 3
    x = np.random.default_rng(2).normal(size=(1, 6, 64)).astype("float32")
    weights = np.asarray(layer.weights_of(x))[0]
    assert weights.sum(axis=2) == pytest.approx(np.ones((8, 6)), abs=1e-5)
    for query, key in itertools.product(range(6), repeat=2):
        seen = 0 <= query - key < 3
        assert (weights[:, query, key] > 0).all() == seen


def test_letter_before_the_marker_is_the_answer(model_names):
    rng = np.random.default_rng(3)
    texts, answers = model_names["make_texts"](500, 20, rng)
    places = [list(text).index(8) for text in texts]
    assert set(places) == set(range(1, 20))
    expected = [text[p - 1] for text, p in zip(texts, places, strict=True)]
    assert answers.tolist() == expected
    texts, _ = model_names["make_texts"](50, 20, rng, marker_last=True)
    assert (texts[:, -1] == 8).all()


def drawn(*cells, **data):
    """The figure that these cells show, when given such data."""
    figures = []
    data["show"] = lambda figure, alt: figures.append(figure)
    run_cells(NAME, *cells, plt=plt, np=np, plot_matrix=plot_matrix, **data)
    (figure,) = figures
    plt.close(figure)
    return figure


def test_scores_are_drawn_side_by_side_each_by_its_largest():
    added, rotary = np.random.default_rng(4).normal(size=(2, 24, 24))
    figure = drawn("figure-scores", added_scores=added, rotary_scores=rotary)
    left, right = figure.axes[:2]
    for ax, scores, title in [(left, added, "Sinus"), (right, rotary, "RoPE")]:
        image = np.asarray(ax.images[0].get_array())
        assert image * np.abs(scores).max() == pytest.approx(scores)
        assert ax.get_title().startswith(title)


def test_alibi_lines_are_the_softmax_of_the_bias():
    (ax,) = drawn("alibi-slopes", "alibi-weights", "figure-alibi").axes
    assert len(ax.lines) == 8
    for head, line in enumerate(ax.lines):
        weights = [math.exp(-d / 2 ** (head + 1)) for d in range(40)]
        expected = [weight / sum(weights) for weight in weights]
        assert line.get_ydata() == pytest.approx(expected)
        assert line.get_label() == f"head {head}"


def test_bucket_line_steps_where_the_distance_is_reached():
    (ax,) = drawn("t5-buckets", "figure-t5").axes
    buckets, *marks = ax.lines
    assert buckets.get_drawstyle() == "steps-post"
    assert buckets.get_ydata()[[0, 15, 16, 112, 113, 199]].tolist() == (
        [0, 15, 16, 30, 31, 31]
    )
    assert [mark.get_xdata()[0] for mark in marks] == [16, 128]


def test_table_is_drawn_with_its_own_limits_and_the_last_trained_row():
    table = np.random.default_rng(5).normal(size=(160, 64))
    ax = drawn("task-sizes", "figure-table", after=table).axes[0]
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(table[:60])
    largest = np.abs(table).max()
    assert ax.images[0].get_clim() == pytest.approx((-largest, largest))
    assert ax.lines[0].get_ydata()[0] == 19.5


def test_every_run_has_a_line_and_guessing_and_training_are_marked():
    order = ["learned", "sinusoidal", "RoPE", "none", "ALiBi"]
    runs = np.random.default_rng(6).random((5, 2, 5))
    results = dict(zip(order, runs, strict=True))
    cells = ["task-sizes", "accuracy", "draw-runs", "figure-lengths"]
    (ax,) = drawn(*cells, results=results).axes
    for number, line in enumerate(ax.lines[:10]):
        scheme, seed = divmod(number, 2)
        assert line.get_xdata().tolist() == list(LENGTHS)
        assert line.get_ydata() == pytest.approx(runs[scheme, seed])
        assert line.get_color() == ax.lines[2 * scheme].get_color()
    assert len({line.get_color() for line in ax.lines[:10]}) == 5
    _, labels = ax.get_legend_handles_labels()
    assert labels == order
    guessing, training = ax.lines[10:]
    assert guessing.get_ydata()[0] == 1 / 8
    assert training.get_xdata()[0] == 20


def test_bars_are_the_attention_at_each_distance():
    seen = np.random.default_rng(7).random((2, 160))
    models = {"RoPE": seen[:1], "RoPE, long waves": seen[1:]}
    data = {"models": models, "looks": lambda weights: weights}
    axes = drawn("task-sizes", "figure-looks", **data).axes
    for ax, weights in zip(axes, seen, strict=True):
        heights = [bar.get_height() for bar in ax.patches]
        assert heights == pytest.approx(weights)
        middles = [bar.get_x() + bar.get_width() / 2 for bar in ax.patches]
        assert middles == pytest.approx(range(160))
        assert ax.lines[0].get_xdata()[0] == 19.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 6])
@pytest.mark.parametrize(
    "scheme", ["none", "learned", "sinusoidal", "RoPE", "long RoPE", "ALiBi"]
)
def test_finding_holds_for_other_seeds(model_names, scheme, seed):
    waves = 10**8 if scheme == "long RoPE" else 10_000
    model = model_names["train"](scheme.split()[-1], seed, waves)
    reached = [model_names["accuracy"](model, n) for n in LENGTHS]
    print(f"\n{scheme} {seed}: {reached}")
    if scheme == "none":
        assert max(reached) < 0.6
    elif scheme in ("ALiBi", "long RoPE"):
        assert min(reached) > 0.8
    else:
        assert min(reached[:2]) > 0.9
        assert reached[2] < 0.7
        assert max(reached[3:]) < 0.5
    model.attention.window = 20
    through_window = model_names["accuracy"](model, 160)
    print(f"through a window of 20, at 160: {through_window}")
    if scheme == "RoPE":
        assert through_window > 0.9
    if scheme in ("learned", "sinusoidal"):
        assert through_window < 0.6
