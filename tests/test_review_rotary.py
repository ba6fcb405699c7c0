"""review_rotary on rotary functions, right and wrong.

The functions are written here, from the formula. Each wrong one has one
slip, and the review has to say which.
"""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from posenc_review import review_rotary

WIDTH, PAIRS = 32, 16
PAIR = np.arange(PAIRS)


def same(values):
    return values


def usual(base=10_000.0, pairs=PAIRS):
    return base ** (-np.arange(pairs) / pairs)


def columns_of(layout, width, pairs):
    """Return the first and the second columns of all pairs."""
    if layout == "interleaved":
        return np.arange(2 * pairs).reshape(-1, 2).T
    distance = width // 2 if layout == "half of the head" else pairs
    return np.arange(pairs), np.arange(pairs) + distance


def rotary(
    base=10_000.0,
    layout="half",
    *,
    part=None,  # columns that turn,
    start=0,  # from this one on
    steps=None,  # pairs that exponents count
    read=same,
    frequencies=same,
    angles=same,
    waves=same,
    length=1,
    sign=1,
    dtype=float,
    result=lambda made, x, p: made,
):
    """Build a rotary function with some stages changed."""

    def rotate(x, positions):
        pairs = (part or x.shape[-1]) // 2
        speeds = base ** (-np.arange(pairs) / (steps or pairs))
        speeds = frequencies(speeds).astype(dtype)
        taken = np.broadcast_to(read(positions), positions.shape)
        turns = sign * angles(taken.astype(dtype)[..., None] * speeds)
        cosine, sine = length * waves(np.array([np.cos(turns), np.sin(turns)]))
        columns = columns_of(layout, x.shape[-1], pairs)
        one, other = (start + each for each in columns)
        made = x.astype(dtype)
        made[..., one] = x[..., one] * cosine - x[..., other] * sine
        made[..., other] = x[..., other] * cosine + x[..., one] * sine
        return result(made, x, positions[..., None])

    return rotate


def rounded(dtype):
    return lambda values: np.asarray(values).astype(dtype).astype(float)


bfloat16, float16 = rounded(ml_dtypes.bfloat16), rounded(np.float16)


def tensor_float(values):
    """Round to 11 binary digits, as float16, but with float32's range."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 2**11), exponent - 11)


def partly(kept, factor):
    return kept + (1 - kept) / factor


def llama3(speeds, factor=8):
    """Slow pairs as in Llama 3.1: by their turns in 8192 positions."""
    turns = 8192 * speeds / (2 * math.pi)
    return speeds * partly(np.clip((turns - 1) / 3, 0, 1), factor)


def yarn(speeds):
    """Slow pairs as in YaRN: by their numbers, from 32 turns to 1 in 4096."""
    kept = 1 - np.clip((PAIR - 5) / (12 - 5), 0, 1)
    return speeds * partly(kept, 4)


def looked(rotate, **options):
    """Look at few positions, unless told otherwise."""
    return review_rotary(rotate, **{"width": WIDTH, "max_len": 300} | options)


YARN_LENGTH = 0.1 * math.log(4) + 1
HEAD = {"head_dim": WIDTH}
PLAIN = HEAD | {"rope_theta": 500_000}
PART = HEAD | {"partial_rotary_factor": 0.5}
PROPORTIONAL = PART | {"rope_scaling": {"rope_type": "proportional"}}
LINEAR = HEAD | {"rope_scaling": {"rope_type": "linear", "factor": 4}}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0}
LLAMA3 |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 8192}
LLAMA = PLAIN | {"rope_scaling": LLAMA3}
FROM_4096 = {"factor": 4.0, "original_max_position_embeddings": 4096}
YARN = HEAD | {"rope_parameters": {"rope_type": "yarn", **FROM_4096}}
YARN |= {"max_position_embeddings": 16_384}
WOVEN = np.arange(WIDTH).reshape(2, -1).T.ravel()
AS_LLAMA = rotary(5e5, frequencies=llama3)
AS_YARN = rotary(frequencies=yarn, length=YARN_LENGTH)
BY_4 = rotary(frequencies=lambda w: w / 4)
BY_1_5 = rotary(frequencies=lambda w: w / 1.5)
TO_WOVEN = rotary(result=lambda m, x, p: m[..., WOVEN])
SPREAD = np.argsort(WOVEN)
TO_HALF = rotary(1e4, "interleaved", result=lambda m, x, p: m[..., SPREAD])
END_SLOW = rotary(frequencies=lambda w: w / np.where(PAIR < 14, 1, 8))
INTERLEAVED = rotary(layout="interleaved", part=8, start=24)
PROPORTIONED = rotary(part=16, layout="half of the head", steps=PAIRS)
QUARTER = "half of the part, 8 of 32 columns"
HALF, TAIL = (
    "half of the head, 16 of 32 columns",
    "interleaved, 8 of 32 columns",
)
OF_HEAD = "exponents of the head"
AS_WOVEN, AS_HALF = (
    "half, written as interleaved",
    "interleaved, written as half",
)
LLAMA_PARTS = "pairs 0 to 7 as base 500000 has them, pairs 9 to 15"
END_PARTS = "pairs 0 to 13 as base 10000 has them, pairs 14 to 15"
RIGHT = [  # the convention, a function, what it is held to and how far
    ("half, base 10000", rotary(), {}),
    ("interleaved, base 10000", rotary(layout="interleaved"), {}),
    ("half, base 10000", rotary(result=lambda m, x, p: m.tolist()), {}),
    ("half, base 10000", rotary(dtype=np.float32), {"max_len": 9000}),
    ("half, clockwise, base 10000", rotary(sign=-1), {}),
    ("half, base 41829", rotary(41_829.3), {}),
    ("half, base 500000", rotary(5e5), {"base": 5e5, "layout": "half"}),
    ("interleaved or half", rotary(), {"width": 2}),
    ("half, base 10000", rotary(), {"width": 4}),
    ("half, base 10000", rotary(read=lambda p: np.arange(300)[p]), {}),
    (f"{QUARTER}, base 10000", rotary(part=8), {}),
    (f"{QUARTER}, from column 4, base 10000", rotary(part=8, start=4), {}),
    (f"{QUARTER}, from column 24, base 10000", rotary(part=8, start=24), {}),
    (f"{QUARTER}, {OF_HEAD}, base 10000", rotary(part=8, steps=PAIRS), {}),
    (f"{TAIL}, from column 24, base 10000", INTERLEAVED, {}),
    (f"{HALF}, {OF_HEAD}, base 10000", PROPORTIONED, {"config": PROPORTIONAL}),
    (f"{AS_WOVEN}, base 10000", TO_WOVEN, {"layout": AS_WOVEN}),
    (f"{AS_HALF}, base 10000", TO_HALF, {"layout": AS_HALF}),
    ("half, base 10000, linear by 1.5", BY_1_5, {}),
    ("half, base 10000, linear by 4", BY_4, {"config": LINEAR}),
    (f"half, base 10000, by parts ({END_PARTS} divided by 8)", END_SLOW, {}),
    (
        f"half, base 500000, by parts ({LLAMA_PARTS} divided by 8)",
        AS_LLAMA,
        {},
    ),
    ("half, base 500000, llama3 by 8", AS_LLAMA, {"config": LLAMA}),
    (
        "half, base 10000, yarn by 4, lengths by 1.1386",
        AS_YARN,
        {"config": YARN},
    ),
]


@pytest.mark.parametrize(("convention", "rotate", "options"), RIGHT)
def test_a_right_function_is_named_and_not_faulted(
    convention, rotate, options
):
    found = looked(rotate, **options)
    assert found.findings == {}
    assert found.convention == convention
    assert f"Findings: 0. Convention: {convention}.\n" in str(found)
    assert (found.fields["divided_by"] > 1) == ("linear" in convention)


def by_matrix(numbers):
    """Build a function from the four numbers of each pair's matrix."""

    def rotate(x, positions):
        angles = positions[..., None] * usual()
        one, other = x[..., :PAIRS], x[..., PAIRS:]
        a, b, c, d = numbers(np.cos(angles), np.sin(angles))
        made = [a * one + b * other, c * one + d * other]
        return np.concatenate(made, axis=-1)

    return rotate


MATRICES = {
    "rotation: a minus is missing": lambda c, s: (c, s, s, c),
    "rotation: second column is negated": lambda c, s: (c, s, s, -c),
    "rotation: first column is negated": lambda c, s: (-c, s, s, c),
    "rotation: cosine are exchanged.": lambda c, s: (s, -c, c, s),
    "rotation: exchanged in the second": lambda c, s: (c, -s, c, s),
    "rotation: exchanged in the first": lambda c, s: (s, -c, s, c),
    "rotation: the sines are missing": lambda c, s: (c, 0, 0, c),
    "rotation: only the first column": lambda c, s: (c, -s, 0, 1),
    "rotation: only the second column": lambda c, s: (1, 0, s, c),
    "rotation: the second column is lost": lambda c, s: (c, -s, 0, 0),
    "rotation: the first column is lost": lambda c, s: (0, 0, s, c),
    "rotation: computed like the first": lambda c, s: (c, -s, c, -s),
    "rotation: computed like the second": lambda c, s: (s, c, s, c),
    "rotation: second column is made": lambda c, s: (c, -s, s * c, c - s * s),
    "rotation: first column is made": lambda c, s: (c - s * s, -s * c, s, c),
    "offsets: 0.000329": lambda c, s: (c, -s[..., ::-1], s[..., ::-1], c),
}
READ = {  # for positions are taken
    "position 0: is one position late (counted from 1?)": lambda p: p + 1,
    "precision: rounded to bfloat16: position 257": bfloat16,
    "precision: rounded to float16: position 2049": float16,
    "far positions: 21 on, all are taken for": lambda p: np.minimum(p, 20),
    "far positions: position 299: clipped": lambda p: np.minimum(p, 299),
    "far positions: From position 749 on": lambda p: np.minimum(p, 748),
    "far positions: 300 on, counting begins at 0 again": lambda p: p % 300,
    "far positions: 128 on, numbers overflow": lambda p: p.astype(np.int8),
    "far positions: taken for the next: one late": lambda p: p + (p >= 700),
    "far positions: for the one before": lambda p: p - (p >= 700),
    "far positions: taken for position 0": lambda p: p * (p < 500),
    "far positions: 297 is the f": lambda p: np.where(p < 297, p, 9),
    "far positions: Position 4 is the first": lambda p: np.arange(4)[p],
    "far positions: Position 30 is the first": lambda p: np.arange(30)[p],
    "far positions: Position 300 is the first": lambda p: np.arange(300)[p],
    "positions: ignored": lambda p: np.arange(p.shape[1]),
    "positions: from the first of their row": lambda p: p - p[:, :1],
    "positions: 2 is turn": lambda p: p[:, :1] + np.arange(p.shape[1]),
    "positions: the very first": lambda p: p[0, 0] + np.arange(p.shape[1]),
    "positions: each of two rows, 7 is turned as 19": lambda p: p[:1],
    "positions: two rows, 19 is turned as 7": lambda p: p[-1:],
    "positions: one token, 7": lambda p: p * (p.shape[1] > 1),
    "positions: token 0 of row 0 is the first, at position 20": (
        lambda p: p[:1] if len(p) > 1 else p - p[:, :1]
    ),
    "positions: as the call?": lambda p: np.arange(p.shape[1])[p],
    "positions: packed in one": lambda p: np.maximum.accumulate(p, 1),
    "far positions: 4 is the first that is turned": lambda p: p // 4,
}


def put(pair, value):
    return lambda w: np.where(pair == PAIR, value, w)


def exchange(one, other):
    order = np.arange(PAIRS)
    order[[one, other]] = other, one
    return lambda w: w[order]


def evenly(w):
    return np.linspace(1, 1e-4, len(w))


SPEEDS = {  # frequencies
    "pair: Pair 5 (columns 5, 21) stands still": put(5, 0),
    "pair: Pair 0 (columns 0, 16) stands still": put(0, 0),
    "pair: Pairs 3 and 9 are exchanged": exchange(3, 9),
    "pair: Against the others turn: pair 7.": put(7, -usual()[7]),
    "pair: 0.6 per position instead of 0.1.": put(4, 0.6),
    "frequencies: All pairs turn at one frequency": np.ones_like,
    "frequencies: two by two": lambda w: w[PAIR // 2 * 2],
    "frequencies: run backwards": lambda w: w[::-1],
    "frequencies: degrees are taken for radians": np.rad2deg,
    "frequencies: radians are taken for degrees": np.deg2rad,
    "frequencies: angles are divided by 2 pi": lambda w: w / (2 * np.pi),
    "frequencies: multiplied by 2 pi": lambda w: w * 2 * np.pi,
    "frequencies: turns by 3.33333 per position, not by 1": lambda w: w / 0.3,
    "frequencies: Exponents begin with pair 1": lambda w: w * w[1],
    "frequencies: by parts is for": lambda w: w / np.where(PAIR < 10, 8, 1),
    "frequencies: no single b": evenly,
    "precision: Frequencies are rounded to float16": float16,
    "precision: miss those of the base, by up to 0.3 % in pair 11.": (
        lambda w: w * (1 + 0.003 * np.sin(PAIR**2))
    ),
}
ANGLES = {
    "position 0: 15 by": lambda a: a + np.linspace(0, 1, PAIRS) ** 2,
    "offsets: pair 0 turns by 1, 3, -1.28.": lambda a: a**2 / usual(),
    "precision: Angles are rounded to bfloat16": bfloat16,
    "far positions: 7 is the first that is turned": lambda a: a % 6.28,
}


HADAMARD = np.kron(np.eye(8), [[1, 1, 0, 0], [1, -1, 1, 0]] * 2)
NAN = np.array([math.nan, 0])


def long(some, factor):
    factors = np.where(np.isin(np.arange(WIDTH) % PAIRS, some), factor, 1)
    return lambda made, x, p: made * factors


def beyond(limit, factor):
    return lambda made, x, p: made * np.where(p < limit, 1, factor)


def moved(made, x, p):
    return np.concatenate([made[..., 16:], made[..., :16]], axis=-1)


AFTER = {
    "lengths: by 2 in pair 3.": long([3], 2),
    "lengths: by 2 in pairs 3 to 4.": long([3, 4], 2),
    "lengths: Lengths change by 5.6569.": long(PAIR, 32**0.5),
    "lengths: Lengths change by 3.": long(PAIR, 3),
    "lengths: 1 changes lengths in pair 0 by 0.99;": lambda m, x, p: (
        m * 0.99**p
    ),
    "lengths: 103 changes lengths in": lambda m, x, p: m * 0.999999**p,
    "precision: to float16: by up to 0.00024.": lambda m, x, p: float16(m),
    "position 0: 0, the result is zero": lambda m, x, p: m * (p > 0),
    "position 0: read in the other layout": lambda m, x, p: m[..., WOVEN],
    "position 0: 0, the result is NaN": lambda m, x, p: m + NAN[1 * (p > 0)],
    "far positions: From position 1 on it gives NaN": beyond(1, math.nan),
    "far positions: 12 on, the result is NaN": beyond(12, math.nan),
    "far positions: 500 on, the result is NaN or inf": beyond(500, math.nan),
    "far positions: From position 500 on, the result is NaN": (
        lambda m, x, p: np.where(p < 500, m, np.inf)
    ),
    "far positions: 500 on, the result is zero": beyond(500, 0),
    "far positions: is negated, and lengths change by 2": beyond(500, -2),
    "far positions: 300, the result is zero": lambda m, x, p: m * (p != 300),
    "linear: not only turned": lambda m, x, p: x + np.sin(p),
    "batch: Row 1 of a batch": lambda m, x, p: np.r_[m[:1], x[1:]],
    "batch: Row 0 of a batch": lambda m, x, p: np.r_[x[:-1], m[-1:]],
    "rotation: Nothing turns": lambda m, x, p: x,
    "rotation: mixed with more than one": lambda m, x, p: m @ HADAMARD,
    "result: shape is (1, 4, 16), not": lambda m, x, p: m[..., :16],
    "result: the numbers are complex": lambda m, x, p: m * 1j,
    "result: it returns None": lambda m, x, p: None,
    "result: SystemExit": lambda m, x, p: exit(3),
}


def ordered(*columns):
    """Build a function whose first, then second columns are these."""
    order = np.concatenate(columns)
    back = np.argsort(order)
    return lambda x, p: rotary()(x[..., order], p)[..., back]


def by_columns(layout, turns):
    """Build "x * cosine + other * sine", with a frequency for each column."""

    def rotate(x, positions):
        angles = positions[..., None] * turns
        one, two = columns_of(layout, WIDTH, PAIRS)
        other = np.empty_like(x)
        other[..., one], other[..., two] = -x[..., two], x[..., one]
        return x * np.cos(angles) + other * np.sin(angles)

    return rotate


def fails(where, error):
    """Build a function that fails for some positions."""

    def rotate(x, positions):
        if where(positions):
            raise error
        return rotary()(x, positions)

    return rotate


def dynamic(x, positions):
    """The base grows with the largest position of the call."""
    growth = max(1.0, 4 * (positions.max() + 1) / 400 - 3)
    return rotary(10_000.0 * growth ** (16 / 15))(x, positions)


def remembers(read):
    """Build a function that reads its calls so far: (calls, x, p)."""
    calls = []

    def rotate(x, positions):
        calls.append(positions)
        return rotary()(*read(calls, x, positions))

    return rotate


CALLS = {
    "far positions: From position 4 on, all": lambda calls, x, p: (
        *(x, np.minimum(p, calls[0].max())),
    ),
    "state: Positions of an earlier call": lambda calls, x, p: (
        *(x, next(each for each in calls if each.shape == p.shape)),
    ),
    "state: after all others": lambda calls, x, p: (x, p + len(calls) // 60),
    "state: asked twice, give": lambda calls, x, p: (x, p + len(calls)),
    "state: fail: IndexError": lambda calls, x, p: [(x, p)][len(calls) - 1],
}


def in_place(x, positions):
    x[:] = rotary()(x, positions)
    return x


def positions_in_place(x, positions):
    positions += 1
    return rotary()(x, positions - 1)


BLOCKS = PAIR + PAIR // 8 * 8
OTHERS = {
    "layout: interleaved: col": by_columns("half", np.repeat(usual(), 2)),
    "layout: out half:": by_columns("interleaved", np.tile(usual(), 2)),
    "layout: within a pair": by_columns("half", np.r_[usual(), usual(9e3)]),
    "layout: Columns 0 and 31 are a pair": ordered(PAIR, 31 - PAIR),
    "layout: Columns 0 and 8 are a pair": ordered(BLOCKS, BLOCKS + 8),
    "pair: (columns 30, 31)": (
        rotary(layout="interleaved", frequencies=put(15, 0))
    ),
    "pair: by 0.03949 per position instead of 0.03761": rotary(
        5e5, frequencies=lambda w: w * np.where(np.arange(16) == 4, 1.05, 1)
    ),
    "position 0: of the result is column 16 of x": rotary(
        part=16, result=moved
    ),
    "lengths: Columns 16 to 31 do not turn": rotary(
        part=16, result=lambda m, x, p: m * (np.arange(32) < 16)
    ),
    "precision: Frequencies, positions and angles are rounded": rotary(
        frequencies=bfloat16, read=bfloat16, angles=bfloat16, waves=bfloat16
    ),
    "far positions: Position 300 is the first to fail: KeyError": fails(
        lambda p: np.any((p >= 300) & (p < 400)), KeyError("a gap")
    ),
    "far positions: 501 is the first to fail, in a call with others": fails(
        lambda p: p.max() > 500 and p.shape[1] > 1, MemoryError("too much")
    ),
    "far positions: in a call with others: KeyError: 'now'": fails(
        lambda p: p.max() >= 600 or (p.max() > 340 and p.size > 4),
        KeyError("now"),
    ),
    "batch: A batch of 2 rows fails": fails(
        lambda p: len(p) > 1, ValueError("one row only")
    ),
    "batch maximum: beside position 400 or more": dynamic,
    "input: x is changed in place": in_place,
    "input: positions is changed in place": positions_in_place,
    "linear: random numbers give": lambda x, p: rotary()(
        x / np.linalg.norm(x), p
    ),
    "linear: columns one by one": lambda x, p: rotary()(x + x[:, :1], p),
    "result: were given. If it makes a table, leave out --rot": lambda x: x,
}
WRONG = [
    *((words, by_matrix(each)) for words, each in MATRICES.items()),
    *((words, rotary(read=each)) for words, each in READ.items()),
    *((words, rotary(frequencies=each)) for words, each in SPEEDS.items()),
    *((words, rotary(angles=each)) for words, each in ANGLES.items()),
    *((words, rotary(result=each)) for words, each in AFTER.items()),
    *((words, remembers(each)) for words, each in CALLS.items()),
    *OTHERS.items(),
]
SEVERAL = {"state", "positions"}  # may show in other ways besides
SEEN = (  # conventions that wrong functions follow
    "(unknown|half|half of the (part|head)|interleaved)(, written as .*)?"
    "(, (16|30) of 32 columns)?(, clockwise)?(, base (10000|500000))?"
)
PLACES = {"position": "", "pair": "pairs? ", "column": "columns? "}


@pytest.mark.parametrize(
    ("expected", "rotate"), WRONG, ids=[words for words, _ in WRONG]
)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_said(expected, rotate):
    name, words = expected.split(": ", 1)
    found = looked(rotate, max_len=2100 if "2049" in words else 750)
    assert words in found.findings[name]
    allowed = {name}
    if "float16" in words:
        allowed |= {"far positions", "precision"}
    if name in SEVERAL:
        allowed |= SEVERAL | {"batch", "position 0"}
    assert set(found.findings) <= allowed
    factor = "(, linear by .*)?" if name == "frequencies" else ""
    assert re.fullmatch(SEEN + factor, found.convention)
    if name in ("pair", "rotation", "frequencies", "lengths", "layout"):
        assert len(found.details) == 1
    for finding in found.details:  # a place that is given is named
        for name, before in PLACES.items():
            place = getattr(finding, name)
            if place is not None:
                assert re.search(rf"(?i){before}\b{place}\b", finding.words)


BY_8 = rotary(5e5, frequencies=lambda w: w / 8)
BY_32 = rotary(5e5, frequencies=lambda w: llama3(w, factor=32))
SHORT_YARN = rotary(frequencies=yarn)
LONG_YARN = rotary(frequencies=yarn, length=YARN_LENGTH**2)
WHOLE = rotary(part=16, steps=PAIRS)
TO_ANY = {"layout": "interleaved, written as half"}
HELD = {  # the finding and what it says: a function, what it is held to
    "base: 10000, where 500000 is": (rotary(), {"base": 5e5}),
    "base: 41000, where 10000 is": (rotary(41_000.0), {"base": 1e4}),
    "base: a missing factor 2": (rotary(100.0), {"base": 1e4}),
    "base: 10000 is the default": (rotary(), {"config": PLAIN}),
    "layout: Pairs are half (columns 0 and 16), where interl": (
        *(rotary(), {"layout": "interleaved"}),
    ),
    "position 0: as they were read": (rotary(layout="interleaved"), TO_ANY),
    "scaling: pair 9 by 0.00007785 radians": (AS_LLAMA, {"config": PLAIN}),
    "scaling: rope_type default, where the config asks for l": (
        rotary(5e5),
        {"config": LLAMA},
    ),
    "scaling: of rope_type linear": (BY_8, {"config": LLAMA}),
    "scaling: factor 32.0, where the": (BY_32, {"config": LLAMA}),
    "lengths: do not change, where": (SHORT_YARN, {"config": YARN}),
    "lengths: where the config asks": (LONG_YARN, {"config": YARN}),
    "columns: 32 columns turn, where": (rotary(), {"config": PART}),
    "columns: 16 columns from column 16 on turn": (
        rotary(part=16, start=16),
        {"config": PART},
    ),
    "direction: turn clockwise": (rotary(5e5, sign=-1), {"config": PLAIN}),
    "scaling: of rope_type proportional": (WHOLE, {"config": PART}),
    "scaling: config asks for proportional": (
        rotary(part=16),
        {"config": PROPORTIONAL},
    ),
}


@pytest.mark.parametrize("expected", HELD)
def test_a_function_is_held_to_what_is_asked(expected):
    name, words = expected.split(": ", 1)
    rotate, options = HELD[expected]
    found = looked(rotate, **options)
    assert set(found.findings) <= {name, "layout"}
    assert words in found.findings[name]


def test_a_config_says_what_it_asks_for_and_how_far():
    found = looked(AS_YARN, config=YARN, max_len=None)
    assert str(found).startswith(
        "The config asks for base 10000, yarn, by 4, lengths by 1.13863,"
        " radians per position 1, 0.5623, 0.3162, ..., 0.00004446.\n"
    )
    assert found.fields["positions"] == 16_384


@pytest.mark.filterwarnings("error")
def test_a_pair_that_stands_still_may_be_one_of_other_faults():
    rotate = rotary(frequencies=lambda w: np.array([10, 5, 0, 2]))
    assert "pair" in looked(rotate, width=8).findings


def test_large_angles_tell_tensor_float_from_float16():
    rotate = rotary(angles=tensor_float)
    found = looked(rotate, width=4, max_len=100_000)
    assert "Angles are rounded to TensorFloat-32" in str(found)


def test_digits_are_told_and_float32_is_no_finding():
    cast = rotary(result=lambda m, x, p: np.float32(m))
    for rotate, words in (
        (rotary(), "Angles in float64"),
        (rotary(read=bfloat16), "Angles in bfloat16"),
        (rotary(dtype=np.float32), "Angles in float32, off by 0.00"),
        (cast, "Results in float32, off by 0.00000003"),
    ):
        assert looked(rotate).fields["digits"].startswith(words)
    tolerant = looked(rotary(waves=bfloat16), tolerance=0.01)
    assert tolerant.findings == {}
    assert "Results in bfloat16." in str(tolerant)
    ignored = looked(rotary(read=lambda p: np.arange(p.shape[1])))
    assert "Looked at: positions 0 to 41, calls" in str(ignored)


@pytest.mark.parametrize(
    ("base", "cause"),
    [
        (1e4 ** (32 / 31), "d - 1 for d in the exponent (of base 10000)"),
        (1e4 ** (32 / 30), "d - 2 for d in the exponent (of base 10000)"),
        (500_000**2, "a doubled exponent (of base 500000)."),
        (1e6**0.5, "1000 suggests a missing factor 2 in the exponent"),
        (math.exp(math.log10(5e5)), "log10 for the natural logarithm (of"),
        (1e4 * 2 ** (32 / 30), "NTK-aware scaling by 2 (of"),
        (1e4 * 32 ** (32 / 30), "NTK-aware scaling by 32 (of"),
    ],
)
def test_a_base_suggests_a_cause(base, cause):
    found = looked(rotary(base))
    (note,) = found.notes
    assert cause in note
    assert f"Note: {note}" in str(found)


def test_what_is_held_to_nothing_is_noted():
    (note,) = looked(AS_LLAMA, config=LLAMA).notes
    assert "interleaved or half is held to nothing" in note
    assert not looked(AS_LLAMA, config=LLAMA, layout="half").notes
    (note,) = looked(rotary(frequencies=evenly), base=1e4).notes
    assert note.startswith("the base could not be seen")


def test_nothing_is_said_of_what_was_not_seen():
    seen = looked(lambda x: x)
    assert seen.fields["positions"] == seen.fields["longest_call"] == 0
    assert seen.fields["base"] is None
    assert str(seen).endswith("Findings: 1. Convention: unknown.")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"width": 1}, "width=1: give 2 to 1024"),
        ({"width": 1025}, "width=1025: give 2 to 1024"),
        ({"width": 64.0}, "width=64.0: give an integer"),
        ({"max_len": 9}, "max_len=9: give 42 to"),
        ({"tolerance": -1}, "tolerance=-1: give a number of 0 or more"),
        ({"tolerance": True}, "tolerance=True: give a number of 0 or more"),
        ({"base": 1}, "base=1: give a number above 1"),
        ({"base": "2"}, "base='2': give a number above 1"),
        ({"layers": "full"}, "layers='full': these are layers of a config"),
        ({"layout": "both"}, "layout='both': give one of interleaved; half;"),
    ],
)
def test_settings_that_make_no_sense_are_named(options, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review_rotary(rotary(), **options)
    assert str(caught.value).startswith(told)
