"""Functions that are wrong: each is found, and its cause is named.

A row says the name of the finding, and words that its sentence has to hold.
"""

import ml_dtypes
import numpy as np
import pytest
from posenc_review import LAYOUTS, OutOfReachError, review_rotary
from rope import (
    LLAMA_CONFIG,
    PAIR,
    WIDTH,
    YARN_CONFIG,
    YARN_LENGTH,
    config,
    llama3,
    rope,
    speeds,
    turn_by,
    yarn,
)


def bfloat16(values):
    return np.asarray(values, float).astype(ml_dtypes.bfloat16).astype(float)


def short(values):
    return values.astype(np.float16).astype(float)


def assert_named(rotate, name, words, **asked):
    width = None if "config" in asked else WIDTH
    found = review_rotary(rotate, width, **{"max_len": 1500} | asked).findings
    assert list(found) == [name]
    assert words in found[name]


def rows(p):
    return np.arange(len(p))[:, None]


def tokens(p):
    return np.arange(p.shape[1])


def whole(length, block):
    """The part of a length that fills blocks, or all of a shorter one."""
    return length // block * block or length


def before(p, count):
    """From a token on, the positions of so many tokens before."""
    return np.where(tokens(p) < count, p, np.roll(p, count, axis=1))


# What positions `p` of a call, [rows, tokens], are taken for; by the names of
# findings, with what is said.
POSITIONS = {
    "positions": [
        ("tokens are counted from 0", lambda p: tokens(p) + 0 * p),
        ("the first of their row", lambda p: p - p[:, :1]),
        ("smallest of the call", lambda p: p - p.min()),
        ("first position of a row", lambda p: p[:, :1] + tokens(p)),
        ("to the length", lambda p: np.minimum(p, p.shape[1] - 1)),
        ("down to multiples of 8", lambda p: p // 8 * 8),
        ("all tokens are turned by the same", lambda p: 0 * p + 1),
        (
            "moved by the tokens of all rows",
            lambda p: p + rows(p) * p.shape[1],
        ),
        ("one token: each", lambda p: p + (p.shape[1] == 1)),
        ("2 rows or more: each", lambda p: p + (p.shape[1] == 1 < len(p))),
        (
            "one more than the one before, or larger",
            lambda p: np.maximum.accumulate(p - tokens(p), 1) + tokens(p),
        ),
    ],
    "position 0": [
        ("position 1, and each for the next", lambda p: p + 1),
        ("position 3: all are moved by 3", lambda p: p + 3),
    ],
    "far positions": [
        ("From position 748 on", lambda p: np.minimum(p, 747)),
        ("From position 300 on, positions are counted", lambda p: p % 300),
        ("128 on, positions are taken for neg", lambda p: p.astype("i1")),
        ("are each taken for the next", lambda p: p + (p >= 700)),
        ("600 is taken for position 0", lambda p: np.where(p == 600, 0, p)),
    ],
    "no known cause": [
        ("turned as position 41", lambda p: np.where(p == 600, 41, p)),
        (
            "Token 0 of row 9",
            lambda p: p + 3 * (rows(p) == 9) * (p.shape == (17, 5)),
        ),
    ],
    "batch": [
        ("All rows get the positions of the first", lambda p: p[:1] + 0 * p),
        ("From row 16 on, rows are not", lambda p: p * (rows(p) < 16)),
        ("block of 4", lambda p: p * (rows(p) < whole(len(p), 4))),
        (
            "In calls of 17 rows of 5 tokens: from row 16 on, rows are not",
            lambda p: p * ((rows(p) < 16) | (p.shape != (17, 5))),
        ),
    ],
    "tokens": [
        (
            "fill no block of 128",
            lambda p: p * (tokens(p) < whole(p.shape[1], 128)),
        ),
        ("From token 1024 on, tokens", lambda p: p * (tokens(p) < 1024)),
        ("positions of tokens are read backwards", lambda p: p[:, ::-1]),
        ("the positions of 64 before", lambda p: before(p, 64)),
    ],
    "precision": [
        ("Positions are rounded to bfloat16: position 257", bfloat16),
    ],
}


def flat(groups):
    return [(group, *row) for group, rows in groups.items() for row in rows]


@pytest.mark.parametrize(("name", "words", "taken_for"), flat(POSITIONS))
@pytest.mark.filterwarnings("error")
def test_what_positions_are_taken_for(name, words, taken_for):
    def rotate(x, positions):
        return rope(x, taken_for(positions))

    assert_named(rotate, name, words, max_len=3000)


# What frequencies `w` become.
FREQUENCIES = {
    "frequencies": [
        ("a minus is missing in the exponent", lambda w: 1 / w),
        ("degrees are taken for radians", np.rad2deg),
        ("run backwards", lambda w: w[::-1]),
        ("pair 5 turns by 0.5", lambda w: np.where(PAIR == 5, 0.5, w)),
        ("pairs 1, 3", lambda w: np.where(PAIR % 2, bfloat16(w), w)),
    ],
    "pair": [
        ("Pair 0 (columns 0, 16)", lambda w: np.where(PAIR == 0, 0, w)),
        ("Pair 11 (columns 11, 23)", lambda w: w[:12] * (PAIR[:12] < 11)),
        ("last pair forgotten?", lambda w: np.where(PAIR == 15, 0, w)),
        ("Only columns 0 and 16", lambda w: np.where(PAIR == 0, w, 0)),
    ],
    "precision": [("Frequencies are rounded to bfloat16", bfloat16)],
    "direction": [
        (
            "Pair 5: turned counterclockwise, where it should be clockwise",
            lambda w: np.where(PAIR == 5, w, -w),
        ),
    ],
}


@pytest.mark.parametrize(("name", "words", "become"), flat(FREQUENCIES))
@pytest.mark.filterwarnings("error")
def test_what_frequencies_become(name, words, become):
    def rotate(x, positions):
        return rope(x, positions, become(speeds()))

    assert_named(rotate, name, words)


PART = {"config": config(partial_rotary_factor=0.5)}
LLAMA, YARN = {"config": LLAMA_CONFIG}, {"config": YARN_CONFIG}
FULL = {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0}
SETS = {"full": FULL, "sliding": {"rope_theta": 1e4}}
TWO_SETS = {"config": config(rope_parameters=SETS), "layers": "full"}
# What is asked for, and frequencies that are others.
ASKED = [
    ({"base": 5e5}, "base", "base is 10000, where 500000", speeds()),
    ({"base": 1e4}, "base", "a doubled exponent", speeds() ** 2),
    (LLAMA, "scaling", "rope_type default, where", speeds(base=5e5)),
    (
        LLAMA,
        "scaling",
        "32.0, where the config asks for 8.0",
        llama3(factor=32),
    ),
    (LLAMA, "scaling", "rope_theta 10000.0, where", llama3(base=1e4)),
    (LLAMA, "direction", "clockwise", -llama3()),
    (YARN, "lengths", "do not change, where 1.1386", yarn()),
    (PART, "columns", "32 columns turn", speeds()),
    (PART, "scaling", "count the columns of the head", speeds()[:8]),
    (TWO_SETS, "scaling", "other layers, sliding", speeds()),
]


@pytest.mark.parametrize(("asked", "name", "words", "frequencies"), ASKED)
@pytest.mark.filterwarnings("error")
def test_other_frequencies_than_those_asked_for(
    asked, name, words, frequencies
):
    def rotate(x, positions):
        return rope(x, positions, frequencies)

    assert_named(rotate, name, words, **asked)


# What a pair `a, b` becomes by its cosine and sine, as halves of the head.
FORMS = {
    "the second column has a wrong sign": lambda a, b, c, s: (
        a * c - b * s,
        b * c - a * s,
    ),
    "only change their size": lambda a, b, c, s: (a * c, b * c),
    "already overwritten": lambda a, b, c, s: (
        a * c - b * s,
        b * c + (a * c - b * s) * s,
    ),
    "Pair 3: both columns are negated": lambda a, b, c, s: (
        np.where(PAIR == 3, -1, 1) * (a * c - b * s),
        np.where(PAIR == 3, -1, 1) * (b * c + a * s),
    ),
}


def by_parts(x, positions, frequencies):
    angles = positions[..., None] * frequencies
    return *np.split(x, 2, axis=-1), np.cos(angles), np.sin(angles)


@pytest.mark.parametrize(("words", "form"), FORMS.items())
def test_what_becomes_of_a_pair(words, form):
    def rotate(x, positions):
        made = form(*by_parts(x, positions, speeds()))
        return np.concatenate(made, axis=-1)

    assert_named(rotate, "rotation", words)


# Other functions of one line, by the names of findings.
NOISE, TO_300 = np.random.default_rng(0), np.outer(np.arange(300), speeds())
LINES = {
    "far positions": {
        "From position 500 on, the result is zero": (
            lambda x, p: rope(x, p) * (p < 500)[..., None]
        ),
        "From position 500 on, the result is NaN": (
            lambda x, p: rope(x, np.where(p < 500, p, np.nan))
        ),
        "300 is the first to fail: IndexError": (
            lambda x, p: turn_by(x, TO_300[p])
        ),
    },
    "no known cause": {
        "(position 54) in a call of positions 0 to 63 is wrong": (
            lambda x, p: turn_by(x, p[..., None] * speeds() % 6.2832)
        ),
        "it is off by": lambda x, p: rope(x, p) * 1.001 ** p[..., None],
        "(position 600) in a call of 1025 tokens is wrong: it is left": (
            lambda x, p: rope(x, np.where(tokens(p) == 580, p % 600, p))
        ),
    },
    "precision": {
        "Angles are rounded to float16": (
            lambda x, p: turn_by(x, short(p[..., None] * speeds()))
        ),
    },
    "position 0": {
        "At position 0, the result is NaN": (
            lambda x, p: rope(x, np.where(p, p, np.nan))
        ),
        "they are read interleaved and written as halves": (
            lambda x, p: rope(np.c_["2", x[..., ::2], x[..., 1::2]], p)
        ),
    },
    "state": {
        "The same call gives another result": (
            lambda x, p: rope(x, p) + 0.01 * NOISE.normal(size=x.shape)
        ),
    },
    "result": {
        "shape is (1, 1, 5, 32), not": lambda x, p: rope(x, p)[:, None],
        "A call of positions 0 to 63 fails: the result's shape is": (
            lambda x, p: rope(x, p)[:, :32]
        ),
    },
    "lengths": {
        "Lengths change by 0.125": lambda x, p: rope(x, p) / 8,
        "by 1.1 to 1.3 in pairs 3, 7": (
            lambda x, p: (
                rope(x, p)
                * np.tile(1 + (PAIR == 3) / 10 + 0.3 * (PAIR == 7), 2)
            )
        ),
    },
}


@pytest.mark.parametrize(
    ("name", "words", "rotate"),
    [(name, *row) for name in LINES for row in LINES[name].items()],
)
@pytest.mark.filterwarnings("error")
def test_functions_of_one_line(name, words, rotate):
    assert_named(rotate, name, words)


# All others, function by function.

WRONG = []


def wrong(name, words, **asked):
    """Note a function with what has to be said, and what it is held to."""

    def note(function):
        row = (function, name, words, asked)
        WRONG.append(pytest.param(*row, id=function.__name__))
        return function

    return note


@wrong("positions", "Of equal positions in a row only the first")
def turns_each_position_once(x, positions):
    made = np.array(x)
    for row, places in enumerate(positions):
        _, first = np.unique(places, return_index=True)
        made[row, first] = rope(x[row, first], places[first])
    return made


@wrong("state", "earlier call of this shape", max_len=200)
def remembers(x, positions, earlier={}):  # noqa: B006
    return rope(x, earlier.setdefault(x.shape, positions))


@wrong(
    "batch", "In calls of one token in each of 2 rows or more: from row 1 on"
)
def writes_row_0(x, positions):
    made = rope(x, positions)
    made[1:] *= x.shape[1] > 1
    return made


@wrong("state", "asked again after other calls", base=1e4)
def grows_for_good(x, positions, longest=[400]):  # noqa: B006
    longest[0] = max(longest[0], positions.max())
    return rope(x, positions, speeds(base=1e4 * longest[0] / 400))


@wrong("state", "when the function is called again")
def writes_into_one_array(x, positions, made=np.empty(2**16)):  # noqa: B008
    made = made[: x.size].reshape(x.shape)
    made[:] = rope(x, positions)
    return made


@wrong("batch maximum", "as with dynamic scaling", base=1e4)
def scales_by_the_call(x, positions):
    return rope(x, positions, speeds(base=1e4 * max(1, positions.max() / 400)))


@wrong("layout", "angles: they have those of interleaved columns")
def mixes_layouts(x, positions):
    a, b = np.split(x, 2, axis=-1)
    angles = np.repeat(positions[..., None] * speeds(), 2, axis=-1)
    other = np.concatenate([-b, a], axis=-1)
    return x * np.cos(angles) + other * np.sin(angles)


@wrong("rest", "Columns 16 to 31 should stay as they are, but change")
def stretches_the_rest(x, positions):
    made = rope(x, positions, speeds(16))
    made[..., 16:] *= 1.5
    return made


@wrong("input", "positions are changed in place")
def changes_positions(x, positions):
    made = rope(x, positions)
    positions += 1
    return made


@wrong("lengths", "only the cosines", config=YARN_CONFIG)
def stretches_only_cosines(x, positions):
    a, b, c, s = by_parts(x, positions, yarn())
    c = YARN_LENGTH * c
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


@wrong("position 0", "not written as halves", layout=LAYOUTS[-1])
@wrong("layout", "interleaved (columns 0 and 1), where half", layout="half")
def has_another_layout(x, positions):
    return rope(x, positions, layout="interleaved")


@wrong("lengths", "is asked for: its square", config=YARN_CONFIG)
def stretches_twice(x, positions):
    return YARN_LENGTH**2 * rope(x, positions, yarn())


@pytest.mark.parametrize(("rotate", "name", "words", "asked"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_named(rotate, name, words, asked):
    assert_named(rotate, name, words, **asked)


def test_one_pair_has_no_other_pairs():
    def clipped(x, positions):
        return rope(x, np.minimum(positions, 299))

    found = review_rotary(clipped, 2, max_len=750).findings
    assert "taken for position 299" in found["far positions"]


FAR = [
    ("positions", "In calls of one token: pos", lambda p, t: p * (len(t) > 1)),
    ("far positions", "39999 is taken for position 0", lambda p, t: p % 39999),
    ("tokens", "From token 20000 on", lambda p, t: p * (t < 20_000)),
    (
        "positions",
        "of one token in each of 4 rows:",
        lambda p, t: p - only_4(p),
    ),
]


def only_4(p):
    return p.shape == (4, 1)


@pytest.mark.parametrize(("name", "words", "taken_for"), FAR)
def test_far_positions_and_long_calls_are_made(name, words, taken_for):
    def rotate(x, positions):
        return rope(x, taken_for(positions, tokens(positions)))

    assert_named(rotate, name, words, max_len=40_000)


def test_length_and_scaling_are_two_findings():
    def rotate(x, positions):
        return rope(x, positions)

    found = review_rotary(rotate, config=YARN_CONFIG, max_len=750).findings
    assert list(found) == ["lengths", "scaling"]


def two_axes(x, positions):
    return rope(x, positions, np.tile(speeds()[::2], 2))


def longrope(x, positions):
    factors = 1 + np.sqrt(PAIR) + np.sin(PAIR) / 4
    return 1.19 * rope(x, positions, speeds() / factors)


def llama3_without_its_config(x, positions):
    return rope(x, positions, llama3())


def rows_and_columns_of_patches(x, positions):
    made = rope(x, positions // 64, speeds(16))
    return np.concatenate(
        [made[..., :16], rope(x[..., 16:], positions % 64, speeds(16))], -1
    )


OUT_OF_REACH = [two_axes, longrope, scales_by_the_call]
OUT_OF_REACH += [llama3_without_its_config, rows_and_columns_of_patches]


@pytest.mark.parametrize("rotate", OUT_OF_REACH)
def test_what_is_out_of_reach_is_refused_and_not_accused(rotate):
    with pytest.raises(OutOfReachError, match="not reviewed"):
        review_rotary(rotate, WIDTH, max_len=1500)


SENSELESS = [
    ({"width": 3}, "width=3: give an even number"),
    ({"max_len": 9}, "max_len=9: give an integer from 64 to"),
    ({"tolerance": -1}, "tolerance=-1: give a number above 0"),
    ({"layout": "both"}, "layout='both': give one of interleaved"),
    ({"base": 1}, "base=1: give a number above 1"),
    ({"layers": "full"}, "layers='full': these are layers of a config"),
    ({"base": 2, "config": {}}, "base and config: give only one"),
    ({"dtype": "int"}, "dtype='int': give one of bfloat16"),
    ({"frequencies": [0, 1]}, "frequencies=[0, 1]: give no 0 but at the"),
    ({"frequencies": [1, 1], "width": 2}, "frequencies=[1, 1]: give no 0"),
]


@pytest.mark.parametrize(("given", "told"), SENSELESS)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review_rotary(rope, **given)
    assert str(caught.value).startswith(told)
    with pytest.raises(ValueError, match="rotate=3: give a function"):
        review_rotary(3)
