"""Notebook 11: its decoder by another route, and its claims on more seeds."""

import io
from contextlib import redirect_stdout

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_replies, run_cells

NOTEBOOK = "11_positions_at_work"
PARTS = ["attention", "small-parts", "run", "whole", "invariant", "decode"]
BUGS = ["again", "padded", "gap", "pack", "leak", "halves", "port"]
BUGS += ["port-tries", "bfloat16", "rounded", "formats"]
ASKING = ["trial", "two-checks", "more-checks", "suspects-1", "suspects-2"]
CHECKS = [f"check-{number}" for number in range(1, 6)]


def built(seed):
    """All that the notebook builds, with weights of this seed."""
    with redirect_stdout(io.StringIO()):
        names = run_cells(NOTEBOOK, "setup", "rotate", "words", "weights")
        names["rng"] = np.random.default_rng(seed)
        cells = ["models", *PARTS, *BUGS, *ASKING, "reveal-checks", *CHECKS]
        return run_cells(NOTEBOOK, *cells, **names)


@pytest.fixture(scope="module")
def names():
    return built(1)


def turned_by_matrices(vector, position):
    """The paper's turn, a 2 x 2 matrix per pair."""
    turned = []
    for i in range(0, len(vector), 2):
        angle = position * 10_000 ** (-i / len(vector))
        cos, sin = np.cos(angle), np.sin(angle)
        turned += list(np.array([[cos, -sin], [sin, cos]]) @ vector[i : i + 2])
    return turned


def test_the_decoder_word_by_word_and_head_by_head(names):
    """Its logits once more, with loops and nothing kept."""
    small = names["normalize"]
    x = names["words"][names["STORY"]]
    for layer in names["layers"]:
        mixed = np.zeros_like(x)
        q, k, v = (small(x) @ layer[n] for n in ("query", "key", "value"))
        for t, head in np.ndindex(16, 2):
            own = slice(8 * head, 8 * head + 8)
            query = turned_by_matrices(q[t, own], t)
            keys = [turned_by_matrices(k[p, own], p) for p in range(t + 1)]
            powers = np.exp(np.dot(keys, query) / np.sqrt(8))
            mixed[t, own] = powers @ v[: t + 1, own] / powers.sum()
        x = x + mixed @ layer["output"]
        x = x + np.maximum(small(x) @ layer["up"], 0) @ layer["down"]
    logits = names["whole"](names["rope"], names["STORY"])
    np.testing.assert_allclose(logits, small(x) @ names["words"].T, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_what_the_text_claims_holds_for_any_weights(seed):
    names = built(seed)
    rope, learned, story = names["rope"], names["learned"], names["STORY"]
    whole, errors, padded = [
        names[name] for name in ("whole", "errors", "behind_pads")
    ]
    seen, skipped = np.tri(20, dtype=bool), names["NOT_COUNTED"]

    broken = errors(names["decode"](rope, story, names["begin_again"])[0])
    for rows in (broken, errors(names["with_gap"])):
        assert rows[:8].max() < 1e-10
        assert rows[8:].min() > 0.05
    for first in (4, 5, 1_000):  # moved as a whole
        assert errors(whole(rope, story, first)).max() < 1e-10
    assert errors(whole(learned, story, 4), learned).min() > 0.5
    for model in (rope, learned):
        assert errors(padded(model, skipped, seen), model).max() > 0.5
    leaks = [names["leak"](names[how]) for how in ("run_on", "restart")]
    assert min(leaks) > 0.5 * max(leaks) > 1
    for port in names["ports"].values():
        off = errors(whole(port, story))
        assert off[0] < 1e-10 < 0.01 < off[1:].min()
    for name, far in (("bfloat16", 300), ("float16", 2_500)):
        turn = names["rotate_in"](names["formats"][name])
        assert errors(whole(rope | {"turn": turn}, story, far)).max() > 0.5


def test_bfloat16_rounds_as_the_real_one(names):
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=9_999) * 10.0 ** rng.integers(-9, 9, size=9_999)
    numbers = np.append(numbers, np.arange(1_100)).astype(np.float32)
    real = numbers.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(names["bfloat16"](numbers), real)


def sorted_by_head(weight):
    return weight[:, [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]]


def packed(numbers):
    places = [list(numbers[:p]).count(n) for p, n in enumerate(numbers)]
    same = [[a == b for b in numbers] for a in numbers]
    return places, np.tril(same)


def among_words(real):
    return np.tril(np.tile(real, (20, 1))).astype(int)


def test_exercises_reply_to_what_people_write(names):
    turn, flip = names["rotate"], (..., slice(None, None, -1))
    for number, answer, reply in (
        (1, lambda size, before: range(before, before + size), "Correct."),
        (1, lambda size, before: np.arange(size), "Each piece begins again"),
        (1, lambda size, before: [before], "Each word has a position"),
        (2, lambda real: among_words(real) + np.diag(~real), "Correct."),
        (2, lambda real: np.tri(20), "Words see pads"),
        (2, among_words, "A row sees nothing"),
        (3, packed, "Correct."),
        (3, lambda n: packed(n)[::-1], "Positions first"),
        (3, lambda n: (packed(n)[0], np.tri(26)), "The story sees another"),
        (4, sorted_by_head, "Correct."),
        (4, lambda weight: weight, "No column has moved"),
        (4, lambda weight: weight[:, names["even_first"]], "Each head by"),
        (5, lambda x, positions: turn(x, 3 * positions), "Correct."),
        (5, lambda x, positions: turn(x[flip], positions)[flip], "Correct."),
        (5, turn, "It does as rotate does"),
        (5, names["ends_at_2047"], "It fails far_positions"),
        (5, lambda x, positions: x, "It turns nothing"),
    ):
        assert_replies(names[f"check_{number}"], [answer], reply)
