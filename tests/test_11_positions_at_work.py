"""Notebook 11: its claims on more seeds, and its exercises."""

import io
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc_helpers import rotate

NAME = Path(__file__).stem.removeprefix("test_")
CELLS = """
models cache attention run whole invariant decode dropping reveal-dropped
check-2 solution-2 axes places padded chunks reveal-gap leak inferred
reveal-inferred port check-1 check-3 check-4 check-5 trial more-checks
suspects-1 reveal-checks bfloat16 reveal-rounded
"""


def built(seed=1, head_dim=8):
    """All that the notebook builds, with weights of this seed and width."""
    with redirect_stdout(io.StringIO()):
        names = run_cells(NAME, "setup", "words", "weights")
        names |= {"head_dim": head_dim, "d_model": 2 * head_dim}
        names["rng"] = np.random.default_rng(seed)
        return run_cells(NAME, *CELLS.split(), **names)


@pytest.fixture(scope="module")
def names() -> dict:
    return built()


@pytest.mark.parametrize(
    ("seed", "head_dim"), [*((seed, 8) for seed in range(6)), (0, 16), (1, 32)]
)
def test_findings_on_positions_hold_for_any_weights(seed, head_dim):
    names = built(seed, head_dim)
    rope, learned, story = names["rope"], names["learned"], names["STORY"]
    whole, errors, padded = [
        names[name] for name in ("whole", "errors", "behind_pads")
    ]
    # Decoding that begins again, or leaves a gap.
    broken = errors(names["decode"](rope, story, names["begin_again"])[0])
    for rows in (broken, errors(names["with_gap"])):
        assert rows[:8].max() < 1e-10
        assert rows[8:].min() > 0.05
    # Moved as a whole.
    for first in (4, 5, 1_000):
        assert errors(whole(rope, story, first)).max() < 1e-10
    assert errors(whole(learned, story, 4), learned).min() > 0.5
    chunked = names["chunked"]
    assert np.abs(chunked(8) - chunked(0)).max() < 1e-10
    assert np.abs(chunked(4) - chunked(0)).max() > 0.5
    # Dropped tokens.
    after = names["after_dropping"]
    assert min(after(names["drop_oldest"], 8)) > 0.5
    assert after(names["drop_oldest"], 12) == [0] * 4
    assert after(names["shift"], 8) == [0] * 4
    # Pads that are seen.
    seen, skipped = np.tri(20, dtype=bool), names["NOT_COUNTED"]
    for model in (rope, learned):
        assert errors(padded(model, skipped, seen), model).max() > 0.5
    # Packed texts.
    leak, positions = names["leak"], (names["run_on"], names["restart"])
    leaks = [leak(how, np.tri(21, dtype=bool)) for how in positions]
    assert min(leaks) > 0.5 * max(leaks) > 1
    assert leak(names["restart"], names["mask_from"](names["restart"])) == 0
    cut = errors(names["cut"])
    assert cut[:8].max() < 1e-10 < 0.5 < cut[8:].min()
    # Ports, tested at position 0 alone.
    for port in names["ports"].values():
        off = errors(whole(port, story))
        assert off[0] < 1e-10 < 0.01 < off[1:].min()


@pytest.mark.parametrize("seed", range(6))
def test_an_image_shows_what_no_text_shows(seed):
    """Of the three wrong ports of a model with positions on three axes."""
    names = run_cells(NAME, "reveal-axes", **built(seed))

    def logits(model, positions):
        visible, cache = names["causal"](16), names["new_cache"]()
        return names["run"](model, names["STORY"], positions, visible, cache)

    right = logits(names["mrope"], names["places"])
    for model, on_text, on_image in names["teams"].values():
        assert names["errors"](logits(model, on_text)).max() < 1e-10
        assert np.abs(logits(model, on_image) - right).max() > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_lengths_of_keys_tell_the_rotation_from_the_weights(seed):
    names = built(seed)
    rope, layers, turn = (names[x] for x in ("rope", "layers", "rotate"))

    def keys_and_values(model):
        cache, visible = names["new_cache"](), names["causal"](16)
        names["run"](model, names["STORY"], np.arange(16), visible, cache)
        return cache[0].keys, cache[0].values

    keys, values = keys_and_values(rope)

    def keeps_lengths(**changes):
        other, same = keys_and_values(replace(rope, **changes))
        np.testing.assert_allclose(same, values)
        assert not np.allclose(other, keys)
        return np.allclose(*np.linalg.norm([other, keys], axis=-1))

    turns = [names[x] for x in ("rotate_halves", "clockwise", "other_base")]
    turns += [lambda x, positions: turn(x, 2 * positions)]
    assert all(keeps_lengths(turn=turn) for turn in turns)
    assert not keeps_lengths(turn=names["mixes_layouts"])
    for wrong in (layers[0]["query"], layers[0]["key"] * 1.01):
        changed = [layers[0] | {"key": wrong}, *layers[1:]]
        assert not keeps_lengths(layers=changed)


@pytest.mark.parametrize("seed", range(4))
def test_rounded_frequencies_are_equally_wrong_everywhere(seed):
    names = built(seed)

    def error(what, first):
        model = replace(names["rope"], turn=names["ROUNDED"][what])
        rows = names["whole"](model, names["STORY"], first)
        return names["errors"](rows).max()

    near, far = error("frequencies", 0), error("frequencies", 60_000)
    assert near == pytest.approx(far, abs=1e-6)
    assert near > 1e-3
    assert error("positions", 200) < 1e-10 < 0.5 < error("positions", 300)
    assert 1e-3 < error("angles", 0) < 0.5 < error("angles", 300)


@pytest.mark.parametrize("width", [8, 16, 64, 128])
@pytest.mark.parametrize("seed", range(5))
def test_which_functions_pass_all_four_checks(names, width, seed, capsys):
    vectors = np.random.default_rng(seed).normal(size=(2, 2, 6, width))
    trial = run_cells(NAME, "trial", **names)
    trial |= {"QUERIES": vectors[0], "KEYS": vectors[1]}
    capsys.readouterr()
    cells = ["more-checks", "reveal-checks", "reveal-rounded"]
    run_cells(NAME, *cells, **trial)
    lines = capsys.readouterr().out.splitlines()
    passed = {line.split()[0] for line in lines if line.endswith("passes")}
    conventions = {"rotate", "rotate_halves", "clockwise", "other_base"}
    assert passed == conventions | {"frequencies"}


def drops(turned_by, keys_first=True):
    """Exercise 2: drop four, and turn the kept keys by so many positions."""

    def shift(keys, values):
        if keys_first:  # turn all of them, and then drop
            return rotate(keys, turned_by * np.ones(12))[:, 4:], values[:, 4:]
        return [rotate(keys[:, 4:], turned_by * np.ones(8)), values[:, 4:]]

    return shift


def among_words(real):
    return np.tril(np.tile(real, (20, 1))).astype(int)


def packed(numbers):
    places = [list(numbers[:p]).count(n) for p, n in enumerate(numbers)]
    same = [[a == b for b in numbers] for a in numbers]
    return places, np.tril(same)


BY_HEAD = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]
EVEN_FIRST = [*range(0, 16, 2), *range(1, 16, 2)]
REPLIES = [
    (1, lambda size, before: range(before, before + size), "Correct."),
    (1, lambda size, before: np.arange(size), "Each piece begins again"),
    (2, drops(-4), "Correct."),
    (2, drops(-4, keys_first=False), "Correct."),
    (2, drops(0), "The keys are where they"),
    (2, drops(4), "Rotated forward"),
    (2, lambda keys, values: (keys, values), "Drop four."),
    (3, lambda real: among_words(real) + np.diag(~real), "Correct."),
    (3, lambda real: np.tri(20), "Words see pads"),
    (3, among_words, "A row sees nothing"),
    (4, packed, "Correct."),
    (4, lambda n: (packed(n)[0], np.tri(26)), "The story sees another"),
    (5, lambda weight: weight[:, BY_HEAD], "Correct."),
    (5, lambda weight: weight, "No column has moved"),
    (5, lambda weight: weight[:, EVEN_FIRST], "Each head by itself"),
    (5, lambda weight: weight[BY_HEAD], "You moved rows."),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answer, reply):
    assert_replies(names[f"check_{number}"], [answer], reply)
