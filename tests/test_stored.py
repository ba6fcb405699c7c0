"""Weights in eight bits.

test_tools.py stores them, and test_13_inside.py says what they predict.
"""

import numpy as np

from posenc.stored import pack, unpack


def test_rounding_keeps_each_number_within_half_a_step():
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(7, 9)) * np.logspace(-6, 6, 7)[:, np.newaxis]
    packed = pack(matrix)
    steps = np.array(packed["scales"])[:, np.newaxis]
    off = np.abs(unpack(packed) - matrix) / steps
    assert off.max() < 0.6  # scales are rounded, too
