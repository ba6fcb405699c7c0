"""Notebook 14: its claims at other sizes, its positions, its exercises."""

import numpy as np
import pytest
from conftest import assert_replies
from PIL import Image

from posenc_helpers import angular_frequencies, rotate

RIGHT_AND_BELOW = [(0, 1), (1, 0)]
# The notebook trains at 8 by 8; 6 by 6 is trained sooner than the others.
SIZES = [6, pytest.param(12, marks=pytest.mark.slow)]


def share_of_hits(names, scores, shape, down=1):
    """Share of the patches whose best score is the patch below."""
    height, width = shape
    asking = np.arange((height - down) * width)
    return np.mean(scores[asking].argmax(axis=1) == asking + down * width)


def fair_share(names, scores, size, offsets=RIGHT_AND_BELOW):
    """As in the notebook, for other sizes and as a number."""
    target = names["wanted"]((size, size), *offsets)
    weights = np.where(target > 0, names["softmax"](scores), 1)
    smallest = weights[names["inside"](target)].min(axis=1)
    return smallest.mean() * len(offsets)


def trained_shares(names, encode, size, shapes):
    """Train to look below, and test on each shape."""
    target = names["wanted"]((size, size), (1, 0))
    matrix = names["train"](encode(size, size), target)
    tables = [encode(*shape) for shape in shapes]
    return [
        share_of_hits(names, table @ matrix @ table.T, shape)
        for table, shape in zip(tables, shapes, strict=True)
    ]


def rotary_share(names, waves, size, steps=400, offsets=RIGHT_AND_BELOW):
    turn = names["turns"](waves, (size, size))
    target = names["wanted"]((size, size), *offsets)
    query = names["train_query"](turn, target, steps)
    scores = names["rotary_scores"](query, turn)
    return fair_share(names, scores, size, offsets)


# One head, and what it can do.


@pytest.mark.parametrize("size", SIZES)
def test_numbers_work_at_the_width_of_training_alone(names, size):
    same = [(size, size), (size - 2, size)]
    other = [(size, size - 2), (size - 1, size - 2), (size, size + 1)]
    other += [(size + 4, size + 4)]
    shares = trained_shares(names, names["by_number"], size, same + other)
    assert shares[:2] == [1, 1]
    assert max(shares[2:]) < 0.1


@pytest.mark.parametrize("size", SIZES)
def test_a_wrong_order_shows_where_height_is_not_width(names, size):
    square = [(size, size), (size - 2, size - 2)]
    smaller = [(size - 2, size), (size, size - 2), (size - 1, size - 2)]
    shapes = square + smaller
    shares = trained_shares(names, names["by_place"], size, shapes)
    assert shares == [1] * 5
    shares = trained_shares(names, names["wrong_order"], size, shapes)
    assert shares[:2] == [1, 1]
    assert max(shares[2:]) < 0.1


@pytest.mark.parametrize("size", SIZES)
def test_right_and_below_is_beyond_rows_plus_columns(names, size):
    """The neighbors alone are not; numbers and a free table can do all."""
    results = {}
    for name in ("by_number", "by_place", "by_table"):
        rows = names[name](size, size)
        for offsets in ([(0, 1)], [(1, 1)], RIGHT_AND_BELOW):
            target = names["wanted"]((size, size), *offsets)
            matrix = names["train"](rows, target)
            scores = rows @ matrix @ rows.T
            share = fair_share(names, scores, size, offsets)
            results[name, len(offsets)] = share
            if len(offsets) == 1:
                assert share > 0.98
    assert 0.45 < results["by_place", 2] <= 0.5 + 1e-9
    assert results["by_number", 2] > results["by_place", 2] + 0.08
    assert results["by_table", 2] > 0.99


def test_training_ends_at_the_share_of_exercise_1(names):
    """With a learned vector for each row, and one for each column."""
    around = [(d, r) for d in (-1, 0, 1) for r in (-1, 0, 1) if d or r]
    for offsets, share in [
        (RIGHT_AND_BELOW, 1 / 2),
        ([(1, 1), (2, 2), (3, 3)], 1 / 3),
        (around, 15 / 16),
    ]:
        target = names["wanted"]((8, 8), *offsets)
        row, column = names["grid"](8, 8)
        rows = 3 * np.concatenate([np.eye(8)[row], np.eye(8)[column]], axis=1)
        scores = rows @ names["train"](rows, target, 1600) @ rows.T
        weights = names["softmax"](scores) * (target > 0)
        found = weights[names["inside"](target)].sum(axis=1).mean()
        assert found == pytest.approx(share, abs=0.02)


# RoPE in two dimensions.


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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("base", [10, 100])
def test_rotary_heads_work_at_any_size(names, size, base):
    shapes = [(size, size), (3, size), (size, 4), (18, 15)]
    target = names["wanted"]((size, size), (1, 0))
    for make, low, high in [("axial", 0.49, 0.5), ("mixed", 0.85, 1)]:
        waves = names[make](16, base)
        turn = names["turns"](waves, (size, size))
        query = names["train_query"](turn, target)
        for shape in shapes:
            turn = names["turns"](waves, shape)
            scores = names["rotary_scores"](query, turn)
            assert share_of_hits(names, scores, shape) == 1
        assert low < rotary_share(names, waves, size) <= high + 1e-9


# Another size.


SHAPES = [((6, 5), (9, 14)), ((4, 9), (11, 9)), ((2, 8), (4, 8))]


@pytest.mark.parametrize(("old", "new"), SHAPES)
def test_resizing_agrees_with_pillow(names, old, new):
    table = np.random.default_rng(seed=1).normal(size=(*old, 3))
    ours = names["resize"](table, new)
    for column in range(3):
        picture = Image.fromarray(table[..., column].astype("f4"))
        theirs = picture.resize(new[::-1], Image.Resampling.BILINEAR)
        np.testing.assert_allclose(ours[..., column], theirs, atol=1e-6)
    corners = names["resize"](table, new, corners=True)
    for here, there in ((0, 0), (0, -1), (-1, 0), (-1, -1)):
        np.testing.assert_allclose(corners[here, there], table[here, there])


@pytest.mark.parametrize("size", SIZES)
def test_a_doubled_table_looks_two_patches_down(names, size):
    rows = names["by_table"](size, size)
    target = names["wanted"]((size, size), (1, 0))
    matrix = names["train"](rows, target)
    table = rows.reshape(size, size, -1)
    larger = names["resize"](table, (2 * size, 2 * size))
    larger = larger.reshape(4 * size**2, -1)
    scores = larger @ matrix @ larger.T
    shares = [
        share_of_hits(names, scores, (2 * size, 2 * size), down)
        for down in (1, 2, 3)
    ]
    assert shares[1] > 0.7
    assert max(shares[0], shares[2]) < 0.2


# Images and videos among words.

WORD, PATCH = 0, 1


def positions_of_tokens(parts):
    """What `get_rope_index` of transformers returns, token by token.

    It is written after the published code of Qwen2-VL and Qwen2.5-VL, which
    reads a stream of tokens in which a grid announces its patches.
    """
    tokens, grids = [], []
    for part in parts:
        if isinstance(part, int):
            tokens += [WORD] * part
        else:
            tokens += [PATCH] * int(np.prod(part))
            grids.append(part)
    found, at = [], 0
    while at < len(tokens):
        start = max((max(each) for each in found), default=-1) + 1
        if tokens[at] == WORD:
            found.append((start, start, start))
            at += 1
            continue
        frames, rows, columns = grids.pop(0)
        for frame in range(frames):
            for row in range(rows):
                for column in range(columns):
                    found.append((start + frame, start + row, start + column))
        at += frames * rows * columns
    return found


@pytest.mark.parametrize(
    "parts",
    [
        (7,),
        ((1, 3, 2),),
        (4, (1, 2, 3), 5),
        ((1, 4, 4), 1, (1, 2, 9), 3),
        (2, (3, 2, 2), 5),
        (1, (1, 5, 2), (4, 2, 3), (1, 1, 1), 6, (2, 3, 3)),
        (3, (8, 1, 2), 2, (1, 6, 2), 4, (5, 2, 2), 1),
    ],
)
def test_places_are_those_of_the_published_code(names, parts):
    places = names["places"](*parts)
    wanted = positions_of_tokens(parts)
    np.testing.assert_array_equal(places, wanted)


def test_places_are_the_published_examples(names):
    """In the docstrings of Qwen2-VL and Qwen2.5-VL, and in an issue."""
    time, row, column = names["places"]((3, 2, 2), 5).T
    assert time.tolist() == [*[0] * 4, *[1] * 4, *[2] * 4, *range(3, 8)]
    assert row.tolist() == [*3 * [0, 0, 1, 1], *range(3, 8)]
    assert column.tolist() == [*6 * [0, 1], *range(3, 8)]


# The exercises.


def by_rows_and_columns(offsets):
    share = {}
    for down, right in offsets:
        share["row", down] = share.get(("row", down), 0) + 1 / len(offsets)
        key = "column", right
        share[key] = share.get(key, 0) + 1 / len(offsets)
    return sum(share["row", d] * share["column", r] for d, r in offsets)


def no_diagonal(offsets):
    return by_rows_and_columns(offsets) if len(offsets) > 1 else 0.5


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
    (1, [no_diagonal], "one row and one column"),
    (1, [lambda offsets: 1], "not all corners"),
    (2, [interpolated, lambda *g: interpolated(*g).tolist()], "Correct."),
    (2, [lambda *given: interpolated(*given)[1:]], "the class token?"),
    (2, [lambda *given: interpolated(*given)[::-1]], "is no place"),
    (2, [unless_as_many], "Is the grid the same?"),
    (2, [transposed], ("has no place", "rows first, then columns")),
    (3, [(20, 20), [21, 20], (14, 29)], "Correct."),
    (3, [(10, 40)], ("first word behind", "at most 30")),
    (3, [(19, 19), 20], "too few"),
    (3, ["20 x 20", (20.5, 20)], "two whole numbers"),
]


@pytest.mark.parametrize(("number", "answers", "words"), REPLIES)
def test_what_the_checks_reply(names, number, answers, words):
    assert_replies(names[f"check_{number}"], answers, words)
