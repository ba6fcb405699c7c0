"""Ask a function in many ways, and measure how it turns pairs of columns.

A pair of columns is the hand of a clock, a complex number. At position `p`, a
pair of frequency `w` should be multiplied by `exp(1j * p * w)`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

DIGITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
FLOAT32 = 2.0**-24  # what rounding to float32 may change, relatively
FIRST = "of positions 0 to 63", np.arange(64)[None]  # the first call
MOST = 2**22  # numbers in a call: 32 MiB in float64


class CallError(Exception):
    """A call raised an error, or returned what cannot be compared."""


def ask(function: Callable, *given: object) -> np.ndarray:
    """Return what a function returns as a new array; it may be a tensor."""
    try:
        with np.errstate(all="ignore"):
            result = function(*given)
        if hasattr(result, "detach"):  # PyTorch, whose bfloat16 needs `double`
            result = result.detach().cpu().double()
        array = np.asarray(result)
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:200]
        words = f"{type(error).__name__}: {said}".removesuffix(": ")
        raise CallError(words) from error
    if result is None or array.dtype.kind in "USOc":
        raise CallError(f"it returns {type(result).__name__}, no real numbers")
    return array.astype(np.float64)


class Call(NamedTuple):
    """A call; once it is compared, only its first tokens that differ."""

    name: str
    positions: np.ndarray  # [rows, tokens]
    turned: np.ndarray  # [tokens of all rows, pairs], what multiplies hands
    wrong: np.ndarray | None = None  # [rows, tokens]
    off: float = 0.0  # how far at most


class Rotation:
    """A rotary function, asked with numbers that 16 bits can hold."""

    def __init__(self, rotate: Callable, width: int):
        """Ask for each column alone, which shows what pairs they make."""
        random = np.random.default_rng(3)
        sizes = random.integers(64, 128, (61, width)) / 128
        self.pool = sizes * random.choice([-1, 1], sizes.shape)
        self.rotate, self.width = rotate, width
        self.changed: set[str] = set()  # arguments, in place
        places = np.array([[3, 0, 1, 2, 40]])  # in no order
        units = np.eye(width)[:, None, None].repeat(5, axis=2)
        alone = [self.ask("with one column", unit, places) for unit in units]
        matrices = np.concatenate(alone)[:, places[0].argsort()]
        self.matrices = matrices.transpose(1, 2, 0)  # [position, to, from]
        self.pairs, self.written, self.turning = pairs_of(self.matrices)

    def ask(
        self, name: str, x: np.ndarray, positions: np.ndarray
    ) -> np.ndarray:
        """Return what becomes of `x`."""
        mine, places = x.copy(), positions.astype(np.int64)
        try:
            result = ask(self.rotate, mine, places)
            if result.shape != x.shape:
                words = f"the result's shape is {result.shape}, not {x.shape}"
                raise CallError(words)
        except CallError as error:
            raise CallError(f"A call {name} fails: {error}") from error
        if not np.array_equal(mine, x):
            self.changed.add("x")
        if not np.array_equal(places, positions):
            self.changed.add("positions")
        return result

    def call(self, name: str, positions: np.ndarray) -> Call:
        """Make a call with vectors no two neighbors of which are alike."""
        picked = np.arange(positions.size) % len(self.pool)
        x = self.pool[picked].reshape(*positions.shape, -1)
        turned = hands(self.ask(name, x, positions), self.written)
        turned = turned.reshape(positions.size, -1)
        turned *= (1 / hands(self.pool, self.pairs))[picked]
        return Call(name, positions, turned)


def hands(numbers: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return pairs of columns as complex numbers: `[..., pairs]`."""
    both = np.empty((*numbers.shape[:-1], len(pairs)), complex)
    both.real, both.imag = numbers[..., pairs[:, 0]], numbers[..., pairs[:, 1]]
    return both


def pairs_of(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Read off which columns turn together.

    Args:
        matrices: What some positions, 0 first, make of each column.

    Returns:
        All columns in pairs, first those that turn, `[pairs, 2]`; where these
        are written; how many turn.
    """
    columns = np.arange(len(matrices[0]))
    seen, written = np.abs(matrices[0]).argmax(axis=0), columns.copy()
    moved = np.flatnonzero(seen != columns)
    if len(moved) and moved[0] > 0 and np.ptp(moved) % 2:
        # Neighbors of a part may be written as halves, as DeepSeek does.
        part = np.arange(moved[0] - 1, moved[-1] + 2)
        written[part % len(seen)] = part.reshape(2, -1).T.ravel()
    written = written if np.array_equal(seen, written) else columns

    mixing = np.abs(np.nan_to_num(matrices[:, written])).max(axis=0)
    others = np.maximum(mixing, mixing.T) > 1e-7 * mixing.max()
    others[columns, columns] = False
    if others.sum(axis=1).max() > 1:
        column = int(others.sum(axis=1).argmax())
        into = np.flatnonzero(others[column])[:6].tolist()
        raise CallError(f"Column {column} is mixed with columns {into}")
    pairs = np.argwhere(np.triu(others))
    if not len(pairs):
        raise CallError("No column is mixed with another at positions 0 to 40")
    rest = np.setdiff1d(columns, pairs).reshape(-1, 2)
    both = np.concatenate([pairs, rest])
    return both, written[both], len(pairs)


def calls(most: int, width: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield calls after the first: of what kind they are, and positions.

    No length is a multiple of a block, but 4096. Batches are larger than 16
    and 32. Positions are near and far, alone and together.
    """
    random = np.random.default_rng(7)
    for tokens in (7, 129, 333, 1025, 4096, min(20_011, MOST // width)):
        if tokens <= most:
            start = min(20, most - tokens)
            yield f"of {tokens} tokens", start + np.arange(tokens)[None]
    yield "of 7 tokens", 30 + np.arange(7)[None]
    for rows in (2, 4, 7, 13, 17, 33, 17):
        starts = random.integers(0, most - 5, (rows, 1))
        yield f"of {rows} rows of 5 tokens", starts + np.arange(5)
        alone = random.integers(0, most, (rows, 1))
        yield f"of one token in each of {rows} rows", alone
    near, far = np.arange(16), np.arange(most - 16, most)
    for name, positions in {
        "behind padding": [[1, 1, 1, 0, 1, 2], [0, 0, 1, 2, 3, 4], near[:6]],
        "of equal positions": [[9] * 5, [4] * 5],
        "of two rows of 4 tokens": [[5, 6, 7, 8], [5, 9, 6, 40]],
        "of two texts of 4 tokens": [[5, 6, 7, 8], [0, 1, 2, 3]],
        "of positions out of order": [[5, 9, 6, 40, 7, 20]],
        "of 5, 6, 7, 9, 40, 20": [[5, 6, 7, 9, 40, 20]],
        "of positions backwards": [[9, 8, 7, 6, 5]],
        "of two exchanged positions": [[5, 7, 6, 8, 9]],
        "of packed texts": [[*range(29), *range(17), *range(40)]],
        "of near and far positions": [[*near, *far]],
    }.items():
        yield name, np.array(positions)
    yield "of 5 rows of 5 tokens", random.integers(0, most - 5, (5, 5))
    tokens = min(4096, most)
    rows = min(max(1, 2**19 // (4096 * width)), 33)
    for start in range(0, most, rows * tokens):
        places = np.arange(start, start + rows * tokens)
        places = np.minimum(places, most - 1).reshape(rows, tokens)
        yield f"of {rows} rows of {tokens} tokens", places
    for place in np.unique(np.geomspace(1, most, 40).astype(int) - 1):
        yield "of one token", np.array([[place]])
    yield f"{FIRST[0]}, once more", FIRST[1]


# How pairs turn.


def format_of(values: np.ndarray) -> str:
    """Name the shortest format that holds all numbers of a result."""
    some = values[np.isfinite(values) & ~np.isin(values, (-1, 0, 1))]
    fraction, exponent = np.frexp(some)
    for name, digits in DIGITS.items():
        rounded = np.ldexp(np.round(fraction * 2**digits), exponent - digits)
        if len(some) and np.array_equal(rounded, some):
            return name
    return "float64"


class Rates(NamedTuple):
    """How pairs turn, an entry for each."""

    measured: np.ndarray  # radians per position
    doubt: np.ndarray  # by how much these may be off
    evenly: bool  # whether all turn by the same angle from token to token

    def beyond(self, due: np.ndarray) -> np.ndarray:
        """Return how much further they turn; whole turns are not seen."""
        return np.angle(np.exp(1j * (self.measured - due)))

    def differ(self, due: np.ndarray, loose: float = 0) -> np.ndarray:
        """Tell which turn otherwise than is due."""
        allowed = self.doubt + 2 * lost(due) + loose * np.abs(due)
        return np.abs(self.beyond(due)) > allowed

    def forgiven(self, due: np.ndarray) -> np.ndarray:
        """Return how far off each may be, for want of exact digits."""
        doubt = np.where(due == self.measured, self.doubt, 0)
        missed = np.where(self.differ(due), 0, np.abs(self.beyond(due)))
        return lost(due) + doubt + missed


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
    jumps = np.abs(near[2:] - near[1:-1] * np.exp(1j * measured))
    evenly = np.abs(measured).max() > 1e-9 and (jumps <= 0.05).all()
    return Rates(measured, doubt, bool(evenly))


def geometric(base: float, pairs: int, steps: int = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def lost(frequencies: np.ndarray) -> np.ndarray:
    """Return the radians per position that float32 may lose.

    Position, base, exponent, power and product are rounded once or twice, and
    once more for each pair where a frequency is made from the one before.
    """
    return (8 + np.arange(len(frequencies))) * FLOAT32 * np.abs(frequencies)
