"""Review a sinusoidal table, by the checks of notebook 07."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from .causes import Cause, HeldTo, first_rows_cause, later_rows_cause
from .conventions import (
    BASE,
    CONVENTIONS,
    EVERY,
    angular_speeds,
    columns_of,
    fitting,
    name_of,
    named,
    paired_columns,
)
from .reading import describe_error, numbers
from .report import Finding, by_name, choices, first_where, plain
from .rounding import STEP, format_of
from .settings import FARTHEST, check_base, check_integer, check_tolerance

SHORT = 64  # rows of the first look
FAR = 32_768  # a row far out, whose position needs 16 binary digits
LONGEST = 70_000  # rows, unless told otherwise
TOLERANCE = 1e-6
ENTRIES = 2**26  # of the largest table: 512 MB in float64
STRUCTURE = 1e-3  # how near is near where a check asks for no digits


@dataclass(frozen=True)
class Review:
    """What a review found, by check, and what it saw. Print it to read it."""

    details: tuple[Finding, ...]
    asked: int  # how many rows
    convention: str = "unknown"
    base: float | None = None  # that was seen
    held_to: str = ""
    followed: bool = True  # whether the first rows are those of `held_to`
    tolerance: float = TOLERANCE
    errors: np.ndarray | tuple = field(default=(), repr=False)  # of each row

    @property
    def findings(self) -> dict[str, str]:
        """What is wrong, by the names of the checks."""
        return by_name(self.details)

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"- {name}: {words}" for name, words in self.findings.items()]
        summary = f"Findings: {len(lines)}. Convention: {self.convention}"
        if not self.followed:
            summary += f"; held to {self.held_to}"
        lines.append(f"{summary}.")
        if len(self.errors):
            rows = f"Rows: {len(self.errors)}"
            if len(self.errors) < self.asked:
                rows += f" of the {self.asked} asked for"
            right = f"the first {self.rows_right()} right"
            lines.append(f"{rows}, {right} to {self.tolerance:g}.")
        return "\n".join(lines)

    def as_dict(self) -> dict:
        """Return what JSON can hold."""
        return {
            "findings": [each.as_dict() for each in self.details],
            "convention": self.convention,
            "held_to": self.held_to,
            "base": self.base,
            "rows": len(self.errors),
            "exit_code": int(bool(self.details)),
        }

    def rows_right(self) -> int:
        """Count the rows before the first that is off by more."""
        for row, error in enumerate(self.errors):
            if error > self.tolerance:
                return row
        return len(self.errors)


@dataclass(frozen=True)
class Tables:
    """An encoder's tables, and what they are held to."""

    ask: Callable[[int], np.ndarray]  # the table of so many rows, as it came
    asked: HeldTo
    tolerance: float
    rows: int  # of the longest table

    def table(self, seq_len: int) -> np.ndarray:
        """Return a table, `[seq_len, d_model]`."""
        return self.ask(seq_len).reshape(seq_len, self.asked.d_model)

    def hands(self, seq_len: int) -> np.ndarray:
        """Return each sine and its cosine as one complex number.

        Returns:
            `[seq_len, pairs]`.
        """
        asked, table = self.asked, self.table(seq_len)
        sines, cosines = paired_columns(asked.d_model, asked.convention)
        return table[:, sines] + 1j * table[:, cosines]

    def off(self, seen, right, size: float = 6, least: float = STRUCTURE):
        """Return the places where `seen` is off, one a row of the result.

        Args:
            seen: What the tables hold, or something computed from it.
            right: What that should be.
            size: By how many times the tolerance it may be off, as errors
                add up in what is computed.
            least: By how much it may be off in any case.
        """
        slack = least + size * self.tolerance
        return np.argwhere(~(np.abs(seen - right) <= slack))


def row_length(tables: Tables) -> Finding | None:
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
    return Finding("row length", words, position=row)


def row_2(tables: Tables) -> Finding | None:
    """Ask whether the first sine of row 2 is sin 2, whatever the width."""
    columns = columns_of(tables.asked.d_model, tables.asked.convention)
    position = tables.asked.start + 2
    seen = tables.table(SHORT)[2, columns.sines[:1]]
    if not len(tables.off(seen, np.sin(position))):
        return None
    words = (
        f"The first sine of row 2 should be sin {position}, which is"
        f" {plain(np.sin(position), 4)}, whatever the width; it is"
        f" {plain(seen[0], 4)}."
    )
    return Finding("row 2", words, position=2)


def rotation(tables: Tables) -> Finding | None:
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
    return Finding("rotation", words, position=row + 2, pair=pair)


def wavelengths(tables: Tables) -> Finding | None:
    """Ask whether the columns have the wavelengths of the formula."""
    # x[p - s] + x[p + s] = 2 cos(s w) x[p], for w radians per position.
    asked = tables.asked
    speeds = angular_speeds(asked.d_model, asked.convention, asked.base)
    sines, cosines = columns_of(asked.d_model, asked.convention)
    waves = np.concatenate([speeds[: len(sines)], speeds[: len(cosines)]])
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
            return Finding("wavelengths", words)
    return None


def dot_products(tables: Tables) -> Finding | None:
    """Ask whether the dot product of rows depends on their offset alone."""
    hands = tables.hands(min(512, tables.rows))[1:]
    dots = (hands @ hands.conj().T).real
    off = tables.off(
        dots[1:, 1:], dots[:-1, :-1], size=4 * tables.asked.d_model
    )
    if not len(off):
        return None
    one, other = (int(place) + 2 for place in off[0])
    words = (
        "The dot product of two rows should depend on their offset alone; that"
        f" of rows {one - 1} and {other - 1} is not that of {one} and {other}."
    )
    return Finding("dot products", words, position=one)


def far_row(tables: Tables) -> Finding | None:
    """Ask whether a row far out is right, in whatever order it stands."""
    far = min(FAR, tables.rows - 1)
    row = np.sort(tables.table(far + 1)[far])
    errors = []
    for convention in EVERY:
        right = tables.asked._replace(convention=convention).rows([far])
        errors.append(np.abs(row - np.sort(right[0])).max())
    if min(errors) <= tables.tolerance:
        return None
    words = (
        "A row far out should be right: its speeds, digits, start. Row"
        f" {far} is off by {plain(min(errors), 2)}."
    )
    return Finding("far row", words, position=far)


def first_rows(tables: Tables) -> Finding | None:
    """Ask whether a long table begins like a short one."""
    off = tables.off(tables.table(tables.rows)[:SHORT], tables.table(SHORT))
    if not len(off):
        return None
    row = int(off[:, 0].min())
    words = (
        "Rows should not depend on how many are asked for; of a table of"
        f" {tables.rows} rows, row {row} is not that of one of {SHORT}."
    )
    return Finding("first rows", words, position=row)


def batch_axis(tables: Tables) -> Finding | None:
    """Ask whether each sentence of a batch is given the same encoding."""
    table, width = tables.ask(4), tables.asked.d_model
    due = np.zeros((4, 4, width))
    batch = due + table
    if batch.shape == due.shape and not len(
        tables.off(np.ptp(batch, axis=0), 0)
    ):
        return None
    words = (
        "Added to a batch, each sentence should get the same encoding; this"
        f" table's shape, {table.shape}, numbers sentences or adds an axis."
    )
    return Finding("batch axis", words)


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


def read(encoder: Callable, seq_len: int, d_model: int) -> np.ndarray:
    """Return an encoder's table as float64, or raise what is wrong with it."""
    table = numbers(encoder(seq_len, d_model))
    sizes = [size for size in table.shape[:-1] if size != 1]
    if sizes != [seq_len] or table.shape[-1] != d_model:
        raise ValueError(f"the shape is {table.shape}")
    if not np.isfinite(table).all():
        fine = np.isfinite(table.reshape(seq_len, d_model)).all(axis=1)
        row = np.flatnonzero(~fine).min()
        raise ValueError(f"there is NaN or infinity in row {row}")
    return table


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
    base = BASE if base is None else base
    check_settings(d_model, max_len, convention, tolerance, base, start)
    base = float(base)

    def made(rows: int) -> np.ndarray:
        return read(encoder, rows, d_model)

    ask = cache(made)
    most = min(max_len, ENTRIES // d_model)
    longest, details = ask_for_tables(ask, made, most)
    if longest < SHORT:
        return Review(tuple(details), max_len, tolerance=tolerance)

    short = ask(SHORT).reshape(SHORT, d_model)
    slack = max(STRUCTURE, tolerance, STEP.get(format_of(short), 0))
    fit = fitting(short, slack, base, start)
    likely = [named(convention)] if convention else fit or EVERY
    tables, failed = best_convention(
        [
            Tables(ask, HeldTo(d_model, each, base, start), tolerance, longest)
            for each in likely
        ]
    )
    details += failed
    details += asked_again(encoder, short)
    errors = row_errors(tables)
    if errors.max() > tolerance:
        with np.errstate(all="ignore"):  # some causes do not fit, by far
            causes = causes_of(tables, errors)
        details.append(every_row(tables, errors, causes))
    else:
        causes = []
    return Review(
        tuple(details),
        max_len,
        name_of(fit, base),
        base if fit else seen_base(causes),
        name_of([tables.asked.convention], base),
        tables.asked.convention in fit,
        tolerance,
        errors,
    )


def seen_base(causes: list[Cause]) -> float | None:
    """Return the base that a wrong table was seen to have, if any."""
    for cause in causes:
        if cause.right_for is not None:
            return cause.right_for.base
    return None


def check_settings(
    d_model: int,
    max_len: int,
    convention: str,
    tolerance: float,
    base: float,
    start: int,
) -> None:
    """Raise an error that names the first setting that makes no sense."""
    check_integer("d_model", d_model, 1, ENTRIES // SHORT)
    check_integer("max_len", max_len, SHORT, FARTHEST)
    check_integer("start", start, -FARTHEST, FARTHEST)
    if convention not in ("", *CONVENTIONS):
        known = choices(CONVENTIONS)
        raise ValueError(f"{convention=}: give one of {known}")
    check_base(base)
    check_tolerance(tolerance)


def ask_for_tables(
    ask: Callable, made: Callable, most: int
) -> tuple[int, list[Finding]]:
    """Ask for ever longer tables.

    Args:
        ask: Makes a table of so many rows, and keeps it.
        made: Makes it and does not keep it, since long ones fill the memory.
        most: How many rows to ask for.

    Returns:
        The rows of the longest, and what went wrong with a longer one.
    """
    longest = 0
    for rows in (4, SHORT, 256, 512, FAR + 1, most):
        rows = min(rows, most)
        trouble = trouble_with(ask, rows)
        if trouble:
            break
        longest = rows
    if not trouble:
        return longest, []
    words = f"Asked for {rows} rows: {trouble}."
    if not longest:
        words += " If it is a rotary function, --rotary is missing."
    if longest < SHORT:
        return longest, [Finding("table", words)]

    def fails(count: int) -> bool:
        return bool(trouble_with(made, count))

    longest = first_where(fails, longest, rows) - 1
    words += f" Up to {longest} rows it gives a table."
    return longest, [Finding("table", words, position=longest)]


def trouble_with(ask: Callable, rows: int) -> str:
    """Say why there is no table of so many rows, or nothing."""
    try:
        ask(rows)
    except (Exception, SystemExit) as error:  # whatever the encoder raises
        return describe_error(error)
    return ""


def best_convention(likely: list[Tables]) -> tuple[Tables, list[Finding]]:
    """Return that of which fewest checks fail, and what these found.

    Where as many fail, it is the first of which most columns are right.
    """
    tried = []
    for tables in likely:
        with np.errstate(all="ignore"):  # a column may stand still
            found = [check(tables) for check in CHECKS]
        failed = [each for each in found if each is not None]
        right = tables.asked.rows(np.arange(SHORT))
        off = np.abs(tables.table(SHORT) - right).max(axis=0)
        mostly_wrong = np.mean(off > STRUCTURE) > 0.5  # of the columns
        tried.append((len(failed), mostly_wrong, tables, failed))
    _, _, best, found = min(tried, key=lambda each: each[:2])
    return best, found


def asked_again(encoder: Callable, short: np.ndarray) -> list[Finding]:
    """Look whether a table that was asked for before is still the same."""
    try:
        again = read(encoder, *short.shape).reshape(short.shape)
    except (Exception, SystemExit) as error:
        words = (
            f"Asked again for {SHORT} rows, it fails: {describe_error(error)}."
        )
        return [Finding("state", words)]
    if np.array_equal(short, again):
        return []
    row = int(np.argmax((short != again).any(axis=1)))
    words = f"Asked again for {SHORT} rows, it gives another row {row}."
    return [Finding("state", words, position=row)]


def row_errors(tables: Tables) -> np.ndarray:
    """Return the largest error of each row; 4096 rows at a time."""
    table, errors = tables.table(tables.rows), []
    for start in range(0, len(table), 4096):
        rows = table[start : start + 4096]
        right = tables.asked.rows(start + np.arange(len(rows)))
        errors.append(np.abs(rows - right).max(axis=1))
    return np.concatenate(errors)


def every_row(
    tables: Tables, errors: np.ndarray, causes: list[Cause]
) -> Finding:
    """Say why rows are wrong, which is the first, and by how much."""
    row = int(np.argmax(errors > tables.tolerance))
    worst = int(errors.argmax())
    rows = tables.table(tables.rows)[[row, worst]]
    off = np.abs(rows - tables.asked.rows([row, worst]))
    column = int(off[0].argmax())
    words = (
        f"Row {row} is the first that is wrong, in column {column}; the worst"
        f" is off by {plain(errors.max(), 2)}: row {worst}, column"
        f" {off[1].argmax()}."
    )
    for cause in causes:
        column = column if cause.column is None else cause.column
    said = " ".join([*(cause.words for cause in causes), words])
    return Finding("every row", said, position=row, column=column)


def causes_of(tables: Tables, errors: np.ndarray) -> list[Cause]:
    """Explain a table by its first rows, and then by its later ones."""
    causes, asked = [], tables.asked
    table = tables.table(tables.rows)
    short = tables.table(SHORT)
    if np.abs(short - asked.rows(np.arange(SHORT))).max() <= STRUCTURE:
        short = table[:SHORT]  # only the long one is wrong, if any
    if np.abs(short - asked.rows(np.arange(SHORT))).max() > STRUCTURE:
        cause = first_rows_cause(short, asked)
        if cause is not None:
            causes.append(cause)
            if cause.right_for is None:
                return causes
            asked = cause.right_for
            errors = row_errors(replace(tables, asked=asked))
    if errors.max() > tables.tolerance:
        cause = later_rows_cause(table, asked, errors, tables.tolerance)
        if cause is not None:
            causes.append(cause)
    return causes
