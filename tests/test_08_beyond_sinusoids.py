"""What notebook 08 builds, held to formulas written another way."""

import itertools
import math

import numpy as np
import pytest
from conftest import run_cells
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc_helpers import check

NAME = "08_beyond_sinusoids"
MODEL_CELLS = ["setup", "rotate-pairs", "rotate-halves", "alibi-slopes"]
MODEL_CELLS += ["t5-buckets", "task-sizes", "make-texts", "model-sizes"]
MODEL_CELLS += ["rope-scores", "t5-bias", "scores-of", "embed", "normalize"]
MODEL_CELLS += ["add-weights", "look", "readers", "training-sizes"]
MODEL_CELLS += ["texts-for-all", "train", "accuracy"]
SCHEMES = ["none", "learned", "sinusoidal", "RoPE", "ALiBi", "T5"]
LENGTHS = [20, 40, 80, 160]
WEIGHTS = ["letters", "query", "key", "value", "mix", "hidden", "answer"]


@pytest.fixture(scope="module")
def names():
    cells = (
        "setup rotate-pairs rotate-halves rotate-part alibi-slopes alibi-bias"
    )
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


def test_t5_buckets_begin_where_its_published_code_begins_them(names):
    # 16 * 8 ** (k / 16), rounded up: where bucket 16 + k begins there.
    starts = [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
    assert starts == [math.ceil(16 * 8 ** (k / 16)) for k in range(16)]
    for distance in range(400):
        far = sum(distance >= start for start in starts)
        bucket = distance if distance < 16 else 15 + far
        assert names["t5_bucket"](np.array([distance])) == [bucket], distance


def normal(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-3)


def answer_number_by_number(model, texts, model_index, scheme):
    """The reader once more: one text, one head, one key at a time."""
    pick = {
        name: np.asarray(getattr(model, name))[model_index].astype(float)
        for name in WEIGHTS
    }
    text = list(texts)
    place = text.index(8)
    x = [pick["letters"][symbol] for symbol in text]
    for p in range(len(x)):
        if scheme == "learned":
            x[p] = x[p] + np.asarray(model.table)[model_index, p]
        if scheme == "sinusoidal":
            angles = [p / 10_000 ** (2 * (c // 2) / 64) for c in range(64)]
            row = [
                (math.sin, math.cos)[c % 2](a) for c, a in enumerate(angles)
            ]
            x[p] = x[p] + np.array(row)
    mixed = []
    for head in range(8):
        columns = slice(8 * head, 8 * head + 8)
        query = (normal(x[place]) @ pick["query"])[columns]
        scores, values = [], []
        for p in range(place + 1):
            key = (normal(x[p]) @ pick["key"])[columns]
            asked = query
            if scheme == "RoPE":
                pairs = [(i, i + 4) for i in range(4)]
                asked = np.array(turned_one_by_one(query, place, pairs))
                key = np.array(turned_one_by_one(key, p, pairs))
            score = asked @ key / math.sqrt(8)
            if scheme == "ALiBi":
                score -= (place - p) / 2 ** (head + 1)
            if scheme == "T5":  # all offsets here are below 16
                score += (
                    40
                    * np.asarray(model.buckets)[model_index, head, place - p]
                )
            scores.append(score)
            values.append((normal(x[p]) @ pick["value"])[columns])
        weights = np.exp(np.array(scores) - max(scores))
        mixed.extend(weights @ values / weights.sum())
    row = x[place] + np.array(mixed) @ pick["mix"]
    hidden = np.maximum(normal(row) @ pick["hidden"], 0)
    return hidden @ pick["answer"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_models_side_by_side_are_what_one_model_would_be(model_names, scheme):
    keras = model_names["keras"]
    keras.utils.set_random_seed(1)
    model = model_names["Readers"](scheme, 4)
    if scheme == "T5":
        biases = np.random.default_rng(1).normal(size=(4, 8, 32)) / 20
        model.buckets.assign(biases)
    rng = np.random.default_rng(2)
    texts, _ = model_names["texts_for_all"](2, 12, rng)
    answers = np.asarray(model(texts))
    assert answers.shape == (2, 4, 8)
    for text, m in itertools.product(range(2), range(4)):
        one = answer_number_by_number(model, texts[text, m], m, scheme)
        assert answers[text, m] == pytest.approx(one, abs=2e-4)


def test_t5_bias_is_the_number_of_the_bucket(model_names):
    model = model_names["Readers"]("T5", 1)
    model.buckets.assign(np.arange(256.0).reshape(1, 8, 32))
    offsets = np.array([[[159.0, 113, 112, 16, 3, 0, -2]]], "float32")
    bias = np.asarray(model_names["t5_bias"](model, offsets))[0, 0]
    for bucket, row in zip([31, 31, 30, 16, 3, 0, 0], bias, strict=True):
        assert row.tolist() == [40 * (32 * h + bucket) for h in range(8)]


def test_marker_looks_at_nothing_behind_it(model_names):
    model = model_names["Readers"]("none", 4)
    texts, _ = model_names["texts_for_all"](5, 20, np.random.default_rng(3))
    models_first = np.swapaxes(texts, 0, 1)
    weights = np.asarray(model_names["look"](model, models_first)[2])
    assert weights.sum(axis=3) == pytest.approx(np.ones((4, 5, 8)), abs=1e-5)
    places = np.argmax(texts == 8, axis=2)
    for text, m in itertools.product(range(5), range(4)):
        seen = weights[m, text].min(axis=0) > 0
        assert seen.tolist() == [p <= places[text, m] for p in range(20)]


@pytest.mark.parametrize("back", [1, 8])
def test_letter_so_far_before_the_marker_is_the_answer(model_names, back):
    rng = np.random.default_rng(3)
    texts, answers = model_names["make_texts"](500, 20, back, rng)
    places = [list(text).index(8) for text in texts]
    assert set(places) == set(range(back, 20))
    expected = [text[p - back] for text, p in zip(texts, places, strict=True)]
    assert answers.tolist() == expected
    texts, _ = model_names["make_texts"](50, 20, back, rng, marker_last=True)
    assert (texts[:, -1] == 8).all()


def test_two_models_have_the_near_task_and_two_the_far_one(model_names):
    rng = np.random.default_rng(4)
    texts, answers = model_names["texts_for_all"](9, 30, rng, marker_last=True)
    assert texts.shape == (9, 4, 30)
    for model, back in enumerate([1, 1, 8, 8]):
        assert (answers[:, model] == texts[:, model, 29 - back]).all()


def test_accuracy_counts_right_answers_of_each_model(model_names):
    def three_right_one_wrong(texts):
        backs = np.array([2, 2, 9, 5])
        letters = np.take_along_axis(texts, -backs[None, :, None], axis=2)
        return np.eye(8)[letters[..., 0]]

    reached = model_names["accuracy"](three_right_one_wrong, 20)
    assert reached[:3].tolist() == [1, 1, 1]
    assert reached[3] < 0.4


def test_part_is_a_small_head_and_the_rest_stands_still(names):
    vectors = np.random.default_rng(6).normal(size=(3, 16))
    turned = names["rotate_part"](vectors, [0, 5, 900], 4)
    assert (turned[:, 4:] == vectors[:, 4:]).all()
    pairs = [(0, 1), (2, 3)]
    for row, position, vector in zip(
        turned, [0, 5, 900], vectors, strict=True
    ):
        right = turned_one_by_one(vector[:4], position, pairs)
        assert row[:4] == pytest.approx(right)


def compares_scores(names, at):
    """An answer to exercise 4: one query, one key, at two positions."""

    def scores(rotate):
        vectors = np.random.default_rng(1).normal(size=(2, 1, 16))
        query, key = (rotate(v, [p]) for v, p in zip(vectors, at, strict=True))
        return (query @ key.T).item()

    return lambda port: np.isclose(scores(port), scores(names["rotate_pairs"]))


def turns_pairs_of_the_whole_head(vectors, positions, pairs):
    """Exercise 3, pair by pair."""
    result, half = vectors.copy(), vectors.shape[-1] // 2
    for row, position in enumerate(positions):
        columns = [(i, i + half) for i in range(half)]
        turned = turned_one_by_one(vectors[row], position, columns)
        for i in range(pairs):
            result[row, [i, i + half]] = turned[i], turned[i + half]
    return result


def turns_what_comes_in(vectors, positions, pairs):
    """Exercise 3, written over the vectors that the caller still needs."""
    vectors[:] = turns_pairs_of_the_whole_head(vectors, positions, pairs)
    return vectors


REPLIES = {
    1: [(-0.416, "Correct"), (np.cos(8), "subtracted"), ("x", "is text")],
    2: [
        ([0, 4, 1, 5, 2, 6, 3, 7], "Correct"),
        (np.array([0, 4, 1, 5, 2, 6, 3, 7]), "Correct"),
        ([0, 2, 4, 6, 1, 3, 5, 7], "way there"),
        ([0, 4, 1, 5], "Eight"),
    ],
    3: [
        (lambda names: turns_pairs_of_the_whole_head, "Correct"),
        (
            lambda names: (
                lambda vectors, positions, pairs: np.hstack(
                    [
                        names["rotate_halves"](
                            vectors[:, : 2 * pairs], positions
                        ),
                        vectors[:, 2 * pairs :],
                    ]
                )
            ),
            "small head",
        ),
        (lambda names: turns_what_comes_in, "read-only"),
    ],
    4: [
        (lambda names: compares_scores(names, (9, 2)), "Correct"),
        (lambda names: compares_scores(names, (4, 3)), "go past position 5"),
        (lambda names: lambda port: None, "Nothing was returned"),
        (lambda names: lambda port: True, "yes to every port"),
    ],
}


@pytest.mark.parametrize(
    ("number", "answer", "reply"),
    [(n, *case) for n, cases in REPLIES.items() for case in cases],
)
def test_answer_in_another_form_or_near_it_is_told(
    names, capsys, number, answer, reply
):
    cells = ["ports", f"check-{number}"]
    checks = run_cells(NAME, *cells, **{**names, "check": check})
    checks[f"check_{number}"](answer(names) if callable(answer) else answer)
    assert reply in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_finding_holds_for_other_seeds(model_names, scheme, seed):
    model = model_names["train"](scheme, seed)
    reached = np.array([model_names["accuracy"](model, n) for n in LENGTHS])
    print(f"\n{scheme} {seed}:\n{reached.T}")
    near, far = reached[:, :2], reached[:, 2:]
    if scheme == "none":
        assert reached.max() < 0.5
    elif scheme in ("learned", "sinusoidal"):
        assert reached[0].min() > 0.8
        assert reached[1:].max() < 0.5
    elif scheme == "RoPE":
        assert near[0].min() > 0.9
        assert near[1:].max() < 0.6
        assert far[:2].min() > 0.8
    elif scheme == "ALiBi":
        assert near.min() > 0.8
        assert far.max() < 0.5
    else:
        assert reached[:2].min() > 0.8
