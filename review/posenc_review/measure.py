"""Ask a function in many ways, and measure how it turns pairs of columns.

A pair of columns is the hand of a clock, a complex number. At position `p`, a
pair of frequency `w` should be multiplied by `exp(1j * p * w)`.
"""

from collections.abc import Callable, Iterator

import numpy as np


class CallError(Exception):
    """A call raised an error, or returned what cannot be compared."""


def ask(function: Callable, shape: tuple, *given: object) -> np.ndarray:
    """Return what a function returns as a new array; it may be a tensor."""
    given = [np.copy(each) if np.ndim(each) else each for each in given]
    try:
        with np.errstate(all="ignore"):
            result = function(*given)
        if hasattr(result, "detach"):  # PyTorch, whose bfloat16 needs `double`
            result = result.detach().cpu().double()
        array = np.asarray(result)
    except (Exception, SystemExit) as error:
        words = " ".join(str(error).split())
        raise CallError(f"{type(error).__name__}: {words:.200}") from error
    if result is None or array.dtype.kind in "USOc":
        raise CallError(f"it returns {type(result).__name__}, no real numbers")
    table = len(shape) == 2 and array.shape == (1, *shape)
    if array.shape != shape and not table:
        raise CallError(f"the shape is {array.shape}, not {shape}")
    return array.astype(np.float64).reshape(shape)


def hands(numbers: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return pairs of columns as complex numbers, `[..., pairs]`."""
    return np.take(numbers, pairs, axis=-1).view(complex)[..., 0]


class Rotation:
    """A rotary function, asked with numbers that 16 bits can hold."""

    def __init__(self, rotate: Callable, width: int):
        """Ask for each column alone, which shows what pairs they make."""
        random = np.random.default_rng(3)
        sizes = random.integers(64, 128, (61, width)) / 128
        self.pool = sizes * random.choice([-1, 1], sizes.shape)
        self.rotate, places = rotate, np.array([[0, 3, 1, 2, 40]])
        units = np.eye(width)[:, None, None].repeat(5, axis=2)
        alone = [ask(rotate, unit.shape, unit, places) for unit in units]
        alone = np.concatenate(alone)
        self.pairs, self.written, self.turning = read_pairs(alone)
        self.step = 0.0  # from number to number just below 1, in 16 bits
        fraction, _ = np.frexp(alone[np.isfinite(alone)])
        for digits in (11, 8):  # of float16 and bfloat16
            if not (fraction * 2**digits % 1).any():
                self.step = 2.0**-digits

    def turn(self, positions: np.ndarray) -> np.ndarray:
        """Return what multiplies hands, `[tokens of all rows, pairs]`."""
        picked = np.arange(positions.size) % len(self.pool)
        x = self.pool[picked].reshape(*positions.shape, -1)
        result = ask(self.rotate, x.shape, x, positions)
        turned = hands(result, self.written).reshape(positions.size, -1)
        turned *= (1 / hands(self.pool, self.pairs))[picked]
        return turned


class Table:
    """An encoder, as a rotary function that turns the hand 1 of each pair."""

    def __init__(self, encoder: Callable, start: int, pairs: np.ndarray):
        """Take columns for pairs, and the first row for position `start`."""
        self.encoder, self.start, self.pairs = encoder, start, pairs
        self.turning = len(pairs)

    def turn(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at positions, `[tokens of all rows, pairs]`."""
        rows = positions.ravel() - self.start
        shape = int(rows.max()) + 1, self.pairs.size
        return hands(ask(self.encoder, shape, *shape), self.pairs)[rows]


def read_pairs(alone: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Read pairs off what becomes of each column at position 0 and others.

    Returns:
        All columns, first those that turn together, `[pairs, 2]`; in which
        columns these are written; how many pairs turn.
    """
    columns = np.arange(len(alone))
    halves = columns.reshape(2, -1).T.ravel()
    at_0 = np.abs(alone[:, 0]).argmax(axis=1)
    written = halves if np.array_equal(at_0, halves) else columns

    mixing = np.abs(np.nan_to_num(alone[..., written])).max(axis=1)
    others = np.maximum(mixing, mixing.T) > 1e-12 * mixing.max()
    others[columns, columns] = False
    turning = np.argwhere(np.triu(others))
    if not len(turning):
        raise CallError("no column is mixed with another at positions 0 to 40")
    if others.sum(axis=1).max() > 1:
        column = others.sum(axis=1).argmax()
        into = np.flatnonzero(others[column])[:6].tolist()
        raise CallError(f"column {column} is mixed with columns {into}")
    rest = np.setdiff1d(columns, turning).reshape(-1, 2)
    pairs = np.concatenate([turning, rest])
    return pairs, written[pairs], len(turning)


def calls(most: int, width: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names of calls, and positions `[rows, tokens]`.

    No length is a multiple of a block, but 4096. Batches are larger than 16
    and 32. Positions are near and far, alone and together.
    """
    random = np.random.default_rng(7)
    doubling = 2 ** np.arange(int(np.log2(most)))
    yield "of positions 0 to 63", np.arange(64)[None]
    yield "of positions 1, 2, 4, 8 and so on", doubling[None]
    for tokens in (7, 129, 333, 1025, min(20_011, 2**22 // width)):
        if tokens <= most:
            start = min(20, most - tokens)
            yield f"of {tokens} tokens", start + np.arange(tokens)[None]
    for rows in (2, 4, 7, 13, 17, 33, 17):
        starts = random.integers(0, most - 5, (rows, 1))
        yield f"of {rows} rows of 5 tokens", starts + np.arange(5)
        alone = random.integers(0, most, (rows, 1))
        yield f"of one token in each of {rows} rows", alone
    tokens = min(129, most)
    starts = random.integers(0, most - tokens + 1, (33, 1))
    yield f"of 33 rows of {tokens} tokens", starts + np.arange(tokens)
    for name, positions in {
        "behind padding": [[1, 1, 1, 0, 1, 2], [0, 0, 1, 2, 3, 4]],
        "of equal positions": [[9] * 5, [4] * 5],
        "of two rows of 4 tokens": [[5, 6, 7, 8], [5, 9, 6, 40]],
        "of two texts of 4 tokens": [[5, 6, 7, 8], [0, 1, 2, 3]],
        "of positions out of order": [[5, 9, 6, 40, 7, 20]],
        "of 5, 6, 7, 9, 40, 20": [[5, 6, 7, 9, 40, 20]],
        "of positions backwards": [[9, 8, 7, 6, 5]],
        "of two exchanged positions": [[5, 7, 6, 8, 9]],
        "of packed texts": [[*range(29), *range(17), *range(40)]],
        "of near and far positions": [[*range(16), *range(most - 16, most)]],
    }.items():
        yield name, np.array(positions)
    tokens = min(4096, most)
    for start in range(0, most, tokens):
        places = min(start, most - tokens) + np.arange(tokens)
        yield f"of {tokens} tokens", places[None]
    for place in np.unique(np.geomspace(1, most, 40).astype(int) - 1):
        yield "of one token", np.array([[place]])
    yield "of positions 0 to 63, once more", np.arange(64)[None]


def read_rates(near: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Read radians per position off the hands at positions 0, 1, ..., 63.

    Those at 1, 2, 4, 8, ... tell them more exactly, as long as the turns
    between two of these can be counted.
    """
    turns = np.nan_to_num(np.angle(near[2:] * near[1:-1].conj()))
    rates = first = np.median(turns, axis=0)
    for power in range(len(far) - 1):
        foretold = far[power] * np.exp(1j * rates * 2**power)
        missed = np.angle(far[power + 1] * foretold.conj())
        if not (np.abs(missed) < 0.3).all():
            break
        rates = rates + missed / 2**power
    misled = (np.abs(rates - first) > 0.01).any()
    return first if misled else rates


def geometric(base: float, pairs: int, steps: int = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def bases_of(rates: np.ndarray, turning: int) -> dict[str, np.ndarray]:
    """Name the bases that pairs may follow, and return their frequencies.

    Pair 0 tells by what all are divided, and each other pair tells a base.
    """
    size = np.abs(rates[:turning]) + 1e-12
    slopes = np.log(size[0] / size[1:]) / np.arange(1, turning)
    base = np.exp(np.median(slopes) * turning) if turning > 1 else 1e4
    fits = [(1e4, 1.0)]
    for digits in (3, 6, 17):  # round numbers first
        both = base, max(1, 1 / size[0])
        fits.append([float(f"{each:.{digits}g}") for each in both])
    named = {}
    for base, divisor in fits:
        if not 1 < base < 1e12 or divisor > 1e6:
            continue
        words = f"base {base:.6g}"
        if divisor > 1.000001:
            words += f" and all divided by {divisor:.5g}"
        due = np.zeros(len(rates))
        due[:turning] = geometric(base, turning) / divisor
        named |= {words: due, f"clockwise, {words}": -due}
    return named
