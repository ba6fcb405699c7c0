"""Rotary functions: what is wrong is measured, what is right not accused.

A row of those that are wrong has words of a finding, worked out by hand.
"""

import ml_dtypes
import numpy as np
import pytest
from posenc_review import LAYOUTS, OutOfReachError, review_rotary
from rope import PAIR, WIDTH, YARN_LENGTH, llama3, rope, speeds, turn_by, yarn


def bfloat16(values):
    return np.asarray(values, float).astype(ml_dtypes.bfloat16).astype(float)


def token(p):
    return np.arange(p.shape[1])


def without_the_end(p):
    return p * (token(p) < (p.shape[1] // 128 * 128 or p.shape[1]))


POSITIONS = [  # what positions `p` [rows, tokens] are taken for; what is said
    (lambda p: token(p) + 0 * p, "read back are the number of the token"),
    (lambda p: p[:1] + 0 * p, "read back are that of row 0"),
    (lambda p: p + 1, "read back are 1 after their own"),
    (lambda p: np.minimum(p, 747), "748, 749, 750, 751, 752, 753 as 747 in a"),
    (lambda p: p.astype("i1"), "128, 129, 130, 131, 132, 133 as -128, -127"),
    (bfloat16, "257, 259, 261, 263, 265, 267 as 256, 260, 260, 264, 264, 268"),
    (lambda p: np.where(p == 600, 41, p), "600 as 41 in a call of 1025"),
    (lambda p: p // 8 * 8, "are turned by 0 radians, where 1 is due"),
    (
        without_the_end,
        "Calls of 129 tokens (token 128); of 333 tokens (tokens",
    ),
    (lambda p: p + (p.shape[1] == 1), "of one token in each of 2 rows (rows"),
]
FREQUENCIES = [  # what frequencies `w` become, and what is said
    (np.rad2deg, "pair 0 by 0.74711 radians per position, not 1 ("),
    (lambda w: w[::-1], "base 0.0001 and all divided by 5623.4"),
    (
        lambda w: np.where(PAIR == 5, 0.5, w),
        "(pair 5) turn otherwise than with base 10000: pair 5",
    ),
    (bfloat16, "pair 1 by 0.5625 radians per position, not 0.56234"),
    (lambda w: np.where(PAIR == 5, w, -w), "not -0.056234 (-1 times)"),
    (lambda w: np.where(PAIR == 0, 0, w), "turn are 30 of 32 columns"),
]
LLAMA = {"frequencies": llama3()}
YARN = {"frequencies": yarn(), "length": YARN_LENGTH}
PART = {"frequencies": speeds(16), "width": WIDTH}
ASKED = [  # frequencies, what is asked for, and what is said
    (speeds(), {"base": 5e5}, "39.155 times). All are those of base 10000"),
    (speeds(base=5e5), LLAMA, "not 0.000077847 (8 times)"),
    (-llama3(), LLAMA, "(pairs 0 to 15) turn otherwise"),
    (speeds(), YARN, "become 1 times as long in pairs 0 to 15 of 16, where"),
    (speeds(), PART, "32 of 32 columns, with columns 0 and 16, where 16"),
]


def mixes_layouts(x, positions):
    angles = np.repeat(positions[..., None] * speeds(), 2, axis=-1)
    a, b = np.split(x, 2, axis=-1)
    return x * np.cos(angles) + np.concatenate([-b, a], -1) * np.sin(angles)


def grows_for_good(x, positions, longest=[400]):  # noqa: B006
    longest[0] = max(longest[0], positions.max())
    return rope(x, positions, speeds(base=1e4 * longest[0] / 400))


def scales_by_the_call(x, positions):
    return rope(x, positions, speeds(base=1e4 * max(1, positions.max() / 400)))


def stretches_the_rest(x, positions):
    turned = rope(x, positions, speeds(16))
    turned[..., 16:] *= 1.5
    return turned


def changes_positions(x, positions):
    turned = rope(x, positions)
    positions += 1
    return turned


def in_another_order(x, positions):
    return rope(np.concatenate([x[..., ::2], x[..., 1::2]], -1), positions)


def in_bfloat16(x, positions):
    return rope(x, positions).astype(ml_dtypes.bfloat16)


def fails_for_33_rows(x, positions):
    return rope(x, positions) if len(x) < 33 else 1 / 0


TO_300, FAR = np.outer(np.arange(300), speeds()), {"max_len": 40_000}
OTHERS = [  # a function, what is asked for, what is said
    (mixes_layouts, {}, "makes of columns 0 and 16 (0.5403, 0.01) where"),
    (lambda x, p: x, {}, "No column is mixed with another at positions 0 to"),
    (
        lambda x, p: turn_by(x, TO_300[p]),
        {},
        "1, 2, 4, 8 and so on fails: Inde",
    ),
    (
        lambda x, p: rope(x, np.where(p, p, np.nan)),
        {},
        "become nan times as long",
    ),
    (lambda x, p: rope(x, p)[:, None], {}, "shape is (1, 1, 5, 32), not (1,"),
    (lambda x, p: rope(x, p).astype(str), {}, "it returns ndarray, no real"),
    (lambda x, p: rope(x, p) / 8, {}, "become 0.125 times as long in pairs 0"),
    (lambda x, p: rope(x, p) * 1.001 ** p[..., None], {}, "as no position in"),
    (stretches_the_rest, {}, "become 1.5 times as long in pairs 8 to 15"),
    (changes_positions, {}, "positions are changed in place"),
    (grows_for_good, {"base": 1e4}, "of positions 0 to 63, once more (tokens"),
    (scales_by_the_call, {"base": 1e4}, "of 1025 tokens (tokens 0 to 1024)"),
    (rope, {"layout": "interleaved"}, "half (columns 0 and 16), where inter"),
    (in_bfloat16, {"dtype": "float32"}, "Results are in bfloat16, not in"),
    (fails_for_33_rows, {}, "of 33 rows of 5 tokens fails: ZeroDivisionError"),
    (
        lambda x, p: rope(x, p * (token(p) < 20_000)),
        FAR,
        "tokens 20000 to 200",
    ),
    (lambda x, p: rope(x, p % 39_999), FAR, "39999 as 0 in a"),
]
WRONG = [
    *[((lambda x, p, q=q: rope(x, q(p))), {}, s) for q, s in POSITIONS],
    *[
        ((lambda x, p, w=w: rope(x, p, w(speeds()))), {}, s)
        for w, s in FREQUENCIES
    ],
    *[((lambda x, p, w=w: rope(x, p, w)), of, said) for w, of, said in ASKED],
    *OTHERS,
]


@pytest.mark.parametrize(("rotate", "asked", "said"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_differs_is_measured(rotate, asked, said):
    found = review_rotary(rotate, **{"width": 32, "max_len": 3000} | asked)
    assert found.findings
    assert said in str(found)


def test_findings_of_different_kinds_are_all_said():
    def rotate(x, positions):
        return 1.5 * rope(x, np.minimum(positions, 747), speeds() / 2)

    found = review_rotary(rotate, WIDTH, base=1e4, max_len=3000)
    kinds = ["frequencies", "lengths", "tokens", "turned as", "calls"]
    assert list(found.findings) == kinds
    assert found.values["tokens"]["position"] == 748
    assert found.values["tokens"]["token"] == 728


# Functions that are right in their own ways.

FACTOR = np.float32(1e4 ** (-1 / 64))
PADDED = np.append(speeds()[:8], np.zeros(8))
BUFFER = np.empty(2**23)


def last_columns(x, positions):
    turned = rope(x[..., 24:], positions, speeds(8))
    return np.concatenate([x[..., :24], turned], axis=-1)


def by_recurrence(x, positions):
    """Each angle out of the one before, in float32, as in llama.cpp."""
    angles = np.empty((*positions.shape, 64), "f4")
    angles[..., 0] = positions
    for pair in range(1, 64):
        angles[..., pair] = angles[..., pair - 1] * FACTOR
    return turn_by(x.astype("f4"), angles)


def all_in_16_bits(kind):
    """Cosines, products and sums are rounded, and lengths grow by 1.1386."""

    def rotate(x, positions):
        angles = positions[..., None] * yarn()
        a, b = np.split(x.astype(kind), 2, axis=-1)
        c = (YARN_LENGTH * np.cos(angles)).astype(kind)
        s = (YARN_LENGTH * np.sin(angles)).astype(kind)
        return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)

    return rotate


def into_its_buffer(x, positions):
    turned = BUFFER[: x.size].reshape(x.shape)
    turned[:] = rope(x, positions)
    return turned


def of(frequencies, layout="half"):
    return lambda x, p: rope(x, p, frequencies, layout)


USUAL, LONG = "half, base 10000", {"max_len": 60_000}
RIGHT = [  # a function, its convention, and what it is held to
    (of(speeds()), USUAL, {}),
    (of(speeds(2)), "interleaved, 1 radians per position", {"width": 2}),
    (of(-speeds()), "half, clockwise, base 10000", {"base": 1e4}),
    (of(speeds(base=41_829.3)), "half, base 41829.3", {}),
    (of(speeds(base=10_000.5)), "half, base 10000.5", LONG),
    (of(speeds() / 4), "half, base 10000 and all divided by 4", {}),
    (of(speeds(base=5e5), "interleaved"), "interleaved, base", {"base": 5e5}),
    (of(speeds()[:8], "half of the head"), "half, 16 of 32 columns, wi", {}),
    (of(PADDED), "half, 16 of", {"frequencies": PADDED, "layout": "half"}),
    (last_columns, "half, 8 of 32 columns, with columns 24 and 28, base", {}),
    (in_another_order, f"{LAYOUTS[-1]}, base 10000", {}),
    (by_recurrence, USUAL, LONG | {"width": 128}),
    (in_bfloat16, USUAL, {}),
    (all_in_16_bits(ml_dtypes.bfloat16), "half", YARN | LONG),
    (all_in_16_bits(np.float16), "half", YARN | LONG),
    (into_its_buffer, USUAL, {}),
    (lambda x, p: rope(x, p).tolist(), USUAL, {}),
]


@pytest.mark.parametrize(("rotate", "convention", "asked"), RIGHT)
@pytest.mark.filterwarnings("error")
def test_what_is_right_is_not_accused(rotate, convention, asked):
    seen = review_rotary(rotate, **{"width": WIDTH, "max_len": 3000} | asked)
    assert seen.findings == {}
    assert seen.convention.startswith(convention)


def test_what_was_looked_at_and_what_is_no_finding_are_said():
    def in_place(x, positions):
        x[:] = rope(x, positions)
        return x

    seen = str(review_rotary(in_place, WIDTH, max_len=3000))
    assert seen.splitlines()[1:] == [
        "Note: x is changed in place.",
        "Looked at: positions 0 to 2999, calls of 1 to 3000 tokens, batches of"
        " up to 33 rows, alone and again.",
    ]


def two_axes(x, positions):
    near = rope(x[..., :16], positions // 64, speeds(16))
    far = rope(x[..., 16:], positions % 64, speeds(16))
    return np.concatenate([near, far], -1)


@pytest.mark.parametrize(
    ("rotate", "measured"),
    [
        (of(llama3()), "1, 0.4404, 0.1939, 0.0854"),
        (scales_by_the_call, "In a call of 1025 tokens, pairs turn by 1, 0.5"),
        (two_axes, "columns 0 to 15 stay, but not in a call of 129 tokens"),
    ],
)
def test_what_may_be_meant_is_refused_with_what_was_measured(rotate, measured):
    with pytest.raises(OutOfReachError, match="not reviewed") as caught:
        review_rotary(rotate, WIDTH, max_len=1500)
    assert measured in str(caught.value)


SENSELESS = [
    ({"width": 3}, "width=3: give an even number"),
    ({"layout": "both"}, "layout=both: give one of ('interleaved'"),
    ({"base": 2, "frequencies": [1]}, "base=2: give a base or frequencies"),
    ({"frequencies": [0, 1]}, "frequencies=[0, 1]: give a number for each"),
]


@pytest.mark.parametrize(("given", "told"), SENSELESS)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises(ValueError) as caught:
        review_rotary(rope, **given)
    assert str(caught.value).startswith(told)
