"""`position_encoding` against facts from outside it."""

import re
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posenc_helpers as helpers
from posenc_helpers import (
    angular_frequencies,
    encode_positions,
    position_encoding,
)

lengths = st.integers(0, 150)


def largest_error(position, d_model, dtype=np.float64):
    """How far a row is from the paper's formula (3.5), to 40 digits."""
    how = {"start_index": position, "dtype": dtype}
    (row,) = position_encoding(1, d_model, **how).tolist()
    with mpmath.workdps(40):
        off = []
        for column, value in enumerate(row):
            power = mpmath.mpf(2 * (column // 2)) / d_model
            angle = position / mpmath.mpf(10_000) ** power
            exact = mpmath.cos(angle) if column % 2 else mpmath.sin(angle)
            off.append(abs(value - exact))
        return float(max(off))


@pytest.mark.parametrize("d_model", [2, 3, 64, 512])
@pytest.mark.parametrize("position", [0, 1, 31, 33, 1023, 10**6, 2**38 - 1])
def test_as_exact_as_float64_angles_allow(position, d_model):
    bound = min(1e-4, 5e-16 * max(1, position) + 2.3e-16)
    assert largest_error(position, d_model) <= bound
    assert largest_error(position, d_model, np.float32) <= bound + 3e-8


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_positions_that_are_too_far_out_are_refused(rows):
    start = 2**38 - rows
    assert len(position_encoding(rows, 4, start_index=start)) == rows
    with pytest.raises(ValueError, match=f"start_index={start + 1} .*1e-4"):
        position_encoding(rows, 4, start_index=start + 1)


@pytest.mark.parametrize("d_model", [1, 7, 4_095, 4_097, 9_001])
def test_the_table_is_the_formula_at_every_width(d_model):
    positions = [0, 1, 31, 32, 40]
    expected = encode_positions(positions, d_model)
    ours = position_encoding(41, d_model)[positions]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)


def test_the_formula_takes_any_positions():
    rows = encode_positions([[3], [1_999]], 7, 500)
    assert rows.shape == (2, 1, 7)
    table = position_encoding(2_000, 7, max_wavelength=500)
    np.testing.assert_allclose(rows[:, 0], table[[3, 1_999]], atol=1e-12)
    half, before = encode_positions([0.5, -0.5], 7)
    np.testing.assert_allclose(half, before * ([-1, 1] * 3 + [-1]))
    assert half[0] == pytest.approx(np.sin(0.5))


@pytest.mark.parametrize("d_model", [7, 8])
def test_the_result_belongs_to_the_caller(d_model):
    table = position_encoding(100, d_model)
    assert table.flags.c_contiguous and table.flags.owndata
    table[:] = 7
    assert position_encoding(100, d_model).max() <= 1


@settings(max_examples=200)
@given(
    before=lengths,
    length=lengths,
    after=lengths,
    d_model=st.integers(1, 130),
    start=st.sampled_from([0, 1, 1_000, 32**2 - 40, 10**6, 2**38 - 450]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_rows_are_the_same_bits_in_every_table(
    before, length, after, d_model, start, dtype
):
    how = {"d_model": d_model, "dtype": dtype}
    size = before + length + after
    long = position_encoding(size, start_index=start, **how)
    short = position_encoding(length, start_index=start + before, **how)
    assert (short.shape, short.dtype) == ((length, d_model), dtype)
    assert short.tobytes() == long[before : before + length].tobytes()


# Threads, and memory.


def use_cores(monkeypatch, cores):
    """Let the process use so many cores, whatever the machine has."""
    monkeypatch.setattr(
        "os.sched_getaffinity", lambda process: range(cores), raising=False
    )


@pytest.mark.parametrize("cores", [1, 2, 3, 64])
@pytest.mark.parametrize("d_model", [1, 129, 130])
def test_a_large_table_holds_the_small_ones(cores, d_model, monkeypatch):
    """The large one is filled in threads, the small ones are not."""
    use_cores(monkeypatch, cores)
    large = position_encoding(33_001, d_model, start_index=4_321)
    for first in (0, 1_120, 16_490, 32_990):
        rows = position_encoding(11, d_model, start_index=4_321 + first)
        assert rows.tobytes() == large[first : first + 11].tobytes()


@pytest.mark.parametrize(
    ("cores", "rows", "most"),
    [
        (1, 65_536, 0),
        (2, 65_536, 2),
        (64, 65_536, 8),
        (2, 65_535, 0),  # a small table is not worth a thread
    ],
)
def test_threads(cores, rows, most, monkeypatch):
    asked = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(workers)

    use_cores(monkeypatch, cores)
    monkeypatch.setattr(helpers, "ThreadPoolExecutor", Pool)
    position_encoding(rows, 64)
    assert sum(asked) == most


@pytest.mark.parametrize(("count", "cores"), [(None, 1), (6, 6)])
def test_where_usable_cores_are_not_known_all_count(count, cores, monkeypatch):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: count)
    assert helpers._usable_cores() == cores


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_where_no_thread_can_be_started_it_goes_without(allowed, monkeypatch):
    expected = position_encoding(70_000, 64)
    tries, start = [], threading.Thread.start

    def refusing(thread):
        tries.append(thread)
        if len(tries) > allowed:
            raise RuntimeError("can't start new thread")
        start(thread)

    use_cores(monkeypatch, 4)
    monkeypatch.setattr(threading.Thread, "start", refusing)
    assert np.array_equal(position_encoding(70_000, 64), expected)
    assert tries


def test_it_works_without_tensorflow():
    """The smaller installation has none."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(['tensorflow', 'keras']);"
        "import posenc_helpers"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("shape", [(1, 2**20), (33, 2**20 - 1), (2**16, 256)])
@pytest.mark.parametrize("cores", [1, 8])
def test_memory_is_little_more_than_the_result(shape, cores, monkeypatch):
    use_cores(monkeypatch, cores)
    tracemalloc.start()
    table = position_encoding(*shape, start_index=77, dtype=np.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.5 * table.nbytes + 64 * 2**20


# What is accepted.


@pytest.mark.parametrize("max_wavelength", [1, 1e80, sys.float_info.max])
def test_numpys_error_state_does_not_matter(max_wavelength):
    how = {"max_wavelength": max_wavelength, "dtype": np.float32}
    with np.errstate(all="raise"):
        table = position_encoding(70, 64, **how)
        angular_frequencies(4_096, max_wavelength)
    assert np.isfinite(table).all()


@pytest.mark.parametrize("wavelength", [np.float32(100), np.int64(100)])
def test_numpys_numbers_are_numbers(wavelength):
    how = {"start_index": np.int8(2), "max_wavelength": wavelength}
    ours = position_encoding(np.int64(3), np.uint8(200), **how)
    plain = position_encoding(3, 200, start_index=2, max_wavelength=100)
    assert np.array_equal(ours, plain)


NO_INTEGERS = [True, 3.0, "3", None, [3], np.bool_(1), -1]
BAD = {
    "seq_len": NO_INTEGERS,
    "d_model": [*NO_INTEGERS, 0],
    "start_index": NO_INTEGERS,
    "max_wavelength": [0.99, float("inf"), "100", None, 3j, True, 10**400],
    "dtype": [np.float16, int, "float64x", None, complex, ">f4", object()],
}
BAD["max_wavelength"].append(float("nan"))


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in BAD.items() for value in values],
    ids=lambda each: repr(each)[:20],
)
def test_a_bad_argument_is_named_with_its_value(name, value):
    arguments = {"seq_len": 3, "d_model": 4} | {name: value}
    message = rf"{name}.*{re.escape(repr(value))}"
    with pytest.raises((TypeError, ValueError), match=message):
        position_encoding(**arguments)


@pytest.mark.parametrize(
    "positions", ["0", [True], [1j], [[1], [2, 3]], [0, np.nan]], ids=repr
)
def test_positions_that_are_no_numbers_are_refused(positions):
    with pytest.raises((TypeError, ValueError), match=r"^positions must"):
        encode_positions(positions, 4)


@pytest.mark.parametrize(
    ("seq_len", "d_model"),
    [(10**12, 512), (0, 10**12), (2**31 + 1, 1), (2**16, 2**15 + 1)],
)
def test_an_absurd_size_is_refused_before_any_allocation(seq_len, d_model):
    """More than 16 GiB of float64."""
    with pytest.raises(ValueError, match=f"{seq_len} by d_model={d_model} "):
        position_encoding(seq_len, d_model)
    with pytest.raises(ValueError, match=r"^d_model .*not 1099511627776$"):
        angular_frequencies(2**40)
