"""What a function does at first sight: its pairs, and how fast they turn."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .formula import FLOAT32, ROUNDINGS, Call
from .report import Finding, numbered

# Angles that pairs may miss by rounding alone: bfloat16 loses 0.016 of a hand.
EVEN = 0.05
# By how much lengths may differ from position to position; float32 loses less.
STEADY = 1e-4
# A frequency is refined from far positions as long as these are foretold to
# within this angle: far from a half turn, beyond which turns are miscounted.
SURPRISE = 0.3
FEW = 8  # positions, from 1 on, that tell whether pairs turn evenly
# What a column that is 1 puts into others is rounding, if it is less.
LEAK = 1e-6
LAYOUTS = (
    "interleaved",
    "half",
    "half of the part",
    "half of the head",
    "interleaved, written as half",
)


class Pairs(NamedTuple):
    """Columns that turn together."""

    layout: str
    columns: np.ndarray  # [pairs, 2], first and second columns
    width: int  # of the vectors
    still: np.ndarray | bool = False  # which pairs do not turn

    @property
    def rest(self) -> np.ndarray:
        """Return the columns that do not turn."""
        return np.setdiff1d(np.arange(self.width), self.columns)


class Measured(NamedTuple):
    """How pairs turn at the first positions, an array entry for each pair."""

    frequencies: np.ndarray  # radians per position, counterclockwise
    spread: np.ndarray  # by how much these may be off
    length: np.ndarray
    even: bool  # whether each turns as far from position to position


def measure(first: Call, doubled: Call | None, step: float) -> Measured:
    """Read frequencies and lengths off the first positions: 0, 1, 2 and so on.

    Position 0 may be spoiled, and is not looked at. Positions 1, 2, 4, 8 and
    so on tell frequencies as exactly as the largest of them allows. Numbers
    just below 1 are a `step` apart, in the format of the results.
    """
    off_by = 4 * max(step, FLOAT32)  # of a hand: rounded more than once
    hands = first.hands[1 : 1 + FEW]
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.abs(hands)
        length = np.median(lengths, axis=0)
        near = np.angle(hands[1] * hands[0].conj())
        phase = np.angle(hands[0] * np.exp(-1j * near))
        angles = phase + np.multiply.outer(np.arange(1, 1 + FEW), near)
        off = np.abs(hands / length - np.exp(1j * angles)).max()
        wobble = np.ptp(np.abs(first.hands[1:]), axis=0).max()
    even = bool(off <= EVEN and wobble <= off_by + STEADY)
    frequencies, spread = near, np.full(len(near), off_by)
    if doubled is not None and even:
        for power, (one, other) in enumerate(pairwise(doubled.hands)):
            apart = 2.0**power  # from one position to the other
            foretold = frequencies * apart
            missed = np.angle(other * one.conj() * np.exp(-1j * foretold))
            if not np.all(np.abs(missed) <= SURPRISE):
                break
            frequencies = frequencies + missed / apart
            lost = 2 * ROUNDINGS * FLOAT32 * np.abs(foretold)  # of both
            spread = (off_by + lost) / apart
        if np.any(np.abs(frequencies - near) > 2 * off_by):
            frequencies = near  # far positions in a call change near ones
            spread = np.full(len(near), off_by)
    return Measured(frequencies, spread, length, even)


def pairs_of(
    matrices: np.ndarray, positions: np.ndarray
) -> tuple[Pairs | None, list[Finding]]:
    """Find out which columns turn together, and what is wrong with that.

    The matrices say what some positions of a call make of vectors, 0 among
    them.
    """
    matrices = matrices[np.argsort(positions)]
    finite = np.isfinite(matrices)
    mixing = np.abs(matrices).max(axis=0, where=finite, initial=0)
    mixing = np.maximum(mixing, mixing.T)
    np.fill_diagonal(mixing, 0)
    most = mixing.max(axis=1)
    others = mixing > LEAK * np.maximum(most[:, None], most)
    mixed = np.flatnonzero(others.sum(axis=1) > 1)
    moving = np.ptp(matrices[1:], axis=0) > LEAK
    alone = np.flatnonzero((most == 0) & moving.any(axis=0))
    written = np.eye(len(mixing))[interleaved_as_half(len(mixing))]
    name, words, asked = "rotation", "", ", ".join(map(str, positions))
    if not finite[1:].all():
        name = "result"
        words = "Results are NaN or infinity at the first positions."
    elif len(mixing) > 2 and np.allclose(matrices[0], written, atol=EVEN):
        name, words = "position 0", "Position 0 moves columns: they are read"
        words += " interleaved and written as halves. If that is meant, give"
        words += f" layout={LAYOUTS[-1]!r}."
    elif len(mixed):
        words = f"{numbered('Column', mixed)} are mixed with more than one"
        words += " other."
    elif len(alone):
        words = f"{numbered('Column', alone)} only change their size with the"
        words += " position: they are mixed with no partner."
    elif not most.any():
        words = f"Nothing turns in a call of positions {asked}."
    elif not moving.any():
        name = "positions"
        words = f"In a call of positions {asked}, all tokens are turned by the"
        words += " same angles."
    if words:
        return None, [Finding(name, words)]
    columns = np.arange(len(mixing))
    return laid_out(np.where(most > 0, mixing.argmax(axis=1), columns))


def interleaved_as_half(width: int) -> np.ndarray:
    """Return the order in which DeepSeek's functions write columns."""
    return np.arange(width).reshape(-1, 2).T.ravel()


def laid_out(partner: np.ndarray) -> tuple[Pairs, list[Finding]]:
    """Name the layout by the distance of partners.

    Partners half of the head apart, and half of the part that turns, are
    two layouts: columns i and i + 64, or i and i + 48. A column that does not
    turn is its own partner.
    """
    width = len(partner)
    turning = np.flatnonzero(partner > np.arange(width))  # first columns
    distances = partner[turning] - turning
    distance, begin, last = distances[0], turning[0], turning[-1]
    if distance == 1:
        layout = "interleaved" if width > 2 else "interleaved or half"
        # Pair 0 alone may stand still.
        firsts = np.arange(0 if begin == 2 else begin, last + 1, 2)
    elif 2 * distance == width and last < distance - 1:
        layout, firsts = "half of the head", np.arange(begin, last + 1)
    else:  # the first pairs of a block may stand still, or the last
        layout = "half" if 2 * distance == width else "half of the part"
        firsts = np.arange(distance) + max(0, last + 1 - distance)
    if (
        np.any(distances != distance)
        or 2 * distance > width
        or not np.isin(turning, firsts).all()
    ):
        one, other = begin, partner[begin]
        words = f"Columns {one} and {other} are a pair, as in no usual layout."
        columns = np.stack([turning, partner[turning]], axis=1)
        return Pairs("unknown", columns, width), [Finding("layout", words)]
    columns = np.stack([firsts, firsts + distance], axis=1)
    pairs = Pairs(layout, columns, width, ~np.isin(firsts, turning))
    if not pairs.still.any():
        return pairs, []
    words = numbered("Pair", np.flatnonzero(pairs.still))
    numbers = numbered("column", columns[pairs.still].ravel())
    words = f"{words} ({numbers}) should turn, and does not."
    return pairs, [Finding("pair", words)]
