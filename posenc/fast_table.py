"""A large table of the encoding from few sines, as notebook 10 builds it.

A position is the sum of its digits' values, and the clock hand of a sum is the
product of the hands. So sines are computed for few positions, and all other
rows are rotated from those.
"""

import numpy as np

from posenc_helpers import angular_frequencies, check_table

RADIX = 32  # positions are counted in digits of this radix
HUNDRED = RADIX**2
STRIP = 4096  # columns filled at a time (even): all would want much memory


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
    it begins and however long it is. The plain table does not promise that.
    Beside the result, at most 64 MiB and half its size are used.

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
    frequencies = angular_frequencies(d_model, max_wavelength)
    table = np.empty((seq_len, d_model), dtype)
    with np.errstate(under="ignore"):  # what is too small to store is 0
        for left in range(0, d_model, STRIP):
            pairs = frequencies[left // 2 : (left + STRIP) // 2]
            _fill(table[:, left : left + STRIP], int(start_index), pairs)
    return table


def _fill(table: np.ndarray, start: int, frequencies: np.ndarray) -> None:
    """Fill a strip of a table, whose first row is that of `start`.

    Positions are counted in ones, tens and hundreds of radix 32. All ones,
    multiplied by the hands of a ten and a hundred, are a block of 32 rows. A
    block is always computed whole, so that a row never depends on where the
    table begins or ends.
    """
    stop = start + len(table)
    # j * exp(-jx) = sin(x) + j cos(x): as two floats, a sine and a cosine.
    ones = 1j * clock_hands(np.arange(RADIX), frequencies)
    last = min(stop, HUNDRED)  # few if the table ends early
    tens = clock_hands(np.arange(0, last, RADIX), frequencies)
    for hundred in range(start - start % HUNDRED, stop, HUNDRED):
        turns = tens * clock_hands(hundred, frequencies)
        if start <= hundred <= stop - HUNDRED and table.shape[1] % 2 == 0:
            _fill_hundred(table[hundred - start :][:HUNDRED], turns, ones)
            continue
        for ten, turn in enumerate(turns):
            first = hundred + ten * RADIX
            low, high = max(first, start), min(first + RADIX, stop)
            if low < high:  # some of the block's rows are wanted
                block = (turn * ones).view(float)[:, : table.shape[1]]
                wanted = block[low - first : high - first]
                table[low - start : high - start] = wanted


def _fill_hundred(
    rows: np.ndarray, turns: np.ndarray, ones: np.ndarray
) -> None:
    """Fill 32 whole blocks at once, without a copy.

    The pairs of floats in a row are viewed as complex numbers, so that the
    products are written straight into the table.
    """
    pairs = rows.view(np.result_type(rows, np.complex64))
    blocks = pairs.reshape(RADIX, RADIX, -1)
    np.multiply(turns[:, np.newaxis], ones, out=blocks)


def clock_hands(
    positions: np.ndarray | int, frequencies: np.ndarray
) -> np.ndarray:
    """Clock hands as complex numbers: exp(-j * position * frequency).

    Returns:
        complex128 array of shape `[position, pair]`, or `[pair]` for a single
        position.
    """
    angles = np.multiply.outer(positions, frequencies)
    hands = np.empty(angles.shape, np.complex128)
    hands.real, hands.imag = np.cos(angles), -np.sin(angles)
    return hands
