"""Review a rotary function: compare call after call with the formula.

First the function says by itself which columns are pairs, and how they turn.
From that, or from what it is held to, follows a formula in float64, with
which every call is compared. What differs is explained by the first known
change of the formula, or else described.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import asked, report
from .changes import NEAR, Change, Evidence, as_measured, changes, describe
from .changes import explain as explain_by
from .changes import lengths as other_lengths
from .formula import DTYPES, STEP, Call, Formula, dtype_of, telling
from .measure import LAYOUTS, LEAK, Measured, Pairs, measure, pairs_of
from .measure import interleaved_as_half as as_half
from .report import Answer, Finding, OutOfReachError, Review, numbered, plain

WIDTH, MAX_LEN, WIDEST = 64, 131_072, 1024
COLUMNS_AT = np.array([[0, 1, 2, 3, 40]])  # where columns are asked for alone
FIRST = np.arange(64)[None]  # the first positions; there have to be as many
FIRST_CALL = "of positions 0 to 63"
LONG = 4096  # tokens of a row, where all positions are asked for
LONGEST = 20_011  # tokens of one row: no multiple of any block
MUCH = 2**24  # numbers that a call may have: 128 MiB in float64
CHUNK = 2**19  # numbers that are compared in one go, to stay in the cache
ALONE = 40  # positions that are asked for in calls of their own
# In 16 bits, a rotation rounds two cosines and sines, two products and a sum:
# at worst, the numbers around 1 lose three steps by that.
SHORT_STEPS = 3


class Rotation:
    """A rotary function, asked with vectors whose numbers 16 bits can hold.

    Vectors are rows of a pool of random ones, so that what was given is known
    even if the function changes it in place.
    """

    def __init__(self, rotate: Callable, width: int):
        """Take the function and the width of what it turns."""
        self.rotate, self.width = rotate, width
        random = np.random.default_rng(3)
        sizes = random.integers(64, 128, (61, width)) / 128
        self.pool = sizes * random.choice([-1, 1], sizes.shape)
        self.changed: set[str] = set()  # arguments, in place
        self.most_rows = self.most_tokens = 0

    def __call__(self, x: np.ndarray, positions: np.ndarray) -> Answer:
        """Return what it makes of `x`."""
        mine, places = x.copy(), positions.astype(np.int64)
        answer = report.ask(self.rotate, mine, places)
        if not np.array_equal(mine, x):
            self.changed.add("x")
        if not np.array_equal(places, positions):
            self.changed.add("positions")
        if answer.made is not None and answer.made.shape != x.shape:
            words = f"the result's shape is {answer.made.shape}, not {x.shape}"
            return Answer(None, words)
        self.most_rows = max(self.most_rows, len(x))
        self.most_tokens = max(self.most_tokens, positions.shape[1])
        return answer

    def given(self, positions: np.ndarray) -> np.ndarray:
        """Return vectors for a call, no two neighbors alike."""
        count = np.arange(positions.size).reshape(positions.shape)
        return self.pool[count % len(self.pool)]


def review_rotary(
    rotate: Callable[[np.ndarray, np.ndarray], object],
    width: int | None = None,
    *,
    base: float | None = None,
    layout: str = "",
    config: str | Path | dict | None = None,
    layers: str = "",
    frequencies: object = None,
    length: float | None = None,
    max_len: int | None = None,
    tolerance: float = 1e-4,
    dtype: str = "",
) -> Review:
    """Compare a rotary function with the formula, in many kinds of calls.

    Args:
        rotate: A callable of `x`, floats `[batch, seq_len, width]`, and
            `positions`, integers `[batch, seq_len]`. Its result has the shape
            of `x`, and NumPy can read it.
        width: The columns of `x`, even; the config's by default, else 64.
        base: What it is held to; else any base is right.
        layout: One of `LAYOUTS` to hold it to.
        config: A Hugging Face model's `config.json` to hold it to, its path
            or what it holds.
        layers: Whose settings to take, where a config has several sets.
        frequencies: Radians per position of each pair to hold it to.
        length: By which factor vectors are to be stretched.
        max_len: How many positions to look at; the config's by default, else
            131 072.
        tolerance: How far a number may be off, beside what float32 loses.
        dtype: The shortest format that results may have, of "bfloat16",
            "float16", "float32", "float64"; any by default.

    Returns:
        What is wrong, in `findings` (an empty dict if nothing is), and which
        convention was seen.

    Raises:
        ValueError: If a setting makes no sense, by its name.
        OutOfReachError: If the function may be right, but is of a kind that
            is not reviewed.
    """
    held = Held.to(base, layout, config, layers, frequencies, length, width)
    if max_len is None:
        of_config = held.config and held.config.max_len
        max_len = max(of_config or MAX_LEN, FIRST.size)
    report.check("rotate", rotate, callable(rotate), "a function")
    report.check_integer("max_len", max_len, FIRST.size, MUCH)
    report.check_above("tolerance", tolerance, 0)
    report.check_choice("dtype", dtype, DTYPES)
    rotation = Rotation(rotate, held.width)
    if layout == LAYOUTS[-1]:
        rotation.rotate = as_read(rotate, held.width)

    pairs, findings = first_sight(rotation)
    if layout == LAYOUTS[-1] and "rotation" in dict(findings):
        words = "Columns are not written as halves, as is asked for."
        findings = [Finding("position 0", words)]
    near = pairs and ask_first(rotation, pairs, FIRST)
    asked_for = str(held.config or "")
    if near is None:
        return Review(tuple(findings), asked=asked_for)
    findings += other_pairs(held, pairs)
    limit, failing = first_to_fail(rotation, max_len)
    findings += failing
    doubled = 2 ** np.arange(np.log2(limit) // 1)[None]
    doubled = ask_first(rotation, pairs, doubled)

    notes, dtype_seen = [], dtype_of(near.made)
    # Steps are twice as wide from 1 to 2, and again from 2 to 4.
    widened = 2 ** max(0, np.ceil(np.log2(held.length)))
    step = STEP.get(dtype_seen, 0) * widened
    if dtype and DTYPES.index(dtype_seen) < DTYPES.index(dtype):
        said = f"Results are in {dtype_seen}, where {dtype} is asked for."
        findings.append(Finding("precision", said))
    elif step:
        least = plain(SHORT_STEPS * step, 2)
        said = (
            f"results are in {dtype_seen}: errors below {least} are not seen"
        )
        notes.append(f"{said}.")

    seen = measure(near, doubled, step)
    evidence = Evidence([near], seen)
    candidate = likeliest(
        held, pairs, evidence, tolerance + SHORT_STEPS * step
    )
    notes += candidate.series.notes
    if candidate.stretched:
        findings.append(candidate.stretched.finding)
    look = Look(rotation, pairs, limit, near)
    explained = explanations(look, candidate, evidence, held.holds)
    findings += explained
    if "positions" in rotation.changed:
        findings.append(Finding("input", "positions are changed in place."))
    if "x" in rotation.changed:
        notes.append("x is changed in place.")
    if held.rates is not None and not layout:
        notes.append("whether pairs are interleaved or halves is not asked.")
    return Review(
        tuple(findings),
        convention_of(held, pairs, candidate, seen, explained),
        f"Looked at: positions 0 to {limit - 1}, calls of 1 to"
        f" {rotation.most_tokens} tokens, batches of up to"
        f" {rotation.most_rows} rows, alone and again.",
        tuple(notes),
        asked_for,
    )


# What it is held to.


class Held(NamedTuple):
    """What a rotary function is held to."""

    width: int
    base: float | None
    layout: str
    config: asked.RotarySettings | None
    rates: np.ndarray | None  # the frequencies of pairs that are to turn
    length: float

    @property
    def holds(self) -> bool:
        """Tell whether frequencies are asked for in some way."""
        return self.base is not None or self.rates is not None

    @classmethod
    def to(
        cls, base, layout, config, layers, frequencies, length, width
    ) -> "Held":
        """Read and check what `review_rotary` was given."""
        ways = {"base": base, "config": config, "frequencies": frequencies}
        given = [name for name, value in ways.items() if value is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)}: give only one of them")
        if layers and config is None:
            raise ValueError(f"{layers=}: these are layers of a config")
        report.check_choice("layout", layout, LAYOUTS)
        if base is not None:
            report.check_above("base", base, 1)
        read = rates = None
        if config is not None:
            read = asked.read_config(config, layers, width)
            width, rates = read.width, read.frequencies
            length = length or read.length
        if frequencies is not None:
            rates = np.trim_zeros(np.asarray(frequencies, float), "b")
            right = (
                rates.ndim == 1 and rates.size and np.all(np.isfinite(rates))
            )
            report.check(
                "frequencies", frequencies, right, "a number for each pair"
            )
            width = width or 2 * len(rates)
        width = WIDTH if width is None else width
        length = 1.0 if length is None else length
        report.check_integer("width", width, 2, WIDEST)
        report.check("width", width, width % 2 == 0, "an even number")
        report.check_above("length", length, 0)
        return cls(width, base, layout, read, rates, length)


def as_read(rotate: Callable, width: int) -> Callable:
    """Put the columns of the result back to where they were read."""
    back = np.argsort(as_half(width))
    return lambda x, positions: report.numbers(rotate(x, positions))[..., back]


def other_pairs(held: Held, pairs: Pairs) -> Iterator[Finding]:
    """Say which other columns are pairs than those asked for."""
    one, other = pairs.columns[0].tolist()
    asked_for, seen = held.layout.split(", ")[0], pairs.layout
    words = f"Pairs are {seen} (columns {one} and {other}), where"
    if asked_for not in seen and seen not in asked_for:
        yield Finding("layout", f"{words} {asked_for} is asked for.")
    if held.rates is None:
        if pairs.rest.size == 2 and one == 0:
            words = f"All columns turn but {numbered('column', pairs.rest)}"
            yield Finding("pair", f"{words}: was the last pair forgotten?")
        elif pairs.columns.size == 2 < pairs.width:
            yield Finding("pair", f"Only columns {one} and {other} turn.")
        return
    count, due = pairs.columns.size, 2 * len(held.rates)
    wanted = held.config.layout if held.config else seen
    if one > 0 or count != due:
        words = f"From column {one} on, {count} columns turn, where the first"
        yield Finding("columns", f"{words} {due} of {held.width} should.")
    elif seen.startswith("half") and seen != wanted:
        yield Finding("layout", f"{words} the config asks for {wanted}.")


class Candidate(NamedTuple):
    """What a function may be meant to do."""

    formula: Formula
    series: asked.Series  # that its frequencies follow
    likely: list[Change]  # to other settings and bases
    stretched: Change | None  # if lengths are others than those asked for


def likeliest(
    held: Held, pairs: Pairs, near: Evidence, tolerance: float
) -> Candidate:
    """Return what the function is meant to do: what explains most simply.

    That is what fits the first call; or else what a known change fits to it.
    """
    candidates = list(candidates_for(held, pairs, near.measured, tolerance))
    for candidate in candidates:
        if not near.wrong_calls(candidate.formula):
            return candidate
    for candidate in candidates:
        tried = changes(candidate.formula, near, candidate.likely)
        if explain_by(candidate.formula, near, tried):
            return candidate
    if not held.holds:
        asked.refuse(near.measured, candidates[0].series)
    return candidates[0]


def candidates_for(
    held: Held, pairs: Pairs, seen: Measured, tolerance: float
) -> Iterator[Candidate]:
    """Yield what the function may be meant to do, the likeliest first."""
    sign = -1.0 if np.median(np.sign(seen.frequencies)) < 0 else 1.0
    count, signs, others = len(pairs.columns), (sign, -sign), []
    upright = seen._replace(frequencies=sign * seen.frequencies)
    base = held.config.base if held.config else held.base
    if held.rates is not None and len(held.rates) == count:
        words = held.config.convention if held.config else "as asked for"
        every, signs = [asked.Series(held.rates, words)], (1.0,)
        others += asked.mistaken(held.config) if held.config else []
    elif base is not None:
        every = asked.usual_series((base,), pairs)
        if held.rates is not None:  # for other columns than those that turn
            rates = asked.geometric(base, count, len(held.rates))
            every.insert(0, asked.Series(rates, f"base {plain(base)}"))
    else:
        every = asked.guess(upright, pairs)
    if base is not None:
        others += asked.slips(base, count, upright)
    for series in every:
        for sign in signs:
            formula = Formula(
                sign * np.where(pairs.still, 0, series.frequencies),
                tolerance,
                length=held.length,
                doubt=series.doubt,
            )
            stretched = other_lengths(formula, seen)
            formula = stretched.formula if stretched else formula
            likely = [
                Change(finding, formula._replace(frequencies=sign * other))
                for finding, other in others
                if len(other) == count
            ]
            yield Candidate(formula, series, likely, stretched)


# Calls.


def calls_of(limit: int, width: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield calls of many kinds: what they are, and `[rows, tokens]`.

    No length is a multiple of a block, but 4096. Batches are larger than 16
    and 32. Positions are near and far, alone and together.
    """
    random = np.random.default_rng(7)
    yield FIRST_CALL, FIRST
    for tokens in (7, 129, 333, 1025, LONG, min(LONGEST, MUCH // width)):
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
    for order in ([5, 9, 6, 40, 7, 20], [5, 6, 7, 9, 40, 20]):
        yield "of positions out of order", np.array([order])
    packed = [np.arange(tokens) for tokens in (29, 17, 40)]
    yield "of packed texts", np.concatenate(packed)[None]
    both = [np.arange(16), limit - 1 - np.arange(16)[::-1]]
    yield "of near and far positions", np.concatenate(both)[None]
    rows, tokens = max(1, CHUNK // (LONG * width)), min(LONG, limit)
    for start in range(0, limit, rows * tokens):
        places = np.arange(start, start + rows * tokens)
        places = np.minimum(places, limit - 1).reshape(rows, tokens)
        yield f"of {rows} rows of {tokens} tokens", places
    for place in np.unique(np.geomspace(1, limit, ALONE).astype(int) - 1):
        yield "of one token", np.array([[place]])
    yield f"{FIRST_CALL}, again", FIRST


def first_sight(rotation: Rotation) -> tuple[Pairs | None, list[Finding]]:
    """Ask for each column alone, and see which of them are pairs."""
    made = []
    for column in [*range(rotation.width), 0]:
        x = np.zeros((1, COLUMNS_AT.size, rotation.width))
        x[..., column] = 1
        answer = rotation(x, COLUMNS_AT)
        if answer.made is None:
            words = f"A call fails: {answer.trouble}."
            return None, [Finding("result", words)]
        made.append(answer.made[0])
    if np.abs(made[0] - made[-1]).max() > LEAK:
        words = "The same call gives another result a second time."
        return None, [Finding("state", words)]
    # [position, column of the result, column that is 1]
    return pairs_of(np.stack(made[:-1], axis=-1))


def first_to_fail(
    rotation: Rotation, max_len: int
) -> tuple[int, list[Finding]]:
    """Return how many positions there are, and the first that fails."""

    def trouble(place: int) -> str:
        positions = np.array([[0, place]])
        return rotation(rotation.given(positions), positions).trouble

    right, wrong = FIRST.size - 1, max_len - 1
    if not trouble(wrong):
        return max_len, []
    while wrong - right > 1:
        middle = (right + wrong) // 2
        right, wrong = (right, middle) if trouble(middle) else (middle, wrong)
    words = f"Position {wrong} is the first to fail: {trouble(wrong)}."
    return wrong, [Finding("far positions", words)]


def ask_first(
    rotation: Rotation, pairs: Pairs, positions: np.ndarray
) -> Call | None:
    """Make a call of a few tokens and keep all of them."""
    x, positions = rotation.given(positions), positions.astype(int)
    made = rotation(x, positions).made
    if made is None:
        return None
    picks = np.arange(positions.size)
    return call_of(FIRST_CALL, positions, picks, x, made, pairs)


def call_of(
    name: str,
    positions: np.ndarray,
    picks: np.ndarray,
    x: np.ndarray,
    made: np.ndarray,
    pairs: Pairs,
) -> Call:
    """Keep some tokens of a call, numbered from its first to its last."""
    rows, tokens = np.unravel_index(picks, positions.shape)
    given = x[rows, tokens][:, pairs.columns]
    became = made[rows, tokens][:, pairs.columns]
    return Call(name, positions, rows, tokens, given, became)


class Look(NamedTuple):
    """What is needed to make all calls."""

    rotation: Rotation
    pairs: Pairs
    limit: int  # positions are below it
    near: Call  # the first positions, when they were first asked for


def every_call(
    look: Look, formula: Formula
) -> tuple[list[Call], list[Finding], np.ndarray]:
    """Make all calls, compare each with the formula, and keep some tokens.

    Returns:
        The calls; findings of calls that fail, of columns that do not turn,
        and of first positions that are turned otherwise afterwards; and the
        positions that are right in one place and wrong in another.
    """
    rotation, pairs, tolerance = look.rotation, look.pairs, formula.tolerance
    calls, trouble, rest = [], "", []
    earlier: dict[tuple, np.ndarray] = {}
    was_right, was_wrong = np.zeros((2, look.limit), bool)
    for name, positions in calls_of(look.limit, rotation.width):
        x = rotation.given(positions)
        answer = rotation(x, positions)
        if answer.made is None:
            trouble = trouble or f"A call {name} fails: {answer.trouble}."
            continue
        wrong = compare(formula, positions, x, answer.made, pairs)
        was_wrong[positions.ravel()[wrong]] = True
        was_right[positions.ravel()[~wrong]] = True
        picks = telling(wrong) if positions is not FIRST else FIRST[0]
        before = earlier.setdefault(positions.shape, positions)
        call = call_of(name, positions, picks, x, answer.made, pairs)
        calls.append(call._replace(earlier=before))
        off = np.abs(answer.made[..., pairs.rest] - x[..., pairs.rest])
        rest += pairs.rest[~(off <= tolerance).all(axis=(0, 1))].tolist()
    findings = [Finding("calls", trouble)] if trouble else []
    if rest:
        words = f"{numbered('Column', rest)} should stay as they are, but"
        findings.append(Finding("rest", f"{words} change."))
    again = calls[-1] if calls[-1].positions is FIRST else look.near
    if np.abs(again.made - look.near.made).max() > tolerance:
        words = "Positions 0 to 63, asked again after other calls, are turned"
        findings.append(Finding("state", f"{words} otherwise."))
    return calls, findings, np.flatnonzero(was_right & was_wrong)


def compare(
    formula: Formula,
    positions: np.ndarray,
    x: np.ndarray,
    made: np.ndarray,
    pairs: Pairs,
) -> np.ndarray:
    """Compare a whole call piece by piece: which tokens are wrong?"""
    size = max(CHUNK // x.shape[-1], 1)
    wrong = []
    for start in range(0, positions.size, size):
        picks = np.arange(start, min(start + size, positions.size))
        call = call_of("", positions, picks, x, made, pairs)
        wrong.append(~formula.fits(call).all(axis=1))
    return np.concatenate(wrong)


# What explains them.


def explanations(
    look: Look, candidate: Candidate, near: Evidence, holds: bool
) -> list[Finding]:
    """Explain what is wrong, by one change or by one after the other."""
    formula, likely, explained = candidate.formula, candidate.likely, []
    for _ in range(2):
        calls, findings, contested = every_call(look, formula)
        findings = [*explained, *findings]
        remembers = any(each.name == "state" for each in findings)
        every = near._replace(calls=calls, contested=contested)
        if remembers or not every.wrong_calls(formula):
            return findings
        change = first_change(formula, every, likely)
        if change:
            return [*findings, change.finding]
        change = first_change(formula, near, likely)
        if not change:
            break
        explained.append(change.finding)
        formula, likely = change.formula, []
    largest = by_the_largest(formula, every, holds)
    return [*findings, largest or describe(formula, every)]


def first_change(
    formula: Formula, evidence: Evidence, likely: list[Change]
) -> Change | None:
    """Return the first change that explains what is wrong, if one does."""
    if not evidence.wrong_calls(formula):
        return None
    known = changes(formula, evidence, likely)
    measured = as_measured(formula, evidence)
    return explain_by(formula, evidence, chain(known, measured))


def by_the_largest(
    formula: Formula, every: Evidence, holds: bool
) -> Finding | None:
    """Say if calls are wrong as soon as they hold a far position."""
    wrong = every.wrong_calls(formula)
    right = [call for call in every.calls if not formula.is_wrong(call)]
    most = max((int(call.positions.max()) for call in right), default=0)
    least = min(int(call.positions.max()) for call in wrong)
    clearly = formula._replace(tolerance=formula.tolerance + NEAR)
    both = np.intersect1d(every.wrong_places(clearly), every.contested)
    near_is_right = most >= FIRST.max()  # as dynamic scaling leaves it
    if not near_is_right or least <= most or not len(both):
        return None
    words = (
        f"Position {both[0]} is turned otherwise in calls that hold"
        f" far positions, such as {least}: the largest position of a call"
        " changes how the others are turned, as with dynamic scaling"
    )
    if holds:
        return Finding("batch maximum", f"{words}.")
    raise OutOfReachError(
        f"{words}, which is not reviewed: give base=, config= or frequencies="
        " to hold it to fixed ones."
    )


def convention_of(
    held: Held,
    pairs: Pairs,
    candidate: Candidate,
    seen: Measured,
    found: list[Finding],
) -> str:
    """Name the convention that was seen."""
    words, size = [pairs.layout], pairs.columns.size
    if held.layout == LAYOUTS[-1]:
        words = [LAYOUTS[-1]]
    if size < pairs.width:
        words.append(f"{size} of {pairs.width} columns")
    if pairs.columns.min() > 0:
        words.append(f"from column {pairs.columns.min()}")
    if np.median(np.sign(seen.frequencies)) < 0:
        words.append("clockwise")
    names = {finding.name for finding in found}
    if names & {"base", "scaling", "frequencies"}:
        words.append("other frequencies")
    elif candidate.series.words:
        words.append(candidate.series.words)
    length = float(np.median(candidate.formula.length))
    if plain(length, 4) != "1":
        words.append(f"lengths by {plain(length, 5)}")
    return ", ".join(words)
