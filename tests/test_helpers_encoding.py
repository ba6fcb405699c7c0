"""The plain table and the fast one against facts from outside them."""

import re
import subprocess
import sys

import mpmath
import numpy as np
import pytest

from posenc.fast_table import fast_position_encoding
from posenc_helpers import encode_positions, plot_matrix, position_encoding

both = pytest.mark.parametrize(
    "table_of", [position_encoding, fast_position_encoding]
)


def largest_error(table_of, position, d_model, dtype=np.float64):
    """How far a row is from the paper's formula (3.5), to 40 digits."""
    how = {"start_index": position, "dtype": dtype}
    (row,) = table_of(1, d_model, **how).tolist()
    with mpmath.workdps(40):
        off = []
        for column, value in enumerate(row):
            power = mpmath.mpf(2 * (column // 2)) / d_model
            angle = position / mpmath.mpf(10_000) ** power
            exact = mpmath.cos(angle) if column % 2 else mpmath.sin(angle)
            off.append(abs(value - exact))
        return float(max(off))


@both
@pytest.mark.parametrize("d_model", [3, 512])
@pytest.mark.parametrize("position", [0, 33, 1023, 10**6, 2**38 - 1])
def test_as_exact_as_float64_angles_allow(table_of, position, d_model):
    bound = min(1e-4, 5e-16 * max(1, position) + 2.3e-16)
    assert largest_error(table_of, position, d_model) <= bound
    single = largest_error(table_of, position, d_model, np.float32)
    assert single <= bound + 3e-8


@both
def test_positions_that_are_too_far_out_are_refused(table_of):
    assert len(table_of(9, 4, start_index=2**38 - 9)) == 9
    with pytest.raises(ValueError, match=f"start_index={2**38 - 8} .*1e-4"):
        table_of(9, 4, start_index=2**38 - 8)


def test_the_formula_takes_any_positions():
    rows = encode_positions([[3], [1_999]], 7, 500)
    assert rows.shape == (2, 1, 7)
    table = position_encoding(2_000, 7, max_wavelength=500)
    np.testing.assert_allclose(rows[:, 0], table[[3, 1_999]], atol=1e-12)
    half, before = encode_positions([0.5, -0.5], 7)
    np.testing.assert_allclose(half, before * ([-1, 1] * 3 + [-1]))
    assert half[0] == pytest.approx(np.sin(0.5))


@both
def test_the_result_belongs_to_the_caller(table_of):
    table_of(100, 8)[:] = 7
    assert table_of(100, 8).max() <= 1


@pytest.mark.parametrize(
    "module", ["posenc_helpers", "posenc.fast_table", "posenc.check"]
)
def test_a_module_loads_only_what_it_uses(module):
    absent = ["matplotlib", "IPython", "PIL", "keras"]
    code = f"import sys, {module}; print(sys.modules.keys() & set(sys.argv))"
    command = [sys.executable, "-c", code, *absent]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stdout == "set()\n", run.stderr


# What is accepted.


NO_INTEGERS = [True, 3.0, "3", None, [3], np.bool_(1), -1]
BAD = {
    "seq_len": NO_INTEGERS,
    "d_model": [*NO_INTEGERS, 0],
    "start_index": NO_INTEGERS,
    "max_wavelength": [0.99, np.inf, np.nan, "100", None, 3j, True],
    "dtype": [np.float16, int, "float64x", None],
}


@both
@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in BAD.items() for value in values],
    ids=lambda each: repr(each)[:20],
)
def test_a_bad_argument_is_named_with_its_value(table_of, name, value):
    arguments = {"seq_len": 3, "d_model": 4} | {name: value}
    message = rf"{name}.*{re.escape(repr(value))}"
    with pytest.raises((TypeError, ValueError), match=message):
        table_of(**arguments)


@pytest.mark.parametrize(
    "positions", ["0", [True], [1j], [[1], [2, 3]], [0, np.nan]], ids=repr
)
def test_positions_that_are_no_numbers_are_refused(positions):
    with pytest.raises((TypeError, ValueError), match=r"^positions must"):
        encode_positions(positions, 4)


@both
def test_an_absurd_size_is_refused_before_any_work(table_of):
    """More than 16 GiB of float64."""
    with pytest.raises(ValueError, match=r"=1000000000 by d_model=512 "):
        table_of(10**9, 512)


def test_a_direction_that_there_is_not_is_named():
    with pytest.raises(ValueError, match=r"^positions_along .*'z'"):
        plot_matrix(np.eye(3), ax=None, positions_along="z")
