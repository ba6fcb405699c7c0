"""Review functions for positions: compare what they return with a formula.

`examine` is the whole way, for rotary functions and for tables: ask, measure,
make the formula, compare call after call, and say what differs.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from . import measure
from .compare import (
    Compared,
    Formula,
    OutOfReachError,
    Report,
    few,
    listed,
    read_frequencies,
    refuse,
    say_calls,
    say_first,
)
from .measure import CallError, Rotation, Table, geometric, hands

__all__ = ["OutOfReachError", "Report", "review", "review_rotary"]

Calls = Iterable[tuple[str, np.ndarray]]  # names, positions [rows, tokens]
LAYOUTS = ("interleaved", "half", "interleaved, written as half")
CONVENTIONS = [  # of tables
    f"{spacing}, {order}{first}"
    for spacing in ("paper", "tensor2tensor")
    for order in ("interleaved", "half")
    for first in ("", ", cosine first")
]


def review_rotary(
    rotate: Callable[[np.ndarray, np.ndarray], object],
    width: int | None = None,
    *,
    base: float | None = None,
    frequencies: object = None,
    length: float = 1.0,
    layout: str = "",
    max_len: int = 131_072,
    tolerance: float = 1e-4,
) -> Report:
    """Compare a rotary function with the formula, in many kinds of calls.

    Args:
        rotate: A callable of `x`, floats `[batch, seq_len, width]`, and
            `positions`, integers `[batch, seq_len]`, whose result has the
            shape of `x`.
        width: The columns of `x`, even; 64 unless frequencies tell it.
        base: What it is held to; else any base is right.
        frequencies: Radians per position of each pair to hold it to.
        length: By which factor vectors are to be stretched.
        layout: One of `LAYOUTS` to hold it to.
        max_len: How many positions to look at.
        tolerance: How far a number may be off, beside what float32 loses.

    Raises:
        OutOfReachError: If frequencies follow no base, or depend on the call.
    """
    asked = [] if frequencies is None else np.ravel(np.array(frequencies))
    width = width or 2 * len(asked) or 64
    alone = base is None or not len(asked)
    check("rotate", rotate, callable(rotate), "a function")
    check("width", width, width in range(2, 1025, 2), "an even number to 1024")
    check("frequencies", asked, 2 * len(asked) <= width, "one for each pair")
    check("base", base, alone, "a base or frequencies, not both")
    check("base", base, base is None or base > 1, "a number above 1")
    check("length", length, length > 0, "a number above 0")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")
    check("layout", layout, layout in ("", *LAYOUTS), f"one of {LAYOUTS}")
    check("max_len", max_len, max_len in range(64, 2**24), "64 to 2**24")

    report = Report()
    try:
        rotation = Rotation(rotate, width)
    except CallError as error:
        words = "A call of positions 0, 3, 1, 2, 40 with one column alone"
        report.add("result", f"{words}: {error}.")
        return report
    known, due = {}, np.zeros(width // 2)
    if base is not None:
        due[: rotation.turning] = geometric(base, rotation.turning)
        words = f"base {base:.6g}"
        known = {words: due, f"clockwise, {words}": -due}
    elif len(asked):
        due[: len(asked)] = asked
        known = {"the frequencies asked for": due}
    lengths = np.where(np.arange(width // 2) < rotation.turning, length, 1.0)
    slack = tolerance + 4 * rotation.step * max(1, length)
    formula = Formula(due, lengths, slack, float32=True)
    seen = read_layout(report, rotation, layout)
    examine(report, rotation, measure.calls(max_len, width), known, formula)
    report.convention = f"{seen}, {report.convention}"
    return report


def read_layout(report: Report, rotation: Rotation, layout: str) -> str:
    """Say whether pairs are those asked for, and name their layout."""
    pairs, width = rotation.pairs[: rotation.turning], rotation.pairs.size
    apart = np.unique(pairs[:, 1] - pairs[:, 0]).tolist()
    name = "interleaved" if apart == [1] else "half"
    if apart not in ([1], [len(pairs)], [width // 2]):
        name = "neither interleaved nor half"
    if (rotation.written != rotation.pairs).any():
        name += ", written as half"
    if name not in ([layout] if layout and width > 2 else LAYOUTS):
        words = f"Pairs are {name}: columns {pairs[0]} and so on"
        report.add("layout", f"{words}, where {layout or 'one'} is due.")
    if pairs.size < width:
        name += f", {pairs.size} of {width} columns from {pairs[0, 0]}"
        if pairs.size == 2 < width / 8:  # too small a part to be meant
            report.add("columns", f"2 of {width} columns are rotated.")
    return name


def examine(
    report: Report,
    function: Rotation | Table,
    calls: Calls,
    known: dict[str, np.ndarray],
    formula: Formula,
) -> None:
    """Compare a function with a formula, call after call, and say.

    Its frequencies are the nearest that are known, or of a base if none are.
    The first call has 64 positions, and the second every doubled one.
    """
    calls = list(calls)
    measured = [*answers(report, function, calls[:2])]
    if "result" in report.findings:
        return
    (_, first, near), (_, doubling, far) = measured

    # If another call turns otherwise, positions of the first are measured.
    others, early = far[:6], doubling[:, :6]
    again = near[early[0] - first[0, 0]]
    alike = np.abs(others - again).max() <= 2 * formula.tolerance
    if not alike:
        doubling, far = early, again

    # Make the formula out of what is known and what is measured.
    due, sizes = formula.lengths, np.abs(near[1:])
    lengths, bound = np.median(sizes, axis=0), max(formula.tolerance, 1e-3)
    steady = np.quantile(np.abs(sizes - lengths), 0.9, axis=0) <= bound
    off = steady & (np.abs(lengths - due) > bound)
    formula = formula._replace(lengths=np.where(off, lengths, due))
    if off.any():
        words = f"{listed(off)} become {few(*lengths[off])} times as long"
        words += f", where {few(*due[off])} is due."
        report.add("lengths", words, measured=lengths)
    rates = measure.read_rates(near, far)
    bases = measure.bases_of(rates, function.turning)
    formula = formula._replace(rates=rates)
    # All hands may be ahead by as much as that of the second token.
    ahead = near[1].conj() / formula.lengths
    both = np.append(first, doubling) - first[0, 1]
    both = both, np.concatenate([near, far]) * ahead
    words, rates = read_frequencies(report, formula, both, bases, known)
    formula = formula._replace(rates=rates)
    report.convention = words

    # Compare call after call, the first one again at the end, and say.
    compared = []
    for name, positions, turned in answers(report, function, calls):
        wrong = formula.misses(positions.ravel(), turned).any(axis=1)
        some = turned[np.flatnonzero(wrong)[:3]]
        wrong = wrong.reshape(positions.shape)
        compared.append(Compared(name, positions, wrong, some))
    if not compared:  # even the first call fails when it is made again
        return
    others = others / formula.lengths
    evenly = np.abs(others[1:] - others[:-1] ** 2).max() < 0.1
    if evenly and not (alike or known or compared[-1].wrong.any()):
        words = "where a call has far positions, and otherwise elsewhere"
        refuse(np.angle(others[0]), words)
    if any(call.wrong.any() for call in compared):
        say_first(report, compared, formula, function.pairs)
        say_calls(report, compared, formula)
    rows, tokens = np.max([call.positions.shape for call in compared], axis=0)
    report.looked_at = (
        f"Looked at: positions {first[0, 0]} to"
        f" {max(call.positions.max() for call in compared)}, {len(compared)}"
        f" calls of up to {tokens} tokens and {rows} rows."
    )


def answers(
    report: Report, function: Rotation | Table, calls: Calls
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield calls with what turns hands, and report the first that fails."""
    for name, positions in calls:
        try:
            yield name, positions, function.turn(positions)
        except CallError as error:
            words = f"A call {name} fails: {error}."
            report.findings.setdefault("result", words)


def review(
    encoder: Callable[[int, int], object],
    d_model: int = 64,
    *,
    max_len: int = 70_000,
    convention: str = "",
    tolerance: float = 1e-6,
    base: float = 10_000.0,
    start: int = 0,
) -> Report:
    """Compare every row of a table of sinusoids with the formula.

    The formula is that of Vaswani et al. 2017, section 3.5. A table holds
    what a rotary function makes of the vector (1, 0, 1, 0, ...).

    Args:
        encoder: A callable of `(seq_len, d_model)` that returns the table.
        d_model: The width to look at, even.
        max_len: Rows to look at, 64 or more.
        convention: One of `CONVENTIONS` to hold it to, else the nearest.
        tolerance: How far an entry may be off.
        base: What it is held to.
        start: The position of the table's first row.
    """
    named = convention in ("", *CONVENTIONS)
    check("encoder", encoder, callable(encoder), "a function")
    check("d_model", d_model, d_model in range(2, 65537, 2), "an even number")
    check("max_len", max_len, max_len in range(64, 2**53), "64 or more")
    check("convention", convention, named, f"one of {CONVENTIONS}")
    check("base", base, base > 1, "a number above 1")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")

    report, first = Report(), start + np.arange(64)[None]
    columns, fits = np.arange(d_model).reshape(-1, 2), {}
    try:
        table = Table(encoder, start, columns).turn(first).view(float)
    except CallError as error:
        report.add("result", f"A call of 64 rows fails: {error}.")
        return report
    for name in CONVENTIONS:
        pairs = columns if "interleaved" in name else columns.reshape(2, -1).T
        if "cosine first" not in name:
            pairs = pairs[:, ::-1]
        steps = len(pairs) if "paper" in name else max(len(pairs) - 1, 1)
        due = geometric(base, len(pairs), steps)
        turned = hands(table, pairs)
        off = turned[1:] * turned[:-1].conj() - np.exp(1j * due)
        fits[name] = np.nan_to_num(np.abs(off)).mean(), pairs, due
    nearest = min(fits, key=lambda name: fits[name][0])
    held = convention or nearest
    _, pairs, due = fits[held]
    doubling = 2 ** np.arange(int(np.log2(max_len)))
    calls = [
        ("of 64 rows", first),
        ("of rows 1, 2, 4, 8 and so on", start + doubling[None]),
        (f"of {max_len} rows", start + np.arange(max_len)[None]),
        ("of 64 rows, once more", first),
    ]
    known = {f"base {base:.6g}": due}
    formula = Formula(due, np.ones(len(due)), tolerance, float32=False)
    examine(report, Table(encoder, start, pairs), calls, known, formula)
    seen = nearest if fits[nearest][0] < 1e-3 else "unknown"
    report.convention = seen if seen == held else f"{seen}, held to {held}"
    return report


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names an argument which makes no sense."""
    if not right:
        raise ValueError(f"{name}={value!s:.40}: give {wanted}")
