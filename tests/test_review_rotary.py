"""review_rotary on rotary functions, right and wrong.

The functions are written here, from the formula; each wrong one has one
slip, and the review has to say which, in words that stand beside it.
"""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from posenc_review import review_rotary


def speeds(width, base=10_000.0, steps=None):
    return base ** (-np.arange(0, width, 2) / (steps or width))


def turned(x, cosine, sine, layout="half", start=0):
    """Turn columns from `start` on by angles of these cosines and sines."""
    pairs = cosine.shape[-1]
    first, second = start + np.arange(2 * pairs).reshape(2, -1)
    if layout == "interleaved":
        first, second = start + np.arange(2 * pairs).reshape(-1, 2).T
    made = np.array(x)
    made[..., first] = x[..., first] * cosine - x[..., second] * sine
    made[..., second] = x[..., second] * cosine + x[..., first] * sine
    return made


def rotary(base=10_000.0, layout="half", **change):
    """Build a rotary function; what is named in `change` is changed."""

    def rotate(x, positions):
        width = change.get("part", x.shape[-1])  # columns that turn
        steps = x.shape[-1] if "head" in change else width
        turns = speeds(width, base, steps) / change.get("divide", 1)
        if "turns" in change:
            turns = change["turns"](turns)
        if "places" in change:
            positions = change["places"](positions)
        angles = positions[..., None] * turns
        if "angles" in change:
            angles = change["angles"](angles)
        waves = np.array([np.cos(angles), np.sin(angles)])
        if "waves" in change:
            waves = change["waves"](waves)
        waves *= change.get("length", 1)
        waves[1] *= change.get("sign", 1)
        return turned(x, *waves, layout, change.get("start", 0))

    return rotate


def takes(read):
    """Build a function that takes other positions than it is given."""
    return lambda x, p: rotary()(x, np.broadcast_to(read(p), p.shape))


def bfloat16(values):
    return values.astype(ml_dtypes.bfloat16).astype(float)


def float16(values):
    return values.astype(np.float16).astype(float)


def complex_numbers(x, positions):
    numbers = x[..., ::2] + 1j * x[..., 1::2]
    numbers = numbers * np.exp(1j * positions[..., None] * speeds(64))
    return np.stack([numbers.real, numbers.imag], axis=-1).reshape(x.shape)


def in_float32(x, positions):
    exponents = np.arange(0, 64, 2, dtype=np.float32) / np.float32(64)
    turns = 1 / np.float32(10_000) ** exponents
    angles = positions.astype(np.float32)[..., None] * turns
    return turned(x.astype(np.float32), np.cos(angles), np.sin(angles))


LLAMA = {
    "head_dim": 64,
    "rope_theta": 500_000.0,
    "max_position_embeddings": 131_072,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}
YARN = {
    "hidden_size": 256,
    "num_attention_heads": 4,
    "max_position_embeddings": 16_384,
    "rope_parameters": {
        "rope_type": "yarn",
        "rope_theta": 10_000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 4096,
    },
}
YARN_LENGTH = 0.1 * math.log(4) + 1


def llama3(factor=8.0):
    """Slow pairs as in Llama 3.1: by their turns in 8192 positions."""

    def scaled(turns):
        kept = np.clip((8192 * turns / (2 * math.pi) - 1) / 3, 0, 1)
        return turns * (kept + (1 - kept) / factor)

    return rotary(5e5, turns=scaled)


def yarn(length=YARN_LENGTH):
    """Slow pairs as in YaRN: by their numbers, from 32 turns to 1 in 4096."""

    def pair(turns):
        return 32 * math.log(4096 / (turns * 2 * math.pi)) / math.log(1e4)

    low, high = math.floor(pair(32)), math.ceil(pair(1))
    kept = 1 - np.clip((np.arange(32) - low) / (high - low), 0, 1)
    return rotary(turns=lambda w: w * (kept + (1 - kept) / 4), length=length)


def written_as_half(x, positions):
    made = rotary(layout="interleaved")(x, positions)
    return np.concatenate([made[..., ::2], made[..., 1::2]], axis=-1)


WOVEN = np.arange(64).reshape(2, 32).T.ravel()
PARTS = "pairs 0 to 14 as base 500000 has them, 15 to 17 between, 18 to 31"
QUARTER = "half of the part, 16 of 64 columns"
LINEAR = {"rope_type": "linear", "factor": 4}
RIGHT = [
    (rotary(), {}, "half, base 10000"),
    (rotary(layout="interleaved"), {}, "interleaved, base 10000"),
    (complex_numbers, {}, "interleaved, base 10000"),
    (lambda x, p: rotary()(x, p).tolist(), {"width": 8}, "half, base 10000"),
    (in_float32, {}, "half, base 10000"),
    (rotary(sign=-1), {}, "half, clockwise, base 10000"),
    (rotary(5e5), {}, "half, base 500000"),
    (rotary(41_829.3), {}, "half, base 41829"),
    (rotary(100.0), {}, "half, base 100"),
    (rotary(divide=4), {}, "half, base 10000, linear by 4"),
    (
        rotary(divide=4),
        {"config": {"head_dim": 64, "rope_scaling": LINEAR}},
        "half, base 10000, linear by 4",
    ),
    (
        rotary(part=16, head=True),
        {},
        f"{QUARTER}, exponents of the head, base 10000",
    ),
    (
        rotary(5e5, turns=lambda w: w / np.where(w > 0.1, 1, 16)),
        {},
        "half, base 500000, by parts (pairs 0 to 5 as base 500000 has them,"
        " 6 to 31 divided by 16)",
    ),
    (
        rotary(turns=lambda w: w / np.where(np.arange(32) < 30, 1, 8)),
        {},
        "half, base 10000, by parts (pairs 0 to 29 as base 10000 has them, 30"
        " to 31 divided by 8)",
    ),
    (rotary(part=16, start=8), {}, f"{QUARTER}, from column 8, base 10000"),
    (rotary(part=16, start=48), {}, f"{QUARTER}, from column 48, base 10000"),
    (rotary(part=16), {}, f"{QUARTER}, base 10000"),
    (
        rotary(layout="interleaved", part=32, start=32),
        {},
        "interleaved, 32 of 64 columns, from column 32, base 10000",
    ),
    (
        rotary(1e6, "interleaved", part=16, head=True),
        {},
        "interleaved, 16 of 64 columns, exponents of the head, base 1000000",
    ),
    (rotary(), {"width": 2}, "interleaved or half"),
    (
        lambda x, p: rotary()(x, p)[..., WOVEN],
        {"layout": "half, written as interleaved"},
        "half, written as interleaved, base 10000",
    ),
    (
        written_as_half,
        {"layout": "interleaved, written as half"},
        "interleaved, written as half, base 10000",
    ),
    (rotary(), {"width": 4}, "half, base 10000"),
    (llama3(), {}, f"half, base 500000, by parts ({PARTS} divided by 8)"),
    (
        llama3(),
        {"config": LLAMA},
        "half, base 500000, llama3 by 8",
    ),
    (
        yarn(),
        {"config": YARN},
        "half, base 10000, yarn by 4, lengths by 1.1386",
    ),
    (
        rotary(turns=lambda w: w / np.linspace(1, 3, 32) ** 2),
        {},
        "half, base 10000, by parts (pair 0 as base 10000 has them, 1 to 30"
        " between, 31 divided by 9)",
    ),
    (rotary(5e5), {"base": 500_000, "layout": "half"}, "half, base 500000"),
    (
        takes(lambda p: np.arange(2048)[p]),
        {"max_len": 2048},
        "half, base 10000",
    ),
]


@pytest.mark.parametrize(
    ("rotate", "options", "convention"),
    RIGHT,
    ids=[f"{n} {words}" for n, (_, _, words) in enumerate(RIGHT)],
)
def test_a_right_function_is_named_and_not_faulted(
    rotate, options, convention
):
    found = looked(rotate, **options)
    assert found.findings == {}
    assert str(found.convention) == convention
    assert f"Findings: 0. Convention: {convention}.\n" in str(found)


def by_matrix(numbers):
    """Build a function from the four numbers of each pair's matrix."""

    def rotate(x, positions):
        angles = positions[..., None] * speeds(64)
        one, other = x[..., :32], x[..., 32:]
        a, b, c, d = numbers(np.cos(angles), np.sin(angles))
        made = [a * one + b * other, c * one + d * other]
        return np.concatenate(made, axis=-1)

    return rotate


def by_columns(layout, turns):
    """Build "x * cosine + other * sine", with a speed for each column."""

    def rotate(x, positions):
        angles = positions[..., None] * turns
        none = np.zeros((*positions.shape, 32))
        other = turned(x, none, none + 1, layout)
        return x * np.cos(angles) + other * np.sin(angles)

    return rotate


HADAMARD = np.kron(np.eye(16), [[1, 1, 0, 0], [1, -1, 1, 0]] * 2)
MIRROR = np.r_[np.arange(32), np.arange(64)[:31:-1]]


def mirrored(x, positions):
    return rotary()(x[..., MIRROR], positions)[..., np.argsort(MIRROR)]


def rest_first(x, positions):
    made = rotary(part=32)(x, positions)
    return np.concatenate([made[..., 32:], made[..., :32]], axis=-1)


def rest_lost(x, positions):
    return rotary(part=32)(x, positions) * (np.arange(64) < 32)


def put(pair, value):
    return lambda turns: np.where(np.arange(32) == pair, value, turns)


def exchange(one, other):
    order = np.arange(32)
    order[[one, other]] = other, one
    return lambda turns: turns[order]


def slow_the_fast(turns):
    return turns / np.where(np.arange(32) < 20, 8, 1)


def roughly(turns):
    return turns * (1 + 0.003 * np.sin(np.arange(32) ** 2))


def all_in(kind):
    return rotary(turns=kind, places=kind, angles=kind, waves=kind)


def longer(pair, factor):
    long = np.ones((2, 32))
    long[:, pair] = factor
    long = long.ravel()
    return lambda x, p: rotary()(x, p) * long


def shrinking(factor):
    return lambda x, p: rotary()(x, p) * factor ** p[..., None]


def beyond(limit, value):
    """Build a function whose results are multiplied beyond a position."""
    return lambda x, p: (
        rotary()(x, p) * np.where(p < limit, 1, value)[..., None]
    )


def beyond_a_gap(x, positions):
    if ((positions >= 300) & (positions < 400)).any():
        raise KeyError("a gap")
    return rotary()(x, positions)


def fails_now_and_then(x, positions):
    far = positions.max()
    if far >= 600 or (far > 340 and positions.size > 4):
        raise KeyError("now")
    return rotary()(x, positions)


def fails_in_company(x, positions):
    if positions.max() > 500 and positions.shape[1] > 1:
        raise MemoryError("too much at once")
    return rotary()(x, positions)


def one_row_only(x, positions):
    assert len(x) == 1, "one row only"
    return rotary()(x, positions)


def first_row_only(x, positions):
    return np.concatenate([rotary()(x[:1], positions[:1]), x[1:]])


def last_row_only(x, positions):
    return np.concatenate([x[:-1], rotary()(x[-1:], positions[-1:])])


def dynamic(x, positions):
    """The base grows with the largest position of the call."""
    growth = max(1.0, 4 * (positions.max() + 1) / 4096 - 3)
    return rotary(10_000.0 * growth ** (64 / 62))(x, positions)


class Remembers:
    """Functions that answer by what was asked before."""

    def __init__(self, what):
        self.what, self.kept, self.asked = what, {}, 0

    def __call__(self, x, positions):
        self.asked += 1
        if self.what == "first call":
            size = self.kept.setdefault("size", int(positions.max()) + 1)
            positions = np.minimum(positions, size - 1)
        elif self.what == "length":
            positions = self.kept.setdefault(positions.shape, positions.copy())
        elif self.what == "count":
            positions = positions + self.asked // 80
        elif self.what == "once" and self.asked > 1:
            raise RuntimeError("only once")
        elif self.what == "dropout":
            random = np.random.default_rng(self.asked)
            x = x * (random.random(x.shape) > 0.1)
        return rotary()(x, positions)


def in_place(x, positions):
    x[:] = rotary()(x, positions)
    return x


def positions_in_place(x, positions):
    positions += 1
    return rotary()(x, positions - 1)


WRONG = [  # a function; the finding's name, and what it should say
    (by_matrix(lambda c, s: (c, s, s, c)), "rotation: a minus is missing"),
    (
        by_matrix(lambda c, s: (c, s, s, -c)),
        "rotation: second column is negated",
    ),
    (
        by_matrix(lambda c, s: (-c, s, s, c)),
        "rotation: first column is negated",
    ),
    (by_matrix(lambda c, s: (s, -c, c, s)), "rotation: cosine are exchanged."),
    (
        by_matrix(lambda c, s: (c, -s, c, s)),
        "rotation: exchanged in the second",
    ),
    (
        by_matrix(lambda c, s: (s, -c, s, c)),
        "rotation: exchanged in the first",
    ),
    (by_matrix(lambda c, s: (c, 0, 0, c)), "rotation: the sines are missing"),
    (by_matrix(lambda c, s: (c, -s, 0, 1)), "rotation: only the first column"),
    (by_matrix(lambda c, s: (1, 0, s, c)), "rotation: only the second column"),
    (by_matrix(lambda c, s: (c, -s, 0, 0)), "rotation: second column is lost"),
    (
        by_matrix(lambda c, s: (c, -s, c, -s)),
        "rotation: computed like the first",
    ),
    (
        by_matrix(lambda c, s: (s, c, s, c)),
        "rotation: computed like the second",
    ),
    (
        by_matrix(lambda c, s: (0, 0, s, c)),
        "rotation: the first column is lost",
    ),
    (
        by_matrix(lambda c, s: (c, -s, s * c, c - s * s)),
        "rotation: second column is",
    ),
    (
        by_matrix(lambda c, s: (c - s * s, -s * c, s, c)),
        "rotation: first column is",
    ),
    (
        by_columns("half", np.r_[speeds(64), speeds(64, 9000.0)]),
        "layout: Angles differ within a pair: the columns of pair 31 turn",
    ),
    (lambda x, p: x, "rotation: Nothing turns"),
    (lambda x, p: x @ HADAMARD, "rotation: mixed with more than one other"),
    (by_columns("half", np.repeat(speeds(64), 2)), "layout: interleaved: col"),
    (by_columns("interleaved", np.tile(speeds(64), 2)), "layout: out half:"),
    (mirrored, "layout: Columns 0 and 63 are a pair"),
    (written_as_half, "position 0: read in the other layout and written"),
    (rest_first, "position 0: of the result is column 32 of x"),
    (rest_lost, "lengths: Columns 32 to 63 do not turn"),
    (takes(lambda p: p + 1), "position 0: 0 is taken for position 1"),
    (
        takes(lambda p: p + 1),
        "position 0: is one position late (counted from 1?)",
    ),
    (
        rotary(angles=lambda a: a + np.linspace(0, 1, 32) ** 2),
        "position 0: 31 by",
    ),
    (rotary(turns=put(5, 0)), "pair: Pair 5 (columns 5, 37) stands still"),
    (rotary(turns=put(0, 0)), "pair: Pair 0 (columns 0, 32) stands still"),
    (rotary(layout="interleaved", turns=put(31, 0)), "pair: (columns 62, 63)"),
    (rotary(turns=exchange(3, 9)), "pair: Pairs 3 and 9 are exchanged"),
    (
        rotary(turns=put(7, -0.13335214)),
        "pair: Against the others turn: pair 7.",
    ),
    (rotary(turns=put(4, 0.6)), "pair: 0.6 per position instead of 0.3162."),
    (rotary(turns=np.trunc), "pair: whole numbers"),
    (
        rotary(turns=np.ones_like),
        "frequencies: All pairs turn at one frequency",
    ),
    (
        rotary(turns=lambda w: w[np.arange(32) // 2 * 2]),
        "frequencies: two by two",
    ),
    (rotary(turns=lambda w: w[::-1]), "frequencies: run backwards"),
    (rotary(angles=np.rad2deg), "frequencies: degrees are taken for radians"),
    (rotary(angles=np.deg2rad), "frequencies: radians are taken for degrees"),
    (
        rotary(divide=2 * np.pi),
        "frequencies: 0.159 per position: angles are divided by 2 pi",
    ),
    (
        rotary(angles=lambda a: 2 * np.pi * a),
        "frequencies: multiplied by 2 pi",
    ),
    (
        rotary(divide=0.3),
        "frequencies: turns by 3.33333 per position, not by 1.",
    ),
    (
        rotary(turns=lambda w: w * w[1]),
        "frequencies: Exponents begin with pair 1",
    ),
    (rotary(turns=slow_the_fast), "frequencies: by parts is for the slow"),
    (
        rotary(turns=lambda w: np.linspace(1, 1e-4, 32)),
        "frequencies: no single b",
    ),
    (
        rotary(angles=lambda a: a**2 / speeds(64)),
        "offsets: pair 0 turns by 1, 3, -1.28.",
    ),
    (
        by_matrix(lambda c, s: (c, -s[..., ::-1], s[..., ::-1], c)),
        "offsets: pair 0 turns by",
    ),
    (rotary(length=8), "lengths: by 8, the square root of 64"),
    (rotary(length=0.125), "lengths: by 0.125, 1 over the square root"),
    (rotary(length=YARN_LENGTH), "lengths: attention factor for scaling by 4"),
    (longer(3, 2), "lengths: by 2 in pair 3."),
    (rotary(length=2), "lengths: Lengths change by 2."),
    (rotary(length=100), "lengths: Lengths change by 100."),
    (longer(slice(3, 5), 2), "lengths: by 2 in pairs 3 to 4."),
    (shrinking(0.99), "lengths: in pair 0 by 0.99 at position 1;"),
    (shrinking(0.999999), "lengths: by 0.9999 at position 103;"),
    (takes(bfloat16), "precision: rounded to bfloat16: position 257"),
    (takes(float16), "precision: rounded to float16: position 2049"),
    (rotary(angles=bfloat16), "precision: Angles are rounded to bfloat16"),
    (rotary(turns=float16), "precision: Frequencies are rounded to float16"),
    (
        rotary(turns=roughly),
        "precision: miss those of the base, by up to 0.3 % in pair 16.",
    ),
    (
        all_in(bfloat16),
        "precision: Frequencies, positions and angles are rounded",
    ),
    (
        rotary(waves=float16),
        "precision: rounded to float16: by up to 0.00024.",
    ),
    (
        takes(lambda p: np.minimum(p, 2047)),
        "far positions: position 2048 on, all are taken for position 2047: cl",
    ),
    (
        takes(lambda p: np.minimum(p, 20)),
        "far positions: From position 21 on, all are taken for position 20",
    ),
    (
        takes(lambda p: np.minimum(p, 131_070)),
        "far positions: 131071 on, all are taken for position 131070",
    ),
    (
        takes(lambda p: p % 1000),
        "far positions: 1000 on, counting begins at 0 again: wr",
    ),
    (
        takes(lambda p: p.astype(np.int16)),
        "far positions: position 32768 on, numbers overflow",
    ),
    (
        takes(lambda p: p + (p >= 700)),
        "far positions: 700 on, each is taken for the next",
    ),
    (
        takes(lambda p: p - (p >= 700)),
        "far positions: 700 on, each is taken for the one before",
    ),
    (
        takes(lambda p: np.where(p < 5000, p, 0)),
        "far positions: 5000 on, all are taken for position 0",
    ),
    (
        takes(lambda p: np.arange(3000)[p]),
        "far positions: Position 3000 is the",
    ),
    (
        takes(lambda p: np.where(p < 2997, p, 9)),
        "far positions: 2997 is the f",
    ),
    (
        takes(lambda p: np.arange(30)[p]),
        "far positions: Position 30 is the fir",
    ),
    (
        beyond(5000, math.nan),
        "far positions: 5000 on, the result is NaN or infinity",
    ),
    (beyond(1, math.nan), "far positions: From position 1 on it gives NaN"),
    (
        takes(lambda p: np.arange(4)[p]),
        "far positions: Position 4 is the first to fai",
    ),
    (
        beyond(12, math.nan),
        "far positions: From position 12 on, the result is NaN",
    ),
    (beyond(5000, 0), "far positions: 5000 on, the result is zero"),
    (
        rotary(angles=lambda a: a % 6.28),
        "far positions: 7 is the first that is turned",
    ),
    (
        beyond_a_gap,
        "far positions: Position 300 is the first to fail: KeyError",
    ),
    (
        fails_in_company,
        "far positions: fail in one call, and not by themselves: Mem",
    ),
    (takes(lambda p: np.arange(p.shape[1])), "positions: ignored"),
    (takes(lambda p: p - p[:, :1]), "positions: from the first of their row"),
    (
        takes(lambda p: p[:, :1] + np.arange(p.shape[1])),
        "positions: 2 is turn",
    ),
    (
        takes(lambda p: p[0, 0] + np.arange(p.shape[1])),
        "positions: the very first",
    ),
    (takes(lambda p: p[:1]), "positions: each of two rows, 7 is turned as 19"),
    (takes(lambda p: p[-1:]), "positions: two rows, 19 is turned as 7"),
    (takes(lambda p: p * (p.shape[1] > 1)), "positions: one token, 7"),
    (
        takes(lambda p: p[:1] if len(p) > 1 else p - p[:, :1]),
        "positions: 20 is turned as 0. Positions are ignored: tokens",
    ),
    (takes(lambda p: np.arange(p.shape[1])[p]), "positions: as the call?"),
    (takes(lambda p: np.maximum.accumulate(p, 1)), "positions: packed in one"),
    (takes(lambda p: p // 4), "positions: 0 to 3 are turned alike"),
    (one_row_only, "batch: A batch of 2 rows fails"),
    (first_row_only, "batch: Row 1 of a batch"),
    (last_row_only, "batch: Row 0 of a batch"),
    (dynamic, "batch maximum: beside 4098 or more"),
    (
        Remembers("first call"),
        "far positions: From position 4 on, all are taken for pos",
    ),
    (Remembers("length"), "state: Positions of an earlier call"),
    (Remembers("count"), "state: after all others"),
    (Remembers("dropout"), "state: asked twice"),
    (Remembers("once"), "state: asked twice, fail: RuntimeError: only once."),
    (in_place, "input: x is changed in place"),
    (positions_in_place, "input: positions is changed in place"),
    (lambda x, p: x + np.sin(p[..., None]), "linear: something is added"),
    (lambda x, p: rotary()(x / np.linalg.norm(x), p), "linear: Twice x"),
    (lambda x, p: rotary()(x + x.mean(1)[:, None], p), "linear: A token chan"),
    (lambda x, p: rotary()(x + x[:, :1], p), "linear: results of those after"),
    (
        lambda x, p: rotary()(x, p) * (p > 0)[..., None],
        "position 0: At position 0, the result is zero",
    ),
    (
        lambda x, p: rotary()(x[..., :32], p),
        "result: shape is (1, 4, 32), not",
    ),
    (lambda x, p: x * 1j, "result: the numbers are complex"),
    (lambda x, p: None, "result: it returns None"),
    (lambda x, p: exit(3), "result: SystemExit"),
    (fails_now_and_then, "far positions: not by themselves: KeyError: 'now'"),
    (
        lambda x, p: rotary()(x, p) + np.where(p < 1, math.nan, 0)[..., None],
        "position 0: At position 0, the result is NaN",
    ),
    (lambda x: x, "result: were given. If it makes a table, leave out --rot"),
]


SEEN = (  # conventions that wrong functions follow
    "(unknown|half|half of the (part|head)|interleaved)(, written as half)?"
    "(, (2|32|62) of 64 columns)?(, clockwise)?(, base 10000)?"
)
PLACES = {"position": "", "pair": "pairs? ", "column": "columns? "}


@pytest.mark.parametrize(
    ("rotate", "expected"), WRONG, ids=[words for _, words in WRONG]
)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_said(rotate, expected):
    name, words = expected.split(": ", 1)
    far = max([9, *map(int, re.findall(r"(?<![\d.])\d{3,}", words))])
    found = review_rotary(rotate, max_len=min(far + 700, 131_072))
    assert words in found.findings.get(name, str(found))
    assert f"- {name}: " in str(found)
    allowed = {name}
    if "float16" in words:
        allowed |= {"far positions", "precision"}  # NaN from 65520 on
    if name in ("state", "positions"):
        allowed |= {"positions", "state", "batch", "position 0"}
    assert set(found.findings) <= allowed
    factor = ", linear by .*" if name == "frequencies" else ""
    assert re.fullmatch(f"{SEEN}({factor})?", str(found.convention))
    if name in ("pair", "rotation", "frequencies", "lengths", "layout"):
        assert len(found.details) == 1
    if name == "position 0":
        assert not found.details[0].position
    for finding in found.details:  # a place that is given is named
        for name, before in PLACES.items():
            place = getattr(finding, name)
            if place is not None:
                assert re.search(rf"(?i){before}\b{place}\b", finding.words)


PARTIAL = {"head_dim": 64, "rope_theta": 1e4, "partial_rotary_factor": 0.5}
PLAIN = {"head_dim": 64, "rope_theta": 500_000}
PROPORTIONAL = PARTIAL | {"rope_scaling": {"rope_type": "proportional"}}
HELD = [  # function, what it is held to, the finding and what it says
    (rotary(1e4), {"base": 500_000}, "base: 10000, where 500000 is"),
    (rotary(100.0), {"base": 10_000}, "base: it suggests a missing factor 2"),
    (
        rotary(),
        {"layout": "interleaved"},
        "layout: Pairs are half (columns 0 and 32), where interl",
    ),
    (rotary(41_000.0), {"base": 10_000}, "base: 41000, where 10000 is"),
    (
        rotary(layout="interleaved"),
        {"layout": "interleaved, written as half"},
        "position 0: Columns are written as they were read, not as is asked",
    ),
    (
        llama3(),
        {"config": PLAIN},
        "scaling: parts, where the config asks for none.",
    ),
    (
        rotary(part=32),
        {"config": PROPORTIONAL},
        "scaling: the part's columns, where the config asks for the wh",
    ),
    (
        rotary(),
        {"config": PROPORTIONAL},
        "columns: 64 columns turn, where the config asks for 32 of 64.",
    ),
    (rotary(), {"config": PLAIN}, "base: 10000 is the default"),
    (rotary(5e5), {"config": LLAMA}, "scaling: none, where"),
    (rotary(5e5, divide=8), {"config": LLAMA}, "scaling: linear by 8,"),
    (
        llama3(factor=32),
        {"config": LLAMA},
        "scaling: are those of factor 32.0, where the config asks for 8.0.",
    ),
    (yarn(1.0), {"config": YARN}, "lengths: do not change, where the config"),
    (yarn(YARN_LENGTH**2), {"config": YARN}, "lengths: it is applied twice"),
    (
        rotary(),
        {"config": PARTIAL},
        "columns: 64 columns turn, where the config asks for 32 of 64",
    ),
    (rotary(part=32, head=True), {"config": PARTIAL}, "scaling: whole"),
]


@pytest.mark.parametrize(("rotate", "options", "expected"), HELD)
def test_a_function_is_held_to_what_is_asked(rotate, options, expected):
    key, words = expected.split(": ", 1)
    found = looked(rotate, width=64, **options)
    assert set(found.findings) <= {key, "layout"}
    assert words in found.findings[key]


def test_a_factor_that_is_no_finding_if_asked_for():
    found = review_rotary(yarn(), config=YARN)
    assert str(found).startswith(
        "The config asks for base 10000, yarn, by 4, lengths by 1.13863,"
        " radians per position 1, 0.7499, 0.5623, ..., 0.00003334.\n"
    )
    assert found.fields["positions"] == 16_384


@pytest.mark.filterwarnings("error")
def test_a_pair_that_stands_still_may_be_one_of_other_faults():
    found = review_rotary(rotary(turns=lambda w: np.array([10, 5, 0, 2])), 8)
    assert "pair" in found.findings


def looked(rotate, **options):
    """Look at few positions, unless told otherwise."""
    return review_rotary(rotate, **{"max_len": 300} | options)


def test_digits_are_told_and_float32_is_no_finding():
    assert "Angles in float64." in str(looked(rotary()))
    assert "Angles in bfloat16." in str(looked(takes(bfloat16)))
    digits = review_rotary(in_float32).fields["digits"]
    assert digits.startswith("Angles in float32, off by 0.00")
    cast = looked(lambda x, p: np.float32(rotary()(x, p)))
    assert cast.fields["digits"].startswith(
        "Results in float32, off by 0.00000003"
    )
    ignored = looked(takes(lambda p: np.arange(p.shape[1])))
    assert "Looked at: positions 0 to 41, calls" in str(ignored)
    tolerant = looked(rotary(waves=bfloat16), tolerance=0.01)
    assert tolerant.findings == {}
    assert "Results in bfloat16." in str(tolerant)


@pytest.mark.parametrize(
    ("base", "cause"),
    [
        (1e4 ** (64 / 63), "11574.2 suggests d - 1 for d in the exponent (of"),
        (1e4 ** (64 / 62), "13459.6 suggests d - 2 for d in the exponent (of"),
        (500_000**2, "a doubled exponent (of base 500000)."),
        (1e6**0.5, "1000 suggests a missing factor 2 in the exponent"),
        (math.exp(math.log10(5e5)), "log10 for the natural logarithm (of"),
        *[
            (1e4 * factor ** (64 / 62), f"NTK-aware scaling by {factor} (of")
            for factor in (2, 4, 8, 16, 32)
        ],
    ],
)
def test_a_base_suggests_a_cause(base, cause):
    found = looked(rotary(base))
    (note,) = found.notes
    assert cause in note
    assert f"Note: {note}" in str(found)
    assert looked(rotary(5e5)).notes == ()


def test_nothing_is_said_of_what_was_not_seen():
    seen = review_rotary(lambda x: x)
    assert seen.as_dict()["positions"] == seen.as_dict()["longest_call"] == 0
    assert seen.as_dict()["base"] is None
    assert str(seen).endswith("Findings: 1. Convention: unknown.")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"width": 1}, "width=1: give 2 to 1024"),
        ({"width": 1025}, "width=1025: give 2 to 1024"),
        ({"width": 64.0}, "width=64.0: give an integer"),
        ({"max_len": 9}, "max_len=9: give 42 to"),
        ({"tolerance": -1}, "tolerance=-1: give a number of 0 or more"),
        ({"base": 1}, "base=1: give a number above 1"),
        ({"base": "2"}, "base='2': give a number above 1"),
        ({"tolerance": True}, "tolerance=True: give a number of 0 or more"),
        ({"layers": "full"}, "layers='full': these are layers of a config"),
        ({"layout": "both"}, "layout='both': give one of interleaved; half;"),
    ],
)
def test_settings_that_make_no_sense_are_named(options, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review_rotary(rotary(), **options)
    assert str(caught.value).startswith(told)
