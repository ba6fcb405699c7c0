"""Review a sinusoidal table: how it is given, and every row of it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from .conventions import (
    ALIKE,
    BASE,
    CONVENTIONS,
    Formula,
    every_formula,
    name_of,
)
from .report import Finding, Review, first_where
from .rounding import STEP, format_of
from .settings import (
    check_function,
    check_integer,
    check_number,
    describe_error,
    numbers,
    say_if_long,
)
from .table_causes import SHORT, every_row

LONGEST = 70_000  # rows, unless told otherwise
TOLERANCE = 1e-6
FARTHEST = 2**53  # up to there, float64 holds every whole number
ENTRIES = 2**26  # of the largest table: 512 MB in float64


class NoTableError(Exception):
    """The encoder raised an error, or returned something else."""


def review(
    encoder: Callable[[int, int], object],
    d_model: int = 64,
    *,
    max_len: int = LONGEST,
    convention: str = "",
    tolerance: float = TOLERANCE,
    base: float = BASE,
    start: int = 0,
) -> Review:
    """Look at every row of an encoder's table.

    Args:
        encoder: A callable of `(seq_len, d_model)`; NumPy reads its table.
        d_model: The width to look at.
        max_len: Rows to look at, 64 or more, as far as 2**26 entries go.
        convention: One of `CONVENTIONS` to hold it to, else what fits best.
        tolerance: How far an entry may be off.
        base: What it is held to.
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
    check_number("base", base, above=1)
    check_number("tolerance", tolerance)
    most = min(max_len, ENTRIES // d_model)
    say_if_long(most, d_model, memory=20 * most * d_model)

    ask = partial(table_from, encoder, d_model)
    try:
        small, short = ask(4), ask(SHORT)
        table, details = longest(ask, most)
    except NoTableError as trouble:
        hint = "If it is a rotary function, --rotary is missing."
        return Review((Finding("table", f"{trouble} {hint}"),))
    details += given_alike(ask, small, short, table)
    short, table = (some.reshape(-1, d_model) for some in (short, table))

    every = every_formula(d_model, float(base), start)
    slack = max(ALIKE, tolerance, STEP.get(format_of(short), 0))
    fit = [each for each in every if each.errors(short).max() <= slack]
    formula = min(fit or every, key=lambda each: misfit(short, each))
    if convention:
        formula = every[CONVENTIONS.index(convention)]
    errors = formula.errors(table)
    if errors.max() > tolerance:
        details += every_row(table, short, formula, tolerance, errors)

    right = int(np.append(errors > tolerance, True).argmax())
    rows = f"Rows: {len(table)}"
    if len(table) < max_len:
        rows += f" of the {max_len} asked for"
    held_to = name_of([formula])
    return Review(
        tuple(details),
        name_of(fit),
        f"{rows}, the first {right} right to {tolerance:g}.",
        "" if formula in fit else held_to,
        fields={
            "held_to": held_to,
            "rows": len(table),
            "rows_right": right,
        },
    )


def table_from(encoder: Callable, d_model: int, seq_len: int) -> np.ndarray:
    """Return a table as an encoder gives it, or raise a NoTableError."""
    try:
        table = numbers(encoder(seq_len, d_model))
    except (Exception, SystemExit) as error:  # whatever the encoder raises
        trouble = describe_error(error)
        raise NoTableError(f"Asked for {seq_len} rows: {trouble}.") from None
    sizes = [size for size in table.shape[:-1] if size != 1]
    trouble = ""
    if sizes != [seq_len] or table.shape[-1] != d_model:
        trouble = f"the shape is {table.shape}"
    elif not np.isfinite(table).all():
        row = np.isfinite(table).all(axis=-1).ravel().argmin()
        trouble = f"there is NaN or infinity in row {row}"
    if trouble:
        raise NoTableError(f"Asked for {seq_len} rows: {trouble}.")
    return table


def longest(
    ask: Callable[[int], np.ndarray], most: int
) -> tuple[np.ndarray, list[Finding]]:
    """Return a table of `most` rows, or the longest that there is."""

    def fails(rows: int) -> bool:
        try:
            ask(rows)
        except NoTableError:
            return True
        return False

    try:
        return ask(most), []
    except NoTableError as trouble:
        rows = first_where(fails, SHORT, most) - 1
        words = f"{trouble} Up to {rows} rows it gives a table."
    return ask(rows), [Finding("table", words, rows)]


def given_alike(
    ask: Callable[[int], np.ndarray],
    small: np.ndarray,
    short: np.ndarray,
    table: np.ndarray,
) -> list[Finding]:
    """Look whether a table fits a batch, and is the same in each call."""
    findings = []
    right = small.shape[-2:]
    if small.shape not in (right, (1, *right)) or right[0] != 4:
        words = (
            "Added to a batch, each sentence should get the same encoding;"
            f" the shape {small.shape} should be {(4, small.shape[-1])}."
        )
        findings.append(Finding("batch axis", words))
    rows = [some.reshape(-1, small.shape[-1]) for some in (short, table)]
    longer = np.abs(rows[1][:SHORT] - rows[0]).max(axis=1) > ALIKE
    if longer.any() and len(rows[1]) > SHORT:
        row = int(longer.argmax())
        words = (
            "Rows should not depend on how many are asked for; of a table of"
            f" {len(rows[1])} rows, row {row} is not that of one of {SHORT}."
        )
        findings.append(Finding("first rows", words, row))
    try:
        changed = (ask(SHORT) != short).any(axis=-1).ravel()
    except NoTableError as trouble:
        words = f"A table that it has given before fails. {trouble}"
        return [*findings, Finding("state", words)]
    if changed.any():
        row = int(changed.argmax())
        words = f"Asked again for {SHORT} rows, it gives another row {row}."
        findings.append(Finding("state", words, row))
    return findings


def misfit(rows: np.ndarray, formula: Formula) -> tuple[bool, bool, bool]:
    """Tell whether pairs turn unevenly, by other waves, or most are wrong.

    Pairs of another start, size or direction keep their waves. Where
    several conventions fit equally, the first is as good as any.
    """
    hands = formula.hands(rows)
    waves = 2 * np.cos(formula.frequencies()[: hands.shape[1]])
    before, middle, after = hands[:-2], hands[1:-1], hands[2:]
    with np.errstate(all="ignore"):  # numbers may be of any size
        uneven = np.abs(before * after - middle**2) > ALIKE
    other = np.abs(before + after - waves * middle) > ALIKE
    wrong = np.abs(rows - formula.rows(np.arange(len(rows)))) > ALIKE

    def share(some: np.ndarray) -> float:
        return some.sum() / max(some.size, 1)  # of one column, no pair

    return share(uneven) > 0.5, share(other) > 0.1, share(wrong) > 0.25
