"""What the fast table promises beyond the plain one."""

import tracemalloc
from itertools import product

import numpy as np
import pytest

from posenc.fast_table import fast_position_encoding

# Blocks have 32 rows: none, one row, and both sides of one and of many.
LENGTHS = [0, 1, 31, 33, 150]
STARTS = [0, 1, 1_000, 32**2 - 40, 10**6, 2**38 - 450]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d_model", [1, 2, 129])
def test_rows_are_the_same_bits_in_every_table(d_model, dtype):
    how = {"d_model": d_model, "dtype": dtype}
    for start, before, length in product(STARTS, LENGTHS, LENGTHS):
        long = fast_position_encoding(
            before + length + 7, start_index=start, **how
        )
        short = fast_position_encoding(
            length, start_index=start + before, **how
        )
        assert (short.shape, short.dtype) == ((length, d_model), dtype)
        assert short.tobytes() == long[before : before + length].tobytes()


@pytest.mark.parametrize("shape", [(1, 8_192), (33, 8_191), (2**16, 256)])
def test_memory_is_little_more_than_the_result(shape):
    tracemalloc.start()
    table = fast_position_encoding(*shape, start_index=77, dtype=np.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - table.nbytes <= 200 * 8 * shape[1]
