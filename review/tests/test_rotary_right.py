"""Functions that are right in their own ways: none of them is accused."""

import ml_dtypes
import numpy as np
import pytest
from posenc_review import review_rotary
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

HALF, NEIGHBORS, HEAD = "half", "interleaved", "half of the head"
PROPORTIONAL = {"rope_type": "proportional", "partial_rotary_factor": 0.5}
# A convention, the frequencies, the layout, and what it is held to.
CONVENTIONS = [
    ("half, base 10000", speeds(), HALF, {}),
    ("interleaved or half", speeds(2), HALF, {"width": 2}),
    ("interleaved or half, 0.25", speeds(2) / 4, HALF, {"width": 2}),
    ("half, clockwise, base 10000", -speeds(), HALF, {}),
    ("half, base 41829.3", speeds(base=41_829.3), HALF, {}),
    ("half, base 10000, linear by 4", speeds() / 4, HALF, {}),
    ("half of the part, 8 of 32 columns, base 10000", speeds(8), HALF, {}),
    ("half, base 500000, llama3", llama3(), HALF, {"config": LLAMA_CONFIG}),
    (
        "interleaved, base 500000",
        speeds(base=5e5),
        NEIGHBORS,
        {"base": 5e5, "layout": "interleaved"},
    ),
    (
        "half of the head, 16 of 32 columns, base 10000, proportional by 1",
        speeds()[:8],
        HEAD,
        {"config": config(rope_parameters=PROPORTIONAL), "width": WIDTH},
    ),
]


def assert_right(rotate, convention, **asked):
    width = None if "config" in asked else WIDTH
    asked = {"width": width, "max_len": 3000} | asked
    found = review_rotary(rotate, **asked)
    assert found.findings == {}
    assert found.convention.startswith(convention)


@pytest.mark.parametrize(
    ("convention", "frequencies", "layout", "asked"), CONVENTIONS
)
def test_conventions_are_no_bugs(convention, frequencies, layout, asked):
    def rotate(x, positions):
        return rope(x, positions, frequencies, layout)

    assert_right(rotate, convention, **asked)


PADDED = np.append(speeds()[:8], np.zeros(8))
FACTOR = np.float32(1e4 ** (-1 / 64))


def last_columns(x, positions):
    turned = rope(x[..., 24:], positions, speeds(8))
    return np.concatenate([x[..., :24], turned], axis=-1)


def scaled_as_yarn(x, positions):
    return YARN_LENGTH * rope(x, positions, yarn())


def in_another_order(x, positions):
    return rope(np.concatenate([x[..., ::2], x[..., 1::2]], -1), positions)


def any_frequencies(x, positions):
    return 1.5 * rope(x, positions, np.linspace(1, 0.01, 16))


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


def in_bfloat16(x, positions):
    return rope(x, positions).astype(ml_dtypes.bfloat16)


def in_float16(x, positions):
    return rope(x, positions, llama3()).astype(np.float16)


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


USUAL, LONG = "half, base 10000", {"max_len": 60_000}
YARN = {"config": YARN_CONFIG, "max_len": 20_000}
ANY = {"frequencies": np.linspace(1, 0.01, 16), "length": 1.5}
WRITTEN = "interleaved, written as half"
RIGHT = [  # a function, its convention, and what it is held to
    (
        last_columns,
        "half of the part, 8 of 32 columns, from column 24, base 10000",
        {},
    ),
    (scaled_as_yarn, f"{USUAL}, yarn by 4, lengths by 1.1386", YARN),
    (in_another_order, f"{WRITTEN}, base 10000", {"layout": WRITTEN}),
    (any_frequencies, "half, as asked for", ANY),
    (
        lambda x, p: rope(x, p, PADDED),
        "half of the head, 16 of 32 columns",
        {"frequencies": PADDED, "width": None},
    ),
    (takes_four_tokens_or_more, USUAL, {}),
    (in_float32, USUAL, LONG),
    (by_recurrence, USUAL, LONG | {"width": 128}),
    (in_bfloat16, USUAL, {}),
    (in_float16, "half, base 500000, llama3 by 8", {"config": LLAMA_CONFIG}),
    (all_in_16_bits(ml_dtypes.bfloat16), f"{USUAL}, yarn by 4", YARN),
    (all_in_16_bits(np.float16), f"{USUAL}, yarn by 4", YARN),
    (in_place, USUAL, {}),
    (lambda x, p: rope(x, p).tolist(), USUAL, {}),
]


@pytest.mark.parametrize(("rotate", "convention", "asked"), RIGHT)
def test_right_functions_are_not_accused(rotate, convention, asked):
    assert_right(rotate, convention, **asked)


def test_what_is_short_or_in_place_is_noted():
    for rotate, words in (
        (in_bfloat16, "results are in bfloat16: errors below 0.012"),
        (in_place, "x is changed in place"),
    ):
        (note,) = review_rotary(rotate, WIDTH, max_len=200).notes
        assert note.startswith(words)
    asked = {"max_len": 200, "dtype": "float32"}
    found = review_rotary(in_bfloat16, WIDTH, **asked).findings
    assert list(found) == ["precision"]
    assert review_rotary(rope, WIDTH, **asked).findings == {}


def test_a_small_base_suggests_a_forgotten_factor():
    def rotate(x, positions):
        return rope(x, positions, 1e4 ** (-PAIR / 32))

    seen = review_rotary(rotate, WIDTH, max_len=200)
    assert (seen.findings, seen.convention) == ({}, "half, base 100")
    (note,) = seen.notes
    assert note.startswith("base 100 suggests a missing factor 2")


def test_the_last_line_says_what_was_looked_at():
    seen = str(review_rotary(rope, WIDTH, max_len=3000))
    assert seen.splitlines()[-1] == (
        "Looked at: positions 0 to 2999, calls of 1 to 3000 tokens, batches of"
        " up to 33 rows, alone and again."
    )
