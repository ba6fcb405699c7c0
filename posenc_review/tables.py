"""Review any sinusoidal position encoder, by the checks of notebook 07.

`python -m posenc_review package.module:function --width 64` prints a review.
It exits with 0 if nothing is found, with 1 if something is, and with 2 if it
cannot begin. In a test: `assert review(my_encoder, 64).findings == {}`.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name

import mpmath
import numpy as np

SHORT, FAR, LONGEST, ENTRIES = 64, 32_768, 70_000, 2**26  # of a table
WRONG = "Row {} is the first that is wrong; the worst is off by {:.2g}."
CONVENTIONS = [
    f"{spacing}, {layout}{first}"
    for spacing in ("paper", "tensor2tensor")
    for layout in ("interleaved", "concatenated")
    for first in ("", ", cosine first")
]


@dataclass
class Review:
    """What a review found, by check, and what it saw. Print it to read it."""

    findings: dict[str, str]
    asked: int  # how many rows
    convention: str = "unknown"
    held_to: str = ""
    errors: np.ndarray | tuple = ()  # the largest of each row

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"- {name}: {words}" for name, words in self.findings.items()]
        follows = f"Findings: {len(lines)}. Convention: {self.convention}"
        if self.held_to not in ("", *self.convention.split(" or ")):
            follows += f"; held to {self.held_to}"
        rows, right = len(self.errors), np.asarray(self.errors) <= 1e-6
        cut = f" of the {self.asked} asked for" * (rows < self.asked)
        good = f", the first {np.argmin([*right, False])} right to 1e-06."
        return "\n".join([*lines, f"{follows}.", f"Rows: {rows}{cut}{good}"])


@dataclass
class Tables:
    """An encoder's tables, and checks whose first line says what they ask."""

    ask: Callable[[int], np.ndarray]  # the table of so many rows, as it came
    d_model: int
    tolerance: float
    convention: str = CONVENTIONS[0]
    rows: int = 0  # of the longest table

    def table(self, seq_len: int, rows: slice = slice(None)) -> np.ndarray:
        """Return rows of a table, its columns sines, then cosines."""
        matrix = self.ask(seq_len).reshape(seq_len, self.d_model)[rows]
        return matrix[:, np.argsort(order(self.d_model, self.convention))]

    def hands(self, seq_len: int) -> np.ndarray:
        """Return each sine and its cosine as one complex number."""
        table, pairs = self.table(seq_len), self.d_model // 2
        return table[:, :pairs] + 1j * table[:, self.d_model - pairs :]

    def near(self, left, right, size: float = 6, least: float = 1e-3) -> bool:
        """Whether they agree to `least`, plus `size` times the tolerance."""
        return np.allclose(left, right, 0, least + size * self.tolerance)

    def row_length(self) -> bool:
        """In each row the squares should sum to 1 for each pair."""
        squares, size = abs(self.hands(SHORT)) ** 2, 2 * self.d_model
        return self.near(squares.sum(axis=1), self.d_model // 2, size)

    def row_2(self) -> bool:
        """The first sine of row 2 should be sin 2, whatever the width."""
        return self.near(self.table(3)[2, 0], np.sin(2))

    def rotation(self) -> bool:
        """Each pair should turn by the same angle from row to row."""
        rows = self.hands(SHORT)[1:]
        return self.near(rows[1:], rows[:-1] * (rows[1] / rows[0]))

    def wavelengths(self) -> bool:
        """The columns should have the wavelengths of the formula."""
        # x[p - s] + x[p + s] = 2 cos(s w) x[p], for w radians per position.
        speeds = np.tile(turns(self.d_model, self.convention), 2)
        columns = self.table(min(256, self.rows))[1:]
        for step in (1, 4, 16):  # large steps for slow waves
            middle = columns[step:-step]
            ends = columns[2 * step :] + columns[: -2 * step]
            measured = (middle * ends).sum(axis=0) / (middle**2).sum(axis=0)
            right = 2 * np.cos(step * speeds[: self.d_model])
            if not self.near(np.sort(measured), np.sort(right), least=4e-5):
                return False
        return True

    def dot_products(self) -> bool:
        """The dot product of two rows should depend on their offset alone."""
        hands = self.hands(min(512, self.rows))[1:]
        dots = (hands @ hands.conj().T).real
        return self.near(dots[1:, 1:], dots[:-1, :-1], 4 * self.d_model)

    def far_row(self) -> bool:
        """A row far out should be right: its speeds, digits, start."""
        far = min(FAR, self.rows - 1)
        row = np.sort(self.table(far + 1, slice(far, None)))
        both = [formula([far], self.d_model, x) for x in CONVENTIONS[::4]]
        return np.abs(row - np.sort(both)).max(axis=2).min() <= self.tolerance

    def first_rows(self) -> bool:
        """The first rows of a long table should be those of a short one."""
        return self.near(self.table(self.rows, slice(64)), self.table(64))

    def batch_axis(self) -> bool:
        """Added to a batch, each sentence should get the same encoding."""
        batch = np.zeros((4, 4, self.d_model)) + self.ask(4)
        return self.near(batch[0], batch[-1])


CHECKS = [Tables.row_length, Tables.row_2, Tables.rotation]
CHECKS += [Tables.wavelengths, Tables.dot_products, Tables.far_row]
CHECKS += [Tables.first_rows, Tables.batch_axis]


def turns(d_model: int, convention: str) -> np.ndarray:
    """Return each pair's radians per position, computed to 30 digits."""
    steps = d_model if "paper" in convention else max(d_model - 2, 1)
    with mpmath.workdps(30):
        powers = [-mpmath.mpf(k) / steps for k in range(0, d_model, 2)]
        return np.array([mpmath.mpf(10_000) ** x for x in powers], float)


def order(d_model: int, convention: str) -> np.ndarray:
    """Return which column stands at each place: sines come before cosines."""
    columns, half = np.arange(d_model), (d_model + 1) // 2
    keys = columns % half, (columns < half) == ("cosine first" in convention)
    return np.lexsort(keys[::-1] if "interleaved" in convention else keys)


def formula(positions: object, d_model: int, convention: str) -> np.ndarray:
    """Return a convention's rows, right to 1e-10 up to position 70 000."""
    x = np.outer(positions, turns(d_model, convention))
    return np.hstack([np.sin(x), np.cos(x)])[:, order(d_model, convention)]


def convention_of(matrix: object, tolerance: float = 1e-3) -> str:
    """Name the `CONVENTIONS` that rows from 0 on follow, or "unknown"."""
    table = numbers(matrix)
    size = table.size // table.shape[-1], table.shape[-1]
    right = {x: formula(np.arange(size[0]), size[1], x) for x in CONVENTIONS}
    off = {x: abs(table.reshape(size) - right[x]).max() for x in right}
    return " or ".join(x for x in off if off[x] <= tolerance) or "unknown"


def numbers(made: object) -> np.ndarray:
    """Return a list, an array, a PyTorch or TensorFlow tensor as float64."""
    made = made.detach().cpu().double() if hasattr(made, "detach") else made
    if np.iscomplexobj(made := np.asarray(made)):
        raise ValueError("the numbers are complex")
    return made.astype(float)


def read(encoder: Callable, seq_len: int, d_model: int) -> np.ndarray:
    """Return an encoder's table as float64, or raise what is wrong with it."""
    table = numbers(encoder(seq_len, d_model))
    sizes = [n for n in table.shape[:-1] if n != 1], table.shape[-1:]
    if sizes != ([seq_len], (d_model,)):
        raise ValueError(f"the shape is {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("there is NaN or infinity")
    return table


def review(
    encoder: Callable[[int, int], object],
    d_model: int = 64,
    *,
    max_len: int = LONGEST,
    convention: str = "",
    tolerance: float = 1e-6,
) -> Review:
    """Look at an encoder with eight checks, then at every row.

    Args:
        encoder: A callable of `(seq_len, d_model)`; NumPy reads its table.
        d_model: The width to look at.
        max_len: Rows to look at, 64 or more, as far as 2**26 entries go.
        convention: One of `CONVENTIONS` to hold it to, else what fits best.
        tolerance: How far an entry may be off. The checks scale it.

    Raises:
        TypeError, ValueError: If a setting makes no sense, by its name.
    """
    for name, size in (("d_model", d_model), ("max_len", max_len)):
        if not isinstance(size, int | np.integer):
            raise TypeError(f"{name}={size!r}: give an integer")
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"{tolerance=}: give 0 or more")
    if not 0 < d_model <= ENTRIES // SHORT:
        raise ValueError(f"{d_model=}: give 1 to {ENTRIES // SHORT}")
    if max_len < SHORT:
        raise ValueError(f"{max_len=}: give {SHORT} or more")
    if convention not in ("", *CONVENTIONS):
        raise ValueError(f"{convention=}: give one of {CONVENTIONS}")
    ask, findings = cache(lambda rows: read(encoder, rows, d_model)), {}
    tables = Tables(ask, d_model, tolerance)
    most = min(max_len, ENTRIES // d_model)
    try:
        for rows in (3, 4, SHORT, 256, 512, FAR + 1, most):
            ask(size := min(rows, most))
            tables.rows = size
    except Exception as error:
        findings["table"] = f"Asked for {size} rows: {error!r}."
    if tables.rows < SHORT:
        return Review(findings, max_len)
    seen, failed = convention_of(ask(SHORT), max(1e-3, tolerance)), {}
    fit = [x for x in CONVENTIONS if x in (convention or seen).split(" or ")]
    with np.errstate(all="ignore"):  # a column may stand still
        for tables.convention in fit or CONVENTIONS:
            failed[tables.convention] = [x for x in CHECKS if not x(tables)]
    held = min(failed, key=lambda name: len(failed[name]))
    findings |= {x.__name__.replace("_", " "): x.__doc__ for x in failed[held]}
    table = ask(tables.rows).reshape(-1, d_model)
    parts = np.array_split(np.arange(len(table)), len(table) // 4096 + 1)
    errors = [abs(table[p] - formula(p, d_model, held)).max(1) for p in parts]
    if (wrong := (errors := np.hstack(errors)) > tolerance).any():
        findings["every row"] = WRONG.format(np.argmax(wrong), errors.max())
    return Review(findings, max_len, seen, held, errors)
