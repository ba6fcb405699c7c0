"""Notebook 10: its builders and its exercises."""

import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc_helpers import angular_frequencies

NAME = "10_fast_tables"


def test_a_chain_is_as_accurate_as_digits_and_starts_nowhere_else():
    """At another width."""
    other = {"d_model": 64, "frequencies": angular_frequencies(64)}
    names = run_cells(NAME, "setup") | other
    names = run_cells(NAME, "turns-at", "accuracy", "chains", **names)
    for block in (77, 4_321):
        exact = names["exact_turns"](32 * block)
        by_chain, by_digits = (
            np.abs(names[route](block) - exact)
            for route in ("chain", "product")
        )
        assert by_chain.max() < 2 * by_digits.max() < 1e-9
        late = names["chain"](block, first=block // 2)
        assert np.mean(late != names["chain"](block)) > 0.9


def moved(rows, offset, sign=-1):
    angles = offset * 10_000 ** (-np.arange(32) / 32)
    return (rows.view(complex) * np.exp(sign * 1j * angles)).view(float)


def from_turns(position, turns, order=reversed, factor=1j):
    digits = enumerate(order(str(position)))
    points = [turns(int(digit), place) for place, digit in digits]
    return (factor * np.prod(points, axis=0)).view(float)


def i_in_the_loop(position, turns):
    return from_turns(position, lambda *digit: 1j * turns(*digit), factor=1)


REPLIES = [
    (1, [16, 16, 16, 16, 16], "Correct."),
    (1, (10, 20, 10, 30, 17), "Correct."),
    (1, [16, 16, 16, 16, 15], ("How many positions", "five equal sizes")),
    (1, [2] * 20, "more than five"),
    (1, [32, 32, 32, 32], ("rows of sines do", "make them smaller")),
    (1, [100.5, -0.5], "Each size is a whole number"),
    (2, moved, "Correct."),
    (2, lambda rows, k: moved(rows, k, 1), "Those rows lie in the other"),
    (2, lambda rows, k: moved(rows, abs(k)), "Hint: Right, but"),
    (2, lambda rows, k: moved(rows, k).view(complex).real, "Half is lost"),
    (3, from_turns, "Correct."),
    (3, lambda p, turns: from_turns(p, turns, iter), "Hint: Which"),
    (3, lambda p, t: from_turns(10 * p, t), "Hint: The ones are at place 0"),
    (3, lambda p, t: from_turns(p % 10_000, t), "Hint: Wrong for"),
    (3, lambda p, t: from_turns(p, t).view(complex), "Hint: That is"),
    (3, lambda p, t: from_turns(p, t, factor=1), "Hint: Is the factor i"),
    (3, i_in_the_loop, "Hint: The factor i comes once"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(number, answer, reply):
    cells = ["setup", "turns-at", "drawers", "digit-turns", f"check-{number}"]
    names = run_cells(NAME, *cells)
    assert_replies(names[f"check_{number}"], [answer], reply)
