"""A large table of the encoding from few sines, as notebook 10 builds it.

A position is the sum of its digits' values, and the clock hand of a sum comes
from the hands of its parts by multiplication. So sines are computed for few
positions only, and all other rows are rotated from those.
"""

import numpy as np

from posenc_helpers import angular_frequencies, check_table

RADIX = 32  # a digit of a position is one of 0 to 31
HUNDREDS_PLACE = RADIX**2  # named as in decimal: 32 tens of 32 ones


def fast_position_encoding(
    seq_len: int,
    d_model: int,
    *,
    max_wavelength: float = 10_000,
    start_index: int = 0,
    dtype: type = np.float64,
) -> np.ndarray:
    """The table of `posenc_helpers.position_encoding`, made faster.

    The row of a position is the same to the last bit in every table, wherever
    the table begins and however long it is; the plain table does not promise
    that. For a few dozen rows, the plain table is the faster one.
    Beside the result, memory for at most 200 rows of float64 is needed.

    Args:
        seq_len: Number of rows, one per position. May be 0.
        d_model: Number of columns. If odd, the last one is a sine.
        max_wavelength: The paper's 10 000, in positions per radian.
        start_index: Position of the first row. The last one must lie below
            2**38, up to where a row is off by less than 1e-4.
        dtype: float64 or float32. Angles are float64 in either case.

    Returns:
        Array of shape `[seq_len, d_model]`, the caller's own.

    Raises:
        TypeError: If a size or `start_index` is not an integer.
        ValueError: If one of these is too small or too large, or
            `max_wavelength` or `dtype` is unfit.
    """
    check_table(seq_len, d_model, start_index, dtype)
    start, stop = int(start_index), int(start_index) + int(seq_len)
    frequencies = angular_frequencies(d_model, max_wavelength)
    table = np.empty((stop - start, d_model), dtype)
    # i * exp(-ix) = sin(x) + i cos(x): as two floats, sine and cosine.
    ones = 1j * turns_at(np.arange(RADIX), frequencies)
    # A table that ends early needs few tens.
    tens = turns_at(
        np.arange(0, min(stop, HUNDREDS_PLACE), RADIX), frequencies
    )
    first_hundred = start - start % HUNDREDS_PLACE
    for hundred in range(first_hundred, stop, HUNDREDS_PLACE):
        turns = tens * turns_at(hundred, frequencies)
        firsts = range(hundred, stop, RADIX)  # of each block of 32 rows
        for first, turn in zip(firsts, turns, strict=False):
            if first + RADIX > start:
                # Computed whole, so that a row does not depend on where
                # the table begins or ends.
                block = (ones * turn).view(float)[:, :d_model]
                put_rows(block, first, table, start)
    return table


def put_rows(
    block: np.ndarray, first: int, table: np.ndarray, start: int
) -> None:
    """Write those rows of a block that the table holds.

    Their first rows belong to the positions `first` and `start`.
    """
    low = max(first, start)
    high = min(first + len(block), start + len(table))
    table[low - start : high - start] = block[low - first : high - first]


def turns_at(
    positions: np.ndarray | int, frequencies: np.ndarray
) -> np.ndarray:
    """The turns exp(-ix) from position 0 to each position.

    A clock hand that is multiplied by such a number moves on by as many
    positions.

    Returns:
        complex128 array of shape `[position, pair]`, or `[pair]` for a single
        position.
    """
    angles = np.multiply.outer(positions, frequencies)
    return np.cos(angles) - 1j * np.sin(angles)
