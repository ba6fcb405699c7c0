"""Notebook 13's model once more, in NumPy, for those who test it."""

import math
from collections.abc import Sequence

import numpy as np

from posenc_helpers import rotate


def run_by_numpy(
    weights: Sequence[np.ndarray],
    text: np.ndarray,
    frequencies: np.ndarray,
    heads: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings [position, letter], and maps [head, position, position].

    One head after the other, in float64; the heads of the first layer come
    first.
    """
    letters, *matrices, rating = (np.array(each, float) for each in weights)
    x, maps = letters[text], []
    for layer in (0, 1):
        query, key, value, mix = matrices[4 * layer : 4 * layer + 4]
        vectors = scaled(x)
        for head in range(4):
            columns = slice(16 * head, 16 * head + 16)
            queries, keys = (
                rotate(
                    vectors @ matrix[:, columns],
                    np.arange(len(text)),
                    layout="half",
                    frequencies=frequencies[layer],
                )
                for matrix in (query, key)
            )
            scores = queries @ keys.T / math.sqrt(16)
            powers = np.tril(np.exp(scores))
            looks = powers / powers.sum(axis=1, keepdims=True)
            maps.append(looks)
            heard = looks @ vectors @ value[:, columns]
            x = x + heads[layer][head] * heard @ mix[columns]
    return scaled(x) @ rating, np.array(maps)


def scaled(x: np.ndarray) -> np.ndarray:
    """Each vector over its root mean square."""
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-6)
