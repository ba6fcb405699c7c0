"""Why a table is wrong: causes that explain what it holds.

Most causes are changes in how pairs turn, as in a rotary function, and
`explain` names them. Others move or change single columns.
"""

from collections.abc import Callable

import numpy as np

from .changes import known_factor
from .conventions import SPACINGS, Formula, every_formula
from .encoder import SHORT
from .explain import MANY, Evidence, explain
from .frequencies import USUAL_BASES, Plan, plan_of, suggestion
from .hypothesis import Hypothesis, measure
from .report import numbered, plain, runs
from .rounding import STEP, format_of

ALIKE = 1e-3  # how near entries must be to be taken for the formula's
# The exponent of column k of d, where both columns of pair i should have 2 i.
EXPONENTS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "interleaved, and each column has an exponent of its own, so that the"
    " cosines' are off": lambda k, d: k,
    "interleaved, and the exponents are twice the column's number, not the"
    " pair's": lambda k, d: 2 * k,
    "interleaved, and the angles are laid out concatenated": (
        lambda k, d: 2 * k % d
    ),
    "concatenated, and the angles are laid out interleaved": (
        lambda k, d: k // 2 * 2
    ),
}


def causes_of(
    table: np.ndarray,
    short: np.ndarray,
    asked: Formula,
    tolerance: float,
    worst: float,
) -> list[str]:
    """Return sentences that explain a table, or none.

    Beside the table that is wrong, a shorter one may be right.
    """
    values = format_of(table[:MANY])
    if worst <= 0.501 * STEP.get(values, 0):
        return [f"Entries are rounded to {values}."]
    right = asked.rows(np.arange(SHORT))
    first = short[:SHORT]
    if alike(first, right):
        first = table[:SHORT]  # only the long one is wrong
    if alike(first, right):
        return turning(table, asked, tolerance)
    for explanation in (scaled, other_exponents, negated_columns):
        words = explanation(first, asked)
        if words:
            return [words]
    # The columns may stand in the order of another convention.
    for each in [
        asked,
        *every_formula(asked.d_model, asked.base, asked.start),
    ]:
        if each.spacing == asked.spacing:
            said = turning(table, each, tolerance)
            if said:
                return said
    for explanation in (moved_columns, constant_columns, mixed_entries):
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
    return f"All entries are {' and '.join(said)}."


def other_exponents(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns whose waves have other exponents."""
    width = asked.d_model
    positions = asked.start + np.arange(len(table))
    for words, exponents in EXPONENTS.items():
        powers = -exponents(np.arange(width), width) / width
        angles = np.multiply.outer(positions, asked.base**powers)
        order = words.partition(",")[0]
        _, cosines = asked._replace(order=order).columns()
        made = np.sin(angles)
        made[:, cosines] = np.cos(angles[:, cosines])
        if alike(table, made):
            return f"The table is {words}."
    return ""


def turning(table: np.ndarray, asked: Formula, tolerance: float) -> list[str]:
    """Explain a table by how its pairs turn, as those of a rotary function."""
    rows = Evidence(asked.hands(table)[:, :, None], "row")
    was = measure(rows.first)
    if not was.frequencies.any() or not was.even.all():
        return []
    if np.isnan(was.start) or not alike(was.length, 1):
        return []
    digits = STEP.get(format_of(table[:MANY]), 0)
    slack = tolerance + 2e-6 + digits
    spacings = sorted(SPACINGS, key=lambda name: name != asked.spacing)
    steps = tuple(asked._replace(spacing=name).steps() for name in spacings)
    plan = plan_of(
        np.abs(was.frequencies[:, 0]),
        steps,
        max(2e-6, 2 * digits),
        bases=(asked.base, *USUAL_BASES),
    )
    model = Hypothesis(
        plan.frequencies[:, None], slack, read=lambda row: row + asked.start
    )
    model, look = explain(model, rows.look(model), rows)
    if look.wrong[:SHORT].any():
        return []
    said = plan_words(plan, asked, spacings)
    said += [finding.words for finding in model.findings]
    is_off = look.error > max(tolerance, slack - tolerance)
    if is_off.any() and not look.wrong.any() and not model.stages:
        row = int(np.argmax(look.error > tolerance))
        said.append(
            f"Angles are in float32: row {row} is the first that is off by"
            f" more than {tolerance:g}."
        )
    return said


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


def columns_off(table: np.ndarray, asked: Formula) -> np.ndarray:
    """Tell which columns are not those of the formula."""
    right = asked.rows(np.arange(len(table)))
    return np.abs(table - right).max(axis=0) > ALIKE


def negated_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns that are negated, if all else is right.

    Turning comes later: a pair that is negated could also be one that begins
    half a turn later.
    """
    off = columns_off(table, asked)
    if np.any(off & columns_off(-table, asked)):
        return ""
    verb = "is" if off.sum() == 1 else "are"
    return f"{waves_named(np.flatnonzero(off), asked)} {verb} negated."


def moved_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns that are exchanged or repeated."""
    right = asked.rows(np.arange(len(table)))
    moved = np.flatnonzero(columns_off(table, asked))
    order = np.arange(asked.d_model)
    for column in moved:
        apart = np.abs(table[:, [column]] - right).max(axis=0)
        if apart.min() > ALIKE:
            return ""
        order[column] = apart.argmin()
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
    off = columns_off(table, asked)
    if np.ptp(table[:, off], axis=0).max() > 0:
        return ""
    columns = numbered("column", np.flatnonzero(off))
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
