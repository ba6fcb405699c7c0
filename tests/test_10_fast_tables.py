"""Notebook 10: its builders against facts from outside them."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from conftest import run_cells

from posenc_helpers import position_encoding

NOTEBOOK = "10_fast_tables"
BUILD = ["clock-hands", "by-blocks", "drift", "turns", "chained", "fill"]
BUILD += ["rounded", "threads"]
BUILDERS = ["plain", "by_blocks", "chained", "rounded", "small_buffer"]
BUILDERS += ["all_cores"]


@pytest.fixture(scope="module")
def small():
    """The notebook's builders, for a table of 4 096 x 32."""
    names = run_cells(NOTEBOOK, "setup")
    names |= {"seq_len": 4_096, "d_model": 32}
    return run_cells(NOTEBOOK, "plain", *BUILD, **names)


def exact_row(position, d_model):
    with mpmath.workdps(40):
        row = []
        for i in range(d_model // 2):
            power = mpmath.mpf(2 * i) / d_model
            angle = position / mpmath.mpf(10_000) ** power
            row += [float(mpmath.sin(angle)), float(mpmath.cos(angle))]
        return row


@pytest.mark.parametrize("name", BUILDERS)
def test_every_builder_builds_the_encoding(name, small):
    table = small[name]()
    assert (table.shape, table.dtype) == ((4_096, 32), np.float32)
    for position in (0, 1, 63, 64, 1_023, 1_024, 2_500, 4_095):
        exact = exact_row(position, 32)
        np.testing.assert_allclose(table[position], exact, rtol=0, atol=4e-8)


@pytest.mark.parametrize("block", [16, 512, 4_096])
def test_any_block_will_do(block, small):
    table, expected = small["by_blocks"](block), small["plain"]()
    np.testing.assert_allclose(table, expected, rtol=0, atol=7e-8)


@pytest.mark.parametrize("cores", [1, 2, 3, 4, 8])
def test_shares_cover_the_table(cores, small):
    shared = run_cells(NOTEBOOK, "threads", **(small | {"cores": cores}))
    shared["cores"] = cores
    assert np.array_equal(shared["all_cores"](), small["small_buffer"]())


def test_a_chain_drifts_slowly(small):
    assert small["drift"](15) < 3e-15
    assert 1e-15 < small["drift"](511) < 511 * 2.3e-16


def test_clock_hands_go_as_a_clock_does(small):
    hands = 1j * small["clock_hands"](np.arange(3))[:, 0]
    np.testing.assert_allclose(hands.real, np.sin([0, 1, 2]), atol=1e-15)
    np.testing.assert_allclose(hands.imag, np.cos([0, 1, 2]), atol=1e-15)


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


@pytest.mark.parametrize("cores", [1, 2, 3, 8])
def test_rows_of_angles(cores):
    """A block and a step for each share, a turn for each chain in it."""
    names = run_cells(NOTEBOOK, "setup", "count-rows")
    share = -(-32_768 // cores)
    expected = 0
    for first in range(0, 32_768, share):
        last = min(first + share, 32_768) - 1
        expected += 48 + 1 + last // 768 - first // 768 + 1
    assert names["rows_of_angles"](cores) == expected


def test_the_fast_form_is_the_helper(small):
    ours = position_encoding(4_096, 32, dtype=np.float32)
    np.testing.assert_allclose(
        small["small_buffer"](), ours, rtol=0, atol=6e-8
    )


def replies(capsys, exercise, *answers):
    names = run_cells(NOTEBOOK, "setup", f"check-{exercise}")
    for answer in answers:
        names[f"check_{exercise}"](answer)
    return capsys.readouterr().out.splitlines()


def test_a_half_right_clock_reader_hears_so(capsys):
    """`hand` is sin x + j cos x; one of its parts fits two angles."""
    right, *wrong = replies(
        capsys,
        4,
        lambda hand: np.arctan2(hand.real, hand.imag) % (2 * np.pi),
        lambda hand: np.arcsin(hand.real),
        lambda hand: np.arccos(hand.imag),
        lambda hand: np.degrees(np.arctan2(hand.real, hand.imag)) % 360,
        lambda hand: "0.5",
        lambda hand: np.arctan2(hand.real, hand.imag),
        lambda hand: np.arctan2(-hand.real, hand.imag),
        np.angle,
    )
    assert right == "Correct."
    hints = ["half", "half", "degrees", "text", "2π", "Which way", "begins"]
    for hint, said in zip(hints, wrong, strict=True):
        assert hint in said


def test_the_best_block_counts_the_first_turn(capsys):
    right, short = replies(capsys, 2, (100, 200), (100, 199))
    assert right == "Correct."
    assert "for the first block too" in short
