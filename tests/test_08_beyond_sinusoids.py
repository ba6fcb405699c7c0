"""What notebook 08 builds, held to formulas written another way."""

import itertools
import math

import numpy as np
import pytest
from conftest import assert_replies, run_cells, run_up_to

NAME = "08_beyond_sinusoids"
SCHEMES = ["none", "learned", "sinusoidal", "RoPE", "ALiBi", "T5"]
LENGTHS = [20, 40, 80, 160]
WEIGHTS = ["letters", "query", "key", "value", "mix", "hidden", "answer"]


@pytest.fixture(scope="module")
def names():
    """What the notebook defines, before anything is trained."""
    return run_up_to(NAME, "accuracy")


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


def test_alibi_slopes_are_those_the_paper_prints(names):
    eight = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert names["alibi_slopes"](8).tolist() == eight
    sixteen = names["alibi_slopes"](16)
    assert sixteen[:2] == pytest.approx([2**-0.5, 2**-1])
    assert sixteen[1:] / sixteen[:-1] == pytest.approx([2**-0.5] * 15)


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
            angles = [p / 10_000 ** (2 * i / 64) for i in range(32)]
            row = [f(a) for a in angles for f in (math.sin, math.cos)]
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
                bias = np.asarray(model.buckets)[model_index, head, place - p]
                score += 40 * bias
            scores.append(score)
            values.append((normal(x[p]) @ pick["value"])[columns])
        weights = np.exp(np.array(scores) - max(scores))
        mixed.extend(weights @ values / weights.sum())
    row = x[place] + np.array(mixed) @ pick["mix"]
    hidden = np.maximum(normal(row) @ pick["hidden"], 0)
    return hidden @ pick["answer"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_models_side_by_side_are_what_one_model_would_be(names, scheme):
    keras = names["keras"]
    keras.utils.set_random_seed(1)
    model = names["Readers"](scheme, 4)
    if scheme == "T5":
        biases = np.random.default_rng(1).normal(size=(4, 8, 32)) / 20
        model.buckets.assign(biases)
    rng = np.random.default_rng(2)
    texts, _ = names["texts_for_all"](2, 12, rng)
    answers = np.asarray(model(texts))
    assert answers.shape == (2, 4, 8)
    for text, m in itertools.product(range(2), range(4)):
        one = answer_number_by_number(model, texts[text, m], m, scheme)
        assert answers[text, m] == pytest.approx(one, abs=2e-4)


def test_two_models_have_the_near_task_and_two_the_far_one(names):
    rng = np.random.default_rng(4)
    texts, answers = names["texts_for_all"](9, 30, rng, marker_last=True)
    assert texts.shape == (9, 4, 30)
    for model, back in enumerate([1, 1, 8, 8]):
        assert (answers[:, model] == texts[:, model, 29 - back]).all()


def test_part_is_a_small_head_and_the_rest_stands_still(names):
    vectors = np.random.default_rng(6).normal(size=(3, 16))
    turned = names["rotate_part"](vectors, [0, 5, 900], 4)
    small = names["rotate_pairs"](vectors[:, :4], [0, 5, 900])
    assert (turned == np.hstack([small, vectors[:, 4:]])).all()


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


def turns_a_small_head(rotate):
    """Exercise 3, with the frequencies of the turned columns alone."""

    def answer(vectors, positions, pairs):
        turned, rest = np.split(vectors, [2 * pairs], axis=1)
        return np.hstack([rotate(turned, positions), rest])

    return answer


def test_exercises_reply_to_what_people_write(names):
    small_head = turns_a_small_head(names["rotate_halves"])
    for number, answers, reply in (
        (1, [-0.416], "Correct."),
        (1, [np.cos(8)], "subtracted"),
        (2, [[0, 4, 1, 5, 2, 6, 3, 7], (0, 4, 1, 5, 2, 6, 3, 7)], "Correct."),
        (2, [[0, 2, 4, 6, 1, 3, 5, 7]], "way there"),
        (2, [[0, 4, 1, 5]], "Eight"),
        (3, [turns_pairs_of_the_whole_head], "Correct."),
        (3, [small_head], "small head"),
        (4, [compares_scores(names, (9, 2))], "Correct."),
        (4, [compares_scores(names, (4, 3))], "go past position 5"),
        (4, [lambda port: True], "yes to every port"),
    ):
        cells = run_cells(NAME, "ports", f"check-{number}", **names)
        assert_replies(cells[f"check_{number}"], answers, reply)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_finding_holds_for_other_seeds(names, scheme, seed):
    model = names["train"](scheme, seed)
    reached = np.array([names["accuracy"](model, n) for n in LENGTHS])
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
