"""What may be wrong, as data, and the first change that explains a function.

A wrong function is a right one with one stage changed. `explain` tries one
change after another, the simplest first, and returns the first with which the
formula gives all that was seen.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from .formula import ROUND, Call, Formula, rotation
from .measure import Measured
from .report import Finding, numbered, plain

# Of the numbers that a rounding moves, this share has to be where it puts
# them. The others lie halfway between two numbers, where programs differ.
MOST = 0.9
NEAR = 0.01  # of a full length: beyond what 16 bits lose, below any slip
# What is added to all positions, as a slip or for padding.
STARTS = (1, 2, -1, 0.5, *range(3, 17), *range(-2, -17, -1))
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
    "Exponents are 2 i + 1 instead of 2 i.": lambda w: (
        w * np.abs(w[1:2]) ** 0.5
    ),
    "All pairs turn twice as fast: is the rotation applied twice?": (
        lambda w: 2 * w
    ),
    "Pair 0 turns by 57.3 per position: degrees are taken for radians.": (
        np.rad2deg
    ),
    "Pair 0 turns by 0.0175 per position: radians are taken for degrees.": (
        np.deg2rad
    ),
    "Pair 0 turns by 6.28 per position: angles are multiplied by 2 pi.": (
        lambda w: w * (2 * np.pi)
    ),
    "Pair 0 turns by 0.159 per position: angles are divided by 2 pi.": (
        lambda w: w / (2 * np.pi)
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


def other_angles(a, b, c, s, columns: np.ndarray) -> tuple:
    """Turn both columns of pairs by angles of other pairs: [2, pairs]."""
    one, other = columns
    first = a * c[..., one] - b * s[..., one]
    return first, b * c[..., other] + a * s[..., other]


# What else is made of a pair `a, b` by its cosine `c` and sine `s`, where
# pairs turn by `w` per position.
FORMS: dict[str, dict[str, Callable[..., tuple]]] = {
    "direction": {
        "turned clockwise, where it should be counterclockwise": (
            lambda a, b, c, s, w: (a * c + b * s, b * c - a * s)
        ),
    },
    "rotation": {
        "a minus is missing in the first column": (
            lambda a, b, c, s, w: (a * c + b * s, b * c + a * s)
        ),
        "a minus too many, in the second column": (
            lambda a, b, c, s, w: (a * c - b * s, b * c - a * s)
        ),
        "sines and cosines are exchanged": (
            lambda a, b, c, s, w: (a * s - b * c, b * s + a * c)
        ),
        "the two columns are exchanged in the result": (
            lambda a, b, c, s, w: (b * c + a * s, a * c - b * s)
        ),
        "both columns are negated": (
            lambda a, b, c, s, w: (b * s - a * c, -b * c - a * s)
        ),
        "the second column is computed with the new first one, which has"
        " already overwritten the old": (
            lambda a, b, c, s, w: (a * c - b * s, b * c + (a * c - b * s) * s)
        ),
        "the first column is computed with the new second one, which has"
        " already overwritten the old": (
            lambda a, b, c, s, w: (a * c - (b * c + a * s) * s, b * c + a * s)
        ),
    },
    "layout": {
        "columns are paired in halves, and have the angles of interleaved"
        " columns, so that angles differ within a pair": (
            lambda a, b, c, s, w: other_angles(
                a, b, c, s, np.arange(2 * len(w)).reshape(2, -1) // 2
            )
        ),
        "columns are paired as neighbors, and have the angles of columns in"
        " halves, so that angles differ within a pair": (
            lambda a, b, c, s, w: other_angles(
                a, b, c, s, np.arange(2 * len(w)).reshape(-1, 2).T % len(w)
            )
        ),
    },
    "positions": {
        "the sines are those of the next position": (
            lambda a, b, c, s, w: rotation(
                a, b, c, s * np.cos(w) + c * np.sin(w)
            )
        ),
        "the cosines are those of the next position": (
            lambda a, b, c, s, w: rotation(
                a, b, c * np.cos(w) - s * np.sin(w), s
            )
        ),
    },
    "lengths": {
        "only the cosines are multiplied by the attention factor": (
            lambda a, b, c, s, w: rotation(a, b, c, s / np.hypot(c, s))
        ),
        "only the sines are multiplied by the attention factor": (
            lambda a, b, c, s, w: rotation(a, b, c / np.hypot(c, s), s)
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
SPOILED = {
    "the result is NaN or infinity": np.nan,
    "the result is zero": 0.0,
    "the result is negated": -1.0,
}
# What all positions `p` are taken for.
POSITIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Each position is taken for the one before, and 0 stays 0": (
        lambda p: np.maximum(p - 1, 0)
    ),
}
for power in (2, 4, 8, 16, 32, 64):
    POSITIONS |= {
        f"Positions are rounded down to multiples of {power}": (
            lambda p, k=power: p // k * k
        ),
        f"Positions are divided by {power} and rounded down": (
            lambda p, k=power: p // k
        ),
    }


class View(NamedTuple):
    """A call that is wrong, as the table of what it may mistake sees it."""

    p: np.ndarray  # its positions, [rows, tokens]
    r: np.ndarray  # 0, 1, 2 and so on for its rows, [rows, 1]
    t: np.ndarray  # and for its tokens, [tokens]
    earlier: np.ndarray  # positions of an earlier call of this shape
    row: int  # the first that is wrong in any call,
    token: int  # and the first token


def without_repeated(v: View) -> np.ndarray:
    """Leave a position that its row already has unturned."""
    read = np.zeros_like(v.p)
    for row, positions in enumerate(v.p):
        _, first = np.unique(positions, return_index=True)
        read[row, first] = positions[first]
    return read


# What the positions of a call are taken for.
CALLS: dict[str, dict[str, Callable[[View], np.ndarray]]] = {
    "positions": {
        "Positions are ignored, and tokens are counted from 0": lambda v: v.t,
        "Positions are counted from the first of their row": (
            lambda v: v.p - v.p[:, :1]
        ),
        "Only the first position of a row is read, and counted on from": (
            lambda v: v.p[:, :1] + v.t
        ),
        "All rows get the positions of the first": lambda v: v.p[:1],
        "All rows get the positions of the last": lambda v: v.p[-1:],
        "Only the very first position of the batch is read, and counted on"
        " from in each row": lambda v: v.p[0, 0] + v.t,
        "Only the very first position of the batch is read, and counted on"
        " from row to row": lambda v: v.p[0, 0] + v.t + v.r * len(v.t),
        "Positions are counted from the smallest of the call": (
            lambda v: v.p - v.p.min()
        ),
        "Rows count on from the smallest position of the call": (
            lambda v: v.p.min() + v.t
        ),
        "The rank of a position in its call is taken for the position": (
            lambda v: np.searchsorted(np.unique(v.p), v.p)
        ),
        "Each position is one more than the one before, or larger": (
            lambda v: np.maximum.accumulate(v.p - v.t, axis=1) + v.t
        ),
        "Each position is taken for the next": lambda v: v.p + 1,
        "Each position is taken for the one before": (
            lambda v: np.maximum(v.p - 1, 0)
        ),
        "Positions are clipped to the length of the call": (
            lambda v: np.minimum(v.p, len(v.t) - 1)
        ),
        "Positions are sorted within their row": (
            lambda v: np.sort(v.p, axis=1)
        ),
        "The positions of a row are read backwards": lambda v: v.p[:, ::-1],
        "Of equal positions in a row only the first is turned": (
            without_repeated
        ),
        "Nothing is turned": lambda v: 0 * v.p,
    },
    "state": {
        "Positions of an earlier call of this shape are used again": (
            lambda v: v.earlier
        ),
    },
    "tokens": {
        f"Tokens at the end that fill no block of {n} are not turned": (
            lambda v, n=n: np.where(v.t < (len(v.t) // n * n or n), v.p, 0)
        )
        for n in (1024, 512, 256, 128, 64, 32, 16, 8, 4, 2)
    }
    | {
        "From token {token} of a call on, tokens are not turned": (
            lambda v: np.where(v.t < v.token, v.p, 0)
        ),
        "From token {token} of a call on, positions are {token} less": (
            lambda v: v.p - v.token * (v.t >= v.token)
        ),
        "From token {token} of a call on, positions are 1 less": (
            lambda v: v.p - (v.t >= v.token)
        ),
        "Each piece of {token} tokens gets the positions of the first": (
            lambda v: v.p[:, v.t % max(v.token, 1)]
        ),
    },
    "batch": {
        "From row {row} on, rows are not turned": (
            lambda v: np.where(v.r < v.row, v.p, 0)
        ),
        "From row {row} on, rows get the positions of the first {row}": (
            lambda v: v.p[v.r[:, 0] % max(v.row, 1)]
        ),
        "From row {row} on, all rows get the positions of row {before}": (
            lambda v: v.p[np.minimum(v.r[:, 0], max(v.row - 1, 0))]
        ),
        "The last row of a batch is not turned": (
            lambda v: np.where(v.r < len(v.p) - 1, v.p, 0)
        ),
    }
    | {
        f"Rows at the end that fill no block of {n} are not turned": (
            lambda v, n=n: np.where(v.r < (len(v.p) // n * n or n), v.p, 0)
        )
        for n in (32, 16, 8, 4, 2)
    },
}
STAGES = {  # of the formula, that may be rounded
    "Positions": "places",
    "Frequencies": "rates",
    "Angles": "angles",
    "Sines and cosines": "waves",
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
    unit: str = "position"  # what a position is called
    contested: np.ndarray = np.zeros(0, int)  # positions right and wrong

    def wrong_calls(self, formula: Formula) -> list[Call]:
        """Return the calls with a token that is wrong, the smallest first."""
        wrong = [call for call in self.calls if formula.is_wrong(call)]
        return sorted(wrong, key=lambda call: call.positions.size)

    def wrong_places(self, formula: Formula) -> np.ndarray:
        """Return the positions of all tokens that are wrong."""
        places = [
            call.places[~formula.fits(call).all(axis=1)] for call in self.calls
        ]
        return np.concatenate(places)


def explain(
    formula: Formula, evidence: Evidence, tried: Iterable[Change]
) -> Change | None:
    """Return the first change that explains all that was seen, if one does."""
    wrong = evidence.wrong_calls(formula)
    right = [call for call in evidence.calls if not formula.is_wrong(call)]
    only_wrong = None
    for change in tried:
        if not all(agrees(change, formula, call) for call in wrong):
            continue
        if all(agrees(change, formula, call) for call in right):
            return change
        if change.of_calls and only_wrong is None:
            name, words = change.finding
            words = f"In calls {kinds(wrong)}: {words[0].lower()}{words[1:]}"
            only_wrong = change._replace(finding=Finding(name, words))
    return only_wrong


def kinds(calls: list[Call]) -> str:
    """Name the kinds of calls, or only the first few."""
    shapes = {call.positions.shape for call in calls}
    if all(tokens == 1 for _, tokens in shapes):
        one, fewest = "of one token", min(shapes)[0]
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
    unit = evidence.unit
    first = int(evidence.wrong_places(formula).min())
    off = f"{unit} {first} is the first that is off."
    if formula.forgiven < 1:
        words = f"Angles are in float32: {off}"
        yield changed(formula, "precision", words, forgiven=1.0)
    yield from starts(formula, unit) if first <= 1 else ()
    yield from forms(formula, evidence)
    yield from likely
    for words, become in FREQUENCIES.items():
        rates = become(formula.frequencies)
        yield changed(formula, "frequencies", words, frequencies=rates)
    for words, read in POSITIONS.items():
        yield changed(formula, "positions", f"{words}.", places=read)
    yield from far(formula, evidence)
    for stage, field in STAGES.items():
        for name, rounded in ROUND.items():
            words = f"{stage} are rounded to {name}: {off}"
            stages = {field: rounded}
            yield changed(formula, "precision", words, MOST, **stages)
    if unit == "position":
        yield from of_calls(formula, evidence)


def starts(formula: Formula, unit: str) -> Iterator[Change]:
    """Yield that positions are counted from another number."""
    start = formula.places(np.zeros(1)).item()
    moved = {
        1: ", and each for the next (counted from 1?)",
        -1: ", and each for the one before",
        2: ": all are moved by 2 (an offset for padding?)",
    }
    for by in STARTS:

        def read(p: np.ndarray, by: float = by) -> np.ndarray:
            return formula.places(p) + by

        taken_for = f"is taken for position {plain(start + by, 3)}"
        how = moved.get(by, f": all are moved by {plain(by, 3)}")
        words = f"{unit.capitalize()} 0 {taken_for}{how}."
        yield changed(formula, "position 0", words, places=read)


def forms(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield what else may be made of the pairs that are wrong."""
    wrong = evidence.wrong_calls(formula)
    odd = ~np.all([formula.fits(call).all(axis=0) for call in wrong], axis=0)
    pairs = numbered("Pair", np.flatnonzero(odd))
    pairs = "All pairs" if odd.all() else pairs
    for name, named in FORMS.items():
        for words, form in named.items():

            def formed(*given, form=form) -> tuple:
                both = zip(form(*given), formula.form(*given), strict=True)
                return tuple(np.where(odd, new, old) for new, old in both)

            yield changed(formula, name, f"{pairs}: {words}.", form=formed)


def lengths(formula: Formula, measured: Measured) -> Change | None:
    """Return that vectors are stretched, all pairs alike or some, if so."""
    asked = float(formula.length)
    off = np.abs(measured.length - asked) > formula.tolerance
    if not off.any() or not measured.even:
        return None
    seen = float(np.median(measured.length[off]))
    words = f"Lengths change by {plain(seen, 5)}"
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


def far(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield what may happen to positions from the first wrong one on."""
    places, unit = evidence.wrong_places(formula), evidence.unit
    if np.isin(places, evidence.contested).mean() > 1 - MOST:
        return  # the position alone is not the cause
    first, last = int(places.min()), int(places.max())
    asked = max(int(call.places.max()) for call in evidence.calls)
    where, verb = f"From {unit} {first} on", f", {unit}s are"
    if last < asked:
        where = f"At {unit}s {first} to {last}"
    if last == first:
        where = f"At {unit} {first}"

    def inside(p: np.ndarray) -> np.ndarray:
        return (p >= first) & ((p <= last) | (last == asked))

    for words, read in FAR.items() if first else ():
        said = f"{where}{verb} {words.format(before=first - 1)}."
        if last == first:
            said = f"{unit.capitalize()} {first} is taken for position"
            said += f" {read(first, first)}."

        def taken(p: np.ndarray, read: Callable = read) -> np.ndarray:
            return np.where(inside(p), read(p, first), p)

        yield changed(formula, "far positions", said, places=taken)
    name = "far positions" if first else "position 0"
    for words, number in SPOILED.items():

        def factor(call: Call, number: float = number) -> np.ndarray:
            return np.where(inside(call.places), number, 1.0)

        yield changed(formula, name, f"{where}, {words}.", factor=factor)


def of_calls(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield what positions may be taken for in the calls that are wrong."""
    wrong = evidence.wrong_calls(formula)
    off = [~formula.fits(call).all(axis=1) for call in wrong]
    both = list(zip(wrong, off, strict=True))
    row = min(int(call.rows[bad].min()) for call, bad in both)
    token = min(int(call.tokens[bad].min()) for call, bad in both)
    call, bad = both[0]

    def view(call: Call) -> View:
        rows, tokens = map(np.arange, call.positions.shape)
        earlier = call.positions if call.earlier is None else call.earlier
        return View(call.positions, rows[:, None], tokens, earlier, row, token)

    for name, readings in CALLS.items():
        for words, reading in readings.items():

            def read(call: Call, reading: Callable = reading) -> np.ndarray:
                return reading(view(call))

            taken = np.broadcast_to(read(call), call.positions.shape)
            taken = taken[call.rows, call.tokens]
            moved = np.flatnonzero(bad & (taken != call.places))
            if not len(moved):
                continue
            place, instead = call.places[moved[0]], taken[moved[0]]
            said = words.format(row=row, before=row - 1, token=token)
            said += f": in a call {call.name}, position {place} is turned as"
            finding = Finding(name, f"{said} {instead}.")
            yield Change(finding, formula._replace(read=read), of_calls=True)
            if not words.endswith("not turned"):
                continue

            def kept(call: Call, reading: Callable = reading) -> np.ndarray:
                above_0 = call._replace(positions=call.positions + 1)
                read = np.broadcast_to(
                    reading(view(above_0)), call.positions.shape
                )
                return (read[call.rows, call.tokens] > 0).astype(float)

            said = words.format(row=row, before=row - 1, token=token)
            said = f"{said[: -len('not turned')]}zero, as in a call"
            finding = Finding(name, f"{said} {call.name}.")
            spoiled = formula._replace(factor=kept)
            yield Change(finding, spoiled, of_calls=True)


def as_measured(formula: Formula, evidence: Evidence) -> Iterator[Change]:
    """Yield that pairs turn as was seen at the first positions: no cause."""
    seen, due = evidence.measured, formula.frequencies
    odd = np.abs(seen.frequencies - due) > seen.spread + 1e-6 * np.abs(due)
    if not seen.even or not odd.any():
        return
    off = np.where(
        odd, np.abs(seen.frequencies / np.where(due, due, 1) - 1), 0
    )
    pair = int(off.argmax())
    digits = 4 if off[pair] > NEAR else 8
    words = f"Other frequencies: {numbered('pair', np.flatnonzero(odd))}; pair"
    words += (
        f" {pair} turns by {plain(seen.frequencies[pair], digits)} radians"
    )
    words += f" per {evidence.unit} instead of {plain(due[pair], digits)}."
    rates = {"frequencies": seen.frequencies, "doubt": seen.spread}
    yield changed(formula, "frequencies", words, **rates)


def describe(formula: Formula, evidence: Evidence) -> Finding:
    """Say what is seen at the first token that nothing explains."""
    wrong = [call for call in evidence.calls if formula.is_wrong(call)]
    call = wrong[0]
    token = int(np.argmin(formula.fits(call).all(axis=1)))
    place, off = int(call.places[token]), formula.errors(call)[token]
    made, given = call.made[token], call.given[token]
    taken_for = turned_as(formula, call, token)
    if not np.isfinite(made).all():
        words = "gives NaN or infinity"
    elif not made.any():
        words = "is zero"
    elif np.allclose(made, given, atol=NEAR):
        words = "is left as it is"
    elif taken_for not in (None, place):
        words = f"is turned as position {taken_for}"
    else:
        words = f"is off by {plain(off.max(), 2)} in pair {int(off.argmax())}"
    others = [other for other in wrong if other.name != call.name]
    also = f" So are tokens of calls {kinds(others)}." if others else ""
    where = f"Token {call.tokens[token]} of row {call.rows[token]} (position"
    where += f" {place}) in a call {call.name}"
    words = f"{where} is wrong: it {words}.{also} No known cause explains it."
    return Finding("no known cause", words)


def turned_as(formula: Formula, call: Call, token: int) -> int | None:
    """Return the only position that gives what a token became, if one does."""
    hands = call.hands[token] / formula.length
    places = np.arange(SEARCHED)
    for hand, frequency in zip(hands, formula.frequencies, strict=True):
        off = np.abs(np.exp(1j * places * frequency) - hand)
        places = places[off < NEAR]
    return int(places[0]) if len(places) == 1 else None
