"""Review a sinusoidal table: its convention, and what is wrong."""

from collections.abc import Callable

import numpy as np

from .conventions import BASE, CONVENTIONS, every_formula, fitting, name_of
from .encoder import SHORT, Encoder
from .report import Finding, Review, choices, plain
from .rounding import STEP, format_of
from .settings import FARTHEST, check_base, check_integer, check_tolerance
from .table_causes import ALIKE, causes_of
from .table_checks import CHECKS, Tables

LONGEST = 70_000  # rows, unless told otherwise
TOLERANCE = 1e-6
ENTRIES = 2**26  # of the largest table: 512 MB in float64


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
        known = choices(CONVENTIONS)
        raise ValueError(f"{convention=}: give one of {known}")
    base = BASE if base is None else base
    check_base(base)
    check_tolerance(tolerance)

    asking = Encoder(encoder, d_model)
    longest, details = asking.longest(min(max_len, ENTRIES // d_model))
    if longest < SHORT:
        return Review(tuple(details))
    short = asking.table(SHORT).reshape(SHORT, d_model)
    slack = max(ALIKE, tolerance, STEP.get(format_of(short), 0))
    every = every_formula(d_model, float(base), start)
    fit = fitting(short, slack, every)
    likely = fit or every
    if convention:
        likely = [every[CONVENTIONS.index(convention)]]
    tables, failed = best_convention(
        [Tables(asking, each, tolerance, longest) for each in likely]
    )
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


def best_convention(likely: list[Tables]) -> tuple[Tables, list[Finding]]:
    """Return that of which fewest checks fail, and what these found.

    Where as many fail, it is the first of which most columns are right.
    """
    tried = []
    for tables in likely:
        found = []
        for name, check in CHECKS.items():
            with np.errstate(all="ignore"):  # a column may stand still
                failed = check(tables)
            if failed:
                found.append(Finding(name, *failed))
        right = tables.asked.rows(np.arange(SHORT))
        off = np.abs(tables.table(SHORT) - right).max(axis=0)
        mostly_wrong = np.mean(off > ALIKE) > 0.5  # of the columns
        tried.append((len(found), mostly_wrong, tables, found))
    _, _, best, found = min(tried, key=lambda each: each[:2])
    return best, found


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
