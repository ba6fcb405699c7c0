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
from .changes import (
    NEAR,
    Change,
    Evidence,
    as_measured,
    changes,
    describe,
    explain,
)
from .changes import lengths as other_lengths
from .formula import CHUNK, DTYPES, STEP, Call, Formula, dtype_of, telling
from .measure import LAYOUTS, LEAK, Pairs, measure, pairs_of
from .measure import interleaved_as_half as as_half
from .report import Answer, Finding, OutOfReachError, Review, numbered, plain

WIDTH, MAX_LEN, WIDEST = 64, 131_072, 1024
COLUMNS_AT = np.array([[3, 0, 1, 2, 40]])  # where columns are asked for alone
FIRST = np.arange(64)[None]  # the first positions; there have to be as many
FIRST_CALL = "of positions 0 to 63"
LONG = 4096  # tokens of a row, where all positions are asked for
LONGEST = 20_011  # tokens of one row: no multiple of any block
MUCH = 2**24  # numbers that a call may have: 128 MiB in float64
ALONE = 40  # positions that are asked for in calls of their own
# In 16 bits, a rotation rounds two cosines and sines, two products and a sum:
# at worst, the numbers around 1 lose three steps by that.
SHORT_STEPS = 3


class Rotation:
    """A rotary function, asked with vectors whose numbers 16 bits can hold.

    Vectors are rows of a pool of random ones, so that what was given is known
    even if the function changes it in place.
    """

    def __init__(self, rotate: Callable, width: int, tolerance: float):
        """Take the function, and the width of what it turns."""
        self.rotate, self.width, self.tolerance = rotate, width, tolerance
        random = np.random.default_rng(3)
        sizes = random.integers(64, 128, (61, width)) / 128
        self.pool = sizes * random.choice([-1, 1], sizes.shape)
        self.changed: set[str] = set()  # arguments, in place
        self.earlier: dict[tuple, np.ndarray] = {}  # first positions, by shape

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
        self.earlier.setdefault(positions.shape, positions)
        return answer

    def call(
        self, positions: np.ndarray, pairs: Pairs, name: str = ""
    ) -> tuple[Call | None, str, list[int]]:
        """Make a call with vectors no two neighbors of which are alike.

        Returns:
            The call, or what went wrong, and the columns that changed without
            being in a pair.
        """
        count = np.arange(positions.size)
        x = self.pool[count % len(self.pool)].reshape(*positions.shape, -1)
        earlier = self.earlier.get(positions.shape, positions)
        answer = self(x, positions)
        if answer.made is None:
            return None, answer.trouble, []
        flat = [each.reshape(-1, self.width) for each in (x, answer.made)]
        given, made = (each[:, pairs.columns] for each in flat)
        off = np.abs(flat[1][:, pairs.rest] - flat[0][:, pairs.rest])
        places = np.unravel_index(count, positions.shape)
        call = Call(name, positions, *places, given, made, earlier)
        return (
            call,
            "",
            pairs.rest[~(off <= self.tolerance).all(axis=0)].tolist(),
        )


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
    rotation = Rotation(rotate, held.width, tolerance)
    if layout == LAYOUTS[-1]:
        rotation.rotate = as_read(rotate, held.width)

    pairs, findings = first_sight(rotation, layout)
    near = None
    if pairs:
        near, trouble, _ = rotation.call(FIRST, pairs, FIRST_CALL)
        if near is None:
            words = f"A call {FIRST_CALL} fails: {trouble}."
            findings.append(Finding("result", words))
    if near is None:
        return Review(tuple(findings), asked=str(held.config or ""))
    findings += other_pairs(held, pairs)
    limit, failing = first_to_fail(rotation, pairs, max_len)
    findings += failing
    doubled = 2 ** np.arange(int(np.log2(limit)))[None]
    doubled = rotation.call(doubled, pairs)[0]

    notes, dtype_seen = [], dtype_of(near.made)
    # Steps are twice as wide from 1 to 2, and again from 2 to 4.
    longest = max(held.length, np.median(np.abs(near.hands)) - NEAR)
    step = STEP.get(dtype_seen, 0) * 2 ** max(0, np.ceil(np.log2(longest)))
    if dtype and DTYPES.index(dtype_seen) < DTYPES.index(dtype):
        said = f"Results are in {dtype_seen}, where {dtype} is asked for."
        findings.append(Finding("precision", said))
    elif step:
        least = plain(SHORT_STEPS * step, 2)
        said = f"results are in {dtype_seen}: errors below {least} are not"
        notes.append(f"{said} seen.")

    seen = measure(near, doubled, step)
    flat = pairs.columns.T
    columns = np.searchsorted(np.sort(flat, axis=None), flat)
    evidence = Evidence([near], seen, columns)
    slack = tolerance + SHORT_STEPS * step
    candidate = likeliest(held, pairs, evidence, slack)
    notes += candidate.series.notes
    if candidate.stretched:
        findings.append(candidate.stretched.finding)
    every, seen_wrong = every_call(rotation, pairs, limit, candidate)
    findings += seen_wrong
    is_wrong = every.wrong_positions(candidate.formula).size
    if is_wrong and "state" not in dict(findings):
        findings.append(explained(every, candidate))
    if "positions" in rotation.changed:
        findings.append(Finding("input", "positions are changed in place."))
    if "x" in rotation.changed:
        notes.append("x is changed in place.")
    if held.rates is not None and not layout:
        notes.append("whether pairs are interleaved or halves is not asked.")
    shapes = [call.positions.shape for call in every.calls]
    rows, tokens = np.max(shapes, axis=0)
    return Review(
        tuple(findings),
        convention_of(held, pairs, candidate, findings),
        f"Looked at: positions 0 to {limit - 1}, calls of 1 to {tokens}"
        f" tokens, batches of up to {rows} rows, alone and again.",
        tuple(notes),
        str(held.config or ""),
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
        usual_width, usual_length = WIDTH, 1.0
        if config is not None:
            read = asked.read_config(config, layers, width)
            usual_width, usual_length = read.width, read.length
            base, rates = read.base, read.frequencies
        if frequencies is not None:
            rates = np.asarray(frequencies, float)
            right = (
                rates.ndim == 1 and rates.any() and np.all(np.isfinite(rates))
            )
            words = "a number for each pair"
            report.check("frequencies", frequencies, right, words)
            usual_width, rates = 2 * len(rates), np.trim_zeros(rates, "b")
            words = "no 0 but at the end, and at most one for each pair"
            right = rates.all() and 2 * len(rates) <= (width or usual_width)
            report.check("frequencies", frequencies, right, words)
        width = usual_width if width is None else width
        length = usual_length if length is None else length
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
    near: Evidence  # the first positions
    held: bool  # to frequencies that are asked for


def likeliest(
    held: Held, pairs: Pairs, near: Evidence, tolerance: float
) -> Candidate:
    """Return what the function is meant to do: what explains most simply.

    That is what fits the first call; or else what a known change fits to it.
    """
    candidates = list(candidates_for(held, pairs, near, tolerance))
    for candidate in candidates:
        if not near.wrong_positions(candidate.formula).size:
            return candidate
    for candidate in candidates:
        tried = changes(candidate.formula, near, candidate.likely)
        if explain(candidate.formula, near, tried):
            return candidate
    if not candidates[0].held:
        asked.refuse(near.measured, candidates[0].series)
    return candidates[0]


def candidates_for(
    held: Held, pairs: Pairs, near: Evidence, tolerance: float
) -> Iterator[Candidate]:
    """Yield what the function may be meant to do, the likeliest first."""
    seen = near.measured
    is_held = held.base is not None or held.rates is not None
    clockwise = seen.even and np.median(np.sign(seen.frequencies)) < 0
    sign, count, others = -1.0 if clockwise else 1.0, len(pairs.columns), []
    signs = (sign, -sign)
    upright = seen._replace(frequencies=sign * seen.frequencies)
    if held.rates is not None and len(held.rates) == count:
        words = held.config.convention if held.config else "as asked for"
        every, signs = [asked.Series(held.rates, words)], (1.0,)
        others += asked.mistaken(held.config) if held.config else []
    elif held.base is not None:
        every = asked.usual_series((held.base,), pairs)
        if held.rates is not None:  # for other columns than those that turn
            rates = asked.geometric(held.base, count, len(held.rates))
            every.insert(0, asked.Series(rates, f"base {plain(held.base)}"))
    else:
        every = asked.guess(upright, pairs)
    if held.base is not None:
        others += asked.slips(held.base, count, upright)
    for series in every:
        for sign in signs:
            formula = Formula(
                sign * np.where(pairs.still, 0, series.frequencies),
                tolerance,
                held.length,
                series.doubt,
            )
            stretched = other_lengths(formula, seen)
            formula = stretched.formula if stretched else formula
            likely = [
                Change(finding, formula._replace(frequencies=sign * other))
                for finding, other in others
                if len(other) == count
            ]
            yield Candidate(formula, series, likely, stretched, near, is_held)


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
    rows = min(max(1, CHUNK // (LONG * width)), 33)
    tokens = min(LONG, limit)
    for start in range(0, limit, rows * tokens):
        places = np.arange(start, start + rows * tokens)
        places = np.minimum(places, limit - 1).reshape(rows, tokens)
        yield f"of {rows} rows of {tokens} tokens", places
    for place in np.unique(np.geomspace(1, limit, ALONE).astype(int) - 1):
        yield "of one token", np.array([[place]])
    yield f"{FIRST_CALL}, again", FIRST


def first_sight(
    rotation: Rotation, layout: str
) -> tuple[Pairs | None, list[Finding]]:
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
    results = []
    before = report.ask(
        lambda *given: results.append(rotation.rotate(*given)) or results[0],
        x.copy(),
        COLUMNS_AT.copy(),
    )
    rotation(np.ones_like(x), COLUMNS_AT + 1)
    after = report.ask(lambda: results[0])
    both = np.array([before.made, after.made], float)  # None becomes NaN
    if not np.array_equal(*both, equal_nan=True):
        words = "A result changes when the function is called again: does it"
        words += " write all results into the same array?"
        return None, [Finding("state", words)]
    # [position, column of the result, column that is 1]
    pairs, findings = pairs_of(np.stack(made[:-1], axis=-1), COLUMNS_AT[0])
    if layout == LAYOUTS[-1] and "rotation" in dict(findings):
        words = "Columns are not written as halves, as is asked for."
        findings = [Finding("position 0", words)]
    return pairs, findings


def first_to_fail(
    rotation: Rotation, pairs: Pairs, max_len: int
) -> tuple[int, list[Finding]]:
    """Return how many positions there are, and the first that fails."""

    def trouble(place: int) -> str:
        positions = np.append(FIRST[:, 1:], [[place]], axis=1)
        return rotation.call(positions, pairs)[1]

    right, wrong = FIRST.size - 1, max_len - 1
    if not trouble(wrong):
        return max_len, []
    while wrong - right > 1:
        middle = (right + wrong) // 2
        right, wrong = (right, middle) if trouble(middle) else (middle, wrong)
    words = f"Position {wrong} is the first to fail: {trouble(wrong)}."
    return wrong, [Finding("far positions", words)]


# What explains them.


def every_call(
    rotation: Rotation, pairs: Pairs, limit: int, candidate: Candidate
) -> tuple[Evidence, list[Finding]]:
    """Make all calls, and compare each with the formula.

    Returns:
        The calls, of which the tokens are kept that tell what is wrong; and
        findings of calls that fail, of columns that should not turn, and of
        first positions that are turned otherwise after all other calls.
    """
    formula, near = candidate.formula, candidate.near
    calls, failed, rest = [], [], []
    was_right, was_wrong = np.zeros((2, limit), bool)
    for name, positions in calls_of(limit, rotation.width):
        call, trouble, changed = rotation.call(positions, pairs, name)
        if call is None:
            failed.append(f"A call {name} fails: {trouble}.")
            continue
        wrong = formula.wrong(call)
        was_wrong[call.kept[wrong]] = True
        was_right[call.kept[~wrong]] = True
        is_first = positions is FIRST
        calls.append(call if is_first else call.only(telling(wrong)))
        if changed and not (is_first or rest or candidate.held):
            words = f"{numbered('Column', changed)} stay as they are at"
            words += " positions 0 to 63 and change in other calls, as with"
            raise OutOfReachError(f"{words} two axes. This is not reviewed.")
        rest += changed
    findings = [Finding("calls", words) for words in failed[:1]]
    if rest:
        words = f"{numbered('Column', rest)} should stay as they are, but"
        findings.append(Finding("rest", f"{words} change."))
    before, after = near.calls[0].made, calls[-1]
    again = after.made if after.positions is FIRST else before
    atol = formula.tolerance
    if not np.allclose(again, before, rtol=0, atol=atol, equal_nan=True):
        words = "Positions 0 to 63, asked again after other calls, are turned"
        findings.append(Finding("state", f"{words} otherwise."))
    contested = np.flatnonzero(was_right & was_wrong)
    return near._replace(calls=calls, contested=contested), findings


def explained(every: Evidence, candidate: Candidate) -> Finding:
    """Say by which change the formula gives what was seen, or what is wrong.

    Calls may be wrong as soon as they hold a far position.
    """
    formula = candidate.formula
    known = changes(formula, every, candidate.likely)
    tried = chain(known, as_measured(formula, every))
    change = explain(formula, every, tried)
    if change:
        return change.finding
    right, wrong = every.sorted_out(formula)
    most = max((int(call.positions.max()) for call in right), default=0)
    least = min(int(call.positions.max()) for call in wrong)
    clearly = formula._replace(tolerance=formula.tolerance + NEAR)
    both = np.intersect1d(every.wrong_positions(clearly), every.contested)
    near_is_right = most >= FIRST.max()  # as dynamic scaling leaves it
    if not near_is_right or least <= most or not len(both):
        return describe(formula, every)
    words = (
        f"Position {both[0]} is turned otherwise in calls that hold"
        f" far positions, such as {least}: the largest position of a call"
        " changes how the others are turned, as with dynamic scaling"
    )
    if candidate.held:
        return Finding("batch maximum", f"{words}.")
    raise OutOfReachError(
        f"{words}, which is not reviewed: give base=, config= or frequencies="
        " to hold it to fixed ones."
    )


def convention_of(
    held: Held, pairs: Pairs, candidate: Candidate, found: list[Finding]
) -> str:
    """Name the convention that was seen."""
    words, size = [pairs.layout], pairs.columns.size
    if held.layout == LAYOUTS[-1]:
        words = [LAYOUTS[-1]]
    if size < pairs.width:
        words.append(f"{size} of {pairs.width} columns")
    if pairs.columns.min() > 0:
        words.append(f"from column {pairs.columns.min()}")
    names = {finding.name for finding in found}
    rates = candidate.formula.frequencies
    if np.median(np.sign(rates)) < 0 or "direction" in names:
        words.append("clockwise")
    if names & {"base", "scaling", "frequencies"}:
        words.append("other frequencies")
    elif candidate.series.words:
        words.append(candidate.series.words)
    length = float(np.median(candidate.formula.length))
    if plain(length, 4) != "1":
        words.append(f"lengths by {plain(length, 5)}")
    return ", ".join(words)
