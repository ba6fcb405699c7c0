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
EVEN = COLUMN - COLUMN % 2  # the exponents of columns, times the width


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
def test_each_convention_is_told_and_is_no_bug(convention):
    encoder = spelled_out(convention)
    seen = review(encoder, 8, max_len=100)
    assert (seen.findings, seen.convention) == ({}, convention)
    for other in [x for x in CONVENTIONS if x != convention][::3]:
        assert review(encoder, 8, max_len=64, convention=other).findings


@pytest.mark.parametrize("d_model", [2, 16])
def test_right_at_every_width(d_model):
    seen = review(table, d_model, max_len=9000)
    assert seen.findings == {}
    assert seen.looked_at == "Rows: 9000, the first 9000 right to 1e-06."


def in_float32(rows, width):
    places, exponents = np.arange(rows, dtype="f4"), EVEN / width
    angles = np.outer(places, (10_000.0**-exponents).astype("f4"))
    return np.where(COLUMN % 2 == 0, np.sin(angles), np.cos(angles))


def changed_by_a_long_table(rows, width):
    return table(rows, width) + (rows > 512) * (np.arange(rows) == 7)[:, None]


def with_exponents(exponents):
    return lambda n, d: table(n, d, exponents=exponents)


def with_positions(read):
    return lambda n, d: table(n, d, read)


WRONG = [  # an encoder, and what has to be said, worked out by hand
    (with_exponents(EVEN * np.log10(5e5) / 4), "All are those of base 500000"),
    (with_exponents(COLUMN), "1264 of 1264 rows differ"),
    (with_exponents(-EVEN), "pair 1 by 1.7783 radians per position, not"),
    (with_positions(lambda n: n + 1), "read back are 1 after their own"),
    (
        with_positions(lambda n: n.astype(ml_dtypes.bfloat16)),
        "257, 259, 261, 263, 265, 267 as 256, 260, 260, 264, 264, 268",
    ),
    (with_positions(lambda n: np.minimum(n, 519)), "520, 521, 522, 523, 524"),
    (lambda n, d: table(n, d) / 8, "become 0.125 times as long in pairs 0 to"),
    (
        lambda n, d: table(n, d)[:, np.r_[:2, 3, 2, 4:d]],
        "(pair 1) turn otherwise than with base 10000: pair 1",
    ),
    (in_float32, "rows differ, by up to 0.0000"),
    (lambda n, d: table(n, d)[:, None], "64 rows: the shape is (64, 1, 32)"),
    (changed_by_a_long_table, "Tables of 1136 rows (row 7) differ. Right are"),
    (lambda n, d: table(100, d)[:n], "1136 rows: the shape is (100, 32)"),
    (lambda n, d: None, "it returns NoneType, no real numbers"),
]


@pytest.mark.parametrize(("encoder", "words"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_differs_is_measured(encoder, words):
    found = review(encoder, WIDTH, max_len=1136)
    assert found.findings
    assert words in str(found)


def test_a_table_is_held_to_what_is_asked():
    asked = {"max_len": 200, "convention": "paper, interleaved"}
    seen = review(spelled_out("paper, half"), 8, **asked)
    assert "The table is paper, half" in seen.findings["convention"]
    assert seen.convention.endswith("held to paper, interleaved")
    assert not review(in_float32, WIDTH, max_len=600, tolerance=1e-3).findings


def test_a_table_may_start_elsewhere():
    def late(rows, width):
        return table(rows + 1, width)[1:]

    assert not review(late, WIDTH, max_len=200, start=1).findings
    found = review(late, WIDTH, max_len=200, start=3).findings
    assert "read back are 2 before their own" in found["turned as"]


def test_a_table_is_asked_for_again():
    calls = []

    def drifts(rows, width):
        calls.append(rows)
        return table(rows, width, lambda n: n + len(calls) // 3)

    words = review(drifts, 8, max_len=200).findings["calls"]
    assert "of 64 rows, once more (rows 0 to 63) differ" in words


def test_arguments_that_make_no_sense_are_named():
    for given, told in (
        ({"d_model": 0}, "d_model=0: give an even number"),
        ({"max_len": 63}, "max_len=63: give 64 or more"),
        ({"convention": "my"}, "convention=my: give one of"),
    ):
        with pytest.raises(ValueError, match=told):
            review(table, **given)
