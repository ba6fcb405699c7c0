"""Rotary functions: what is wrong is measured, what is right not accused.

A row of those that are wrong has words of a finding, worked out by hand.
"""

import re

import ml_dtypes
import numpy as np
import pytest
from posenc_review import LAYOUTS, OutOfReachError, review_rotary
from rope import PAIR, WIDTH, YARN_LENGTH, llama3, rope, speeds, yarn

BFLOAT16 = ml_dtypes.bfloat16


def bfloat16(values):
    return np.asarray(values, float).astype(BFLOAT16).astype(float)


def token(p):
    return np.arange(p.shape[1])


def at(read):
    """Take positions for others."""
    return lambda x, p: rope(x, read(p))


def of(frequencies, layout="half"):
    return lambda x, p: rope(x, p, frequencies, layout)


def without_the_end(p, block=128):
    return p * (token(p) < (p.shape[1] // block * block or p.shape[1]))


def mixes_layouts(x, positions):
    angles = np.repeat(positions[..., None] * speeds(), 2, axis=-1)
    a, b = np.split(x, 2, axis=-1)
    return x * np.cos(angles) + np.concatenate([-b, a], -1) * np.sin(angles)


def growing_for_good():
    longest = [400]

    def rotate(x, positions):
        longest[0] = max(longest[0], positions.max())
        return rope(x, positions, speeds(base=1e4 * longest[0] / 400))

    return rotate


def scales_by_the_call(x, positions):
    return rope(x, positions, speeds(base=1e4 * max(1, positions.max() / 400)))


def modulo_6_2832(x, positions):
    angles = np.fmod(positions[..., None] * speeds(), 2 * 3.1416)
    return rope(x, np.ones(positions.shape), angles)


def fails_far_away(x, positions):
    return rope(x, positions) if positions.max() < 100 else None


BASE = {"base": 1e4}
LLAMA = {"frequencies": llama3()}
YARN = {"frequencies": yarn(), "length": YARN_LENGTH}
PART = {"frequencies": speeds(16), "width": WIDTH}
WRONG = [  # a function, what is asked for, what is said
    (at(lambda p: token(p) + 0 * p), {}, "read back are the token's number"),
    (at(lambda p: p[:1] + 0 * p), {}, "read back are those of row 0"),
    (at(lambda p: p + 1), {}, "read back are 1 more than the token's own"),
    (lambda x, p: rope(x, p + 1, speeds(base=500)), {}, "0 turned as 1, 1"),
    (at(lambda p: np.minimum(p, 747)), {}, "748 turned as 747, 749 as 747,"),
    (at(lambda p: p.astype("i1")), {}, "128 turned as -128, 129 as -127"),
    (at(bfloat16), {}, "257 turned as 256, 259 as 260, 261 as 260"),
    (at(lambda p: np.where(p == 600, 41, p)), {}, "Only positions 600 differ"),
    (at(lambda p: p // 8 * 8), {}, "are turned by 0 radians, where 1 is due"),
    (at(without_the_end), {}, "129 tokens (token 128: position 148 turned as"),
    (at(lambda p: p + (p.shape[1] == 1)), {}, "of one token in each of 2 ro"),
    (at(lambda p: p + (p > 1e5)), {"max_len": 2**17}, "Only positions 100001"),
    (lambda x, p: rope(x, p) / (p != 7)[..., None], {}, "nan times as long"),
    (lambda x, p: rope(x, p) * np.inf, {}, "not all numbers are finite"),
    (lambda x, p: x if x.all() else rope(x, p), {}, "turn by 0 radians"),
    (at(lambda p: p + 2e-5 * (p == 3)), {"tolerance": 1e-6}, "3.00002 radian"),
    (modulo_6_2832, {"max_len": 2**17}, "turn by 0.9999977, 0.562"),
    (of(speeds() / 1.001), {}, "(0.999 times)"),
    (fails_far_away, {}, "Convention: half."),
    (of(np.where(PAIR == 5, 0.5, speeds())), {}, "1 of 16 pairs (5) turn by"),
    (of(bfloat16(speeds())), BASE, "by 0.5625, 0.31641, 0.17773, ..., 0.0001"),
    (of(np.where(PAIR == 5, 1, -1) * speeds()), BASE, "(-1 times)"),
    (of(speeds()), {"base": 5e5}, "All are those of base 10000"),
    (of(speeds(base=5e5)), LLAMA, "8 times). All are those of base 500000"),
    (of(speeds()), YARN, "become 1 times as long, where 1.1386"),
    (of(speeds()), PART, "15 of 16 pairs (1 to 15) turn by"),
    (of(speeds()), {"layout": "interleaved"}, "half: columns [ 0 16] and so"),
    (mixes_layouts, {}, "radians, where 1 is due, and become 1.01"),
    (growing_for_good(), BASE, "0 to 63, once more (tokens 1 to 63"),
    (growing_for_good(), {}, "0 to 63, once more (tokens 1 to 63"),
    (
        lambda x, p: rope(x, without_the_end(p, 2048), speeds(256)),
        {"width": 256, "max_len": 17_000},
        "of 16379 tokens (tokens 14336 to 16378",
    ),
    (scales_by_the_call, BASE, "of 1025 tokens (tokens 0 to 1024"),
    (lambda x, p: rope(x, p / (len(x) < 33)), {}, "rows of 5 tokens (tok"),
    (lambda x, p: x, {}, "no column is mixed with another at positions 0 to"),
    (lambda x, p: rope(x, p)[:, None], {}, "shape is (1, 1, 5, 32), not (1,"),
    (lambda x, p: rope(x, p) * 1.001 ** p[..., None], {}, "turned as no"),
]


@pytest.mark.parametrize(("rotate", "asked", "said"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_differs_is_measured(rotate, asked, said):
    found = review_rotary(rotate, **{"width": 32, "max_len": 3000} | asked)
    assert found.findings
    assert said in str(found)


def stretched_slow_and_clipped(x, positions):
    return 1.5 * rope(x, np.minimum(positions, 747), speeds() / 2)


def test_findings_of_different_kinds_are_all_said():
    rotate = stretched_slow_and_clipped
    found = review_rotary(rotate, WIDTH, base=1e4, max_len=3000)
    assert [*found.findings] == ["lengths", "frequencies", "tokens", "calls"]
    first = found.values["tokens"]
    assert (first["position"], type(first["turned"])) == (1024, complex)


# Functions that are right in their own ways.

FACTOR = np.float32(1e4 ** (-1 / 64))
PADDED = np.append(speeds()[:8], np.zeros(8))


def last_columns(x, positions):
    turned = rope(x[..., 24:], positions, speeds(8))
    return np.concatenate([x[..., :24], turned], axis=-1)


def by_recurrence(x, positions):
    """Each frequency out of the one before, in float32, as in llama.cpp."""
    frequencies = np.cumprod(np.full(64, FACTOR)) / FACTOR
    angles = positions[..., None].astype("f4") * frequencies
    return rope(x.astype("f4"), np.ones(positions.shape), angles)


def in_16_bits(x, positions):
    """Cosines, products and sums are rounded, and lengths grow by 1.1386."""
    angles = YARN_LENGTH * np.exp(1j * positions[..., None] * yarn())
    c, s = (part.astype(BFLOAT16) for part in (angles.real, angles.imag))
    a, b = np.split(x.astype(BFLOAT16), 2, axis=-1)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


def in_place(x, positions):
    x[:] = rope(x, positions)
    return x


def in_another_order(x, positions):
    return rope(np.concatenate([x[..., ::2], x[..., 1::2]], -1), positions)


USUAL, LONG = "half, base 10000", {"max_len": 60_000}
RIGHT = [  # a function, its convention, and what it is held to
    (of(speeds()), USUAL, {}),
    (of(speeds(2)), "interleaved, base 10000", {"width": 2}),
    (of(-speeds()), "half, clockwise, base 10000", BASE),
    (of(-llama3()), "half, clockwise, the frequencies asked for", LLAMA),
    (of(speeds(base=41_829.3)), "half, base 41829.3", {}),
    (of(speeds(base=1e9)), "half, base 1e+09", {"base": 1e9}),
    (of(speeds() / 4), "half, base 10000 and all divided by 4", {}),
    (of(speeds(base=5e5), "interleaved"), "interleaved, base", {"base": 5e5}),
    (of(speeds()[:8], "half of the head"), "half, 16 of 32 columns from", {}),
    (of(PADDED), "half, 16 of", {"frequencies": PADDED, "layout": "half"}),
    (last_columns, "half, 8 of 32 columns from 24, base 10000", {}),
    (in_another_order, f"{LAYOUTS[-1]}, base 10000", {}),
    (by_recurrence, USUAL, LONG | {"width": 128}),
    (lambda x, p: rope(x, p).astype(BFLOAT16), USUAL, LONG),
    (in_16_bits, "half", YARN | LONG),
    (in_place, USUAL, {}),
    (lambda x, p: rope(x, p).astype("f4"), USUAL, {"tolerance": 1e-9}),
    (lambda x, p: rope(x, p).tolist(), USUAL, {}),
]


@pytest.mark.parametrize(("rotate", "convention", "asked"), RIGHT)
@pytest.mark.filterwarnings("error")
def test_what_is_right_is_not_accused(rotate, convention, asked):
    seen = review_rotary(rotate, **{"width": WIDTH, "max_len": 3000} | asked)
    assert seen.findings == {}
    assert seen.convention.startswith(convention)


def scales_beyond_1400(x, positions):
    return rope(x, positions, speeds() / (1 + (positions.max() > 1400)))


@pytest.mark.parametrize(
    ("rotate", "measured"),
    [
        (of(llama3()), "turn by 1, 0.44037, 0.19392, ..., 0.00000056"),
        (scales_by_the_call, "by 1, 0.56234, .* near .* by 1, 0.51778"),
        (scales_beyond_1400, "by 1, 0.56234, .* near .* by 0.5, 0.28117"),
    ],
)
def test_what_may_be_meant_is_refused_with_what_was_measured(rotate, measured):
    with pytest.raises(OutOfReachError, match=measured):
        review_rotary(rotate, WIDTH, max_len=1500)


SENSELESS = [
    ({"width": 3}, "width=3: give an even number"),
    ({"width": 64.0}, "width=64.0: give an even number"),
    ({"max_len": 600.0}, "max_len=600.0: give 64 to"),
    ({"base": "10000"}, "base=10000: give a number above 1"),
    ({"frequencies": []}, "frequencies=[]: give one finite number"),
    ({"frequencies": [np.nan]}, "frequencies=[nan]: give one finite number"),
    ({"frequencies": ["a"]}, "frequencies=['a']: give one finite number"),
    ({"layout": "both"}, "layout=both: give one of ('interleaved'"),
    ({"base": 2, "frequencies": [1]}, "base=2: give a base or frequencies"),
    (
        {"frequencies": [1, 1], "width": 2},
        "frequencies=[1. 1.]: give one finite",
    ),
]


@pytest.mark.parametrize(("given", "told"), SENSELESS)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises(ValueError, match=re.escape(told)):
        review_rotary(rope, **given)
