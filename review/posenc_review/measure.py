"""Call a function, measure what it rotates and how fast, and compare.

Two columns that rotate together are one complex number. At position `p`, a
pair of frequency `w`, in radians per position, is to be multiplied by the
complex number `exp(1j * p * w)`, which is called its rotation here.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

# Every threshold, each with its reason. Lengths are shares of a vector's own.
BITS = 11, 8  # of a number's fraction in float16 and bfloat16
ULPS = 4  # cosine, sine, products, sum and result of 16 bits are rounded
ROUNDING = 2.0**-24  # relative, of each operation in float32 (IEEE 754)
ROUNDINGS = 16  # an exponent's costs log(base): 13 for 500 000; others cost 1
MORE_A_PAIR = 2  # if a frequency is the one before, times a factor
NOTHING = 1e-12  # float64 leaves about 1e-16 where a number should be 0
OTHER_LENGTH = 1e-3  # YaRN's lengths are 1.07 or more
MOST_TOKENS = 0.9  # the share that has a pair's length
COUNTABLE = 0.3  # radians, far from the half turn that goes either way
CLEARLY = 2  # times as near as the paper's formula: another one is meant
FEWER = 0.5  # of the tokens that an expected frequency misses
OTHER_FREQUENCY = 0.02  # relative; rounding to bfloat16 stays below 0.002
OTHER_PAIRS = 0.25  # the share with other frequencies that may be meant
LARGEST_BASE, LARGEST_DIVISOR = 1e12, 1e6  # published: 1e9 and 64 or so
SMALLEST_DIVISOR = 1.01  # besides 1; published: 2 or so
LENIENCE = 3  # times what is forgiven, since formats round positions too
NEAR = 64  # successive positions, in the first call
SHARED = 2 ** np.arange(6)  # positions of the first call and the second
ALONE = "of positions 0, 3, 1, 2, 40 with one column alone"
NamedPositions = Iterable[tuple[str, np.ndarray]]  # [rows, tokens]


class CallError(Exception):
    """A call raised an error, or returned what cannot be compared."""


def ask(
    function: Callable, name: str, shape: tuple[int, ...], *arguments: object
) -> np.ndarray:
    """Return the result of a call of this name, as new float64 of a shape.

    What is infinite becomes NaN, with which one can go on to calculate.
    """
    copies = [np.copy(each) if np.ndim(each) else each for each in arguments]
    try:
        with np.errstate(all="ignore"):
            result = function(*copies)
        if hasattr(result, "detach"):  # PyTorch, whose bfloat16 needs `double`
            result = result.detach().cpu().double()
        array = np.asarray(result)
        if array.dtype.kind in "USOc":
            raise TypeError(f"got {type(result).__name__}, not real numbers")
        if array.shape == (1, *shape) and len(shape) == 2:
            array = array[0]  # a table of a batch
        if array.shape != shape:
            raise ValueError(f"the shape is {array.shape}, not {shape}")
    except (Exception, SystemExit) as error:
        words = " ".join(str(error).split())
        words = f"{type(error).__name__}: {words:.200}"
        raise CallError(f"A call {name} fails: {words}.") from error
    array = array.astype(np.float64)
    return np.where(np.isfinite(array), array, np.nan)


def as_complex(numbers: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return pairs of columns as complex numbers, `[..., pairs]`."""
    return np.take(numbers, pairs, axis=-1).view(complex)[..., 0]


class Rotary:
    """A rotary function, with the pairs of columns that it rotates."""

    def __init__(self, function: Callable, width: int):
        """Ask for each column alone, which shows what pairs they make."""
        self.function = function
        positions = np.array([[0, 3, 1, 2, 40]])
        columns = np.eye(width)[:, None, None].repeat(5, axis=2)
        results = np.concatenate(
            [ask(function, ALONE, x.shape, x, positions) for x in columns]
        )
        self.pairs, self.written, self.rotated = read_pairs(results)
        self.ulp = ROUNDING  # from 1 to the number below: float32 or 16 bits
        fraction, _ = np.frexp(results)
        for bits in BITS:
            if not (fraction * 2**bits % 1).any():
                self.ulp = 2.0**-bits
        # Numbers that 16 bits hold, none near 0; 61 is no multiple of a block.
        random = np.random.default_rng(3)
        sizes = random.integers(64, 128, (61, width)) / 128
        self.vectors = sizes * random.choice([-1, 1], sizes.shape)

    def rotations(self, name: str, positions: np.ndarray) -> np.ndarray:
        """Return what multiplies pairs, `[tokens of all rows, pairs]`."""
        chosen = np.arange(positions.size) % len(self.vectors)
        x = self.vectors[chosen].reshape(*positions.shape, -1)
        result = ask(self.function, name, x.shape, x, positions)
        result = as_complex(result, self.written).reshape(positions.size, -1)
        result *= (1 / as_complex(self.vectors, self.pairs))[chosen]
        return result


def read_pairs(results: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Read pairs off what becomes of each column at position 0 and others.

    Args:
        results: Of each column alone, `[columns, positions, columns]`. At
            position 0, it stays where it is or goes where it is written.

    Returns:
        All columns, first those that are rotated together, `[pairs, 2]`; in
        which columns these are written; how many pairs are rotated.
    """
    if np.isnan(results).any():
        raise CallError(f"A call {ALONE}: not all numbers are finite.")
    columns = np.arange(len(results))
    halves = columns.reshape(2, -1).T.ravel()
    at_position_0 = np.abs(results[:, 0]).argmax(axis=1)
    written = halves if np.array_equal(at_position_0, halves) else columns

    # How much of each column, at most, becomes part of each other one.
    parts = np.abs(results[..., written]).max(axis=1)
    mixed = np.maximum(parts, parts.T) > NOTHING * parts.max()
    mixed[columns, columns] = False
    rotated = np.argwhere(np.triu(mixed))
    if not len(rotated):
        words = "no column is mixed with another at positions 0 to 40"
        raise CallError(f"A call {ALONE}: {words}.")
    partners = mixed.sum(axis=1)
    if partners.max() > 1:
        column = partners.argmax()
        others = np.flatnonzero(mixed[column])[:6].tolist()
        words = f"column {column} is mixed with columns {others}"
        raise CallError(f"A call {ALONE}: {words}.")
    rest = np.setdiff1d(columns, rotated).reshape(-1, 2)
    pairs = np.concatenate([rotated, rest])
    return pairs, written[pairs], len(rotated)


class Table:
    """A table of sinusoids, whose pairs are rotations of the number 1."""

    def __init__(self, encoder: Callable, start: int, pairs: np.ndarray):
        """Take columns for pairs, and `start` for the first position."""
        self.encoder, self.start, self.pairs = encoder, start, pairs
        self.rotated = len(pairs)

    def rotations(self, name: str, positions: np.ndarray) -> np.ndarray:
        """Return the numbers at positions, `[positions, pairs]`."""
        rows = positions.ravel() - self.start
        shape = int(rows.max()) + 1, self.pairs.size
        table = ask(self.encoder, name, shape, *shape)
        return as_complex(table, self.pairs)[rows]


def rotary_calls(max_len: int, width: int) -> NamedPositions:
    """Yield names of calls, and positions `[rows, tokens]` below `max_len`.

    The long calls but 4096 are no multiple of a block. Batches are larger than
    16 and 32. Positions are near and far, alone and together.
    """
    random = np.random.default_rng(7)
    yield "of positions 0 to 63", np.arange(NEAR)[None]
    doubled = 2 ** np.arange((max_len - 1).bit_length())
    far = np.append(doubled, max_len - 1)  # which scaling may depend on
    yield "of positions 1, 2, 4, 8 and so on", far[None]
    for tokens in (7, 129, 333, 1025, min(20_011, 2**22 // width - 5)):
        if tokens <= max_len:
            start = min(20, max_len - tokens)
            yield f"of {tokens} tokens", start + np.arange(tokens)[None]
    for rows in (2, 4, 7, 13, 17, 33):
        starts = random.integers(0, max_len - 5, (rows, 1))
        yield f"of {rows} rows of 5 tokens", starts + np.arange(5)
        single = random.integers(0, max_len, (rows, 1))
        yield f"of one token in each of {rows} rows", single
    tokens = min(129, max_len)
    starts = random.integers(0, max_len - tokens + 1, (33, 1))
    yield f"of 33 rows of {tokens} tokens", starts + np.arange(tokens)
    far = range(max_len - 16, max_len)
    for name, positions in {
        "behind padding": [[1, 1, 1, 0, 1, 2], [0, 0, 1, 2, 3, 4]],
        "of equal positions": [[9] * 5, [4] * 5],
        "of two rows of 4 tokens": [[5, 6, 7, 8], [5, 9, 6, 40]],
        "of two texts of 4 tokens": [[5, 6, 7, 8], [0, 1, 2, 3]],
        "of positions out of order": [[5, 9, 6, 40, 7, 20]],
        "of 5, 6, 7, 9, 40, 20": [[5, 6, 7, 9, 40, 20]],
        "of packed texts": [[*range(29), *range(17), *range(40)]],
        "of near and far positions": [[*range(16), *far]],
    }.items():
        yield name, np.array(positions)
    tokens = min(4096, max_len)
    for start in range(0, max_len, tokens):
        positions = min(start, max_len - tokens) + np.arange(tokens)
        yield f"of {tokens} tokens", positions[None]
    for end in np.unique(np.geomspace(1, max_len, 40).astype(int)):
        yield "of one token", np.array([[end - 1]])
    yield "of positions 0 to 63, once more", np.arange(NEAR)[None]


def table_calls(max_len: int, start: int) -> NamedPositions:
    """Yield names of calls, and positions `[1, rows]` from `start` on."""
    doubled = 2 ** np.arange((max_len - 1).bit_length())
    for name, rows in {
        "of 64 rows": np.arange(NEAR),
        "of rows 1, 2, 4, 8 and so on": doubled,
        f"of {max_len} rows": np.arange(max_len),
        "of 64 rows, once more": np.arange(NEAR),
    }.items():
        yield name, start + rows[None]


class Reference(NamedTuple):
    """By what pairs are to be multiplied."""

    frequencies: np.ndarray  # radians per position, [pairs]
    lengths: np.ndarray  # by which factor pairs become longer, [pairs]
    tolerance: float  # a share of these lengths

    @property
    def lost(self) -> np.ndarray:
        """Return the radians per position that float32 may lose, `[pairs]`."""
        pair = np.arange(len(self.frequencies))
        roundings = ROUNDINGS + MORE_A_PAIR * pair
        return roundings * np.abs(self.frequencies) * ROUNDING

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

    def position_of(self, rotations: np.ndarray, farthest: int) -> int | None:
        """Return the only position that has these rotations `[pairs]`."""
        places = np.arange(-farthest, farthest + 1)
        for pair in np.abs(self.frequencies).argsort()[::-1]:
            angles = places * self.frequencies[pair]
            expected = self.lengths[pair] * np.exp(1j * angles)
            forgiven = self.tolerance + self.lost[pair] * np.abs(places)
            distances = np.abs(expected - rotations[pair])
            places = places[distances < LENIENCE * forgiven]
        return int(places[0]) if len(places) == 1 else None


class Sample(NamedTuple):
    """The rotations that a reference is made from."""

    near: np.ndarray  # at 64 successive positions, [64, pairs]
    far: np.ndarray  # 1, 2, 4, ... after the first of these, [powers, pairs]

    def frequencies(self) -> np.ndarray:
        """Measure radians per position of each pair, `[pairs]`."""
        steps = np.nan_to_num(np.angle(self.near[2:] * self.near[1:-1].conj()))
        return refine(np.median(steps, axis=0), self.far)

    def misses(self, reference: Reference) -> np.ndarray:
        """Count the tokens at which pairs differ from a reference, `[pairs]`.

        Positions count from the second token, since all may be ahead by the
        same number, and since tables may keep the first row for padding.
        """
        powers = 2 ** np.arange(len(self.far))
        positions = np.append(np.arange(len(self.near)), powers) - 1
        back = np.exp(-1j * np.angle(self.near[1]))
        rotations = np.concatenate(self) * back
        return reference.differ(positions, rotations).sum(axis=0)

    def nearest(
        self, reference: Reference, named: dict[str, np.ndarray]
    ) -> tuple[str, np.ndarray]:
        """Name what misses the fewest tokens, and count these, `[pairs]`."""
        missed = {
            name: self.misses(reference._replace(frequencies=frequencies))
            for name, frequencies in named.items()
        }
        name = min(missed, key=lambda name: missed[name].sum())
        return name, missed[name]


def refine(frequencies: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Correct frequencies by the rotations at 1, 2, 4, 8, ... positions.

    Far positions tell them more exactly, as long as the whole turns in between
    can be counted.
    """
    for k in range(len(far) - 1):
        expected = far[k] * np.exp(1j * frequencies * 2**k)
        missed = np.angle(far[k + 1] * expected.conj())
        if not (np.abs(missed) < COUNTABLE).all():
            break
        frequencies = frequencies + missed / 2**k
    return frequencies


def geometric(base: float, pairs: int, steps: int = 0) -> np.ndarray:
    """Return the usual frequencies; pair `steps` would have 1 / base."""
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def bases_near(measured: np.ndarray, rotated: int) -> dict[str, np.ndarray]:
    """Return the frequencies of bases that fit measured ones, by names.

    The frequency of pair 0 tells by what all are divided, and each other one
    tells a base, of which the median is taken. Round numbers come first, and
    10000 before them.
    """
    speeds = np.abs(measured[:rotated]) + NOTHING
    base, divisor = 1e4, 1 / speeds[0]
    if rotated > 1:
        slopes = np.log(speeds[0] / speeds[1:]) / np.arange(1, rotated)
        base = np.exp(np.median(slopes) * rotated)
    if divisor < SMALLEST_DIVISOR:
        divisor = 1.0
    named = {}
    rounded = float(f"{base:.3g}"), float(f"{divisor:.3g}")
    for number, by in (1e4, 1.0), rounded, (base, divisor):
        if not 1 < number < LARGEST_BASE or by > LARGEST_DIVISOR:
            continue
        name = f"base {number:.6g}"
        if by > 1:
            name += f" and all divided by {by:.5g}"
        frequencies = np.zeros(len(measured))
        frequencies[:rotated] = geometric(number, rotated) / by
        named |= {name: frequencies, f"clockwise, {name}": -frequencies}
    return named


class Call(NamedTuple):
    """A call that was compared."""

    name: str
    positions: np.ndarray  # [rows, tokens]
    wrong: np.ndarray  # [rows, tokens]
    rotations: np.ndarray  # those of up to three tokens that differ
