"""Why a table is wrong: causes that explain what it holds."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .conventions import (
    EVERY,
    LAYOUTS,
    SPACINGS,
    Convention,
    columns_of,
    formula,
    paired_columns,
    steps_of,
)
from .probing import read_hands
from .report import counted, listed, plain
from .rounding import EXACT, ROUNDINGS, STEP, Rounding, format_of
from .turning import even_hands, known_factor
from .waves import USUAL_BASES, as_seen, schedule_of, suggestion

MANY = 4096  # rows that tell the format of all
ALIKE = 1e-3  # how near entries must be to be told for the formula's


class HeldTo(NamedTuple):
    """What a table is held to."""

    d_model: int
    convention: Convention
    base: float
    start: float  # the position of the first row

    def rows(self, numbers: object, rounding: Rounding = EXACT) -> np.ndarray:
        """Return the rows of these numbers, as they should be."""
        positions = self.start + np.asarray(numbers)
        return formula(
            positions, self.d_model, self.convention, self.base, rounding
        )


class Cause(NamedTuple):
    """What explains a wrong table.

    Where it is right for something else that one may ask for, `right_for`
    says for what: only then are its later rows looked at, too.
    """

    words: str
    right_for: HeldTo | None = None
    column: int | None = None


def first_rows_cause(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain the first rows of a table, or return None.

    Args:
        table: `[rows, d_model]`, from the first row on.
        asked: What it is held to.
    """
    steps = (
        scaled,
        other_formula,
        other_waves,
        moved_columns,
        constant_columns,
        mixed_entries,
        no_waves,
    )
    for explain in steps:
        cause = explain(table, asked)
        if cause is not None:
            return cause
    return None


def alike(left: np.ndarray, right: np.ndarray) -> bool:
    """Tell whether rows are the same."""
    return bool(np.all(np.abs(left - right) <= ALIKE))


def scaled(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain a table by a factor, and by a number that is added."""
    right = asked.rows(range(len(table)))
    factor, added = np.polyfit(right.ravel(), table.ravel(), 1)
    if not alike(table, factor * right + added):
        return None
    said = []
    if abs(factor + 1) <= ALIKE:
        said.append("negated")
    elif abs(factor - 1) > ALIKE:
        known = known_factor(factor, asked.d_model)
        said.append(f"multiplied by {plain(factor, 4)}{known}")
    if abs(added) > ALIKE:
        said.append(f"moved by {plain(added, 4)}")
    return Cause(f"All entries are {' and '.join(said)}.") if said else None


class Places(NamedTuple):
    """Which of the formula's columns each column of a table holds."""

    order: np.ndarray
    negated: np.ndarray  # whether it does so with the other sign


def places_of(table: np.ndarray, asked: HeldTo) -> Places | None:
    """Find each column of a table among the formula's, or return None.

    A column that holds what it should, but for its sign, is at its place.
    """
    right = asked.rows(range(len(table)))
    order, negated = np.arange(asked.d_model), np.zeros(asked.d_model, bool)
    for column in range(asked.d_model):
        wave = table[:, [column]]
        if alike(wave, right[:, [column]]):
            continue
        if alike(-wave, right[:, [column]]):
            negated[column] = True
            continue
        off = np.abs(wave - right).max(axis=0)
        order[column] = off.argmin()
        if off.min() > ALIKE:
            return None
    return Places(order, negated)


def moved_columns(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain a table by columns that are exchanged, repeated or negated."""
    places = places_of(table, asked)
    if places is None:
        return None
    order = places.order
    moved = np.flatnonzero(order != np.arange(asked.d_model))
    negated = np.flatnonzero(places.negated)
    column = int(min([*moved, *negated]))
    if len(negated):
        verb = "is" if len(negated) == 1 else "are"
        said = f"{waves_named(negated, asked)} {verb} negated"
    elif len(set(order.tolist())) < len(order):
        verb = "holds" if len(moved) == 1 else "hold"
        said = (
            f"{waves_named(moved, asked)} {verb} what others should: column"
            f" {column} that of {order[column]}"
        )
    elif len(moved) == 2:
        said = f"Columns {moved[0]} and {moved[1]} are exchanged"
    else:
        said = f"Columns {listed(moved)} stand in another order"
    return Cause(f"{said}.", column=column)


def constant_columns(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain a table by columns that hold one number."""
    off = np.abs(table - asked.rows(range(len(table)))).max(axis=0)
    wrong = off > ALIKE
    still = wrong & (np.ptp(table, axis=0) == 0)
    if not still.any() or np.any(wrong & ~still):
        return None
    columns = np.flatnonzero(still)
    words = f"One number in all rows hold: {counted('column', columns)}."
    return Cause(words, column=int(columns.min()))


def mixed_entries(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain a table by right entries at wrong places."""
    entries = np.sort(table, axis=None)
    for convention in EVERY:
        right = asked._replace(convention=convention).rows(range(len(table)))
        if alike(entries, np.sort(right, axis=None)):
            return Cause(
                "The entries are right and stand elsewhere: rows and columns"
                " are mixed, as by a reshape of the wrong axes."
            )
    return None


def no_waves(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Say so if the columns are no waves at all."""
    middle, ends = table[2:-1], table[3:] + table[1:-2]
    with np.errstate(all="ignore"):  # a column may be zero
        turn = (middle * ends).sum(axis=0) / (middle**2).sum(axis=0)
        missed = np.abs(ends - turn * middle).max(axis=0)
    if np.mean(missed > ALIKE * 10) < 0.5:
        return None
    words = (
        "Most columns are no waves of one speed: are they learned or random?"
    )
    return Cause(words)


def waves_named(columns: np.ndarray, asked: HeldTo) -> str:
    """Name columns; if they are most sines, or most cosines, so."""
    sines, cosines = columns_of(asked.d_model, asked.convention)
    for name, waves in (("The sines", sines), ("The cosines", cosines)):
        if np.isin(columns, waves).all() and len(columns) > len(waves) / 2:
            return name
    return counted("column", columns).capitalize()


def other_waves(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain a table by another base, first position or scaling."""
    for convention in EVERY:
        if convention.spacing == asked.convention.spacing:
            cause = waves_of(table, asked._replace(convention=convention))
            if cause is not None:
                return cause
    return None


def waves_of(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain the first rows of a table by waves laid out as asked."""
    sines, cosines = paired_columns(asked.d_model, asked.convention)
    if not len(sines):
        return None
    points = table[:, cosines] + 1j * table[:, sines]
    hands = read_hands(points[:, :, None])
    if not even_hands(hands).all() or not alike(hands.length, 1):
        return None
    speeds, phases = hands.speed[:, 0], hands.phase[:, 0]
    first = first_position(speeds, phases)
    if first is None:
        return None
    own = asked.convention.spacing
    spacings = sorted(SPACINGS, key=lambda spacing: spacing != own)
    steps = tuple(steps_of(asked.d_model, each) for each in spacings)
    usual = (asked.base, *USUAL_BASES)
    plan = schedule_of(np.abs(speeds), steps, ALIKE / 100, usual)
    base = asked.base if np.isnan(plan.base) else plan.base
    spacing = spacings[plan.reading]
    words, right = [], asked
    if base != asked.base or spacing != own:
        words.append(base_words(base, spacing, asked))
        convention = asked.convention._replace(spacing=spacing)
        right = right._replace(base=base, convention=convention)
    wrong = [finding.words for finding in plan.findings]
    if plan.divided_by != 1 and not wrong:
        wrong.append(f"Positions are divided by {plain(plan.divided_by)}.")
    if plan.parts:
        wrong.append(f"The speeds are scaled by parts: {plan.parts}.")
    backwards = np.median(np.sign(speeds[as_seen(plan.speeds) > 0])) < 0
    if backwards and first != asked.start:
        wrong.append(f"Rows count backwards, from position {plain(-first)}.")
    elif first != asked.start:
        right = right._replace(start=first)
        words.append(start_words(first, asked))
    if not words and not wrong:
        return None
    said = " ".join([*words, *wrong])
    return Cause(said, None if wrong else right)


def base_words(base: float, spacing: str, asked: HeldTo) -> str:
    """Say which base the waves fit, and what it suggests."""
    words = f"The waves fit base {plain(base, 5)}"
    if spacing != asked.convention.spacing:
        words += f" in the spacing of {spacing}"
    cause = suggestion(base, asked.d_model, (asked.base,))
    return f"{words}: {cause}." if cause else f"{words}."


def first_position(speeds: np.ndarray, phases: np.ndarray) -> float | None:
    """Return the position of row 0, or None if the pairs do not agree."""
    if not speeds.any():
        return None
    slowest = int(np.where(speeds == 0, np.inf, np.abs(speeds)).argmin())
    first = float(phases[slowest] / speeds[slowest])
    if abs(first - round(first)) < 0.01:
        first = float(round(first))
    off = np.abs(np.exp(1j * (phases - first * speeds)) - 1)
    return first if off.max() < 0.01 else None


def start_words(first: float, asked: HeldTo) -> str:
    """Say with which position a table begins."""
    late = first - asked.start
    words = f"Row 0 holds position {plain(first)}: each row is"
    if late == 1:
        return f"{words} one position late (counted from 1?)."
    if late > 1:
        return (
            f"{words} {plain(late)} positions late (an offset for padding?)."
        )
    return f"{words} {plain(-late)} positions early."


class Variant(NamedTuple):
    """A formula that is written wrongly in a known way.

    It gives the angles of sines and of cosines the exponents of other pairs;
    `k` is the number of a pair, and `d` the width.
    """

    words: str
    sine: Callable[[np.ndarray, int], np.ndarray]
    cosine: Callable[[np.ndarray, int], np.ndarray]


VARIANTS = (
    Variant(
        "each column has an exponent of its own, so that the cosines' are off",
        lambda k, d: k,
        lambda k, d: k + 0.5,
    ),
    Variant(
        "the exponents are twice the column's number, not the pair's",
        lambda k, d: 2 * k,
        lambda k, d: 2 * k + 1,
    ),
    Variant(
        "the angles are laid out concatenated, the waves interleaved",
        lambda k, d: 2 * k % (d // 2),
        lambda k, d: (2 * k + 1) % (d // 2),
    ),
    Variant(
        "the angles are laid out interleaved, the waves concatenated",
        lambda k, d: k // 2,
        lambda k, d: (d // 2 + k) // 2,
    ),
)


def other_formula(table: np.ndarray, asked: HeldTo) -> Cause | None:
    """Explain a table by a formula that is written wrongly."""
    positions = asked.start + np.arange(len(table))
    for layout in LAYOUTS:
        convention = asked.convention._replace(layout=layout)
        sines, cosines = columns_of(asked.d_model, convention)
        for variant in VARIANTS:
            pairs = np.zeros(asked.d_model)
            pairs[sines] = variant.sine(np.arange(len(sines)), asked.d_model)
            pairs[cosines] = variant.cosine(
                np.arange(len(cosines)), asked.d_model
            )
            speeds = asked.base ** (-2 * pairs / asked.d_model)
            angles = np.multiply.outer(positions, speeds)
            made = np.sin(angles)
            made[:, cosines] = np.cos(angles[:, cosines])
            if alike(table, made):
                return Cause(f"The table is {layout}, and {variant.words}.")
    return None


def later_rows_cause(
    table: np.ndarray, asked: HeldTo, errors: np.ndarray, tolerance: float
) -> Cause | None:
    """Explain a table that is right at first, by its later rows.

    Args:
        table: `[rows, d_model]`.
        asked: What it is held to.
        errors: The largest of each row.
        tolerance: How far an entry may be off.
    """
    for explain in (rounded_entries, rounded_angles, rows_from):
        cause = explain(table, asked, errors, tolerance)
        if cause is not None:
            return cause
    return None


def rounded_entries(table, asked, errors, tolerance) -> Cause | None:
    """Explain errors by entries that are rounded at the end."""
    name = format_of(table[:MANY])
    if errors.max() > 0.501 * STEP.get(name, 0):
        return None
    return Cause(f"Entries are rounded to {name}.")


def rounded_angles(table, asked, errors, tolerance) -> Cause | None:
    """Explain errors by angles in float32, or rounded to 16 bits."""
    first = int(np.argmax(errors > tolerance))
    if np.all(errors <= 2e-6 + 8 * STEP["float32"] * np.arange(len(table))):
        words = (
            f"Angles are in float32: row {first} is the first that is off by"
            f" more than {tolerance:g}."
        )
        return Cause(words)
    some = table[:MANY]
    slack = 2 * ALIKE + STEP.get(format_of(some), 0)

    def share(rounding: Rounding) -> float:
        off = np.abs(some - asked.rows(range(len(some)), rounding))
        return np.mean(off <= slack)

    best = max((EXACT, *ROUNDINGS), key=share)
    if best is EXACT or share(best) < 0.9:
        return None
    words = f"{best.words()}: row {first} is the first that is off."
    return Cause(words)


def rows_from(table, asked, errors, tolerance) -> Cause | None:
    """Explain errors by rows that are blank, clipped or begin again."""
    wrong = np.flatnonzero(errors > max(ALIKE, tolerance))
    if not len(wrong):
        return None
    first, last = int(wrong.min()), int(wrong.max())
    some = np.arange(first, min(first + 8, last + 1))
    made = table[some]
    whole = len(wrong) == last - first + 1
    to = f"Rows {first} to {last}" if last > first else f"Row {first}"
    if whole and not table[wrong].any():
        return Cause(f"{to} {'are' if last > first else 'is'} zero.")
    if last < len(table) - 1 and whole:
        return Cause(f"{to}, and no others, hold something else.")
    taken_for = {
        f"all hold row {first - 1}: clipped there": np.full(
            len(some), first - 1
        ),
        "begin with row 0 again: wrapped there": some - first,
        "overflow to negative positions": some - 2 * first,
        "are one row late": some + 1,
        "repeat a row: they are one row early": some - 1,
    }
    for told, numbers in taken_for.items():
        if alike(made, asked.rows(numbers)):
            return Cause(f"The rows from {first} on {told}.")
    return None
