"""The conventions of sinusoidal tables, and their formula."""

from itertools import product
from typing import NamedTuple

import numpy as np

from .explain import MANY
from .frequencies import BASE, geometric
from .report import plain
from .settings import check_number, numbers

SPACINGS = ("paper", "tensor2tensor")
ORDERS = ("interleaved", "concatenated")
ALIKE = 1e-3  # how near entries must be to be taken for the formula's


class Formula(NamedTuple):
    """What a table is held to: the formula in one of its conventions."""

    d_model: int
    base: float = BASE
    start: int = 0  # the position of row 0
    spacing: str = "paper"
    order: str = "interleaved"
    cosine_first: bool = False

    def __str__(self) -> str:
        """Name the convention."""
        first = ", cosine first" if self.cosine_first else ""
        return f"{self.spacing}, {self.order}{first}"

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns are sines, and which cosines.

        At an odd width the paper's formula has one wave more of the first
        kind; tensor2tensor's table has a column of zeros at the end.
        """
        waves = self.d_model
        if self.spacing == "tensor2tensor":
            waves = max(1, self.d_model // 2 * 2)
        columns = np.arange(waves)
        if self.order == "interleaved":
            first, second = columns[::2], columns[1::2]
        else:
            first, second = np.split(columns, [(waves + 1) // 2])
        return (second, first) if self.cosine_first else (first, second)

    def steps(self) -> float:
        """Return the pair that would have the frequency 1 / base."""
        if self.spacing == "paper":
            return self.d_model / 2
        return max(self.d_model // 2 - 1, 1)

    def frequencies(self) -> np.ndarray:
        """Return the radians per position of each pair."""
        return geometric(self.base, (self.d_model + 1) // 2, self.steps())

    def rows(self, places: object) -> np.ndarray:
        """Return the rows at these places, `[rows, d_model]`."""
        positions = self.start + np.asarray(places)
        angles = np.multiply.outer(positions, self.frequencies())
        sines, cosines = self.columns()
        table = np.zeros((len(positions), self.d_model))
        table[:, sines] = np.sin(angles[:, : len(sines)])
        table[:, cosines] = np.cos(angles[:, : len(cosines)])
        return table

    def errors(self, table: np.ndarray) -> np.ndarray:
        """Return the largest error of each row of a table."""
        errors = []
        for start in range(0, len(table), MANY):
            seen = table[start : start + MANY]
            right = self.rows(start + np.arange(len(seen)))
            errors.append(np.abs(seen - right).max(axis=1))
        return np.concatenate(errors)

    def hands(self, table: np.ndarray) -> np.ndarray:
        """Return each cosine + 1j * its sine, `[rows, pairs]`."""
        sines, cosines = (some[: self.d_model // 2] for some in self.columns())
        return table[:, cosines] + 1j * table[:, sines]


def every_formula(
    d_model: int, base: float = BASE, start: int = 0
) -> list[Formula]:
    """Return the formula in each convention."""
    kinds = product(SPACINGS, ORDERS, (False, True))
    return [Formula(d_model, base, start, *kind) for kind in kinds]


CONVENTIONS = [str(formula) for formula in every_formula(1)]


def name_of(fit: list[Formula]) -> str:
    """Name conventions: one, or two; if more fit, the width tells none."""
    if not fit:
        return "unknown"
    names = [str(formula) for formula in fit]
    if len(fit) > 2:
        first = all(formula.cosine_first for formula in fit)
        names = ["any, cosine first" if first else "any"]
    base = fit[0].base
    other = "" if base == BASE else f", base {plain(base)}"
    return " or ".join(name + other for name in names)


def convention_of(matrix: object, tolerance: float = ALIKE) -> str:
    """Name the conventions that rows from 0 on follow, or "unknown".

    Args:
        matrix: `[seq_len, d_model]`, or with axes of length 1 before.
        tolerance: How far an entry may be off.

    Raises:
        ValueError: If it is no matrix, or the tolerance no number.
    """
    check_number("tolerance", tolerance)
    table = numbers(matrix)
    if table.ndim < 2 or not table.size:
        raise ValueError(f"the shape is {table.shape}: give a matrix")
    table = table.reshape(-1, table.shape[-1])
    every = every_formula(table.shape[1])
    return name_of([x for x in every if x.errors(table).max() <= tolerance])
