"""The formula, written a second time for the tests, and its scalings."""

import math

import numpy as np

WIDTH, PAIRS = 32, 16
PAIR = np.arange(PAIRS)
YARN_LENGTH = 0.1 * math.log(4) + 1


def speeds(width=WIDTH, base=10_000.0):
    """Radians per position of each pair."""
    return np.array([base ** (-k / width) for k in range(0, width, 2)])


def turn_by(x, angles, layout="half"):
    """Turn the pairs of the first columns by angles."""
    pairs = angles.shape[-1]
    first, second = np.arange(pairs), pairs + np.arange(pairs)
    if layout == "interleaved":
        first, second = 2 * np.arange(pairs), 2 * np.arange(pairs) + 1
    if layout == "half of the head":
        second = x.shape[-1] // 2 + np.arange(pairs)
    made = np.array(x)
    one, other = x[..., first], x[..., second]
    made[..., first] = one * np.cos(angles) - other * np.sin(angles)
    made[..., second] = other * np.cos(angles) + one * np.sin(angles)
    return made


def rope(x, positions, frequencies=None, layout="half"):
    """Turn vectors `[batch, seq_len, width]` as RoPE does."""
    if frequencies is None:
        frequencies = speeds(x.shape[-1])
    angles = np.asarray(positions)[..., None] * frequencies
    return turn_by(x, angles, layout)


def llama3(width=WIDTH, base=5e5, factor=8):
    """Slow pairs as in Llama 3.1: by their turns in 8192 positions."""
    usual = speeds(width, base)
    kept = np.clip((8192 * usual / (2 * math.pi) - 1) / (4 - 1), 0, 1)
    return usual * (kept + (1 - kept) / factor)


def yarn():
    """Slow pairs as in YaRN: by their numbers, from 32 turns to 1 in 4096."""
    kept = 1 - np.clip((PAIR - 5) / (12 - 5), 0, 1)
    return speeds() * (kept + (1 - kept) / 4)


def config(**settings):
    """A config of heads of 32 columns."""
    return {"head_dim": WIDTH} | settings


LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
YARN = {
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 4096,
}
LLAMA_CONFIG = config(rope_theta=5e5, rope_scaling=LLAMA3)
YARN_CONFIG = config(rope_parameters=YARN)
