"""review_rotary on rotary functions, right and wrong.

The functions are written here, from the formula; each wrong one has one
slip, and the review has to say which, in words that are listed beside it.
"""

import math

import ml_dtypes
import numpy as np
import pytest

from posenc_review import review_rotary


def speeds(width, base=10_000.0, steps=None):
    return base ** (-np.arange(0, width, 2) / (steps or width))


def columns(width, layout):
    if layout == "half":
        return np.arange(width // 2), np.arange(width // 2, width)
    return np.arange(0, width, 2), np.arange(1, width, 2)


def turned(x, cosine, sine, layout="half", start=0):
    """Turn the first columns by angles, whose cosines and sines are given."""
    first, second = columns(2 * cosine.shape[-1], layout)
    first, second = first + start, second + start
    made = np.array(x)
    made[..., first] = x[..., first] * cosine - x[..., second] * sine
    made[..., second] = x[..., second] * cosine + x[..., first] * sine
    return made


def same(values):
    return values


def rotary(
    base=10_000.0,
    layout="half",
    part=None,  # columns that turn
    head=False,  # exponents count the head
    start=0,  # first column that turns
    divide=1.0,
    length=1.0,
    sign=1,
    change_speeds=same,
    change_positions=same,
    change_angles=same,
    change_waves=same,
):
    """Build a rotary function; each setting is one thing to get wrong."""

    def rotate(x, positions):
        width = part or x.shape[-1]
        steps = x.shape[-1] if head else width
        turns = change_speeds(speeds(width, base, steps) / divide)
        places = change_positions(positions)
        angles = change_angles(places[..., None] * turns)
        cosine = change_waves(np.cos(angles)) * length
        sine = change_waves(np.sin(angles)) * length * sign
        return turned(x, cosine, sine, layout, start)

    return rotate


def float32(values):
    return values.astype(np.float32)


def rounded_to(kind):
    return lambda values: values.astype(kind).astype(np.float64)


bfloat16 = rounded_to(ml_dtypes.bfloat16)
float16 = rounded_to(np.float16)


def with_angles(angles_of):
    """Build a rotary function from its angles alone."""

    def rotate(x, positions):
        angles = angles_of(positions[..., None], speeds(x.shape[-1]))
        return turned(x, np.cos(angles), np.sin(angles))

    return rotate


def from_speeds(turns, length=1.0):
    def rotate(x, positions):
        angles = positions[..., None] * turns
        return turned(x, np.cos(angles) * length, np.sin(angles) * length)

    return rotate


def complex_numbers(x, positions):
    numbers = x[..., ::2] + 1j * x[..., 1::2]
    numbers = numbers * np.exp(1j * positions[..., None] * speeds(64))
    return np.stack([numbers.real, numbers.imag], axis=-1).reshape(x.shape)


def looped(x, positions):
    made = np.zeros(x.shape).tolist()
    for row, places in enumerate(positions):
        for token, position in enumerate(places):
            for k in range(0, x.shape[-1], 2):
                angle = position / 10_000 ** (k / x.shape[-1])
                one, other = x[row, token, k : k + 2]
                cosine, sine = math.cos(angle), math.sin(angle)
                made[row][token][k] = one * cosine - other * sine
                made[row][token][k + 1] = one * sine + other * cosine
    return made


def in_float32(x, positions):
    turns = (1 / 10_000 ** (np.arange(0, 64, 2, np.float32) / 64)).astype(
        np.float32
    )
    angles = positions.astype(np.float32)[..., None] * turns
    return turned(float32(x), np.cos(angles), np.sin(angles))


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


def llama3_speeds(base=500_000.0, factor=8.0, old_len=8192):
    """As in Llama 3.1: by a pair's turns in the old length, 4 to 1."""
    made = []
    for speed in speeds(64, base):
        turns = old_len * speed / (2 * math.pi)
        kept = min(1.0, max(0.0, (turns - 1) / 3))
        made.append(speed * (kept + (1 - kept) / factor))
    return np.array(made)


def yarn_speeds(factor=4.0, old_len=4096):
    """As in YaRN: by a pair's number, from 32 turns to 1, rounded out."""

    def pair(turns):
        return 32 * math.log(old_len / (turns * 2 * math.pi)) / math.log(1e4)

    low, high = math.floor(pair(32)), math.ceil(pair(1))
    kept = 1 - np.clip((np.arange(32) - low) / (high - low), 0, 1)
    return speeds(64) * (kept + (1 - kept) / factor)


YARN_LENGTH = 0.1 * math.log(4) + 1

RIGHT = {
    "half": (rotary(), {}, "half, base 10000"),
    "interleaved": (
        rotary(layout="interleaved"),
        {},
        "interleaved, base 10000",
    ),
    "complex": (complex_numbers, {}, "interleaved, base 10000"),
    "looped": (looped, {"max_len": 300}, "interleaved, base 10000"),
    "float32": (in_float32, {}, "half, base 10000"),
    "clockwise": (rotary(sign=-1), {}, "half, clockwise, base 10000"),
    "500000": (rotary(5e5), {}, "half, base 500000"),
    "an odd base": (rotary(41_829.3), {}, "half, base 41829"),
    "base 100": (rotary(100.0), {}, "half, base 100"),
    "linear": (rotary(divide=4), {}, "half, base 10000, linear, by 4"),
    "part": (
        rotary(part=16),
        {},
        "half, partial, 16 of 64 columns, base 10000",
    ),
    "last part": (
        rotary(part=32, start=32, layout="interleaved"),
        {},
        "interleaved, partial, 32 of 64 columns, from column 32, base 10000",
    ),
    "proportional": (
        rotary(1e6, "interleaved", part=16, head=True),
        {},
        "interleaved, partial, 16 of 64 columns, proportional, base 1000000",
    ),
    "one pair": (rotary(), {"width": 2}, "interleaved or half"),
    "two pairs": (rotary(), {"width": 4}, "half, base 10000"),
    "llama3": (
        from_speeds(llama3_speeds()),
        {},
        "half, base 500000, by parts (pairs 0 to 14 as base 500000 has them,"
        " 15 to 17 between, 18 to 31 divided by 8)",
    ),
    "llama3 as asked": (
        from_speeds(llama3_speeds()),
        {"config": LLAMA},
        "half, base 500000, llama3 (pairs 0 to 14 as base 500000 has them,"
        " 15 to 17 between, 18 to 31 divided by 8)",
    ),
    "yarn as asked": (
        from_speeds(yarn_speeds(), YARN_LENGTH),
        {"config": YARN},
        "half, base 10000, yarn (pairs 0 to 10 as base 10000 has them, 11 to"
        " 22 between, 23 to 31 divided by 4), lengths by 1.1386",
    ),
    "longrope": (
        from_speeds(speeds(64) / np.linspace(1, 3, 32) ** 2),
        {},
        "half, base 10000, by parts (each pair of base 10000 divided by a"
        " number of its own, 1 to 9)",
    ),
    "asked for": (
        rotary(5e5, "interleaved"),
        {"base": 500_000, "layout": "interleaved"},
        "interleaved, base 500000",
    ),
    "a cache of the asked length": (
        rotary(change_positions=lambda p: np.arange(2048)[p]),
        {"max_len": 2048},
        "half, base 10000",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_function_is_named_and_not_faulted(name):
    rotate, options, convention = RIGHT[name]
    found = review_rotary(rotate, **options)
    assert found.findings == {}
    assert str(found.convention) == convention
    assert f"Findings: 0. Convention: {convention}.\n" in str(found)


def halves_and_turns(x, positions, angles, swap):
    """RoPE by "rotate half" or "rotate pairs", with angles for columns."""
    first, second = columns(64, swap)
    other = np.empty_like(x)
    other[..., first], other[..., second] = -x[..., second], x[..., first]
    cosine = np.cos(positions[..., None] * angles)
    return x * cosine + other * np.sin(positions[..., None] * angles)


def overwritten(x, positions):
    angles = positions[..., None] * speeds(64)
    cosine, sine = np.cos(angles), np.sin(angles)
    one, other = x[..., :32].copy(), x[..., 32:].copy()
    one[:] = one * cosine - other * sine
    other[:] = other * cosine + one * sine
    return np.concatenate([one, other], axis=-1)


def by_matrix(cosine_sine):
    """Build a function from the four numbers of each pair's matrix."""

    def rotate(x, positions):
        angles = positions[..., None] * speeds(64)
        one, other = x[..., :32], x[..., 32:]
        a, b, c, d = cosine_sine(np.cos(angles), np.sin(angles))
        made = [a * one + b * other, c * one + d * other]
        return np.concatenate(made, axis=-1)

    return rotate


def put(index, value):
    def change(turns):
        turns = turns.copy()
        turns[index] = value(turns[index]) if callable(value) else value
        return turns

    return change


def longer(pair, factor):
    def rotate(x, positions):
        made = rotary()(x, positions)
        made[..., [pair, pair + 32]] *= factor
        return made

    return rotate


def in_place(x, positions):
    x[:] = rotary()(x, positions)
    return x


def positions_in_place(x, positions):
    made = rotary()(x, positions)
    positions += 1
    return made


def read_as(change):
    """Build a function that takes other positions than it is given."""
    return lambda x, p: rotary()(x, np.broadcast_to(change(p), p.shape))


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
            positions = positions + self.asked // 20
        elif self.what == "dropout":
            random = np.random.default_rng(self.asked)
            return rotary()(x, positions) * (random.random(x.shape) > 0.1)
        return rotary()(x, positions)


def dynamic(x, positions):
    """The base grows with the largest position of the call."""
    growth = max(1.0, 4 * (positions.max() + 1) / 4096 - 3)
    return rotary(10_000.0 * growth ** (64 / 62))(x, positions)


def refuses(x, positions):
    if positions.max() >= 3000:
        raise IndexError("index 3000 is out of bounds")
    return rotary()(x, positions)


def one_row_only(x, positions):
    assert len(x) == 1, "one row only"
    return rotary()(x, positions)


def first_row_only(x, positions):
    return np.concatenate([rotary()(x[:1], positions[:1]), x[1:]])


def beyond(limit, value):
    """Build a function whose results are multiplied beyond a position."""

    def rotate(x, positions):
        made = rotary()(x, positions)
        made[positions >= limit] *= value
        return made

    return rotate


def rest_lost(x, positions):
    made = rotary(part=32)(x, positions)
    made[..., 32:] = 0
    return made


def rest_first(x, positions):
    made = rotary(part=32)(x, positions)
    return np.concatenate([made[..., 32:], made[..., :32]], axis=-1)


def written_as_half(x, positions):
    made = rotary(layout="interleaved")(x, positions)
    return np.concatenate([made[..., ::2], made[..., 1::2]], axis=-1)


ALL_64 = np.concatenate([speeds(64), speeds(64)])
MIRROR = np.r_[np.arange(32), np.arange(64)[:31:-1]]


def mirrored(x, positions):
    made = rotary()(x[..., MIRROR], positions)
    return made[..., np.argsort(MIRROR)]


WRONG = {
    # name: function, options, the finding's name, what it should say
    "a minus is missing": (
        by_matrix(lambda c, s: (c, s, s, c)),
        "pairs: a minus is missing",
    ),
    "a column is negated": (
        by_matrix(lambda c, s: (c, s, s, -c)),
        "pairs: the second column is negated",
    ),
    "sine for cosine": (
        by_matrix(lambda c, s: (s, -c, c, s)),
        "pairs: sine and cosine are exchanged.",
    ),
    "sine for cosine in one column": (
        by_matrix(lambda c, s: (c, -s, c, s)),
        "pairs: sine and cosine are exchanged in the second column",
    ),
    "no sines": (
        by_matrix(lambda c, s: (c, 0, 0, c)),
        "pairs: the sines are missing",
    ),
    "no cosines": (
        by_matrix(lambda c, s: (0, -s, s, 0)),
        "pairs: the cosines are missing",
    ),
    "cosines for sines": (
        by_matrix(lambda c, s: (c, -c, c, c)),
        "pairs: cosines stand where sines",
    ),
    "half of a turn": (
        by_matrix(lambda c, s: (c, -s, 0, 1)),
        "pairs: only the first column turns",
    ),
    "the first row twice": (
        by_matrix(lambda c, s: (c, -s, c, -s)),
        "pairs: both columns are computed like the first",
    ),
    "overwritten": (overwritten, "pairs: already overwritten"),
    "nothing": (lambda x, p: x, "pairs: Nothing turns"),
    "half pairs, other angles": (
        lambda x, p: halves_and_turns(x, p, np.repeat(speeds(64), 2), "half"),
        "layout: pairs are half, the angles are laid out interleaved: columns"
        " 0 and 32",
    ),
    "interleaved pairs, other angles": (
        lambda x, p: halves_and_turns(x, p, ALL_64, "interleaved"),
        "layout: pairs are interleaved, the angles are laid out half",
    ),
    "mirrored pairs": (mirrored, "layout: Columns 0 and 63 are a pair"),
    "written as half": (
        written_as_half,
        "position 0: Pairs are read in one layout and written as half",
    ),
    "the rest first": (rest_first, "position 0: column 0 is column 32"),
    "the rest lost": (rest_lost, "lengths: Columns 32 to 63"),
    "one late": (
        rotary(change_positions=lambda p: p + 1),
        "position 0: as position 1",
    ),
    "negated": (rotary(length=-1), "position 0: negates x"),
    "a pair stands still": (
        rotary(change_speeds=put(5, 0)),
        "pair: Pair 5 (columns 5, 37) stands still",
    ),
    "the last pair stands still": (
        rotary(layout="interleaved", change_speeds=put(31, 0)),
        "pair: Pair 31 (columns 62, 63) stands still",
    ),
    "two pairs exchanged": (
        rotary(
            change_speeds=lambda w: w[
                [0, 1, 2, 9, *range(4, 9), 3, *range(10, 32)]
            ]
        ),
        "pair: Pairs 3 and 9 are exchanged",
    ),
    "a pair against the others": (
        rotary(change_speeds=put(7, lambda w: -w)),
        "pair: Against the others turn: pair 7",
    ),
    "a pair twice as fast": (
        rotary(change_speeds=put(4, lambda w: 2 * w)),
        "pair: Pair 4 turns by 0.6325 per position instead of 0.3162",
    ),
    "whole speeds": (
        rotary(change_speeds=np.trunc),
        "pair: whole numbers",
    ),
    "one speed": (rotary(change_speeds=np.ones_like), "speeds: at one speed"),
    "two by two": (
        rotary(change_speeds=lambda w: np.repeat(w[::2], 2)),
        "speeds: two by two",
    ),
    "backwards": (
        rotary(change_speeds=lambda w: w[::-1]),
        "speeds: run backwards",
    ),
    "degrees": (rotary(change_angles=np.rad2deg), "speeds: degrees"),
    "twice": (rotary(divide=0.5), "speeds: positions count twice"),
    "from pair 1": (
        rotary(change_speeds=lambda w: w * w[1]),
        "speeds: exponents begin with pair 1",
    ),
    "fast pairs slowed": (
        rotary(change_speeds=lambda w: w / np.r_[np.full(20, 8), np.ones(12)]),
        "speeds: scaling by parts is for the slow",
    ),
    "no series": (
        rotary(change_speeds=lambda w: np.linspace(1, 1e-4, 32)),
        "speeds: no single base",
    ),
    "a square": (
        with_angles(lambda p, w: p**2 * w),
        "scores: offset alone",
    ),
    "other waves": (
        by_matrix(lambda c, s: (c, -s[..., ::-1], s[..., ::-1], c)),
        "layout: Cosines and sines are of different angles",
    ),
    "by the root": (rotary(length=8), "lengths: by 8, the square root of 64"),
    "YaRN's factor": (
        rotary(length=YARN_LENGTH),
        "lengths: by 1.1386, YaRN's attention factor for scaling by 4",
    ),
    "one pair longer": (longer(3, 2), "lengths: by 2 in pair 3"),
    "shorter with the position": (
        lambda x, p: rotary()(x, p) * 0.99 ** p[..., None],
        "lengths: change with the position",
    ),
    "bfloat16 positions": (
        rotary(change_positions=bfloat16),
        "digits: Positions are rounded to bfloat16: position 257",
    ),
    "float16 positions": (
        rotary(change_positions=float16),
        "digits: Positions are rounded to float16: position 2049",
    ),
    "bfloat16 angles": (
        rotary(change_angles=bfloat16),
        "digits: Angles are rounded to bfloat16",
    ),
    "float16 speeds": (
        rotary(change_speeds=float16),
        "digits: Speeds are rounded to float16",
    ),
    "all in bfloat16": (
        rotary(
            change_speeds=bfloat16,
            change_positions=bfloat16,
            change_angles=bfloat16,
            change_waves=bfloat16,
        ),
        "digits: Speeds, positions and angles are rounded to bfloat16",
    ),
    "float16 waves": (
        rotary(change_waves=float16),
        "digits: Sines and cosines, or the result, are rounded to float16",
    ),
    "clipped": (
        rotary(change_positions=lambda p: np.minimum(p, 2047)),
        "far: Positions from 2048 on are turned as 2047: clipped",
    ),
    "clipped early": (
        rotary(change_positions=lambda p: np.minimum(p, 20)),
        "far: Positions from 21 on are turned as 20: clipped",
    ),
    "wrapped": (
        rotary(change_positions=lambda p: p % 1000),
        "far: Positions from 1000 on are counted from 0 again",
    ),
    "16-bit integers": (
        rotary(change_positions=lambda p: p.astype(np.int16)),
        "far: Positions from 32768 on overflow",
    ),
    "a jump": (
        rotary(change_positions=lambda p: p + (p >= 700)),
        "far: Positions from 700 on come one late",
    ),
    "refused": (
        refuses,
        "far: Position 3000 is the first to fail: IndexError",
    ),
    "refused early": (
        rotary(change_positions=lambda p: np.arange(30)[p]),
        "far: Position 30 is the first to fail: IndexError",
    ),
    "NaN": (beyond(5000, math.nan), "far: From position 5000 on there is NaN"),
    "zero": (beyond(5000, 0), "far: From position 5000 on the result is zero"),
    "left alone": (
        rotary(change_positions=lambda p: np.where(p < 5000, p, 0)),
        "far: Positions from 5000 on are left as they were",
    ),
    "6.28": (
        rotary(change_angles=lambda a: a % 6.28),
        "far: Position 7 is the first that is turned wrongly",
    ),
    "ignored": (
        read_as(lambda p: np.arange(p.shape[1])),
        "positions: ignored: tokens are counted from 0",
    ),
    "from the first": (
        read_as(lambda p: p - p[:, :1]),
        "positions: counted from the first of their row",
    ),
    "only the first": (
        read_as(lambda p: p[:, :1] + np.arange(p.shape[1])),
        "positions: Only the first position of a row is read",
    ),
    "one row for all": (
        read_as(lambda p: p[:1]),
        "positions: first row of the batch are taken for all",
    ),
    "the largest": (
        read_as(lambda p: p.max(axis=1, keepdims=True)),
        "positions: largest position of a row",
    ),
    "from the end": (
        read_as(lambda p: p.shape[1] - 1 - p),
        "positions: counted from the end of the call",
    ),
    "over the length": (
        read_as(lambda p: p / p.shape[1]),
        "positions: divided by the number of tokens",
    ),
    "one token at a time": (
        read_as(lambda p: p * (p.shape[1] > 1)),
        "positions: in a call of one token, 7 is turned as 0",
    ),
    "a table as long as the call": (
        read_as(lambda p: np.arange(p.shape[1])[p]),
        "positions: Is its table as long as the call?",
    ),
    "cut to whole steps": (
        read_as(lambda p: p // 4),
        "positions: 0 to 3 are turned alike",
    ),
    "one row only": (one_row_only, "batch: A batch of two rows fails"),
    "the first row only": (first_row_only, "batch: Row 1 of a batch"),
    "dynamic": (dynamic, "company: beside 4096 or more"),
    "cache of the first call": (
        Remembers("first call"),
        "far: Positions from 4 on are turned as 3",
    ),
    "cache by length": (Remembers("length"), "state: of an earlier call"),
    "counting calls": (Remembers("count"), "state: after all others"),
    "dropout": (Remembers("dropout"), "state: asked twice"),
    "in place": (in_place, "input: x is changed in place"),
    "positions in place": (
        positions_in_place,
        "input: positions is changed in place",
    ),
    "something added": (
        lambda x, p: x + np.sin(p[..., None] * ALL_64),
        "linear: something is added",
    ),
    "normalized": (
        lambda x, p: rotary()(x / np.linalg.norm(x), p),
        "linear: Twice x",
    ),
    "tokens mixed": (
        lambda x, p: rotary()(x + x.mean(axis=1, keepdims=True), p),
        "linear: A token changes the results",
    ),
    "position 0 blank": (
        lambda x, p: rotary()(x, p) * (p > 0)[..., None],
        "position 0: Position 0 gives zero",
    ),
    "a part alone": (
        lambda x, p: rotary()(x[..., :32], p),
        "result: the result's shape is (1, 4, 32), not (1, 4, 64)",
    ),
    "complex": (lambda x, p: x * 1j, "result: the numbers are complex"),
    "None": (lambda x, p: None, "result: it returns None"),
    "exit": (lambda x, p: exit(3), "result: SystemExit"),
    "no positions": (lambda x: x, "result: TypeError"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_said(name):
    rotate, expected = WRONG[name]
    key, words = expected.split(": ", 1)
    found = review_rotary(rotate)
    assert words in found.findings.get(key, str(found))
    assert f"- {key}: " in str(found)
    allowed = {key}
    if "float16" in words:
        allowed |= {"far", "digits"}  # NaN from 65520 on
    if key in ("state", "batch", "positions"):
        allowed |= {"positions", "state", "company", "position 0"}
    assert set(found.findings) <= allowed


PARTIAL = {"head_dim": 64, "rope_theta": 1e4, "partial_rotary_factor": 0.5}
HELD = {
    # name: function, what it is held to, the finding and what it should say
    "another base": (
        rotary(1e4),
        {"base": 500_000},
        "base: The base is 10000, where 500000 is asked for",
    ),
    "a missing factor 2": (
        rotary(100.0),
        {"base": 10_000},
        "base: it suggests a missing factor 2",
    ),
    "another layout": (
        rotary(),
        {"layout": "interleaved"},
        "layout: Pairs are half, where interleaved is asked for",
    ),
    "the default base": (
        rotary(),
        {"config": {"head_dim": 64, "rope_theta": 500_000}},
        "base: 10000 is the default",
    ),
    "no scaling": (
        rotary(5e5),
        {"config": LLAMA},
        "scaling: The scaling is none, where the config asks for by parts"
        " (llama3 by 8)",
    ),
    "linear for llama3": (
        rotary(5e5, divide=8),
        {"config": LLAMA},
        "scaling: The scaling is linear by 8, where",
    ),
    "another factor": (
        from_speeds(llama3_speeds(factor=32)),
        {"config": LLAMA},
        "scaling: Pairs 15 to 31 turn by other angles",
    ),
    "no attention factor": (
        from_speeds(yarn_speeds()),
        {"config": YARN},
        "lengths: Lengths do not change, where the config asks for 1.1386",
    ),
    "the attention factor twice": (
        from_speeds(yarn_speeds(), YARN_LENGTH**2),
        {"config": YARN},
        "lengths: it is applied twice",
    ),
    "all columns": (
        rotary(),
        {"config": PARTIAL},
        "columns: 64 columns turn, where the config asks for 32 of 64",
    ),
    "exponents of the head": (
        rotary(part=32, head=True),
        {"config": PARTIAL},
        "scaling: The exponents count the whole head's columns",
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_a_function_is_held_to_what_is_asked(name):
    rotate, options, expected = HELD[name]
    key, words = expected.split(": ", 1)
    found = review_rotary(rotate, 64, **options)
    assert list(found.findings) == [key]
    assert words in found.findings[key]


def test_a_factor_that_is_no_finding_if_asked_for():
    assert "lengths" in review_rotary(rotary(length=YARN_LENGTH)).findings
    found = review_rotary(from_speeds(yarn_speeds(), YARN_LENGTH), config=YARN)
    assert str(found).startswith(
        "The config asks for base 10000, yarn, by 4, lengths by 1.13863,"
        " radians per position 1, 0.7499, 0.5623, ..., 0.00003334.\n"
    )
    assert found.positions == 16_384


def test_written_in_another_order_may_be_asked_for():
    layout = "interleaved, written as half"
    found = review_rotary(written_as_half, layout=layout)
    assert found.findings == {}
    assert str(found.convention) == f"{layout}, base 10000"


def test_digits_are_told_and_float32_is_no_finding():
    assert "Angles in float64." in str(review_rotary(rotary()))
    digits = review_rotary(in_float32).digits
    assert digits.startswith("Angles in float32, off by 0.00")
    tolerant = review_rotary(rotary(change_waves=bfloat16), tolerance=0.01)
    assert tolerant.findings == {}
    assert "Results in bfloat16." in str(tolerant)


def test_a_base_suggests_a_cause():
    (note,) = review_rotary(rotary(1e4 ** (64 / 63))).notes
    assert note.startswith("base 11574.2 suggests d - 1 for d")
    assert review_rotary(rotary(5e5)).notes == ()


def test_where_a_finding_shows_can_be_read():
    (finding,) = review_rotary(rotary(change_speeds=put(5, 0))).details
    assert finding.as_dict() == {
        "name": "pair",
        "words": "Pair 5 (columns 5, 37) stands still.",
        "pair": 5,
    }
    clipped = rotary(change_positions=lambda p: np.minimum(p, 2047))
    assert review_rotary(clipped).details[0].position == 2048


def test_it_looks_as_far_as_asked():
    asked = []

    def rotate(x, positions):
        asked.append(int(positions.max()))
        return rotary()(x, positions)

    review_rotary(rotate)
    assert max(asked) == 131_071
    asked.clear()
    review_rotary(rotate, max_len=5000)
    assert max(asked) == 4999


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"width": 1}, "width=1: give 2 to 4096"),
        ({"width": 64.0}, "width=64.0: give an integer"),
        ({"max_len": 9}, "max_len=9: give 42 or more"),
        ({"tolerance": -1}, "tolerance=-1: give 0 or more"),
        ({"base": 1}, "base=1: give a number above 1"),
        ({"layout": "both"}, "layout='both': give one of ('interleaved',"),
    ],
)
def test_settings_that_make_no_sense_are_named(options, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review_rotary(rotary(), **options)
    assert str(caught.value).startswith(told)


def test_a_tensor_is_read():
    class Tensor:
        def __init__(self, array):
            self.array = array

        def detach(self):
            return self

        cpu = detach

        def double(self):
            return self.array

    found = review_rotary(lambda x, p: Tensor(rotary()(x, p)))
    assert found.findings == {}
