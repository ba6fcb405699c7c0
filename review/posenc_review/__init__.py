"""Review functions for positions: compare what they return with a reference.

Both kinds of function go through `examine`, once it is known what they rotate
and what is asked of them.
"""

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np

from . import measure
from .measure import CallError, Reference, Rotary, Table, geometric
from .report import OutOfReachError, Report, examine

__all__ = [
    "CONVENTIONS",
    "LAYOUTS",
    "OutOfReachError",
    "Report",
    "review",
    "review_rotary",
]

LAYOUTS = ("interleaved", "half", "interleaved, written as half")
CONVENTIONS = [  # of tables
    f"{exponents}, {order}{first}"
    for exponents in ("paper", "tensor2tensor")
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
        ValueError: If an argument makes no sense.
        OutOfReachError: If nothing is asked, and frequencies follow no base,
            or others in calls with far positions.
    """
    try:
        asked = [] if frequencies is None else frequencies
        listed = np.asarray(asked, float).ravel()
    except (TypeError, ValueError):
        check("frequencies", frequencies, False, "one finite number a pair")
    if width is None:
        width = 2 * len(listed) or 64
    check("rotate", rotate, callable(rotate), "a function")
    check_whole("width", width, range(2, 1025, 2), "an even number to 1024")
    check_whole("max_len", max_len, range(64, 2**24), "64 to 2**24 - 1")
    if frequencies is not None:
        right = 0 < 2 * len(listed) <= width and np.isfinite(listed).all()
        check("frequencies", listed, right, "one finite number a pair")
        check("base", base, base is None, "a base or frequencies, not both")
    if base is not None:
        check_above("base", base, 1)
    check_above("length", length, 0)
    check_above("tolerance", tolerance, 0)
    check("layout", layout, layout in ("", *LAYOUTS), f"one of {LAYOUTS}")

    report = Report()
    try:
        rotary = Rotary(rotate, width)
        report.convention = read_layout(report, rotary, layout)
        name, due = "", np.zeros(width // 2)
        if base is not None:
            due[: rotary.rotated] = geometric(base, rotary.rotated)
            name = f"base {base:.6g}"
        elif frequencies is not None:
            due[: len(listed)] = listed
            name = "the frequencies asked for"
        rotated = np.arange(width // 2) < rotary.rotated
        tolerance += measure.ULPS * rotary.ulp * max(1, length)
        reference = Reference(due, np.where(rotated, length, 1.0), tolerance)
        calls = [*measure.rotary_calls(max_len, width)]
        asked = {name: due, f"clockwise, {name}": -due} if name else {}
        examine(report, rotary, calls, asked, reference)
    except CallError as error:
        report.add("result", str(error))
    return report


def read_layout(report: Report, rotary: Rotary, layout: str) -> str:
    """Name the layout of pairs, and say if it is not the one asked for."""
    pairs, width = rotary.pairs[: rotary.rotated], rotary.pairs.size
    distances = np.unique(pairs[:, 1] - pairs[:, 0]).tolist()
    name = "interleaved" if distances == [1] else "half"
    if distances not in ([1], [len(pairs)], [width // 2]):
        name = "neither interleaved nor half"
    if (rotary.written != rotary.pairs).any():
        name += ", written as half"
    if name not in ([layout] if layout and width > 2 else LAYOUTS):
        words = f"Pairs are {name}: columns {pairs[0]} and so on"
        report.add("layout", f"{words}, where {layout or 'one'} is due.")
    if pairs.size < width:
        name += f", {pairs.size} of {width} columns from {pairs[0, 0]}"
    return name


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
        tolerance: How far an entry may be off, beside what float32 loses.
        base: What it is held to.
        start: The position of the table's first row.

    Raises:
        ValueError: If an argument makes no sense.
    """
    known = convention in ("", *CONVENTIONS)
    check("encoder", encoder, callable(encoder), "a function")
    check_whole("d_model", d_model, range(2, 65537, 2), "an even number")
    check_whole("max_len", max_len, range(64, 2**24), "64 to 2**24 - 1")
    # Beyond, what float32 may lose of the fastest angle is more than a radian.
    near = range(-(2**20), 2**20)
    check_whole("start", start, near, "a whole number from -2**20 to 2**20")
    check("convention", convention, known, f"one of {CONVENTIONS}")
    check_above("base", base, 1)
    check_above("tolerance", tolerance, 0)

    report, calls = Report(), [*measure.table_calls(max_len, start)]
    try:
        shape = measure.NEAR, d_model
        rows = measure.ask(encoder, calls[0][0], shape, *shape)
        nearest = nearest_convention(rows, base)
        report.convention, held_to = nearest, convention or nearest
        if nearest != held_to:
            report.convention += f", held to {held_to}"
        pairs, due = arrange(held_to, d_model, base)
        name = f"base {base:.6g}"
        if "tensor2tensor" in held_to:
            name += " in tensor2tensor"
        table = Table(encoder, start, pairs)
        tolerance += measure.ULPS * measure.ROUNDING
        reference = Reference(due, np.ones(len(due)), tolerance)
        examine(report, table, calls, {name: due}, reference)
    except CallError as error:
        report.add("result", str(error))
    return report


def nearest_convention(rows: np.ndarray, base: float) -> str:
    """Name the convention whose steps those between rows are nearest to.

    A table of another base is near none. Therefore tensor2tensor's is named
    only if it is clearly nearer than the paper's.
    """
    distances = {}
    for name in CONVENTIONS:
        pairs, due = arrange(name, rows.shape[1], base)
        rotations = measure.as_complex(rows, pairs)
        steps = rotations[1:] * rotations[:-1].conj()
        off = np.abs(np.angle(steps * np.exp(-1j * due)))
        clearly = measure.CLEARLY if "tensor2tensor" in name else 1
        distances[name] = np.nan_to_num(off).mean() * clearly
    return min(distances, key=distances.get)


def arrange(
    convention: str, d_model: int, base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a convention's pairs, `[pairs, 2]`, and their frequencies."""
    pairs = np.arange(d_model).reshape(-1, 2)
    if "half" in convention:
        pairs = np.arange(d_model).reshape(2, -1).T
    if "cosine first" not in convention:
        pairs = pairs[:, ::-1]
    steps = len(pairs) if "paper" in convention else max(len(pairs) - 1, 1)
    return pairs, geometric(base, len(pairs), steps)


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names an argument which makes no sense."""
    if not right:
        raise ValueError(f"{name}={value!s:.40}: give {wanted}")


def check_whole(name: str, value: object, allowed: range, wanted: str) -> None:
    """Raise an error unless a value is a whole number of a range."""
    right = isinstance(value, Integral) and value in allowed
    check(name, value, right, wanted)


def check_above(name: str, value: object, bound: float) -> None:
    """Raise an error unless a value is a number above a bound."""
    right = isinstance(value, Real) and bound < value < np.inf
    check(name, value, right, f"a number above {bound}")
