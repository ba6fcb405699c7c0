"""What the fast table promises beyond the plain one."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc.fast_table import fast_position_encoding

lengths = st.integers(0, 150)


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
    long = fast_position_encoding(size, start_index=start, **how)
    short = fast_position_encoding(length, start_index=start + before, **how)
    assert (short.shape, short.dtype) == ((length, d_model), dtype)
    assert short.tobytes() == long[before : before + length].tobytes()


@pytest.mark.parametrize("shape", [(1, 8_192), (33, 8_191), (2**16, 256)])
def test_memory_is_little_more_than_the_result(shape):
    tracemalloc.start()
    table = fast_position_encoding(*shape, start_index=77, dtype=np.float32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - table.nbytes <= 200 * 8 * shape[1]
