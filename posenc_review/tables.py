"""Review a sinusoidal table, by the checks of notebook 07."""

from collections.abc import Callable, Iterator

import numpy as np

from .conventions import (
    ALIKE,
    BASE,
    CONVENTIONS,
    Formula,
    every_formula,
    name_of,
)
from .report import Finding, Review, first_where, plain
from .rounding import STEP, format_of
from .settings import (
    check_base,
    check_function,
    check_integer,
    check_tolerance,
    describe_error,
    numbers,
    say_if_long,
)
from .table_causes import SHORT, every_row

FAR = 32_768  # a row far out, whose position needs 16 binary digits
LENGTHS = (4, SHORT, 256, 512, FAR + 1)  # of tables that the checks look at
LONGEST = 70_000  # rows, unless told otherwise
TOLERANCE = 1e-6
FARTHEST = 2**53  # up to there, float64 holds every whole number
ENTRIES = 2**26  # of the largest table: 512 MB in float64


class Tables:
    """Tables of several lengths, as an encoder gives them."""

    def __init__(self, encoder: Callable, d_model: int, tolerance: float):
        """Take the encoder, the width, and how far an entry may be off."""
        self.encoder, self.d_model = encoder, d_model
        self.tolerance = tolerance
        self.given: dict[int, np.ndarray] = {}  # by their number of rows
        self.rows = 0  # of the longest

    def ask(self, seq_len: int) -> str:
        """Ask for a table; keep it as the last, or say what is wrong."""
        try:
            table = numbers(self.encoder(seq_len, self.d_model))
        except (Exception, SystemExit) as error:  # whatever the encoder raises
            return describe_error(error)
        sizes = [size for size in table.shape[:-1] if size != 1]
        if sizes != [seq_len] or table.shape[-1] != self.d_model:
            return f"the shape is {table.shape}"
        fine = np.isfinite(table).all(axis=-1).ravel()
        if not fine.all():
            return f"there is NaN or infinity in row {fine.argmin()}"
        self.last = table
        return ""

    def ask_for_all(self, most: int) -> list[Finding]:
        """Ask for ever longer tables; return what went wrong with one."""
        for rows in sorted({min(rows, most) for rows in (*LENGTHS, most)}):
            trouble = self.ask(rows)
            if trouble:
                break
            self.given[rows], self.rows = self.last, rows
        else:
            return []
        words = f"Asked for {rows} rows: {trouble}."
        if not self.rows:
            words += " If it is a rotary function, --rotary is missing."
        if self.rows < SHORT:
            return [Finding("table", words)]
        self.rows = first_where(self.ask, self.rows, rows) - 1
        self.given[self.rows] = self.last
        words += f" Up to {self.rows} rows it gives a table."
        return [Finding("table", words, self.rows)]

    def ask_again(self) -> list[Finding]:
        """Look whether a table that was asked for before is still the same."""
        trouble = self.ask(SHORT)
        if trouble:
            words = f"Asked again for {SHORT} rows, it fails: {trouble}."
            return [Finding("state", words)]
        same = (self.last == self.given[SHORT]).all(axis=-1).ravel()
        if same.all():
            return []
        row = int(same.argmin())
        words = f"Asked again for {SHORT} rows, it gives another row {row}."
        return [Finding("state", words, row)]

    def table(self, seq_len: int) -> np.ndarray:
        """Return a table, `[seq_len, d_model]`, no longer than the longest."""
        return self.given[min(seq_len, self.rows)].reshape(-1, self.d_model)

    def off(
        self, left: object, right: object, times: int = 6, near: float = ALIKE
    ) -> np.ndarray:
        """Return the places where two are not near.

        Entries may be off by the tolerance, and what a check makes of them by
        some times as much.
        """
        slack = near + times * self.tolerance
        return np.argwhere(~(np.abs(left - right) <= slack))


def failures(tables: Tables, formula: Formula) -> list[Finding]:
    """Return what the checks find."""
    findings = []
    with np.errstate(all="ignore"):  # a column may stand still
        for check in CHECKS:
            findings += check(tables, formula)
    return findings


# The eight checks of notebook 07. Each finds one thing, or nothing.
def row_length(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 1: are all rows equally long?"""
    squares = (np.abs(formula.hands(tables.table(SHORT))) ** 2).sum(axis=1)
    pairs = formula.d_model // 2
    off = tables.off(squares, pairs, times=2 * formula.d_model)
    if len(off):
        row = int(off.min())
        by = plain(squares[row] - pairs, 2)
        words = (
            "In each row the squares should sum to 1 for each pair; those of"
            f" row {row} are off by {by} of {pairs}."
        )
        yield Finding("row length", words, row)


def row_2(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 2: does row 2 begin with sin 2, whatever the width?"""
    sines, _ = formula.columns()
    position = formula.start + 2
    right, seen = np.sin(position), tables.table(SHORT)[2, sines[:1]]
    if len(tables.off(seen, right)):
        words = (
            f"The first sine of row 2 should be sin {position}, which is"
            f" {plain(right, 4)}, whatever the width; it is"
            f" {plain(seen[0], 4)}."
        )
        yield Finding("row 2", words, 2)


def rotation(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 3: does each pair turn by the same angle from row to row?"""
    rows = formula.hands(tables.table(SHORT))[1:]
    step = rows[1] / rows[0]  # one for each pair
    off = tables.off(rows[1:], rows[:-1] * step)
    if len(off):
        row, pair = (off[0] + [2, 0]).tolist()
        words = (
            "Each pair should turn by the same angle from row to row; pair"
            f" {pair} does not, from row {row - 1} to {row}."
        )
        yield Finding("rotation", words, row, pair)


def wavelengths(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 4: are the wavelengths those of the formula?"""
    # x[p - s] + x[p + s] = 2 cos(s w) x[p], for w radians per position.
    frequencies, both = formula.frequencies(), formula.columns()
    waves = np.concatenate([frequencies[: len(some)] for some in both])
    columns = tables.table(256)[1:, np.concatenate(both)]
    for step in (1, 4, 16):  # large steps for slow waves
        middle = columns[step:-step]
        ends = columns[2 * step :] + columns[: -2 * step]
        measured = (middle * ends).sum(axis=0) / (middle**2).sum(axis=0)
        right = 2 * np.cos(step * waves)
        off = tables.off(np.sort(measured), np.sort(right), near=4e-5)
        if len(off):
            rows = "1 row" if step == 1 else f"{step} rows"
            words = (
                "The columns should have the wavelengths of the formula; over"
                f" {rows}, {len(off)} of {len(waves)} have not."
            )
            yield Finding("wavelengths", words)
            return


def dot_products(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 5: do dot products depend on the offset alone?"""
    hands = formula.hands(tables.table(512))[1:]
    dots = (hands @ hands.conj().T).real
    times = 4 * formula.d_model
    off = tables.off(dots[1:, 1:], dots[:-1, :-1], times)
    if len(off):
        one, other = (off[0] + 2).tolist()
        words = (
            "The dot product of two rows should depend on their offset alone;"
            f" that of rows {one - 1} and {other - 1} is not that of {one} and"
            f" {other}."
        )
        yield Finding("dot products", words, one)


def far_row(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 6: is a row far out right, in whatever order it stands?"""
    far = min(FAR, tables.rows - 1)
    row = np.sort(tables.table(far + 1)[far])
    every = every_formula(formula.d_model, formula.base, formula.start)
    error = min(
        np.abs(row - np.sort(each.rows([far])[0])).max() for each in every
    )
    if error > tables.tolerance:
        words = (
            "A row far out should be right: its frequencies, digits, start."
            f" Row {far} is off by {plain(error, 2)}."
        )
        yield Finding("far row", words, far)


def first_rows(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 7: do the first rows stay the same when the table grows?"""
    off = tables.off(tables.table(tables.rows)[:SHORT], tables.table(SHORT))
    if len(off):
        row = int(off[:, 0].min())
        words = (
            "Rows should not depend on how many are asked for; of a table of"
            f" {tables.rows} rows, row {row} is not that of one of {SHORT}."
        )
        yield Finding("first rows", words, row)


def batch_axis(tables: Tables, formula: Formula) -> Iterator[Finding]:
    """Check 8: does each sentence of a batch get the same encoding?"""
    table = tables.given[4]
    due = np.zeros((4, 4, formula.d_model))
    batch = due + table
    if batch.shape != due.shape or np.ptp(batch, axis=0).any():
        words = (
            "Added to a batch, each sentence should get the same encoding;"
            f" the shape {table.shape} should be {due.shape[1:]}."
        )
        yield Finding("batch axis", words)


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
    check_function("encoder", encoder)
    check_integer("d_model", d_model, 1, ENTRIES // SHORT)
    check_integer("max_len", max_len, SHORT, FARTHEST)
    check_integer("start", start, -FARTHEST, FARTHEST)
    if convention not in ("", *CONVENTIONS):
        known = "; ".join(CONVENTIONS)
        raise ValueError(f"{convention=}: give one of {known}")
    base = BASE if base is None else base
    check_base(base)
    check_tolerance(tolerance)

    tables = Tables(encoder, d_model, tolerance)
    most = min(max_len, ENTRIES // d_model)
    say_if_long(most, d_model, memory=20 * most * d_model)
    details = tables.ask_for_all(most)
    if tables.rows < SHORT:
        return Review(tuple(details))
    short, table = tables.table(SHORT), tables.table(tables.rows)

    every = every_formula(d_model, float(base), start)
    slack = max(ALIKE, tolerance, STEP.get(format_of(short), 0))
    fit = [each for each in every if each.errors(short).max() <= slack]
    if convention:
        formula = every[CONVENTIONS.index(convention)]
    else:
        formula = min(fit or every, key=lambda each: misfit(tables, each))
    details += failures(tables, formula)
    details += tables.ask_again()
    errors = formula.errors(table)
    if errors.max() > tolerance:
        details += every_row(table, short, formula, tolerance, errors)

    wrong = np.append(errors > tolerance, True)
    right = int(wrong.argmax())
    rows = f"Rows: {tables.rows}"
    if tables.rows < max_len:
        rows += f" of the {max_len} asked for"
    held_to = name_of([formula])
    return Review(
        tuple(details),
        name_of(fit),
        f"{rows}, the first {right} right to {tolerance:g}.",
        "" if formula in fit else held_to,
        fields={"held_to": held_to, "rows": tables.rows, "rows_right": right},
    )


def misfit(tables: Tables, formula: Formula) -> tuple[int, bool]:
    """Return how many checks fail, and whether most columns are wrong.

    If both are the same for several conventions, the first is as good as any.
    """
    off = np.abs(tables.table(SHORT) - formula.rows(np.arange(SHORT)))
    wrong = off.max(axis=0) > ALIKE
    return len(failures(tables, formula)), bool(wrong.mean() > 0.5)
