"""Why a table is wrong: causes that explain what it holds.

Most causes are changes in how pairs turn, as in a rotary function, and
`hypothesis` names them. Others move or change single columns.
"""

from collections.abc import Callable

import numpy as np

from .conventions import SPACINGS, Formula, every_formula
from .explain import MANY, Evidence, explain
from .frequencies import USUAL_BASES, Plan, plan_of, suggestion
from .hypothesis import Hypothesis, measure
from .report import numbered, plain
from .rounding import STEP, format_of

ALIKE = 1e-3  # how near entries must be to be taken for the formula's
FIRST = 64  # rows in which single columns are looked at
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

    Args:
        table: That is wrong, `[rows, d_model]`.
        short: A shorter one of the same encoder, which may be right.
        asked: What they are held to.
        tolerance: By how much an entry may be off.
        worst: By how much one is off at most.
    """
    values = format_of(table[:MANY])
    if worst <= 0.501 * STEP.get(values, 0):
        return [f"Entries are rounded to {values}."]
    right = asked.rows(np.arange(FIRST))
    first = short[:FIRST]
    if alike(first, right):
        first = table[:FIRST]  # only the long one is wrong
    if alike(first, right):
        return turning(table, asked, tolerance)
    for explanation in (scaled, other_exponents, negated_columns):
        words = explanation(first, asked)
        if words:
            return [words]
    every = every_formula(asked.d_model, asked.base, asked.start)
    for each in [asked, *every]:  # columns may have another convention's order
        if each.spacing == asked.spacing:
            said = turning(table, each, tolerance)
            if said:
                return said
    words = moved_columns(first, asked)
    return [words] if words else []


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
        said.append(f"multiplied by {plain(factor, 4)}")
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


def negated_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns that are negated, if all else is right.

    Turning comes later: a pair that is negated could also be one that begins
    half a turn later.
    """
    right = asked.rows(np.arange(len(table)))
    off = np.abs(table - right).max(axis=0) > ALIKE
    if not alike(table, np.where(off, -right, right)):
        return ""
    columns = np.flatnonzero(off)
    for name, some in zip(("sines", "cosines"), asked.columns(), strict=True):
        if np.array_equal(columns, np.sort(some)):
            return f"The {name} are negated."
    return f"Negated: {numbered('column', columns)}."


def moved_columns(table: np.ndarray, asked: Formula) -> str:
    """Explain a table by columns, or by entries, that stand elsewhere."""
    right = asked.rows(np.arange(len(table)))
    wrong = np.flatnonzero(np.abs(table - right).max(axis=0) > ALIKE)
    columns = numbered("column", wrong).capitalize()
    apart = np.abs(table[:, wrong, None] - right[:, None, :]).max(axis=0)
    if np.all(apart.min(axis=1) <= ALIKE):
        order = np.arange(asked.d_model)
        order[wrong] = apart.argmin(axis=1)
        if len(set(order.tolist())) < len(order):
            place = f"column {wrong[0]} that of {order[wrong[0]]}"
            return f"{columns}: not what it should be, but {place}."
        if len(wrong) == 2:
            return f"Columns {wrong[0]} and {wrong[1]} are exchanged."
        return f"{columns} stand in another order."
    if np.ptp(table[:, wrong], axis=0).max() == 0:
        return f"One number in all rows hold: {columns.lower()}."
    for each in every_formula(asked.d_model, asked.base, asked.start):
        entries = each.rows(np.arange(len(table)))
        if alike(np.sort(table, axis=None), np.sort(entries, axis=None)):
            return (
                "The entries are right and stand elsewhere: rows and columns"
                " are mixed, as by a reshape of the wrong axes."
            )
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
    if look.wrong[:FIRST].any():
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
