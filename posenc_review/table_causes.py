"""Why a table is wrong: causes that explain what it holds."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .conventions import SPACINGS, Formula, every_formula
from .frequencies import USUAL_BASES, Plan, plan_of, suggestion
from .hypothesis import (
    MANY,
    Hands,
    Hypothesis,
    explain,
    known_factor,
    measure,
    start_of,
)
from .report import numbered, plain, runs
from .rounding import STEP, format_of

ALIKE = 1e-3  # how near entries must be to be told for the formula's


class Tables(NamedTuple):
    """An encoder's tables, and what they are held to."""

    ask: Callable[[int], np.ndarray]  # the table of so many rows, as it came
    asked: Formula
    tolerance: float
    rows: int  # of the longest table

    def table(self, seq_len: int) -> np.ndarray:
        """Return a table, `[seq_len, d_model]`."""
        return self.ask(seq_len).reshape(seq_len, self.asked.d_model)

    def hands(self, seq_len: int) -> np.ndarray:
        """Return each cosine and its sine as one complex number.

        Returns:
            `[seq_len, pairs]`.
        """
        return self.asked.hands(self.table(seq_len))

    def off(
        self,
        seen: object,
        right: object,
        size: float = 6,
        least: float = ALIKE,
    ) -> np.ndarray:
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

    def errors(self) -> np.ndarray:
        """Return the largest error of each row of the longest table."""
        table, errors = self.table(self.rows), []
        for start in range(0, self.rows, MANY):
            rows = table[start : start + MANY]
            right = self.asked.rows(start + np.arange(len(rows)))
            errors.append(np.abs(rows - right).max(axis=1))
        return np.concatenate(errors)


def causes_of(tables: Tables, errors: np.ndarray) -> list[str]:
    """Return sentences that explain a table.

    Args:
        tables: That are wrong.
        errors: The largest of each row of the longest.
    """
    table, asked = tables.table(tables.rows), tables.asked
    values = format_of(table[:MANY])
    if errors.max() <= 0.501 * STEP.get(values, 0):
        return [f"Entries are rounded to {values}."]
    slack = tables.tolerance + 2e-6 + STEP.get(values, 0)
    first = tables.table(64)
    if alike(first, asked.rows(np.arange(64))):
        first = table[:64]  # only the long one is wrong, if any
    if alike(first, asked.rows(np.arange(64))):
        return waves(table, asked, slack, tables.tolerance) or []
    for explanation in (scaled, other_formula, negated_columns):
        words = explanation(first, asked)
        if words:
            return [words]
    d_model, base, start = asked.d_model, asked.base, asked.start
    for each in [asked, *every_formula(d_model, base, start)]:
        if each.spacing == asked.spacing:
            said = waves(table, each, slack, tables.tolerance)
            if said:
                return said
    for explanation in (
        moved_columns,
        constant_columns,
        mixed_entries,
        no_waves,
    ):
        words = explanation(first, asked)
        if words:
            return [words]
    return []


def alike(left: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether rows are the same."""
    return bool(np.all(np.abs(left - right) <= ALIKE))


def scaled(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by a factor, and by a number that is added."""
    right = asked.rows(np.arange(len(table)))
    factor, added = np.polyfit(right.ravel(), table.ravel(), 1)
    if not alike(table, factor * right + added):
        return ""
    said = []
    if abs(factor + 1) <= ALIKE:
        said.append("negated")
    elif abs(factor - 1) > ALIKE:
        known = known_factor(factor, asked.d_model)
        said.append(f"multiplied by {plain(factor, 4)}{known}")
    if abs(added) > ALIKE:
        said.append(f"moved by {plain(added, 4)}")
    return f"All entries are {' and '.join(said)}." if said else ""


# Order of columns, what is wrong, and the exponent of column `k` of `d`,
# where both columns of pair i should have 2 i.
EXPONENTS: tuple[tuple[str, str, Callable], ...] = (
    (
        "interleaved",
        "each column has an exponent of its own, so that the cosines' are off",
        lambda k, d: k,
    ),
    (
        "interleaved",
        "the exponents are twice the column's number, not the pair's",
        lambda k, d: 2 * k,
    ),
    (
        "interleaved",
        "the angles are laid out concatenated",
        lambda k, d: 2 * k % d,
    ),
    (
        "concatenated",
        "the angles are laid out interleaved",
        lambda k, d: k // 2 * 2,
    ),
)


def other_formula(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by a formula with other exponents."""
    width = asked.d_model
    positions = asked.start + np.arange(len(table))
    for order, words, exponents in EXPONENTS:
        frequencies = asked.base ** (
            -exponents(np.arange(width), width) / width
        )
        angles = np.multiply.outer(positions, frequencies)
        _, cosines = asked._replace(order=order).columns()
        made = np.sin(angles)
        made[:, cosines] = np.cos(angles[:, cosines])
        if alike(table, made):
            return f"The table is {order}, and {words}."
    return ""


def waves(
    table: np.ndarray, asked: Formula, slack: float, tolerance: float
) -> list[str] | None:
    """Explain a table by how its pairs turn, as that of a rotary function.

    Args:
        table: `[rows, d_model]`.
        asked: What it is held to.
        slack: By how much an entry may be off where digits are few.
        tolerance: By how much it may be off.

    Returns:
        Sentences, or None if its pairs do not turn.
    """
    rows = Hands(asked.hands(table)[:, :, None], "row")
    was = measure(rows.first)
    signed = was.frequencies[:, 0]
    turns = len(signed) and np.abs(signed).max() > 1e-9
    if not turns or not was.even.all() or not alike(was.length, 1):
        return None
    start = start_of(was)
    if np.isnan(start):
        return None
    spacings = sorted(SPACINGS, key=lambda name: name != asked.spacing)
    steps = tuple(asked._replace(spacing=name).steps() for name in spacings)
    precision = max(2e-6, 2 * STEP.get(format_of(table[:MANY]), 0))
    bases = (asked.base, *USUAL_BASES)
    plan = plan_of(np.abs(signed), steps, precision, bases=bases)
    backwards = np.median(np.sign(signed)) < 0
    if backwards and start == asked.start:
        return None
    said = plan_words(plan, asked, spacings)
    if backwards:
        said.append(f"Rows count backwards, from position {plain(-start)}.")
    elif start != asked.start:
        said.append(start_words(start, asked))
    model = Hypothesis(
        plan.frequencies[:, None] * (-1 if backwards else 1),
        slack,
        read=lambda row: row + start,
    )
    model, look = explain(model, rows.look(model), rows)
    said += [finding.words for finding in model.findings]
    if look.wrong[:64].any():
        return None
    rest = look.error > max(tolerance, slack - tolerance)
    if rest.any() and not look.wrong.any() and not model.stages:
        row = int(np.argmax(look.error > tolerance))
        said.append(
            f"Angles are in float32: row {row} is the first that is off by"
            f" more than {tolerance:g}."
        )
    return said or None


def plan_words(plan: Plan, asked: Formula, spacings: list[str]) -> list[str]:
    """Say what frequencies follow, where it is not what was asked for."""
    said = []
    other = np.isfinite(plan.base) and plan.base != asked.base
    if other or plan.exponents:
        words = f"The waves fit base {plain(plan.base, 5)}"
        if plan.exponents:
            words += f" in the spacing of {spacings[plan.exponents]}"
        cause = suggestion(plan.base, asked.d_model, (asked.base,))
        said.append(f"{words}: {cause}." if cause else f"{words}.")
    said += [finding.words for finding in plan.findings]
    if plan.divided_by > 1:
        said.append(f"Positions are divided by {plain(plan.divided_by)}.")
    if plan.parts:
        said.append(f"The frequencies are scaled by parts: {plan.parts}.")
    return said


def start_words(start: float, asked: Formula) -> str:
    """Say with which position a table begins."""
    late = start - asked.start
    rows = (
        "one position" if abs(late) == 1 else f"{plain(abs(late))} positions"
    )
    words = f"Row 0 holds position {plain(start)}: each row is {rows}"
    if late < 0:
        return f"{words} early."
    cause = "counted from 1?" if late == 1 else "an offset for padding?"
    return f"{words} late ({cause})."


def negated_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns that are negated, if all else is right.

    This comes before the waves: a pair that is negated could also be one
    that begins half a turn later.
    """
    right = asked.rows(np.arange(len(table)))
    off = np.abs(table - right).max(axis=0) > ALIKE
    if np.any(off & (np.abs(table + right).max(axis=0) > ALIKE)):
        return ""
    return moved_columns(table, asked)


def moved_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns that are exchanged, repeated or negated."""
    right = asked.rows(np.arange(len(table)))
    off = np.abs(table - right).max(axis=0) > ALIKE
    negated = off & (np.abs(table + right).max(axis=0) <= ALIKE)
    moved = np.flatnonzero(off & ~negated)
    order = np.arange(asked.d_model)
    for column in moved:
        apart = np.abs(table[:, [column]] - right).max(axis=0)
        if apart.min() > ALIKE:
            return ""
        order[column] = apart.argmin()
    if negated.any():
        some = np.flatnonzero(negated)
        verb = "is" if len(some) == 1 else "are"
        return f"{waves_named(some, asked)} {verb} negated."
    if len(set(order.tolist())) < len(order):
        verb = "holds" if len(moved) == 1 else "hold"
        column = moved[0]
        return (
            f"{waves_named(moved, asked)} {verb} what others should: column"
            f" {column} that of {order[column]}."
        )
    if len(moved) == 2:
        return f"Columns {moved[0]} and {moved[1]} are exchanged."
    return f"Columns {runs(moved)} stand in another order."


def waves_named(columns: np.ndarray, asked: Formula) -> str:
    """Name columns; if they are most sines, or most cosines, so."""
    names = ("The sines", "The cosines")
    for name, some in zip(names, asked.columns(), strict=True):
        if np.isin(columns, some).all() and len(columns) > len(some) / 2:
            return name
    return numbered("column", columns).capitalize()


def constant_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns that hold one number."""
    off = np.abs(table - asked.rows(np.arange(len(table)))).max(axis=0)
    wrong = off > ALIKE
    if np.ptp(table[:, wrong], axis=0).max() > 0:
        return ""
    columns = numbered("column", np.flatnonzero(wrong))
    return f"One number in all rows hold: {columns}."


def mixed_entries(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by right entries at wrong places."""
    entries = np.sort(table, axis=None)
    for each in every_formula(asked.d_model, asked.base, asked.start):
        right = each.rows(np.arange(len(table)))
        if alike(entries, np.sort(right, axis=None)):
            return (
                "The entries are right and stand elsewhere: rows and columns"
                " are mixed, as by a reshape of the wrong axes."
            )
    return ""


def no_waves(table: np.ndarray, asked: Formula) -> str:
    """Say so if the columns are no waves at all."""
    middle, ends = table[2:-1], table[3:] + table[1:-2]
    turn = (middle * ends).sum(axis=0) / (middle**2).sum(axis=0)
    missed = np.abs(ends - turn * middle).max(axis=0)
    if np.mean(missed > ALIKE * 10) < 0.5:
        return ""
    return (
        "Most columns are no waves of one frequency: are they learned or"
        " random?"
    )
