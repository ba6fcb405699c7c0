"""Tables of sinusoids, right and wrong.

The right ones are written here entry by entry with `math` alone.
"""

import math

import ml_dtypes
import numpy as np
import pytest
from posenc_review import CONVENTIONS, review

WIDTH = 32
COLUMN = np.arange(WIDTH)


def entry(position, column, d_model, convention):
    """One entry of a table in a convention, from its definition."""
    pairs = half = d_model // 2
    pair, second = divmod(column, 2)
    if "half" in convention:
        pair, second = column % half, column // half
    steps = d_model / 2 if "paper" in convention else max(pairs - 1, 1)
    angle = position / 10_000 ** (pair / steps)
    is_sine = second == ("cosine first" in convention)
    return math.sin(angle) if is_sine else math.cos(angle)


def spelled_out(convention):
    return lambda rows, width: np.array(
        [
            [entry(p, k, width, convention) for k in range(width)]
            for p in range(rows)
        ]
    )


def table(rows, width, read=None, exponents=None):
    """The paper's table, with other positions or exponents for columns."""
    column = np.arange(width)
    places = np.arange(rows) if read is None else read(np.arange(rows))
    exponents = column - column % 2 if exponents is None else exponents
    angles = np.outer(places, 10_000.0 ** (-np.array(exponents) / width))
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("d_model", [4, 8])
def test_each_convention_is_told_and_is_no_bug(convention, d_model):
    encoder = spelled_out(convention)
    seen = review(encoder, d_model, max_len=128)
    assert (seen.findings, seen.convention) == ({}, convention)
    for other in [x for x in CONVENTIONS if x != convention][::3]:
        found = review(encoder, d_model, max_len=100, convention=other)
        assert found.findings


@pytest.mark.parametrize("d_model", [2, 16])
def test_right_at_every_width(d_model):
    seen = review(table, d_model, max_len=9000)
    assert seen.findings == {}
    assert seen.looked_at == "Rows: 9000, the first 9000 right to 1e-06."


EVEN = COLUMN - COLUMN % 2  # the exponents of columns, times the width
EXPONENTS = {  # what they are instead, and what has to be said
    "base is 500000, where 10000": EVEN * np.log10(5e5) / 4,
    "a doubled exponent": 2 * EVEN,
    "angles: each column has an exponent of its own": COLUMN,
    "angles: exponents are twice the column's number": 2 * COLUMN,
    "a minus is missing": -EVEN,
}
POSITIONS = {  # what the position `n` of a row is taken for
    "taken for position 1, and each for the next": lambda n: n + 1,
    "Positions are rounded to bfloat16: position 257": (
        lambda n: n.astype(ml_dtypes.bfloat16)
    ),
    "From position 520 on, positions are taken for position 519": (
        lambda n: np.minimum(n, 519)
    ),
}


@pytest.mark.parametrize("words", [*EXPONENTS, *POSITIONS])
def test_other_exponents_and_positions_are_said(words):
    read, exponents = POSITIONS.get(words), EXPONENTS.get(words)

    def encoder(rows, width):
        return table(rows, width, read, exponents)

    found = review(encoder, WIDTH, max_len=600).findings
    assert list(found) == ["every row"]
    assert words in found["every row"]


def in_float32(rows, width):
    places, exponents = np.arange(rows, dtype="f4"), EVEN / width
    angles = np.outer(places, (10_000.0**-exponents).astype("f4"))
    return np.where(COLUMN % 2 == 0, np.sin(angles), np.cos(angles))


def in_float32_from_1(rows, width):
    return in_float32(rows + 1, width)[1:]


def in_float16(rows, width):
    return table(rows, width).astype(np.float16)


def exchanged(rows, width):
    return table(rows, width)[:, np.r_[:2, 3, 2, 4:WIDTH]]


def without_row_0(rows, width):
    return table(rows, width) * (np.arange(rows) > 0)[:, None]


def changed_by_a_long_table(rows, width):
    return table(rows, width) + (rows > 512) * (np.arange(rows) == 7)[:, None]


RANDOM = np.random.default_rng(0).normal(size=(600, WIDTH))
WRONG = [  # an encoder, the name of the finding, and what has to be said
    (without_row_0, "every row", "At position 0, the result is zero"),
    (lambda n, d: table(n, d) / 8, "every row", "Lengths change by 0.125"),
    (exchanged, "every row", "Pair 1: sines and cosines are exchanged"),
    (in_float32, "every row", "those of angles in float32"),
    (in_float32_from_1, "every row", "position 1, and each for the next"),
    (in_float16, "every row", "Sines and cosines are rounded to float16"),
    (lambda n, d: RANDOM[:n], "every row", "No known cause explains it"),
    (lambda n, d: table(n, d)[:, None], "batch axis", "should be (4, 32)"),
    (changed_by_a_long_table, "first rows", "a table of 600 rows, row 7"),
    (lambda n, d: table(100, d)[:n], "table", "the shape is (100, 32)"),
    (lambda n, d: None, "table", "it returns no numbers, but: NoneType"),
]


@pytest.mark.parametrize(("encoder", "name", "words"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_said(encoder, name, words):
    found = review(encoder, WIDTH, max_len=600).findings
    assert next(iter(found)) == name
    assert words in found[name]


def test_a_table_is_held_to_what_is_asked():
    asked = {"max_len": 200, "convention": "paper, interleaved"}
    seen = review(spelled_out("paper, half"), 8, **asked)
    assert "The table is paper, half" in seen.findings["every row"]
    assert seen.convention.endswith("held to paper, interleaved")
    loose = {"max_len": 600, "tolerance": 1e-3}
    assert not review(in_float16, WIDTH, **loose).findings


def test_a_table_may_start_elsewhere():
    def late(rows, width):
        return table(rows + 1, width)[1:]

    assert not review(late, WIDTH, max_len=200, start=1).findings
    found = review(late, WIDTH, max_len=200, start=3).findings["every row"]
    assert "is taken for position -2: all are moved by -2" in found


def test_a_table_is_asked_for_again():
    calls = []

    def drifts(rows, width):
        calls.append(rows)
        return table(rows, width) + 1e-9 * len(calls)

    assert list(review(drifts, 8, max_len=200).findings) == ["state"]


def test_arguments_that_make_no_sense_are_named():
    for given, told in (
        ({"d_model": 0}, "d_model=0: give an integer from 2 to"),
        ({"max_len": 63}, "max_len=63: give an integer from 64 to"),
        ({"base": "2"}, "base='2': give a number above 1"),
        ({"convention": "my"}, "convention='my': give one of paper, int"),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            review(table, **given)
        assert str(caught.value).startswith(told)
