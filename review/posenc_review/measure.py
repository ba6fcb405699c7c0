"""How things are measured: calls, pairs of columns, frequencies, differences.

A pair of columns is the hand of a clock, a complex number. At position `p`, a
pair of frequency `w` should be multiplied by `exp(1j * p * w)`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

FLOAT32 = 2.0**-24  # what rounding to float32 may change, relatively
STEP = {"bfloat16": 2.0**-8, "float16": 2.0**-11}  # of numbers just below 1
FORMATS = ("bfloat16", "float16", "float32", "float64")
SHOWN = 6  # tokens of a call that are kept, to say what they became
CHUNK = 2**18  # numbers that are compared in one go, to stay in the cache


class CallError(Exception):
    """A call raised an error, or returned what cannot be compared."""


class OutOfReachError(ValueError):
    """The function may be right, but is of a kind that is not reviewed."""


def ask(function: Callable, *given: object) -> np.ndarray:
    """Return what a function returns as a new array; it may be a tensor."""
    try:
        with np.errstate(all="ignore"):
            made = function(*given)
        if hasattr(made, "detach"):  # PyTorch; its bfloat16 needs the `double`
            made = made.detach().cpu().double()
        array = np.asarray(made)
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:200]
        words = f"{type(error).__name__}: {said}".removesuffix(": ")
        raise CallError(words) from error
    if made is None or array.dtype.kind in "USOc":
        raise CallError(f"it returns {type(made).__name__}, no real numbers")
    return array.astype(np.float64)


def format_of(made: np.ndarray) -> str:
    """Name the shortest format that holds all numbers of a result."""
    some = made[np.isfinite(made) & ~np.isin(made, (-1, 0, 1))]
    with np.errstate(over="ignore"):
        fraction, exponent = np.frexp(some.astype(np.float32))
        bfloat16 = np.ldexp(np.round(fraction * 256) / 256, exponent)
        rounded = [bfloat16, some.astype("f2"), some.astype("f4")]
    for name, values in zip(FORMATS, rounded, strict=False):
        if len(some) and np.array_equal(values, some):
            return name
    return FORMATS[-1]


# Pairs, and how they turn.


def pairs_of(matrices: np.ndarray) -> np.ndarray:
    """Return which columns turn together, `[pairs, 2]`.

    The matrices say what some positions make of each column.
    """
    mixing = np.abs(np.nan_to_num(matrices)).max(axis=0)
    others = np.maximum(mixing, mixing.T) > 1e-7 * mixing.max()
    np.fill_diagonal(others, False)
    if others.sum(axis=1).max() > 1:
        column = int(others.sum(axis=1).argmax())
        into = np.flatnonzero(others[column])[:SHOWN].tolist()
        raise CallError(f"Column {column} is mixed with columns {into}")
    if not others.any():
        raise CallError("No column is mixed with another at positions 0 to 40")
    return np.argwhere(np.triu(others))


def filled(pairs: np.ndarray, width: int) -> np.ndarray:
    """Add the pairs that stand still among or before those that turn."""
    first, apart = pairs[:, 0], np.ptp(pairs, axis=1)
    step = 2 if apart[0] == 1 else 1
    whole = first[0] <= step or 2 * apart[0] == width
    due = np.arange(0 if whole else first[0], first[-1] + 1, step)
    if np.ptp(apart) or not np.isin(first, due).all():
        return pairs
    return np.stack([due, due + apart[0]], axis=1)


def hands(values: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return pairs of columns as complex numbers: `[tokens, pairs]`."""
    first, second = (values.take(side, axis=1) for side in pairs.T)
    return first + 1j * second


class Rates(NamedTuple):
    """How pairs turn at the first positions: an entry for each pair."""

    measured: np.ndarray  # radians per position, counterclockwise
    doubt: np.ndarray  # by how much these may be off
    length: np.ndarray  # by how much vectors become longer


def rates(near: np.ndarray, far: np.ndarray, step: float) -> Rates:
    """Read frequencies off the hands at positions 0, 1, 2, ..., 63.

    The hands at positions 1, 2, 4, 8, ... tell them more exactly, as long as
    the turns between two of these can be counted. Numbers just below 1 are a
    `step` apart.
    """
    turns = np.nan_to_num(np.angle(near[2:] * near[1:-1].conj()))
    first = measured = np.median(turns, axis=0)
    rounded = 4 * max(step, FLOAT32)  # of a hand, more than once
    doubt = np.full(len(first), rounded)
    for power in range(len(far) - 1):
        foretold = far[power] * np.exp(1j * measured * 2**power)
        missed = np.angle(far[power + 1] * foretold.conj())
        if not (np.abs(missed) < 0.3).all():
            break
        measured = measured + missed / 2**power
        doubt = rounded / 2**power + 16 * FLOAT32 * np.abs(measured)
    if (np.abs(measured - first) > 4 * rounded).any():  # far ones mislead
        measured, doubt = first, np.full(len(first), rounded)
    return Rates(measured, doubt, np.median(np.abs(near[1:]), axis=0))


def turns_evenly(near: np.ndarray, seen: Rates) -> bool:
    """Tell whether pairs turn, by the same angle from token to token."""
    foretold = near[1:-1] * np.exp(1j * seen.measured)
    evenly = np.abs(near[2:] - foretold) <= 0.1
    return bool(np.abs(seen.measured).max() > 1e-9 and evenly.all())


def geometric(base: float, pairs: int, steps: int = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def lost(frequencies: np.ndarray) -> np.ndarray:
    """Return the radians per position that float32 may lose.

    Position, base, exponent, power and product are rounded once or twice, and
    once more for each pair where a frequency is made from the one before.
    """
    return (8 + np.arange(len(frequencies))) * FLOAT32 * np.abs(frequencies)


def missed(seen: Rates, due: np.ndarray) -> np.ndarray:
    """Return by how much frequencies are off, apart from whole turns."""
    return np.abs(np.angle(np.exp(1j * (seen.measured - due))))


def differ(seen: Rates, due: np.ndarray, loose: float = 0) -> np.ndarray:
    """Tell which pairs have other frequencies than those due."""
    allowed = seen.doubt + 2 * lost(due) + loose * np.abs(due)
    return missed(seen, due) > allowed


class Series(NamedTuple):
    """The frequencies of a base, perhaps multiplied by a factor."""

    frequencies: np.ndarray
    base: float
    factor: float

    @property
    def usual(self) -> bool:
        """Whether these may be meant. Degrees and parts of a turn cannot."""
        slips = np.array([180 / np.pi, 2 * np.pi]) * self.factor
        possible = 1 < self.base < 1e12 and self.factor < 1.00001
        return possible and (np.abs(slips - 1) > 1e-3).all()

    def __str__(self) -> str:
        """Name the base and the factor."""
        words = f"base {self.base:.6g}"
        if abs(self.factor - 1) > 1e-6:
            words += f" and all divided by {1 / self.factor:.5g}"
        return words


def series(seen: Rates) -> Series | None:
    """Return the base that the frequencies of all pairs follow, if any."""
    size, count = np.abs(seen.measured), len(seen.measured)
    sign = np.sign(seen.measured[0])
    if count < 2 or (np.sign(seen.measured) != sign).any() or not sign:
        return None
    weights = size / (seen.doubt + 1e-6 * size)
    slope, start = np.polyfit(np.arange(count), np.log(size), 1, w=weights)
    base, factor = np.exp(-slope * count), np.exp(start)
    for digits in (3, 6, 17):  # round numbers first
        some = float(f"{base:.{digits}g}")
        for by in (1.0, 1 / float(f"{1 / factor:.4g}"), factor):
            due = sign * by * geometric(some, count)
            if not differ(seen, due).any():
                return Series(due, some, by)
    return None


# Calls, compared with the formula.


class Call(NamedTuple):
    """A call, and what became of its tokens."""

    name: str
    positions: np.ndarray  # [rows, tokens]
    given: np.ndarray  # [rows * tokens, width]
    made: np.ndarray  # [rows * tokens, width]


class Reference(NamedTuple):
    """The formula that calls are compared with."""

    pairs: np.ndarray  # [pairs, 2], columns
    rates: np.ndarray  # radians per position of each pair
    length: np.ndarray  # by how much each becomes longer
    tolerance: float
    forgiven: np.ndarray  # radians per position that may be lost

    def due(self, given: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return what hands become at some positions."""
        angles = np.multiply.outer(places.astype(float), self.rates)
        waves = np.empty(angles.shape, complex)
        waves.real, waves.imag = np.cos(angles), np.sin(angles)
        return given * (self.length * waves)


class Compared(NamedTuple):
    """Which tokens of a call differ, and the first of them in detail."""

    name: str
    positions: np.ndarray  # [rows, tokens]
    wrong: np.ndarray  # [rows, tokens]
    worst: float  # how far off a number is
    places: np.ndarray  # [shown, 2], rows and tokens of the first
    given: np.ndarray  # [shown, pairs], their hands
    made: np.ndarray  # [shown, pairs], and what these became


def compare(call: Call, reference: Reference) -> Compared:
    """Compare all numbers of a call's pairs with the formula."""
    places, pairs = call.positions.ravel(), reference.pairs
    wrong, worst = np.empty(places.size, bool), 0.0
    size = max(1, CHUNK // call.given.shape[1])
    for start in range(0, places.size, size):
        piece = slice(start, start + size)
        due = reference.due(hands(call.given[piece], pairs), places[piece])
        off = np.abs((hands(call.made[piece], pairs) - due).view(float))
        off = np.where(np.isfinite(off), off, np.inf).reshape(*due.shape, 2)
        slack = np.multiply.outer(np.abs(places[piece]), reference.forgiven)
        slack = reference.tolerance + 1.5 * reference.length * slack
        wrong[piece] = (off.max(axis=-1) > slack).any(axis=-1)
        worst = max(worst, off[wrong[piece]].max(initial=0))
    wrong = wrong.reshape(call.positions.shape)
    shown = np.argwhere(wrong)[:SHOWN]
    at = np.ravel_multi_index(tuple(shown.T), wrong.shape)
    both = (hands(values[at], pairs) for values in (call.given, call.made))
    return Compared(call.name, call.positions, wrong, worst, shown, *both)
