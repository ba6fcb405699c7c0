"""Review a rotary function: compare call after call with the formula.

First the function says by itself which columns are pairs, and how they turn.
From that, or from what it is held to, follows a formula in float64, with
which every call is compared. What differs is explained by the first known
change of the formula, or else described.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import changes
from .asked import (
    RotarySettings,
    Series,
    guess,
    mistaken,
    named_series,
    read_config,
    refuse,
    slips,
)
from .changes import Change, Evidence, explain
from .formula import DTYPES, STEP, Call, Formula, dtype_of, telling
from .measure import LAYOUTS, LEAK, Measured, Pairs, measure, moved, pairs_of
from .report import (
    Answer,
    Finding,
    OutOfReachError,
    Review,
    ask,
    check_choice,
    check_function,
    check_integer,
    check_number,
    numbered,
    plain,
)

WIDTH, MAX_LEN, WIDEST = 64, 131_072, 1024
COLUMNS_AT = np.array([[0, 1, 2, 3, 40]])  # where columns are asked for alone
FIRST = np.arange(64)[None]  # the first positions; there have to be as many
FIRST_CALL = "of positions 0 to 63"
LONG = 4096  # tokens of a row, where all positions are asked for
LONGEST = 20_011  # tokens of one row: no multiple of any block
MUCH = 2**24  # numbers that a call may have: 128 MiB in float64
CHUNK = 2**19  # numbers that are compared in one go, to stay in the cache
ALONE = 40  # positions that are asked for in calls of their own
# Numbers in 16 bits lose half a step each time that a cosine, a product and
# the sum is rounded: three steps leave some room.
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
        answer = ask(self.rotate, mine, places)
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

    def column(self, column: int) -> Answer:
        """Ask for vectors with a 1 in one column."""
        x = np.zeros((1, COLUMNS_AT.size, self.width))
        x[..., column] = 1
        return self(x, COLUMNS_AT)


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
        TypeError, ValueError: If a setting makes no sense, by its name.
        OutOfReachError: If the function may be right, but is of a kind that
            is not reviewed.
    """
    check_function("rotate", rotate)
    ways = {"base": base, "config": config, "frequencies": frequencies}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)}: give only one of them")
    if layers and config is None:
        raise ValueError(f"{layers=}: these are layers of a config")
    read = rates = None
    if config is not None:
        read = read_config(config, layers, width)
        width, rates = read.width, read.frequencies
        length = length or read.length
        max_len = max_len or max(read.max_len or MAX_LEN, FIRST.size)
    if frequencies is not None:
        rates = np.trim_zeros(np.asarray(frequencies, float), "b")
        if rates.ndim != 1 or not rates.size or not np.isfinite(rates).all():
            raise ValueError("frequencies: give a number for each pair")
        width = width or 2 * len(rates)
    width = WIDTH if width is None else width
    max_len = MAX_LEN if max_len is None else max_len
    length = 1.0 if length is None else length
    asked = Asked(width, base, layout, read, rates, length, bool(given))
    check_choice("layout", layout, LAYOUTS)
    check_integer("width", width, 2, WIDEST)
    check_integer("max_len", max_len, FIRST.size, MUCH)
    check_number("base", 2 if base is None else base, above=1)
    check_number("length", length, above=0)
    if width % 2:
        raise ValueError(f"width={width}: give an even number")
    check_number("tolerance", tolerance, above=0)
    check_choice("dtype", dtype, DTYPES)
    notes, words = [], ""
    if asked.config:
        notes, words = [*asked.config.notes], str(asked.config)
    rotation = Rotation(rotate, asked.width)

    pairs, findings = first_sight(rotation)
    near = pairs and kept(rotation, pairs, FIRST)
    if near is None:
        return Review(tuple(findings), notes=tuple(notes), asked=words)
    findings += other_pairs(asked, pairs)
    limit, failing = first_to_fail(rotation, max_len)
    findings += failing
    doubled = kept(rotation, pairs, 2 ** np.arange(np.log2(limit) // 1)[None])

    format_seen = dtype_of(near.made)
    step = STEP.get(format_seen, 0)
    if dtype and DTYPES.index(format_seen) < DTYPES.index(dtype):
        said = f"Results are in {format_seen}, where {dtype} is asked for."
        findings.append(Finding("precision", said))
    elif step:
        least = plain(SHORT_STEPS * step, 2)
        said = f"results are in {format_seen}: errors below {least} are"
        notes.append(f"{said} not seen.")

    seen = measure(near, doubled, step)
    evidence = Evidence([near], seen)
    tolerance += SHORT_STEPS * step
    candidate = likeliest(asked, pairs, evidence, tolerance)
    notes += candidate.series.notes
    if candidate.stretched:
        findings.append(candidate.stretched.finding)
    look = Look(rotation, pairs, limit, near)
    explained = explanations(look, candidate, evidence, asked.holds)
    findings += explained
    if "positions" in rotation.changed:
        findings.append(Finding("input", "positions are changed in place."))
    if "x" in rotation.changed:
        notes.append("x is changed in place.")
    if asked.rates is not None and not layout:
        notes.append("whether pairs are interleaved or halves is not asked.")
    return Review(
        tuple(findings),
        convention_of(pairs, candidate, seen, explained),
        f"Looked at: positions 0 to {limit - 1}, calls of 1 to"
        f" {rotation.most_tokens} tokens, batches of up to"
        f" {rotation.most_rows} rows, alone and again.",
        tuple(notes),
        words,
    )


# What it is held to.


class Asked(NamedTuple):
    """What a rotary function is held to."""

    width: int
    base: float | None
    layout: str
    config: RotarySettings | None
    rates: np.ndarray | None  # the frequencies of pairs that are to turn
    length: float
    holds: bool  # whether frequencies are asked for in some way


def other_pairs(asked: Asked, pairs: Pairs) -> Iterator[Finding]:
    """Say which other columns are pairs than those asked for."""
    one, other = pairs.columns[0].tolist()
    asked_for, _, to_write = asked.layout.partition(", written as ")
    seen, _, written = pairs.layout.partition(", written as ")
    words = f"Pairs are {seen} (columns {one} and {other}), where"
    if asked_for not in seen and seen not in asked_for:
        yield Finding("layout", f"{words} {asked_for} is asked for.")
    if written not in ("", to_write):
        yield moved(pairs)
    if to_write and not written:
        words = "Columns are written as they were read, not as is asked for."
        yield Finding("position 0", words, 0)
    if asked.rates is None:
        if pairs.rest.size == 2 and one == 0 and "part" not in seen:
            words = f"All turns but {numbered('column', pairs.rest)}: was the"
            yield Finding("pair", f"{words} last pair forgotten?")
        return
    count, due = pairs.columns.size, 2 * len(asked.rates)
    wanted = asked.config.layout if asked.config else seen
    if one > 0 or count != due:
        words = f"From column {one} on, {count} columns turn, where the first"
        yield Finding("columns", f"{words} {due} of {asked.width} should.")
    elif seen.startswith("half") and seen != wanted:
        yield Finding("layout", f"{words} the config asks for {wanted}.")


class Candidate(NamedTuple):
    """What a function may be meant to do."""

    formula: Formula
    series: Series  # that its frequencies follow
    likely: list[Change]  # to other settings and bases
    stretched: Change | None  # if lengths are others than those asked for


def likeliest(
    asked: Asked, pairs: Pairs, near: Evidence, tolerance: float
) -> Candidate:
    """Return what the function is meant to do: what explains most simply.

    That is what fits the first call; or else what a known change fits to it.

    Raises:
        OutOfReachError: If its frequencies are of a kind that is not reviewed.
    """
    candidates = list(candidates_for(asked, pairs, near.measured, tolerance))
    for candidate in candidates:
        if not near.wrong_calls(candidate.formula):
            return candidate
    for candidate in candidates:
        tried = changes.changes(candidate.formula, near, candidate.likely)
        if explain(candidate.formula, near, tried):
            return candidate
    if not asked.holds:
        refuse(near.measured)
    return candidates[0]


def candidates_for(
    asked: Asked, pairs: Pairs, seen: Measured, tolerance: float
) -> Iterator[Candidate]:
    """Yield what the function may be meant to do, the likeliest first."""
    sign = -1.0 if np.median(np.sign(seen.frequencies)) < 0 else 1.0
    upright = seen._replace(
        frequencies=sign * seen.frequencies, phase=sign * seen.phase
    )
    count, signs, others = len(pairs.columns), (sign, -sign), []
    base = asked.config.base if asked.config else asked.base
    if asked.rates is not None and len(asked.rates) == count:
        words = asked.config.convention if asked.config else "as asked for"
        every, signs = [Series(asked.rates, words)], (1.0,)
        others += mistaken(asked.config) if asked.config else []
    elif asked.base is not None:
        steps = {count, pairs.width // 2 if pairs.rest.size else count}
        every = [named_series(asked.base, count, some) for some in steps]
    else:
        every = guess(upright, pairs)
    if base is not None:
        others += slips(base, count, upright)
    for series in every:
        for sign in signs:
            formula = Formula(
                sign * np.where(pairs.still, 0, series.frequencies),
                tolerance,
                length=asked.length,
                doubt=series.doubt,
            )
            stretched = changes.lengths(formula, seen)
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

    Args:
        limit: Positions are below it.
        width: Of the vectors, which limits the longest call.
    """
    random = np.random.default_rng(7)
    yield FIRST_CALL, FIRST
    for tokens in (7, 129, 333, 1025, LONG, min(LONGEST, MUCH // width)):
        if tokens <= limit:
            start = min(20, limit - tokens)
            yield f"of {tokens} tokens", start + np.arange(tokens)[None]
    yield "of 7 tokens", 30 + np.arange(7)[None]
    for rows in (2, 4, 17, 33):
        starts = random.integers(0, limit - 5, (rows, 1))
        yield f"of {rows} rows of 5 tokens", starts + np.arange(5)
        alone = random.integers(0, limit, (rows, 1))
        yield f"of one token in each of {rows} rows", alone
    padding = [[1, 1, 1, 1, 0, 1, 2], [0, 0, 0, 1, 2, 3, 4], range(7)]
    yield "behind padding", np.array(padding)
    yield "of equal positions", np.tile([[9], [4]], 5)
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
        answer = rotation.column(column)
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
    return wrong, [Finding("far positions", words, wrong)]


def kept(
    rotation: Rotation, pairs: Pairs, positions: np.ndarray
) -> Call | None:
    """Make a call and keep all its tokens."""
    x, positions = rotation.given(positions), positions.astype(int)
    made = rotation(x, positions).made
    if made is None:
        return None
    return call_of(
        FIRST_CALL, positions, np.arange(positions.size), x, made, pairs
    )


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
    written = np.argsort(pairs.order)[pairs.columns]
    given = x[rows, tokens][:, pairs.columns]
    became = made[rows, tokens][:, written]
    return Call(name, positions, rows, tokens, given, became)


class Look(NamedTuple):
    """What is needed to make all calls."""

    rotation: Rotation
    pairs: Pairs
    limit: int  # positions are below it
    near: Call  # the first positions, when they were first asked for


def every_call(
    look: Look, formula: Formula
) -> tuple[list[Call], list[Finding]]:
    """Make all calls, compare each with the formula, and keep some tokens.

    Returns:
        The calls; and findings of calls that fail, of columns that do not
        turn, and of first positions that are turned otherwise afterwards.
    """
    rotation, pairs = look.rotation, look.pairs
    calls, failed, rest = [], [], ""
    earlier: dict[tuple, np.ndarray] = {}
    for name, positions in calls_of(look.limit, rotation.width):
        x = rotation.given(positions)
        answer = rotation(x, positions)
        if answer.made is None:
            failed.append((name, answer.trouble))
            continue
        wrong = compare(formula, positions, x, answer.made, pairs)
        picks = telling(wrong) if positions is not FIRST else FIRST[0]
        before = earlier.setdefault(positions.shape, positions)
        call = call_of(name, positions, picks, x, answer.made, pairs)
        calls.append(call._replace(earlier=before))
        changed = of_the_rest(x, answer.made, pairs, formula.tolerance)
        if changed and not rest:
            rest = f"{changed}, as in a call {name}."
    findings = [Finding("rest", rest)] if rest else []
    if failed:
        words = f"A call {failed[0][0]} fails: {failed[0][1]}."
        others = list(dict.fromkeys(name for name, _ in failed))[1:]
        words += f" So do calls {', '.join(others)}." if others else ""
        findings.append(Finding("calls", words))
    off = np.abs(calls[-1].made - look.near.made) if calls else np.zeros(1)
    if calls[-1].positions is FIRST and off.max() > formula.tolerance:
        words = "Positions 0 to 63, asked again after other calls, are turned"
        findings.append(Finding("state", f"{words} otherwise."))
    return calls, findings


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


def of_the_rest(
    x: np.ndarray, made: np.ndarray, pairs: Pairs, tolerance: float
) -> str:
    """Say what became of columns that do not turn, if they are changed."""
    if not pairs.rest.size:
        return ""
    given = x[..., pairs.rest]
    became = made[..., np.argsort(pairs.order)[pairs.rest]]
    changed = ~(np.abs(became - given) <= tolerance)  # NaN is changed, too
    if not changed.any():
        return ""
    columns = pairs.rest[changed.any(axis=(0, 1))]
    factors = became[changed] / given[changed]
    words = f"{numbered('Column', columns)} should stay as they are; they are"
    if np.ptp(factors) <= LEAK + tolerance:
        return f"{words} multiplied by {plain(np.median(factors), 4)}"
    return f"{words} changed"


# What explains them.


def explanations(
    look: Look, candidate: Candidate, near: Evidence, holds: bool
) -> list[Finding]:
    """Explain what is wrong, by one change or by one after the other.

    Raises:
        OutOfReachError: If it is of a kind that is not reviewed.
    """
    formula, likely, explained = candidate.formula, candidate.likely, []
    for _ in range(2):
        calls, findings = every_call(look, formula)
        findings = [*explained, *findings]
        remembers = any(each.name == "state" for each in findings)
        every = near._replace(calls=calls)
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
    return [*findings, largest or changes.describe(formula, every)]


def first_change(
    formula: Formula, evidence: Evidence, likely: list[Change]
) -> Change | None:
    """Return the first change that explains what is wrong, if one does."""
    if not evidence.wrong_calls(formula):
        return None
    tried = changes.changes(formula, evidence, likely)
    change = explain(formula, evidence, tried)
    measured = changes.as_measured(formula, evidence)
    return change or explain(formula, evidence, measured)


def by_the_largest(
    formula: Formula, every: Evidence, holds: bool
) -> Finding | None:
    """Say if calls are wrong as soon as they hold a far position."""
    right = [call for call in every.calls if not formula.is_wrong(call)]
    wrong = every.wrong_calls(formula)
    least = min(int(call.positions.max()) for call in wrong)
    if not right or least <= max(int(call.positions.max()) for call in right):
        return None
    elsewhere = np.concatenate([call.places for call in right])
    clearly = formula._replace(tolerance=formula.tolerance + changes.NEAR)
    both = np.intersect1d(every.wrong_places(clearly), elsewhere)
    if not len(both):
        return None
    words = (
        f"Position {both[0]} is turned otherwise in calls that hold far"
        f" positions, as {least}: the largest position of a call changes how"
        " the others are turned, as with dynamic scaling"
    )
    if holds:
        return Finding("batch maximum", f"{words}.", least)
    raise OutOfReachError(
        f"{words}, which is not reviewed: give base=, config= or frequencies="
        " to hold it to fixed ones."
    )


def convention_of(
    pairs: Pairs, candidate: Candidate, seen: Measured, found: list[Finding]
) -> str:
    """Name the convention that was seen."""
    words, size = [pairs.layout], pairs.columns.size
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
