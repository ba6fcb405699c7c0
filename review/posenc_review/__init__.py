"""Review functions for positions: compare what they return with a formula.

`review_rotary` is the whole way: ask, read the convention, make the
reference, compare, say. `review` goes the same way with a table, whose rows
are what a rotary function makes of the vector (1, 0, 1, 0, ...).
"""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from . import measure
from .compare import (
    Held,
    OutOfReachError,
    Report,
    differences,
    plain,
    reference_for,
    refuse_unknown,
)
from .measure import FIRST, Call, CallError, Rotation, geometric

__all__ = ["OutOfReachError", "Report", "review", "review_rotary"]

LAYOUTS = ("interleaved", "half", "interleaved, written as half")
CONVENTIONS = [  # of tables
    f"{spacing}, {order}{first}"
    for spacing in ("paper", "tensor2tensor")
    for order in ("interleaved", "half")
    for first in ("", ", cosine first")
]
USUAL_BASES = (10_000.0, 500_000.0, 1_000_000.0)


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
    dtype: str = "",
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
        dtype: The shortest format that results may have.

    Raises:
        ValueError: If an argument makes no sense, by its name.
        OutOfReachError: If the function may be right, but its frequencies
            follow nothing that is known.
    """
    asked = None
    if frequencies is not None:
        width = width or 2 * np.size(frequencies)
        asked = np.trim_zeros(np.ravel(np.asarray(frequencies, float)), "b")
        right = asked.all() and 0 < 2 * len(asked) <= width
        check("frequencies", frequencies, right, "a number for each pair")
        check("base", base, base is None, "a base or frequencies, not both")
    width = 64 if width is None else width
    check("rotate", rotate, callable(rotate), "a function")
    check("width", width, width in range(2, 1025, 2), "an even number to 1024")
    check("base", base, base is None or base > 1, "a number above 1")
    check("length", length, length > 0, "a number above 0")
    check("layout", layout, layout in ("", *LAYOUTS), f"one of {LAYOUTS}")
    check("max_len", max_len, max_len in range(64, 2**24), "64 to 2**24")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")
    formats = ("", *measure.DIGITS)
    check("dtype", dtype, dtype in formats, f"one of {formats[1:]}")

    # Ask, and read the convention: format, layout, how pairs turn.
    report, most = Report(), max_len
    try:
        rotation = Rotation(rotate, width)
        first, again = (rotation.call(*FIRST) for _ in range(2))
        made_again(report, first, again, tolerance)
        if rotation.trouble(max_len - 1):
            places = range(max_len)
            most = bisect_left(
                places, True, 64, key=lambda at: bool(rotation.trouble(at))
            )
            words = f"Position {most} is the first to fail:"
            words += f" {rotation.trouble(most)}."
            report.add("far positions", words, position=most)
        far = 2 ** np.arange(int(np.log2(most)))[None]
        far = rotation.call("of positions 1, 2, 4, 8 and so on", far)
    except CallError as error:
        report.add("result", f"{error}.")
        return report
    kind = measure.format_of(rotation.matrices)
    if dtype and formats.index(kind) < formats.index(dtype):
        report.add("format", f"Results are in {kind}, not in {dtype}.")
    elif "16" in kind:
        report.notes.append(f"results are in {kind}.")
    seen_layout = read_layout(report, rotation, layout, asked)
    if "rotation" in report.findings:
        report.looked_at = "Looked at: positions 0 to 3 and 40."
        return report

    # Make the reference. Frequencies and lengths that differ are said now, and
    # calls are compared with the measured ones, to see what else differs.
    known = [("the frequencies asked for", asked)]
    if asked is None:
        known = []
        for some in USUAL_BASES if base is None else (base,):
            usual = geometric(some, rotation.turning)
            known += [(f"base {some:.6g}", way * usual) for way in (1, -1)]
    step = 2.0 ** -measure.DIGITS[kind]
    held = Held(
        rotation.turning,
        known,
        base is None and asked is None,
        length,
        tolerance + 4 * step * max(1, length),
        max(step, (tolerance - 1e-4) / 4),
    )
    reference, words = reference_for(report, first, far, rotation.pairs, held)
    report.convention = seen_layout + words

    # Compare call after call, the first once more at the end, and say.
    compared = []
    for name, positions in measure.calls(most, width):
        try:
            again = rotation.call(name, positions)
        except CallError as error:
            report.findings.setdefault("failing calls", f"{error}.")
        else:
            compared.append(reference.compare(again))
    if again.name.startswith(first.name):
        made_again(report, first, again, held.tolerance)
    if held.free:
        refuse_unknown(report, compared[:-1], reference)
    differences(report, compared, reference, "token")
    if "positions" in rotation.changed:
        report.add("input", "positions are changed in place.")
    if "x" in rotation.changed:
        report.notes.append("x is changed in place.")
    rows, longest = np.max([each.positions.shape for each in compared], axis=0)
    report.looked_at = (
        f"Looked at: positions 0 to {most - 1}, calls of 1 to {longest}"
        f" tokens, batches of up to {rows} rows, alone and again."
    )
    return report


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names an argument which makes no sense."""
    if not right:
        raise ValueError(f"{name}={value!s:.40}: give {wanted}")


def made_again(report: Report, first: Call, again: Call, slack: float) -> None:
    """Say whether the first call, made again, gives something else."""
    off = np.abs(np.nan_to_num(first.turned - again.turned, nan=0)).max()
    if off > slack and "state" not in report.findings:
        words = "The first call, made again, differs by"
        report.add("state", f"{words} {plain(off, 2)}.", off=off)


def read_layout(
    report: Report, rotation: Rotation, layout: str, asked: np.ndarray | None
) -> str:
    """Name the layout of the pairs that turn, and say if another is due."""
    pairs, width = rotation.pairs[: rotation.turning], rotation.width
    one, other = pairs[0].tolist()
    name = "interleaved" if other - one == 1 else "half"
    if (rotation.written != rotation.pairs).any():
        name += ", written as half"
    if layout and layout != name and width > 2:
        words = f"Pairs are {name} (columns {one} and {other}), where"
        report.add("layout", f"{words} {layout} is asked for.")
    apart = np.ptp(pairs, axis=1)
    if np.ptp(apart) or apart[0] not in (1, len(pairs), width // 2):
        said = ", ".join(f"{a} and {b}" for a, b in pairs[:4].tolist())
        report.add("layout", f"Pairs are columns {said} and so on.")
    words = f"{pairs.size} of {width} columns, with columns {one} and {other}"
    if asked is not None and len(asked) != len(pairs):
        words = f"The pairs that turn are {words}, where"
        report.add("columns", f"{words} {2 * len(asked)} should.")
    elif asked is None and pairs.size in (2, width - 2) and width > 2:
        report.add("columns", f"The pairs that turn are {words}.")

    # At each position, (a, b) has to become what a rotation makes of it.
    (one, other), (first, second) = pairs.T, rotation.written[: len(pairs)].T
    matrices = rotation.matrices
    a, b = matrices[:, first, one], matrices[:, first, other]
    c, d = matrices[:, second, one], matrices[:, second, other]
    off = np.maximum(np.abs(a - d), np.abs(b + c)) > 0.03
    if off.any():
        at, k = np.argwhere(off)[0]
        a, b, c, d = (plain(each[at, k], 4) for each in (a, b, c, d))
        words = (
            f"{off.any(axis=0).sum()} of {len(pairs)} pairs are not turned:"
        )
        words += f" position {[0, 1, 2, 3, 40][at]} makes of columns {one[k]}"
        words += f" and {other[k]} ({a}, {c}) where they were (1, 0), and"
        report.add("rotation", f"{words} ({b}, {d}) where (0, 1).")
    return name if pairs.size == width else f"{name}, {words}"


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
        convention: One of `CONVENTIONS` to hold it to, else what fits best.
        tolerance: How far an entry may be off.
        base: What it is held to.
        start: The position of the table's first row.
    """
    even, names = range(2, 2**16 + 1, 2), ("", *CONVENTIONS)
    check("encoder", encoder, callable(encoder), "a function")
    check("d_model", d_model, d_model in even, "an even number to 65536")
    check("max_len", max_len, max_len in range(64, 2**53), "64 or more")
    check("start", start, start in range(-(2**53), 2**53), "an integer")
    check("convention", convention, convention in names, f"one of {names[1:]}")
    check("base", base, base > 1, "a number above 1")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")

    # Ask for a short table, for all rows, and for the short one again.
    report, tables = Report(), {}
    asked = {"of 64 rows": 64, f"of {max_len} rows": max_len}
    for name, rows in (asked | {"of 64 rows, once more": 64}).items():
        try:
            tables[name] = table_of(encoder, rows, d_model)
        except CallError as error:
            report.add("table", f"Asked for {rows} rows: {error}.")
    if "of 64 rows" not in tables:
        words = "If it is a rotary function, --rotary is missing."
        report.add("table", words)
        return report
    first, most = tables["of 64 rows"], max(tables.values(), key=len)

    # Read the convention: the one that fits, or else is nearest.
    formulas = {name: formula(name, d_model, base) for name in CONVENTIONS}
    places = start + np.arange(64)[:, None]
    off = {
        name: np.abs(measure.hands(first, pairs) - np.exp(1j * places * due))
        for name, (pairs, due) in formulas.items()
    }
    step = 2.0 ** -measure.DIGITS[measure.format_of(first)]
    fitting = [name for name in off if off[name].max() <= max(2e-3, 2 * step)]
    held = convention or min(off, key=lambda name: off[name].mean())
    report.convention = " or ".join(fitting[:2]) or "unknown"
    if held not in fitting:
        report.convention += f"; held to {held}"
    if fitting and held not in fitting:
        report.add("convention", f"The table is {fitting[0]}, not {held}.")
        return report

    # Make the reference, compare all rows, and say what differs.
    pairs, due = formulas[held]
    calls = [
        Call(
            name,
            start + np.arange(len(table))[None],
            measure.hands(table, pairs),
        )
        for name, table in tables.items()
    ]
    whole = max(calls, key=lambda call: call.positions.size)
    doubled = 2 ** np.arange(int(np.log2(len(most))))
    far = whole._replace(turned=whole.turned[doubled])
    held = Held(
        len(due), [(f"base {base:.6g}", due)], False, 1, tolerance, step
    )
    reference, _ = reference_for(report, calls[0], far, pairs, held)
    reference = reference._replace(forgiven=0 * due)  # float32 is a finding
    compared = [reference.compare(call) for call in calls]
    differences(report, compared, reference, "row")
    right = [call.wrong.argmax() for call in compared if call.wrong.any()]
    words = f"Rows: {len(most)}, the first {min(right, default=len(most))}"
    report.looked_at = f"{words} right to {tolerance:g}."
    return report


def table_of(encoder: Callable, rows: int, d_model: int) -> np.ndarray:
    """Return a table of some rows."""
    table = measure.ask(encoder, rows, d_model)
    if table.shape not in ((rows, d_model), (1, rows, d_model)):
        raise CallError(f"the shape is {table.shape}")
    table = table.reshape(rows, d_model)
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        raise CallError(f"row {finite.argmin()} is NaN or infinite")
    return table


def formula(
    convention: str, d_model: int, base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of cosines and sines, `[pairs, 2]`, and frequencies."""
    columns, pairs = np.arange(d_model), d_model // 2
    half = "half" in convention
    columns = columns.reshape(2, -1).T if half else columns.reshape(-1, 2)
    columns = columns if "cosine first" in convention else columns[:, ::-1]
    steps = pairs if "paper" in convention else max(pairs - 1, 1)
    return columns, geometric(base, pairs, steps)
