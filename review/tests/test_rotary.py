"""Rotary functions: what is wrong is measured, what is right not accused.

A row of those that are wrong has words of a finding, worked out by hand.
"""

import ml_dtypes
import numpy as np
import pytest
from posenc_review import LAYOUTS, OutOfReachError, review_rotary
from rope import (
    PAIR,
    WIDTH,
    YARN_LENGTH,
    llama3,
    rope,
    speeds,
    turn_by,
    yarn,
)

NOISE, TO_300 = np.random.default_rng(0), np.outer(np.arange(300), speeds())


def bfloat16(values):
    return np.asarray(values, float).astype(ml_dtypes.bfloat16).astype(float)


def float16(values):
    return values.astype(np.float16).astype(float)


def row(p):
    return np.arange(len(p))[:, None]


def token(p):
    return np.arange(p.shape[1])


def whole(length, block):
    """The part of a length that fills blocks, or all of a shorter one."""
    return length // block * block or length


def before(p, count):
    """From a token on, the positions of so many tokens before."""
    return np.where(token(p) < count, p, np.roll(p, count, axis=1))


def by_parts(x, p, become):
    a, b = np.split(x, 2, axis=-1)
    angles = p[..., None] * speeds()
    made = become(a, b, np.cos(angles), np.sin(angles))
    return np.concatenate(made, axis=-1)


SIGN_OF_3 = np.where(PAIR == 3, -1, 1)
POSITIONS = [  # what positions `p` [rows, tokens] are taken for; what is said
    (lambda p: token(p) + 0 * p, "read back are the number of the token"),
    (lambda p: p - p[:, :1], "are the position less the first of its row"),
    (lambda p: p[:, :1] + token(p), "1, 0, 2 as 6, 5, 7 in a call behind"),
    (lambda p: np.minimum(p, p.shape[1] - 1), "22, 23, 24, 25 as 6, 6, 6, 6"),
    (lambda p: p // 8 * 8, "positions 1 to 7, 9 to 15, 17 to 23"),
    (lambda p: 0 * p + 1, "0, 2, 3, 4, 5, 6 as 1, 1, 1, 1, 1, 1"),
    (lambda p: p + row(p) * p.shape[1], "of 4 rows of 5 tokens (rows 1 to 3)"),
    (lambda p: p + (p.shape[1] == 1), "of one token (token 0) differ. Right"),
    (lambda p: p + (p.shape[1] == 1 < len(p)), "Right are all others"),
    (
        lambda p: np.maximum.accumulate(p - token(p), 1) + token(p),
        "1, 0, 2 as 6, 5, 7 in a call behind padding",
    ),
    (lambda p: p + 1, "read back are 1 after their own"),
    (lambda p: np.minimum(p, 747), "748, 749, 750, 751, 752, 753 as 747, 747"),
    (lambda p: p % 300, "300, 301, 302, 303, 304, 305 as 0, 1, 2, 3, 4, 5"),
    (lambda p: p.astype("i1"), "128, 129, 130, 131, 132, 133 as -128, -127"),
    (lambda p: p + (p >= 700), "no others: positions 700 to 2999"),
    (lambda p: np.where(p == 600, 41, p), "600 as 41 in a call of 1025"),
    (
        lambda p: p + 3 * (row(p) == 9) * (p.shape == (17, 5)),
        "Calls of 17 rows of 5 tokens (row 9) differ. Right are all others",
    ),
    (lambda p: p[:1] + 0 * p, "read back are that of row 0"),
    (lambda p: p * (row(p) < whole(len(p), 4)), "13 rows of 5 tokens (row 12"),
    (
        lambda p: p * (token(p) < whole(p.shape[1], 128)),
        "of 129 tokens (token 128); of 333 tokens (tokens 256 to 332); of 1025"
        " tokens (token 1024)",
    ),
    (lambda p: p[:, ::-1], "0, 1, 2, 3, 4, 5 as -63, -62, -61"),
    (lambda p: before(p, 64), "84, 85, 86, 87, 88, 89 as 20, 21, 22, 23, 24"),
    (bfloat16, "257, 259, 261, 263, 265, 267 as 256, 260, 260, 264, 264, 268"),
]
FREQUENCIES = [  # what frequencies `w` become, and what is said
    (lambda w: 1 / w, "Radians per position are 1, 1.778, -3.121"),
    (np.rad2deg, "Radians per position are 0.7471"),
    (lambda w: w[::-1], "base 0.0001 and all divided by 5623.4"),
    (lambda w: np.where(PAIR == 5, 0.5, w), "(pair 5) turn 8.8914 times"),
    (lambda w: np.where(PAIR % 2, bfloat16(w), w), "pairs 1, 3, 5, 7"),
    (bfloat16, "pair 1 by 0.5625 radians per position, not 0.56234"),
    (
        lambda w: np.where(PAIR == 0, 0, w),
        "pair 0 by 0 radians per position, not 1 (0",
    ),
    (lambda w: w[:12] * (PAIR[:12] < 11), "0 and 12, 1 and 13, 2 and 14"),
    (lambda w: np.where(PAIR == 0, w, 0), "turn are 2 of 32 columns"),
    (lambda w: np.where(PAIR == 5, w, -w), "(pair 5) turn counterclockwise"),
    (lambda w: 2 * w, "Radians per position are 2, 1.125"),
]
LLAMA = {"frequencies": llama3()}
YARN = {"frequencies": yarn(), "length": YARN_LENGTH}
PART = {"frequencies": speeds(16), "width": WIDTH}
ASKED = [  # frequencies, what is asked for, and what is said
    (speeds(), {"base": 5e5}, "39.155 times). All are those of base 10000"),
    (speeds(base=5e5), LLAMA, "not 0.000077847 (8 times)"),
    (llama3(factor=32), LLAMA, "not 0.000077847 (0.25 times)"),
    (-llama3(), LLAMA, "(pairs 0 to 15) turn clockwise"),
    (speeds(), YARN, "become 1 times as long in pairs 0 to 15 of 16, where"),
    (speeds(), YARN, "pair 15 by 0.00017783 radians per position, not 0.0000"),
    (yarn() / 2, YARN, "(pairs 0 to 15) turn 0.5 times as fast as"),
    (speeds(), PART, "32 of 32 columns, with columns 0 and 16, where 16"),
    (speeds()[:8], PART, "(1.7783 times)"),
]
FUNCTIONS = [  # of one line, and what is said
    (
        lambda x, p: by_parts(
            x, p, lambda a, b, c, s: (a * c - b * s, b * c - a * s)
        ),
        "and (-0.8415, 0.5403) where (0, 1)",
    ),
    (
        lambda x, p: by_parts(x, p, lambda a, b, c, s: (a * c, b * c)),
        "No column is mixed with another at positions 0 to 40",
    ),
    (
        lambda x, p: by_parts(
            x, p, lambda a, b, c, s: (a * c - b * s, b * c + (a * c) * s)
        ),
        "(0.5403, 0.4546) where they were (1, 0)",
    ),
    (
        lambda x, p: by_parts(
            x,
            p,
            lambda a, b, c, s: (
                SIGN_OF_3 * (a * c - b * s),
                SIGN_OF_3 * (b * c + a * s),
            ),
        ),
        "1 of 16 pairs differ: pair 3 by -3.14 radians beyond",
    ),
    (lambda x, p: rope(x, np.where(p < 500, p, np.nan)), "is nan, where"),
    (lambda x, p: turn_by(x, TO_300[p]), "300 is the first to fail: IndexErr"),
    (lambda x, p: turn_by(x, p[..., None] * speeds() % 6.2832), "pair 0 by -"),
    (lambda x, p: rope(x, p) * 1.001 ** p[..., None], "column 31 is 0.97656"),
    (
        lambda x, p: rope(x, np.where(token(p) == 580, p % 600, p)),
        "Calls of 1025 tokens (token 580); of 4 rows",
    ),
    (lambda x, p: turn_by(x, float16(p[..., None] * speeds())), "pairs diffe"),
    (lambda x, p: rope(x, np.where(p, p, np.nan)), "no others: position 0."),
    (
        lambda x, p: rope(x, p) + 0.01 * NOISE.normal(size=x.shape),
        "The same call, made again, differs by 0.0",
    ),
    (lambda x, p: rope(x, p)[:, None], "shape is (1, 1, 5, 32), not (1, 5, 3"),
    (lambda x, p: rope(x, p).astype(str), "it returns ndarray, no real"),
    (lambda x, p: rope(x, p) / 8, "become 0.125 times as long in pairs 0"),
    (
        lambda x, p: rope(x, p) * np.tile(1 + (PAIR == 3) / 10, 2),
        "become 1.1 times as long in pair 3 of 16, where 1 is due",
    ),
    (lambda x, p: np.roll(rope(x, p), 16, axis=-1), "16 of 16 pairs are not"),
]


def turns_each_position_once(x, positions):
    made = np.array(x)
    for row, places in enumerate(positions):
        _, first = np.unique(places, return_index=True)
        made[row, first] = rope(x[row, first], places[first])
    return made


def remembers(x, positions, earlier={}):  # noqa: B006
    return rope(x, earlier.setdefault(x.shape, positions))


def writes_row_0(x, positions):
    made = rope(x, positions)
    made[1:] *= x.shape[1] > 1
    return made


def grows_for_good(x, positions, longest=[400]):  # noqa: B006
    longest[0] = max(longest[0], positions.max())
    return rope(x, positions, speeds(base=1e4 * longest[0] / 400))


def scales_by_the_call(x, positions):
    return rope(x, positions, speeds(base=1e4 * max(1, positions.max() / 400)))


def mixes_layouts(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.repeat(positions[..., None] * speeds(), 2, axis=-1)
    other = np.concatenate([-b, a], axis=-1)
    return x * np.cos(angles) + other * np.sin(angles)


def stretches_the_rest(x, positions):
    made = rope(x, positions, speeds(16))
    made[..., 16:] *= 1.5
    return made


def changes_positions(x, positions):
    made = rope(x, positions)
    positions += 1
    return made


def fails_for_33_rows(x, positions):
    return rope(x, positions) if len(x) < 33 else 1 / 0


def by_neighbors(x, positions):
    return rope(x, positions, layout="interleaved")


def in_another_order(x, positions):
    return rope(np.concatenate([x[..., ::2], x[..., 1::2]], -1), positions)


def in_bfloat16(x, positions):
    return rope(x, positions).astype(ml_dtypes.bfloat16)


OTHERS = [  # a function, what is asked for, what is said
    (turns_each_position_once, {}, "equal positions (rows 0 to 1, tokens 1 t"),
    (remembers, {"max_len": 200}, "as 1, 2, 4, 8, 16, 32 in a call of 7"),
    (writes_row_0, {}, "one token in each of 2 rows (row 1); of one token in"),
    (grows_for_good, {"base": 1e4}, "63 of 64 tokens of the first call are"),
    (
        scales_by_the_call,
        {"base": 1e4},
        "or a larger one differ.",
    ),
    (mixes_layouts, {}, "makes of columns 0 and 16 (0.5403, 0.01) where"),
    (stretches_the_rest, {}, "columns 16 to 31 change, and are in no pair"),
    (changes_positions, {}, "positions are changed in place"),
    (fails_for_33_rows, {}, "of 33 rows of 5 tokens fails: ZeroDivisionError"),
    (by_neighbors, {"layout": "half"}, "interleaved (columns 0 and 1), where"),
    (in_another_order, {"layout": "interleaved"}, "interleaved, written as h"),
    (in_bfloat16, {"dtype": "float32"}, "Results are in bfloat16, not in"),
    (
        lambda x, p: rope(x, p * (token(p) < 20_000)),
        {"max_len": 40_000},
        "of 20011 tokens (tokens 20000 to 20010) differ. Right are all others",
    ),
    (lambda x, p: rope(x, p % 39_999), {"max_len": 40_000}, "39999 as 0 in a"),
    (
        lambda x, p: rope(x, p - (p.shape == (4, 1))),
        {"max_len": 40_000},
        "Calls of one token in each of 4 rows (rows 0 to 3) differ. Right are",
    ),
    (
        lambda x, p: rope(x, np.minimum(p, 299)),
        {"width": 2, "max_len": 750},
        "no others: positions 300 to 749",
    ),
]
WRONG = [
    *[((lambda x, p, q=q: rope(x, q(p))), {}, s) for q, s in POSITIONS],
    *[
        ((lambda x, p, w=w: rope(x, p, w(speeds()))), {}, said)
        for w, said in FREQUENCIES
    ],
    *[((lambda x, p, w=w: rope(x, p, w)), of, said) for w, of, said in ASKED],
    *[(function, {}, said) for function, said in FUNCTIONS],
    *OTHERS,
]


@pytest.mark.parametrize(("rotate", "asked", "said"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_differs_is_measured(rotate, asked, said):
    asked = {"width": WIDTH, "max_len": 3000} | asked
    found = review_rotary(rotate, **asked)
    assert found.findings
    assert said in str(found)


def test_findings_of_different_kinds_are_all_said():
    def rotate(x, positions):
        made = rope(x, np.minimum(positions, 747), speeds() / 2)
        return 1.5 * made[..., ::1]

    found = review_rotary(rotate, WIDTH, base=1e4, max_len=3000)
    assert {"frequencies", "lengths", "tokens", "calls"} <= set(found.findings)
    assert found.values["tokens"]["position"] == 748
    assert found.values["tokens"]["token"] == 728


# Functions that are right in their own ways.

FACTOR = np.float32(1e4 ** (-1 / 64))
PADDED = np.append(speeds()[:8], np.zeros(8))
BUFFER = np.empty(2**23)


def last_columns(x, positions):
    turned = rope(x[..., 24:], positions, speeds(8))
    return np.concatenate([x[..., :24], turned], axis=-1)


def takes_four_tokens_or_more(x, positions):
    assert positions.shape[1] not in (2, 3)
    return rope(x, positions)


def in_float32(x, positions):
    angles = positions[..., None].astype("f4") * speeds().astype("f4")
    return turn_by(x.astype("f4"), angles)


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


def in_place(x, positions):
    x[:] = rope(x, positions)
    return x


def into_its_buffer(x, positions):
    made = BUFFER[: x.size].reshape(x.shape)
    made[:] = rope(x, positions)
    return made


def of(frequencies, layout="half"):
    return lambda x, p: rope(x, p, frequencies, layout)


USUAL, LONG = "half, base 10000", {"max_len": 60_000}
RIGHT = [  # a function, its convention, and what it is held to
    (of(speeds()), USUAL, {}),
    (of(speeds(2)), "interleaved, 1 radians per position", {"width": 2}),
    (of(-speeds()), "half, clockwise, base 10000", {}),
    (of(speeds(base=41_829.3)), "half, base 41829.3", {}),
    (of(speeds(base=10_000.5)), "half, base 10000.5", LONG),
    (of(speeds() / 4), "half, base 10000 and all divided by 4", {}),
    (of(speeds(8)), "half, 8 of 32 columns, with columns 0 and 4, base", {}),
    (of(llama3()), "half, the frequencies asked for", LLAMA),
    (of(speeds(base=5e5), "interleaved"), "interleaved, base", {"base": 5e5}),
    (of(speeds()[:8], "half of the head"), "half, 16 of 32 columns, wi", {}),
    (of(PADDED), "half, 16 of", {"frequencies": PADDED, "layout": "half"}),
    (last_columns, "half, 8 of 32 columns, with columns 24 and 28, base", {}),
    (lambda x, p: YARN_LENGTH * rope(x, p, yarn()), "half, the", YARN | LONG),
    (in_another_order, f"{LAYOUTS[-1]}, base 10000", {}),
    (takes_four_tokens_or_more, USUAL, {}),
    (in_float32, USUAL, LONG),
    (by_recurrence, USUAL, LONG | {"width": 128}),
    (in_bfloat16, USUAL, {}),
    (lambda x, p: of(llama3())(x, p).astype("f2"), "half", LLAMA),
    (all_in_16_bits(ml_dtypes.bfloat16), "half", YARN | LONG),
    (all_in_16_bits(np.float16), "half", YARN | LONG),
    (in_place, USUAL, {}),
    (into_its_buffer, USUAL, {}),
    (lambda x, p: rope(x, p).tolist(), USUAL, {}),
]


@pytest.mark.parametrize(("rotate", "convention", "asked"), RIGHT)
@pytest.mark.filterwarnings("error")
def test_what_is_right_is_not_accused(rotate, convention, asked):
    seen = review_rotary(rotate, **{"width": WIDTH, "max_len": 3000} | asked)
    assert seen.findings == {}
    assert seen.convention.startswith(convention)


@pytest.mark.parametrize(
    ("rotate", "note"),
    [
        (in_bfloat16, "results are in bfloat16."),
        (in_place, "x is changed in place."),
    ],
)
def test_what_is_no_finding_may_be_noted(rotate, note):
    assert review_rotary(rotate, WIDTH, max_len=200).notes == [note]


def test_the_last_line_says_what_was_looked_at():
    seen = str(review_rotary(rope, WIDTH, max_len=3000))
    assert seen.splitlines()[-1] == (
        "Looked at: positions 0 to 2999, calls of 1 to 3000 tokens, batches of"
        " up to 33 rows, alone and again."
    )


def rows_and_columns_of_patches(x, positions):
    made = rope(x, positions // 64, speeds(16))
    return np.concatenate(
        [made[..., :16], rope(x[..., 16:], positions % 64, speeds(16))], -1
    )


LONGROPE = speeds() / (1 + np.sqrt(PAIR) + np.sin(PAIR) / 4)
REFUSED = [
    (of(np.tile(speeds()[::2], 2)), "1, 0.3162, 0.1, 0.03162, 0.01, 0.003162"),
    (of(LONGROPE), "1, 0.2544, 0.1197"),
    (of(llama3()), "1, 0.4404, 0.1939, 0.0854"),
    (scales_by_the_call, "Calls up to position 352 are right"),
    (rows_and_columns_of_patches, "columns 0 to 15 change"),
]


@pytest.mark.parametrize(("rotate", "measured"), REFUSED)
def test_what_may_be_meant_is_refused_with_what_was_measured(rotate, measured):
    with pytest.raises(OutOfReachError, match="not reviewed") as caught:
        review_rotary(rotate, WIDTH, max_len=1500)
    assert measured in str(caught.value)


SENSELESS = [
    ({"width": 3}, "width=3: give an even number"),
    ({"max_len": 9}, "max_len=9: give 64 to"),
    ({"layout": "both"}, "layout=both: give one of ('interleaved'"),
    ({"base": 1}, "base=1: give a number above 1"),
    ({"base": 2, "frequencies": [1]}, "base=2: give a base or frequencies"),
    ({"dtype": "int"}, "dtype=int: give one of ('bfloat16'"),
    ({"frequencies": [0, 1]}, "frequencies=[0, 1]: give a number for each"),
]


@pytest.mark.parametrize(("given", "told"), SENSELESS)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review_rotary(rope, **given)
    assert str(caught.value).startswith(told)
