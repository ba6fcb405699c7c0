"""Where the rows of a table are wrong, and why: causes that explain them.

Most causes are changes in how pairs turn, as in a rotary function, and
`changes` names them. Others change or move single columns.
"""

from collections.abc import Callable, Iterator

import numpy as np

from .conventions import ALIKE, SPACINGS, Formula, every_formula
from .explain import MANY, Evidence, explain
from .frequencies import USUAL_BASES, Plan, plan_of, suggestion
from .hypothesis import Hypothesis, measure
from .report import Finding, numbered, plain
from .rounding import STEP, format_of

SHORT = 64  # rows of the first look
# By the order of columns: what is wrong, and the exponent of column k of d.
# Both columns of pair i should have 2 i.
EXPONENTS: dict[str, dict[str, Callable]] = {
    "interleaved": {
        "each column has an exponent of its own": lambda k, d: k,
        "the exponents are twice the column's number, not the pair's": (
            lambda k, d: 2 * k
        ),
        "the angles are laid out concatenated": lambda k, d: 2 * k % d,
    },
    "concatenated": {
        "the angles are laid out interleaved": lambda k, d: k // 2 * 2,
    },
}
NAME = "every row"  # of all findings


def every_row(
    table: np.ndarray,
    short: np.ndarray,
    formula: Formula,
    tolerance: float,
    errors: np.ndarray,
) -> list[Finding]:
    """Say why rows are wrong, which is the first, and by how much.

    Args:
        table: That is wrong, `[rows, d_model]`.
        short: One of `SHORT` rows by the same encoder, which may be right.
        formula: What they are held to.
        tolerance: By how much an entry may be off.
        errors: By how much each row is off.
    """
    values = format_of(table[:MANY])
    step = STEP.get(values, 0)
    causes = [Finding(NAME, f"Entries are rounded to {values}.")]
    if errors.max() > 0.501 * step:  # rounding does not explain all
        every = explanations(table, short, formula, tolerance)
        with np.errstate(all="ignore"):  # some do not fit, by far
            others = next(filter(None, every), [])
        if not others or step <= tolerance:
            causes = []
        causes += others or [Finding(NAME, "No known cause explains it.")]

    row, worst = int(np.argmax(errors > tolerance)), int(errors.argmax())
    off = np.abs(table[[row, worst]] - formula.rows([row, worst]))
    column, other = off.argmax(axis=1).tolist()
    words = (
        f"Row {row} is the first that is wrong, in column {column}; the worst"
        f" is off by {plain(errors.max(), 2)}: row {worst}, column {other}."
    )
    return [
        *[cause._replace(name=NAME) for cause in causes],
        Finding(NAME, words, row, column=column),
    ]


def explanations(
    table: np.ndarray, short: np.ndarray, formula: Formula, tolerance: float
) -> Iterator[list[Finding]]:
    """Yield what may explain a table, the simplest first; most are empty."""
    right = formula.rows(np.arange(SHORT))
    if alike(short, right):  # what is wrong comes later
        yield turning(table, formula, tolerance)
        return
    yield named(short, changed_entries(short, right, formula))
    every = every_formula(formula.d_model, formula.base, formula.start)
    for other in [formula, *every]:  # the order may be another convention's
        if other.spacing == formula.spacing:
            yield turning(table, other, tolerance)
    yield named(short, moved_columns(short, right, formula))


def named(
    first: np.ndarray, changed: Iterator[tuple[str, np.ndarray]]
) -> list[Finding]:
    """Return the words of the first change that makes such rows."""
    for words, rows in changed:
        if alike(first, rows):
            return [Finding(NAME, words)]
    return []


def alike(left: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether rows are the same, by and large."""
    return bool(np.all(np.abs(left - right) <= ALIKE))


def changed_entries(
    first: np.ndarray, right: np.ndarray, formula: Formula
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what may have become of entries, in words, and such rows."""
    factor, added = np.polyfit(right.ravel(), first.ravel(), 1)
    said = []
    if abs(factor + 1) <= ALIKE:
        said.append("negated")
    elif abs(factor - 1) > ALIKE:
        said.append(f"multiplied by {plain(factor, 4)}")
    if abs(added) > ALIKE:
        said.append(f"moved by {plain(added, 4)}")
    if said and abs(factor) > ALIKE:  # if not, all is one number
        yield f"All entries are {' and '.join(said)}.", factor * right + added

    width = formula.d_model
    positions = formula.start + np.arange(SHORT)
    for order, wrong in EXPONENTS.items():
        _, cosines = formula._replace(order=order).columns()
        for words, exponents in wrong.items():
            powers = -exponents(np.arange(width), width) / width
            angles = np.multiply.outer(positions, formula.base**powers)
            rows = np.sin(angles)
            rows[:, cosines] = np.cos(angles[:, cosines])
            yield f"The table is {order}, and {words}.", rows

    # A pair that is negated could also be one that begins half a turn later.
    wrong = np.abs(first - right).max(axis=0) > ALIKE
    columns = np.flatnonzero(wrong)
    words = f"Negated: {numbered('column', columns)}."
    sines, cosines = formula.columns()
    for name, some in {"sines": sines, "cosines": cosines}.items():
        if np.array_equal(columns, np.sort(some)):
            words = f"The {name} are negated."
    yield words, np.where(wrong, -right, right)


def moved_columns(
    first: np.ndarray, right: np.ndarray, formula: Formula
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield where entries may have gone, in words, and such rows."""
    wrong = np.flatnonzero(np.abs(first - right).max(axis=0) > ALIKE)
    columns = numbered("column", wrong)
    order = np.arange(formula.d_model)
    for column in wrong:
        apart = np.abs(first[:, [column]] - right).max(axis=0)
        order[column] = apart.argmin()
    words = f"{columns.capitalize()} stand in another order."
    if len(np.unique(order)) < len(order):
        place = f"column {wrong[0]} has those of {order[wrong[0]]}"
        words = f"Numbers of other columns fill {columns}: {place}."
    elif len(wrong) == 2:
        words = f"Columns {wrong[0]} and {wrong[1]} are exchanged."
    yield words, right[:, order]

    rows = right.copy()
    rows[:, wrong] = first[0, wrong]
    yield f"All rows are the same in {columns}.", rows

    words = (
        "The entries are right and stand elsewhere: rows and columns are"
        " mixed, as by a reshape of the wrong axes."
    )
    rank = np.argsort(first, axis=None)
    for other in every_formula(formula.d_model, formula.base, formula.start):
        rows = np.empty(first.size)
        rows[rank] = np.sort(other.rows(np.arange(SHORT)), axis=None)
        yield words, rows.reshape(first.shape)


def turning(
    table: np.ndarray, formula: Formula, tolerance: float
) -> list[Finding]:
    """Explain a table by how its pairs turn, as those of a rotary function."""
    rows = Evidence(formula.hands(table)[:, :, None], "row")
    measured = measure(rows.first)
    if not measured.frequencies.any() or not measured.even.all():
        return []
    step = STEP.get(format_of(table[:MANY]), 0)
    slack = tolerance + 2e-6 + step
    spacings = sorted(SPACINGS, key=lambda name: name != formula.spacing)
    plan = plan_of(
        np.abs(measured.frequencies[:, 0]),
        tuple(formula._replace(spacing=name).steps() for name in spacings),
        max(2e-6, 2 * step),
        bases=(formula.base, *USUAL_BASES),
    )
    model = Hypothesis(
        plan.frequencies[:, None], slack, lambda row: row + formula.start
    )
    model, look = explain(model, rows.look(model), rows)
    if look.wrong[:SHORT].any():
        return []
    causes = [*said_of(plan, formula, spacings), *model.findings]
    limit = max(tolerance, step)
    in_float32 = look.error.max() > max(tolerance, 2e-6 + step)
    if in_float32 and not look.wrong.any() and not model.stages:
        row = int(np.argmax(look.error > limit))
        words = (
            f"Angles are in float32: row {row} is the first that is off by"
            f" more than {limit:.3g}."
        )
        causes.append(Finding(NAME, words, row))
    return causes


def said_of(
    plan: Plan, formula: Formula, spacings: list[str]
) -> Iterator[Finding]:
    """Say what frequencies follow, where it is not what was asked for."""
    other = np.isfinite(plan.base) and plan.base != formula.base
    if other or plan.exponents:
        words = f"The waves fit base {plain(plan.base, 5)}"
        if plan.exponents:
            words += f" in the spacing of {spacings[plan.exponents]}"
        cause = suggestion(plan.base, formula.d_model, (formula.base,))
        yield Finding(NAME, f"{words}: {cause}." if cause else f"{words}.")
    yield from plan.findings
    if plan.divided_by > 1:
        words = f"Positions are divided by {plain(plan.divided_by)}."
        yield Finding(NAME, words)
    if plan.parts:
        words = f"The frequencies are scaled by parts: {plan.parts}."
        yield Finding(NAME, words)
