"""Notebook 14: its claims at another size, its positions, its exercises."""

import numpy as np
import pytest
from conftest import assert_replies
from PIL import Image

from posenc_helpers import angular_frequencies, rotate

WITHOUT = ["reveal-rope", "reveal-ruler", "ruler"]
SIZE = 6  # the notebook trains at 8 by 8
BELOW, RIGHT_AND_BELOW = [(1, 0)], [(0, 1), (1, 0)]


def share_of_hits(scores, shape):
    """Share of the patches whose best score is the patch below."""
    height, width = shape
    asking = np.arange((height - 1) * width)
    return np.mean(scores[asking].argmax(axis=1) == asking + width)


def fair_share(names, scores, offsets=RIGHT_AND_BELOW):
    """As in the notebook, for another size and as a number."""
    target = names["wanted"]((SIZE, SIZE), *offsets)
    weights = np.where(target > 0, names["softmax"](scores), 1)
    smallest = weights[names["inside"](target)].min(axis=1)
    return smallest.mean() * len(offsets)


def trained(names, encode, offsets=BELOW):
    """The matrix of a head that learned where to look at another size."""
    target = names["wanted"]((SIZE, SIZE), *offsets)
    return names["train"](encode(SIZE, SIZE), target)


@pytest.mark.parametrize(
    ("encoding", "found", "missed"),
    [
        ("by_number", [(6, 6), (4, 6)], [(6, 4), (6, 7), (10, 10)]),
        ("by_place", [(6, 6), (4, 6), (6, 4)], []),
        ("wrong_order", [(6, 6), (4, 4)], [(4, 6), (6, 4)]),
    ],
)
def test_shapes_in_which_a_head_finds_the_patch_below(
    names, encoding, found, missed
):
    encode = names[encoding]
    matrix = trained(names, encode)
    for shape in found + missed:
        rows = encode(*shape)
        share = share_of_hits(rows @ matrix @ rows.T, shape)
        assert share == 1 if shape in found else share < 0.1


def test_right_and_below_is_beyond_rows_plus_columns(names):
    """Two in one row are not; numbers and a free table can do all."""
    tasks = {"diagonal": [(1, 1)], "row": [(1, 0), (1, 1)]}
    tasks["both"] = RIGHT_AND_BELOW
    shares = {}
    for name in ("by_number", "by_place", "by_table"):
        rows = names[name](SIZE, SIZE)
        for task, offsets in tasks.items():
            scores = rows @ trained(names, names[name], offsets) @ rows.T
            shares[name, task] = fair_share(names, scores, offsets)
        assert shares[name, "diagonal"] > 0.98
    assert shares["by_place", "row"] > 0.9
    assert 0.45 < shares["by_place", "both"] < 0.51
    assert shares["by_number", "both"] > shares["by_place", "both"] + 0.08
    assert shares["by_table", "both"] > 0.99


def test_axial_waves_rotate_half_the_pairs_by_each_axis(names):
    """The helper's own rotation, by the row and by the column."""
    generator = np.random.default_rng(seed=3)
    query, key = generator.normal(size=(2, 16, 2))
    row, column = names["grid"](5, 7)

    def turned(x):
        half = {"frequencies": angular_frequencies(16, 10)}
        x = np.tile(x.reshape(1, 32), (35, 1))
        left, right = rotate(x[:, :16], row, **half), x[:, 16:]
        return np.concatenate([left, rotate(right, column, **half)], axis=1)

    pairs = query @ [1, 1j] * (key @ [1, -1j])
    turn = names["turns"](names["axial"](16), (5, 7))
    scores = names["rotary_scores"](pairs, turn)
    np.testing.assert_allclose(turned(query) @ turned(key).T, scores)


@pytest.mark.parametrize(
    ("make", "low", "high"), [("axial", 0.49, 0.51), ("mixed", 0.85, 1.01)]
)
def test_rotary_heads_at_another_size_and_base(names, make, low, high):
    waves = names[make](16, 100)
    turn = names["turns"](waves, (SIZE, SIZE))

    def learned(offsets):
        target = names["wanted"]((SIZE, SIZE), *offsets)
        return names["train_query"](turn, target)

    for shape in ((SIZE, SIZE), (3, SIZE), (18, 15)):
        larger = names["turns"](waves, shape)
        scores = names["rotary_scores"](learned(BELOW), larger)
        assert share_of_hits(scores, shape) == 1
    scores = names["rotary_scores"](learned(RIGHT_AND_BELOW), turn)
    assert low < fair_share(names, scores) < high


@pytest.mark.parametrize(
    ("old", "new"), [((6, 5), (9, 14)), ((4, 9), (11, 9)), ((2, 8), (4, 8))]
)
def test_resizing_agrees_with_pillow(names, old, new):
    table = np.random.default_rng(seed=1).normal(size=(*old, 3))
    ours = names["resize"](table, new)
    for column in range(3):
        picture = Image.fromarray(table[..., column].astype("f4"))
        theirs = picture.resize(new[::-1], Image.Resampling.BILINEAR)
        np.testing.assert_allclose(ours[..., column], theirs, atol=1e-6)


def test_places_are_the_published_examples(names):
    """Those in the docstring of Qwen2-VL's `get_rope_index`."""
    time, row, column = names["places"]((3, 2, 2), 5).T
    assert time.tolist() == [*[0] * 4, *[1] * 4, *[2] * 4, *range(3, 8)]
    assert row.tolist() == [*3 * [0, 0, 1, 1], *range(3, 8)]
    assert column.tolist() == [*6 * [0, 1], *range(3, 8)]
    # The next part begins behind the largest position of the last one.
    found = names["places"](1, (1, 2, 3), 1, (2, 1, 1), 1)
    assert found.max(axis=1).tolist() == [0, 1, 2, 3, 2, 2, 3, 4, 5, 6, 7]


def by_rows_and_columns(offsets):
    share = {}
    for down, right in offsets:
        share["row", down] = share.get(("row", down), 0) + 1 / len(offsets)
        key = "column", right
        share[key] = share.get(key, 0) + 1 / len(offsets)
    return sum(share["row", d] * share["column", r] for d, r in offsets)


def no_diagonal(offsets):
    return by_rows_and_columns(offsets) if len(offsets) > 1 else 0.5


def one_of_them(offsets):
    down, right = offsets[0]
    row = sum(d == down for d, _ in offsets) / len(offsets)
    return row * sum(r == right for _, r in offsets) / len(offsets)


def interpolated(table, old, new):
    """By NumPy's own interpolation, first down and then across."""
    grid = table[1:].reshape(*old, -1)
    for axis in (0, 1):
        count, to = old[axis], new[axis]
        centers = (np.arange(to) + 0.5) * count / to - 0.5
        grid = np.apply_along_axis(
            lambda line, at=centers: np.interp(at, np.arange(len(line)), line),
            axis,
            grid,
        )
    return np.vstack([table[:1], grid.reshape(-1, table.shape[1])])


def unless_as_many(table, old, new):
    if np.prod(old) == np.prod(new):
        return table
    return interpolated(table, old, new)


def transposed(table, old, new):
    places = table[1:].reshape(*old[::-1], 2).swapaxes(0, 1).reshape(-1, 2)
    return interpolated(np.vstack([table[:1], places]), old, new)


REPLIES = [
    (1, [by_rows_and_columns], "Correct."),
    (1, [no_diagonal], ("one row, one column", "its row's share by")),
    (1, [lambda offsets: 1], ("not wanted", "its row's share by")),
    (1, [one_of_them], ("not of one", "its row's share by")),
    (1, [lambda offsets: 2], ("What share", "its row's share by")),
    (2, [interpolated, lambda *g: interpolated(*g).tolist()], "Correct."),
    (2, [lambda *g: interpolated(*g)[1:]], ("16 places", "on top")),
    (2, [lambda *g: interpolated(*g)[::-1]], ("is no place", "on top")),
    (2, [unless_as_many], ("Is the grid the same?", "resize here, too")),
    (2, [transposed], ("has no place", "rows first, then columns")),
    (3, [(20, 20), [21, 20], (14, 29), (20.0, 20.0)], "Correct."),
    (3, [(10, 40)], ("first word behind", "30 are left")),
    (3, [(19, 19), (0, 500)], ("too few", "at least 400")),
    (3, ["20 x 20", (20.5, 20), 20, (3, 12, 12)], "two whole numbers"),
]


@pytest.mark.parametrize(("number", "answers", "words"), REPLIES)
def test_what_the_checks_reply(names, number, answers, words):
    assert_replies(names[f"check_{number}"], answers, words)
