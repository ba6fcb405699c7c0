"""Where the formula turns pairs of columns, and whether a call agrees.

A pair of columns is the hand of a clock. At position `p`, pair `k` is turned
by the angle `p * frequencies[k]`:

    first column:  a * cosine - b * sine
    second column: b * cosine + a * sine

A rotary function does this to the vectors that it is given. A table of
sinusoids holds what becomes of the vector (1, 0, 1, 0, ...), its cosines and
sines, so that one formula serves both. `Formula` has a field for each stage
at which a function may depart from it.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

FLOAT32 = 2.0**-24  # what rounding to float32 may change, relatively
# Float32 loses so many roundings of an angle: of position, base, exponent,
# power and product, each once or twice; and one more for each pair where
# frequencies are made by multiplying the one before (llama.cpp).
ROUNDINGS = 8
CHUNK = 2**19  # numbers that are compared in one go, to stay in the cache
KEPT = 40  # tokens of a call that are kept at random, right ones and wrong
EDGES = 12  # places in a call where tokens turn wrong or right, that are kept


def same(values: np.ndarray) -> np.ndarray:
    """Leave positions, frequencies, angles or waves as they are."""
    return values


def rotation(a, b, cosine, sine) -> tuple:
    """Turn a pair counterclockwise."""
    return a * cosine - b * sine, b * cosine + a * sine


class Call(NamedTuple):
    """A call of a function, and what became of some of its tokens."""

    name: str
    positions: np.ndarray  # [rows, tokens], of the whole call
    rows: np.ndarray  # [kept], where the tokens are that were kept,
    tokens: np.ndarray  # [kept]
    given: np.ndarray  # [kept, pairs, 2], both columns of each pair
    made: np.ndarray  # [kept, pairs, 2], what they became
    earlier: np.ndarray | None = None  # positions of the first call as large

    def only(self, picks: np.ndarray) -> "Call":
        """Keep some of the tokens."""
        kept = self.rows, self.tokens, self.given, self.made
        rows, tokens, given, made = (values[picks] for values in kept)
        return self._replace(rows=rows, tokens=tokens, given=given, made=made)

    @property
    def kept(self) -> np.ndarray:
        """Return the positions of the tokens that were kept."""
        return self.positions[self.rows, self.tokens]

    @property
    def hands(self) -> np.ndarray:
        """Return by which complex number each pair was multiplied."""
        given = self.given[..., 0] + 1j * self.given[..., 1]
        return (self.made[..., 0] + 1j * self.made[..., 1]) / given


class Formula(NamedTuple):
    """How pairs are turned, and what becomes of each stage."""

    # Radians per position: [pairs], or [2, pairs] where the two columns of a
    # pair have frequencies of their own.
    frequencies: np.ndarray
    tolerance: float  # how far off a column may be, beside what float32 loses
    length: np.ndarray | float = 1.0  # by which vectors are stretched
    doubt: np.ndarray | float = 0.0  # of frequencies that were measured
    of_call: Callable[[Call], np.ndarray] = lambda call: call.positions
    of_position: Callable[[np.ndarray], np.ndarray] = same
    of_frequency: Callable[[np.ndarray], np.ndarray] = same
    of_angle: Callable[[np.ndarray], np.ndarray] = same
    of_wave: Callable[[np.ndarray], np.ndarray] = same
    of_pair: Callable[..., tuple] = rotation
    of_vector: Callable[[Call], np.ndarray] | None = None  # a factor

    def turn(self, call: Call) -> np.ndarray:
        """Return what becomes of the tokens of a call: [kept, pairs, 2]."""
        read = np.broadcast_to(self.of_call(call), call.positions.shape)
        read = self.of_position(read[call.rows, call.tokens].astype(float))
        rates = self.of_frequency(np.atleast_2d(self.frequencies))
        angles = self.of_angle(np.multiply.outer(read, rates))
        cosines = self.length * self.of_wave(np.cos(angles))
        sines = self.length * self.of_wave(np.sin(angles))
        one, other = call.given[..., 0], call.given[..., 1]
        first, second = self.of_pair(one, other, cosines[:, 0], sines[:, 0])
        if len(rates) == 2:
            columns = cosines[:, 1], sines[:, 1]
            second = self.of_pair(one, other, *columns)[1]
        made = np.stack([first, second], axis=-1)
        if self.of_vector is not None:
            made *= self.of_vector(call)[:, None, None]
        return made

    def errors(self, call: Call) -> np.ndarray:
        """Return how far off each pair is: [kept, pairs]."""
        with np.errstate(all="ignore"):  # changes may lead anywhere
            due = self.turn(call)
            off = np.abs(call.made - due)
        # Where NaN or infinity is due, any of them is right.
        alike = ~np.isfinite(due) & ~np.isfinite(call.made)
        off[~np.isfinite(off)] = np.inf
        off[alike] = 0
        return off.max(axis=-1)

    def fits(self, call: Call) -> np.ndarray:
        """Tell which pairs of the tokens are as they should be."""
        rates = np.abs(np.atleast_2d(self.frequencies)).max(axis=0)
        roundings = ROUNDINGS + np.arange(len(rates))
        lost = roundings * FLOAT32 * rates + self.doubt
        loss = np.multiply.outer(np.abs(call.kept.astype(float)), lost)
        size = np.hypot(call.given[..., 0], call.given[..., 1])
        slack = self.tolerance + loss * size * np.abs(self.length)
        return self.errors(call) <= slack

    def wrong(self, call: Call) -> np.ndarray:
        """Tell which tokens of a call are not as they should be."""
        return np.concatenate(
            [~self.fits(piece).all(axis=1) for piece in pieces(call)]
        )


def pieces(call: Call) -> Iterator[Call]:
    """Cut a call into pieces that are compared in one go."""
    size = max(1, CHUNK // call.given[0].size)
    for start in range(0, len(call.rows), size):
        yield call.only(slice(start, start + size))


def geometric(base: float, pairs: int, steps: float = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def telling(wrong: np.ndarray) -> np.ndarray:
    """Choose tokens of a call, some of which are wrong, that tell changes."""
    random = np.random.default_rng(5)
    edges = np.flatnonzero(np.diff(wrong.astype(np.int8)))[:EDGES]
    picks = [np.arange(min(8, len(wrong))), [len(wrong) - 1], edges, edges + 1]
    for alike in (np.flatnonzero(wrong), np.flatnonzero(~wrong)):
        picks += [alike[: KEPT // 2], alike[-3:]]
        if len(alike):
            picks.append(random.choice(alike, KEPT))
    return np.unique(np.concatenate(picks).astype(int))


# Shorter formats.


def cut(values: np.ndarray, digits: int) -> np.ndarray:
    """Round to some binary digits, with the range of float32."""
    fraction, exponent = np.frexp(cast(values, np.float32))
    return np.ldexp(np.round(fraction * 2.0**digits), exponent - digits)


def cast(values: np.ndarray, kind: type) -> np.ndarray:
    """Round as a format of NumPy does; large numbers become infinity."""
    with np.errstate(over="ignore"):
        return np.asarray(values, float).astype(kind).astype(float)


ROUND: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "bfloat16": lambda values: cut(values, 8),
    "float16": lambda values: cast(values, np.float16),
    "float32": lambda values: cast(values, np.float32),
}
STEP = {"bfloat16": 2.0**-8, "float16": 2.0**-11}  # just below 1
DTYPES = (*ROUND, "float64")  # the shortest first


def dtype_of(values: np.ndarray) -> str:
    """Name the shortest format that holds all numbers that tell formats."""
    some = values[np.isfinite(values) & ~np.isin(values, (-1, 0, 1))]
    for name, rounded in ROUND.items():
        if len(some) and np.array_equal(rounded(some), some):
            return name
    return DTYPES[-1]
