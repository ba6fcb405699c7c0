"""Review a rotary function: `rotate(x, positions)`."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .calls import (
    FIRST,
    NEAR,
    NoAnswerError,
    Rotation,
    asked_again,
    batches,
    columns_alone,
    first_matrices,
    positions_read,
)
from .config import RotarySettings, read_config
from .frequencies import STILL, USUAL_BASES, Plan, plan_of, suggestion
from .held import held_to_base, held_to_config, plans_of
from .hypothesis import (
    Evidence,
    Hypothesis,
    Look,
    Measured,
    explain,
    measure,
)
from .pairs import LAYOUTS, Pairs, hands_of, held_to_layout, pairs_of
from .report import Finding, Review, choices, numbered, plain
from .rounding import STEP, format_of
from .settings import check_base, check_integer, check_tolerance
from .sweep import Sweep

WIDTH = 64
WIDEST = 1024  # columns: 2 GB of memory
POSITIONS = 131_072  # how many are looked at, unless told otherwise
FARTHEST = 2**24  # positions: minutes
TOLERANCE = 1e-4


class Asked(NamedTuple):
    """What a rotary function is held to, and how far to look."""

    base: float | None
    layout: str
    config: RotarySettings | None
    max_len: int
    tolerance: float

    @property
    def length(self) -> float:
        """Return the factor by which vectors are to be stretched."""
        return self.config.length if self.config else 1.0


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
    settings, asked_words = None, ""
    if layers and config is None:
        raise ValueError(f"{layers=}: these are layers of a config; give it")
    if width is not None:
        check_integer("width", width, 2, WIDEST)
    if config is not None:
        settings = read_config(config, layers, width)
        width, asked_words = settings.width, str(settings)
        max_len = settings.max_len if max_len is None else max_len
    width = WIDTH if width is None else width
    max_len = POSITIONS if max_len is None else max_len
    check_integer("width", width, 2, WIDEST)
    check_integer("max_len", max_len, NEAR, FARTHEST)
    if layout not in ("", *LAYOUTS):
        raise ValueError(f"{layout=}: give one of {choices(LAYOUTS)}")
    if base is not None:
        check_base(base)
    check_tolerance(tolerance)

    asked = Asked(base, layout, settings, max_len, tolerance)
    rotation = Rotation(rotate, width)
    findings: list[Finding] = []
    seen = Seen()
    try:
        seen = look(rotation, asked, findings)
    except NoAnswerError as trouble:
        words = f"It answers some calls and fails in others: {trouble}."
        findings[:] = [Finding("result", words)]
    return Review(
        tuple(findings),
        str(seen),
        looked_at(rotation, seen),
        notes=notes_on(seen, asked),
        asked=asked_words,
        fields=fields_of(rotation, seen, asked_words),
    )


class Seen(NamedTuple):
    """What a rotary function follows, right or wrong."""

    pairs: Pairs | None = None
    plan: Plan | None = None
    clockwise: bool = False
    length: float = 1.0  # by which vectors are stretched, as a config asks
    positions: int = 0  # how many were looked at, from 0 on
    digits: str = ""

    def __str__(self) -> str:
        """Name the convention."""
        if self.pairs is None or self.plan is None:
            return "unknown"
        pairs, plan = self.pairs, self.plan
        said = [pairs.name]
        if 0 < pairs.turning < pairs.width:
            said.append(f"{pairs.turning} of {pairs.width} columns")
            if pairs.columns.min():
                said.append(f"from column {pairs.columns.min()}")
        if plan.exponents:
            said.append("exponents of the head")
        if self.clockwise:
            said.append("clockwise")
        if np.isfinite(plan.base):
            said.append(f"base {plain(plan.base, 5)}")
        if plan.divided_by != 1:
            said.append(f"linear by {plain(plan.divided_by)}")
        if plan.parts:
            said.append(f"by parts ({plan.parts})")
        if plan.scaling:
            said.append(plan.scaling)
        if self.length != 1:
            said.append(f"lengths by {plain(self.length, 5)}")
        return ", ".join(said)


def looked_at(rotation: Rotation, seen: Seen) -> str:
    """Say what was looked at, and nothing more."""
    if not rotation.most_rows:
        return ""
    said = []
    if seen.positions:
        said.append(f"positions 0 to {seen.positions - 1}")
    said.append(f"calls of up to {rotation.most_tokens} tokens")
    said.append(f"batches of up to {rotation.most_rows} rows")
    digits = f" {seen.digits}." if seen.digits else ""
    return f"Looked at: {', '.join(said)}.{digits}"


def notes_on(seen: Seen, asked: Asked) -> tuple[str, ...]:
    """Say what is worth to know, and is no finding."""
    notes = []
    if seen.plan is not None and seen.pairs is not None:
        columns = seen.pairs.columns.size
        if seen.plan.exponents:
            columns = seen.pairs.width
        cause = suggestion(seen.plan.base, columns)
        if cause:
            notes.append(f"base {plain(seen.plan.base)} suggests {cause}.")
        if asked.base is not None and np.isnan(seen.plan.base):
            notes.append("the base could not be seen, and is held to nothing.")
    if asked.config is not None:
        notes += asked.config.notes
        if not asked.layout:
            notes.append(
                "whether pairs are interleaved or half is held to nothing,"
                " since configs do not say it; --layout does."
            )
    return tuple(notes)


def fields_of(rotation: Rotation, seen: Seen, asked_words: str) -> dict:
    """Return what was seen, for programs."""
    fields = {
        "layout": "unknown",
        "partners": [],
        "columns": 0,
        "width": rotation.width,
        "base": None,
        "divided_by": 1.0,
        "clockwise": seen.clockwise,
        "length": seen.length,
        "positions": seen.positions,
        "longest_call": rotation.most_tokens,
        "largest_batch": rotation.most_rows,
        "digits": seen.digits,
        "asked": asked_words,
    }
    if seen.pairs is not None:
        turning = seen.pairs.columns[~seen.pairs.still]
        fields["layout"] = seen.pairs.name
        fields["partners"] = turning.tolist()
        fields["columns"] = seen.pairs.turning
    if seen.plan is not None:
        fields["divided_by"] = seen.plan.divided_by
        if np.isfinite(seen.plan.base):
            fields["base"] = seen.plan.base
    return fields


def look(rotation: Rotation, asked: Asked, findings: list[Finding]) -> Seen:
    """Look at how it answers, how pairs turn, and at every position.

    Args:
        rotation: The function.
        asked: What it is held to.
        findings: To which is added what is found.
    """
    try:
        _, first = rotation.random(FIRST)
    except NoAnswerError as trouble:
        words = f"Asked for positions 0 to 3, it fails: {trouble}."
        if rotation.width % 2:
            words += " Columns turn in pairs, and the width is odd."
        else:
            words += " If it makes a table, leave out --rotary."
        findings.append(Finding("result", words))
        return Seen()
    findings += asked_again(rotation, first, "twice")
    if findings:
        return Seen()
    matrices, failed = first_matrices(rotation)
    findings += asked_again(rotation, first, "after all others")
    if findings:
        return Seen()
    values = format_of(matrices[:4])
    precision = max(2e-6, 2 * STEP.get(values, 0))
    slack = 2e-4 + 4 * precision
    findings += columns_alone(rotation, matrices, slack)
    if findings:
        return Seen()
    findings += batches(rotation)
    misread = positions_read(rotation, matrices, slack, asked.max_len)
    findings += [*failed, *misread]

    seen, model = look_near(matrices, asked, precision, findings)
    if model is not None and seen.pairs is not None:
        hands = hands_of(matrices, seen.pairs)
        if misread or failed:
            evidence = Evidence(hands)
            model, look = explain(model, evidence.look(model), evidence)
            seen = concluded(seen, model, look, evidence, findings)
        else:
            kept = np.diagonal(matrices[1][np.argsort(seen.pairs.order)])
            sweep = Sweep(rotation, seen.pairs, hands, kept, asked.max_len)
            seen = look_far(sweep, model, seen, first, findings)
    if values in ("bfloat16", "float16"):
        seen = seen._replace(digits=f"Results in {values}")
        findings += few_digits(values, asked.tolerance)
    for name in sorted(rotation.changed):
        findings.append(Finding("input", f"{name} is changed in place."))
    if not any(each.name == "state" for each in findings):
        findings += asked_again(rotation, first, "after all others")
    return seen


def look_near(
    matrices: np.ndarray,
    asked: Asked,
    precision: float,
    findings: list[Finding],
) -> tuple[Seen, Hypothesis | None]:
    """Make out pairs and their frequencies at the first positions.

    Args:
        matrices: How the first positions mix columns.
        asked: What the function is held to.
        precision: By how much, relatively, results may be off.
        findings: To which is added what is found.

    Returns:
        What was seen; and where hands should be, None if that is not known.
    """
    fine = np.isfinite(matrices).all(axis=(1, 2))
    fine &= matrices.any(axis=(1, 2))
    fine[0] = True
    count = int(np.append(fine, False).argmin())
    if count < 3:
        words = f"From position {count} on it gives NaN, infinity or zero."
        if count == len(matrices):
            words = f"Only {count} positions can be asked for."
        findings.append(Finding("far positions", words, count))
        return Seen(positions=len(matrices)), None
    usable = matrices[:count]
    if not np.isfinite(usable[0]).all() or not usable[0].any():
        usable = np.concatenate([np.eye(len(usable[0]))[None], usable[1:]])
    step = repeats(usable)
    usable = usable[::step]
    pairs, wrong = pairs_of(usable)
    findings += wrong
    if pairs is None or len(usable) < 3:
        return Seen(positions=len(matrices)), None
    hands = hands_of(usable, pairs)
    was = measure(hands)
    wrong = not_even(hands, was)
    if wrong:
        findings += wrong
        return Seen(pairs, positions=len(matrices)), None
    signed, laid_out = frequencies_seen(pairs, was, precision)
    plan = plan_seen(pairs, np.abs(signed), asked, precision)
    if pairs.still[-1] and not is_usual(plan):  # the end of a part, it seems
        pairs = pairs._replace(
            columns=pairs.columns[:-1], still=pairs.still[:-1]
        )
        if pairs.layout == "half":
            pairs = pairs._replace(layout="half of the head")
        signed, was = signed[:-1], measure(hands[:, :-1])
        plan = plan_seen(pairs, np.abs(signed), asked, precision)
    model = Hypothesis(
        directed(pairs, plan, signed, findings),
        asked.tolerance + precision,
        length=asked.length,
        doubt=precision if precision > 1e-4 and not is_usual(plan) else 0.0,
    )
    if laid_out is not None:
        findings.append(laid_out)
        model = model._replace(frequencies=was.frequencies)
    if step > 1:
        words = (
            f"Positions are cut to whole numbers of {step}, as a whole-number"
            f" division by {step} does: 0 to {step - 1} are turned alike."
        )
        finding = Finding("positions", words)
        model = model.but(finding, read=lambda p: p // step)
    findings += held_to_layout(pairs, asked.layout)
    if asked.base is not None:
        findings += held_to_base(plan, asked.base, pairs.columns.size)
    if asked.config is not None:
        findings += held_to_config(pairs, plan, asked.config)
    return Seen(pairs, plan, length=asked.length), model


def is_usual(plan: Plan) -> bool:
    """Tell whether a plan is known exactly, by a usual base."""
    return plan.base in USUAL_BASES and not plan.parts


def repeats(matrices: np.ndarray) -> int:
    """Return how many positions in a row are turned alike, over and over."""
    change = np.abs(np.diff(matrices, axis=0)).max(axis=(1, 2)) > 1e-6
    step = int(np.argmax(change)) + 1
    every = np.arange(1, len(matrices)) % step == 0
    return step if np.array_equal(change, every) else 1


def not_even(hands: np.ndarray, was: Measured) -> list[Finding]:
    """Find pairs that turn by another angle from place to place."""
    uneven = np.flatnonzero(~was.even.any(axis=1))
    if len(uneven):
        pair = int(uneven[0])
        angles = np.unwrap(np.angle(hands[:4, pair, 0]))
        steps = ", ".join(plain(step, 3) for step in np.diff(angles))
        words = (
            "Scores do not depend on the offset alone: from position 0 to 3,"
            f" pair {pair} turns by {steps}."
        )
        return [Finding("offsets", words, 0, pair)]
    late = np.abs(was.frequencies).max(axis=1) < STILL
    moved = np.abs(hands - hands[1]).max(axis=2) > 1e-6
    late = np.flatnonzero(late & moved[1:].any(axis=0))
    if not len(late):
        return []
    begin = int(np.argmax(moved[1:, late[0]])) + 1
    words = (
        f"{numbered('pair', late).capitalize()} stand still up to position"
        f" {begin - 1} and turn at {begin}: are positions read on two axes,"
        f" such as p // {begin} and p % {begin}?"
    )
    return [Finding("offsets", words, begin, int(late[0]))]


def frequencies_seen(
    pairs: Pairs, was: Measured, precision: float
) -> tuple[np.ndarray, Finding | None]:
    """Return the frequency of each pair, negative if clockwise.

    Of two hands it is that of the one that turns more evenly; of two that
    turn alike, the first, unless it stands still.

    Returns:
        And a finding, if angles are laid out otherwise than pairs.
    """
    turns = np.where(was.even, was.frequencies, 0)
    first, second = turns.T
    first_off, second_off = was.off.T
    better = (first_off > precision / 10) & (second_off < first_off / 4)
    signed = np.where(better | (np.abs(first) < STILL), second, first)
    sizes = np.abs(turns)
    slack = precision * sizes.max(axis=1) + 1e-9
    if not was.even.all() or np.all(np.ptp(sizes, axis=1) <= slack):
        return signed, None
    by_column = turns.ravel()[np.argsort(pairs.columns.ravel())]
    layouts = {
        "half": by_column.reshape(2, -1).T,
        "interleaved": by_column.reshape(-1, 2),
    }
    for name, angles in layouts.items():
        slack = precision * np.abs(angles[:, 0]) + 1e-9
        if np.all(np.abs(np.ptp(angles, axis=1)) <= slack):
            place = int(np.ptp(sizes, axis=1).argmax())
            one, other = pairs.columns[place].tolist()
            words = (
                f"The pairs are {pairs.layout}, the angles are laid out"
                f" {name}: columns {one} and {other}, which are a pair, turn"
                f" by {plain(sizes[place, 0], 4)} and"
                f" {plain(sizes[place, 1], 4)}."
            )
            return angles[:, 0], Finding("layout", words, column=one)
    return signed, None


def plan_seen(
    pairs: Pairs, measured: np.ndarray, asked: Asked, precision: float
) -> Plan:
    """Say what the frequencies of pairs follow."""
    steps = [float(len(pairs.columns))]
    if pairs.columns.size < pairs.width:  # a part: its exponents may count
        steps.append(pairs.width / 2)  # the whole head
    likely = []
    config = asked.config
    if config is not None and len(config.frequencies) == len(measured):
        likely = plans_of(config)
    bases = USUAL_BASES
    if asked.base is not None and asked.base not in bases:
        bases = (float(asked.base), *bases)
    return plan_of(measured, tuple(steps), precision, tuple(likely), bases)


def directed(
    pairs: Pairs, plan: Plan, signed: np.ndarray, findings: list[Finding]
) -> np.ndarray:
    """Return exact frequencies with their directions, `[pairs, 1]`.

    Args:
        pairs: That turn.
        plan: What their frequencies follow.
        signed: The frequencies that were measured.
        findings: To which pairs are added that stand still, or turn against
            the others.
    """
    seen = plan.frequencies < np.pi  # of half a turn or more, no sign is seen
    signs = np.sign(signed) * seen
    usual = np.sign(signs.sum()) or next(iter(signs[signs != 0]), 1)
    against = np.flatnonzero(signs == -usual)
    if np.isnan(plan.base) and plan.findings:
        against = against[:0]  # of unknown frequencies, no sign is sure
    still = np.flatnonzero(pairs.still & seen)
    if len(against):
        words = f"Against the others turn: {numbered('pair', against)}."
        findings.append(Finding("pair", words, pair=int(against[0])))
    if len(pairs.columns) == 1 and pairs.width >= 8:
        words = "Only one pair turns: have frequencies become whole numbers?"
        findings.append(Finding("pair", words))
    for pair in still.tolist():
        one, other = pairs.columns[pair].tolist()
        words = f"Pair {pair} (columns {one}, {other}) stands still."
        findings.append(Finding("pair", words, pair=pair))
    frequencies = plan.frequencies * np.where(signs == -usual, -usual, usual)
    frequencies[still] = 0
    return frequencies[:, None]


def look_far(
    sweep: Sweep,
    model: Hypothesis,
    seen: Seen,
    first: np.ndarray,
    findings: list[Finding],
) -> Seen:
    """Look at every position, and explain those that are wrong.

    Args:
        sweep: Asks for them.
        model: Where hands should be.
        seen: What is known so far.
        first: How the first call was answered.
        findings: To which is added what is found.
    """
    look = sweep.look(model, to_first=True)
    if look.wrong.any():
        changed = asked_again(sweep.rotation, first, "after all others")
        changed = changed or sweep.by_the_call(model, look)
        if changed:
            findings += [*seen.plan.findings, *changed, *sweep.findings]
            return seen._replace(positions=len(look.wrong))
        right = model
        model, look = explain(right, look, sweep)
        if look.wrong.any() and len(look.wrong) <= sweep.end:
            model, look = explain(right, sweep.look(right), sweep)
    seen = concluded(seen, model, look, sweep, findings)
    findings += sweep.findings
    return seen


def concluded(
    seen: Seen,
    model: Hypothesis,
    look: Look,
    evidence: Evidence,
    findings: list[Finding],
) -> Seen:
    """Add what is wrong to the findings, and return what is seen in the end.

    Args:
        seen: What was known before.
        model: The simplest hypothesis.
        look: What it makes of all positions.
        evidence: Where to look at hands.
        findings: To which is added what is found.
    """
    uneven = look.wrong[:NEAR].any()  # pairs have no frequencies, then
    for each in seen.plan.findings:
        if each.name != "pair" or not uneven:
            findings.append(each)
    findings += model.findings
    if look.wrong.any():
        findings.append(unexplained(evidence, model, look))
    other_length = any(each.name == "lengths" for each in findings)
    return seen._replace(
        clockwise=bool(np.sign(model.frequencies).sum() < 0),
        length=1.0 if other_length else seen.length,
        positions=len(look.wrong),
        digits=digits(model, look),
    )


def unexplained(evidence: Evidence, model: Hypothesis, look: Look) -> Finding:
    """Say what is seen at the first position that nothing explains."""
    wrong = np.flatnonzero(look.wrong)
    first = int(wrong[0])
    seen, due = evidence.hands(wrong[:1])[0], model.hands(wrong[:1])[0]
    off = np.nan_to_num(np.abs(seen - due), nan=0).max(axis=1)
    pair = int(off.argmax())
    name = "far positions"
    words = f"Position {first} is the first that is turned wrongly"
    if off[pair] > 0:
        words += f", by {plain(off[pair], 2)} in pair {pair}"
        hand = int(np.abs(seen[pair] - due[pair]).argmax())
        one, right = seen[pair, hand], due[pair, hand % due.shape[1]]
        ratio = one / right
        if abs(ratio - abs(ratio)) <= model.slack:
            name = "lengths"
            words = (
                f"Lengths change with the position: in pair {pair} by"
                f" {plain(abs(ratio), 5)} at position {first}"
            )
    words += f"; {len(wrong)} of {len(look.wrong)} positions are wrong"
    words += f", the last is {wrong[-1]}." if len(wrong) > 1 else "."
    return Finding(name, words, first, pair)


def digits(model: Hypothesis, look: Look) -> str:
    """Say how exact the angles are, of those that are right."""
    if model.stages:
        return f"Angles in {model.format}"
    error = np.where(look.wrong, 0, look.error)
    error[~np.isfinite(error)] = 0
    position = int(error.argmax())
    if look.wrong.all():
        return ""
    if error[position] < 1e-8:
        return "Angles in float64"
    # Angles lose more digits the farther out; results, once and everywhere.
    what = "Results" if error[position] <= 2 * STEP["float32"] else "Angles"
    return (
        f"{what} in float32, off by {plain(error[position], 2)} at most"
        f" (position {position})"
    )


def few_digits(values: str, tolerance: float) -> list[Finding]:
    """Say that results, or sines and cosines, are rounded to 16 bits."""
    if STEP[values] / 2 <= tolerance:
        return []
    words = (
        f"Sines and cosines, or the result, are rounded to {values}: by up to"
        f" {plain(STEP[values] / 2, 2)}."
    )
    return [Finding("precision", words)]
