"""Adapters: functions of other shapes are reviewed as they are."""

import numpy as np
import pytest
from posenc_review import adapters, review_rotary
from rope import rope, speeds, turn_by


def heads_first(x, positions):
    return rope(x, positions[:, None])


def sequence_first(x, positions):
    return rope(x, positions[..., None])


def flat_in_place(positions, x):
    x[:] = rope(x, positions)


def one_offset(x, offset):
    return rope(x, offset + np.arange(x.shape[1])[None])


def one_head_unturned(x, positions):
    made = heads_first(x, positions)
    made[:, 1] = x[:, 1]
    return made


ADAPTED = [
    adapters.heads_first(heads_first),
    adapters.sequence_first(sequence_first),
    adapters.flat_in_place(flat_in_place),
    adapters.one_offset(one_offset),
]


@pytest.mark.parametrize("rotate", ADAPTED)
def test_a_right_function_is_not_accused(rotate):
    seen = review_rotary(rotate, 16, max_len=500)
    assert (seen.findings, seen.notes) == ({}, ())


def test_tables_are_handed_over():
    angles = np.arange(500)[:, None] * speeds(16)

    def turn(x, cos, sin):
        return turn_by(x, np.arctan2(sin, cos))

    tables = np.cos(angles), np.sin(angles)
    rotate = adapters.cos_and_sin(turn, *tables)
    assert review_rotary(rotate, 16, max_len=500).findings == {}
    found = review_rotary(rotate, 16, max_len=600).findings
    assert "Position 500 is the first to fail" in found["far positions"]


def test_heads_that_differ_are_a_finding():
    rotate = adapters.heads_first(one_head_unturned)
    found = review_rotary(rotate, 16, max_len=500).findings
    assert "two heads are not turned alike" in found["result"]
