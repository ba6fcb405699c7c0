"""Notebook 11: its decoder by another route, and its claims on more seeds."""

import io
from contextlib import redirect_stdout
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from conftest import assert_replies, run_cells

NOTEBOOK = "11_positions_at_work"
MODEL = ["models", "cache", "attention", "run", "whole", "invariant"]
WORK = ["decode", "dropping", "reveal-dropped", "check-2", "solution-2"]
WORK += ["axes", "places", "padded", "chunks", "reveal-gap", "leak"]
WORK += ["inferred", "port"]
CHECKS = [f"check-{number}" for number in range(1, 6)]
ASKING = ["trial", "more-checks", "suspects-1", "reveal-checks"]
ROUNDING = ["bfloat16", "reveal-rounded"]


def built(seed=1, head_dim=8):
    """All that the notebook builds, with weights of this seed and width."""
    cells = [*MODEL, *WORK, *CHECKS, *ASKING, *ROUNDING]
    with redirect_stdout(io.StringIO()):
        names = run_cells(NOTEBOOK, "setup", "words", "weights")
        names |= {"head_dim": head_dim, "d_model": 2 * head_dim}
        names["rng"] = np.random.default_rng(seed)
        return run_cells(NOTEBOOK, *cells, **names)


@pytest.fixture(scope="module")
def names():
    return built()


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


SEEDS = [(seed, 8) for seed in range(6)] + [(0, 16), (1, 32)]


@pytest.mark.parametrize(("seed", "head_dim"), SEEDS)
def test_padding_packing_and_ports_for_any_weights(seed, head_dim):
    names = built(seed, head_dim)
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
    for port in names["ports"].values():
        off = errors(whole(port, story))
        assert off[0] < 1e-10 < 0.01 < off[1:].min()

    leak, positions = names["leak"], (names["run_on"], names["restart"])
    leaks = [leak(how, np.tri(21, dtype=bool)) for how in positions]
    assert min(leaks) > 0.5 * max(leaks) > 1
    inferred = names["mask_from"](names["restart"])
    assert leak(names["restart"], inferred) == 0
    cut = names["mask_from"](names["gap"])
    cache = names["new_cache"]()
    rows = errors(names["run"](rope, story, names["gap"], cut, cache))
    assert rows[:8].max() < 1e-10 < 0.5 < rows[8:].min()

    chunked = names["chunked"]
    assert np.abs(chunked(8) - chunked(0)).max() < 1e-10
    assert np.abs(chunked(4) - chunked(0)).max() > 0.5


@pytest.mark.parametrize(("seed", "head_dim"), SEEDS)
def test_dropped_tokens_for_any_weights(seed, head_dim):
    names = built(seed, head_dim)
    after = names["after_dropping"]
    assert min(after(names["drop_oldest"], 8)) > 0.5
    assert after(names["drop_oldest"], 12) == [0] * 4
    assert after(names["shift"], 8) == [0] * 4


@pytest.mark.parametrize("seed", range(6))
def test_an_image_shows_what_no_text_shows(seed):
    """Of three wrong ports of a model with positions on three axes."""
    names = built(seed)
    rope, story, run = names["rope"], names["STORY"], names["run"]
    counted = np.arange(16)
    places, text = names["places"], names["as_text"](16)
    sections = replace(rope, turn=names["on_axes"](0, 0, 1, 2))

    def logits(model, positions):
        cache = names["new_cache"]()
        return run(model, story, positions, names["causal"](16), cache)

    right = logits(names["mrope"], places)
    for model, on_text, on_image in (
        (rope, counted, counted),
        (sections, text, places),
        (names["mrope"], text, names["by_count"]),
    ):
        assert names["errors"](logits(model, on_text)).max() < 1e-10
        assert np.abs(logits(model, on_image) - right).max() > 0.1
    assert places[10].tolist() == [7, 7, 7]


def first_keys(names, model):
    """Keys and values of layer 0 for the story."""
    cache, visible = names["new_cache"](), names["causal"](16)
    names["run"](model, names["STORY"], np.arange(16), visible, cache)
    return cache[0].keys, cache[0].values


@pytest.mark.parametrize("seed", range(4))
def test_lengths_of_keys_tell_the_rotation_from_the_weights(seed):
    names = built(seed)
    rope, layers = names["rope"], names["layers"]
    keys, values = first_keys(names, rope)

    def seen(model):
        other, same = first_keys(names, model)
        np.testing.assert_allclose(same, values)
        assert not np.allclose(other, keys)
        lengths = [np.linalg.norm(each, axis=-1) for each in (other, keys)]
        return np.allclose(*lengths)

    turns = [names[name] for name in ("rotate_halves", "clockwise")]
    turns += [names["other_base"], lambda x, p: names["rotate"](x, 2 * p)]
    assert all(seen(replace(rope, turn=turn)) for turn in turns)
    for wrong in (layers[0]["query"], layers[0]["key"] * 1.01):
        changed = [layers[0] | {"key": wrong}, *layers[1:]]
        assert not seen(replace(rope, layers=changed))
    assert not seen(replace(rope, turn=names["mixes_layouts"]))


@pytest.mark.parametrize("seed", range(4))
def test_rounded_frequencies_are_equally_wrong_everywhere(seed):
    names = built(seed)
    rope, story = names["rope"], names["STORY"]
    models = {w: replace(rope, turn=t) for w, t in names["ROUNDED"].items()}

    def error(what, first):
        rows = names["whole"](models[what], story, first)
        return names["errors"](rows).max()

    near, far = error("frequencies", 0), error("frequencies", 60_000)
    assert near == pytest.approx(far, abs=1e-6)
    assert near > 1e-3
    assert error("positions", 200) < 1e-10 < 0.5 < error("positions", 300)
    assert 1e-3 < error("angles", 0) < 0.5 < error("angles", 300)


@pytest.mark.parametrize("width", [8, 16, 64, 128])
def test_which_functions_pass_all_four_checks(names, width):
    for seed in range(5):
        vectors = np.random.default_rng(seed).normal(size=(2, 2, 6, width))
        trial = run_cells(NOTEBOOK, "trial", **names)
        trial |= {"QUERIES": vectors[0], "KEYS": vectors[1]}
        said = io.StringIO()
        with redirect_stdout(said):
            cells = ["more-checks", "reveal-checks", "reveal-rounded"]
            run_cells(NOTEBOOK, *cells, **trial)
        lines = said.getvalue().splitlines()
        passed = {x.split()[0] for x in lines if x.endswith("passes")}
        conventions = {"rotate", "rotate_halves", "clockwise", "other_base"}
        assert passed == conventions | {"frequencies"}


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
    turn = names["rotate"]
    moved = -4 * np.ones(8)
    for number, answer, reply in (
        (1, lambda size, before: range(before, before + size), "Correct."),
        (1, lambda size, before: np.arange(size), "Each piece begins again"),
        (1, lambda size, before: [before], "Each word has a position"),
        (2, lambda k, v: (turn(k, -4 * np.ones(12))[:, 4:], v[:, 4:]), "Corr"),
        (2, lambda k, v: [turn(k[:, 4:], moved), v[:, 4:]], "Correct."),
        (2, lambda k, v: (k[:, 4:], v[:, 4:]), "The keys are where they"),
        (2, lambda k, v: (turn(k[:, 4:], -moved), v[:, 4:]), "Rotated forw"),
        (2, lambda k, v: (turn(k, moved[0]), v), "Drop four."),
        (
            2,
            lambda k, v: (turn(k, -np.arange(12.0))[:, 4:], v[:, 4:]),
            "All keys are at position 0",
        ),
        (
            2,
            lambda k, v: (turn(k[:, 4:], moved), turn(v[:, 4:], moved)),
            "Values are not rotated",
        ),
        (3, lambda real: among_words(real) + np.diag(~real), "Correct."),
        (3, lambda real: np.tri(20), "Words see pads"),
        (3, among_words, "A row sees nothing"),
        (4, packed, "Correct."),
        (4, lambda n: packed(n)[::-1], "Positions first"),
        (4, lambda n: (packed(n)[0], np.tri(26)), "The story sees another"),
        (5, sorted_by_head, "Correct."),
        (5, lambda weight: weight, "No column has moved"),
        (5, lambda weight: weight[:, names["even_first"]], "Each head by"),
        (5, lambda weight: sorted_by_head(weight.T).T, "You moved rows."),
    ):
        assert_replies(names[f"check_{number}"], [answer], reply)
