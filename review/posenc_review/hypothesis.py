"""How columns turn with the position: what is supposed, and what is seen.

A pair of columns is the hand of a clock. At each position it points to a
complex number, its cosine + 1j * its sine. Rotary functions have two hands a
pair, one for each column; in a table of sinusoids, pairs have one hand.

A hypothesis computes where hands point by the formula, with a field for each
stage at which something may be changed:

    read positions, times frequencies, + phase, exp, times length, form
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .report import Finding
from .rounding import FORMATS, STEP

NEAR = 42  # positions that are looked at whole: no usual width, nor batch
FEW = 9  # positions, from 0 on, over which lengths are measured
EVEN = 0.05  # how far off a hand may be that turns evenly


def same(values: np.ndarray) -> np.ndarray:
    """Leave positions, or hands, as they are."""
    return values


class Hypothesis(NamedTuple):
    """Where hands point at each position."""

    frequencies: np.ndarray  # [pairs, hands]: radians per position, signed
    slack: float  # by how much a hand may be off, beside what float32 loses
    read: Callable[[np.ndarray], np.ndarray] = same  # taken for positions
    phase: np.ndarray | float = 0.0
    length: np.ndarray | float = 1.0
    form: Callable[[np.ndarray], np.ndarray] = same  # made of hands
    format: str = ""  # to which values are rounded,
    stages: str = ""  # and which of them: positions, frequencies, angles
    spoiled: tuple[float, float, float] = (0, -1, 1)  # from, to, by what
    doubt: float = 0.0  # by how much, relatively, frequencies may be off
    findings: tuple[Finding, ...] = ()  # the changes, in words

    def but(self, finding: Finding, **fields) -> "Hypothesis":
        """Return a hypothesis with some fields changed, and the words."""
        return self._replace(findings=(*self.findings, finding), **fields)

    def rounded(self, stage: str, values: np.ndarray) -> np.ndarray:
        """Round the values of a stage, if it is one that is rounded."""
        return FORMATS[self.format](values) if stage in self.stages else values

    def hands(self, positions: object) -> np.ndarray:
        """Return `[positions, pairs, hands]`, complex."""
        read = self.read(np.asarray(positions, float))
        read = self.rounded("positions", read)
        frequencies = self.rounded("frequencies", self.frequencies)
        with np.errstate(invalid="ignore"):  # infinity, from float16
            angles = np.multiply.outer(read, frequencies)
            angles = self.rounded("angles", angles) + self.phase
            hands = np.empty(angles.shape, complex)
            np.cos(angles, out=hands.real)
            np.sin(angles, out=hands.imag)
            hands = self.form(self.length * hands)
            return hands * self.factors(positions)[:, None, None]

    def factors(self, positions: object) -> np.ndarray:
        """Return what whole vectors are multiplied by, `[positions]`."""
        first, last, factor = self.spoiled
        places = np.asarray(positions)
        return np.where((places >= first) & (places <= last), factor, 1.0)

    def compare(
        self, positions: object, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which hands are where they should be, and how far off.

        Where NaN or infinity is due, any of them is right.
        """
        due = self.hands(positions)
        places = np.abs(np.asarray(positions, float))
        angles = np.multiply.outer(places, np.abs(self.frequencies))
        angles *= 8 * STEP["float32"] + self.doubt  # what float32 loses
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            apart = seen - due
        fits = np.abs(apart) <= self.slack + angles
        if not np.isfinite(apart).all():
            fits |= ~np.isfinite(seen) & ~np.isfinite(due)
        return fits, np.maximum(np.abs(apart.real), np.abs(apart.imag))


class Measured(NamedTuple):
    """Hands as they were seen at the first positions: `[pairs, hands]`."""

    frequencies: np.ndarray
    phase: np.ndarray
    length: np.ndarray
    off: np.ndarray  # by how much a hand turns unevenly from position 1 on

    @property
    def even(self) -> np.ndarray:
        """Tell which hands turn evenly."""
        return (self.off <= EVEN) & (self.length > 0)

    @property
    def start(self) -> float:
        """Return the position that position 0 is taken for, or NaN."""
        sizes = np.abs(self.frequencies)
        if not sizes.any():
            return np.nan
        slowest = int(np.where(sizes > 0, sizes, np.inf).argmin())
        start = self.phase.flat[slowest] / self.frequencies.flat[slowest]
        if abs(start - round(start)) < 0.01:
            start = round(start)
        off = np.exp(1j * (self.phase - start * self.frequencies)) - 1
        return float(start) if np.abs(off).max() < 0.01 else np.nan


def measure(seen: np.ndarray) -> Measured:
    """Read frequencies, phases and lengths off hands at 0, 1, 2 and so on.

    Position 0 may be spoiled, so that 1 and 2 are looked at.
    """
    frequencies = np.angle(seen[2] * seen[1].conj())  # -pi to pi
    phase = np.angle(seen[1] * np.exp(-1j * frequencies))
    length = np.median(np.abs(seen[1:FEW]), axis=0)
    steps = np.arange(1, len(seen[:4])).reshape(-1, 1, 1)
    size = np.maximum(np.abs(seen[1]), 1e-9)
    due = np.exp(1j * (phase + steps * frequencies))
    off = np.abs(seen[1:4] / size - due).max(axis=0)
    return Measured(frequencies, phase, length, off)
