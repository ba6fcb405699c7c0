"""Notebook 16: its claims on more seeds and widths, and its exercises."""

import numpy as np
import pytest
from conftest import assert_replies, cells_of, run_cells

from posenc_helpers import rotate

NAME = "16_review"


def of_vectors(names, seed, width):
    """The four checks, with other vectors."""
    vectors = np.random.default_rng(seed).normal(size=(2, 2, 6, width))
    given = names | {"QUERIES": vectors[0], "KEYS": vectors[1]}
    run_cells(NAME, "checks", **given)
    cells = {cell.id: cell.source for cell in cells_of(NAME)}
    start = cells["trial"].index("def near")
    exec(cells["trial"][start:], given)
    for cell in ("checks", "reveal-checks", "crossing", "score-errors"):
        exec(cells[cell], given)
    return given


@pytest.mark.parametrize("width", [8, 16, 64, 128])
@pytest.mark.parametrize("seed", range(2))
def test_which_functions_pass_all_four_checks(names, width, seed):
    given = of_vectors(names, seed, width)
    functions = [rotate, *names["SUSPECTS"], *names["ROUNDED"]]
    functions += [names["in_blocks"], names["forgets"]]
    passed = {f.__name__ for f in functions if not given["failed"](f)}
    assert passed == {
        "rotate",
        "clockwise",
        "other_base",
        "rounded_frequencies",
        "in_blocks",
        "forgets",
    }
    assert given["far_positions"](names["starts_over"])  # round shifts


@pytest.mark.parametrize("seed", range(2))
def test_rounded_frequencies_are_equally_wrong_everywhere(names, seed):
    error = of_vectors(names, seed, 16)["score_error"]
    places, frequencies = names["ROUNDED"]
    for far in (1000, 60_000):
        near = error(frequencies, 3, 0)
        assert error(frequencies, far + 3, far) == pytest.approx(
            near, abs=1e-6
        )
        assert error(frequencies, far, 0) > 10 * near > 1e-3
    assert error(places, 203, 200) < 1e-10 < 0.5 < error(places, 303, 300)


def test_angles_in_float32_pass_all_checks(names):
    """They are a little off at large positions, but by less than 0.05."""

    def in_float32(x, positions):
        frequencies = names["angular_frequencies"](x.shape[-1])
        angles = np.float32(positions)[..., None] * np.float32(frequencies)
        pairs = x[..., ::2] + 1j * x[..., 1::2]
        turned = pairs * np.exp(1j * angles.astype(float))
        return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)

    far = names["PLACES"] + 131_072
    x = names["QUERIES"]
    off = np.abs(in_float32(x, far) - rotate(x, far)).max()
    assert 1e-4 < off < 0.05
    assert names["far_positions"](in_float32)
    assert not names["failed"](in_float32)


def one_row(x, p):
    """Each row at the positions of the first, whatever the call."""
    return rotate(x, p[:1] + 0 * p)


def decodes(x, p):
    return rotate(x, np.where(x.shape[1] == 1, p[0, 0], p))


def all_but_decoding(x, p):
    """The condition the wrong way round: one token in a row is right."""
    return rotate(x, p if x.shape[1] == 1 else p[:1] + 0 * p)


def half_exponents(width, base):
    return np.exp(-np.arange(width // 2) * np.log(base) / width)


def at(place):
    """Exercise 1: compare with the right function at some position."""

    def ask(function):
        x = np.random.default_rng(0).normal(size=(1, 1, 16))
        places = np.array([[place]])
        return np.allclose(function(x, places), rotate(x, places), atol=0.05)

    return ask


REPLIES = [
    (1, at(60_001), "Correct."),
    (1, at(3), "rounded_frequencies passes. At which p"),
    (1, at(2047), "Do your positions go beyond 2047?"),
    (1, at(65_536), "Does bfloat16 hold"),
    (2, rotate, ("The review finds nothing", "How many tokens has a row")),
    (2, lambda x, p: rotate(x, p + 1), "Our four checks"),
    (2, one_row, "rows of 5 tokens"),
    (2, all_but_decoding, "In yours, rows of 5 tokens"),
    (2, lambda x, p: x if len(x) > 16 else rotate(x, p), "Review your fu"),
    (2, decodes, "Correct."),
    (3, half_exponents, "Correct."),
    (3, lambda width, base: half_exponents(width, base) ** 2, "the usual"),
    (3, lambda width, base: half_exponents(width, 1e4), "yours at 500_000?"),
    (3, lambda width, base: half_exponents(16, base), "but not at 32"),
    (3, lambda width, base: half_exponents(width, base)[:3], "8 frequencies"),
    (3, lambda width, base: 1 / half_exponents(width, base), "100 and 707.1"),
    (3, lambda width, base: None, "Nothing was returned"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(names, number, answer, reply):
    assert_replies(names[f"check_{number}"], [answer], reply)


def test_exercise_1_wants_vectors(names):
    scores, near = names["scores"], names["near"]

    def of_scores(function):
        return near(scores(function, 60_001), scores(rotate, 60_001))

    def like_a_check(function):
        return names["offset_alone"](function, (3000, 100_000))

    reply = "Do you compare vectors", "Compare what function and rotate return"
    assert_replies(names["check_1"], [of_scores, like_a_check], reply)
