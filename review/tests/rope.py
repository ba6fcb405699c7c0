"""The formula, written a second time for the tests, and its scalings."""

import math

import numpy as np

WIDTH, PAIRS = 32, 16
PAIR = np.arange(PAIRS)
YARN_LENGTH = 0.1 * math.log(4) + 1


def speeds(width=WIDTH, base=10_000.0):
    """Radians per position of each pair."""
    return np.array([base ** (-k / width) for k in range(0, width, 2)])


def rope(x, positions, frequencies=None, layout="half"):
    """Turn vectors `[batch, seq_len, width]` as RoPE does."""
    if frequencies is None:
        frequencies = speeds(x.shape[-1])
    angles = np.asarray(positions)[..., None] * frequencies
    pairs = angles.shape[-1]
    first, second = np.arange(pairs), pairs + np.arange(pairs)
    if layout == "interleaved":
        first, second = 2 * np.arange(pairs), 2 * np.arange(pairs) + 1
    if layout == "half of the head":
        second = x.shape[-1] // 2 + np.arange(pairs)
    turned = np.array(x)
    one, other = x[..., first], x[..., second]
    turned[..., first] = one * np.cos(angles) - other * np.sin(angles)
    turned[..., second] = other * np.cos(angles) + one * np.sin(angles)
    return turned


def llama3(base=5e5, factor=8):
    """Slow pairs as in Llama 3.1: by their turns in 8192 positions."""
    usual = speeds(base=base)
    kept = np.clip((8192 * usual / (2 * math.pi) - 1) / (4 - 1), 0, 1)
    return usual * (kept + (1 - kept) / factor)


def yarn():
    """Slow pairs as in YaRN: by their numbers, from 32 turns to 1 in 4096."""
    kept = 1 - np.clip((PAIR - 5) / (12 - 5), 0, 1)
    return speeds() * (kept + (1 - kept) / 4)
