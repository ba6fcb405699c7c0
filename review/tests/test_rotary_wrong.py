"""Functions that are wrong: each is found, and its cause is named.

A row says the name of the finding, and words that its sentence has to hold.
"""

import ml_dtypes
import numpy as np
import pytest
from posenc_review import OutOfReachError, review_rotary
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

WRONG = []


def wrong(name, *words, **asked):
    """Note a function with what has to be said, and what it is held to."""

    def note(function):
        row = (function, name, words, asked)
        WRONG.append(pytest.param(*row, id=function.__name__))
        return function

    return note


def bfloat16(values):
    return np.asarray(values, float).astype(ml_dtypes.bfloat16).astype(float)


# Positions of a call.


@wrong("positions", "Positions are ignored", "counted from 0")
def ignores_positions(x, positions):
    return rope(x, np.arange(x.shape[1]) + 0 * positions)


@wrong("positions", "counted from the first of their row")
def counts_from_the_first(x, positions):
    return rope(x, positions - positions[:, :1])


@wrong("positions", "first position of a row", "position 9 is turned as 10")
def reads_the_first_position(x, positions):
    return rope(x, positions[:, :1] + np.arange(x.shape[1]))


@wrong("positions", "All rows get the positions of the first")
def reads_the_first_row(x, positions):
    return rope(x, positions[:1] + 0 * positions)


@wrong("positions", "In calls of one token", "positions of the first")
def reads_one_position_for_a_batch_that_decodes(x, positions):
    if x.shape[1] == 1 and len(x) >= 4:
        positions = positions[:1] + 0 * positions
    return rope(x, positions)


@wrong("positions", "In calls of one token", "taken for the next")
def decodes_one_late(x, positions):
    return rope(x, positions + (x.shape[1] == 1))


@wrong("positions", "clipped to the length of the call")
def clips_to_the_call(x, positions):
    return rope(x, np.minimum(positions, x.shape[1] - 1))


@wrong("positions", "Of equal positions in a row only the first")
def turns_each_position_once(x, positions):
    made = np.array(x)
    for row, places in enumerate(positions):
        _, first = np.unique(places, return_index=True)
        made[row, first] = rope(x[row, first], places[first])
    return made


@wrong("tokens", "fill no block of 128")
def forgets_the_end_of_blocks(x, positions):
    made, whole = rope(x, positions), x.shape[1] // 128 * 128
    if whole:
        made[:, whole:] = x[:, whole:]
    return made


@wrong("tokens", "From token 1024 of a call on", max_len=3000)
def forgets_long_calls(x, positions):
    made = rope(x, positions)
    made[:, 1024:] = x[:, 1024:]
    return made


@wrong("positions", "counted from the smallest of the call")
def counts_from_the_smallest(x, positions):
    return rope(x, positions - positions.min())


@wrong("batch", "Rows at the end that fill no block of 4 are not turned")
def forgets_the_end_of_a_batch(x, positions):
    made, whole = rope(x, positions), len(x) // 4 * 4
    if whole:
        made[whole:] = x[whole:]
    return made


@wrong(
    "batch",
    "In calls of 17 rows of 5 tokens: from row 16 on, rows are not turned",
)
def forgets_one_row(x, positions):
    """Elsewhere, the same positions are turned right."""
    made = rope(x, positions)
    if x.shape[:2] == (17, 5):
        made[16] = x[16]
    return made


@wrong("no known cause", "Token 0 of row 9", "17 rows", "turned as position")
def moves_one_row(x, positions):
    moved = np.zeros(positions.shape, int)
    if x.shape[:2] == (17, 5):
        moved[9] = 3
    return rope(x, positions + moved)


@wrong("batch", "From row 16 on", "not turned")
def forgets_rows(x, positions):
    made = rope(x, positions)
    made[16:] = x[16:]
    return made


class Remembers:
    def __init__(self):
        self.positions = {}

    def __call__(self, x, positions):
        return rope(x, self.positions.setdefault(x.shape, positions))


@wrong("state", "earlier call of this shape")
def remembers(x, positions, calls=Remembers()):  # noqa: B008
    return calls(x, positions)


@wrong("state", "asked again after other calls", base=1e4)
def grows_for_good(x, positions, longest=[400]):  # noqa: B006
    longest[0] = max(longest[0], positions.max())
    return rope(x, positions, speeds(base=1e4 * longest[0] / 400))


@wrong("state", "The same call gives another result")
def adds_noise(x, positions, random=np.random.default_rng(0)):  # noqa: B008
    return rope(x, positions) + 0.01 * random.normal(size=x.shape)


@wrong("batch maximum", "as with dynamic scaling", base=1e4)
def scales_by_the_call(x, positions):
    return rope(x, positions, speeds(base=1e4 * max(1, positions.max() / 400)))


# Positions far out, and the first.


@wrong("far positions", "From position 748 on", "position 747: clipped")
def clips(x, positions):
    return rope(x, np.minimum(positions, 747))


@wrong("far positions", "From position 300 on", "wrapped")
def wraps(x, positions):
    return rope(x, positions % 300)


@wrong("far positions", "From position 128 on", "signed integer overflows")
def overflows(x, positions):
    return rope(x, positions.astype(np.int8).astype(int))


@wrong("far positions", "From position 700 on", "each taken for the next")
def is_late_far_out(x, positions):
    return rope(x, positions + (positions >= 700))


@wrong("far positions", "From position 500 on", "the result is zero")
def runs_out(x, positions):
    return rope(x, positions) * (positions < 500)[..., None]


@wrong("far positions", "Position 300 is the first to fail", "IndexError")
def fails(x, positions):
    return turn_by(x, (np.arange(300)[:, None] * speeds())[positions])


@wrong("no known cause", "position 600", "turned as position 41")
def mistakes_one_position(x, positions):
    return rope(x, np.where(positions == 600, 41, positions))


@wrong("position 0", "taken for position 1, and each for the next")
def counts_from_1(x, positions):
    return rope(x, positions + 1)


@wrong("positions", "rounded down to multiples of 8")
def counts_in_steps(x, positions):
    return rope(x, positions // 8 * 8)


# Rounding.


@wrong("precision", "Positions are rounded to bfloat16: position 257")
def rounds_positions(x, positions):
    return rope(x, bfloat16(positions))


@wrong("precision", "Frequencies are rounded to bfloat16")
def rounds_frequencies(x, positions):
    return rope(x, positions, bfloat16(speeds()))


@wrong("precision", "Angles are rounded to float16")
def rounds_angles(x, positions):
    angles = (positions[..., None] * speeds()).astype(np.float16)
    return turn_by(x, angles.astype(float))


# Frequencies.


@wrong("frequencies", "a minus is missing in the exponent")
def turns_ever_faster(x, positions):
    return rope(x, positions, 1 / speeds())


@wrong("frequencies", "degrees are taken for radians")
def takes_degrees(x, positions):
    return rope(x, positions, np.rad2deg(speeds()))


@wrong("frequencies", "run backwards")
def turns_backwards(x, positions):
    return rope(x, positions, speeds()[::-1])


@wrong("base", "base is 10000, where 500000", base=5e5)
def has_the_default_base(x, positions):
    return rope(x, positions)


@wrong("base", "a doubled exponent", base=1e4)
def doubles_exponents(x, positions):
    return rope(x, positions, speeds() ** 2)


@wrong("frequencies", "pair 5", "0.5 radians")
def has_an_odd_pair(x, positions):
    return rope(x, positions, np.where(PAIR == 5, 0.5, speeds()))


@wrong("pair", "but columns 15, 31: was the last pair forgotten?")
def forgets_the_last_pair(x, positions):
    return rope(x, positions, np.where(PAIR == 15, 0, speeds()))


@wrong("pair", "Pair 0 (columns 0, 16) should turn")
def forgets_pair_0(x, positions):
    return rope(x, positions, np.where(PAIR == 0, 0, speeds()))


# The rotation, its lengths, and the columns of pairs.


def by_parts(x, positions):
    angles = positions[..., None] * speeds()
    return *np.split(x, 2, axis=-1), np.cos(angles), np.sin(angles)


@wrong("rotation", "a minus too many, in the second column")
def negates_a_sine(x, positions):
    a, b, c, s = by_parts(x, positions)
    return np.concatenate([a * c - b * s, b * c - a * s], axis=-1)


@wrong("rotation", "already overwritten")
def overwrites_too_early(x, positions):
    a, b, c, s = by_parts(x, positions)
    a = a * c - b * s
    return np.concatenate([a, b * c + a * s], axis=-1)


@wrong("rotation", "Columns only change their size")
def forgets_the_sines(x, positions):
    a, b, c, _ = by_parts(x, positions)
    return np.concatenate([a * c, b * c], axis=-1)


@wrong("layout", "the angles of interleaved columns")
def mixes_layouts(x, positions):
    a, b, _, _ = by_parts(x, positions)
    angles = np.repeat(positions[..., None] * speeds(), 2, axis=-1)
    other = np.concatenate([-b, a], axis=-1)
    return x * np.cos(angles) + other * np.sin(angles)


@wrong("positions", "the sines are those of the next position")
def takes_the_next_sines(x, positions):
    a, b, c, _ = by_parts(x, positions)
    s = by_parts(x, positions + 1)[-1]
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


@wrong("lengths", "Lengths change by 0.125")
def divides_by_8(x, positions):
    return rope(x, positions) / 8


@wrong("rest", "Columns 16 to 31 should stay as they are, but change")
def stretches_the_rest(x, positions):
    made = rope(x, positions, speeds(16))
    made[..., 16:] *= 1.5
    return made


@wrong("layout", "interleaved (columns 0 and 1), where half", layout="half")
def has_another_layout(x, positions):
    return rope(x, positions, layout="interleaved")


@wrong("positions", "Positions are ignored: all are turned by the same")
def takes_heads_for_positions(x, positions):
    return rope(x, 0 * positions + 1)


@wrong("input", "positions are changed in place")
def changes_positions(x, positions):
    made = rope(x, positions)
    positions += 1
    return made


@wrong("result", "shape is (1, 1, 5, 32), not (1, 5, 32)")
def adds_an_axis(x, positions):
    return rope(x, positions)[:, None]


# Settings of a config.


@wrong("lengths", "do not change, where 1.1386", config=YARN_CONFIG)
def does_not_stretch(x, positions):
    return rope(x, positions, yarn())


@wrong("lengths", "only the cosines", config=YARN_CONFIG)
def stretches_only_cosines(x, positions):
    angles = positions[..., None] * yarn()
    a, b = np.split(x, 2, axis=-1)
    c, s = YARN_LENGTH * np.cos(angles), np.sin(angles)
    return np.concatenate([a * c - b * s, b * c + a * s], axis=-1)


@wrong("lengths", "1.2965", "its square", config=YARN_CONFIG)
def stretches_twice(x, positions):
    return YARN_LENGTH**2 * rope(x, positions, yarn())


@wrong("scaling", "factor 32.0, where", "asks for 8.0", config=LLAMA_CONFIG)
def has_another_factor(x, positions):
    return rope(x, positions, llama3(factor=32))


@wrong("scaling", "rope_type default, where", config=LLAMA_CONFIG)
def does_not_scale(x, positions):
    return rope(x, positions, speeds(base=5e5))


@wrong("scaling", "rope_theta 10000.0, where", config=LLAMA_CONFIG)
def does_not_read_the_base(x, positions):
    return rope(x, positions, llama3(base=1e4))


@wrong("direction", "clockwise", config=config(rope_theta=1e4))
def turns_clockwise(x, positions):
    return rope(x, -positions)


@wrong("columns", "32 columns turn", config=config(partial_rotary_factor=0.5))
def turns_all_columns(x, positions):
    return rope(x, positions)


@wrong(
    "scaling",
    "count the columns of the head",
    config=config(partial_rotary_factor=0.5),
)
def counts_columns_of_the_head(x, positions):
    return rope(x, positions, speeds()[:8])


TWO_SETS = config(
    rope_parameters={
        "full_attention": {"rope_theta": 1e6},
        "sliding_attention": {"rope_theta": 2e4},
    }
)


@wrong("scaling", "sliding", config=TWO_SETS, layers="full_attention")
def takes_other_layers(x, positions):
    return rope(x, positions, speeds(base=2e4))


@pytest.mark.parametrize(("rotate", "name", "words", "asked"), WRONG)
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_named(rotate, name, words, asked):
    width = None if "config" in asked else WIDTH
    found = review_rotary(rotate, width, **{"max_len": 1500} | asked).findings
    assert list(found) == [name]
    for some in words:
        assert some in found[name]


def test_two_changes_are_named_if_one_shows_at_the_first_positions():
    def rotate(x, positions):
        return rope(x, np.minimum(positions, 299), speeds() ** 2)

    found = review_rotary(rotate, WIDTH, base=1e4, max_len=750).findings
    assert list(found) == ["base", "far positions"]


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


@pytest.mark.parametrize("rotate", [two_axes, longrope, scales_by_the_call])
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
]


@pytest.mark.parametrize(("given", "told"), SENSELESS)
def test_arguments_that_make_no_sense_are_named(given, told):
    with pytest.raises((TypeError, ValueError)) as caught:
        review_rotary(rope, **given)
    assert str(caught.value).startswith(told)
    with pytest.raises(ValueError, match="rotate=3: give a function"):
        review_rotary(3)
