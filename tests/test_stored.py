"""Weights in eight bits; test_13_inside.py says what they foretell."""

import json

import numpy as np

from posenc.stored import load_weights, pack, packed_weights, unpack


def test_rounding_keeps_each_number_within_half_a_step():
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(7, 9)) * np.logspace(-6, 6, 7)[:, np.newaxis]
    packed = pack(matrix)
    steps = np.array(packed["scales"])[:, np.newaxis]
    off = np.abs(unpack(packed) - matrix) / steps
    assert off.max() < 0.6  # scales are rounded, too


def test_weights_are_stored_as_they_are_read():
    weights = load_weights("inside")
    again = [unpack(packed) for packed in json.loads(packed_weights(weights))]
    for matrix, same in zip(weights, again, strict=True):
        np.testing.assert_allclose(same, matrix, rtol=1e-3)
