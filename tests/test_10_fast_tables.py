"""Notebook 10: its builders, its stopwatch and its exercises."""

from pathlib import Path
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from conftest import assert_replies, run_cells

from posenc_helpers import angular_frequencies, position_encoding

NAME = Path(__file__).stem.removeprefix("test_")
BUILD = ["plain", "stopwatch", "builders", "clock-hands", "by-digits"]


def test_every_builder_builds_the_encoding():
    names = run_cells(NAME, "setup") | {"seq_len": 4_096, "d_model": 32}
    small = run_cells(NAME, *BUILD, **names)
    expected = position_encoding(4_096, 32)
    tables = [small["by_digits"](base) for base in (2, 8, 32, 64)]
    for table in (small["plain"](), *tables):
        assert table.dtype == np.float32
        np.testing.assert_allclose(table, expected, rtol=0, atol=4e-8)


@pytest.mark.parametrize("d_model", [64, 256])
def test_the_step_explains_the_drift_at_other_widths(d_model):
    """Pair by pair, and not in the largest error alone."""
    names = run_cells(NAME, "setup", "plain", "clock-hands")
    step = names["clock_hands"](32, angular_frequencies(d_model))
    turn = np.prod(np.tile(step, (10_000, 1)), axis=0)
    with mpmath.workdps(40):
        off = [float(abs(mpmath.mpc(hand)) - 1) for hand in step]
    assert np.corrcoef(np.abs(turn) - 1, off)[0, 1] > 0.99


def test_the_stopwatch_takes_the_shortest_time():
    """Three builders, two rounds, with a clock that is made up."""
    clock = iter([0, 2, 10, 19, 20, 26, 30, 34, 40, 50, 60, 63])
    names = run_cells(NAME, "setup")
    names["time"] = SimpleNamespace(perf_counter=lambda: next(clock))
    shortest = run_cells(NAME, "stopwatch", **names)["shortest_times"]
    # The first takes 2 and 4; the second 9 and 10; the third 6 and 3.
    assert shortest([lambda: 0, lambda: 1, lambda: 2], rounds=2) == [2, 9, 3]


def moved(rows, offset, sign=-1):
    angles = offset * 10_000 ** (-np.arange(32) / 32)
    return (rows.view(complex) * np.exp(sign * 1j * angles)).view(float)


def from_hands(position, hands, order=reversed):
    digits = enumerate(order(str(position)))
    points = [hands(int(digit), place) for place, digit in digits]
    return (1j * np.prod(points, axis=0)).view(float)


REPLIES = [
    (1, (20, 60), "Correct."),
    (1, (20, 40), "Hint: The hundreds"),
    (2, moved, "Correct."),
    (2, lambda rows, k: moved(rows, k, 1), "Hint: Those are earlier"),
    (2, lambda rows, k: moved(rows, k).view(complex), "Hint: That is"),
    (3, from_hands, "Correct."),
    (3, lambda p, hands: from_hands(p, hands, iter), "Hint: Which"),
    (3, lambda p, h: from_hands(p, h).view(complex), "Hint: That is"),
]


@pytest.mark.parametrize(("number", "answer", "reply"), REPLIES)
def test_exercises_reply_to_what_people_write(number, answer, reply):
    cells = ["setup", "plain", "clock-hands", "digit-hands", f"check-{number}"]
    names = run_cells(NAME, *cells)
    assert_replies(names[f"check_{number}"], [answer], reply)
