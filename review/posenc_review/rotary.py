"""Review a rotary function: `rotate(x, positions)`, step by step."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from .asking import FIRST, Known, NoAnswerError, Rotation
from .config import read_config
from .explain import Look, explain
from .frequencies import STILL, USUAL_BASES, Plan, plan_of
from .held import Asked, plans_of
from .hypothesis import EVEN, NEAR, Hypothesis, Measured, measure
from .pairs import LAYOUTS, Pairs, hands_of, pairs_of
from .report import Finding, Review, numbered, plain
from .rounding import STEP, format_of
from .seen import HiddenError, Seen
from .settings import (
    check_function,
    check_integer,
    check_number,
    say_if_long,
)
from .sweep import Sweep

WIDTH = 64
WIDEST = 1024  # columns: 1 GB of memory
POSITIONS = 131_072  # how many are looked at, unless told otherwise
MOST_POSITIONS = 2**24  # minutes
TOLERANCE = 1e-4
AFTER = "after all others"


def review_rotary(
    rotate: Callable[[np.ndarray, np.ndarray], object],
    width: int | None = None,
    *,
    base: float | None = None,
    layout: str = "",
    config: str | Path | dict | None = None,
    layers: str = "",
    max_len: int | None = None,
    tolerance: float = TOLERANCE,
) -> Review:
    """Look at a rotary function: what it follows, and what is wrong.

    Args:
        rotate: A callable of `x`, floats `[batch, seq_len, width]`, and
            `positions`, integers `[batch, seq_len]`; the result is like `x`.
            Both come as NumPy arrays; NumPy reads the result.
        width: The columns of `x`; those of the config, else 64.
        base: What it is held to, such as 10000; else any base is right.
        layout: "interleaved" or "half" to hold it to one of them.
        config: A Hugging Face `config.json` to hold it to, or its dict.
        layers: Which layers of the config, where they differ.
        max_len: How many positions to look at; those of the config, else
            131 072.
        tolerance: How far a number may be off, beside what float32 loses.

    Returns:
        What is wrong, in `findings` (an empty dict if nothing is), and which
        convention was seen. Rotary embeddings are those of Su et al. 2021,
        "RoFormer".

    Raises:
        OSError: If there is no such config.
        TypeError, ValueError: If a setting makes no sense, by its name.
    """
    check_function("rotate", rotate)
    if width is not None:
        check_integer("width", width, 2, WIDEST)
    if layout not in ("", *LAYOUTS):
        raise ValueError(f"{layout=}: give one of {'; '.join(LAYOUTS)}")
    if base is not None:
        check_number("base", base, above=1)
    check_number("tolerance", tolerance)
    settings, plans = None, ()
    if config is not None:
        settings = read_config(config, layers, width)
        width = settings.width
        check_integer("width", width, 2, WIDEST)
        plans = plans_of(settings)
        if max_len is None and settings.max_len is not None:
            max_len = min(max(settings.max_len, NEAR), MOST_POSITIONS)
    elif layers:
        raise ValueError(f"{layers=}: these are layers of a config; give it")
    width = WIDTH if width is None else width
    max_len = POSITIONS if max_len is None else max_len
    check_integer("max_len", max_len, NEAR, MOST_POSITIONS)
    # The matrices of the first positions, with copies; errors of all others.
    say_if_long(max_len, width, memory=600 * width**2 + 20 * max_len)
    asked = Asked(base, layout, settings, plans, max_len, tolerance)
    return look_at(Rotation(rotate, width), asked).review()


def look_at(rotation: Rotation, asked: Asked) -> Seen:
    """Look at a rotary function step by step; each adds to what is seen.

    A step that finds what hides the rest raises a `HiddenError`.
    """
    seen = Seen(rotation, asked)
    try:
        ask(seen)
        with suppress(HiddenError):
            measured = find_pairs(seen)
            due = find_frequencies(seen, measured)
            if not seen.misread:
                every_position(seen, due)
            seen.findings += asked.findings(
                seen.pairs, seen.plan, seen.clockwise
            )
        look_back(seen)
    except HiddenError:
        pass
    except NoAnswerError as trouble:
        words = f"It answers some calls and fails in others: {trouble}."
        seen.findings.append(Finding("result", words))
    return seen


def ask(seen: Seen) -> None:
    """Ask in calls of many shapes, and how positions mix the columns."""
    rotation = seen.rotation
    try:
        _, seen.answer = rotation.random(FIRST)
    except NoAnswerError as trouble:
        words = f"Asked for positions 0 to 3, it fails: {trouble}."
        hint = "If it makes a table, leave out --rotary."
        if rotation.width % 2:
            hint = "Columns turn in pairs, and the width is odd."
        seen.stop_if([Finding("result", f"{words} {hint}")])
    seen.stop_if(rotation.asked_again(seen.answer, "twice"))
    seen.matrices, fails = rotation.matrices()
    seen.format = format_of(seen.matrices[:4])
    known = Known(seen.matrices, 2e-4 + 4 * seen.precision)
    places = np.arange(len(seen.matrices))
    mixed = known.wrong(*rotation.random(places[None]), places).any()
    seen.misread = fails + known.positions_read(rotation, seen.asked.max_len)
    seen.stop_if(rotation.asked_again(seen.answer, AFTER))
    if mixed:
        words = (
            "x is not only turned: random numbers give another result than"
            " their columns one by one."
        )
        seen.stop_if([Finding("linear", words)])
    seen.findings += seen.misread


def find_pairs(seen: Seen) -> Measured:
    """Make out which columns turn together, and how their hands turn."""
    matrices = seen.matrices
    seen.positions = len(matrices)
    fine = np.isfinite(matrices).all(axis=(1, 2))
    fine &= matrices.any(axis=(1, 2))
    count = int(np.append(fine[1:], False).argmin()) + 1
    if count < 3:
        words = f"Position {count} gives NaN, infinity or zero."
        seen.stop_if([Finding("far positions", words, count)])
    matrices = matrices[:count].copy()
    if not fine[0]:  # position 0 is looked at with the others
        matrices[0] = np.eye(seen.rotation.width)
    seen.pairs, wrong = pairs_of(matrices)
    if not seen.misread:
        seen.findings += wrong
    if not len(seen.pairs.columns):
        raise HiddenError
    hands = hands_of(matrices, seen.pairs)
    measured = measure(hands)
    rests = (np.abs(measured.frequencies) < STILL).all(axis=1)  # from 1 to 2
    moves = (np.abs(hands[1:] - hands[1]) > EVEN).any(axis=(0, 2))
    uneven = np.flatnonzero(~measured.even.any(axis=1) | (rests & moves))
    if len(uneven):
        pair = int(uneven[0])
        steps = np.diff(np.unwrap(np.angle(hands[:, pair, 0])))
        off = np.abs(steps[1:] - steps[1]) > EVEN
        place = int(off.argmax()) + 1
        words = (
            "Scores do not depend on the offset alone: pair"
            f" {pair} turns by {plain(steps[1], 3)} from position 1 to 2, by"
            f" {plain(steps[place], 3)} from position {place} to {place + 1}."
        )
        seen.stop_if([Finding("offsets", words, place, pair)])
    return measured


def find_frequencies(seen: Seen, measured: Measured) -> np.ndarray:
    """Make out which plan the frequencies follow, and which way pairs turn.

    Returns:
        The frequencies that are due, `[pairs, hands]`, negative if clockwise.
    """
    pairs, asked, precision = seen.pairs, seen.asked, seen.precision
    signed, layout = frequencies_of(pairs, measured, precision)
    if seen.format == "float16":  # which has no digits for so slow a pair
        signed = np.where(np.abs(signed) < 4e-5, 0, signed)
    steps, bases, likely = (float(len(signed)),), USUAL_BASES, asked.plans
    if pairs.columns.size < pairs.width:  # exponents may count the head
        steps = (*steps, pairs.width / 2)
    if asked.base is not None:
        bases = (float(asked.base), *bases)
    if likely and len(likely[0].frequencies) != len(signed):
        likely = ()
    plan = plan_of(np.abs(signed), steps, precision, likely, bases)
    seen.plan = plan
    known = plan.frequencies < np.pi  # beyond half a turn no sign is seen
    signs = np.sign(signed) * known
    seen.clockwise = bool(signs.sum() < 0)
    usual = -1 if seen.clockwise else 1
    against, still = signs == -usual, pairs.still & known
    seen.findings += odd_ones(seen, against, still)
    seen.findings += layout
    if layout:
        return measured.frequencies
    due = plan.frequencies * np.where(against, -usual, usual)
    return np.where(still, 0, due)[:, None]


def frequencies_of(
    pairs: Pairs, measured: Measured, precision: float
) -> tuple[np.ndarray, list[Finding]]:
    """Return the frequency of each pair, negative if clockwise.

    Of two hands it is that of the one that turns more evenly; of two that
    turn alike, the first, unless it stands still.

    Returns:
        And a finding, if angles are laid out otherwise than pairs.
    """
    hands = np.where(measured.even, measured.frequencies, 0)
    first, second = hands.T
    first_off, second_off = measured.off.T
    better = (first_off > precision / 10) & (second_off < first_off / 4)
    signed = np.where(better | (np.abs(first) < STILL), second, first)

    def alike(frequencies: np.ndarray) -> bool:
        slack = precision * np.abs(frequencies).max(axis=1) + 1e-9
        return bool(np.all(np.ptp(frequencies, axis=1) <= slack))

    if alike(np.abs(hands)) or not measured.even.all():
        return signed, []
    by_column = hands.ravel()[np.argsort(pairs.columns.ravel())]
    layouts = {
        "half": by_column.reshape(2, -1).T,
        "interleaved": by_column.reshape(-1, 2),
    }
    for name, frequencies in layouts.items():
        if alike(frequencies):
            sizes = np.abs(hands)
            pair = int(np.ptp(sizes, axis=1).argmax())
            one, other = pairs.columns[pair].tolist()
            words = (
                f"The pairs are {pairs.layout}, the angles are laid out"
                f" {name}: columns {one} and {other}, which are a pair, turn"
                f" by {plain(sizes[pair, 0], 4)} and"
                f" {plain(sizes[pair, 1], 4)}."
            )
            return frequencies[:, 0], [Finding("layout", words, column=one)]
    return signed, []


def odd_ones(
    seen: Seen, against: np.ndarray, still: np.ndarray
) -> Iterator[Finding]:
    """Find pairs that turn against the others, or stand still."""
    pairs, plan, config = seen.pairs, seen.plan, seen.asked.config
    unsure = np.isnan(plan.base) and plan.findings  # of frequencies, so signs
    some = np.flatnonzero(against)
    if len(some) and not unsure:
        words = f"Against the others turn: {numbered('pair', some)}."
        yield Finding("pair", words, pair=int(some[0]))
    if len(pairs.columns) == 1 and pairs.width >= 8:
        words = "Only one pair turns: have frequencies become whole numbers?"
        yield Finding("pair", words)
    some = np.flatnonzero(still)
    if len(some):
        one, other = pairs.columns[some[0]].tolist()
        words = f"{numbered('pair', some).capitalize()} (columns {one},"
        words += f" {other}) stands still."
        if len(some) > 1:
            words = words.replace(") stands", ", and so on) stand")
        yield Finding("pair", words, pair=int(some[0]))
    is_meant = config and config.columns == pairs.turning
    if plan.exponents and is_usual(plan) and pairs.left_out and not is_meant:
        pair, (one, other) = len(pairs.columns), pairs.left_out
        words = (
            f"Pair {pair} (columns {one}, {other}) stands still: it was"
            " forgotten, or a part that ends before it is meant, with"
            " exponents of the head; the two look the same."
        )
        yield Finding("pair", words, pair=pair)


def is_usual(plan: Plan) -> bool:
    """Tell whether frequencies are known exactly, by a usual base."""
    return plan.base in USUAL_BASES and not plan.parts


def every_position(seen: Seen, due: np.ndarray) -> None:
    """Look at every position, and explain those that are wrong."""
    asked, rotation, plan = seen.asked, seen.rotation, seen.plan
    loose = seen.precision > 1e-4 and not is_usual(plan)
    model = Hypothesis(
        due,
        asked.tolerance + 2 * seen.precision,
        length=asked.length,
        doubt=10 * seen.precision if loose else 0.0,
    )
    sweep = Sweep(rotation, seen.pairs, seen.matrices, asked.max_len)
    look = sweep.look(model)
    changed = sweep.by_the_call(model, look)
    changed = rotation.asked_again(seen.answer, AFTER) or changed
    seen.alone = sweep.asked_alone
    if not changed:
        model, look = explain(model, look, sweep)
    uneven = look.wrong[:NEAR].any()  # what pairs turn by is unsure, then
    for each in plan.findings:
        if each.name != "pair" or not uneven:
            seen.findings.append(each)
    seen.findings += [*model.findings, *changed]
    if look.wrong.any() and not changed:
        seen.findings.append(unexplained(sweep, model, look))
    seen.findings += sweep.findings
    if not any(each.name == "lengths" for each in model.findings):
        seen.length = asked.length
    seen.clockwise = bool(np.sign(model.frequencies).sum() < 0)
    seen.positions = len(look.wrong)
    if not (look.wrong.any() or model.findings or changed):
        seen.error = np.where(np.isfinite(look.error), look.error, 0)


def unexplained(sweep: Sweep, model: Hypothesis, look: Look) -> Finding:
    """Say what is seen at the first position that nothing explains."""
    wrong = np.flatnonzero(look.wrong)
    first = int(wrong[0])
    hands = sweep.hands(wrong[:1])[0]
    due = np.broadcast_to(model.hands(wrong[:1])[0], hands.shape)
    off = np.nan_to_num(np.abs(hands - due), nan=0, posinf=0)
    pair, hand = map(int, np.unravel_index(off.round(6).argmax(), off.shape))
    name, words = "far positions", "is the first that is turned wrongly"
    if off.max() > model.slack:
        words += f", by {plain(off.max(), 2)} in pair {pair}"
        with np.errstate(invalid="ignore"):  # infinity, from the function
            ratio = hands[pair, hand] / due[pair, hand]
        if abs(ratio - abs(ratio)) <= model.slack:
            by = plain(abs(ratio), 5)
            name, words = "lengths", f"changes lengths in pair {pair} by {by}"
    elif np.isfinite(hands).all():
        pair, words = None, "is the first to change columns that do not turn"
    some = f"{len(wrong)} of {len(look.wrong)} positions are wrong"
    words = f"Position {first} {words}; {some}, the last is {wrong[-1]}."
    return Finding(name, words, first, pair)


def look_back(seen: Seen) -> None:
    """Say what shows in the end: short numbers, and what calls change."""
    off = STEP.get(seen.format, 0) / 2
    if off > seen.asked.tolerance and seen.format != "float32":
        words = (
            "Sines and cosines, or the result, are rounded to"
            f" {seen.format}: by up to {plain(off, 2)}."
        )
        seen.findings.append(Finding("precision", words))
    for name in sorted(seen.rotation.changed):
        words = f"{name} is changed in place."
        seen.findings.append(Finding("input", words))
