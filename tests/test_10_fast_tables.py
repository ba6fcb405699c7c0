"""Notebook 10: its builders against facts from outside them."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import assert_replies, run_cells
from test_helpers_encoding import exact_row

NOTEBOOK = "10_fast_tables"
BUILD = ["plain", "builders", "clock-hands", "by-digits", "drift", "fill"]
BUILD += ["straight-builder", "threads"]
BUILDERS = ["plain", "by_digits", "straight", "all_cores"]


@pytest.fixture(scope="module")
def small():
    """The notebook's builders, for a table of 4 096 x 32."""
    names = run_cells(NOTEBOOK, "setup")
    names |= {"seq_len": 4_096, "d_model": 32}
    return run_cells(NOTEBOOK, *BUILD, **names)


@pytest.mark.parametrize("name", BUILDERS)
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


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 8])
def test_shares_cover_the_table(cores, small):
    shared = run_cells(NOTEBOOK, "threads", **small)
    shared["cores"] = cores
    assert np.array_equal(shared["all_cores"](), small["straight"]())


def test_it_runs_where_there_are_no_threads(small, monkeypatch):
    """As in a browser, with what a browser says to `os.cpu_count`."""

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    names = run_cells(NOTEBOOK, "threads", "reveal-prefix", **small)
    assert np.array_equal(names["all_cores"](), small["straight"]())
    assert np.array_equal(names["late"], names["long"][123:623])


def test_a_chain_drifts_slowly(small):
    drift = [small["off_length"](small["chain"](n)) for n in (10, 1_000)]
    assert drift[0] < 2e-15
    assert 1e-14 < drift[1] < 1_000 * 2.3e-16


def test_the_stopwatch_takes_the_shortest_time():
    """Three builders, two rounds, with a clock that is made up."""
    clock = iter([0, 2, 10, 19, 20, 26, 30, 34, 40, 50, 60, 63])
    names = run_cells(NOTEBOOK, "setup")
    names |= {
        "time": SimpleNamespace(perf_counter=lambda: next(clock)),
        "only_fill": lambda: None,
    }
    floors = run_cells(NOTEBOOK, "stopwatch", **names)["floors"]
    # fill: 2 and 4; the first: 9 and 10; the second: 6 and 3
    assert floors([lambda: 1, lambda: 2], rounds=2) == [4.5, 1.5]


def doubled(rows):
    turn = np.exp(-1j * len(rows) * 10_000 ** (-np.arange(32) / 32))
    return np.vstack([rows, (rows.view(complex) * turn).view(float)])


def from_hands(position, order=reversed):
    names = ["setup", "plain", "clock-hands", "digit-hands"]
    hands_of = run_cells(NOTEBOOK, *names)["digit_hands"]
    digits = enumerate(order(str(position)))
    hands = [hands_of(int(digit), place) for place, digit in digits]
    return (1j * np.prod(hands, axis=0)).view(float)


ANSWERS = [
    (1, (20, 60), "Correct."),
    (1, (20, 40), "Not yet. Hint: The hundreds"),
    (2, doubled, "Correct."),
    (2, lambda rows: doubled(rows)[len(rows) :], "Not yet. Hint: And the old"),
    (3, from_hands, "Correct."),
    (3, lambda position: from_hands(position, iter), "Not yet. Hint: Which"),
    (3, lambda p: from_hands(p).view(complex), "Not yet. Hint: That is"),
]


@pytest.mark.parametrize(("number", "answer", "begin"), ANSWERS)
def test_exercises_reply_to_what_people_write(number, answer, begin):
    names = run_cells(NOTEBOOK, "setup", f"check-{number}")
    assert_replies(names[f"check_{number}"], [answer], begin)
