"""Review any sinusoidal position encoder, by the checks of notebook 07.

`python -m posenc_review package.module:function --width 64` prints a review
and exits with 0 if nothing is found, else with 1. In a test suite it is one
line: `assert review(my_encoder, 64).findings == {}`.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pkgutil import resolve_name

import mpmath
import numpy as np

SHORT, FAR, LONGEST, ENTRIES = 64, 32_768, 70_000, 2**24  # of a table
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
    convention: str = "unknown"
    errors: np.ndarray | tuple = ()  # the largest of each row looked at

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"- {name}: {words}" for name, words in self.findings.items()]
        lines += [f"Findings: {len(lines)}. Convention: {self.convention}."]
        good = np.argmax([*(np.asarray(self.errors) > 1e-6), True])
        seen = f"Rows: {len(self.errors)}, the first {good} right to 1e-06."
        return "\n".join([*lines, seen])


def near(left: object, right: object, tolerance: float = 1e-3) -> bool:
    """Whether all entries agree to within the tolerance."""
    return np.allclose(left, right, rtol=0, atol=tolerance)


@dataclass
class Tables:
    """An encoder's tables, and checks whose first line says what they ask."""

    ask: Callable[[int], np.ndarray]  # the table of so many rows, as it came
    d_model: int
    tolerance: float
    convention: str = CONVENTIONS[0]
    rows: int = 0  # of the longest table

    def table(self, seq_len: int) -> np.ndarray:
        """Return a matrix `[seq_len, d_model]`: sines, then cosines."""
        matrix = self.ask(seq_len).reshape(seq_len, self.d_model)
        return matrix[:, np.argsort(order(self.d_model, self.convention))]

    def hands(self, seq_len: int) -> np.ndarray:
        """Return each sine and its cosine as one complex number."""
        table, pairs = self.table(seq_len), self.d_model // 2
        return table[:, :pairs] + 1j * table[:, self.d_model - pairs :]

    def row_length(self) -> bool:
        """In each row the squares should sum to 1 for each pair."""
        return near(np.sum(abs(self.hands(SHORT)) ** 2, 1), self.d_model // 2)

    def row_2(self) -> bool:
        """Row 2 should begin with sin 2, whatever the width."""
        return near(self.table(3)[2, 0], np.sin(2))

    def rotation(self) -> bool:
        """Each pair should turn by the same angle from row to row."""
        rows = self.hands(SHORT)[1:]
        return near(rows[1:], rows[:-1] * (rows[1] / rows[0]))

    def wavelengths(self) -> bool:
        """The columns should have the wavelengths of the formula."""
        # x[p - s] + x[p + s] = 2 cos(s w) x[p], for w radians per position.
        speeds = np.tile(turned(1, self.d_model, self.convention), 2)
        columns = self.table(min(256, self.rows))[1:]
        for step in (1, 4, 16):  # large steps for slow waves
            middle = columns[step:-step]
            ends = columns[2 * step :] + columns[: -2 * step]
            measured = (middle * ends).sum(axis=0) / (middle**2).sum(axis=0)
            right = 2 * np.cos(step * speeds[: self.d_model])
            if not near(np.sort(measured), np.sort(right), 4e-5):
                return False
        return True

    def dot_products(self) -> bool:
        """The dot product of two rows should depend on their offset alone."""
        hands = self.hands(min(512, self.rows))[1:]
        dots = (hands @ hands.conj().T).real
        return near(dots[1:, 1:], dots[:-1, :-1])

    def far_row(self) -> bool:
        """A row far out should be right: its speeds, digits, start."""
        far = min(FAR, self.rows - 1)
        row = np.sort(self.table(far + 1)[far])
        both = [turned(far, self.d_model, name) for name in CONVENTIONS[::4]]
        both = np.hstack([np.sin(both), np.cos(both)])[:, : self.d_model]
        return np.abs(row - np.sort(both)).max(axis=1).min() <= self.tolerance

    def first_rows(self) -> bool:
        """The first rows of a long table should be those of a short one."""
        return near(self.table(self.rows)[:SHORT], self.table(SHORT))

    def batch_axis(self) -> bool:
        """Added to a batch, each sentence should get the same encoding."""
        batch = np.zeros((4, 4, self.d_model)) + self.ask(4)
        return near(batch[0], batch[-1])


CHECKS = [Tables.row_length, Tables.row_2, Tables.rotation]
CHECKS += [Tables.wavelengths, Tables.dot_products, Tables.far_row]
CHECKS += [Tables.first_rows, Tables.batch_axis]


def turned(position: int, d_model: int, convention: str) -> np.ndarray:
    """Return each pair's angle, computed to 30 digits, less whole turns."""
    steps = d_model if "paper" in convention else max(d_model - 2, 1)
    with mpmath.workdps(30):
        powers = [mpmath.mpf(k) / steps for k in range(0, d_model, 2)]
        angles = [position / mpmath.mpf(10_000) ** power for power in powers]
        return np.array([angle % (2 * mpmath.pi) for angle in angles], float)


def order(d_model: int, convention: str) -> np.ndarray:
    """Return which column stands at each place: sines come before cosines."""
    columns, half = np.arange(d_model), (d_model + 1) // 2
    keys = columns % half, (columns < half) == ("cosine first" in convention)
    return np.lexsort(keys[::-1] if "interleaved" in convention else keys)


def formula(seq_len: int, d_model: int, convention: str) -> np.ndarray:
    """Return a convention's table, right to 1e-10 for 70 000 rows."""
    angles = np.outer(np.arange(seq_len), turned(1, d_model, convention))
    table = np.hstack([np.sin(angles), np.cos(angles)])
    return table[:, order(d_model, convention)]


def distances(table: object) -> dict[str, np.ndarray]:
    """Return how far each entry of a table is from each convention."""
    table = np.asarray(table, float).reshape(-1, np.shape(table)[-1])
    right = {name: formula(*table.shape, name) for name in CONVENTIONS}
    return {name: np.abs(table - right[name]) for name in right}


def convention_of(matrix: object) -> str:
    """Say which of `CONVENTIONS` a table follows, to within a thousandth.

    Args:
        matrix: The rows of positions 0, 1, 2, ...: `[seq_len, d_model]`.

    Returns:
        Its name, or several joined by "or", or "unknown".
    """
    gaps = distances(matrix)
    return " or ".join(x for x in gaps if gaps[x].max() <= 1e-3) or "unknown"


def read(encoder: Callable, seq_len: int, d_model: int) -> np.ndarray:
    """Return an encoder's table as float64, or raise what is wrong with it."""
    try:
        made = encoder(seq_len, d_model)
        if hasattr(made, "detach"):  # a tensor of Torch
            made = made.detach().cpu().double()
        table = np.asarray(made).astype(float)
        sizes = [n for n in table.shape[:-1] if n != 1], table.shape[-1:]
        if sizes != ([seq_len], (d_model,)):
            raise ValueError(f"the shape is {table.shape}")
        if not np.isfinite(table).all():
            raise ValueError("there is NaN or infinity")
        return table
    except Exception as error:
        raise ValueError(f"Asked for {seq_len} rows: {error!r}.") from error


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
        max_len: How many rows to look at, if memory allows.
        convention: Which of `CONVENTIONS` to hold it to. Any, if empty.
        tolerance: How far an entry may be off.

    Returns:
        A `Review`. Its `findings` are empty if nothing is wrong.
    """
    most = min(max_len, ENTRIES // max(d_model, 1))
    if d_model < 1 or most < SHORT or convention not in ("", *CONVENTIONS):
        raise ValueError(f"bad width {d_model}, {max_len=} or {convention=}")
    ask, findings = cache(lambda rows: read(encoder, rows, d_model)), {}
    tables = Tables(ask, d_model, tolerance)
    lengths = [n for n in (3, 4, SHORT, 256, 512, FAR + 1) if n < most]
    try:
        for rows in [*lengths, most]:
            ask(rows)
            tables.rows = rows
    except ValueError as error:
        findings["table"] = str(error)
    if tables.rows < SHORT:
        return Review(findings)
    gaps = {x: gap.mean() for x, gap in distances(ask(SHORT)).items()}
    tables.convention = convention or min(gaps, key=gaps.get)
    with np.errstate(all="ignore"):  # a column may stand still
        failed = [check for check in CHECKS if not check(tables)]
    findings |= {x.__name__.replace("_", " "): x.__doc__ for x in failed}
    right = formula(tables.rows, d_model, tables.convention)
    errors = np.abs(ask(tables.rows).reshape(right.shape) - right).max(axis=1)
    if len(wrong := np.flatnonzero(errors > tolerance)):
        findings["every row"] = f"Row {wrong[0]} is the first that is wrong."
    return Review(findings, convention_of(ask(SHORT)), errors)


def main() -> int:
    """Review the encoder that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m posenc_review")
    parser.add_argument("target", metavar="package.module:function")
    parser.add_argument("--width", dest="d_model", type=int, default=64)
    parser.add_argument("--max-len", type=int, default=LONGEST)
    parser.add_argument("--convention", default="", choices=CONVENTIONS)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    given = vars(parser.parse_args())
    try:
        encoder = resolve_name(given.pop("target"))
        if not callable(encoder):
            raise TypeError(f"{encoder!r} is not callable")
        print(found := review(encoder, **given))
    except Exception as error:
        parser.error(str(error))
    return int(found.findings != {})


if __name__ == "__main__":
    raise SystemExit(main())
