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

from . import report
from .asked import BASE, slips
from .changes import Change, Evidence, as_measured, changes, explain, lengths
from .formula import STEP, Call, Formula, dtype_of, geometric, pieces, telling
from .measure import measure
from .report import Answer, Finding, Review, plain

LONGEST = 70_000  # rows, unless told otherwise
SHORT = 64  # rows of the first look
WIDEST = 2**16  # columns
FARTHEST = 2**53  # up to there, float64 holds every whole number
ALIKE = 1e-3  # beyond float32, and below what any slip changes
NAME = "every row"  # of all findings on rows
SPACINGS = ("paper", "tensor2tensor")
ORDERS = ("interleaved", "half")


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
        return words + (", cosine first" if self.cosine_first else "")

    def formula(self, tolerance: float) -> Formula:
        """Return how the pairs of columns turn."""
        pairs = self.d_model // 2
        steps = pairs if self.spacing == "paper" else max(pairs - 1, 1)
        return Formula(geometric(self.base, pairs, steps), tolerance)

    def columns(self) -> np.ndarray:
        """Return which columns are cosines, and which sines: [2, pairs]."""
        columns = np.arange(self.d_model)
        columns = columns.reshape(-1, 2).T
        if self.order == "half":
            columns = np.arange(self.d_model).reshape(2, -1)
        return columns if self.cosine_first else columns[::-1]

    def call(self, table: np.ndarray) -> Call:
        """Take a table for what (1, 0, 1, 0, ...) becomes."""
        made = table[:, self.columns().T]
        given = np.broadcast_to([1.0, 0.0], made.shape)
        rows = np.arange(len(table))
        return Call("", self.start + rows[None], 0 * rows, rows, given, made)

    def errors(self, table: np.ndarray) -> np.ndarray:
        """Return how far off each pair of each row is: [rows, pairs]."""
        whole, formula = self.call(table), self.formula(0.0)
        return np.concatenate([formula.errors(call) for call in pieces(whole)])


def every_table(d_model: int, base: float, start: int) -> list[Table]:
    """Return the table in each convention."""
    kinds = product(SPACINGS, ORDERS, (False, True))
    return [Table(d_model, base, start, *kind) for kind in kinds]


CONVENTIONS = [str(table) for table in every_table(2, BASE, 0)]


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
        d_model: The width to look at, even.
        max_len: Rows to look at, 64 or more.
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
    report.check("encoder", encoder, callable(encoder), "a function")
    report.check_integer("d_model", d_model, 2, WIDEST)
    report.check("d_model", d_model, d_model % 2 == 0, "an even number")
    report.check_integer("max_len", max_len, SHORT, FARTHEST)
    report.check_integer("start", start, -FARTHEST, FARTHEST)
    report.check_choice("convention", convention, CONVENTIONS)
    report.check_above("base", base, 1)
    report.check_above("tolerance", tolerance, 0)

    small, short, long = (
        table_from(encoder, count, d_model) for count in (4, SHORT, max_len)
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
    report.ask(encoder, 2 * SHORT, 2 * d_model)  # to forget the others
    again = table_from(encoder, SHORT, d_model)
    findings += given_alike(small.made, first, table, again)

    every = every_table(d_model, float(base), start)
    slack = max(ALIKE, tolerance, STEP.get(dtype_of(first), 0))
    off = [(kind.errors(first) > slack).mean() for kind in every]
    fitting = [
        kind for kind, share in zip(every, off, strict=True) if not share
    ]
    held_to = every[int(np.argmin(off))]
    if convention:
        held_to = every[CONVENTIONS.index(convention)]
    seen = " or ".join(map(str, fitting[:2])) or "unknown"
    errors = held_to.errors(table)
    if errors.max() > tolerance:
        if fitting and held_to not in fitting:
            words = f"The table is {seen}, not {held_to}."
        else:
            kinds = [held_to] if convention or fitting else every
            words, held_to = why(table, kinds, tolerance)
            errors = held_to.errors(table)
        findings.append(Finding(NAME, words))
    right = int(np.append(errors.max(axis=1) > tolerance, True).argmax())
    if right < len(table):
        pair = int(errors[right].argmax())
        words = f"Row {right} is the first that is wrong, by"
        words += f" {plain(errors[right, pair], 2)} in pair {pair}."
        findings.append(Finding(NAME, words))
    if held_to not in fitting:
        seen += f"; held to {held_to}"
    looked_at = f"Rows: {len(table)}, the first {right} right to"
    return Review(tuple(findings), seen, f"{looked_at} {tolerance:g}.")


def table_from(encoder: Callable, rows: int, d_model: int) -> Answer:
    """Return a table as an encoder gives it, or why there is none."""
    made, trouble = report.ask(encoder, rows, d_model)
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
        words = "Added to a batch, each sentence should get the same encoding;"
        words += f" the shape {small.shape} should be {(4, small.shape[-1])}."
        yield Finding("batch axis", words)
    differ = np.abs(table[:SHORT] - first).max(axis=1) > ALIKE
    if differ.any():
        row = int(differ.argmax())
        words = "Rows should not depend on how many are asked for; of a table"
        words += f" of {len(table)} rows, row {row} is not that of one of"
        yield Finding("first rows", f"{words} {SHORT}.")
    if again.made is None:
        yield Finding("state", f"A second time, it fails. {again.trouble}")
    elif not np.array_equal(again.made.reshape(first.shape), first):
        words = f"Asked again for {SHORT} rows, it gives another table."
        yield Finding("state", words)


def why(
    table: np.ndarray, every: list[Table], tolerance: float
) -> tuple[str, Table]:
    """Say which change of which table explains one, or that none does."""
    for only_seen in (False, True):
        for kind in every:  # the order may be another one's
            words = of_pairs(table, kind, tolerance, only_seen)
            if words:
                return words, kind
    return "No known cause explains it.", every[0]


def of_pairs(
    table: np.ndarray, kind: Table, tolerance: float, only_seen: bool
) -> str:
    """Explain a table by how its pairs turn, as a rotary function's do.

    With `only_seen`, say which frequencies were seen, whatever the cause.
    """
    doubled = 2 ** np.arange(int(np.log2(len(table) - 1)) + 1)
    call = kind.call(table)
    seen = measure(call.only(np.arange(SHORT)), call.only(doubled), step=0)
    formula = kind.formula(tolerance)
    stretched = lengths(formula, seen)
    formula = stretched.formula if stretched else formula
    words = f"{stretched.finding.words} " if stretched else ""
    picks = telling(formula.wrong(call))
    evidence = Evidence([call.only(picks)], seen, kind.columns())
    if not evidence.wrong_positions(formula).size:
        return words.strip() or "Errors are those of angles in float32."
    likely = [
        Change(finding, formula._replace(frequencies=rates))
        for finding, rates in slips(kind.base, kind.d_model // 2, seen)
        if kind.spacing == SPACINGS[0]
    ]
    tried = changes(formula, evidence, likely)
    if only_seen:
        tried = as_measured(formula, evidence)
    change = explain(formula, evidence, tried)
    return words + change.finding.words if change else ""
