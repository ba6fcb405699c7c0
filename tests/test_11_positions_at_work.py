"""Notebook 11: its claims on more seeds, and its exercises."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc_helpers import rotate

NAME = "11_positions_at_work"
CELLS = """
models cache attention run whole invariant begin-again prompt-at-100 decode
drop-oldest dropping check-1 solution-1 padded leak port
check-2 check-3 check-4
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


def test_other_weights_and_heads_of_another_width_find_the_same():
    names = built(seed=2, head_dim=32)
    rope, learned, story = names["rope"], names["learned"], names["STORY"]
    whole, errors = names["whole"], names["errors"]
    for numbering in ("begin_again", "prompt_at_100"):
        broken = errors(names["decode"](rope, story, names[numbering])[0])
        assert broken[:8].max() < 1e-10 < 0.05 < broken[8:].min()
    # Moved as a whole.
    assert errors(whole(rope, story, 1_000)).max() < 1e-10
    assert errors(whole(learned, story, 4), learned).min() > 0.5
    # Dropped tokens, and what they leave behind.
    after = names["after_dropping"]
    assert min(after(names["drop_oldest"], 8)) > 0.5
    assert after(names["drop_oldest"], 12) == [0] * 4
    assert after(names["solution_1"], 8) == [0] * 4
    assert after(names["drop_oldest"], 8, begin=-4) == [0] * 4
    assert min(after(names["solution_1"], 12)) > 0.5
    never_there = whole(rope, story[4:])[-4:]
    assert np.abs(never_there - names["windowed"][-4:]).max(axis=1).min() > 1
    # Pads that are seen: zeros in both layers, and yet they count.
    cache, row = names["new_cache"](), names["ROW"]
    names["run"](rope, row, names["NOT_COUNTED"], np.tri(20) > 0, cache)
    for kept in cache:
        assert not kept.keys[:, :4].any() and not kept.values[:, :4].any()
    seen = names["behind_pads"](rope, names["NOT_COUNTED"], np.tri(20) > 0)
    assert errors(seen).max() > 0.5
    # Packed texts.
    leak, positions = names["leak"], [names["run_on"], names["restart"]]
    positions.append(np.concatenate([np.arange(5), 1_000 + np.arange(16)]))
    leaks = [leak(where, np.tri(21, dtype=bool)) for where in positions]
    assert min(leaks) > 0.5 * max(leaks) > 1
    # Ports.
    same_word = np.repeat(story[:1], 8)
    for port in names["ports"].values():
        np.testing.assert_allclose(
            whole(port, same_word), whole(rope, same_word), atol=1e-10
        )
        assert errors(whole(port, story))[1:].min() > 0.01


def drops(turned_by, keys_first=True):
    """Exercise 1: drop four, and turn the kept keys by so many positions."""

    def shift(keys, values):
        if keys_first:  # turn all of them, and then drop
            return rotate(keys, turned_by * np.ones(12))[:, 4:], values[:, 4:]
        return [rotate(keys[:, 4:], turned_by * np.ones(8)), values[:, 4:]]

    return shift


def behind_four(real):
    """The right mask, whatever `real` says."""
    return among_words(np.arange(20) >= 4) + np.eye(20)


def in_place(weight):
    weight[:] = weight[:, BY_HEAD]
    return weight


def among_words(real):
    return np.tril(np.tile(real, (20, 1))).astype(int)


def to_be_added(real):
    """A mask for adding to scores, where ours says True and False."""
    return np.where(among_words(real) + np.diag(~real), 0, -np.inf)


def packed(numbers):
    places = [list(numbers[:p]).count(n) for p, n in enumerate(numbers)]
    same = [[a == b for b in numbers] for a in numbers]
    return places, np.tril(same)


def two_texts(numbers):
    """What fits rows of two texts alone."""
    sizes = np.sum(numbers == 0), np.sum(numbers == 1)
    return np.concatenate([np.arange(n) for n in sizes]), packed(numbers)[1]


BY_HEAD = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]
EVEN_FIRST = [*range(0, 16, 2), *range(1, 16, 2)]
REPLIES = [
    (1, drops(-4), "Correct."),
    (1, drops(-4, keys_first=False), "Correct."),
    (1, drops(0), "The keys are where they"),
    (1, drops(4), "rotated forward"),
    (1, lambda k, v: (rotate(k, -4)[:, 4:], v[:, :8]), "newest"),
    (1, lambda keys, values: (keys[4:], values[4:]), ("Keep eight", "axis 1")),
    (1, drops(-3), ("by how far?", "Drop four")),
    (2, lambda real: among_words(real) + np.diag(~real), "Correct."),
    (2, lambda real: np.tri(20), "still sees a pad"),
    (2, among_words, "A row sees nothing"),
    (2, behind_four, "the same behind three pads"),
    (2, lambda real: real, "20 by 20"),
    (2, to_be_added, ("Which columns", "columns 4 and 5")),
    (3, packed, "Correct."),
    (3, lambda n: [np.array(each).tolist() for each in packed(n)], "Correct."),
    (3, lambda n: packed(n)[::-1], "Return positions, mask"),
    (3, lambda n: (packed(n)[0], np.tri(26)), "sees another text"),
    (3, lambda n: (np.arange(len(n)), packed(n)[1]), "which positions"),
    (3, two_texts, ("needs one position", "from numbers alone")),
    (3, lambda n: (packed(n)[0], np.eye(26)), ("who sees whom", "sees all")),
    (3, lambda n: (packed(n)[0], np.equal.outer(n, n)), "sees a later one"),
    (3, lambda n: packed(np.repeat([0, 1], [5, 21])), "needs one position"),
    (4, lambda weight: weight[:, BY_HEAD], "Correct."),
    (4, in_place, "Correct."),
    (4, lambda weight: weight, "No column has moved"),
    (4, lambda weight: weight[:, EVEN_FIRST], "got mixed"),
    (4, lambda weight: weight[:, ::-1], ("belong to head 0", "even ones")),
    (4, lambda weight: weight[BY_HEAD], "You moved rows"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answer, reply):
    assert_replies(names[f"check_{number}"], [answer], reply)
