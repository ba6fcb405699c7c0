"""review on sinusoidal tables, right and wrong.

The right ones are written here from the formulas, with `math` alone; each
wrong one has one slip, and the review has to say which.
"""

import math
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from posenc_review import CONVENTIONS, convention_of, review
from test_review_rotary import assert_places_are_named, assert_says

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


def same(values):
    return values


def table(
    base=10_000.0,
    *,
    read=same,
    exponents=lambda k: k - k % 2,  # of column k, times the width
    frequencies=same,
    order=slice(None),  # of the columns
    after=same,
    dtype=float,
):
    """Build an interleaved encoder with some stages changed."""

    def encoder(seq_len, d_model):
        k = np.arange(d_model)
        w = frequencies(base ** (-exponents(k) / d_model)).astype(dtype)
        angles = np.outer(read(np.arange(seq_len)).astype(dtype), w)
        made = np.where(k % 2 == 0, np.sin(angles), np.cos(angles))
        return after(made[:, order])

    return encoder


right, in_float32 = table(), table(dtype=np.float32)


@pytest.mark.parametrize("words", CONVENTIONS)
@pytest.mark.parametrize("d_model", [4, 7, 8])
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


def test_conventions_have_names_of_their_own():
    assert len(set(CONVENTIONS)) == 8


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
    for no_matrix in (table[0], np.zeros((0, 16))):
        with pytest.raises(ValueError, match="give a matrix"):
            convention_of(no_matrix)


def tensor(array):
    """What PyTorch's tensors do: detach, then cpu, then double."""
    on_cpu = SimpleNamespace(double=lambda: array)
    return SimpleNamespace(detach=lambda: SimpleNamespace(cpu=lambda: on_cpu))


@pytest.mark.parametrize("made", [tensor, list, lambda t: t[None]])
def test_whatever_numpy_can_read_will_do(made):
    assert not review(table(after=made), 8, max_len=600).findings


def rows(first, last, factor):
    """An encoder that is right but for some rows."""

    def change(made):
        made[first : last + 1] *= factor
        return made

    return table(after=change)


def fairseq(seq_len, d_model):
    """Begins at position 2, after the padding index 1."""
    words = "tensor2tensor, concatenated"
    return spelled_out(words)(seq_len + 2, d_model)[2:]


def random(seq_len, d_model):
    return np.random.default_rng(0).normal(size=(seq_len, d_model))


K = np.arange(WIDTH)
WOVEN = K.reshape(2, -1).T.ravel()
SPREAD = np.argsort(WOVEN)
SWAPPED = np.r_[SPREAD[:3], SPREAD[9], SPREAD[4:9], SPREAD[3], SPREAD[10:]]
SHIFTED = np.r_[0:2, 14, 3, K[4:16] - np.tile([2, 0], 6), 16:32]
BFLOAT16 = ml_dtypes.bfloat16
END_SLOW = table(frequencies=lambda w: w / np.where(K < 16, 1, 8))
OTHER_ANGLES = table(exponents=lambda k: WOVEN & ~1, order=SPREAD)
WRONG = [  # which findings, if not "every row"; what is said; an encoder
    ("fit base 500000.", table(5e5)),
    ("base 100; missing factor 2", table(100.0)),
    ("base 100000000; doubled exponent", table(1e8)),
    ("base 13460; d - 1 for d", table(1e4 ** (32 / 31))),
    ("base 54.598; log10", table(math.e**4)),
    ("position 1; one position late", table(read=lambda n: n + 1)),
    ("position 2; padding?", fairseq),
    ("position 2; late", lambda n, d: fairseq(n, d)[:, WOVEN]),
    ("position 70; backwards", table(read=lambda n: 70 - n)),
    ("Columns 2 and 3", table(order=np.r_[:2, 3, 2, 4:32])),
    ("Columns 4 and 9", table(order=np.r_[:4, 9, 5:9, 4, 10:32])),
    ("Pairs 1 and 2", table(order=np.r_[:2, 4, 5, 2, 3, 6:32])),
    ("12, and more; another order", table(order=SHIFTED)),
    ("column 5 has those of 3", table(order=np.r_[:5, 3, 6:32])),
    ("frequencies; backwards", table(frequencies=lambda w: w[::-1])),
    ("Positions; divided by 1.5", table(frequencies=lambda w: w / 1.5)),
    ("degrees", table(frequencies=np.rad2deg)),
    ("All pairs; one frequency", table(frequencies=np.ones_like)),
    ("by parts; pairs 8 to 15 divided by 8", END_SLOW),
    ("All; negated", table(after=lambda t: -t)),
    ("The sines; negated", table(after=lambda t: t * (-1.0) ** (K + 1))),
    ("multiplied by 5.657", table(after=lambda t: t * 32**0.5)),
    ("entries are moved by 0.5", table(after=lambda t: t + 0.5)),
    ("by 0.5; moved by 0.5", table(after=lambda t: t / 2 + 0.5)),
    ("late; float32", table(read=lambda n: n + 1, dtype=np.float32)),
    ("float16", table(after=np.float16)),
    ("bfloat16", table(after=lambda t: t.astype(BFLOAT16))),
    ("an exponent of its own", table(exponents=same)),
    ("exponents; twice", table(exponents=lambda k: 2 * k)),
    ("column 1 has those of 3", table(exponents=lambda k: k + k % 2)),
    ("laid out concatenated", table(exponents=lambda k: 2 * k % 32)),
    ("concatenated; laid out interleaved", OTHER_ANGLES),
    ("column 0 has those of 1", table(order=K | 1)),
    ("column 1 has those of 0", table(order=K & ~1)),
    ("same in column 9", table(after=lambda t: t * (K != 9))),
    ("All rows are the same", table(after=lambda t: 0 * t + t[0])),
    (
        "first rows, every row: mixed",
        table(after=lambda t: t.T.reshape(t.shape)),
    ),
    ("No known cause", random),
    ("row 0; zero", rows(0, 0, 0)),
    ("row 30; zero", rows(30, 30, 0)),
    ("batch axis: (4, 1, 32)", table(after=lambda t: t[:, None])),
    ("batch axis: (1, 4, 1, 32)", table(after=lambda t: t[None, :, None])),
    ("batch axis: (1, 1, 4, 32)", table(after=lambda t: t[None, None])),
    ("Angles; float32", in_float32),
    (
        "Positions; bfloat16; 257",
        table(read=lambda n: n.astype(BFLOAT16)),
    ),
    ("row 128; overflow", table(read=lambda n: n.astype(np.int8))),
    ("row 520; wrapped", table(read=lambda n: n % 520)),
    ("row 520; clipped", table(read=lambda n: np.minimum(n, 519))),
    ("row 520; one late", table(read=lambda n: n + (n > 519))),
    ("row 520; one early", table(read=lambda n: n - (n > 519))),
    ("rows 520 to 590; zero", rows(520, 590, 0)),
    ("rows 520 to 529; by 0.5", rows(520, 529, 0.5)),
    ("No known cause; Row 520", table(read=lambda n: n + (n > 519) / 3)),
    (
        "first rows, every row: divided by 600",
        table(read=lambda n: n / len(n)),
    ),
    (
        "first rows, every row: 600 rows; row 7",
        lambda n, d: (rows(7, 7, 0.99) if n > 512 else right)(n, d),
    ),
]


@pytest.mark.parametrize(("expected", "encoder"), WRONG)
def test_what_is_wrong_is_said(expected, encoder):
    names, words = ["every row", *expected.split(": ")][-2:]
    seen = review(encoder, WIDTH, max_len=600)
    assert ", ".join(seen.findings) == names
    assert_says(str(seen), words)
    assert_places_are_named(seen)
    if seen.fields["held_to"] == PAPER and "every row" in names:
        off = np.abs(encoder(600, WIDTH) - right(600, WIDTH))
        row = int(np.argmax(off.max(axis=1) > 1e-6))
        last = seen.details[-1]
        assert (last.position, last.column) == (row, off[row].argmax())


@pytest.mark.parametrize(
    ("change", "words", "row"),
    [
        (lambda made: made + 1e-9 * (made == 0), "another row 0", 0),
        (lambda made: made + np.eye(*made.shape, -5), "another row 5", 5),
        (lambda made: 1 / 0, "fails; ZeroDivisionError", None),
    ],
)
def test_a_table_is_asked_for_again(change, words, row):
    """From its fourth call on, some of it is changed."""
    calls = iter(range(99))
    drifts = table(
        after=lambda made: change(made) if next(calls) > 2 else made
    )
    (finding,) = review(drifts, 8, max_len=600).details
    assert (finding.name, finding.position) == ("state", row)
    assert_says(finding.words, words)


FIVE_ON = table(read=lambda n: n + 5)
HELD = [  # an encoder, what is asked, the convention, what is said
    (table(5e5), {"base": 5e5}, f"{PAPER}, base 500000", ""),
    (right, {"base": 5e5}, "unknown", "base 10000"),
    (FIVE_ON, {"start": 5}, PAPER, ""),
    (FIVE_ON, {}, "unknown", "5 positions late"),
    (right, {"start": 5}, "unknown", "5 positions early"),
    (
        table(order=SPREAD),
        {"convention": PAPER},
        "paper, concatenated",
        "held to paper, interleaved",
    ),
    (table(exponents=same), {}, "unknown", f"held to {PAPER}"),
    (table(order=SWAPPED), {}, "unknown", "exchanged; paper, concatenated"),
    (
        spelled_out("tensor2tensor, interleaved"),
        {"convention": PAPER},
        "tensor2tensor, interleaved",
        "fit base 10000; the spacing of tensor2tensor",
    ),
]


@pytest.mark.parametrize(("encoder", "asked", "convention", "words"), HELD)
def test_a_table_is_held_to_what_is_asked(encoder, asked, convention, words):
    seen = review(encoder, WIDTH, max_len=128, **asked)
    assert seen.convention == convention
    assert ("every row" in seen.findings) == bool(words)
    assert_says(str(seen), words)


def test_rows_and_digits_are_told():
    seen = review(rows(600, 31_999, 0), 16)
    cause, where = seen.details
    assert (cause.position, where.position, where.column) == (600, 600, 1)
    assert_says(cause.words + where.words, "rows 600 to 31999; zero; column 1")
    assert str(seen).splitlines()[1:] == [
        "Findings: 1. Convention: paper, interleaved.",
        "Rows: 70000, the first 600 right to 1e-06.",
    ]


CLIPPED = {"read": lambda n: np.minimum(n, 519), "dtype": np.float32}
ROUNDED = {"after": np.float16, "dtype": np.float32}
BOTH = CLIPPED | ROUNDED
CAUSES = [  # rows, encoder, what is said, where, and the first wrong row
    (600, table(**CLIPPED), "clipped; Angles; float32", [520, 45, 45]),
    (600, table(**BOTH), "Entries; float16; clipped", [None, 520, 1]),
    (30_000, table(**ROUNDED), "float16; Angles; float32", [None, 13_351, 1]),
]


@pytest.mark.parametrize(("length", "encoder", "words", "places"), CAUSES)
def test_each_cause_has_a_place_of_its_own(length, encoder, words, places):
    seen = review(encoder, WIDTH, max_len=length)
    causes = [each for each in seen.details if each.name == "every row"]
    assert_says(seen.findings["every row"], words)
    assert [each.position for each in causes] == places


def test_errors_are_judged_by_the_tolerance():
    shifted = rows(5, 5, 1 + 3e-6)
    assert list(review(shifted, 8, max_len=600).findings) == ["every row"]
    for encoder, length, tolerance in (
        (shifted, 600, 1e-5),
        (in_float32, 9000, 0.01),
        (in_float32, 64, 1e-5),
        (table(after=np.float16), 600, 1e-3),
    ):
        asked = {"max_len": length, "tolerance": tolerance}
        assert review(encoder, 8, **asked).findings == {}


NO_TABLE = [  # what is said, how many rows there are, the encoder
    ("4 rows; ZeroDivisionError", 0, lambda n, d: 1 / 0),
    ("shape; (0, 8)", 0, lambda n, d: right(n, d)[: n % 64]),
    ("shape; (5, 8)", 0, lambda n, d: right(n + 1, d)),
    ("text", 0, table(after=lambda made: made.astype(str))),
    ("returns None", 0, lambda n, d: None),
    ("no numbers; object", 0, lambda n, d: object()),
    ("complex", 0, table(after=lambda made: made * 1j)),
    ("TypeError", 0, lambda n: right(n, 8)),
    ("SystemExit", 0, lambda n, d: exit(0)),
    ("NaN or infinity in row 600", 600, rows(600, 900, math.nan)),
    ("Up to 100 rows", 100, lambda n, d: right(100, d)[:n]),
    ("Asked for 40000 rows", 35_000, lambda n, d: right(35_000, d)[:n]),
]


@pytest.mark.parametrize(("words", "count", "encoder"), NO_TABLE)
def test_an_encoder_that_gives_no_table_is_a_finding(words, count, encoder):
    seen = review(encoder, 8, max_len=40_000)
    assert list(seen.findings) == ["table"]
    assert_says(seen.findings["table"], words)
    assert seen.fields.get("rows", 0) == count
    assert (seen.convention == "unknown") == (count == 0)
    assert ("Rows:" in str(seen)) == (count > 0)


SENSELESS = [
    ({"d_model": 0}, "d_model=0: give 1 to 1048576"),
    ({"d_model": True}, "d_model=True: give an integer"),
    ({"max_len": 63}, "max_len=63: give 64 to"),
    ({"tolerance": math.nan}, "tolerance=nan: give a number of 0 or more"),
    ({"base": "2"}, "base='2': give a number above 1"),
    ({"base": 10**400}, "base=1"),
    ({"start": 10**30}, f"start={10**30}: give -"),
]


@pytest.mark.parametrize(("given", "told"), SENSELESS)
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
