"""Tables of sinusoids, right and wrong.

The right ones are written here entry by entry with `math` alone.
"""

import math
import re

import ml_dtypes
import numpy as np
import pytest
from posenc_review import CONVENTIONS, review

WIDTH = 32
COLUMN = np.arange(WIDTH)
EVEN = COLUMN - COLUMN % 2  # the exponents of columns, times the width


def spelled_out(convention):
    """A table in a convention, from its definition."""

    def entry(position, column, d_model):
        pairs = half = d_model // 2
        pair, second = divmod(column, 2)
        if "half" in convention:
            pair, second = column % half, column // half
        steps = pairs if "paper" in convention else max(pairs - 1, 1)
        angle = position / 10_000 ** (pair / steps)
        is_sine = second == ("cosine first" in convention)
        return math.sin(angle) if is_sine else math.cos(angle)

    return lambda rows, d_model: np.array(
        [[entry(p, k, d_model) for k in range(d_model)] for p in range(rows)]
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
        seen = review(encoder, 8, max_len=64, convention=other)
        assert seen.findings
        assert seen.convention == f"{convention}, held to {other}"


def in_float32(rows, width):
    places, exponents = np.arange(rows, dtype="f4"), EVEN / width
    angles = np.outer(places, (10_000.0**-exponents).astype("f4"))
    return np.where(COLUMN % 2 == 0, np.sin(angles), np.cos(angles))


def changed_by_a_long_table(rows, width):
    return table(rows, width) + (rows > 1100) * (np.arange(rows) == 7)[:, None]


def nan_in_row_0(rows, width):
    return np.where(np.arange(rows)[:, None], table(rows, width), np.nan)


def drifts(rows, width, calls=[]):  # noqa: B006
    calls.append(rows)
    return table(rows, width, lambda n: n + len(calls) // 6)


def bfloat16(positions):
    return positions.astype(ml_dtypes.bfloat16)


def with_exponents(exponents):
    return lambda n, d: table(n, d, exponents=exponents)


def with_positions(read):
    return lambda n, d: table(n, d, read)


WRONG = [  # an encoder, and what has to be said, worked out by hand
    (with_exponents(EVEN * np.log10(5e5) / 4), "All are those of base 500000"),
    (with_exponents(EVEN * np.log10(5e5) / 4), "Convention: paper, interl"),
    (with_positions(lambda n: n + 1), "back are 1 more than the token's own"),
    (with_positions(bfloat16), "257 turned as 256, 259 as 260, 261 as 260"),
    (with_positions(lambda n: np.minimum(n, 519)), "520 turned as 519, 521"),
    (lambda n, d: table(n, d) / 8, "become 0.125 times as long, where 1 is"),
    (lambda n, d: table(n, d)[:, np.r_[:2, 3, 2, 4:d]], "columns 3 and 2 are"),
    (changed_by_a_long_table, "1136 rows (token 7: turned as no other)"),
    (drifts, "of 64 rows, once more (tokens 0 to 63: position 0 turned as 1"),
    (lambda n, d: table(n, d)[:, None], "the shape is (64, 1, 32)"),
    (lambda n, d: table(100, d)[:n], "shape is (100, 32), not (1025, 32)"),
    (lambda n, d: 0 * table(n, d), "become 0 times as long, where 1 is due"),
    (lambda n, d: 8 * table(n, d), "Convention: paper, interleaved."),
    (nan_in_row_0, "Only positions 0 differ"),
    (
        lambda n, d: nan_in_row_0(n, d)[:, np.r_[:d:2, 1:d:2]],
        "Convention: paper, half.",
    ),
]


@pytest.mark.parametrize(("encoder", "words"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_differs_is_measured(encoder, words):
    found = review(encoder, WIDTH, max_len=1136)
    assert found.findings
    assert words in str(found)


def test_what_float32_loses_is_forgiven():
    assert not review(in_float32, WIDTH, max_len=1136).findings
    assert not review(in_float32, WIDTH, max_len=64, tolerance=1e-9).findings


def test_a_tolerance_and_a_start_are_heeded():
    def off(rows, width):
        return table(rows, width) + 1e-5

    assert review(off, WIDTH, max_len=64).findings
    assert not review(off, WIDTH, max_len=64, tolerance=1e-4).findings
    late = with_positions(lambda n: n + 40)
    assert not review(late, WIDTH, max_len=200, start=40).findings
    found = review(late, WIDTH, max_len=200, start=42).findings
    assert "read back are 2 less than the token's own" in found["calls"]


def test_frequencies_of_conventions_have_different_names():
    found = review(table, WIDTH, convention="tensor2tensor, interleaved")
    words = "as with base 10000 in tensor2tensor .*All are those of base 10000"
    assert re.search(words, found.findings["frequencies"])


def test_arguments_that_make_no_sense_are_named():
    with pytest.raises(ValueError, match="convention=my: give one of"):
        review(table, convention="my")
    with pytest.raises(ValueError, match="give a whole number"):
        review(table, start=0.5)
