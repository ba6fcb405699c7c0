"""Review a rotary function: `rotate(x, positions)`, step by step."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from .asking import FIRST, NEAR, NoAnswerError, Rotation, positions_read
from .asking import turned as by_matrices
from .config import read_config
from .explain import Evidence, Look, explain
from .frequencies import STILL, USUAL_BASES, Plan, plan_of, suggestion
from .held import Asked, plans_of
from .hypothesis import Hypothesis, Measured, measure
from .pairs import LAYOUTS, Pairs, hands_of, pairs_of
from .report import Finding, Review, numbered, plain
from .rounding import STEP, format_of
from .settings import (
    check_base,
    check_integer,
    check_tolerance,
    say_if_long,
)
from .sweep import Sweep

WIDTH = 64
WIDEST = 1024  # columns: 1 GB of memory
POSITIONS = 131_072  # how many are looked at, unless told otherwise
FARTHEST = 2**24  # positions: minutes
TOLERANCE = 1e-4


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
    settings, plans = None, ()
    if layers and config is None:
        raise ValueError(f"{layers=}: these are layers of a config; give it")
    if width is not None:
        check_integer("width", width, 2, WIDEST)
    if config is not None:
        settings = read_config(config, layers, width)
        plans = plans_of(settings)
        width = settings.width
        max_len = settings.max_len if max_len is None else max_len
    width = WIDTH if width is None else width
    max_len = POSITIONS if max_len is None else max_len
    check_integer("width", width, 2, WIDEST)
    check_integer("max_len", max_len, NEAR, FARTHEST)
    if layout not in ("", *LAYOUTS):
        raise ValueError(f"{layout=}: give one of {'; '.join(LAYOUTS)}")
    if base is not None:
        check_base(base)
    check_tolerance(tolerance)
    # The matrices of the first positions, with copies; errors of all others.
    say_if_long(max_len, width, memory=600 * width**2 + 20 * max_len)
    asked = Asked(base, layout, settings, plans, max_len, tolerance)
    return Looking(Rotation(rotate, width), asked).review()


class HiddenError(Exception):
    """What was found hides the rest, so that there is no more to look at."""


class Looking:
    """A look at a rotary function, and what has been seen so far."""

    def __init__(self, rotation: Rotation, asked: Asked):
        """Take the function, and what it is held to."""
        self.rotation, self.asked = rotation, asked
        self.findings: list[Finding] = []
        self.pairs: Pairs | None = None
        self.plan = Plan(np.zeros(0))
        self.clockwise = False
        self.length = 1.0  # by which vectors are stretched, as a config asks
        self.positions = 0  # how many were looked at, from 0 on
        self.digits = ""

    def review(self) -> Review:
        """Look, and return what was seen."""
        try:
            self.ask()
            self.look()
        except NoAnswerError as trouble:
            words = f"It answers some calls and fails in others: {trouble}."
            self.findings[:] = [Finding("result", words)]
            self.pairs = None
        except HiddenError:
            pass
        config = self.asked.config
        return Review(
            tuple(self.findings),
            self.convention(),
            self.looked_at(),
            notes=tuple(self.notes()),
            asked=str(config) if config else "",
            fields=self.fields(),
        )

    def stop_if(self, findings: list[Finding]) -> None:
        """Keep findings, and if there are any, look no farther."""
        self.findings += findings
        if findings:
            raise HiddenError

    def ask(self) -> None:
        """Ask in calls of many shapes, and how positions mix the columns."""
        rotation = self.rotation
        try:
            _, self.first = rotation.random(FIRST)
        except NoAnswerError as trouble:
            words = f"Asked for positions 0 to 3, it fails: {trouble}."
            hint = "If it makes a table, leave out --rotary."
            if rotation.width % 2:
                hint = "Columns turn in pairs, and the width is odd."
            self.stop_if([Finding("result", f"{words} {hint}")])
        self.stop_if(rotation.asked_again(self.first, "twice"))
        self.matrices, self.misread = rotation.matrices()
        self.stop_if(rotation.asked_again(self.first, "after all others"))
        self.format = format_of(self.matrices[:4])
        self.precision = max(2e-6, 2 * STEP.get(self.format, 0))
        slack = 2e-4 + 4 * self.precision
        x, made = rotation.random(FIRST)
        if np.any(np.abs(made - by_matrices(x, FIRST, self.matrices)) > slack):
            words = (
                "x is not only turned: random numbers give another result than"
                " their columns one by one."
            )
            self.stop_if([Finding("linear", words)])
        self.findings += rotation.batches()
        self.misread += positions_read(
            rotation, self.matrices, slack, self.asked.max_len
        )
        self.findings += self.misread

    def look(self) -> None:
        """Make out pairs and what they turn by, and look at each position."""
        with suppress(HiddenError):
            self.every_position(self.first_positions())
        if self.format in ("bfloat16", "float16"):
            self.digits = f"Results in {self.format}"
            off = STEP[self.format] / 2
            words = (
                "Sines and cosines, or the result, are rounded to"
                f" {self.format}: by up to {plain(off, 2)}."
            )
            if off > self.asked.tolerance:
                self.findings.append(Finding("precision", words))
        for name in sorted(self.rotation.changed):
            words = f"{name} is changed in place."
            self.findings.append(Finding("input", words))
        if not any(each.name == "state" for each in self.findings):
            again = self.rotation.asked_again(self.first, "after all others")
            self.findings += again

    def first_positions(self) -> Hypothesis:
        """Return where hands should be, by what the first positions show."""
        matrices, asked = self.matrices, self.asked
        self.positions = len(matrices)
        fine = np.isfinite(matrices).all(axis=(1, 2))
        fine &= matrices.any(axis=(1, 2))
        if not fine[0]:  # position 0 is looked at with the others
            matrices = matrices.copy()
            matrices[0] = np.eye(len(matrices[0]))
        count = int(np.append(fine[1:], False).argmin()) + 1
        if count < 3:
            words = f"From position {count} on it gives NaN, infinity or zero."
            if count == len(matrices):
                words = f"Only {count} positions can be asked for."
            self.stop_if([Finding("far positions", words, count)])
        self.pairs, wrong = pairs_of(matrices[:count])
        self.findings += wrong
        if self.pairs is None:
            raise HiddenError
        hands = hands_of(matrices[:count], self.pairs)
        was = measure(hands)
        uneven = np.flatnonzero(~was.even.any(axis=1))
        if len(uneven):
            pair = int(uneven[0])
            angles = np.unwrap(np.angle(hands[:4, pair, 0]))
            steps = ", ".join(plain(step, 3) for step in np.diff(angles))
            words = (
                "Scores do not depend on the offset alone: from position 0 to"
                f" 3, pair {pair} turns by {steps}."
            )
            self.stop_if([Finding("offsets", words, 0, pair)])
        signed, layout = frequencies_seen(self.pairs, was, self.precision)
        self.plan = plan = self.plan_for(np.abs(signed))
        if self.pairs.still[-1] and not self.is_usual:  # the end of a part
            self.pairs = self.pairs.but_last()
            was, signed = measure(hands[:, :-1]), signed[:-1]
            self.plan = plan = self.plan_for(np.abs(signed))
        seen = plan.frequencies < np.pi  # else signs are not: half a turn
        signs = np.sign(signed) * seen
        usual = np.sign(signs.sum()) or next(iter(signs[signs != 0]), 1.0)
        self.findings += odd_ones(self.pairs, plan, signs == -usual)
        self.findings += layout
        self.findings += asked.findings(self.pairs, plan, usual < 0)
        self.length = asked.length
        turns = plan.frequencies * np.where(signs == -usual, -usual, usual)
        turns = np.where(self.pairs.still & seen, 0, turns)[:, None]
        loose = self.precision > 1e-4 and not self.is_usual
        return Hypothesis(
            was.frequencies if layout else turns,
            asked.tolerance + self.precision,
            length=asked.length,
            doubt=self.precision if loose else 0.0,
        )

    def plan_for(self, measured: np.ndarray) -> Plan:
        """Return what the frequencies of pairs follow."""
        steps, asked = [float(len(measured))], self.asked
        if 2 * len(measured) < self.pairs.width:  # a part: its exponents may
            steps.append(self.pairs.width / 2)  # count the whole head
        likely, bases = asked.plans, USUAL_BASES
        if likely and len(likely[0].frequencies) != len(measured):
            likely = ()
        if asked.base is not None and asked.base not in bases:
            bases = (float(asked.base), *bases)
        return plan_of(measured, tuple(steps), self.precision, likely, bases)

    @property
    def is_usual(self) -> bool:
        """Tell whether frequencies are known exactly, by a usual base."""
        return self.plan.base in USUAL_BASES and not self.plan.parts

    def every_position(self, model: Hypothesis) -> None:
        """Look at every position, and explain those that are wrong.

        Where positions are misread, only the first can be looked at.
        """
        hands = hands_of(self.matrices, self.pairs)
        evidence = Evidence(hands)
        if not self.misread:
            kept = np.diagonal(self.matrices[1][np.argsort(self.pairs.order)])
            end = self.asked.max_len
            evidence = Sweep(self.rotation, self.pairs, hands, kept, end)
        look = evidence.look(model)
        if look.wrong.any() and not self.misread:
            again = self.rotation.asked_again(self.first, "after all others")
            changed = again or evidence.by_the_call(model, look)
            if changed:
                self.positions = len(look.wrong)
                self.findings += [*self.plan.findings, *changed]
                self.findings += evidence.findings
                return
        model, look = explain(model, look, evidence)
        uneven = look.wrong[:NEAR].any()  # pairs have no frequencies, then
        for each in self.plan.findings:
            if each.name != "pair" or not uneven:
                self.findings.append(each)
        self.findings += model.findings
        if look.wrong.any():
            self.findings.append(unexplained(evidence, model, look))
        if any(each.name == "lengths" for each in model.findings):
            self.length = 1.0
        self.clockwise = bool(np.sign(model.frequencies).sum() < 0)
        self.positions = len(look.wrong)
        self.digits = digits(model, look)
        self.findings += evidence.findings

    def convention(self) -> str:
        """Name the convention."""
        pairs, plan = self.pairs, self.plan
        if pairs is None or not len(plan.frequencies):
            return "unknown"
        part = 0 < pairs.turning < pairs.width
        start = part and pairs.columns.min()
        said = [
            (True, pairs.name),
            (part, f"{pairs.turning} of {pairs.width} columns"),
            (start, f"from column {start}"),
            (plan.exponents, "exponents of the head"),
            (self.clockwise, "clockwise"),
            (np.isfinite(plan.base), f"base {plain(plan.base, 5)}"),
            (plan.divided_by != 1, f"linear by {plain(plan.divided_by)}"),
            (plan.parts, f"by parts ({plan.parts})"),
            (plan.scaling, plan.scaling),
            (self.length != 1, f"lengths by {plain(self.length, 5)}"),
        ]
        return ", ".join(words for is_so, words in said if is_so)

    def looked_at(self) -> str:
        """Say what was looked at, and nothing more."""
        calls, rows = self.rotation.most_tokens, self.rotation.most_rows
        to = f"positions 0 to {self.positions - 1}, " if self.positions else ""
        digits = f" {self.digits}." if self.digits else ""
        words = f"calls of up to {calls} tokens, batches of up to {rows} rows."
        return f"Looked at: {to}{words}{digits}" if rows else ""

    def notes(self) -> Iterator[str]:
        """Say what is worth knowing, and is no finding."""
        asked, base = self.asked, self.plan.base
        if self.pairs is not None:
            whole = self.plan.exponents  # of the head count
            columns = self.pairs.width if whole else self.pairs.columns.size
            cause = suggestion(base, columns)
            if cause:
                yield f"base {plain(base)} suggests {cause}."
            if asked.base is not None and np.isnan(base):
                yield "the base could not be seen, and is held to nothing."
        if asked.config is not None:
            yield from asked.config.notes
        if asked.config is not None and not asked.layout:
            yield (
                "whether pairs are interleaved or half is held to nothing,"
                " since configs do not say it; --layout does."
            )

    def fields(self) -> dict:
        """Return what was seen, for programs."""
        pairs, base = self.pairs, self.plan.base
        config = self.asked.config
        return {
            "layout": pairs.name if pairs else "unknown",
            "partners": pairs.columns[~pairs.still].tolist() if pairs else [],
            "columns": pairs.turning if pairs else 0,
            "width": self.rotation.width,
            "base": base if np.isfinite(base) else None,
            "divided_by": self.plan.divided_by,
            "clockwise": self.clockwise,
            "length": self.length,
            "positions": self.positions,
            "longest_call": self.rotation.most_tokens,
            "largest_batch": self.rotation.most_rows,
            "digits": self.digits,
            "asked": str(config) if config else "",
        }


def frequencies_seen(
    pairs: Pairs, was: Measured, precision: float
) -> tuple[np.ndarray, list[Finding]]:
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
    apart = np.ptp(sizes, axis=1)
    alike = np.all(apart <= precision * sizes.max(axis=1) + 1e-9)
    if alike or not was.even.all():
        return signed, []
    by_column = turns.ravel()[np.argsort(pairs.columns.ravel())]
    layouts = {
        "half": by_column.reshape(2, -1).T,
        "interleaved": by_column.reshape(-1, 2),
    }
    for name, angles in layouts.items():
        slack = precision * np.abs(angles[:, 0]) + 1e-9
        if np.all(np.ptp(angles, axis=1) <= slack):
            place = int(apart.argmax())
            one, other = pairs.columns[place].tolist()
            words = (
                f"The pairs are {pairs.layout}, the angles are laid out"
                f" {name}: columns {one} and {other}, which are a pair, turn"
                f" by {plain(sizes[place, 0], 4)} and"
                f" {plain(sizes[place, 1], 4)}."
            )
            return angles[:, 0], [Finding("layout", words, column=one)]
    return signed, []


def odd_ones(
    pairs: Pairs, plan: Plan, against: np.ndarray
) -> Iterator[Finding]:
    """Find pairs that stand still, or turn against the others."""
    unsure = np.isnan(plan.base) and plan.findings  # of frequencies, so signs
    some = np.flatnonzero(against)
    if len(some) and not unsure:
        words = f"Against the others turn: {numbered('pair', some)}."
        yield Finding("pair", words, pair=int(some[0]))
    if len(pairs.columns) == 1 and pairs.width >= 8:
        words = "Only one pair turns: have frequencies become whole numbers?"
        yield Finding("pair", words)
    for pair in np.flatnonzero(pairs.still & (plan.frequencies < np.pi)):
        one, other = pairs.columns[pair].tolist()
        words = f"Pair {pair} (columns {one}, {other}) stands still."
        yield Finding("pair", words, pair=int(pair))


def unexplained(evidence: Evidence, model: Hypothesis, look: Look) -> Finding:
    """Say what is seen at the first position that nothing explains."""
    wrong = np.flatnonzero(look.wrong)
    first = int(wrong[0])
    seen, due = evidence.hands(wrong[:1])[0], model.hands(wrong[:1])[0]
    off = np.nan_to_num(np.abs(seen - due), nan=0).max(axis=1)
    pair = int(off.argmax())
    name, words = "far positions", "is the first that is turned wrongly"
    if off[pair] > 0:
        words += f", by {plain(off[pair], 2)} in pair {pair}"
        hand = int(np.abs(seen[pair] - due[pair]).argmax())
        ratio = seen[pair, hand] / due[pair, hand % due.shape[1]]
        if abs(ratio - abs(ratio)) <= model.slack:
            by = plain(abs(ratio), 5)
            name, words = "lengths", f"changes lengths in pair {pair} by {by}"
    some = f"{len(wrong)} of {len(look.wrong)} positions are wrong"
    words = f"Position {first} {words}; {some}, the last is {wrong[-1]}."
    return Finding(name, words, first, pair)


def digits(model: Hypothesis, look: Look) -> str:
    """Say how exact the angles are, of those that are right."""
    if model.stages:
        return f"Angles in {model.format}"
    if look.wrong.all():
        return ""
    error = np.where(look.wrong | ~np.isfinite(look.error), 0, look.error)
    position = int(error.argmax())
    if error[position] < 1e-8:
        return "Angles in float64"
    # Angles lose more digits the farther out; results, once and everywhere.
    what = "Results" if error[position] <= 2 * STEP["float32"] else "Angles"
    return (
        f"{what} in float32, off by {plain(error[position], 2)} at most"
        f" (position {position})"
    )
