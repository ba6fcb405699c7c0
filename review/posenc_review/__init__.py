"""Review functions for positions: compare what they return with a reference.

`examine` is the whole way, for rotary functions and for tables: ask, measure,
make the reference, compare call after call, and say what differs.
"""

from collections.abc import Callable

import numpy as np

from . import measure
from .measure import (
    Call,
    CallError,
    Calls,
    Reference,
    Rotary,
    Sample,
    Table,
    geometric,
)
from .report import (
    OutOfReachError,
    Report,
    read_frequencies,
    read_lengths,
    refuse_by_the_call,
    say_calls,
    say_first,
)

__all__ = ["OutOfReachError", "Report", "review", "review_rotary"]

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
        OutOfReachError: If nothing is asked, and frequencies follow no base,
            or others in calls with far positions.
    """
    listed = [] if frequencies is None else np.ravel(np.array(frequencies))
    width = width or 2 * len(listed) or 64
    alone = base is None or not len(listed)
    check("rotate", rotate, callable(rotate), "a function")
    check("width", width, width in range(2, 1025, 2), "an even number to 1024")
    check("frequencies", listed, 2 * len(listed) <= width, "one for each pair")
    check("base", base, alone, "a base or frequencies, not both")
    check("base", base, base is None or base > 1, "a number above 1")
    check("length", length, length > 0, "a number above 0")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")
    check("layout", layout, layout in ("", *LAYOUTS), f"one of {LAYOUTS}")
    check("max_len", max_len, max_len in range(64, 2**24), "64 to 2**24")

    report = Report()
    try:
        function = Rotary(rotate, width)
        seen = read_layout(report, function, layout)
        asked, due = {}, np.zeros(width // 2)
        if base is not None:
            due[: function.rotated] = geometric(base, function.rotated)
            name = f"base {base:.6g}"
            asked = {name: due, f"clockwise, {name}": -due}
        elif len(listed):
            due[: len(listed)] = listed
            asked = {"the frequencies asked for": due}
        rotated = np.arange(width // 2) < function.rotated
        tolerance += measure.SPACINGS * function.spacing * max(1, length)
        reference = Reference(due, np.where(rotated, length, 1.0), tolerance)
        calls = measure.rotary_calls(max_len, width)
        examine(report, function, calls, asked, reference)
        report.convention = f"{seen}, {report.convention}"
    except CallError as error:
        report.add("result", str(error))
    return report


def read_layout(report: Report, function: Rotary, layout: str) -> str:
    """Name the layout of pairs, and say if it is not the one asked for."""
    pairs, width = function.pairs[: function.rotated], function.pairs.size
    distances = np.unique(pairs[:, 1] - pairs[:, 0]).tolist()
    name = "interleaved" if distances == [1] else "half"
    if distances not in ([1], [len(pairs)], [width // 2]):
        name = "neither interleaved nor half"
    if (function.written != function.pairs).any():
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
    """
    named = convention in ("", *CONVENTIONS)
    check("encoder", encoder, callable(encoder), "a function")
    check("d_model", d_model, d_model in range(2, 65537, 2), "an even number")
    check("max_len", max_len, max_len in range(64, 2**53), "64 or more")
    check("convention", convention, named, f"one of {CONVENTIONS}")
    check("base", base, base > 1, "a number above 1")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")

    report, arranged, distances = Report(), {}, {}
    calls = [*measure.table_calls(max_len, start)]
    columns = np.arange(d_model).reshape(-1, 2)
    try:
        rows = Table(encoder, start, columns).rotations(*calls[0])
        for name in CONVENTIONS:
            pairs, due = arranged[name] = arrange(name, columns, base)
            rotations = measure.as_complex(rows.view(float), pairs)
            steps = rotations[1:] * rotations[:-1].conj() - np.exp(1j * due)
            distances[name] = np.nan_to_num(np.abs(steps)).mean()
        nearest = min(distances, key=distances.get)
        pairs, due = arranged[convention or nearest]
        reference = Reference(due, np.ones(len(due)), tolerance)
        function = Table(encoder, start, pairs)
        examine(report, function, calls, {f"base {base:.6g}": due}, reference)
        known = distances[nearest] < measure.KNOWN_TABLE
        report.convention = nearest if known else "unknown"
        if report.convention != (convention or nearest):
            report.convention += f", held to {convention or nearest}"
    except CallError as error:
        report.add("result", str(error))
    return report


def arrange(
    convention: str, columns: np.ndarray, base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a convention's pairs, `[pairs, 2]`, and their frequencies."""
    pairs = columns
    if "half" in convention:
        pairs = columns.reshape(2, -1).T
    if "cosine first" not in convention:
        pairs = pairs[:, ::-1]
    steps = len(pairs) if "paper" in convention else max(len(pairs) - 1, 1)
    return pairs, geometric(base, len(pairs), steps)


def examine(
    report: Report,
    function: Rotary | Table,
    calls: Calls,
    asked: dict[str, np.ndarray],
    reference: Reference,
) -> None:
    """Ask, measure, make the reference, compare call after call, and say.

    The first two calls are measured: 64 successive positions, and 1, 2, 4,
    8, ... more than the first of these. All calls are compared.
    """
    calls = list(calls)
    near, far = (function.rotations(*call) for call in calls[:2])
    shared = near[measure.SHARED]
    off = np.abs(far[: len(shared)] - shared).max()
    if not off <= 2 * reference.tolerance:  # the second call turns otherwise
        again = [function.rotations(*call) for call in (calls[1], calls[0])]
        if not asked and all(map(np.array_equal, again, (far, near))):
            refuse_by_the_call(near, far, reference)
        far = shared
    sample, rotated = Sample(near, far), function.rotated
    reference = read_lengths(report, sample, reference)
    reference = read_frequencies(report, sample, reference, asked, rotated)

    compared = []
    for name, positions in calls:
        rotations = function.rotations(name, positions)
        wrong = reference.differ(positions.ravel(), rotations).any(axis=1)
        some = rotations[np.flatnonzero(wrong)[:3]]
        wrong = wrong.reshape(positions.shape)
        compared.append(Call(name, positions, wrong, some))
    if any(call.wrong.any() for call in compared):
        say_first(report, compared, reference, function.pairs)
        say_calls(report, compared, reference)
    farthest = max(call.positions.max() for call in compared)
    rows, tokens = np.max([call.positions.shape for call in compared], axis=0)
    most = "1 row" if rows == 1 else f"{rows} rows"
    report.looked_at = (
        f"Looked at: positions {calls[0][1][0, 0]} to {farthest},"
        f" {len(calls)} calls of up to {tokens} tokens and {most}."
    )


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names an argument which makes no sense."""
    if not right:
        raise ValueError(f"{name}={value!s:.40}: give {wanted}")
