"""review_rotary on rotary functions, right and wrong.

`rope` writes them from the formula. Each wrong one has one stage changed, and
the review has to say which, and where.
"""

import math
import re

import ml_dtypes
import numpy as np
import pytest
from posenc_review import review, review_rotary
from test_review_config import FROM_4096, LLAMA3

WIDTH, PAIRS = 32, 16
COLUMN, PAIR = np.arange(WIDTH), np.arange(PAIRS)
PAIR_OF = COLUMN % PAIRS  # of each column, in halves
USUAL = 10_000.0 ** (-PAIR / PAIRS)


def same(values):
    return values


def columns_of(layout, width, pairs):
    """Return the first and the second columns of all pairs."""
    if layout == "interleaved":
        return np.arange(2 * pairs).reshape(-1, 2).T
    distance = width // 2 if layout == "half of the head" else pairs
    return np.add.outer([0, distance], np.arange(pairs))


def rope(
    base=10_000.0,
    layout="half",  # or the first and the second column of each pair
    *,
    part=None,  # columns that turn,
    start=0,  # from this one on
    steps=None,  # pairs that exponents count
    read=same,
    frequencies=same,  # one for each pair
    angles=same,
    waves=same,
    matrix=lambda c, s: (c, -s, s, c),
    length=1,
    sign=1,
    dtype=float,
    after=lambda made, x, p: made,
):
    """Build a rotary function with some stages changed."""

    def rotate(x, positions):
        pairs = (part or x.shape[-1]) // 2
        columns = layout
        if isinstance(layout, str):
            columns = start + columns_of(layout, x.shape[-1], pairs)
        one, other = columns
        w = frequencies(base ** (-np.arange(pairs) / (steps or pairs)))
        p = np.broadcast_to(read(positions), positions.shape)
        turns = angles(p.astype(dtype)[..., None] * w.astype(dtype))
        both = waves(np.array([np.cos(turns), np.sin(sign * turns)]))
        a, b, c, d = matrix(*(length * both))
        made = x.astype(dtype)
        made[..., one] = a * x[..., one] + b * x[..., other]
        made[..., other] = c * x[..., one] + d * x[..., other]
        return after(made, x, positions[..., None])

    return rotate


def rounded(dtype):
    return lambda values: np.asarray(values).astype(dtype).astype(float)


bfloat16, float16 = rounded(ml_dtypes.bfloat16), rounded(np.float16)


def llama3(w, factor=8):
    """Slow pairs as in Llama 3.1: by their turns in 8192 positions."""
    kept = np.clip((8192 * w / (2 * math.pi) - 1) / (4 - 1), 0, 1)
    return w * (kept + (1 - kept) / factor)


def yarn(w):
    """Slow pairs as in YaRN: by their numbers, from 32 turns to 1 in 4096."""
    kept = 1 - np.clip((PAIR - 5) / (12 - 5), 0, 1)
    return w * (kept + (1 - kept) / 4)


def looked(rotate, **options):
    """Look at few positions, unless told otherwise."""
    return review_rotary(rotate, **{"width": WIDTH, "max_len": 300} | options)


def asks(**settings):
    return {"config": {"head_dim": WIDTH} | settings}


LLAMA = asks(rope_theta=5e5, rope_scaling=LLAMA3)
YARN = asks(
    rope_parameters={"rope_type": "yarn", "factor": 4.0, **FROM_4096},
    max_position_embeddings=16_384,
)
LINEAR = asks(rope_scaling={"type": "linear", "factor": 4})
PART = asks(partial_rotary_factor=0.5)
MOST = asks(partial_rotary_factor=0.75)


def proportional(part):
    scaling = {"rope_type": "proportional"}
    return asks(partial_rotary_factor=part, rope_scaling=scaling)


YARN_LENGTH = 0.1 * math.log(4) + 1
AS_LLAMA = rope(5e5, frequencies=llama3)
AS_YARN = rope(frequencies=yarn, length=YARN_LENGTH)
BY_4 = rope(frequencies=lambda w: w / 4)
BY_1_5 = rope(frequencies=lambda w: w / 1.5)
END_SLOW = rope(frequencies=lambda w: w / np.where(PAIR < 14, 1, 8))
EVENLY = rope(frequencies=lambda w: np.linspace(1, 1e-4, PAIRS))
WOVEN = COLUMN.reshape(2, -1).T.ravel()
SPREAD = np.argsort(WOVEN)
TO_WOVEN = rope(after=lambda m, x, p: m[..., WOVEN])
TO_HALF = rope(1e4, "interleaved", after=lambda m, x, p: m[..., SPREAD])
AS_WOVEN = "half, written as interleaved"
AS_HALF = "interleaved, written as half"
PART_OF, END = "half of the part, 8 of 32 columns", ", base 10000"
OF_HEAD = f" columns, exponents of the head{END}"
AS_16, AS_30 = (
    rope(layout="half of the head", part=part, steps=PAIRS)
    for part in (16, 30)
)
MOVED = rope(
    1e4,
    "interleaved",
    frequencies=yarn,
    length=YARN_LENGTH,
    after=lambda m, x, p: m[..., SPREAD],
)
AS_MOVED = YARN | {"layout": AS_HALF}
WIDE_FLOAT16 = {"width": 128, "tolerance": 0.01}
PARTS = "by parts (pairs 0 to {} as base {} has them, pairs {} divided by 8)"
LLAMA_PARTS = PARTS.format(7, 500_000, "9 to 15")
RIGHT = [  # the convention, a function, what it is held to and how far
    ("half, base 10000", rope(), {}),
    ("half, base 10000", rope(after=lambda m, x, p: m.tolist()), {}),
    ("half, base 10000", rope(dtype=np.float32), {"max_len": 9000}),
    ("half, base 10000", rope(read=lambda p: np.arange(300)[p]), {}),
    ("half, base 10000", rope(waves=bfloat16), {"tolerance": 0.01}),
    ("half, base 1000000", rope(1e6, waves=float16), WIDE_FLOAT16),
    (f"{AS_HALF}, base 10000, yarn by 4, lengths by 1.1386", MOVED, AS_MOVED),
    ("half, base 10000", rope(), {"width": 4}),
    ("interleaved or half", rope(), {"width": 2}),
    ("interleaved, base 10000", rope(layout="interleaved"), {}),
    ("half, clockwise, base 10000", rope(sign=-1), {}),
    ("half, base 41829", rope(41_829.3), {}),
    ("half, base 500000", rope(5e5), {"base": 5e5, "layout": "half"}),
    (f"{PART_OF}{END}", rope(part=8), {}),
    (f"{PART_OF}, from column 4{END}", rope(part=8, start=4), {}),
    (f"{PART_OF}, from column 24{END}", rope(part=8, start=24), {}),
    (
        f"interleaved, 8 of 32 columns, from column 24{END}",
        rope(layout="interleaved", part=8, start=24),
        {},
    ),
    (f"{PART_OF}, exponents of the head{END}", rope(part=8, steps=PAIRS), {}),
    (f"half of the head, 16 of 32{OF_HEAD}", AS_16, proportional(1 / 2)),
    (f"half of the head, 30 of 32{OF_HEAD}", AS_30, proportional(30 / 32)),
    (f"half of the part, 24 of 32 columns{END}", rope(part=24), MOST),
    (f"{AS_WOVEN}{END}", TO_WOVEN, {"layout": AS_WOVEN}),
    (f"{AS_HALF}{END}", TO_HALF, {"layout": AS_HALF}),
    (f"half{END}, linear by 1.5", BY_1_5, {}),
    (f"half{END}, linear by 4", BY_4, LINEAR),
    (f"half{END}, {PARTS.format(13, 10_000, '14 to 15')}", END_SLOW, {}),
    (f"half, base 500000, {LLAMA_PARTS}", AS_LLAMA, {}),
    ("half, base 500000, llama3 by 8", AS_LLAMA, LLAMA),
    ("half, base 10000, yarn by 4, lengths by 1.1386", AS_YARN, YARN),
]


@pytest.mark.parametrize(("convention", "rotate", "options"), RIGHT)
def test_right_functions_are_not_accused(convention, rotate, options):
    found = looked(rotate, **options)
    assert found.findings == {}
    assert found.convention == convention
    assert (found.fields["divided_by"] > 1) == ("linear" in convention)


def unless(fails, p):
    return {False: p}[bool(fails)]  # or a KeyError


def remembers(read):
    """Read positions, knowing those of all calls so far."""
    calls = []
    return lambda p: read([calls.append(p), calls][1], p)


def grows(made, x, p):
    """Let the base grow with the largest position of the call."""
    growth = max(1.0, 4 * (p.max() + 1) / 400 - 3)
    return rope(10_000.0 * growth ** (16 / 15))(x, p[..., 0])


def beyond(limit, factor):
    return lambda made, x, p: made * np.where(p < limit, 1, factor)


def apart(c, s):
    """Turn each column by a frequency of its own."""
    first, second = np.s_[..., :PAIRS], np.s_[..., PAIRS:]
    return c[first], -s[first], s[second], c[second]


def unturned(axis, start):
    """Leave rows (axis 0) or tokens (1) as they are, from one on."""
    return lambda m, x, p: np.where(np.indices(p.shape)[axis] < start, m, x)


BLOCKS = PAIR + PAIR // 8 * 8
MIXING = np.kron(np.eye(8), [[1, 1, 0, 0], [1, -1, 1, 0]] * 2)
# What is changed: the finding's name, and what its words have to hold.
WRONG = {
    "matrix": {
        "rotation: a minus is missing": lambda c, s: (c, s, s, c),
        "rotation: second column; negated": lambda c, s: (c, s, s, -c),
        "rotation: first column; negated": lambda c, s: (-c, s, s, c),
        "rotation: exchanged": lambda c, s: (s, -c, c, s),
        "rotation: exchanged; second": lambda c, s: (c, -s, c, s),
        "rotation: exchanged; first": lambda c, s: (s, -c, s, c),
        "rotation: sines are missing": lambda c, s: (c, 0, 0, c),
        "rotation: only the first": lambda c, s: (c, -s, 0, 1),
        "rotation: only the second": lambda c, s: (1, 0, s, c),
        "rotation: second; lost": lambda c, s: (c, -s, 0, 0),
        "rotation: first; lost": lambda c, s: (0, 0, s, c),
        "rotation: like the first": lambda c, s: (c, -s, c, -s),
        "rotation: like the second": lambda c, s: (s, c, s, c),
        "rotation: new first": lambda c, s: (c, -s, s * c, c - s * s),
        "rotation: new second": lambda c, s: (c - s * s, -s * c, s, c),
        "offsets: pair 0": lambda c, s: (c, -s[..., ::-1], s[..., ::-1], c),
    },
    "read": {  # for positions is taken
        "position 0: one position late": lambda p: p + 1,
        "precision: bfloat16; position 257": bfloat16,
        "precision: float16; position 2049": float16,
        "far positions: 21; clipped": lambda p: np.minimum(p, 20),
        "far positions: 749; clipped": lambda p: np.minimum(p, 748),
        "far positions: 300; wrapped": lambda p: p % 300,
        "far positions: 128; overflow": lambda p: p.astype(np.int8),
        "far positions: 700; one late": lambda p: p + (p >= 700),
        "far positions: 700; one early": lambda p: p - (p >= 700),
        "far positions: 500; position 0": lambda p: p * (p < 500),
        "far positions: 297; pair 2": lambda p: np.where(p < 297, p, 9),
        "offsets: pair 0; 0 from position 1 to 2; 3 to 4": lambda p: p // 4,
        "far positions: 4; fail": lambda p: np.arange(4)[p],
        "far positions: 30; fail": lambda p: np.arange(30)[p],
        "far positions: 300; IndexError": lambda p: np.arange(300)[p],
        "far positions: 300; KeyError": (
            lambda p: unless(np.any((p >= 300) & (p < 400)), p)
        ),
        "far positions: 501; in a call with others; KeyError": (
            lambda p: unless(p.max() > 500 and p.shape[1] > 1, p)
        ),
        "far positions: 341; in a call with others; KeyError": lambda p: (
            unless(p.max() >= 600 or (p.max() > 340 and p.size > 4), p)
        ),
        "far positions: 0 to 749; batch; KeyError": lambda p: unless(
            len(p) > 1 and p.max() > 300, p
        ),
        "result: fails in others; KeyError": lambda p: unless(len(p) == 8, p),
        "batch: two rows; KeyError": lambda p: unless(len(p) > 1, p),
        "input: positions": lambda p: np.add(p, 1, out=p) - 1,
        "positions: ignored": lambda p: np.arange(p.shape[1]),
        "positions: from the first of their row": lambda p: p - p[:, :1],
        "positions: first; 2; as 1": lambda p: (
            p[:, :1] + np.arange(p.shape[1])
        ),
        "positions: the very first": lambda p: p[0, 0] + np.arange(p.shape[1]),
        "positions: first; 7 is turned as 19": lambda p: p[:1],
        "positions: last; 19 is turned as 7": lambda p: p[-1:],
        "positions: alone; 7; as 0": lambda p: p * (p.shape[1] > 1),
        "positions: 200; is turned wrongly; one token; decoding": (
            lambda p: p % 200 if p.shape == (1, 1) else p
        ),
        "positions: 200; fails; KeyError; one token": (
            lambda p: unless(p.max() >= 200 and p.shape[1] == 1, p)
        ),
        "positions: 0; fails; KeyError; row of 750 tokens": (
            lambda p: unless(len(p) == 1 and p.max() > 100 and p.size > 9, p)
        ),
        "positions: 200; row of 750 tokens": (
            lambda p: np.minimum(p, 199) if len(p) == 1 else p
        ),
        "positions: clipped; length of the call": (
            lambda p: np.minimum(p, p.shape[1] - 1)
        ),
        "positions: alone; one late; 7 is turned as 8": (
            lambda p: p + (p.shape[1] == 1)
        ),
        "positions: alone; one early; 7 is turned as 6": (
            lambda p: p - (p.shape[1] == 1)
        ),
        "positions: token 0 of row 0; position 20": (
            lambda p: p[:1] if len(p) > 1 else p - p[:, :1]
        ),
        "positions: as long as the call": lambda p: np.arange(p.shape[1])[p],
        "positions: packed": lambda p: np.maximum.accumulate(p, 1),
        "far positions: 4; clipped": remembers(
            lambda calls, p: np.minimum(p, calls[0].max())
        ),
        "state: earlier call": remembers(
            lambda calls, p: next(q for q in calls if q.shape == p.shape)
        ),
        "state: after all others": remembers(
            lambda calls, p: p + len(calls) // 50
        ),
        "result: some calls; KeyError": remembers(
            lambda calls, p: unless(len(calls) == 30, p)
        ),
        "state: twice; another": remembers(lambda calls, p: p + len(calls)),
        "state: twice; IndexError": remembers(
            lambda calls, p: [p][len(calls) - 1]
        ),
    },
    "frequencies": {
        "pair: Pair 5; columns 5, 21; stands still": lambda w: w * (PAIR != 5),
        "pair: Pair 0; columns 0, 16; still": lambda w: w * (PAIR != 0),
        "pair: Pairs 3 and 9": lambda w: w[np.r_[:3, 9, 4:9, 3, 10:16]],
        "pair: Only one pair turns": np.floor,
        "pair: Against; pair 7": lambda w: w * np.where(PAIR == 7, -1, 1),
        "pair: 4; 0.6; instead of 0.1": lambda w: np.where(PAIR == 4, 0.6, w),
        "pair: Pair 4; pairs 9, 14": lambda w: w + (PAIR % 5 == 4) / 9,
        "frequencies: ever faster; missing": lambda w: 1 / w,
        "frequencies: one frequency": np.ones_like,
        "frequencies: two by two": lambda w: w[PAIR // 2 * 2],
        "frequencies: backwards": lambda w: w[::-1],
        "frequencies: degrees are taken for radians": np.rad2deg,
        "frequencies: radians are taken for degrees": np.deg2rad,
        "frequencies: divided by 2 pi": lambda w: w / (2 * np.pi),
        "frequencies: multiplied by 2 pi": lambda w: w * 2 * np.pi,
        "frequencies: 3.33333 per position": lambda w: w / 0.3,
        "frequencies: begin with pair 1": lambda w: w * w[1],
        "frequencies: by parts": lambda w: w / np.where(PAIR < 10, 8, 1),
        "frequencies: no single base": lambda w: np.linspace(1, 1e-4, len(w)),
        "precision: numbers of 16 bits": (
            lambda w: bfloat16(np.linspace(1, 1e-4, len(w)))
        ),
        "precision: Frequencies; float16": float16,
        "precision: 0.3 % in pair 11": lambda w: (
            w * (1 + 0.003 * np.sin(PAIR**2))
        ),
    },
    "angles": {
        "position 0: pair 15": lambda a: a + np.linspace(0, 1, PAIRS) ** 2,
        "offsets: pair 0; 3 from position 1 to 2; -1.28": lambda a: (
            a**2 / USUAL
        ),
        "precision: Angles; bfloat16": bfloat16,
        "far positions: 7; wrongly": lambda a: a % 6.28,
    },
    "length": {"lengths: 5.6569": 32**0.5, "lengths: change by 3.": 3},
    "layout": {  # first and second columns of pairs
        "layout: Columns 0 and 31; no usual": (PAIR, 31 - PAIR),
        "layout: Columns 0 and 8; no usual": (BLOCKS, BLOCKS + 8),
    },
    "after": {
        "lengths: 2; pair 3": lambda m, x, p: m * (1 + (PAIR_OF == 3)),
        "lengths: pairs 2 to 3": lambda m, x, p: m * (1 + (PAIR_OF // 2 == 1)),
        "lengths: 1; pair 0; 0.99": lambda m, x, p: m * 0.99**p,
        "lengths: 105": lambda m, x, p: m * 0.999999**p,
        "precision: float16; 0.00024": lambda m, x, p: float16(m),
        "position 0: zero": lambda m, x, p: m * (p > 0),
        "position 0: NaN": lambda m, x, p: np.where(p > 0, m, np.nan),
        "position 0: column 16; other layout": lambda m, x, p: m[..., WOVEN],
        "far positions: 1; NaN": beyond(1, math.nan),
        "far positions: 12; NaN": beyond(12, math.nan),
        "far positions: 12; zero": beyond(12, 0),
        "far positions: 500; NaN": beyond(500, math.nan),
        "far positions: 500; infinity": beyond(500, math.inf),
        "far positions: 500; zero": beyond(500, 0),
        "far positions: 500; negated; by 2": beyond(500, -2),
        "far positions: 300; zero": lambda m, x, p: m * (p != 300),
        "batch maximum: position 400": grows,
        "positions: alone; 8 rows of 188 tokens": lambda m, x, p: (
            x if p.size > 1000 else m
        ),
        "batch: row 0; two rows": lambda m, x, p: np.r_[x[:-1], m[-1:]],
        "batch: row 1; two rows": unturned(0, 1),
        "batch: row 3; 9 rows": unturned(0, 3),
        "batch: row 7; 9 rows": unturned(0, 7),
        "input: x": lambda m, x, p: [np.copyto(x, m), x][1],
        "linear: x is not only turned": lambda m, x, p: x + np.sin(p),
        "linear: random": lambda m, x, p: m / np.linalg.norm(x),
        "linear: one by one": lambda m, x, p: rope()(x + x[:, :1], p[..., 0]),
        "rotation: Nothing turns": lambda m, x, p: x,
        "rotation: more than one": lambda m, x, p: m @ MIXING,
        "result: shape; (1, 4, 16)": lambda m, x, p: m[..., :16],
        "result: complex": lambda m, x, p: m * 1j,
        "result: None": lambda m, x, p: None,
        "result: SystemExit": lambda m, x, p: exit(3),
    },
}
INTERLEAVED = {"layout": "interleaved"}
SEVERAL = {  # more than one stage
    "layout: half; interleaved; columns 0 and 16": rope(
        frequencies=lambda w: np.repeat(w, 2), matrix=apart
    ),
    "layout: interleaved; half; columns 0 and 1": rope(
        frequencies=lambda w: np.tile(w, 2)[SPREAD],
        matrix=apart,
        **INTERLEAVED,
    ),
    "layout: within a pair; 15": rope(
        frequencies=lambda w: np.r_[w, 9e3 ** (-PAIR / PAIRS)], matrix=apart
    ),
    "pair: Pair 15; columns 30, 31; still": rope(
        frequencies=lambda w: w * (PAIR < 15), **INTERLEAVED
    ),
    "pair: Pair 0; columns 0, 8; still": rope(
        part=16, frequencies=lambda w: w * (PAIR[:8] != 0)
    ),
    "pair: Pair 4; 0.03949; instead of 0.03761": rope(
        5e5, frequencies=lambda w: w * np.where(PAIR == 4, 1.05, 1)
    ),
    "position 0: column 0; column 16": rope(
        part=16, after=lambda m, x, p: np.roll(m, -16, axis=-1)
    ),
    "lengths: Columns 16 to 31; do not turn": rope(
        part=16, after=lambda m, x, p: m * (COLUMN < 16)
    ),
    "precision: Frequencies, positions and angles; bfloat16; result": rope(
        frequencies=bfloat16, read=bfloat16, angles=bfloat16, waves=bfloat16
    ),
    "positions: 60; one token": rope(
        part=16,
        after=lambda m, x, p: m * ((COLUMN < 16) | (p < 60) | (p.size > 1)),
    ),
    "far positions: 600; columns that do not turn": rope(
        part=16, after=lambda m, x, p: m * ((COLUMN < 16) | (p < 600))
    ),
    "precision: Angles are; float16": rope(dtype=np.float32, angles=float16),
    "result: TypeError; table; --rotary": lambda x: x,
}
ROWS = [
    (expected, rope(**{stage: change}))
    for stage, changes in WRONG.items()
    for expected, change in changes.items()
]
SEEN = (  # conventions that wrong functions follow
    "(unknown|half|half of the (part|head)|interleaved)(, written as .*)?"
    "(, (2|14|16|30) of 32 columns)?(, exponents of the head)?(, clockwise)?"
    "(, base (10000|500000))?(, linear by 0.3)?"
)


def assert_says(said, words):
    """Assert that a sentence holds words and numbers, separated by ";"."""
    for each in words.split("; "):
        assert re.search(rf"(?i)(?<![\w.]){re.escape(each)}(?![\w])", said)


def assert_places_are_named(found):
    for finding in found.details:
        for place in (finding.position, finding.pair, finding.column):
            if place is not None:
                assert_says(finding.words, str(place))


@pytest.mark.parametrize(("expected", "rotate"), [*ROWS, *SEVERAL.items()])
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_said(expected, rotate):
    name, words = expected.split(": ", 1)
    found = looked(rotate, max_len=2100 if "2049" in words else 750)
    assert list(found.findings) == [name]
    assert_says(found.findings[name], words)
    assert re.fullmatch(SEEN, found.convention)
    assert ("written" in found.convention) == ("other layout" in words)
    assert len(found.details) == 1 + words.count("; result")
    assert_places_are_named(found)


def tensor_float(values):
    """Round to 11 binary digits, as float16, but with float32's range."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 2**11), exponent - 11)


FAR = {"width": 4, "max_len": 100_000}
LONG_CALLS = {"width": 16, "max_len": 2000}
BY_3 = rope(frequencies=lambda w: w / 3)
BY_8 = rope(5e5, frequencies=lambda w: w / 8)
BY_32 = rope(5e5, frequencies=lambda w: llama3(w, factor=32))
FAILS = rope(read=lambda p: unless(p.max() >= 3 * 4096, p))  # a call's first
LONG = rope(frequencies=yarn, length=YARN_LENGTH**2)
SECOND_AT_77_777 = rope(
    after=lambda m, x, p: np.where((p == 77_777) & (PAIR > 7), x, m)
)
HELD = [  # what is said, a function, what it is held to
    ("base: 10000; 500000 is asked for", rope(), {"base": 5e5}),
    ("base: 41000; 10000 is asked for.", rope(41_000.0), {"base": 1e4}),
    ("base: 100; a missing factor 2", rope(100.0), {"base": 1e4}),
    ("base: 10000; the default", rope(), asks(rope_theta=5e5)),
    ("layout: half; 0 and 16; interleaved is", rope(), INTERLEAVED),
    ("position 0: as they", rope(**INTERLEAVED), {"layout": AS_HALF}),
    ("direction: clockwise", rope(sign=-1), asks(rope_theta=1e4)),
    ("rotation: a minus", rope(matrix=lambda c, s: (c, s, s, c)), asks()),
    ("columns: 32 columns; 16 of 32", rope(), PART),
    ("columns: column 16; the first 16", rope(part=16, start=16), PART),
    ("lengths: do not; 1.1386", rope(frequencies=yarn), YARN),
    ("lengths: 1.2965; asks for 1.1386", LONG, YARN),
    ("scaling: pair 9; instead of 0.0006228", AS_LLAMA, asks(rope_theta=5e5)),
    ("scaling: default; asks for llama3", rope(5e5), LLAMA),
    ("scaling: linear; asks for llama3", BY_8, LLAMA),
    ("scaling: factor 32.0; asks for 8.0", BY_32, LLAMA),
    ("scaling: pair 0; by 0.3333; instead of 0.25", BY_3, LINEAR),
    ("scaling: of rope_type proportional", rope(part=16, steps=PAIRS), PART),
    ("scaling: asks for proportional", rope(part=16), proportional(0.5)),
    ("precision: Angles; TensorFloat-32", rope(angles=tensor_float), FAR),
    (
        "far positions: 12288; first to fail; KeyError",
        FAILS,
        {"max_len": 13_000},
    ),
    ("positions: token 65; row 0", rope(after=unturned(1, 64)), LONG_CALLS),
    ("positions: token 1000", rope(after=unturned(1, 1000)), LONG_CALLS),
    ("far positions: 77777", SECOND_AT_77_777, {"width": 16, "max_len": None}),
    ("layout: half of the part", rope(1e4, "half of the head", part=24), MOST),
]


@pytest.mark.parametrize(("expected", "rotate", "options"), HELD)
def test_a_function_is_held_to_what_is_asked(expected, rotate, options):
    name, words = expected.split(": ", 1)
    found = looked(rotate, **options)
    assert set(found.findings) <= {name, "layout"}
    assert_says(found.findings[name], words)
    assert "lengths" not in found.convention


TWO = {  # changes at once, both of which are named
    "position 300 on; one late; Frequencies; bfloat16": rope(
        read=lambda p: p + (p >= 300), frequencies=bfloat16
    ),
    "position 300 on; clipped; a minus": rope(
        read=lambda p: np.minimum(p, 299), matrix=lambda c, s: (c, s, s, c)
    ),
    "counted from 1; Positions; bfloat16": rope(
        read=lambda p: bfloat16(p + 1)
    ),
    "position 300; zero; Positions; bfloat16": rope(
        read=bfloat16, after=lambda m, x, p: m * (p != 300)
    ),
}


@pytest.mark.parametrize(("words", "rotate"), TWO.items())
def test_of_two_changes_both_are_named(words, rotate):
    found = looked(rotate, max_len=750)
    assert len(found.details) == 2
    assert_says(str(found), words)


def test_a_config_that_is_not_read_at_all_is_two_findings():
    found = looked(rope(), **LLAMA).findings
    assert_says(found["base"], "10000; 500000 is asked for")
    assert_says(found["scaling"], "default; asks for llama3")


@pytest.mark.filterwarnings("error")
def test_a_pair_that_stands_still_may_be_one_of_other_faults():
    rotate = rope(frequencies=lambda w: np.array([10, 5, 0, 2]))
    assert "pair" in looked(rotate, width=8).findings


def test_the_largest_error_is_told():
    assert str(looked(rope())).endswith(
        "one token. Largest error: below 1e-8."
    )
    off = looked(rope(after=lambda m, x, p: m + 1e-5 * (p == 57)))
    assert "Largest error: 0.00001, at position 57." in str(off)
    assert off.fields["error"] == pytest.approx(1e-5, rel=0.3)
    loose = looked(rope(waves=bfloat16), tolerance=0.01)
    assert 0.001 < loose.fields["error"] < 2**-8
    assert looked(rope(length=3)).fields["error"] is None


NOTES = [  # what is said, a function, what it is held to
    ("d - 1 for d; base 10000", rope(1e4 ** (32 / 31)), {}),
    ("d - 2 for d; base 10000", rope(1e4 ** (32 / 30)), {}),
    ("doubled exponent; base 500000", rope(500_000**2), {}),
    ("base 1000; missing factor 2; base 1000000", rope(1e6**0.5), {}),
    ("log10; base 500000", rope(math.exp(math.log10(5e5))), {}),
    ("NTK-aware scaling by 2", rope(1e4 * 2 ** (32 / 30)), {}),
    ("NTK-aware scaling by 32", rope(1e4 * 32 ** (32 / 30)), {}),
    ("interleaved or half; held to nothing", AS_LLAMA, LLAMA),
    ("base could not be seen", EVENLY, {"base": 1e4}),
]


@pytest.mark.parametrize(("words", "rotate", "options"), NOTES)
def test_what_is_worth_knowing_is_noted(words, rotate, options):
    (note,) = looked(rotate, **options).notes
    assert_says(note, words)


def test_whoever_waits_sees_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for wait, said in ((2, ""), (-1, "position 300 of 300\r")):
        monkeypatch.setattr("posenc_review.sweep.WAIT", wait)
        looked(rope())
        assert capsys.readouterr().err == said


def test_nothing_is_said_of_what_was_not_seen():
    seen = looked(lambda x: x)
    assert seen.fields["positions"] == seen.fields["longest_call"] == 0
    assert seen.fields["base"] is None
    assert str(seen).endswith("Findings: 1. Convention: unknown.")
    misread = looked(rope(read=lambda p: np.arange(p.shape[1])))
    assert "Looked at: positions 0 to 41, calls" in str(misread)
    assert not looked(AS_LLAMA, **LLAMA, layout="half").notes


def test_what_makes_no_sense_is_named():
    with pytest.raises(ValueError, match="width=2048: give 2 to 1024"):
        review_rotary(rope(), **asks(head_dim=2048))
    with pytest.raises(TypeError, match="rotate=3: give a function"):
        review_rotary(3)
    with pytest.raises(TypeError, match="encoder='x': give a function"):
        review("x")
