"""Ask a rotary function, and read how it turns each column."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .reading import describe_error, numbers

NEAR = 42  # positions that are looked at whole: no usual width, nor batch
FEW = 9  # of them, at which lengths and forms are read


class NoAnswerError(Exception):
    """The function raised an error, or returned something else."""


class Rotation:
    """A rotary function, asked with care.

    It is given arrays of its own, so that one which changes them is found
    out; `changed` tells which it has changed. Where it takes no batch it is
    asked row by row.
    """

    def __init__(self, rotate: Callable, width: int):
        """Take the function and the width of what it rotates."""
        self.rotate, self.width = rotate, width
        self.takes_batches = True
        self.changed: set[str] = set()

    def __call__(self, x: np.ndarray, positions: object) -> np.ndarray:
        """Return what it makes of `x`, as float64.

        Args:
            x: `[batch, seq_len, width]`.
            positions: `[batch, seq_len]`.

        Raises:
            NoAnswerError: If it raises, or returns another shape.
        """
        positions = np.array(positions, np.int64)
        if self.takes_batches or len(x) == 1:
            return self.ask(x, positions)
        pairs = zip(x, positions, strict=True)
        rows = [self.ask(one[None], at[None]) for one, at in pairs]
        return np.concatenate(rows)

    def ask(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Ask once, and see to it that `x` and `positions` stay."""
        mine, places = np.array(x, np.float64), positions.copy()
        try:
            with np.errstate(all="ignore"):
                made = numbers(self.rotate(mine, places)).copy()
        except (Exception, SystemExit) as error:  # whatever it raises
            raise NoAnswerError(describe_error(error)) from None
        if made.shape != x.shape:
            raise NoAnswerError(
                f"the result's shape is {made.shape}, not {x.shape}"
            )
        if not np.array_equal(mine, x):
            self.changed.add("x")
        if not np.array_equal(places, positions):
            self.changed.add("positions")
        return made


def near_matrices(rotation: Rotation, count: int) -> np.ndarray:
    """Return how the first positions mix the columns.

    Each column is asked about alone, at positions 0, 1, 2 and so on in one
    row, as every function should be able to answer.

    Args:
        rotation: The function.
        count: How many positions.

    Returns:
        `[count, width, width]`; entry `[p, i, j]` is how much of column `j`
        position `p` puts into column `i`.
    """
    answers = []
    for column in np.eye(rotation.width):
        x = np.tile(column, (1, count, 1))
        answers.extend(rotation(x, [range(count)]))
    return np.stack(answers, axis=-1)


class Layout(NamedTuple):
    """Which columns turn together."""

    names: tuple[str, ...]  # none if it is no usual layout, two at width 2
    pairs: np.ndarray  # [pairs, 2], columns; those that could turn
    still: np.ndarray  # which pairs do not
    width: int  # of the head


def partners(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the column that each column is mixed with.

    Returns:
        For each column its partner, or itself; and the columns that are
        mixed with more than one other.
    """
    mixing = np.abs(matrices).max(axis=0)
    mixing = np.maximum(mixing, mixing.T)
    np.fill_diagonal(mixing, 0)
    most = mixing.max(axis=1)
    partner = np.where(most > 0, mixing.argmax(axis=1), np.arange(len(most)))
    others = mixing > 1e-6 * np.maximum(most[:, None], most)
    return partner, np.flatnonzero(others.sum(axis=1) > 1)


def layout_of(partner: np.ndarray) -> Layout:
    """Name the layout by the distance of partners.

    Args:
        partner: For each column its partner, or itself if it stands still.
    """
    width = len(partner)
    turning = np.flatnonzero(partner != np.arange(width))
    firsts = turning[partner[turning] > turning]
    distances = partner[firsts] - firsts
    distance = int(distances[0])
    if np.any(distances != distance):
        pairs = np.stack([firsts, partner[firsts]], axis=1)
        return Layout((), pairs, np.zeros(len(pairs), bool), width)
    if distance == 1:
        names, seconds = ("interleaved",), np.arange(1, width, 2)
    else:
        # the first pair of a block that begins at 0 may stand still
        start = 0 if turning[-1] < 2 * distance else turning[0]
        names = ("half",)
        seconds = np.arange(start + distance, start + 2 * distance)
    if width == 2:
        names = ("interleaved", "half")
    pairs = np.stack([seconds - distance, seconds], axis=1)
    still = ~np.isin(pairs[:, 0], firsts)
    if still.sum() > 1:  # a part, not a pair forgotten
        pairs, still = without_ends(pairs, still)
    return Layout(names, pairs, still, width)


def without_ends(
    pairs: np.ndarray, still: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Leave out pairs at both ends that stand still."""
    moving = np.flatnonzero(~still)
    kept = slice(moving[0], moving[-1] + 1)
    return pairs[kept], still[kept]


class Hands(NamedTuple):
    """How the columns of pairs turn: `[pairs, 2]`, firsts and seconds.

    A column's hand has for its cosine what the column keeps of itself, and
    for its sine what it takes from its partner. At position `p` it points
    to `phase + p * speed` and is `length` long.
    """

    seen: np.ndarray  # [positions, pairs, 2], complex
    length: np.ndarray
    phase: np.ndarray
    speed: np.ndarray


def hands_of(blocks: np.ndarray) -> np.ndarray:
    """Return the hands of pairs.

    Args:
        blocks: `[positions, pairs, 2, 2]`, what each pair makes of itself.

    Returns:
        `[positions, pairs, 2]`, complex.
    """
    first = blocks[..., 0, 0] - 1j * blocks[..., 0, 1]
    second = blocks[..., 1, 1] + 1j * blocks[..., 1, 0]
    return np.stack([first, second], axis=-1)


def blocks_of(matrices: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the entries of matrices that belong to pairs."""
    return matrices[:, pairs[:, :, None], pairs[:, None, :]]


def read_hands(seen: np.ndarray) -> Hands:
    """Measure lengths, phases and speeds at the first few positions.

    Args:
        seen: `[positions, pairs, 2]`, complex.
    """
    length = np.median(np.abs(seen[:FEW]), axis=0)
    speed = np.angle(seen[1] * seen[0].conj())  # -pi to pi
    return Hands(seen, length, np.angle(seen[0]), speed)


class Shuffle(NamedTuple):
    """The order in which a result's columns stand."""

    order: np.ndarray  # column i of the result was column order[i]
    written: str = ""  # the layout in which pairs are written, if another
    known: bool = True  # whether the order is that of a layout


def undo_shuffle(matrices: np.ndarray) -> tuple[Shuffle, np.ndarray]:
    """Find out whether position 0 moves columns, and put them back.

    Some functions read pairs interleaved and write them as halves.
    """
    width = len(matrices.T)
    same = np.arange(width)
    order = matrices[0].argmax(axis=1)
    is_order = np.array_equal(np.sort(order), same)
    moved = np.abs(matrices[0] - np.eye(width)[order]).max() < 1e-3
    if not (is_order and moved) or np.array_equal(order, same):
        return Shuffle(same), matrices
    return name_shuffle(order), matrices[:, np.argsort(order)]


def name_shuffle(order: np.ndarray) -> Shuffle:
    """Say whether an order is one layout written as the other."""
    same = np.arange(len(order))
    if np.array_equal(order, [*same[::2], *same[1::2]]):
        return Shuffle(order, "half")
    if np.array_equal(order[::2], same[: len(same) // 2]):
        return Shuffle(order, "interleaved")
    return Shuffle(order, known=False)


class Probe:
    """Asks how pairs turn at any positions, by two rows of probes."""

    def __init__(self, rotation: Rotation, layout: Layout, shuffle: Shuffle):
        """Take what is known of the function."""
        self.rotation, self.pairs = rotation, layout.pairs
        self.back = np.argsort(shuffle.order)

    def __call__(self, positions: object) -> np.ndarray:
        """Return the hands at positions, asked in one call.

        Returns:
            `[positions, pairs, 2]`, complex, with NaN where it gives NaN.
        """
        positions = np.asarray(positions)
        x = np.zeros((2, len(positions), self.rotation.width))
        x[0][:, self.pairs[:, 0]] = 1
        x[1][:, self.pairs[:, 1]] = 1
        made = self.rotation(x, np.stack([positions, positions]))
        made = made[..., self.back]
        by_input = [made[k][:, self.pairs] for k in (0, 1)]  # [p, pairs, out]
        return hands_of(np.stack(by_input, axis=-1))

    def alone(self, position: int) -> np.ndarray:
        """Return the hands at one position, NaN where it cannot be asked."""
        try:
            return self([position])
        except NoAnswerError:
            return np.full((1, *self.pairs.shape), np.nan, complex)
