"""review on sinusoidal tables, right and wrong.

The right ones are written here from the formulas, with `math` alone; each
wrong one has one slip, and the review has to say which.
"""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from posenc_review import CONVENTIONS, Review, convention_of, review


def entry(position: int, column: int, d_model: int, words: str) -> float:
    """One entry of a table in a convention, from its definition."""
    pairs = d_model // 2
    if "tensor2tensor" in words and column == 2 * pairs:
        return 0.0  # at odd widths, a column of zeros at the end
    half = pairs if "tensor2tensor" in words else (d_model + 1) // 2
    pair, second = divmod(column, 2)
    if "concatenated" in words:
        pair, second = column % half, column // half
    steps = d_model / 2 if "paper" in words else max(pairs - 1, 1)
    angle = position / 10_000 ** (pair / steps)
    is_sine = second == ("cosine first" in words)
    return math.sin(angle) if is_sine else math.cos(angle)


def spelled_out(seq_len: int, d_model: int, words: str) -> np.ndarray:
    rows = [
        [entry(p, k, d_model, words) for k in range(d_model)]
        for p in range(seq_len)
    ]
    return np.array(rows)


def speeds(d_model, base=10_000.0):
    return np.exp(-math.log(base) * np.arange(0, d_model, 2) / d_model)


def waves(positions, speeds):
    """An interleaved table from its speeds."""
    angles = np.outer(positions, speeds)
    stacked = np.stack([np.sin(angles), np.cos(angles)], 2)
    return stacked.reshape(len(angles), -1)


def right(seq_len: int, d_model: int) -> np.ndarray:
    return waves(range(seq_len), speeds(d_model))[:, :d_model]


@pytest.mark.parametrize("words", CONVENTIONS)
@pytest.mark.parametrize("d_model", [7, 8, 64])
def test_each_convention_is_told_and_is_no_bug(words, d_model):
    def encoder(seq_len, d_model):
        return spelled_out(seq_len, d_model, words)

    seen = review(encoder, d_model, max_len=128)
    assert seen.findings == {}
    assert seen.convention == words
    others = [x for x in CONVENTIONS if x != words]
    for other in others[:: 3 if d_model < 64 else 7]:
        assert review(encoder, d_model, max_len=100, convention=other).findings


def test_one_column_may_be_cosines():
    seen = review(lambda n, d: np.cos(np.arange(n))[:, None], 1, max_len=600)
    assert (seen.findings, seen.convention) == ({}, "any, cosine first")


@pytest.mark.parametrize("d_model", [1, 2, 3, 16])
def test_right_at_every_width(d_model):
    seen = review(right, d_model)
    assert seen.findings == {}
    assert seen.fields["rows_right"] == 70_000
    told = "paper, interleaved" if d_model > 2 else "any"
    assert seen.convention == told


def test_convention_of_reads_a_batch_axis_and_says_what_it_cannot_tell():
    table = right(64, 16)
    paper = CONVENTIONS[0]
    assert convention_of(table[None].astype(np.float32)) == paper
    assert convention_of(table.tolist()) == paper
    assert convention_of(table[:, ::-1]) == "unknown"
    assert convention_of(np.where(table == 0, 0.002, table)) == "unknown"
    assert convention_of(np.where(table == 0, 0.002, table), 0.01) == paper
    assert convention_of(table[:1]) == (
        "paper, interleaved or tensor2tensor, interleaved"
    )


class Tensor:
    """What PyTorch's tensors do, as far as a review asks."""

    def __init__(self, array, done=()):
        self.array, self.done = array, done

    def detach(self):
        return Tensor(self.array, ("detach",))

    def cpu(self):
        return Tensor(self.array, (*self.done, "cpu"))

    def double(self):
        assert self.done == ("detach", "cpu")
        return self.array.astype(np.float64)


@pytest.mark.parametrize(
    "made",
    [Tensor, np.ndarray.tolist, lambda table: table[None]],
)
def test_whatever_numpy_can_read_will_do(made):
    found = review(lambda n, d: made(right(n, d)), 8, max_len=600)
    assert found.findings == {}


def other_base(base):
    return lambda n, d: waves(range(n), speeds(d, base))


def taken(read):
    """An encoder that takes other positions than it should."""
    return lambda n, d: waves(read(np.arange(n)), speeds(d))


def other_speeds(change):
    return lambda n, d: waves(range(n), change(speeds(d)))


def times(factor, added=0):
    return lambda n, d: right(n, d) * factor + added


def cast(kind):
    return lambda n, d: right(n, d).astype(kind)


def changed(rows, factor):
    """An encoder that is right but for some rows."""

    def encoder(seq_len, d_model):
        table = right(seq_len, d_model)
        table[rows] *= factor
        return table

    return encoder


def ordered(order):
    return lambda n, d: right(n, d)[:, order]


WOVEN = np.arange(64).reshape(2, 32).T.ravel()
SPREAD = [*range(0, 64, 2), *range(1, 64, 2)]
SHIFTED = np.arange(64)
SHIFTED[2:16:2] = np.roll(SHIFTED[2:16:2], 1)
PAIRS = [0, 1, 4, 5, 2, 3, *range(6, 64)]


def exchanged(one, other):
    order = np.arange(64)
    order[[one, other]] = other, one
    return ordered(order)


def in_float32(seq_len, d_model, start=0):
    positions = np.arange(start, seq_len + start, dtype=np.float32)
    step = np.float32(-math.log(10_000) / d_model)
    rates = np.exp(np.arange(0, d_model, 2, dtype=np.float32) * step)
    return waves(positions, rates)


def by_column(exponents, order=slice(None)):
    """Each column's wave has an exponent; sines and cosines take turns."""

    def encoder(seq_len, d_model):
        columns = np.arange(d_model)
        angles = np.outer(
            np.arange(seq_len), 1e4 ** (-exponents(columns) / d_model)
        )
        even = columns % 2 == 0
        return np.where(even, np.sin(angles), np.cos(angles))[:, order]

    return encoder


def fairseq(seq_len, d_model):
    """Begins at position 2, after the padding index 1."""
    steps = d_model // 2 - 1
    rates = 10_000.0 ** (-np.arange(d_model // 2) / steps)
    angles = np.outer(np.arange(seq_len) + 2, rates)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def late_first_rows(seq_len, d_model):
    table = right(seq_len, d_model)
    table[7:8] *= 1 if seq_len < 1000 else 0.99
    return table


def reshaped(seq_len, d_model):
    return right(seq_len, d_model).T.reshape(seq_len, d_model)


def random(seq_len, d_model):
    return np.random.default_rng(0).normal(size=(seq_len, d_model))


class Drifts:
    """A table that is kept; from its sixth call on, some is changed."""

    def __init__(self, change):
        self.asked, self.change = 0, change

    def __call__(self, seq_len, d_model):
        self.asked += 1
        table = right(seq_len, d_model)
        return self.change(table) if self.asked > 5 else table


SPEED, LATE = "wavelengths, far row", "row 2, far row"
MIXED = "row length, rotation, dot products, far row"
ALL = "row length, rotation, wavelengths, dot products, far row"
WRONG = [  # an encoder, the checks of the eight that fail, what is said
    (
        other_base(5e5),
        SPEED,
        "over 1 row, 34 of 64 have not. / The waves fit base 500000. / off by"
        " 2: row 646, column 24.",
    ),
    (other_base(100.0), SPEED, "base 100: a missing factor 2"),
    (other_base(1e8), SPEED, "base 100000000: a doubled exponent"),
    (other_base(1e4 ** (64 / 63)), SPEED, "base 11574: d - 1 for d"),
    (other_base(math.e**4), SPEED, "base 54.598: log10 for the natural log"),
    (taken(lambda n: n + 1), LATE, "is taken for position 1: each row is one"),
    (
        taken(lambda n: n - 3),
        LATE,
        "each row is 3 positions early / sin 2, which is 0.9093, whatever the"
        " width; it is -0.8415. / Row 1999 is off by 0.16.",
    ),
    (fairseq, LATE, "an offset for padding?"),
    (exchanged(2, 3), "", "Columns 2 and 3 are exchanged"),
    (
        exchanged(4, 9),
        "rotation",
        "Columns 4 and 9 are exchanged / pair 2 does not, from row 2 to 3.",
    ),
    (ordered(PAIRS), "", "Pairs 1 and 2 are exchanged"),
    (ordered(range(63, -1, -1)), "row 2", "The frequencies run backwards"),
    (
        ordered(SHIFTED),
        "rotation",
        "Columns 2, 4, 6, 8, 10, 12, and more stand in another order",
    ),
    (times(-1), LATE, "All entries are negated"),
    (times([-1, 1] * 32), LATE, "The sines are negated"),
    (times([1, -1] * 32), "far row", "The cosines are negated"),
    (times([1] * 63 + [-1]), "far row", "Column 63 is negated"),
    (times(8), "row length, row 2, far row", "by 8, the square root of 64"),
    (times(1, 0.5), ALL.replace(",", ", row 2,", 1), "entries are moved"),
    (times(0.5, 0.5), ALL.replace(",", ", row 2,", 1), "0.5 and moved by 0.5"),
    (other_speeds(lambda w: w / 4), f"row 2, {SPEED}", "are divided by 4."),
    (other_speeds(np.rad2deg), f"row 2, {SPEED}", "degrees are taken f"),
    (
        other_speeds(lambda w: w[::-1]),
        "row 2",
        "The frequencies run backwards",
    ),
    (
        other_speeds(lambda w: w[0] * w**0),
        SPEED,
        "All pairs turn at one frequency",
    ),
    (
        in_float32,
        "far row",
        "Angles are in float32: row 31 is the first that is",
    ),
    (
        lambda n, d: in_float32(n, d, 1),
        LATE,
        "(counted from 1?). Angles are in float32",
    ),
    (cast(np.float16), "row length, dot products, far row", "to float16"),
    (
        cast(ml_dtypes.bfloat16),
        ALL,
        "Entries are rounded to bfloat16. / over 4 rows, 3 of 64 / rows 1 and"
        " 1 is / row 1 are off by 0.0043 of 32. / off by 0.002: row 1247, col",
    ),
    (
        taken(lambda n: n.astype(ml_dtypes.bfloat16).astype(float)),
        "dot products, far row",
        "bfloat16: row 257 / 1 and 256 is not that of 2 and 257.",
    ),
    (by_column(lambda k: k), ALL, "each column has an exponent of its own"),
    (by_column(lambda k: 2 * k), ALL, "exponents are twice the column's num"),
    (
        by_column(lambda k: k + k % 2),
        ALL,
        "The cosines hold what others should: column 1 that of 3. Row 1",
    ),
    (
        by_column(lambda k: 2 * k % 64),
        MIXED,
        "interleaved, and the angles are laid out concatenated",
    ),
    (
        by_column(lambda k: k // 2 + k % 2 * 32 - k // 2 % 2, SPREAD),
        MIXED,
        "concatenated, and the angles are laid out interleaved",
    ),
    (
        lambda n, d: np.cos(np.outer(np.arange(n), np.repeat(speeds(d), 2))),
        MIXED.replace(",", ", row 2,", 1),
        "The sines hold what others should: column 0 that of 1. Row 0",
    ),
    (
        lambda n, d: np.sin(np.outer(np.arange(n), np.repeat(speeds(d), 2))),
        MIXED,
        "The cosines hold what others should: column 1 that of 0. Row 0",
    ),
    (times(np.arange(64) != 9), ALL, "in all rows hold: column 9."),
    (
        times(~np.isin(range(64), (8, 9))),
        ALL.replace(" dot products,", ""),
        "hold: columns 8 to 9.",
    ),
    (
        ordered([*range(5), 3, *range(6, 64)]),
        ALL,
        "Column 5 holds what others should: column 5 that of 3.",
    ),
    (
        other_speeds(lambda w: w / np.where(np.arange(32) < 16, 1, 8)),
        SPEED,
        "pairs 0 to 15 as base 10000 has them, 16 to 31 divided by 8.",
    ),
    (
        taken(lambda n: 70 - n),
        LATE,
        "taken for position 70, and rows count backwards.",
    ),
    (
        lambda n, d: fairseq(n, d)[:, WOVEN],
        LATE,
        "is taken for position 2: each row is 2 positions late",
    ),
    (
        reshaped,
        ALL.replace(",", ", row 2,", 1) + ", first rows",
        "columns are mixed / 2000 rows, row 1 is not that of one of 64.",
    ),
    (late_first_rows, "first rows", "2000 rows, row 7 is not that"),
    (random, ALL.replace(",", ", row 2,", 1), "No known cause explains it."),
    (changed(slice(0, 1), 0), "row length", "At row 0, the result is zero"),
    (
        changed(slice(30, 31), 0),
        "row length, rotation, wavelengths, dot products",
        "row 30 are off by -32 / from row 29 to 30 / that of"
        " rows 1 and 29 is not that of 2 and 30.",
    ),
    (
        lambda n, d: right(1, d).repeat(n, axis=0),
        "row 2, wavelengths, far row",
        "One number in all rows hold: columns 0 to 52, 54",
    ),
    (
        changed(slice(600, 1900), 0),
        "",
        "At rows 600 to 1899, the result is zero",
    ),
    (
        changed(slice(600, 610), 0.5),
        "",
        "At rows 600 to 609, lengths change by 0.5",
    ),
    (
        taken(lambda n: n % 1500),
        "far row",
        "From row 1500 on, counting begins at 0 again",
    ),
    (
        taken(lambda n: np.minimum(n, 1499)),
        "far row",
        "all are taken for position 1499",
    ),
    (
        taken(lambda n: n + (n > 999)),
        "far row",
        "row 1000 on, each is taken for the next",
    ),
    (
        taken(lambda n: n - (n > 999)),
        "far row",
        "each is taken for the one before",
    ),
    (
        taken(lambda n: n.astype(np.int8)),
        "wavelengths, dot products, far row",
        "From row 128 on, numbers overflow",
    ),
    (
        lambda n, d: waves(np.arange(n) / n, speeds(d)),
        f"row 2, {SPEED}, first rows",
        "Positions are divided by 2000",
    ),
    (lambda n, d: right(n, d)[:, None], "batch axis", "(4, 1, 64), numbers"),
    (
        lambda n, d: right(n, d)[None, :, None],
        "batch axis",
        "(1, 4, 1, 64), numbers",
    ),
    (
        lambda n, d: right(n, d)[None, None],
        "batch axis",
        "(1, 1, 4, 64), numbers",
    ),
]


PLACES = {"position": "", "pair": "pairs? ", "column": "columns? "}


@pytest.mark.parametrize(("encoder", "checks", "cause"), WRONG)
def test_what_is_wrong_is_said(encoder, checks, cause):
    seen = review(encoder, 64, max_len=2000)
    names = [check for check in seen.findings if check != "every row"]
    assert ", ".join(names) == checks
    for words in cause.split(" / "):
        assert words in str(seen)
    if (
        seen.fields["held_to"] == "paper, interleaved"
        and checks != "batch axis"
    ):
        off = np.abs(encoder(2000, 64) - right(2000, 64))
        row = int(np.argmax(off.max(axis=1) > 1e-6))
        first = f"Row {row} is the first that is wrong, in column"
        assert f"{first} {off[row].argmax()}; the worst" in str(seen)
    for finding in seen.details:  # a place that is given is named
        for name, before in PLACES.items():
            place = getattr(finding, name)
            if place is not None:
                assert re.search(rf"(?i){before}\b{place}\b", finding.words)


@pytest.mark.parametrize("one, other", [(0, 1), (1, 2), (1, 3), (2, 3)])
@pytest.mark.parametrize("base", [1e4, 3e3])
def test_few_pairs_in_another_order(one: int, other: int, base: float) -> None:
    """Of four pairs, two exchanged leave no series to see, whatever base."""
    order = list(range(4))
    order[one], order[other] = other, one
    columns = np.reshape([[2 * i, 2 * i + 1] for i in order], -1)
    seen = review(lambda n, d: other_base(base)(n, d)[:, columns], 8)
    if base == 1e4:
        words = f"Pairs {one} and {other} are exchanged."
        assert words in seen.findings["every row"]
    assert "every row" in seen.findings


@pytest.mark.parametrize(
    ("change", "said", "row"),
    [
        (lambda table: table + 1e-9 * (table == 0), "another row 0.", 0),
        (lambda table: table + np.eye(*table.shape, -5), "another row 5.", 5),
        (lambda table: 1 / 0, "it fails: ZeroDivisionError: division", None),
    ],
)
def test_a_table_is_asked_for_again(change, said, row):
    (finding,) = review(Drifts(change), 8, max_len=600).details
    assert finding.name == "state"
    assert said in finding.words
    assert finding.position == row


@pytest.mark.parametrize(
    ("encoder", "asked", "convention", "cause"),
    [
        (other_base(5e5), {"base": 500_000}, ", base 500000", ""),
        (right, {"base": 500_000}, "unknown", "base 10000. Row"),
        (other_base(5e5), {}, "unknown", "base 500000. Row"),
        (taken(lambda n: n + 5), {"start": 5}, "paper, interleaved", ""),
        (taken(lambda n: n + 5), {}, "unknown", "is 5 positions late"),
        (right, {"start": 5}, "unknown", "is 5 positions early"),
        (
            ordered(SPREAD),
            {"convention": CONVENTIONS[0]},
            "paper, concatenated",
            "Convention: paper, concatenated; held to paper, interleaved.\n",
        ),
        (
            by_column(lambda k: k),
            {},
            "unknown",
            "Convention: unknown; held to paper, interleaved.\n",
        ),
        (
            lambda n, d: waves(range(n), np.geomspace(1, 1e-4, d // 2)),
            {"convention": CONVENTIONS[0]},
            "tensor2tensor, interleaved",
            "fit base 10000 in the spacing of tensor2tensor. Row",
        ),
    ],
)
def test_base_and_start_are_what_is_asked_for(
    encoder, asked, convention, cause
):
    seen = review(encoder, 64, max_len=600, **asked)
    assert seen.convention.endswith(convention)
    assert list(seen.findings)[-1:] == ["every row"] * bool(cause)
    assert cause in str(seen)


def test_rows_and_digits_are_told():
    seen = review(changed(slice(600, 32_000), 0), 16)
    finding, *rest = str(seen).splitlines()
    assert finding.startswith(
        "- every row: At rows 600 to 31999, the result is zero. Row 600 is the"
        " first that is wrong, in column 1; the worst is off by 1: row "
    )
    assert rest == [
        "Findings: 1. Convention: paper, interleaved.",
        "Rows: 70000, the first 600 right to 1e-06.",
    ]
    (finding,) = seen.details
    assert (finding.position, finding.column) == (600, 1)
    assert "the first 70000 right to 0.01." in str(
        review(in_float32, 16, tolerance=0.01)
    )


def test_errors_are_judged_by_the_tolerance():
    shifted = changed(slice(5, 6), 1 + 3e-6)
    assert list(review(shifted, 8).findings) == ["every row"]
    assert review(shifted, 8, tolerance=1e-5).findings == {}
    assert review(in_float32, 64, max_len=9000, tolerance=0.01).findings == {}
    assert review(in_float32, 64, max_len=64, tolerance=1e-5).findings == {}
    half = cast(np.float16)
    assert review(half, 64, max_len=600, tolerance=1e-3).findings == {}


def boom(seq_len, d_model):
    raise RuntimeError("out of order")


def nan_far_out(seq_len, d_model):
    table = right(seq_len, d_model)
    table[600:] = math.nan
    return table


@pytest.mark.parametrize(
    ("encoder", "said", "rows"),
    [
        (boom, "Asked for 4 rows: RuntimeError: out of order. If it is", 0),
        (lambda n, d: right(n, d)[: n % 64], "the shape is (0, 8).", 0),
        (lambda n, d: "a table", "it returns text", 0),
        (lambda n, d: right(n, d).astype(str), "it returns text", 0),
        (lambda n, d: None, "it returns None", 0),
        (lambda n, d: object(), "it returns no numbers, but: object", 0),
        (lambda n, d: right(n, d).T, "the shape is (8, 4)", 0),
        (lambda n, d: right(n + 1, d), "the shape is (5, 8)", 0),
        (lambda n, d: right(n, d) * 1j, "the numbers are complex", 0),
        (lambda n: right(n, 8), "TypeError", 0),
        (lambda n, d: exit(0), "SystemExit", 0),
        (nan_far_out, "NaN or infinity in row 600", 600),
        (lambda n, d: right(100, d)[:n], "Up to 100 rows", 100),
        (lambda n, d: right(50_000, d)[:n], "Asked for 70000 rows", 50_000),
    ],
)
def test_an_encoder_that_gives_no_table_is_a_finding(encoder, said, rows):
    seen = review(encoder, 8)
    assert said in seen.findings["table"]
    assert list(seen.findings) == ["table"]
    assert seen.fields.get("rows", 0) == rows
    assert (seen.convention == "unknown") == (rows == 0)
    assert ("Rows:" in str(seen)) == (rows > 0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"d_model": 0}, "d_model=0: give 1 to 1048576"),
        ({"d_model": 8.0}, "d_model=8.0: give an integer"),
        ({"max_len": 63}, "max_len=63: give 64 to"),
        ({"max_len": "64"}, "max_len='64': give an integer"),
        ({"tolerance": -1e-6}, "tolerance=-1e-06: give a number of 0 or more"),
        ({"tolerance": math.nan}, "tolerance=nan: give a number of 0 or more"),
        ({"base": 1}, "base=1: give a number above 1"),
        ({"start": 0.5}, "start=0.5: give an integer"),
        ({"d_model": True}, "d_model=True: give an integer"),
        ({"start": 10**30}, f"start={10**30}: give -"),
        ({"base": 10**400}, "base=1"),
        (
            {"convention": "best"},
            "convention='best': give one of paper, interleaved;",
        ),
    ],
)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review(right, **given)
    assert str(caught.value).startswith(told)


def test_wide_tables_are_cut_short_and_it_says_so(monkeypatch):
    monkeypatch.setattr("posenc_review.tables.ENTRIES", 2**14)
    seen = review(right, 64)
    assert seen.fields["rows"] == 256
    cut = "Rows: 256 of the 70000 asked for, the first 256 right to 1e-06."
    assert cut in str(seen)
    with pytest.raises(ValueError, match=r"d_model=257: give 1 to 256$"):
        review(right, 257)


def test_findings_fit_in_an_assertion():
    assert repr(Review(())).count("=") < 8
    assert review(right, 8, max_len=64).findings == {}
