"""What a function does at first sight: its pairs, and how fast they turn."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .formula import FLOAT32, Call
from .report import Finding, numbered

EVEN = 0.05  # radians by which a pair may miss its pace, that turns evenly
STEADY = 1e-4  # by how much lengths may differ from position to position
# A turn that misses what is foretold by so many radians is of another kind.
SURPRISE = 0.3
# What a column that is 1 puts into others is rounding, if it is less.
LEAK = 1e-6
LAYOUTS = (
    "interleaved",
    "half",
    "half of the part",
    "half of the head",
    "interleaved, written as half",
    "half, written as interleaved",
)


class Pairs(NamedTuple):
    """Columns that turn together."""

    layout: str
    columns: np.ndarray  # [pairs, 2], first and second columns
    order: np.ndarray  # column i of the result was column order[i]
    still: np.ndarray | bool = False  # which pairs do not turn

    @property
    def width(self) -> int:
        """Return the width of the vectors."""
        return len(self.order)

    @property
    def rest(self) -> np.ndarray:
        """Return the columns that do not turn."""
        return np.setdiff1d(np.arange(self.width), self.columns)


class Measured(NamedTuple):
    """How pairs turn at the first positions, an array entry for each pair."""

    frequencies: np.ndarray  # radians per position, counterclockwise
    spread: np.ndarray  # by how much these may be off
    phase: np.ndarray  # radians at position 0
    length: np.ndarray
    even: bool  # whether each turns as far from position to position

    @property
    def start(self) -> float:
        """Return the position that position 0 is taken for, or NaN."""
        sizes = np.abs(self.frequencies)
        if not sizes.any() or not self.even:
            return np.nan
        slowest = int(np.where(sizes > 0, sizes, np.inf).argmin())
        start = self.phase[slowest] / self.frequencies[slowest]
        if abs(start - round(start)) < 0.1:  # of a position
            start = round(start)
        off = np.exp(1j * (self.phase - start * self.frequencies)) - 1
        return float(start) if np.abs(off).max() < EVEN else np.nan


def measure(first: Call, doubled: Call | None, step: float) -> Measured:
    """Read frequencies, phases and lengths off the first positions.

    Args:
        first: Positions 0, 1, 2 and so on. Position 0 may be spoiled, so
            that it is not looked at.
        doubled: Positions 1, 2, 4, 8 and so on, which tell frequencies as
            exactly as the largest position allows.
        step: Between numbers just below 1, of the format of the results.
    """
    off_by = 4 * max(step, FLOAT32)  # of a hand: rounded more than once
    hands = first.hands[1:9]
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.abs(hands)
        length = np.median(lengths, axis=0)
        near = np.angle(hands[1] * hands[0].conj())
        phase = np.angle(hands[0] * np.exp(-1j * near))
        angles = phase + np.multiply.outer(np.arange(1, 9), near)
        off = np.abs(hands / length - np.exp(1j * angles)).max()
        wobble = np.ptp(lengths, axis=0).max()
    even = bool(off <= EVEN and wobble <= off_by + STEADY)
    frequencies, spread = near, np.full(len(near), off_by)
    if doubled is not None and even:
        for place, (one, other) in enumerate(pairwise(doubled.hands)):
            places = 2.0**place  # from one position to the other
            foretold = frequencies * places
            missed = np.angle(other * one.conj() * np.exp(-1j * foretold))
            if not np.all(np.abs(missed) <= SURPRISE):
                break
            frequencies = frequencies + missed / places
            float32_loss = 16 * FLOAT32 * np.abs(foretold)
            spread = (off_by + float32_loss) / places
        if np.any(np.abs(frequencies - near) > 2 * off_by):
            frequencies = near  # far positions in a call change near ones
            spread = np.full(len(near), off_by)
    return Measured(frequencies, spread, phase, length, even)


def pairs_of(matrices: np.ndarray) -> tuple[Pairs | None, list[Finding]]:
    """Find out which columns turn together, and what is wrong with that.

    Args:
        matrices: `[positions, width, width]`, what each position makes of
            vectors, at positions 0, 1, 2 and so on.
    """
    if not np.isfinite(matrices[1:]).all():
        words = "Results are NaN or infinity at the first positions."
        return None, [Finding("result", words)]
    order, written = order_of(matrices[0])
    matrices = matrices[:, np.argsort(order)]
    mixing = np.abs(matrices).max(axis=0)
    mixing = np.maximum(mixing, mixing.T)
    np.fill_diagonal(mixing, 0)
    most = mixing.max(axis=1)
    others = mixing > LEAK * np.maximum(most[:, None], most)
    mixed = np.flatnonzero(others.sum(axis=1) > 1)
    if len(mixed):
        words = f"{numbered('Column', mixed)} are mixed with more than one"
        return None, [Finding("rotation", f"{words} other.")]
    moving = np.ptp(matrices[1:], axis=0).max() > LEAK
    if not most.any():
        words = "Nothing turns, whatever the position."
        if moving:
            words = (
                "Columns only change their size with the position: no column"
                " is mixed with a partner."
            )
        return None, [Finding("rotation", words)]
    if not moving:
        words = "Positions are ignored: all are turned by the same angles."
        return None, [Finding("positions", words)]
    columns = np.arange(len(order))
    partner = np.where(most > 0, mixing.argmax(axis=1), columns)
    pairs, findings = laid_out(partner, order)
    if written:
        layout = f"{pairs.layout}, written as {written}"
        pairs = pairs._replace(layout=layout)
    elif not np.array_equal(order, columns):
        findings.append(moved(pairs))
    return pairs, findings


def order_of(matrix: np.ndarray) -> tuple[np.ndarray, str]:
    """Find out whether position 0 moves columns.

    Some functions read pairs interleaved and write them as halves.

    Returns:
        The column of x that each column of the result is, and the name of
        that order if it is a usual one.
    """
    columns = np.arange(len(matrix))
    if not np.isfinite(matrix).all():
        return columns, ""
    order = np.abs(matrix).argmax(axis=1)
    largest = np.maximum(np.abs(matrix).max(axis=1, keepdims=True), LEAK)
    off = np.abs(matrix / largest) - np.eye(len(matrix))[order]
    neighbors = columns.reshape(-1, 2)[:, ::-1].ravel()
    halves = np.roll(columns, len(columns) // 2)
    is_moved = np.abs(off).max() <= EVEN and len(set(order)) == len(order)
    within_pairs = [columns, neighbors, halves]  # a slip in the rotation
    if not is_moved or any(np.array_equal(order, x) for x in within_pairs):
        return columns, ""
    apart = np.concatenate([columns[::2], columns[1::2]])
    if np.array_equal(order, apart):
        return order, "half"
    if np.array_equal(order, np.argsort(apart)):
        return order, "interleaved"
    return order, ""


def moved(pairs: Pairs) -> Finding:
    """Say that position 0 moves columns."""
    column = int(np.argmax(pairs.order != np.arange(pairs.width)))
    words = f"Position 0 moves columns: column {column} of the result is"
    return Finding("position 0", f"{words} column {pairs.order[column]} of x.")


def laid_out(
    partner: np.ndarray, order: np.ndarray
) -> tuple[Pairs, list[Finding]]:
    """Name the layout by the distance of partners.

    Partners half of the head apart, and half of the part that turns, are
    two layouts: columns i and i + 64, or i and i + 48.

    Args:
        partner: Of each column; a column that does not turn has itself.
        order: As in `Pairs`.
    """
    width = len(partner)
    firsts = np.flatnonzero(partner > np.arange(width))
    distances = partner[firsts] - firsts
    distance, begin, last = int(distances[0]), int(firsts[0]), int(firsts[-1])
    if distance == 1:
        layout = "interleaved" if width > 2 else "interleaved or half"
        # Pair 0 alone may stand still.
        places = np.arange(0 if begin == 2 else begin, last + 1, 2)
    elif 2 * distance == width and last < distance - 1:
        layout, places = "half of the head", np.arange(begin, last + 1)
    else:  # the first pairs of a block may stand still
        layout = "half" if 2 * distance == width else "half of the part"
        places = np.arange(last + 1 - distance, last + 1)
    if np.any(distances != distance) or not np.isin(firsts, places).all():
        one, other = firsts[0], partner[firsts[0]]
        words = f"Columns {one} and {other} are a pair, as in no usual layout."
        columns = np.stack([firsts, partner[firsts]], axis=1)
        pairs = Pairs("unknown", columns, order)
        return pairs, [Finding("layout", words)]
    columns = np.stack([places, places + distance], axis=1)
    pairs = Pairs(layout, columns, order, ~np.isin(places, firsts))
    if not pairs.still.any():
        return pairs, []
    words = numbered("Pair", np.flatnonzero(pairs.still))
    numbers = numbered("column", columns[pairs.still].ravel())
    words = f"{words} ({numbers}) should turn, and does not."
    return pairs, [Finding("pair", words)]
