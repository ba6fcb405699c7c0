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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

FLOAT32 = 2.0**-24  # what rounding to float32 may change, relatively
# Float32 loses so many roundings of an angle: of position, base, exponent,
# power and product, each once or twice; and one more for each pair where
# frequencies are made by multiplying the one before (llama.cpp).
ROUNDINGS = 8
KEPT = 40  # tokens of a call that are kept at random, right ones and wrong
EDGES = 12  # places in a call where tokens turn wrong or right, that are kept


def same(values: np.ndarray) -> np.ndarray:
    """Leave positions, frequencies, angles or waves as they are."""
    return values


def rotation(a, b, cosine, sine, _=None) -> tuple:
    """Turn a pair counterclockwise."""
    return a * cosine - b * sine, b * cosine + a * sine


class Call(NamedTuple):
    """A call of a function, and what became of some of its tokens."""

    name: str
    positions: np.ndarray  # [rows, tokens], of the whole call
    rows: np.ndarray  # [seen], where the tokens are that were kept,
    tokens: np.ndarray  # [seen]
    given: np.ndarray  # [seen, pairs, 2], both columns of each pair
    made: np.ndarray  # [seen, pairs, 2], what they became
    earlier: np.ndarray | None = None  # positions of another call, as long

    @property
    def places(self) -> np.ndarray:
        """Return the positions of the tokens that were kept."""
        return self.positions[self.rows, self.tokens]

    @property
    def hands(self) -> np.ndarray:
        """Return by which complex number each pair was multiplied."""
        given = self.given[..., 0] + 1j * self.given[..., 1]
        return (self.made[..., 0] + 1j * self.made[..., 1]) / given


class Formula(NamedTuple):
    """How pairs are turned, with a field for each stage of it."""

    frequencies: np.ndarray  # [pairs], radians per position
    tolerance: float  # how far off a column may be, beside what float32 loses
    length: np.ndarray | float = 1.0  # by which vectors are stretched
    read: Callable[[Call], np.ndarray] = lambda call: call.positions
    places: Callable[[np.ndarray], np.ndarray] = same  # to what they are
    rates: Callable[[np.ndarray], np.ndarray] = same  # rounded, as are
    angles: Callable[[np.ndarray], np.ndarray] = same  # frequencies, angles,
    waves: Callable[[np.ndarray], np.ndarray] = same  # sines and cosines
    form: Callable[..., tuple] = rotation  # what is made of a pair
    factor: Callable[[Call], np.ndarray] | None = None  # of vectors
    forgiven: float = 1.0  # share of the float32 loss
    doubt: np.ndarray | float = 0.0  # of frequencies that were measured

    def turn(self, call: Call) -> np.ndarray:
        """Return what becomes of the tokens of a call: [seen, pairs, 2]."""
        read = np.broadcast_to(self.read(call), call.positions.shape)
        read = self.places(read[call.rows, call.tokens].astype(float))
        angles = np.multiply.outer(read, self.rates(self.frequencies))
        angles = self.angles(angles)
        cosine = self.length * self.waves(np.cos(angles))
        sine = self.length * self.waves(np.sin(angles))
        one, other = call.given[..., 0], call.given[..., 1]
        pair = self.form(one, other, cosine, sine, self.frequencies)
        made = np.stack(pair, axis=-1)
        if self.factor is not None:
            made *= self.factor(call)[:, None, None]
        return made

    def errors(self, call: Call) -> np.ndarray:
        """Return how far off each pair is: [seen, pairs]."""
        with np.errstate(invalid="ignore", over="ignore"):
            due = self.turn(call)
            off = np.abs(call.made - due)
        # Where NaN or infinity is due, any of them is right.
        alike = ~np.isfinite(due) & ~np.isfinite(call.made)
        off[~np.isfinite(off)] = np.inf
        off[alike] = 0
        return off.max(axis=-1)

    def fits(self, call: Call) -> np.ndarray:
        """Tell which pairs of the tokens are as they should be."""
        roundings = ROUNDINGS + np.arange(len(self.frequencies))
        lost = self.forgiven * roundings * FLOAT32 * np.abs(self.frequencies)
        places = np.abs(call.places.astype(float))
        loss = np.multiply.outer(places, lost + self.doubt)
        size = np.hypot(call.given[..., 0], call.given[..., 1])
        slack = self.tolerance + loss * size * np.abs(self.length)
        return self.errors(call) <= slack

    def is_wrong(self, call: Call) -> bool:
        """Tell whether a token of a call is not as it should be."""
        return not self.fits(call).all()


def geometric(base: float, pairs: int, steps: float = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def telling(wrong: np.ndarray) -> np.ndarray:
    """Choose tokens of a call, some of which are wrong, that tell changes."""
    random = np.random.default_rng(5)
    edges = np.flatnonzero(np.diff(wrong.astype(np.int8)))[:EDGES]
    picks = [np.arange(min(8, len(wrong))), [len(wrong) - 1], edges, edges + 1]
    for places in (np.flatnonzero(wrong), np.flatnonzero(~wrong)):
        picks += [places[: KEPT // 2], places[-3:]]
        if len(places):
            picks.append(random.choice(places, KEPT))
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
    "TensorFloat-32": lambda values: cut(values, 11),
}
STEP = {"bfloat16": 2.0**-8, "float16": 2.0**-11}  # just below 1
DTYPES = ("bfloat16", "float16", "float32", "float64")  # the shortest first


def dtype_of(values: np.ndarray) -> str:
    """Name the shortest format that holds all numbers that tell formats."""
    telling = values[np.isfinite(values) & ~np.isin(values, (-1, 0, 1))]
    for name in DTYPES[:3]:
        rounded = ROUND.get(name, lambda given: cast(given, np.float32))
        if len(telling) and np.array_equal(rounded(telling), telling):
            return name
    return "float64"
