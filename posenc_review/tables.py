"""Review a sinusoidal table, by the checks of notebook 07."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from .conventions import (
    BASE,
    CONVENTIONS,
    Formula,
    every_formula,
    fitting,
    name_of,
)
from .explain import MANY
from .report import Finding, Review, first_where, plain
from .rounding import STEP, format_of
from .settings import (
    check_base,
    check_integer,
    check_tolerance,
    describe_error,
    numbers,
    say_if_long,
)
from .table_causes import ALIKE, causes_of

SHORT = 64  # rows of the first look
FAR = 32_768  # a row far out, whose position needs 16 binary digits
LONGEST = 70_000  # rows, unless told otherwise
TOLERANCE = 1e-6
FARTHEST = 2**53  # up to there, float64 holds every whole number
ENTRIES = 2**26  # of the largest table: 512 MB in float64


class Encoder:
    """An encoder, asked for its tables. Those that it gave are kept."""

    def __init__(self, function: Callable, d_model: int):
        """Take the function and the width to ask for."""
        self.function, self.d_model = function, d_model
        self.table = cache(self.made)

    def made(self, seq_len: int) -> np.ndarray:
        """Ask for a table; raise what is wrong with it."""
        table = numbers(self.function(seq_len, self.d_model))
        sizes = [size for size in table.shape[:-1] if size != 1]
        if sizes != [seq_len] or table.shape[-1] != self.d_model:
            raise ValueError(f"the shape is {table.shape}")
        fine = np.isfinite(table).all(axis=-1).ravel()
        if not fine.all():
            row = int(fine.argmin())
            raise ValueError(f"there is NaN or infinity in row {row}")
        return table

    def longest(self, most: int) -> tuple[int, list[Finding]]:
        """Ask for ever longer tables, up to so many rows.

        Returns:
            The rows of the longest, and what went wrong with a longer one.
        """
        longest = 0
        for rows in (4, SHORT, 256, 512, FAR + 1, most):
            rows = min(rows, most)
            trouble = trouble_of(self.table, rows)
            if trouble:
                break
            longest = rows
        else:
            return longest, []
        words = f"Asked for {rows} rows: {trouble}."
        if not longest:
            words += " If it is a rotary function, --rotary is missing."
        if longest < SHORT:
            return longest, [Finding("table", words)]
        longest = first_where(
            lambda count: bool(trouble_of(self.made, count)), longest, rows
        )
        longest -= 1
        words += f" Up to {longest} rows it gives a table."
        return longest, [Finding("table", words, position=longest)]

    def asked_again(self) -> list[Finding]:
        """Look whether a table that was asked for before is still the same."""
        trouble = trouble_of(self.made, SHORT)
        if trouble:
            words = f"Asked again for {SHORT} rows, it fails: {trouble}."
            return [Finding("state", words)]
        same = (self.table(SHORT) == self.made(SHORT)).all(axis=-1).ravel()
        if same.all():
            return []
        row = int(same.argmin())
        words = f"Asked again for {SHORT} rows, it gives another row {row}."
        return [Finding("state", words, position=row)]


def trouble_of(ask: Callable, seq_len: int) -> str:
    """Say why there is no table of so many rows, or nothing."""
    try:
        ask(seq_len)
    except (Exception, SystemExit) as error:  # whatever the encoder raises
        return describe_error(error)
    return ""


class Tables(NamedTuple):
    """An encoder's tables, and what they are held to."""

    encoder: Encoder
    asked: Formula
    tolerance: float
    rows: int  # of the longest table

    def table(self, seq_len: int) -> np.ndarray:
        """Return a table, `[seq_len, d_model]`, no longer than the longest."""
        seq_len = min(seq_len, self.rows)
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
        """Return the places where `seen` is off, one a row of the result."""
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

    def failures(self) -> list[Finding]:
        """Return what the checks find."""
        findings = []
        for check in CHECKS:
            with np.errstate(all="ignore"):  # a column may stand still
                failed = check(self)
            if failed:
                name = check.__name__.replace("_", " ")
                findings.append(Finding(name, *failed))
        return findings


# The eight checks: each returns words and the row where it fails, or None.
def row_length(tables: Tables) -> tuple | None:
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
    return words, row


def row_2(tables: Tables) -> tuple | None:
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
    return words, 2


def rotation(tables: Tables) -> tuple | None:
    """Ask whether each pair turns by the same angle from row to row."""
    rows = tables.hands(SHORT)[1:]
    off = tables.off(rows[1:], rows[:-1] * (rows[1] / rows[0]))
    if not len(off):
        return None
    row, pair = off[0].tolist()
    words = (
        "Each pair should turn by the same angle from row to row; pair"
        f" {pair} does not, from row {row + 1} to {row + 2}."
    )
    return words, row + 2, pair


def wavelengths(tables: Tables) -> tuple | None:
    """Ask whether the columns have the wavelengths of the formula."""
    # x[p - s] + x[p + s] = 2 cos(s w) x[p], for w radians per position.
    frequencies, both = tables.asked.frequencies(), tables.asked.columns()
    waves = np.concatenate([frequencies[: len(some)] for some in both])
    columns = tables.table(256)[1:, np.concatenate(both)]
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
            return (words,)
    return None


def dot_products(tables: Tables) -> tuple | None:
    """Ask whether the dot product of rows depends on their offset alone."""
    hands = tables.hands(512)[1:]
    dots = (hands @ hands.conj().T).real
    size = 4 * tables.asked.d_model
    off = tables.off(dots[1:, 1:], dots[:-1, :-1], size)
    if not len(off):
        return None
    one, other = (off[0] + 2).tolist()
    words = (
        "The dot product of two rows should depend on their offset alone; that"
        f" of rows {one - 1} and {other - 1} is not that of {one} and {other}."
    )
    return words, one


def far_row(tables: Tables) -> tuple | None:
    """Ask whether a row far out is right, in whatever order it stands."""
    far, asked = min(FAR, tables.rows - 1), tables.asked
    row = np.sort(tables.table(far + 1)[far])
    error = min(
        np.abs(row - np.sort(each.rows([far])[0])).max()
        for each in every_formula(asked.d_model, asked.base, asked.start)
    )
    if error <= tables.tolerance:
        return None
    words = (
        "A row far out should be right: its frequencies, digits, start. Row"
        f" {far} is off by {plain(error, 2)}."
    )
    return words, far


def first_rows(tables: Tables) -> tuple | None:
    """Ask whether a long table begins like a short one."""
    off = tables.off(tables.table(tables.rows)[:SHORT], tables.table(SHORT))
    if not len(off):
        return None
    row = int(off[:, 0].min())
    words = (
        "Rows should not depend on how many are asked for; of a table of"
        f" {tables.rows} rows, row {row} is not that of one of {SHORT}."
    )
    return words, row


def batch_axis(tables: Tables) -> tuple | None:
    """Ask whether each sentence of a batch is given the same encoding."""
    table = tables.encoder.table(4)
    due = np.zeros((4, 4, tables.asked.d_model))
    batch = due + table
    if batch.shape == due.shape and not np.ptp(batch, axis=0).any():
        return None
    words = (
        "Added to a batch, each sentence should get the same encoding; this"
        f" table's shape, {table.shape}, numbers sentences or adds an axis."
    )
    return (words,)


CHECKS = (
    row_length,
    row_2,
    rotation,
    wavelengths,
    dot_products,
    far_row,
    first_rows,
    batch_axis,
)


def review(
    encoder: Callable[[int, int], object],
    d_model: int = 64,
    *,
    max_len: int = LONGEST,
    convention: str = "",
    tolerance: float = TOLERANCE,
    base: float | None = None,
    start: int = 0,
) -> Review:
    """Look at an encoder with eight checks, then at every row.

    Args:
        encoder: A callable of `(seq_len, d_model)`; NumPy reads its table.
        d_model: The width to look at.
        max_len: Rows to look at, 64 or more, as far as 2**26 entries go.
        convention: One of `CONVENTIONS` to hold it to, else what fits best.
        tolerance: How far an entry may be off. The checks scale it.
        base: What it is held to, 10000 unless told.
        start: The position of the table's first row.

    Returns:
        What is wrong, in `findings` (an empty dict if nothing is), and which
        convention was seen. The formula is that of Vaswani et al. 2017,
        "Attention is all you need", section 3.5.

    Raises:
        TypeError, ValueError: If a setting makes no sense, by its name.
    """
    check_integer("d_model", d_model, 1, ENTRIES // SHORT)
    check_integer("max_len", max_len, SHORT, FARTHEST)
    check_integer("start", start, -FARTHEST, FARTHEST)
    if convention not in ("", *CONVENTIONS):
        known = "; ".join(CONVENTIONS)
        raise ValueError(f"{convention=}: give one of {known}")
    base = BASE if base is None else base
    check_base(base)
    check_tolerance(tolerance)

    asking = Encoder(encoder, d_model)
    most = min(max_len, ENTRIES // d_model)
    say_if_long(most, d_model, memory=20 * most * d_model)
    longest, details = asking.longest(most)
    if longest < SHORT:
        return Review(tuple(details))
    short = asking.table(SHORT).reshape(SHORT, d_model)
    slack = max(ALIKE, tolerance, STEP.get(format_of(short), 0))
    every = every_formula(d_model, float(base), start)
    fit = fitting(short, slack, every)
    likely = fit or every
    if convention:
        likely = [every[CONVENTIONS.index(convention)]]
    tried = []
    for each in likely:
        tables = Tables(asking, each, tolerance, longest)
        failed = tables.failures()
        off = np.abs(short - each.rows(np.arange(SHORT))).max(axis=0)
        mostly_wrong = np.mean(off > ALIKE) > 0.5  # of the columns
        tried.append((len(failed), mostly_wrong, tables, failed))
    *_, tables, failed = min(tried, key=lambda each: each[:2])
    details += [*failed, *asking.asked_again()]
    errors = tables.errors()
    if errors.max() > tolerance:
        details.append(every_row(tables, errors))
    wrong = np.append(errors > tolerance, True)
    rows = f"Rows: {longest}"
    if longest < max_len:
        rows += f" of the {max_len} asked for"
    right = int(wrong.argmax())
    held_to = name_of([tables.asked])
    return Review(
        tuple(details),
        name_of(fit),
        f"{rows}, the first {right} right to {tolerance:g}.",
        "" if tables.asked in fit else held_to,
        fields={"held_to": held_to, "rows": longest, "rows_right": right},
    )


def every_row(tables: Tables, errors: np.ndarray) -> Finding:
    """Say why rows are wrong, which is the first, and by how much."""
    table, asked = tables.table(tables.rows), tables.asked
    row = int(np.argmax(errors > tables.tolerance))
    worst = int(errors.argmax())
    off = np.abs(table[[row, worst]] - asked.rows([row, worst]))
    place, other = off.argmax(axis=1).tolist()
    with np.errstate(all="ignore"):  # some causes do not fit, by far
        said = causes_of(
            table, tables.table(SHORT), asked, tables.tolerance, errors.max()
        )
    said = said or ["No known cause explains it."]
    said.append(
        f"Row {row} is the first that is wrong, in column {place}; the worst"
        f" is off by {plain(errors.max(), 2)}: row {worst}, column {other}."
    )
    return Finding("every row", " ".join(said), row, column=place)
