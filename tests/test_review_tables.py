"""review on sinusoidal tables, right and wrong.

The right ones are written here from the formulas, with `math` alone; each
wrong one has one slip, and the review has to say which.
"""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from posenc_review import CONVENTIONS, convention_of, review

WIDTH = 32
PAPER = "paper, interleaved"


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


def spelled_out(words):
    return lambda n, d: np.array(
        [[entry(p, k, d, words) for k in range(d)] for p in range(n)]
    )


def usual(d_model, base=10_000.0):
    return base ** (-np.arange(0, d_model, 2) / d_model)


def waves(positions, frequencies):
    """An interleaved table."""
    angles = np.outer(positions, frequencies)
    stacked = np.stack([np.sin(angles), np.cos(angles)], 2)
    return stacked.reshape(len(angles), -1)


def right(seq_len, d_model):
    return waves(range(seq_len), usual(d_model))[:, :d_model]


@pytest.mark.parametrize("words", CONVENTIONS)
@pytest.mark.parametrize("d_model", [7, 8])
def test_each_convention_is_told_and_is_no_bug(words, d_model):
    encoder = spelled_out(words)
    seen = review(encoder, d_model, max_len=128)
    assert (seen.findings, seen.convention) == ({}, words)
    others = [x for x in CONVENTIONS if x != words]
    for other in others[::3]:
        assert review(encoder, d_model, max_len=100, convention=other).findings


@pytest.mark.parametrize("d_model", [1, 2, 3, 16])
def test_right_at_every_width(d_model):
    seen = review(right, d_model, max_len=9000)
    assert seen.findings == {}
    assert seen.fields["rows_right"] == 9000
    assert seen.convention == (PAPER if d_model > 2 else "any")


def test_one_column_may_be_cosines():
    seen = review(lambda n, d: np.cos(np.arange(n))[:, None], 1, max_len=600)
    assert (seen.findings, seen.convention) == ({}, "any, cosine first")


def test_convention_of_reads_a_batch_axis_and_says_what_it_cannot_tell():
    table = right(64, 16)
    spoiled = np.where(table == 0, 0.002, table)
    assert convention_of(table[None].astype(np.float32)) == PAPER
    assert convention_of(table.tolist()) == PAPER
    assert convention_of(table[:, ::-1]) == "unknown"
    assert convention_of(spoiled) == "unknown"
    assert convention_of(spoiled, 0.01) == PAPER
    assert convention_of(table[:1]) == f"{PAPER} or tensor2tensor, interleaved"


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


@pytest.mark.parametrize("made", [Tensor, list, lambda table: table[None]])
def test_whatever_numpy_can_read_will_do(made):
    assert not review(lambda n, d: made(right(n, d)), 8, max_len=600).findings


def base(value):
    return lambda n, d: waves(range(n), usual(d, value))


def taken(read):
    """An encoder that takes other positions than it should."""
    return lambda n, d: waves(read(np.arange(n)), usual(d))


def turns(change):
    """An encoder of other frequencies."""
    return lambda n, d: waves(range(n), change(usual(d)))


def made(change):
    """An encoder whose table is changed."""
    return lambda n, d: change(right(n, d))


def rows(first, last, factor):
    """An encoder that is right but for some rows."""

    def encoder(seq_len, d_model):
        table = right(seq_len, d_model)
        table[first : last + 1] *= factor
        return table

    return encoder


def exchanged(one, other):
    order = np.arange(WIDTH)
    order[[one, other]] = other, one
    return made(lambda table: table[:, order])


def in_float32(seq_len, d_model, start=0):
    positions = np.arange(start, seq_len + start, dtype=np.float32)
    step = np.float32(-math.log(10_000) / d_model)
    rates = np.exp(np.arange(0, d_model, 2, dtype=np.float32) * step)
    return waves(positions, rates)


def by_column(exponents, order=slice(None)):
    """Each column's wave has an exponent; sines and cosines take turns."""

    def encoder(seq_len, d_model):
        k = np.arange(d_model)
        angles = np.outer(range(seq_len), 1e4 ** (-exponents(k) / d_model))
        even = k % 2 == 0
        return np.where(even, np.sin(angles), np.cos(angles))[:, order]

    return encoder


def of_one_kind(wave):
    return lambda n, d: wave(np.outer(np.arange(n), np.repeat(usual(d), 2)))


def fairseq(seq_len, d_model):
    """Begins at position 2, after the padding index 1."""
    steps = d_model // 2 - 1
    angles = np.outer(
        np.arange(seq_len) + 2, 1e4 ** (-np.arange(d_model // 2) / steps)
    )
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def late_first_rows(seq_len, d_model):
    table = right(seq_len, d_model)
    table[7:8] *= 1 if seq_len < 513 else 0.99
    return table


def random(seq_len, d_model):
    return np.random.default_rng(0).normal(size=(seq_len, d_model))


HALF = WIDTH // 2
WOVEN = np.arange(WIDTH).reshape(2, -1).T.ravel()
SPREAD = [*range(0, WIDTH, 2), *range(1, WIDTH, 2)]
SHIFTED = np.arange(WIDTH)
SHIFTED[2:16:2] = np.roll(SHIFTED[2:16:2], 1)
PAIRS = [0, 1, 4, 5, 2, 3, *range(6, WIDTH)]
DOUBLED = [*range(5), 3, *range(6, WIDTH)]
BFLOAT16 = ml_dtypes.bfloat16
SLOW = np.where(np.arange(HALF) < 8, 1, 8)
SPEED, LATE, ROW_2 = "wavelengths, far row", "row 2, far row", "row 2"
MIXED = "row length, rotation, dot products, far row"
ALL = "row length, rotation, wavelengths, dot products, far row"
EVERY = "row length, row 2, rotation, wavelengths, dot products, far row"
SLOWER, SPOILED = f"row 2, {SPEED}", "row length, rotation, wavelengths"
SPOILED += ", dot products"
LENGTH, AXIS = f"row length, {LATE}", "batch axis"
FAR_DOTS = "dot products, far row"
ROUNDED = f"row length, wavelengths, {FAR_DOTS}"
NARROW = f"wavelengths, {FAR_DOTS}"
MIXED_0 = MIXED.replace(",", ", row 2,", 1)
NEAR = [  # what is said, the checks of the eight that fail, an encoder
    ("The waves fit base 500000.", SPEED, base(5e5)),
    ("base 100: a missing factor 2", SPEED, base(100.0)),
    ("base 100000000: a doubled exponent", SPEED, base(1e8)),
    ("base 13460: d - 1 for d", SPEED, base(1e4 ** (32 / 31))),
    ("base 54.598: log10 for the natural log", SPEED, base(math.e**4)),
    (
        "position 1: each row is one position late",
        LATE,
        taken(lambda n: n + 1),
    ),
    ("each row is 3 positions early", LATE, taken(lambda n: n - 3)),
    ("an offset for padding?", LATE, fairseq),
    ("taken for position 2", LATE, lambda n, d: fairseq(n, d)[:, WOVEN]),
    ("position 70, and rows count backwards", LATE, taken(lambda n: 70 - n)),
    ("Columns 2 and 3 are exchanged", "", exchanged(2, 3)),
    ("Columns 4 and 9 are exchanged", "rotation", exchanged(4, 9)),
    ("Pairs 1 and 2 are exchanged", "", made(lambda t: t[:, PAIRS])),
    ("The frequencies run backwards", ROW_2, made(lambda t: t[:, ::-1])),
    ("The frequencies run backwards", ROW_2, turns(lambda w: w[::-1])),
    ("another order", "rotation", made(lambda t: t[:, SHIFTED])),
    ("column 5 that of 3.", ALL, made(lambda t: t[:, DOUBLED])),
    ("All entries are negated. Row", LATE, made(lambda t: -t)),
    ("The sines are negated", LATE, made(lambda t: t * ([-1, 1] * HALF))),
    (
        "multiplied by 5.657. Row",
        LENGTH,
        made(lambda t: t * 32**0.5),
    ),
    ("entries are moved", EVERY, made(lambda t: t + 0.5)),
    ("by 0.5 and moved by 0.5", EVERY, made(lambda t: t / 2 + 0.5)),
    ("are divided by 4.", SLOWER, turns(lambda w: w / 4)),
    ("degrees are taken f", SLOWER, turns(np.rad2deg)),
    ("All pairs turn at one frequency", SPEED, turns(np.ones_like)),
    ("8 to 15 divided by 8.", SPEED, turns(lambda w: w / SLOW)),
    ("from 1?). Angles are in f", LATE, lambda n, d: in_float32(n, d, 1)),
    ("to float16", ROUNDED, made(np.float16)),
    ("rounded to bfloat16.", ALL, made(lambda t: t.astype(BFLOAT16))),
    ("each column has an exponent of its own", ALL, by_column(lambda k: k)),
    ("are twice the column's num", ALL, by_column(lambda k: 2 * k)),
    ("column 1 that of 3. Row 1", ALL, by_column(lambda k: k + k % 2)),
    ("angles are laid out c", MIXED, by_column(lambda k: 2 * k % WIDTH)),
    (
        "angles are laid out interleaved",
        MIXED,
        by_column(lambda k: k // 2 + k % 2 * HALF - k // 2 % 2, SPREAD),
    ),
    ("column 0 that of 1. Row 0", MIXED_0, of_one_kind(np.cos)),
    ("column 1 that of 0. Row 0", MIXED, of_one_kind(np.sin)),
    ("hold: column 9.", ALL, made(lambda t: t * (np.arange(WIDTH) != 9))),
    ("One number in all rows hold", SLOWER, made(lambda t: 0 * t + t[0])),
    (
        "columns are mixed",
        f"{EVERY}, first rows",
        made(lambda t: t.T.reshape(t.shape)),
    ),
    ("No known cause explains it.", EVERY, random),
    ("At row 0, the result is zero", "row length", rows(0, 0, 0)),
    ("row 30 are off by -16", SPOILED, rows(30, 30, 0)),
    ("(4, 1, 32), numbers", AXIS, made(lambda t: t[:, None])),
    ("(1, 4, 1, 32), numbers", AXIS, made(lambda t: t[None, :, None])),
    ("(1, 1, 4, 32), numbers", AXIS, made(lambda t: t[None, None])),
]
FAR = [  # what shows only in a longer table
    ("Angles are in float32: row 45 is", "far row", in_float32),
    ("row 257", FAR_DOTS, taken(lambda n: n.astype(BFLOAT16).astype(float))),
    ("128 on, numbers overflow", NARROW, taken(lambda n: n.astype(np.int8))),
    ("From row 520 on, counting", "far row", taken(lambda n: n % 520)),
    ("on, all are taken for", "far row", taken(lambda n: np.minimum(n, 519))),
    ("taken for the next", "far row", taken(lambda n: n + (n > 519))),
    ("for the one before", "far row", taken(lambda n: n - (n > 519))),
    ("At rows 520 to 590, the result is zero", "", rows(520, 590, 0)),
    ("At rows 520 to 529, lengths change by 0.5", "", rows(520, 529, 0.5)),
    ("divided by 600", f"{SLOWER}, first rows", taken(lambda n: n / len(n))),
    ("600 rows, row 7 is not that", "first rows", late_first_rows),
]
WRONG = [(128, *each) for each in NEAR] + [(600, *each) for each in FAR]
PLACES = {"position": "", "pair": "pairs? ", "column": "columns? "}


@pytest.mark.parametrize(("length", "words", "checks", "encoder"), WRONG)
def test_what_is_wrong_is_said(length, words, checks, encoder):
    seen = review(encoder, WIDTH, max_len=length)
    names = [check for check in seen.findings if check != "every row"]
    assert ", ".join(names) == checks
    assert words in str(seen)
    if seen.fields["held_to"] == PAPER and checks != AXIS:
        off = np.abs(encoder(length, WIDTH) - right(length, WIDTH))
        row = int(np.argmax(off.max(axis=1) > 1e-6))
        first = f"Row {row} is the first that is wrong, in column"
        assert f"{first} {off[row].argmax()}; the worst" in str(seen)
    for finding in seen.details:  # a place that is given is named
        for name, before in PLACES.items():
            place = getattr(finding, name)
            if place is not None:
                assert re.search(rf"(?i){before}\b{place}\b", finding.words)


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 2), (1, 3), (2, 3)])
def test_few_pairs_in_another_order(one, other):
    """Of four pairs, two exchanged leave no series to see, whatever base."""
    pairs = np.arange(8).reshape(4, 2)
    pairs[[one, other]] = pairs[[other, one]]
    for value in (1e4, 3e3):
        table = base(value)(128, 8)[:, pairs.ravel()]
        seen = review(lambda n, d, table=table: table[:n], 8, max_len=128)
        exchanged = f"Pairs {one} and {other} are exchanged."
        assert (exchanged if value == 1e4 else "") in seen.findings[
            "every row"
        ]


class Drifts:
    """A table that is kept; from its sixth call on, some is changed."""

    def __init__(self, change):
        self.asked, self.change = 0, change

    def __call__(self, seq_len, d_model):
        self.asked += 1
        table = right(seq_len, d_model)
        return self.change(table) if self.asked > 5 else table


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
    assert (finding.name, finding.position) == ("state", row)
    assert said in finding.words


FIVE_ON = taken(lambda n: n + 5)
OTHER_SPACING = turns(lambda w: np.geomspace(1, 1e-4, len(w)))
CONCATENATED = made(lambda table: table[:, SPREAD])
HELD = [
    (base(5e5), {"base": 500_000}, f"{PAPER}, base 500000", ""),
    (right, {"base": 500_000}, "unknown", "base 10000. Row"),
    (FIVE_ON, {"start": 5}, PAPER, ""),
    (FIVE_ON, {}, "unknown", "is 5 positions late"),
    (right, {"start": 5}, "unknown", "is 5 positions early"),
    (
        CONCATENATED,
        {"convention": PAPER},
        "paper, concatenated",
        "Convention: paper, concatenated; held to paper, interleaved.\n",
    ),
    (by_column(lambda k: k), {}, "unknown", f"unknown; held to {PAPER}.\n"),
    (
        OTHER_SPACING,
        {"convention": PAPER},
        "tensor2tensor, interleaved",
        "fit base 10000 in the spacing of tensor2tensor. Row",
    ),
]


@pytest.mark.parametrize(("encoder", "asked", "convention", "cause"), HELD)
def test_a_table_is_held_to_what_is_asked(encoder, asked, convention, cause):
    seen = review(encoder, WIDTH, max_len=128, **asked)
    assert seen.convention == convention
    assert list(seen.findings)[-1:] == ["every row"] * bool(cause)
    assert cause in str(seen)


def test_rows_and_digits_are_told():
    seen = review(rows(600, 31_999, 0), 16)
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


def test_errors_are_judged_by_the_tolerance():
    shifted = rows(5, 5, 1 + 3e-6)
    assert list(review(shifted, 8, max_len=600).findings) == ["every row"]
    for encoder, length, tolerance in (
        (shifted, 600, 1e-5),
        (in_float32, 9000, 0.01),
        (in_float32, 64, 1e-5),
        (made(np.float16), 600, 1e-3),
    ):
        asked = {"max_len": length, "tolerance": tolerance}
        assert review(encoder, 8, **asked).findings == {}


NO_TABLE = [  # what is said, how many rows there are, the encoder
    ("Asked for 4 rows: ZeroDivisionError: d", 0, lambda n, d: 1 / 0),
    ("the shape is (0, 8).", 0, lambda n, d: right(n, d)[: n % 64]),
    ("it returns text", 0, lambda n, d: "a table"),
    ("it returns text", 0, lambda n, d: right(n, d).astype(str)),
    ("it returns None", 0, lambda n, d: None),
    ("it returns no numbers, but: object", 0, lambda n, d: object()),
    ("the shape is (8, 4)", 0, lambda n, d: right(n, d).T),
    ("the shape is (5, 8)", 0, lambda n, d: right(n + 1, d)),
    ("the numbers are complex", 0, lambda n, d: right(n, d) * 1j),
    ("TypeError", 0, lambda n: right(n, 8)),
    ("SystemExit", 0, lambda n, d: exit(0)),
    ("NaN or infinity in row 600", 600, rows(600, 900, math.nan)),
    ("Up to 100 rows", 100, lambda n, d: right(100, d)[:n]),
    ("Asked for 40000 rows", 35_000, lambda n, d: right(35_000, d)[:n]),
]


@pytest.mark.parametrize(("said", "count", "encoder"), NO_TABLE)
def test_an_encoder_that_gives_no_table_is_a_finding(said, count, encoder):
    seen = review(encoder, 8, max_len=40_000)
    assert list(seen.findings) == ["table"]
    assert said in seen.findings["table"]
    assert seen.fields.get("rows", 0) == count
    assert (seen.convention == "unknown") == (count == 0)
    assert ("Rows:" in str(seen)) == (count > 0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"d_model": 0}, "d_model=0: give 1 to 1048576"),
        ({"d_model": 8.0}, "d_model=8.0: give an integer"),
        ({"d_model": True}, "d_model=True: give an integer"),
        ({"max_len": 63}, "max_len=63: give 64 to"),
        ({"tolerance": -1e-6}, "tolerance=-1e-06: give a number of 0 or more"),
        ({"tolerance": math.nan}, "tolerance=nan: give a number of 0 or more"),
        ({"base": 10**400}, "base=1"),
        ({"start": 10**30}, f"start={10**30}: give -"),
        ({"convention": "best"}, "convention='best': give one of paper, inte"),
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
