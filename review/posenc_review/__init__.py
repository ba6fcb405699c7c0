"""Review functions for positions: compare what they return with a formula.

`review_rotary` is the whole way: ask, read the convention, make the
reference, compare, say. `review` goes the same way with a table, whose rows
are what a rotary function makes of the vector (1, 0, 1, 0, ...).
"""

from collections.abc import Callable

import numpy as np

from . import measure
from .compare import (
    OutOfReachError,
    Reference,
    Report,
    differences,
    of_base,
    plain,
    read_frequencies,
    read_lengths,
    refuse_by_the_call,
)
from .measure import Call, CallError, Rotation, geometric, rates

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
    formats = ("", *measure.DIGITS)
    check("rotate", rotate, callable(rotate), "a function")
    check("width", width, width in range(2, 1025, 2), "an even number to 1024")
    check("base", base, base is None or base > 1, "a number above 1")
    check("length", length, length > 0, "a number above 0")
    check("layout", layout, layout in ("", *LAYOUTS), f"one of {LAYOUTS}")
    check("max_len", max_len, max_len in range(64, 2**24), "64 to 2**24")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")
    check("dtype", dtype, dtype in formats, f"one of {formats[1:]}")

    # Ask, and read the layout.
    report = Report()
    try:
        rotation = Rotation(rotate, width)
        near = rotation.call(*measure.FIRST)
    except CallError as error:
        report.add("result", f"{error}.")
        return report
    places = 2 ** np.arange(int(np.log2(max_len)))
    try:
        far = rotation.call("of positions 1, 2, 4, 8 and so on", places[None])
        far = far.turned
    except CallError as error:
        report.add("failing calls", f"{error}.")
        far = near.turned[places[:6]]
    kind = measure.format_of(rotation.matrices)
    if dtype and formats.index(kind) < formats.index(dtype):
        report.add("format", f"Results are in {kind}, not in {dtype}.")
    elif "16" in kind:
        report.notes.append(f"results are in {kind}.")
    seen_layout = read_layout(report, rotation, layout, asked)
    if "rotation" in report.findings:
        report.looked_at = "Looked at: positions 0 to 3 and 40."
        return report

    # Make the reference out of what is asked for and what is measured.
    known = [("the frequencies asked for", asked)] if asked is not None else []
    if base is not None:
        known = of_base(base, rotation.turning)
    step = 2.0 ** -measure.DIGITS[kind]
    turning = np.arange(width // 2) < rotation.turning
    doubt = max(step, (tolerance - 1e-4) / 4)
    seen = rates(near.turned[:, turning], far[:, turning], doubt)
    words, due = read_frequencies(report, seen, known)
    slack = tolerance + 4 * step * max(1, length)
    lengths = read_lengths(report, near, np.where(turning, length, 1), slack)
    still = np.zeros(width // 2 - rotation.turning)
    forgiven = np.append(seen.forgiven(due), still)
    due = np.append(due, still)
    reference = Reference(rotation.pairs, due, lengths, forgiven, slack)
    way = ", clockwise" if due.sum() < 0 else ""
    report.convention = f"{seen_layout}{way}, {words}"

    # Compare call after call, the first one again at the end, and say.
    compared = [reference.compare(near)]
    for name, positions in measure.calls(max_len, width):
        try:
            call = rotation.call(name, positions)
            compared.append(reference.compare(call))
        except CallError as error:
            report.findings.setdefault("failing calls", f"{error}.")
    lasting = compared[0].wrong.any() or compared[-1].wrong.any()
    if not known and not lasting and not report.findings:
        refuse_by_the_call(compared, reference)
    differences(report, compared, reference, "token")
    if "positions" in rotation.changed:
        report.add("input", "positions are changed in place.")
    if "x" in rotation.changed:
        report.notes.append("x is changed in place.")
    farthest = max(call.positions.max() for call in compared)
    rows, longest = np.max([call.positions.shape for call in compared], axis=0)
    report.looked_at = (
        f"Looked at: positions 0 to {farthest}, calls of 1 to {longest}"
        f" tokens, batches of up to {rows} rows, alone and again."
    )
    return report


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names an argument which makes no sense."""
    if not right:
        raise ValueError(f"{name}={value!s:.40}: give {wanted}")


def read_layout(
    report: Report, rotation: Rotation, layout: str, asked: np.ndarray | None
) -> str:
    """Say whether the pairs are those asked for, and name their layout."""
    pairs, width = rotation.pairs[: rotation.turning], rotation.width
    one, other = pairs[0].tolist()
    apart = np.unique(pairs[:, 1] - pairs[:, 0]).tolist()
    name = "interleaved" if apart == [1] else "half"
    if apart not in ([1], [len(pairs)], [width // 2]):
        listed = ", ".join(f"{a} and {b}" for a, b in pairs[:4].tolist())
        name = f"columns {listed} and so on"
    if (rotation.written != rotation.pairs).any():
        name += ", written as half"
    if name not in ([layout] if layout and width > 2 else LAYOUTS):
        words = f"Pairs are {name} (columns {one} and {other})"
        if layout:
            words += f", where {layout} is asked for"
        report.add("layout", f"{words}.")

    seen = name
    words = f"{pairs.size} of {width} columns, with columns {one} and {other}"
    if pairs.size < width:
        seen = f"{name}, {words}"
    turning = pairs.size
    if asked is not None:
        turning = 2 * len(asked)
    elif turning in (2, width - 2):  # a single pair turns, or stays
        turning = width
    if turning != pairs.size:
        words = f"The pairs that turn are {words}, where {turning} should."
        report.add("columns", words)

    # What becomes of (0, 1) has to be a quarter turn beyond that of (1, 0).
    (one, other), (first, second) = pairs.T, rotation.written[: len(pairs)].T
    matrices = rotation.matrices
    a, c = matrices[:, first, one], matrices[:, second, one]
    b, d = matrices[:, first, other], matrices[:, second, other]
    off = np.maximum(np.abs(a - d), np.abs(b + c)) > 0.03
    if off.any():
        at, k = np.argwhere(off)[0]
        a, b, c, d = (plain(each[at, k], 4) for each in (a, b, c, d))
        words = f"{off.any(axis=0).sum()} of {len(pairs)} pairs are not turned"
        words += f": position {[0, 1, 2, 3, 40][at]} makes of columns {one[k]}"
        words += f" and {other[k]} ({a}, {c}) where they were (1, 0), and"
        report.add("rotation", f"{words} ({b}, {d}) where (0, 1).")
    return seen


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
    report, calls = Report(), {}
    asked = {"of 64 rows": 64, f"of {max_len} rows": max_len}
    for name, rows in (asked | {"of 64 rows, once more": 64}).items():
        try:
            table = measure.ask(encoder, rows, d_model)
            if table.shape not in ((rows, d_model), (1, rows, d_model)):
                raise CallError(f"the shape is {table.shape}")
        except CallError as error:
            report.add("table", f"Asked for {rows} rows: {error}.")
        else:
            positions = start + np.arange(rows)[None]
            calls[name] = Call(name, positions, table.reshape(rows, d_model))
    if "of 64 rows" not in calls:
        words = "If it is a rotary function, --rotary is missing."
        report.add("table", words)
        return report
    first = calls["of 64 rows"]

    # Read the convention: the one that fits, or else is nearest.
    formulas = {name: formula(name, d_model, base) for name in CONVENTIONS}
    off = {}
    for name, (pairs, due) in formulas.items():
        hands = measure.hands(np.nan_to_num(first.turned), pairs)
        off[name] = np.abs(hands - np.exp(1j * first.positions.T * due))
    step = 2.0 ** -measure.DIGITS[measure.format_of(first.turned)]
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
        call._replace(turned=measure.hands(call.turned, pairs))
        for call in calls.values()
    ]
    whole = max((call.turned for call in calls), key=len)
    far = whole[2 ** np.arange(int(np.log2(len(whole))))]
    seen = rates(calls[0].turned, far, step)
    _, due = read_frequencies(report, seen, [(f"base {base:.6g}", due)])
    lengths = read_lengths(report, calls[0], np.ones(len(due)), tolerance)
    nothing = np.zeros(len(due))  # what float32 loses is a finding
    reference = Reference(pairs, due, lengths, nothing, tolerance)
    compared = [reference.compare(call) for call in calls]
    differences(report, compared, reference, "row")
    right = [call.wrong.argmax() for call in compared if call.wrong.any()]
    words = f"Rows: {len(whole)}, the first {min(right, default=len(whole))}"
    report.looked_at = f"{words} right to {tolerance:g}."
    return report


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
