"""What may be wrong, as data, and the first change that explains a function.

A wrong function is a right one with one stage changed. `explain` tries one
change after another, the simplest first, and returns the first with which the
formula gives all that was seen.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from .formula import ROUND, STEP, Call, Formula, rotation
from .measure import Measured
from .report import Finding, numbered, plain

# Of the numbers that a rounding moves, this share has to be where it puts
# them. The others lie halfway between two numbers, where programs differ.
MOST = 0.9
EXACT = 1e-6  # what float32 may lose of a frequency, relatively
NEAR = 0.01  # of a full length: beyond what 16 bits lose, below any slip
# What is added to all positions, as a slip or for padding.
STARTS = (1, 2, -1, 0.5, *range(3, 17), *range(-2, -17, -1))
POWERS = [2**power for power in range(10, 0, -1)]  # sizes of blocks, and steps
SEARCHED = 2**17  # positions among which `turned_as` searches

# What becomes of the frequencies `w`.
FREQUENCIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "The frequencies run backwards: pair 0 is the slowest, not the fastest.": (
        lambda w: w[::-1]
    ),
    "Pairs turn ever faster: a minus is missing in the exponent.": (
        lambda w: 1 / np.where(w == 0, 1, w)
    ),
    "All pairs turn at one frequency, and each should be slower: does a"
    " whole-number division make all exponents 0?": np.ones_like,
    "Pairs turn two by two at one frequency: a pair is counted twice.": (
        lambda w: w[np.arange(len(w)) // 2 * 2]
    ),
    "Exponents begin with pair 1 instead of 0.": lambda w: w * w[1:2],
    "Exponents are 2 i + 1 instead of 2 i.": (
        lambda w: w * np.abs(w[1:2]) ** 0.5
    ),
}
FACTORS = {  # of all frequencies
    "the rotation is applied twice": 2.0,
    "the rotation is applied three times": 3.0,
    "degrees are taken for radians": 180 / np.pi,
    "radians are taken for degrees": np.pi / 180,
    "angles are multiplied by 2 pi": 2 * np.pi,
    "angles are divided by 2 pi": 1 / (2 * np.pi),
}
# What the frequencies of columns `k` are, where both columns of a pair should
# have that of the pair.
COLUMNS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "they have those of interleaved columns": lambda w, k: w[k // 2],
    "they have those of columns in halves": lambda w, k: w[k % len(w)],
    "each column has an exponent of its own": (
        lambda w, k: np.abs(w[1:2]) ** (k / 2)
    ),
    "exponents are twice the column's number, not the pair's": (
        lambda w, k: np.abs(w[1:2]) ** k
    ),
}
# What a slip makes of a base `b`, where the exponents count `d` columns.
SLIPS: dict[str, Callable[[float, int], float]] = {
    "a missing factor 2 in the exponent": lambda b, d: b**0.5,
    "a doubled exponent": lambda b, d: b**2,
    "d - 1 for d in the exponent": lambda b, d: b ** (d / (d - 1)),
    "d - 2 for d in the exponent": lambda b, d: b ** (d / (d - 2)),
    "log10 for the natural logarithm": lambda b, d: np.exp(np.log10(b)),
} | {
    f"NTK-aware scaling by {factor}": (
        lambda b, d, factor=factor: b * factor ** (d / (d - 2))
    )
    for factor in (2, 4, 8, 16, 32)
}
# What else is made of a pair `a, b` by its cosine `c` and sine `s`.
FORMS: dict[str, dict[str, Callable[..., tuple]]] = {
    "direction": {
        "turned {seen}, where it should be {due}": (
            lambda a, b, c, s: (a * c + b * s, b * c - a * s)
        ),
    },
    "rotation": {
        "the first column has a wrong sign, a minus too many or too few": (
            lambda a, b, c, s: (a * c + b * s, b * c + a * s)
        ),
        "the second column has a wrong sign, a minus too many or too few": (
            lambda a, b, c, s: (a * c - b * s, b * c - a * s)
        ),
        "sines and cosines are exchanged": (
            lambda a, b, c, s: (a * s - b * c, b * s + a * c)
        ),
        "the two columns are exchanged in the result": (
            lambda a, b, c, s: (b * c + a * s, a * c - b * s)
        ),
        "both columns are negated": (
            lambda a, b, c, s: (b * s - a * c, -b * c - a * s)
        ),
        "the second column is computed with the new first one, which has"
        " already overwritten the old": (
            lambda a, b, c, s: (a * c - b * s, b * c + (a * c - b * s) * s)
        ),
        "the first column is computed with the new second one, which has"
        " already overwritten the old": (
            lambda a, b, c, s: (a * c - (b * c + a * s) * s, b * c + a * s)
        ),
    },
    "lengths": {
        "only the cosines are multiplied by the attention factor": (
            lambda a, b, c, s: rotation(a, b, c, s / np.hypot(c, s))
        ),
        "only the sines are multiplied by the attention factor": (
            lambda a, b, c, s: rotation(a, b, c / np.hypot(c, s), s)
        ),
    },
}
# What positions `p` are taken for from the first wrong one on, `n`.
FAR: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "taken for position {before}: clipped there": lambda p, n: 0 * p + n - 1,
    "counted from 0 again: wrapped": lambda p, n: p % n,
    "taken for negative ones: a signed integer overflows": (
        lambda p, n: (p + n) % (2 * n) - n
    ),
    "each taken for the next": lambda p, n: p + 1,
    "each taken for the one before": lambda p, n: p - 1,
    "left as they are, as position 0 is": lambda p, n: 0 * p,
}
# What whole vectors are multiplied by there.
SPOILED = {"NaN or infinity": np.nan, "zero": 0.0, "negated": -1.0}
# What all positions `p` are taken for.
POSITIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Each position is taken for the one before, and 0 stays 0": (
        lambda p: np.maximum(p - 1, 0)
    ),
}
for power in POWERS:
    words = f"Positions are rounded down to multiples of {power}"
    POSITIONS[words] = lambda p, n=power: p // n * n
    words = f"Positions are divided by {power} and rounded down"
    POSITIONS[words] = lambda p, n=power: p // n


def without_repeated(p: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Leave a position that its row already has unturned."""
    read = np.zeros_like(p)
    for row, positions in enumerate(p):
        _, first = np.unique(positions, return_index=True)
        read[row, first] = positions[first]
    return read


# What the positions of a call, `p`, [rows, tokens], are taken for; `t` are
# its tokens, 0, 1, 2 and so on.
CALLS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "Positions are ignored, and tokens are counted from 0": lambda p, t: t,
    "Positions are counted from the first of their row": (
        lambda p, t: p - p[:, :1]
    ),
    "Only the first position of a row is read, and counted on from": (
        lambda p, t: p[:, :1] + t
    ),
    "Only the very first position of the batch is read, and counted on from"
    " in each row": lambda p, t: p[0, 0] + t,
    "Only the very first position of the batch is read, and counted on from"
    " row to row": lambda p, t: p[0, 0] + np.arange(p.size).reshape(p.shape),
    "Positions are counted from the smallest of the call": (
        lambda p, t: p - p.min()
    ),
    "Rows count on from the smallest position of the call": (
        lambda p, t: p.min() + t
    ),
    "Rows count on from the largest position of the call": (
        lambda p, t: p.max() + t
    ),
    "Positions of each row are moved by the tokens of all rows before it": (
        lambda p, t: p + np.arange(len(p))[:, None] * len(t)
    ),
    "The rank of a position in its call is taken for the position": (
        lambda p, t: np.searchsorted(np.unique(p), p)
    ),
    "Each position is one more than the one before, or larger": (
        lambda p, t: np.maximum.accumulate(p - t, axis=1) + t
    ),
    "Each position is taken for the next": lambda p, t: p + 1,
    "Each position is taken for the one before": (
        lambda p, t: np.maximum(p - 1, 0)
    ),
    "Positions are clipped to the length of the call": (
        lambda p, t: np.minimum(p, len(t) - 1)
    ),
    "Positions are sorted within their row": lambda p, t: np.sort(p, axis=1),
    "Of equal positions in a row only the first is turned": without_repeated,
}
# What they are taken for along tokens `i`, from the first wrong one on, `n`;
# or along rows. {one} is "token" or "row".
ALONG: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "All {one}s get the positions of the first": lambda p, i, n: p[:, 0 * i],
    "All {one}s get the positions of the last": lambda p, i, n: p[
        :, 0 * i - 1
    ],
    "The positions of {one}s are read backwards": lambda p, i, n: p[:, ::-1],
    "From {one} {n} on, {one}s get the positions of {one} {before}": (
        lambda p, i, n: p[:, np.minimum(i, n - 1)]
    ),
    "From {one} {n} on, {one}s get the positions of {one} 0": (
        lambda p, i, n: p[:, np.where(i < n, i, 0)]
    ),
    "Of two {one}s, the second gets the positions of the first": (
        lambda p, i, n: p[:, i // 2 * 2]
    ),
    "Each piece of {n} {one}s gets the positions of the first": (
        lambda p, i, n: p[:, i % n]
    ),
    "From {one} {n} on, {one}s get the positions of {n} before": (
        lambda p, i, n: p[:, np.where(i < n, i, i - n)]
    ),
    "From {one} {n} on, positions are {n} less": (
        lambda p, i, n: p - n * (i >= n)
    ),
    "From {one} {n} on, positions are 1 less": (lambda p, i, n: p - (i >= n)),
    "From {one} {n} on, positions are 1 more": (lambda p, i, n: p + (i >= n)),
}
# Which of `i` are turned.
TURNED: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "from {one} {n} on, {one}s are": lambda p, i, n: i < n,
    "the last {one} is": lambda p, i, n: i < len(i) - 1,
} | {
    f"{{one}}s at the end that fill no block of {size} are": (
        lambda p, i, n, size=size: i < (len(i) // size * size or size)
    )
    for size in POWERS
}
STAGES = {  # of the formula, that may be rounded
    "Positions": "of_position",
    "Frequencies": "of_frequency",
    "Angles": "of_angle",
    "Sines and cosines": "of_wave",
}


class Change(NamedTuple):
    """What may be wrong, in words, and what the formula becomes by it."""

    finding: Finding
    formula: Formula
    share: float = 1.0  # of what it moves, so much has to fit
    of_calls: bool = False  # what calls do to positions; not all may do so


class Evidence(NamedTuple):
    """What is to be explained."""

    calls: list[Call]
    measured: Measured
    columns: np.ndarray  # [2, pairs], first and second columns
    contested: np.ndarray = np.zeros(0, int)  # positions right and wrong

    def sorted_out(self, formula: Formula) -> tuple[list[Call], list[Call]]:
        """Return the right calls and the wrong ones, the smallest first."""
        ordered = sorted(self.calls, key=lambda call: call.positions.size)
        wrong = [formula.wrong(call).any() for call in ordered]
        both = list(zip(ordered, wrong, strict=True))
        right = [call for call, is_wrong in both if not is_wrong]
        return right, [call for call, is_wrong in both if is_wrong]

    def wrong_positions(self, formula: Formula) -> np.ndarray:
        """Return the positions of all tokens that are wrong."""
        wrong = [call.kept[formula.wrong(call)] for call in self.calls]
        return np.concatenate(wrong)


def explain(
    formula: Formula, evidence: Evidence, tried: Iterable[Change]
) -> Change | None:
    """Return the first change that explains all that was seen, if one does.

    Else it is the first that explains the calls that are wrong, which are
    then named.
    """
    right, wrong = evidence.sorted_out(formula)
    only_wrong = None
    for change in tried:
        if not all(agrees(change, formula, call) for call in wrong):
            continue
        others = [each for each in right if not agrees(change, formula, each)]
        if not others:
            return change
        if change.of_calls and only_wrong is None:
            name, words = change.finding
            where = kinds(wrong, others)
            words = f"In calls {where}: {words[0].lower()}{words[1:]}"
            only_wrong = change._replace(finding=Finding(name, words))
    return only_wrong


def kinds(calls: list[Call], others: list[Call]) -> str:
    """Name the kinds of calls, or only the first few."""
    shapes = {call.positions.shape for call in calls}
    fewest, tokens = min(shapes)[0], max(tokens for _, tokens in shapes)
    if tokens == 1 and not any(
        call.positions.shape[0] >= fewest and call.positions.shape[1] == 1
        for call in others
    ):
        one = "of one token"
        more = f"{one} in each of {fewest} rows or more"
        return one if fewest == 1 else more
    names = list(dict.fromkeys(call.name for call in calls))
    if len(names) > 3:
        names[3:] = [f"and {len(names) - 3} other kinds"]
    return ", ".join(names)


def agrees(change: Change, formula: Formula, call: Call) -> bool:
    """Tell whether a changed formula gives what a call did."""
    with np.errstate(all="ignore"):  # changes may lead anywhere
        fits = change.formula.fits(call)
    if change.share == 1:
        return bool(fits.all())
    moved = ~formula.fits(call)
    least = fits[moved].mean() if moved.any() else 1
    return bool(min(fits.mean(), least) >= change.share)


def changed(
    formula: Formula, name: str, words: str, share: float = 1.0, **stages
) -> Change:
    """Return a change of some stages of the formula."""
    return Change(Finding(name, words), formula._replace(**stages), share)


def changes(
    formula: Formula, evidence: Evidence, likely: list[Change]
) -> Iterator[Change]:
    """Yield all changes, the simplest first; the likely ones in their place.

    What calls do to positions comes last.
    """
    rates, wrong = formula.frequencies, evidence.wrong_positions(formula)
    if wrong.min() <= 1 + min(call.kept.min() for call in evidence.calls):
        yield from starts(formula)
    yield from forms(formula, evidence)
    yield from likely
    name = "frequencies"
    for words, become in FREQUENCIES.items() if len(rates) > 1 else ():
        yield changed(formula, name, words, frequencies=become(rates))
    for cause, factor in FACTORS.items():
        words = f"All pairs turn {plain(factor, 3)} times as fast: {cause}."
        yield changed(formula, name, words, frequencies=factor * rates)
    for words, read in POSITIONS.items():
        yield changed(formula, "positions", f"{words}.", of_position=read)
    yield from far(formula, evidence, wrong)
    for stage, field in STAGES.items():
        for name in STEP:
            words = f"{stage} are rounded to {name}: position {wrong.min()} is"
            words += " the first that is off."
            rounded = {field: ROUND[name]}
            yield changed(formula, "precision", words, MOST, **rounded)
    if evidence.calls[0].name:  # a table has none
        yield from of_calls(formula, evidence)


def starts(formula: Formula) -> Iterator[Change]:
    """Yield that positions are counted from another number."""
    moved = {
        1: ", and each for the next (counted from 1?)",
        -1: ", and each for the one before",
        2: ": all are moved by 2 (an offset for padding?)",
    }
    for by in STARTS:
        how = moved.get(by, f": all are moved by {plain(by, 3)}")
        words = f"Position 0 is taken for position {plain(by, 3)}{how}."
        read = {"of_position": lambda p, by=by: p + by}
        yield changed(formula, "position 0", words, **read)


def forms(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield what else may be made of the pairs that are wrong."""
    _, wrong = evidence.sorted_out(formula)
    odd = ~np.all([formula.fits(call).all(axis=0) for call in wrong], axis=0)
    pairs = numbered("Pair", np.flatnonzero(odd))
    pairs = "All pairs" if odd.all() else pairs
    ways = ("counterclockwise", "clockwise")
    if np.median(np.sign(formula.frequencies)) < 0:
        ways = ways[::-1]
    for name, named in FORMS.items():
        for words, form in named.items():

            def formed(*given, form=form) -> tuple:
                both = zip(form(*given), formula.of_pair(*given), strict=True)
                return tuple(np.where(odd, new, old) for new, old in both)

            said = f"{pairs}: {words.format(seen=ways[1], due=ways[0])}."
            yield changed(formula, name, said, of_pair=formed)
    for words, of_columns in COLUMNS.items() if odd.sum() > 1 else ():
        rates = of_columns(formula.frequencies, evidence.columns)
        said = f"The two columns of a pair have different angles: {words}."
        yield changed(formula, "layout", said, frequencies=rates)


def lengths(formula: Formula, measured: Measured) -> Change | None:
    """Return that vectors are stretched, all pairs alike or some, if so."""
    asked = float(formula.length)
    off = np.abs(measured.length - asked) > formula.tolerance
    if not off.any() or not measured.even:
        return None
    seen = float(np.median(measured.length[off]))
    words = f"Lengths change by {plain(seen, 5)}"
    least, most = measured.length[off].min(), measured.length[off].max()
    if most - least > 2 * formula.tolerance:
        words = f"Lengths change by {plain(least, 5)} to {plain(most, 5)}"
    if abs(seen - 1) <= formula.tolerance:
        words = "Lengths do not change"
    if not off.all():
        words += f" in {numbered('pair', np.flatnonzero(off))}"
    if asked != 1:
        words += f", where {plain(asked, 5)} is asked for"
        if abs(seen - asked**2) <= formula.tolerance:
            words += ": its square"
    length = np.where(off, measured.length, asked)
    return changed(formula, "lengths", f"{words}.", length=length)


def far(
    formula: Formula, evidence: Evidence, wrong: np.ndarray
) -> Iterator[Change]:
    """Yield what may happen to positions from the first wrong one on."""
    if np.isin(wrong, evidence.contested).mean() > 1 - MOST:
        return  # the position alone is not the cause
    first, last = int(wrong.min()), int(wrong.max())
    largest = max(int(call.kept.max()) for call in evidence.calls)
    where, end = f"At positions {first} to {last}", last
    if last == first:
        where = f"At position {first}"
    elif last == largest:
        where, end = f"From position {first} on", np.inf

    def inside(p: np.ndarray) -> np.ndarray:
        return (p >= first) & (p <= end)

    for words, read in FAR.items() if first else ():
        said = f"{where}, positions are {words.format(before=first - 1)}."
        if last == first:
            taken_for = f"is taken for position {read(first, first)}"
            said = f"Position {first} {taken_for}."

        def taken(p: np.ndarray, read: Callable = read) -> np.ndarray:
            return np.where(inside(p), read(p, first), p)

        yield changed(formula, "far positions", said, of_position=taken)
    name = "far positions" if first else "position 0"
    for words, factor in SPOILED.items():

        def spoiled(call: Call, factor: float = factor) -> np.ndarray:
            return np.where(inside(call.kept), factor, 1.0)

        said = f"{where}, the result is {words}."
        yield changed(formula, name, said, of_vector=spoiled)


def of_calls(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield what positions may be taken for in the calls that are wrong."""
    _, wrong = evidence.sorted_out(formula)
    call, off = wrong[0], formula.wrong(wrong[0])
    token = min(int(each.tokens[formula.wrong(each)].min()) for each in wrong)
    row = min(int(each.rows[formula.wrong(each)].min()) for each in wrong)

    def read_as(name: str, words: str, read: Callable) -> Iterator[Change]:
        taken = np.broadcast_to(read(call), call.positions.shape)
        taken = taken[call.rows, call.tokens]
        moved = np.flatnonzero(off & (taken != call.kept))
        if len(moved):
            one, other = call.kept[moved[0]], taken[moved[0]]
            said = f"{words}: in a call {call.name}, position {one} is turned"
            finding = Finding(name, f"{said} as {other}.")
            yield Change(
                finding, formula._replace(of_call=read), of_calls=True
            )

    axes = [("batch", "row", row), ("tokens", "token", token)]
    for name, one, n in axes:
        for words, read in ALONG.items():
            if n or "{n}" not in words:
                said = words.format(one=one, n=n, before=n - 1)
                yield from read_as(name, said, along(read, one, n))
    for words, read in CALLS.items():
        yield from read_as("positions", words, along(read))
    words = "Positions of an earlier call of this shape are used again"
    yield from read_as("state", words, lambda call: call.earlier)
    for name, one, n in axes:
        for words, turned in TURNED.items():
            said = words.format(one=one, n=n)
            said = f"{said[0].upper()}{said[1:]}"
            unturned = along(lambda p, *i, of=turned: of(p, *i) * p, one, n)
            yield from read_as(name, f"{said} not turned", unturned)
            kept = along(turned, one, n)
            zero = formula._replace(
                of_vector=lambda call, kept=kept: kept(call)[
                    call.rows, call.tokens
                ].astype(float)
            )
            finding = Finding(name, f"{said} zero, as in a call {call.name}.")
            yield Change(finding, zero, of_calls=True)


def along(read: Callable, one: str = "token", *first: int) -> Callable:
    """Return what becomes of the positions of a call along tokens or rows.

    Rows are the tokens of transposed positions.
    """
    turned = np.transpose if one == "row" else np.asarray

    def of_call(call: Call) -> np.ndarray:
        p = turned(call.positions)
        made = read(p, np.arange(p.shape[1]), *first)
        return turned(np.broadcast_to(made, p.shape))

    return of_call


def as_measured(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield that pairs turn as was seen at the first positions: no cause."""
    seen, due = evidence.measured, formula.frequencies
    odd = np.abs(seen.frequencies - due) > seen.spread + EXACT * np.abs(due)
    if not seen.even or not odd.any():
        return
    usual = np.where(due, due, 1)
    off = np.where(odd, np.abs(seen.frequencies / usual - 1), 0)
    pair = int(off.argmax())
    digits = 4 if off[pair] > NEAR else 8
    speeds = plain(seen.frequencies[pair], digits), plain(due[pair], digits)
    words = f"Other frequencies: {numbered('pair', np.flatnonzero(odd))}; pair"
    words += f" {pair} turns by {speeds[0]} radians per position instead of"
    rates = {"frequencies": seen.frequencies, "doubt": seen.spread}
    yield changed(formula, "frequencies", f"{words} {speeds[1]}.", **rates)


def describe(formula: Formula, evidence: Evidence) -> Finding:
    """Say what is seen at the first token that nothing explains."""
    wrong = [call for call in evidence.calls if formula.wrong(call).any()]
    right = [call for call in evidence.calls if not formula.wrong(call).any()]
    call = wrong[0]
    token = int(formula.wrong(call).argmax())
    position, off = int(call.kept[token]), formula.errors(call)[token]
    made, given = call.made[token], call.given[token]
    taken_for = turned_as(formula, call, token)
    if not np.isfinite(made).all():
        words = "gives NaN or infinity"
    elif not made.any():
        words = "is zero"
    elif np.allclose(made, given, rtol=0, atol=formula.tolerance):
        words = "is left as it is"
    elif taken_for not in (None, position):
        words = f"is turned as position {taken_for}"
    else:
        words = f"is off by {plain(off.max(), 2)} in pair {int(off.argmax())}"
    others = [other for other in wrong if other.name != call.name]
    also = f" So are tokens of calls {kinds(others, right)}." if others else ""
    where = f"Token {call.tokens[token]} of row {call.rows[token]} (position"
    where += f" {position}) in a call {call.name}"
    words = f"{where} is wrong: it {words}.{also} No known cause explains it."
    return Finding("no known cause", words)


def turned_as(formula: Formula, call: Call, token: int) -> int | None:
    """Return the only position that gives what a token became, if one does."""
    hands = call.hands[token] / formula.length
    positions = np.arange(SEARCHED)
    for hand, frequency in zip(hands, formula.frequencies, strict=True):
        off = np.abs(np.exp(1j * positions * frequency) - hand)
        positions = positions[off < NEAR]
    return int(positions[0]) if len(positions) == 1 else None
