"""Review functions for positions: compare what they return with a formula.

`review_rotary` is the whole way: ask, read the convention, make the
reference, compare, say. `review` takes the same way for a table. `measure`
holds how things are measured, `say` the sentences, `__main__` the command.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from . import measure, say
from .measure import Call, CallError, OutOfReachError, Rates, Reference
from .say import Report, plain, runs

__all__ = ["OutOfReachError", "Report", "review", "review_rotary"]

LAYOUTS = ("interleaved", "half", "interleaved, written as half")
CONVENTIONS = [  # of tables
    f"{spacing}, {order}{first}"
    for spacing in ("paper", "tensor2tensor")
    for order in ("interleaved", "half")
    for first in ("", ", cosine first")
]
COLUMNS_AT = np.array([[3, 0, 1, 2, 40]])  # where columns are asked for alone
FIRST = np.arange(64)[None]  # positions of the first call
MOST = 2**24  # numbers that a call may have: 128 MiB in float64
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
    check("max_len", max_len, max_len in range(64, MOST), f"64 to {MOST}")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")
    formats = ("", *measure.FORMATS)
    check("dtype", dtype, dtype in formats, f"one of {measure.FORMATS}")

    # Ask for each column alone, and for the first positions.
    report, rotation = Report(), Rotation(rotate, width)
    try:
        matrices = rotation.columns_alone(report)
        turning = measure.pairs_of(matrices)
        near = rotation.call("of positions 0 to 63", FIRST)
        limit = first_to_fail(report, rotation, max_len)
        far = 2 ** np.arange(int(np.log2(limit)))[None]
        far = rotation.call("of positions 1, 2, 4, 8 and so on", far)
    except CallError as error:
        report.add("result", f"{error}.")
        return report

    # Read the convention: format, layout, how pairs turn.
    kind = measure.format_of(near.made)
    step = measure.STEP.get(kind, 0)
    if dtype and formats.index(kind) < formats.index(dtype):
        report.add("format", f"Results are in {kind}, not in {dtype}.")
    elif step:
        report.notes.append(f"results are in {kind}.")
    pairs, seen_layout = read_layout(report, rotation, turning, layout, asked)
    turned, far_turned = (
        measure.hands(call.made, pairs) / measure.hands(call.given, pairs)
        for call in (near, far)
    )
    seen = measure.rates(turned, far_turned, step)
    # In 16 bits, two waves, two products and a sum are rounded, in steps that
    # are twice as wide from 1 to 2, and again from 2 to 4.
    longest = max(1, np.median(seen.length) - 0.01)
    slack = tolerance + 3 * step * 2 ** np.ceil(np.log2(longest))
    say.rotation(report, matrices, pairs, slack)
    del matrices  # which are large
    if "rotation" in report.findings:
        report.looked_at = "Looked at: positions 0 to 3 and 40."
        return report

    # Make the reference. Frequencies and lengths that differ are said now, and
    # calls are compared with the measured ones, to see what else differs.
    if asked is None or len(asked) == len(pairs):
        due, words = read_frequencies(report, seen, turned, base, asked)
    else:
        due, words = seen.measured, "other frequencies"
    reference = reference_for(report, seen, pairs, due, length, slack)
    clockwise = ", clockwise" * bool(due.sum() < 0)
    report.convention = f"{seen_layout}{clockwise}, {words}"

    # Compare call after call, the first once more at the end.
    free, compared = base is None and asked is None, []
    rest = np.setdiff1d(np.arange(width), pairs)
    for name, positions in calls(limit, width):
        try:
            call = rotation.call(name, positions)
        except CallError as error:
            report.findings.setdefault("failing calls", f"{error}.")
            continue
        compared.append(measure.compare(call, reference))
        off = np.abs(call.made[:, rest] - call.given[:, rest]) > slack
        if off.any() and "rest" not in report.findings:
            words = runs("column", rest[off.any(axis=0)])
            words = f"In a call {name}, {words} change, and are in no pair."
            report.add("rest", words)
            if free and call.positions is not FIRST:
                raise OutOfReachError(f"{words} Two axes are not reviewed.")
    if call.positions is FIRST:
        made_again(report, near, call, slack)

    # Say what differs, and what was looked at.
    largest = say.largest_matters(compared)
    if free and largest:
        refuse_largest(compared, reference, largest)
    say.tokens(report, compared, reference, "token")
    if "positions" in rotation.changed:
        report.add("input", "positions are changed in place.")
    if "x" in rotation.changed:
        report.notes.append("x is changed in place.")
    rows, tokens = np.max([each.positions.shape for each in compared], axis=0)
    report.looked_at = (
        f"Looked at: positions 0 to {limit - 1}, calls of 1 to {tokens}"
        f" tokens, batches of up to {rows} rows, alone and again."
    )
    return report


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names an argument which makes no sense."""
    if not right:
        raise ValueError(f"{name}={value!s:.40}: give {wanted}")


# Ask.


class Rotation:
    """A rotary function, asked with numbers that 16 bits can hold."""

    def __init__(self, rotate: Callable, width: int):
        """Take the function, and the width of what it turns."""
        random = np.random.default_rng(3)
        sizes = random.integers(64, 128, (61, width)) / 128
        self.pool = sizes * random.choice([-1, 1], sizes.shape)
        self.rotate, self.width = rotate, width
        self.order: slice | np.ndarray = slice(None)  # of a result's columns
        self.changed: set[str] = set()  # arguments, in place

    def __call__(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return what it makes of `x`."""
        mine, places = x.copy(), positions.astype(np.int64)
        made = measure.ask(self.rotate, mine, places)
        if not np.array_equal(mine, x):
            self.changed.add("x")
        if not np.array_equal(places, positions):
            self.changed.add("positions")
        if made.shape != x.shape:
            words = f"the result's shape is {made.shape}, not {x.shape}"
            raise CallError(words)
        return made[..., self.order]

    def call(self, name: str, positions: np.ndarray) -> Call:
        """Make a call with vectors no two neighbors of which are alike."""
        given = self.pool[np.arange(positions.size) % len(self.pool)]
        try:
            made = self(given.reshape(*positions.shape, -1), positions)
        except CallError as error:
            raise CallError(f"A call {name} fails: {error}") from error
        return Call(name, positions, given, made.reshape(given.shape))

    def columns_alone(self, report: Report) -> np.ndarray:
        """Return what positions 0 to 3 and 40 make of each column alone.

        Returns:
            `[position, column of the result, column that was 1]`.
        """
        made, columns = [], np.arange(self.width)
        for column in [*columns, 0]:
            x = np.zeros((1, COLUMNS_AT.size, self.width))
            x[..., column] = 1
            made.append(self(x, COLUMNS_AT)[0])
        off = np.abs(made[0] - made[-1]).max()
        if off > 1e-6:
            words = f"The same call, made again, differs by {plain(off, 2)}."
            report.add("state", words)
        matrices = np.stack(made[:-1], axis=-1)[COLUMNS_AT[0].argsort()]
        if not np.isfinite(matrices[1:]).all():
            raise CallError("NaN or infinity at position 1, 2, 3 or 40")
        moved = np.flatnonzero(np.abs(matrices[0]).argmax(axis=1) != columns)
        inside = moved.size and moved[0] > 0 and moved[-1] < self.width - 1
        if inside and np.ptp(moved) % 2:
            order = columns.copy()  # as DeepSeek's functions write a part
            part = slice(moved[0] - 1, moved[-1] + 2)
            order[part] = columns[part].reshape(-1, 2).T.ravel()
            if np.allclose(matrices[0], np.eye(self.width)[order], atol=0.05):
                self.order = order.argsort()
                matrices = matrices[:, self.order]
        return matrices


def calls(limit: int, width: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield calls of many kinds: what they are, and positions.

    No length is a multiple of a block, but 4096. Batches are larger than 16
    and 32. Positions are near and far, alone and together.
    """
    random = np.random.default_rng(7)
    yield "of positions 0 to 63", FIRST
    for tokens in (7, 129, 333, 1025, 4096, min(20_011, MOST // width)):
        if tokens <= limit:
            start = min(20, limit - tokens)
            yield f"of {tokens} tokens", start + np.arange(tokens)[None]
    yield "of 7 tokens", 30 + np.arange(7)[None]
    for rows in (2, 4, 7, 13, 17, 33, 17):
        starts = random.integers(0, limit - 5, (rows, 1))
        yield f"of {rows} rows of 5 tokens", starts + np.arange(5)
        alone = random.integers(0, limit, (rows, 1))
        yield f"of one token in each of {rows} rows", alone
    padding = [[1, 1, 1, 1, 0, 1, 2], [0, 0, 0, 1, 2, 3, 4], range(7)]
    yield "behind padding", np.array(padding)
    yield "of equal positions", np.tile([[9], [4]], 5)
    yield "of 5 rows of 5 tokens", random.integers(0, limit - 5, (5, 5))
    for other in ([5, 9, 6, 40], [0, 1, 2, 3]):
        yield "of two rows of 4 tokens", np.array([[5, 6, 7, 8], other])
    out_of_order = [5, 9, 6, 40, 7, 20], [5, 6, 7, 9, 40, 20]
    for order in (*out_of_order, [9, 8, 7, 6, 5], [5, 7, 6, 8, 9]):
        yield "of positions out of order", np.array([order])
    packed = [np.arange(tokens) for tokens in (29, 17, 40)]
    yield "of packed texts", np.concatenate(packed)[None]
    both = [np.arange(16), limit - 1 - np.arange(16)[::-1]]
    yield "of near and far positions", np.concatenate(both)[None]
    tokens = min(4096, limit)
    rows = min(max(1, 2**19 // (4096 * width)), 33)
    for start in range(0, limit, rows * tokens):
        places = np.arange(start, start + rows * tokens)
        places = np.minimum(places, limit - 1).reshape(rows, tokens)
        yield f"of {rows} rows of {tokens} tokens", places
    for place in np.unique(np.geomspace(1, limit, 40).astype(int) - 1):
        yield "of one token", np.array([[place]])
    yield "of positions 0 to 63, made again", FIRST


def first_to_fail(report: Report, rotation: Rotation, max_len: int) -> int:
    """Return the first position that fails, or how many there are."""

    def trouble(place: int) -> str:
        try:
            rotation.call("", np.append(FIRST[:, 1:], [[place]], axis=1))
        except CallError as error:
            return str(error.__cause__)
        return ""

    if not trouble(max_len - 1):
        return max_len
    places = range(FIRST.size, max_len)
    first = places[bisect_left(places, True, key=lambda at: bool(trouble(at)))]
    words = f"Position {first} is the first to fail: {trouble(first)}."
    report.add("far positions", words, position=first)
    return first


# Read the convention.


def read_layout(
    report: Report,
    rotation: Rotation,
    turning: np.ndarray,
    asked: str,
    frequencies: np.ndarray | None,
) -> tuple[np.ndarray, str]:
    """Return which columns are pairs, `[pairs, 2]`, and name their layout."""
    width, written = rotation.width, not isinstance(rotation.order, slice)
    pairs = measure.filled(turning, width)
    one, other = pairs[0].tolist()
    name = "interleaved" if other - one == 1 else "half"
    name += ", written as half" * written
    if asked and asked != name and width > 2:
        words = f"Pairs are {name} (columns {one} and {other}), where"
        report.add("layout", f"{words} {asked} is asked for.")
    apart = np.ptp(pairs, axis=1)
    if np.ptp(apart) or apart[0] not in (1, len(pairs), width // 2):
        said = ", ".join(f"{a} and {b}" for a, b in pairs[:4].tolist())
        report.add("layout", f"Pairs are columns {said} and so on.")
    words = f"{pairs.size} of {width} columns, with columns {one} and {other}"
    if frequencies is not None and len(frequencies) != len(pairs):
        words = f"The pairs that turn are {words}, where"
        report.add("columns", f"{words} {2 * len(frequencies)} should.")
    elif frequencies is None and pairs.size in (2, width - 2) and width > 2:
        report.add("columns", f"The pairs that turn are {words}.")
    return pairs, name if pairs.size == width else f"{name}, {words}"


def read_frequencies(
    report: Report,
    seen: Rates,
    turned: np.ndarray,
    base: float | None,
    asked: np.ndarray | None,
) -> tuple[np.ndarray, str]:
    """Read which frequencies a function follows, and say what differs.

    Returns:
        The frequencies that calls are compared with, and their name.
    """
    follows, count = measure.series(seen), len(seen.measured)
    free, size = base is None and asked is None, np.abs(seen.measured)
    evenly = measure.turns_evenly(turned, seen)
    if free and follows and follows.usual:
        return follows.frequencies, str(follows)
    if free and count == 1:
        return seen.measured, f"{plain(size[0])} radians per position"
    bases = [base] if base else [*USUAL_BASES]
    if free and evenly and size.all() and count > 2:
        slope = np.median(np.diff(np.log(size)))
        bases.append(float(f"{np.exp(-slope * count):.3g}"))
    sign = -1 if seen.measured.sum() < -1e-6 else 1
    named = {
        f"base {some:.6g}": sign * measure.geometric(some, count)
        for some in bases
    }
    if asked is not None:
        named = {"the frequencies asked for": asked}

    def many(words: str) -> float:
        return measure.differ(seen, named[words], 0.02).mean()

    words = min(named, key=many)
    due = named[words]
    off = measure.differ(seen, due)
    if not off.any():
        return due, words
    other_way = seen._replace(measured=-seen.measured)
    backwards = not measure.differ(other_way, due).any()
    if many(words) > 0.25 and not (follows or backwards):
        for words_of_other, other in named.items():
            if reads_back(turned, seen, other):
                return other, words_of_other
    if not evenly:  # calls will tell more
        return due, f"compared with {words}" if free else words
    if free and many(words) > 0.25:
        say_or_refuse(report, seen, follows)
    else:
        say.frequencies(report, seen, due, off, words)
    if follows:
        return follows.frequencies, str(follows)
    return np.where(off, seen.measured, due), "other frequencies"


def reads_back(turned: np.ndarray, seen: Rates, due: np.ndarray) -> bool:
    """Tell whether the first tokens are turned as some other positions."""
    forgiven = measure.lost(due)
    read = say.reader(Reference(None, due, seen.length, 1e-3, forgiven))
    places = [read(hand) for hand in turned[1:9]]
    others = [place for at, place in enumerate(places, 1) if place != at]
    return sum(isinstance(place, int) for place in others) > 4


def say_or_refuse(
    report: Report, seen: Rates, follows: measure.Series | None
) -> None:
    """Say that frequencies are no usual ones, or that nobody can tell.

    All known scalings turn all pairs evenly and in one direction, none by more
    than a radian per position, and most more slowly than those before.
    """
    size = np.abs(seen.measured)
    listed = [plain(rate, 4) for rate in seen.measured]
    listed[6:-1] = ["..."] * (len(listed) > 7)
    words = f"Radians per position are {', '.join(listed)}"
    rising = (np.diff(size) > 0).mean() > 0.5
    both_ways = np.ptp(np.sign(seen.measured)) > 0
    if follows or rising or both_ways or size.max() > 1.001:
        words += f", which is {follows}." if follows else "."
        report.add("frequencies", words, measured=seen.measured)
        return
    raise OutOfReachError(
        f"{words}, which follow no single base; lengths change by"
        f" {plain(np.median(seen.length))}. This is not reviewed without base="
        " or frequencies= (and length=), which say what is meant."
    )


# Make the reference, and compare.


def reference_for(
    report: Report,
    seen: Rates,
    pairs: np.ndarray,
    due: np.ndarray,
    length: float,
    tolerance: float,
    float32: bool = True,
) -> Reference:
    """Return what calls are compared with, and say which lengths differ.

    Rotary functions are forgiven what float32 loses; tables are not.
    """
    off = np.abs(seen.length - length) > tolerance + 1e-3 * (not float32)
    if off.any():
        say.lengths(report, seen, length, off)
    small = np.where(measure.differ(seen, due), 0, measure.missed(seen, due))
    forgiven = (measure.lost(due) + small) * float32
    if {"columns", "frequencies", "sign"} & {*report.findings}:
        forgiven += np.where(due == seen.measured, seen.doubt, 0)
    lengths = np.where(off, seen.length, length)
    return Reference(pairs, due, lengths, tolerance, forgiven)


def made_again(report: Report, near: Call, again: Call, slack: float) -> None:
    """Say whether the first call gives the same at the end."""
    both = near.made, again.made
    off = ~np.isclose(*both, rtol=0, atol=slack, equal_nan=True)
    if off.any():
        token, column = np.argwhere(off)[0]
        made = [plain(values[token, column]) for values in both]
        words = f"{off.any(axis=1).sum()} of {len(off)} tokens of the first"
        words += " call are turned otherwise when it is made again at the end:"
        words += f" column {column} of token {token} was {made[0]}, and is"
        report.add("state", f"{words} {made[1]}.")


def refuse_largest(
    compared: list, reference: Reference, most: tuple[int, int]
) -> None:
    """Refuse what the largest position of a call changes, as scalings do."""
    for call in compared:
        rates = say.rates_within(call)
        if rates is not None and np.ptp(rates - reference.rates) > 0.01:
            listed = ", ".join(plain(rate, 4) for rate in rates[:6])
            raise OutOfReachError(
                f"Calls up to position {most[0]} are right. In a call"
                f" {call.name}, with position {most[1]} or a larger one, pairs"
                f" turn by {listed}, ... radians per position. This is not"
                " reviewed without base= or frequencies=."
            )


# Tables.


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
    known = ("", *CONVENTIONS)
    check("encoder", encoder, callable(encoder), "a function")
    check(
        "d_model", d_model, d_model in range(2, 2**16 + 1, 2), "an even number"
    )
    check("max_len", max_len, max_len in range(64, 2**53), "64 or more")
    check("start", start, start in range(-(2**53), 2**53), "an integer")
    check(
        "convention",
        convention,
        convention in known,
        f"one of {'; '.join(known[1:])}",
    )
    check("base", base, base > 1, "a number above 1")
    check("tolerance", tolerance, tolerance > 0, "a number above 0")

    # Ask for a small table, a short one, all rows, and the short one again.
    report = Report()
    try:
        small, short = (rows_of(encoder, rows, d_model) for rows in (4, 64))
    except CallError as error:
        words = f"{error}. If it is a rotary function, --rotary is missing."
        report.add("table", words)
        return report
    first = table = short.reshape(64, d_model)
    try:
        table = rows_of(encoder, max_len, d_model).reshape(max_len, d_model)
        with suppress(CallError):  # so that it forgets the others
            rows_of(encoder, 128, 2 * d_model)
        if not np.array_equal(rows_of(encoder, 64, d_model), short):
            report.add("state", "Asked for 64 rows again, it gives others.")
    except CallError as error:
        report.add("table", f"{error}.")
    if small.shape not in ((4, d_model), (1, 4, d_model)):
        words = f"A table of 4 rows has the shape {small.shape}, which cannot"
        report.add("batch axis", f"{words} be added to a batch of sentences.")
    differ = np.abs(table[:64] - first).max(axis=1) > 1e-3
    if differ.any():
        words = f"Row {differ.argmax()} of a table of {len(table)} rows is not"
        report.add("first rows", f"{words} that of a table of 64 rows.")

    # Read the convention: the one that fits, or else is nearest.
    far = {name: distances(first, name, base, start) for name in CONVENTIONS}
    step = measure.STEP.get(measure.format_of(first), 0)
    slack = max(2e-3, 2 * step)
    fitting = [name for name in far if far[name].max() <= slack]
    held = convention or min(far, key=lambda name: far[name].mean())
    report.convention = " or ".join(fitting[:2]) or "unknown"
    if held not in fitting:
        report.convention += f"; held to {held}"
    if fitting and held not in fitting:
        report.add("convention", f"The table is {fitting[0]}, not {held}.")
        return report

    # Make the reference, compare all rows, and say what differs.
    pairs, due = pairs_and_frequencies(held, d_model, base)
    turned = measure.hands(table, pairs)
    doubled = 2 ** np.arange(int(np.log2(len(table) - 1)) + 1)
    seen = measure.rates(turned[:64], turned[doubled], step)
    off = measure.differ(seen, due)
    if off.any() and measure.turns_evenly(turned, seen):
        say.frequencies(report, seen, due, off, f"base {base:.6g}")
        due = np.where(off, seen.measured, due)
    reference = reference_for(report, seen, pairs, due, 1, tolerance, False)
    given = np.zeros(d_model)
    given[pairs[:, 0]] = 1
    given = np.broadcast_to(given, table.shape)
    call = Call("", start + np.arange(len(table))[None], given, table)
    compared = measure.compare(call, reference)
    say.tokens(report, [compared], reference, "row")
    right = int(np.append(compared.wrong, True).argmax())
    words = f"Rows: {len(table)}, the first {right} right to {tolerance:g}."
    report.looked_at = words
    return report


def rows_of(encoder: Callable, rows: int, d_model: int) -> np.ndarray:
    """Return a table as an encoder gives it."""
    try:
        table = measure.ask(encoder, rows, d_model)
        sizes = [size for size in table.shape[:-1] if size != 1]
        if sizes != [rows] or table.shape[-1] != d_model:
            raise CallError(f"the shape is {table.shape}")
        finite = np.isfinite(table).all(axis=-1).ravel()
        if not finite.all():
            raise CallError(f"row {finite.argmin()} is NaN or infinite")
    except CallError as error:
        raise CallError(f"Asked for {rows} rows: {error}") from error
    return table


def pairs_and_frequencies(
    convention: str, d_model: int, base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of cosines and sines, `[pairs, 2]`, and frequencies."""
    columns, pairs = np.arange(d_model), d_model // 2
    half = "half" in convention
    columns = columns.reshape(2, -1).T if half else columns.reshape(-1, 2)
    columns = columns if "cosine first" in convention else columns[:, ::-1]
    steps = pairs if "paper" in convention else max(pairs - 1, 1)
    return columns, measure.geometric(base, pairs, steps)


def distances(
    table: np.ndarray, convention: str, base: float, start: int
) -> np.ndarray:
    """Return how far pairs of a table are from a convention."""
    pairs, due = pairs_and_frequencies(convention, table.shape[1], base)
    angles = np.outer(start + np.arange(len(table)), due)
    return np.abs(measure.hands(table, pairs) - np.exp(1j * angles))
