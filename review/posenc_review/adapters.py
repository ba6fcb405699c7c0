"""Give functions of other shapes the one that a review asks for.

Each adapter takes your function and returns `rotate(x, positions)`, with `x`
of `[batch, seq_len, width]` and `positions` of `[batch, seq_len]`. With
`tensor=torch.tensor` your function gets tensors instead of arrays.
"""

from collections.abc import Callable

import numpy as np

from .report import numbers

Rotate = Callable[[np.ndarray, np.ndarray], object]


def two_heads(x: np.ndarray, axis: int) -> np.ndarray:
    """Return vectors as those of a head, and their negatives as another's."""
    return np.stack([x, -x], axis=axis)


def first_of_two(made: object, axis: int) -> np.ndarray:
    """Return the vectors of the first head, if the second is turned alike."""
    one, other = np.moveaxis(numbers(made), axis, 0)
    if not np.allclose(one, -other, rtol=0, atol=1e-6):
        raise ValueError("two heads are not turned alike")
    return one


def heads_first(turn: Callable, tensor: Callable = np.array) -> Rotate:
    """Adapt `turn(x, positions)` with `x` of `[batch, heads, seq, width]`."""

    def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        made = turn(tensor(two_heads(x, 1)), tensor(positions))
        return first_of_two(made, 1)

    return rotate


def sequence_first(turn: Callable, tensor: Callable = np.array) -> Rotate:
    """Adapt `turn(x, positions)` with `x` of `[seq, batch, heads, width]`.

    Its positions are `[seq, batch]`.
    """

    def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        given = two_heads(x.swapaxes(0, 1), 2)
        made = first_of_two(turn(tensor(given), tensor(positions.T)), 2)
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
                made[row, piece] = numbers(turn(given, int(places[piece[0]])))[
                    0
                ]
        return made

    return rotate


def cos_and_sin(
    turn: Callable, cos: object, sin: object, tensor: Callable = np.array
) -> Rotate:
    """Adapt `turn(x, cos, sin)`, which is handed rows of two tables.

    Args:
        turn: With `x` of `[batch, seq, width]`, and `cos` and `sin` of
            `[batch, seq, columns]`.
        cos: The table of cosines, `[max_len, columns]`.
        sin: The table of sines.
        tensor: Makes what your function takes out of an array.
    """
    cosines, sines = numbers(cos), numbers(sin)

    def rotate(x: np.ndarray, positions: np.ndarray) -> object:
        rows = tensor(cosines[positions]), tensor(sines[positions])
        return turn(tensor(x), *rows)

    return rotate
