"""Make the reference of a function, and compare calls with it."""

from typing import NamedTuple

import numpy as np

from . import measure


class Reference(NamedTuple):
    """By what pairs are to be multiplied."""

    frequencies: np.ndarray  # radians per position, [pairs]
    lengths: np.ndarray  # by which factor pairs become longer, [pairs]
    tolerance: float  # a share of these lengths

    @property
    def lost(self) -> np.ndarray:
        """Return the radians per position that float32 may lose, `[pairs]`."""
        pair = np.arange(len(self.frequencies))
        roundings = measure.ROUNDINGS + measure.MORE_A_PAIR * pair
        return roundings * np.abs(self.frequencies) * measure.ROUNDING

    def rotations(self, positions: np.ndarray) -> np.ndarray:
        """Return the rotations at positions, `[positions, pairs]`."""
        angles = np.multiply.outer(positions, self.frequencies)
        return self.lengths * np.exp(1j * angles)

    def differ(
        self, positions: np.ndarray, rotations: np.ndarray
    ) -> np.ndarray:
        """Tell which rotations differ, `[positions, pairs]`; NaN does."""
        distances = np.abs(rotations - self.rotations(positions))
        lost = np.multiply.outer(np.abs(positions), self.lost)
        return ~(distances <= self.lengths * (self.tolerance + lost))

    def read_back(self, rotations: np.ndarray, farthest: int) -> int | None:
        """Return the only position that has these rotations `[pairs]`."""
        places = np.arange(-farthest, farthest + 1)
        for pair in np.abs(self.frequencies).argsort()[::-1]:
            angles = places * self.frequencies[pair]
            expected = self.lengths[pair] * np.exp(1j * angles)
            forgiven = self.tolerance + self.lost[pair] * np.abs(places)
            distances = np.abs(expected - rotations[pair])
            places = places[distances < measure.READ_BACK * forgiven]
        return int(places[0]) if len(places) == 1 else None


class Sample(NamedTuple):
    """The rotations that a reference is made from."""

    near: np.ndarray  # at 64 successive positions, [64, pairs]
    far: (
        np.ndarray
    )  # 1, 2, 4, 8, ... positions after the first, [powers, pairs]

    def frequencies(self) -> np.ndarray:
        """Measure radians per position of each pair, `[pairs]`.

        Far positions tell them more exactly, as long as the whole turns in
        between can be counted.
        """
        steps = np.nan_to_num(np.angle(self.near[2:] * self.near[1:-1].conj()))
        frequencies = np.median(steps, axis=0)
        for k in range(len(self.far) - 1):
            expected = self.far[k] * np.exp(1j * frequencies * 2**k)
            missed = np.angle(self.far[k + 1] * expected.conj())
            if not (np.abs(missed) < measure.COUNTABLE).all():
                break
            frequencies = frequencies + missed / 2**k
        return frequencies

    def misses(self, reference: Reference) -> np.ndarray:
        """Count the tokens at which pairs differ from a reference, `[pairs]`.

        Positions count from the second token, since all may be ahead by the
        same number, and since tables may keep the first row for padding.
        """
        powers = 2 ** np.arange(len(self.far))
        positions = np.append(np.arange(len(self.near)), powers) - 1
        rotations = np.concatenate(self) * self.near[1].conj()
        rotations = rotations / reference.lengths
        return reference.differ(positions, rotations).sum(axis=0)


def geometric(base: float, pairs: int, steps: int = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def bases_near(measured: np.ndarray, rotated: int) -> dict[str, np.ndarray]:
    """Return the frequencies of bases that fit measured ones, by names.

    The frequency of pair 0 tells by what all are divided, and each other one
    tells a base. Of the median of these, round numbers come first.
    """
    speeds = np.abs(measured[:rotated]) + measure.NOTHING
    divisor, base = max(1, 1 / speeds[0]), 1e4
    if rotated > 1:
        slopes = np.log(speeds[0] / speeds[1:]) / np.arange(1, rotated)
        base = np.exp(np.median(slopes) * rotated)
    candidates = [(1e4, 1.0)]
    for digits in (3, 6, 17):
        rounded = [float(f"{each:.{digits}g}") for each in (base, divisor)]
        candidates.append(rounded)
    named = {}
    for base, divisor in candidates:
        if (
            not 1 < base < measure.LARGEST_BASE
            or divisor > measure.LARGEST_DIVISOR
        ):
            continue
        words = f"base {base:.6g}"
        if divisor > 1.000001:
            words += f" and all divided by {divisor:.5g}"
        frequencies = np.zeros(len(measured))
        frequencies[:rotated] = geometric(base, rotated) / divisor
        named[words] = frequencies
        named[f"clockwise, {words}"] = -frequencies
    return named


class Call(NamedTuple):
    """A call that was compared."""

    name: str
    positions: np.ndarray  # [rows, tokens]
    wrong: np.ndarray  # [rows, tokens]
    rotations: np.ndarray  # those of up to three tokens that differ
