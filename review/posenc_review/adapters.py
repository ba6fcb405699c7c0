"""Give functions of other shapes the one that a review asks for.

Each adapter takes your function and returns `rotate(x, positions)`, with `x`
of `[batch, seq_len, width]` and `positions` of `[batch, seq_len]`. With
`tensor=torch.tensor` your function gets tensors instead of arrays.
"""

from collections.abc import Callable

import numpy as np

from .report import numbers

Rotate = Callable[[np.ndarray, np.ndarray], object]


def of_two_heads(turn: Callable, x: np.ndarray, axis: int) -> np.ndarray:
    """Turn vectors as those of one head, and their negatives as another's."""
    made = numbers(turn(np.stack([x, -x], axis=axis)))
    one, other = np.moveaxis(made, axis, 0)
    if not np.allclose(one, -other, rtol=0, atol=1e-6):
        raise ValueError("two heads are not turned alike")
    return one


def heads_first(turn: Callable, tensor: Callable = np.array) -> Rotate:
    """Adapt `turn(x, positions)` with `x` of `[batch, heads, seq, width]`."""

    def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        places = tensor(positions)
        return of_two_heads(lambda heads: turn(tensor(heads), places), x, 1)

    return rotate


def sequence_first(turn: Callable, tensor: Callable = np.array) -> Rotate:
    """Adapt `turn(x, positions)` with `x` of `[seq, batch, heads, width]`.

    Its positions are `[seq, batch]`.
    """

    def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        places, x = tensor(positions.T), x.swapaxes(0, 1)
        made = of_two_heads(lambda heads: turn(tensor(heads), places), x, 2)
        return made.swapaxes(0, 1)

    return rotate


def flat_in_place(turn: Callable, tensor: Callable = np.array) -> Rotate:
    """Adapt `turn(positions, x)`, which changes `x` of `[tokens, width]`."""

    def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        tokens = tensor(x.reshape(-1, x.shape[-1]))
        turn(tensor(positions.ravel()), tokens)
        return numbers(tokens).reshape(x.shape)

    return rotate


def one_offset(turn: Callable, tensor: Callable = np.array) -> Rotate:
    """Adapt `turn(x, offset)`, which counts on from one offset.

    `x` is `[1, seq_len, width]`. Rows are cut where positions do not count
    on, and each piece is a call of its own, so that what your function does
    to batches and to mixed positions is not seen.
    """

    def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        made = np.empty(x.shape)
        for row, places in enumerate(positions):
            breaks = np.flatnonzero(np.diff(places) != 1) + 1
            for piece in np.split(np.arange(len(places)), breaks):
                given = tensor(x[row : row + 1, piece])
                turned = turn(given, int(places[piece[0]]))
                made[row, piece] = numbers(turned)[0]
        return made

    return rotate


def cos_and_sin(
    turn: Callable, cos: object, sin: object, tensor: Callable = np.array
) -> Rotate:
    """Adapt `turn(x, cos, sin)`, which is handed rows of two tables.

    The tables are `[max_len, columns]`, and their rows reach your function
    as `[batch, seq, columns]`.
    """
    cosines, sines = numbers(cos), numbers(sin)

    def rotate(x: np.ndarray, positions: np.ndarray) -> object:
        rows = tensor(cosines[positions]), tensor(sines[positions])
        return turn(tensor(x), *rows)

    return rotate
