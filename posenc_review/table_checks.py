"""The eight checks of notebook 07, for a table of any width."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .conventions import Formula, every_formula
from .encoder import FAR, SHORT, Encoder
from .explain import MANY
from .report import plain
from .table_causes import ALIKE


class Tables(NamedTuple):
    """An encoder's tables, and what they are held to."""

    encoder: Encoder
    asked: Formula
    tolerance: float
    rows: int  # of the longest table

    def table(self, seq_len: int) -> np.ndarray:
        """Return a table, `[seq_len, d_model]`."""
        return self.encoder.table(seq_len).reshape(seq_len, -1)

    def hands(self, seq_len: int) -> np.ndarray:
        """Return cosines + 1j * sines of each pair, `[seq_len, pairs]`."""
        return self.asked.hands(self.table(seq_len))

    def off(
        self,
        seen: object,
        right: object,
        size: float = 6,
        least: float = ALIKE,
    ) -> np.ndarray:
        """Return the places where `seen` is off, one a row of the result.

        It may be off by `least`, and by the tolerance times `size`, since
        errors add up in what is computed.
        """
        slack = least + size * self.tolerance
        return np.argwhere(~(np.abs(seen - right) <= slack))

    def errors(self) -> np.ndarray:
        """Return the largest error of each row of the longest table."""
        table, errors = self.table(self.rows), []
        for start in range(0, self.rows, MANY):
            rows = table[start : start + MANY]
            right = self.asked.rows(start + np.arange(len(rows)))
            errors.append(np.abs(rows - right).max(axis=1))
        return np.concatenate(errors)


# The checks return the row where one fails, and words; or None.
class Failed(NamedTuple):
    """Where a check fails, and what it says."""

    words: str
    row: int | None = None
    pair: int | None = None


def row_length(tables: Tables) -> Failed | None:
    """Ask whether the squares of each row sum to 1 for each pair."""
    squares = (np.abs(tables.hands(SHORT)) ** 2).sum(axis=1)
    pairs = tables.asked.d_model // 2
    off = tables.off(squares, pairs, size=2 * tables.asked.d_model)
    if not len(off):
        return None
    row = int(off.min())
    words = (
        "In each row the squares should sum to 1 for each pair; those of row"
        f" {row} are off by {plain(squares[row] - pairs, 2)} of {pairs}."
    )
    return Failed(words, row)


def row_2(tables: Tables) -> Failed | None:
    """Ask whether the first sine of row 2 is sin 2, whatever the width."""
    sines, _ = tables.asked.columns()
    position = tables.asked.start + 2
    seen = tables.table(SHORT)[2, sines[:1]]
    if not len(tables.off(seen, np.sin(position))):
        return None
    words = (
        f"The first sine of row 2 should be sin {position}, which is"
        f" {plain(np.sin(position), 4)}, whatever the width; it is"
        f" {plain(seen[0], 4)}."
    )
    return Failed(words, 2)


def rotation(tables: Tables) -> Failed | None:
    """Ask whether each pair turns by the same angle from row to row."""
    rows = tables.hands(SHORT)[1:]
    off = tables.off(rows[1:], rows[:-1] * (rows[1] / rows[0]))
    if not len(off):
        return None
    row, pair = (int(place) for place in off[0])
    words = (
        "Each pair should turn by the same angle from row to row; pair"
        f" {pair} does not, from row {row + 1} to {row + 2}."
    )
    return Failed(words, row + 2, pair)


def wavelengths(tables: Tables) -> Failed | None:
    """Ask whether the columns have the wavelengths of the formula."""
    # x[p - s] + x[p + s] = 2 cos(s w) x[p], for w radians per position.
    frequencies = tables.asked.frequencies()
    sines, cosines = tables.asked.columns()
    waves = [frequencies[: len(sines)], frequencies[: len(cosines)]]
    waves = np.concatenate(waves)
    table = tables.table(min(256, tables.rows))
    columns = table[1:, [*sines, *cosines]]
    for step in (1, 4, 16):  # large steps for slow waves
        middle = columns[step:-step]
        ends = columns[2 * step :] + columns[: -2 * step]
        measured = (middle * ends).sum(axis=0) / (middle**2).sum(axis=0)
        right = 2 * np.cos(step * waves)
        places = tables.off(np.sort(measured), np.sort(right), least=4e-5)
        if len(places):
            rows = "1 row" if step == 1 else f"{step} rows"
            words = (
                "The columns should have the wavelengths of the formula; over"
                f" {rows}, {len(places)} of {len(waves)} have not."
            )
            return Failed(words)
    return None


def dot_products(tables: Tables) -> Failed | None:
    """Ask whether the dot product of rows depends on their offset alone."""
    hands = tables.hands(min(512, tables.rows))[1:]
    dots = (hands @ hands.conj().T).real
    size = 4 * tables.asked.d_model
    off = tables.off(dots[1:, 1:], dots[:-1, :-1], size)
    if not len(off):
        return None
    one, other = (int(place) + 2 for place in off[0])
    words = (
        "The dot product of two rows should depend on their offset alone; that"
        f" of rows {one - 1} and {other - 1} is not that of {one} and {other}."
    )
    return Failed(words, one)


def far_row(tables: Tables) -> Failed | None:
    """Ask whether a row far out is right, in whatever order it stands."""
    far, asked = min(FAR, tables.rows - 1), tables.asked
    row = np.sort(tables.table(far + 1)[far])
    errors = [
        np.abs(row - np.sort(each.rows([far])[0])).max()
        for each in every_formula(asked.d_model, asked.base, asked.start)
    ]
    if min(errors) <= tables.tolerance:
        return None
    words = (
        "A row far out should be right: its frequencies, digits, start. Row"
        f" {far} is off by {plain(min(errors), 2)}."
    )
    return Failed(words, far)


def first_rows(tables: Tables) -> Failed | None:
    """Ask whether a long table begins like a short one."""
    off = tables.off(tables.table(tables.rows)[:SHORT], tables.table(SHORT))
    if not len(off):
        return None
    row = int(off[:, 0].min())
    words = (
        "Rows should not depend on how many are asked for; of a table of"
        f" {tables.rows} rows, row {row} is not that of one of {SHORT}."
    )
    return Failed(words, row)


def batch_axis(tables: Tables) -> Failed | None:
    """Ask whether each sentence of a batch is given the same encoding."""
    table, width = tables.encoder.table(4), tables.asked.d_model
    due = np.zeros((4, 4, width))
    batch = due + table
    if batch.shape == due.shape and not np.ptp(batch, axis=0).any():
        return None
    words = (
        "Added to a batch, each sentence should get the same encoding; this"
        f" table's shape, {table.shape}, numbers sentences or adds an axis."
    )
    return Failed(words)


CHECKS: dict[str, Callable[[Tables], Failed | None]] = {
    "row length": row_length,
    "row 2": row_2,
    "rotation": rotation,
    "wavelengths": wavelengths,
    "dot products": dot_products,
    "far row": far_row,
    "first rows": first_rows,
    "batch axis": batch_axis,
}
