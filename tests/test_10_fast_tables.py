"""Notebook 10: its builders against facts from outside them."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from conftest import assert_replies, run_cells
from test_helpers_encoding import exact_row

from posenc_helpers import angular_frequencies, position_encoding

NOTEBOOK = "10_fast_tables"
BUILD = ["plain", "stopwatch", "builders", "clock-hands", "by-digits", "drift"]


@pytest.fixture(scope="module")
def small():
    """The notebook's builders, for a table of 4 096 x 32."""
    names = run_cells(NOTEBOOK, "setup")
    names |= {"seq_len": 4_096, "d_model": 32}
    return run_cells(NOTEBOOK, *BUILD, **names)


@pytest.mark.parametrize("name", ["plain", "by_digits"])
def test_every_builder_builds_the_encoding(name, small):
    table = small[name]()
    assert (table.shape, table.dtype) == ((4_096, 32), np.float32)
    for position in (0, 1, 31, 32, 1_023, 1_024, 2_500, 4_095):
        exact = np.array(exact_row(position, 32), float)
        np.testing.assert_allclose(table[position], exact, rtol=0, atol=4e-8)


@pytest.mark.parametrize("base", [2, 8, 64])
def test_any_base_will_do(base, small):
    table, expected = small["by_digits"](base), small["plain"]()
    np.testing.assert_allclose(table, expected, rtol=0, atol=7e-8)


def test_a_chain_drifts_and_a_product_does_not(small):
    chain, product, off = (
        small[n] for n in ("chain", "product", "off_length")
    )
    for count in (10, 1_000):
        np.testing.assert_allclose(chain(count), product(count), atol=1e-10)
    assert off(chain(10)) < 2e-15
    assert 1e-14 < off(chain(1_000)) < 1_000 * 2.3e-16
    assert max(off(product(count)) for count in (10, 1_000, 9_999)) < 1e-15


@pytest.mark.parametrize("d_model", [64, 256, 4_096])
def test_the_step_explains_the_drift_at_other_widths(small, d_model):
    """Pair by pair, and not in the largest error alone."""
    step = small["clock_hands"](32, angular_frequencies(d_model))
    turn = np.prod(np.tile(step, (10_000, 1)), axis=0)
    with mpmath.workdps(40):
        off = [float(abs(mpmath.mpc(hand)) - 1) for hand in step]
    assert np.corrcoef(np.abs(turn) - 1, off)[0, 1] > 0.99


def test_the_stopwatch_takes_the_shortest_time():
    """Three builders, two rounds, with a clock that is made up."""
    clock = iter([0, 2, 10, 19, 20, 26, 30, 34, 40, 50, 60, 63])
    names = run_cells(NOTEBOOK, "setup")
    names["time"] = SimpleNamespace(perf_counter=lambda: next(clock))
    shortest = run_cells(NOTEBOOK, "stopwatch", **names)["shortest_times"]
    # The first takes 2 and 4; the second 9 and 10; the third 6 and 3.
    assert shortest([lambda: 0, lambda: 1, lambda: 2], rounds=2) == [2, 9, 3]


def moved(rows, offset, sign=-1):
    frequencies = 10_000 ** (-np.arange(32) / 32)
    return (
        rows.view(complex) * np.exp(sign * 1j * offset * frequencies)
    ).view(float)


def from_hands(position, hands, order=reversed):
    digits = enumerate(order(str(position)))
    points = [hands(int(digit), place) for place, digit in digits]
    return (1j * np.prod(points, axis=0)).view(float)


ANSWERS = [
    (1, (20, 60), "Correct."),
    (1, (20, 40), "Not yet. Hint: The hundreds"),
    (2, moved, "Correct."),
    (2, lambda rows, k: moved(rows, k, 1), "Not yet. Hint: Those are earlier"),
    (
        2,
        lambda rows, k: moved(rows, k).view(complex),
        "Not yet. Hint: That is",
    ),
    (
        2,
        lambda rows, k: position_encoding(4, 64, start_index=abs(k)),
        "Not yet",
    ),
    (2, lambda rows, k: position_encoding(2 * len(rows), 64), "Not yet"),
    (3, from_hands, "Correct."),
    (3, lambda p, hands: from_hands(p, hands, iter), "Not yet. Hint: Which"),
    (3, lambda p, h: from_hands(p, h).view(complex), "Not yet. Hint: That is"),
    (3, lambda p, h: position_encoding(1, 64, start_index=p)[0], "Not yet"),
]


@pytest.mark.parametrize(("number", "answer", "begin"), ANSWERS)
def test_exercises_reply_to_what_people_write(number, answer, begin):
    cells = ["setup", "plain", "clock-hands", "digit-hands", f"check-{number}"]
    names = run_cells(NOTEBOOK, *cells)
    assert_replies(names[f"check_{number}"], [answer], begin)
