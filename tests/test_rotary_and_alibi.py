"""What notebook 08 builds, held to formulas written another way."""

import itertools
import math

import numpy as np
import pytest
from conftest import run_cells
from hypothesis import given, settings
from hypothesis import strategies as st

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
