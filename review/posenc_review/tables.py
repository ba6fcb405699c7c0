"""Review a sinusoidal table: how it is given, and every row of it.

The formula is that of Vaswani et al. 2017, "Attention is all you need",
section 3.5, in one of the conventions in which tables are laid out. A table
holds what a rotary function makes of the vector (1, 0, 1, 0, ...), so that
the same changes explain what is wrong.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from .asked import BASE, slips
from .changes import Change, Evidence, as_measured, changes, explain, lengths
from .formula import STEP, Call, Formula, dtype_of, geometric, telling
from .measure import measure
from .report import (
    LARGE,
    Answer,
    Finding,
    Review,
    ask,
    check,
    check_choice,
    check_integer,
    number,
    plain,
)

LONGEST = 70_000  # rows, unless told otherwise
SHORT = 64  # rows of the first look
MOST_ENTRIES = 2**26  # of the largest table: 512 MB in float64
FARTHEST = 2**53  # up to there, float64 holds every whole number
CHUNK = 4096  # rows that are compared in one go, to stay in the cache
ALIKE = 1e-3  # beyond float32, and below what any slip changes
NAME = "every row"  # of all findings on rows
SPACINGS = ("paper", "tensor2tensor")
ORDERS = ("interleaved", "half")
# What else a pair may hold in place of its cosine `c` and sine `s`.
FORMS = {
    NAME: {
        "sines and cosines are exchanged": lambda a, b, c, s, w: (s, c),
        "the sines are negated": lambda a, b, c, s, w: (c, -s),
        "the cosines are negated": lambda a, b, c, s, w: (-c, s),
        "all entries are negated": lambda a, b, c, s, w: (-c, -s),
        "the sines are missing": lambda a, b, c, s, w: (c, 0 * s),
        "the cosines are missing": lambda a, b, c, s, w: (0 * c, s),
    }
}
# What the exponents of column `k` of `d` may be taken for, times `d`. Both
# columns of pair i should have 2 i.
EXPONENTS: dict[tuple[str, str], Callable[[np.ndarray, int], np.ndarray]] = {
    ("interleaved", "each column has an exponent of its own"): lambda k, d: k,
    ("interleaved", "the exponents are twice the column's number"): (
        lambda k, d: 2 * k
    ),
    ("interleaved", "the angles are laid out in halves"): (
        lambda k, d: 2 * k % d
    ),
    ("half", "the angles are laid out interleaved"): lambda k, d: k // 2 * 2,
}


class Table(NamedTuple):
    """What a table should be: the formula in one of its conventions."""

    d_model: int
    base: float = BASE
    start: int = 0  # the position of row 0
    spacing: str = "paper"
    order: str = "interleaved"
    cosine_first: bool = False

    def __str__(self) -> str:
        """Name the convention."""
        words = f"{self.spacing}, {self.order}"
        words += ", cosine first" if self.cosine_first else ""
        other = "" if self.base == BASE else f", base {plain(self.base)}"
        return words + other

    @property
    def frequencies(self) -> np.ndarray:
        """Return the radians per position of each pair."""
        pairs = (self.d_model + 1) // 2
        if self.spacing == "paper":
            return geometric(self.base, pairs, self.d_model / 2)
        return geometric(self.base, pairs, max(self.d_model // 2 - 1, 1))

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which columns are sines, and which cosines.

        At an odd width the paper's formula has one wave more of the first
        kind; tensor2tensor's table has a column of zeros at the end.
        """
        waves = self.d_model
        if self.spacing == "tensor2tensor":
            waves = max(1, self.d_model // 2 * 2)
        columns = np.arange(waves)
        if self.order == "interleaved":
            first, second = columns[::2], columns[1::2]
        else:
            first, second = np.split(columns, [(waves + 1) // 2])
        return (second, first) if self.cosine_first else (first, second)

    def rows(self, first: int, last: int) -> np.ndarray:
        """Return some of its rows: `[last - first, d_model]`."""
        places = self.start + np.arange(first, last)
        angles = np.outer(places, self.frequencies)
        sines, cosines = self.columns()
        table = np.zeros((last - first, self.d_model))
        table[:, sines] = np.sin(angles[:, : len(sines)])
        table[:, cosines] = np.cos(angles[:, : len(cosines)])
        return table

    def errors(self, table: np.ndarray) -> np.ndarray:
        """Return the largest error of each row of a table."""
        errors = []
        for start in range(0, len(table), CHUNK):
            seen = table[start : start + CHUNK]
            right = self.rows(start, start + len(seen))
            errors.append(np.abs(seen - right).max(axis=1))
        return np.concatenate(errors)

    def call(self, table: np.ndarray, picks: np.ndarray) -> Call:
        """Take some rows for what (1, 0, 1, 0, ...) becomes."""
        pairs = self.d_model // 2
        sines, cosines = (columns[:pairs] for columns in self.columns())
        made = np.stack([table[picks][:, cosines], table[picks][:, sines]], -1)
        given = np.zeros(made.shape)
        given[..., 0] = 1
        positions = np.arange(len(table))[None]
        return Call("", positions, 0 * picks, picks, given, made)


def every_table(d_model: int, base: float, start: int) -> list[Table]:
    """Return the table in each convention."""
    kinds = product(SPACINGS, ORDERS, (False, True))
    return [Table(d_model, base, start, *kind) for kind in kinds]


CONVENTIONS = [str(table) for table in every_table(1, BASE, 0)]


def review(
    encoder: Callable[[int, int], object],
    d_model: int = 64,
    *,
    max_len: int = LONGEST,
    convention: str = "",
    tolerance: float = 1e-6,
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
        convention was seen.

    Raises:
        ValueError: If a setting makes no sense, by its name.
    """
    check("encoder", encoder, callable(encoder), "a function")
    check_integer("d_model", d_model, 1, MOST_ENTRIES // SHORT)
    check_integer("max_len", max_len, SHORT, FARTHEST)
    check_integer("start", start, -FARTHEST, FARTHEST)
    check_choice("convention", convention, CONVENTIONS)
    check("base", base, 1 < number(base) < LARGE, "a number above 1")
    right = 0 < number(tolerance) < LARGE
    check("tolerance", tolerance, right, "a number above 0")
    rows = min(max_len, MOST_ENTRIES // d_model)

    small, short, long = (
        table_from(encoder, count, d_model) for count in (4, SHORT, rows)
    )
    if small.made is None or short.made is None:
        trouble = small.trouble or short.trouble
        hint = "If it is a rotary function, --rotary is missing."
        return Review((Finding("table", f"{trouble} {hint}"),))
    findings = []
    if long.made is None:
        findings.append(Finding("table", long.trouble))
        long = short
    first = short.made.reshape(-1, d_model)
    table = long.made.reshape(-1, d_model)
    again = table_from(encoder, SHORT, d_model)
    findings += given_alike(small.made, first, table, again)

    every = every_table(d_model, float(base), start)
    slack = max(ALIKE, tolerance, STEP.get(dtype_of(first), 0))
    fitting = [kind for kind in every if kind.errors(first).max() <= slack]
    every.sort(key=lambda kind: (kind.errors(first) > slack).mean())
    held_to = fitting[0] if fitting else every[0]
    if convention:
        names = [str(kind._replace(base=BASE)) for kind in every]
        held_to = every[names.index(convention)]
    errors = held_to.errors(table)
    seen = " or ".join(map(str, fitting[:2])) or "unknown"
    if errors.max() > tolerance:
        if fitting and held_to not in fitting:
            words = f"The table is {seen}, not {held_to}."
        else:
            words = why(table, first, [held_to, *every], tolerance)
        findings.append(Finding(NAME, words))
        findings.append(where(table, held_to, errors, tolerance))
    if held_to not in fitting:
        seen += f"; held to {held_to}"

    right = int(np.append(errors > tolerance, True).argmax())
    looked_at = f"Rows: {len(table)}"
    if len(table) < max_len:
        looked_at += f" of the {max_len} asked for"
    looked_at += f", the first {right} right to {tolerance:g}."
    return Review(tuple(findings), seen, looked_at)


def table_from(encoder: Callable, rows: int, d_model: int) -> Answer:
    """Return a table as an encoder gives it, or why there is none."""
    made, trouble = ask(encoder, rows, d_model)
    if made is not None:
        sizes = [size for size in made.shape[:-1] if size != 1]
        if sizes != [rows] or made.shape[-1] != d_model:
            trouble = f"the shape is {made.shape}"
        elif not np.isfinite(made).all():
            row = np.isfinite(made).all(axis=-1).ravel().argmin()
            trouble = f"there is NaN or infinity in row {row}"
    if trouble:
        return Answer(None, f"Asked for {rows} rows: {trouble}.")
    return Answer(made)


def given_alike(
    small: np.ndarray, first: np.ndarray, table: np.ndarray, again: Answer
) -> Iterator[Finding]:
    """Look whether a table fits a batch, and is the same in each call."""
    right = small.shape[-2:]
    if small.shape not in (right, (1, *right)) or right[0] != 4:
        words = (
            "Added to a batch, each sentence should get the same encoding;"
            f" the shape {small.shape} should be {(4, small.shape[-1])}."
        )
        yield Finding("batch axis", words)
    differ = np.abs(table[:SHORT] - first).max(axis=1) > ALIKE
    if differ.any():
        row = int(differ.argmax())
        words = (
            "Rows should not depend on how many are asked for; of a table of"
            f" {len(table)} rows, row {row} is not that of one of {SHORT}."
        )
        yield Finding("first rows", words, row)
    if again.made is None:
        yield Finding("state", f"A second time, it fails. {again.trouble}")
    elif not np.array_equal(again.made.reshape(first.shape), first):
        words = f"Asked again for {SHORT} rows, it gives another table."
        yield Finding("state", words)


def where(
    table: np.ndarray, held_to: Table, errors: np.ndarray, tolerance: float
) -> Finding:
    """Say which row is the first that is wrong, and which the worst."""
    row, worst = int(np.argmax(errors > tolerance)), int(errors.argmax())
    columns = []
    for place in (row, worst):
        off = np.abs(table[place] - held_to.rows(place, place + 1)[0])
        columns.append(int(off.argmax()))
    words = (
        f"Row {row} is the first that is wrong, in column {columns[0]}; the"
        f" worst is off by {plain(errors.max(), 2)}: row {worst}, column"
        f" {columns[1]}."
    )
    return Finding(NAME, words, row)


def why(
    table: np.ndarray, first: np.ndarray, every: list[Table], tolerance: float
) -> str:
    """Return the change that explains a table, or say that none does."""
    kind = every[0]
    if kind.errors(first).max() > ALIKE:  # else wrong rows come later
        columns = np.arange(kind.d_model)
        for (order, words), exponents in EXPONENTS.items():
            _, cosines = kind._replace(order=order).columns()
            powers = -exponents(columns, kind.d_model) / kind.d_model
            places = kind.start + np.arange(SHORT)
            angles = np.outer(places, kind.base**powers)
            rows = np.sin(angles)
            rows[:, cosines] = np.cos(angles[:, cosines])
            if np.abs(first - rows).max() <= ALIKE:
                return f"The table is {order}, and {words}."
    for kind in every:  # the order may be another one's
        words = of_pairs(table, kind, tolerance)
        if words:
            return words
    return "No known cause explains it."


def of_pairs(table: np.ndarray, kind: Table, tolerance: float) -> str:
    """Explain a table by how its pairs turn, as a rotary function's do."""
    pairs = kind.d_model // 2
    if not pairs:
        return ""
    doubled = 2 ** np.arange(int(np.log2(len(table) - 1)) + 1)
    near = kind.call(table, np.arange(SHORT))
    seen = measure(near, kind.call(table, doubled), step=0)
    formula = Formula(
        kind.frequencies[:pairs],
        tolerance,
        places=lambda row: row + kind.start,
        forgiven=0.0,
    )
    stretched = lengths(formula, seen)
    formula = stretched.formula if stretched else formula
    words = f"{stretched.finding.words} " if stretched else ""
    call = kind.call(table, np.arange(len(table)))
    call = kind.call(table, telling(~formula.fits(call).all(axis=1)))
    evidence = Evidence([call], seen, "row", FORMS)
    if not evidence.wrong_calls(formula):
        return words.strip()
    usual = formula._replace(forgiven=1.0)
    likely = [
        Change(finding, usual._replace(frequencies=rates))
        for finding, rates in slips(kind.base, pairs, seen)
    ]
    tried = [
        *changes(formula, evidence, likely),
        *as_measured(usual, evidence),
    ]
    change = explain(formula, evidence, tried)
    return words + change.finding.words if change else ""
