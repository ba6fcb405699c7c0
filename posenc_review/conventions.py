"""The conventions of sinusoidal tables, and their formula."""

from typing import NamedTuple

import numpy as np

from .reading import numbers
from .report import plain
from .rounding import EXACT, Rounding

BASE = 10_000.0


class Convention(NamedTuple):
    """How a table is laid out, and how its waves are spaced."""

    spacing: str  # "paper" or "tensor2tensor"
    layout: str  # "interleaved" or "concatenated"
    cosine_first: bool = False

    def __str__(self) -> str:
        """Name it."""
        first = ", cosine first" if self.cosine_first else ""
        return f"{self.spacing}, {self.layout}{first}"


class Columns(NamedTuple):
    """Where the waves of a table stand, from the fastest to the slowest."""

    sines: np.ndarray
    cosines: np.ndarray


SPACINGS = ("paper", "tensor2tensor")
LAYOUTS = ("interleaved", "concatenated")
EVERY = [
    Convention(spacing, layout, cosine_first)
    for spacing in SPACINGS
    for layout in LAYOUTS
    for cosine_first in (False, True)
]
CONVENTIONS = [str(each) for each in EVERY]


def named(name: str) -> Convention:
    """Return the convention of a name."""
    return EVERY[CONVENTIONS.index(name)]


def columns_of(d_model: int, convention: Convention) -> Columns:
    """Return which columns are sines, and which cosines.

    At an odd width the paper's formula has one wave more of the first kind;
    tensor2tensor's table has a column of zeros at the end.
    """
    waves = d_model
    if convention.spacing == "tensor2tensor":
        waves = max(1, d_model // 2 * 2)
    columns = np.arange(waves)
    if convention.layout == "interleaved":
        first, second = columns[::2], columns[1::2]
    else:
        first, second = np.split(columns, [(waves + 1) // 2])
    if convention.cosine_first:
        return Columns(sines=second, cosines=first)
    return Columns(sines=first, cosines=second)


def paired_columns(d_model: int, convention: Convention) -> Columns:
    """Return the sines that have a cosine, and those cosines."""
    sines, cosines = columns_of(d_model, convention)
    pairs = d_model // 2
    return Columns(sines[:pairs], cosines[:pairs])


def steps_of(d_model: int, spacing: str) -> float:
    """Return the pair that would have the speed 1 / base."""
    if spacing == "paper":
        return d_model / 2
    return max(d_model // 2 - 1, 1)


def angular_speeds(
    d_model: int, convention: Convention, base: float
) -> np.ndarray:
    """Return the radians per position of each pair."""
    steps = steps_of(d_model, convention.spacing)
    return float(base) ** (-np.arange(0, d_model, 2) / (2 * steps))


def formula(
    positions: object,
    d_model: int,
    convention: Convention,
    base: float = BASE,
    rounding: Rounding = EXACT,
) -> np.ndarray:
    """Return a convention's rows, right to 1e-9 up to position 131 072.

    Args:
        positions: Of the rows.
        d_model: How many columns.
        convention: Which layout and spacing.
        base: The 10 000 of the paper.
        rounding: Of the angles, to see what that would give.

    Returns:
        `[positions, d_model]`.
    """
    positions = np.asarray(positions)
    speeds = angular_speeds(d_model, convention, base)
    angles = rounding.angles(positions, speeds)
    sines, cosines = columns_of(d_model, convention)
    table = np.zeros((len(positions), d_model))
    with np.errstate(invalid="ignore"):  # infinity, from float16
        table[:, sines] = np.sin(angles[:, : len(sines)])
        table[:, cosines] = np.cos(angles[:, : len(cosines)])
    return table


def fitting(
    table: np.ndarray, tolerance: float, base: float = BASE, start: int = 0
) -> list[Convention]:
    """Return the conventions that a table follows.

    Args:
        table: `[rows, d_model]`.
        tolerance: How far an entry may be off.
        base: Of the waves.
        start: The position of the first row.
    """
    rows, d_model = table.shape
    positions = start + np.arange(rows)
    return [
        each
        for each in EVERY
        if np.all(
            np.abs(table - formula(positions, d_model, each, base))
            <= tolerance
        )
    ]


def name_of(fit: list[Convention], base: float = BASE) -> str:
    """Name conventions: one, or two; if more fit, the width tells none."""
    other = "" if base == BASE else f", base {plain(base)}"
    if not fit:
        return "unknown"
    if len(fit) <= 2:
        return " or ".join(f"{each}{other}" for each in fit)
    cosine_first = {each.cosine_first for each in fit} == {True}
    return f"any{', cosine first' if cosine_first else ''}{other}"


def convention_of(matrix: object, tolerance: float = 1e-3) -> str:
    """Name the conventions that rows from 0 on follow, or "unknown".

    Args:
        matrix: `[seq_len, d_model]`, or with axes of length 1 before.
        tolerance: How far an entry may be off.
    """
    table = numbers(matrix)
    return name_of(fitting(table.reshape(-1, table.shape[-1]), tolerance))
