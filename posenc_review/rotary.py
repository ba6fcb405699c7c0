"""Review a rotary function: `rotate(x, positions)`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .asked import (
    Asked,
    held_to_base,
    held_to_config,
    held_to_layout,
    plan_of,
    unlike,
)
from .calls import (
    batches,
    call_again,
    first_call,
    not_linear,
    positions_kept,
    positions_read,
)
from .config import read_config
from .far import look_far
from .probing import (
    MOVED,
    NEAR,
    Hands,
    Layout,
    NoAnswerError,
    Probe,
    Rotation,
    Shuffle,
    blocks_of,
    hands_of,
    layout_of,
    near_matrices,
    partners,
    read_hands,
    undo_shuffle,
)
from .report import Finding, by_name, first_where, plain
from .rounding import STEP, format_of
from .turning import (
    Turning,
    directions,
    left_alone,
    lengths,
    no_pairs,
    still_pairs,
    turning_of,
)
from .waves import Schedule, describe, suggestion

WIDTH = 64
POSITIONS = 131_072  # how many are looked at, unless told otherwise
TOLERANCE = 1e-4
LAYOUTS = (
    "interleaved",
    "half",
    "interleaved, written as half",
    "half, written as interleaved",
)


class RotaryConvention(NamedTuple):
    """What a rotary function follows, right or wrong."""

    layout: str = "unknown"
    columns: int = 0  # how many of them turn
    width: int = 0
    first_column: int = 0  # of those that turn
    base: float = np.nan
    proportional: bool = False  # exponents count the whole width
    clockwise: bool = False
    divided_by: float = 1.0  # positions, by linear scaling
    parts: str = ""  # pairs that follow the base, and those that do not
    scaling: str = ""  # its name, if a config asks for it and it is right
    length: float = 1.0  # by which vectors are stretched

    def __str__(self) -> str:
        """Say it in a few words."""
        said = [self.layout]
        if 0 < self.columns < self.width:
            said.append(f"partial, {self.columns} of {self.width} columns")
            if self.first_column:
                said.append(f"from column {self.first_column}")
        if self.proportional:
            said.append("proportional")
        if self.clockwise:
            said.append("clockwise")
        if np.isfinite(self.base):
            said.append(f"base {plain(self.base, 5)}")
        if self.divided_by != 1:
            said.append(f"linear, by {plain(self.divided_by)}")
        if self.parts:
            name = self.scaling or "by parts"
            said.append(f"{name} ({self.parts})")
        if self.length != 1:
            said.append(f"lengths by {plain(self.length, 5)}")
        return ", ".join(said)

    def __format__(self, how: str) -> str:
        """Pad it like text."""
        return format(str(self), how)


UNKNOWN = RotaryConvention()


@dataclass(frozen=True)
class RotaryReview:
    """What a review found, and which convention it saw. Print it to read."""

    details: tuple[Finding, ...]
    convention: RotaryConvention = UNKNOWN
    positions: int = 0  # how many were looked at, from 0 on
    digits: str = ""
    notes: tuple[str, ...] = ()
    asked: str = ""  # by a config

    @property
    def findings(self) -> dict[str, str]:
        """What is wrong, by name."""
        return by_name(self.details)

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"The config asks for {self.asked}."] if self.asked else []
        lines += [f"- {name}: {said}" for name, said in self.findings.items()]
        count = f"Findings: {len(self.findings)}."
        lines.append(f"{count} Convention: {self.convention}.")
        if self.positions:
            digits = f" {self.digits}." if self.digits else ""
            lines.append(f"Positions: 0 to {self.positions - 1}.{digits}")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)

    def as_dict(self) -> dict:
        """Return what JSON can hold."""
        seen = self.convention._asdict()
        seen["base"] = seen["base"] if np.isfinite(seen["base"]) else None
        return {
            "findings": [each.as_dict() for each in self.details],
            "convention": str(self.convention),
            **seen,
            "positions": self.positions,
            "notes": list(self.notes),
            "exit_code": int(bool(self.details)),
        }


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
) -> RotaryReview:
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

    Raises:
        TypeError, ValueError: If a setting makes no sense, by its name.
    """
    settings = None
    if config is not None:
        settings = read_config(config, layers, width)
        width = settings.width
        max_len = settings.max_len if max_len is None else max_len
    width = WIDTH if width is None else width
    max_len = POSITIONS if max_len is None else max_len
    asked = Asked(base, layout, settings)
    check_settings(width, asked, max_len, tolerance)

    try:
        found = look(Rotation(rotate, width), asked, max_len, tolerance)
    except NoAnswerError as trouble:
        words = f"Asked for a few positions from 0 on, it fails: {trouble}."
        found = RotaryReview((Finding("result", words, 0),))
    return replace(found, asked=str(settings) if settings else "")


def check_settings(
    width: int, asked: Asked, max_len: int, tolerance: float
) -> None:
    """Raise an error that names the first setting that makes no sense."""
    for name, size in (("width", width), ("max_len", max_len)):
        if not isinstance(size, int | np.integer):
            raise TypeError(f"{name}={size!r}: give an integer")
    if not 2 <= width <= 4096:
        raise ValueError(f"{width=}: give 2 to 4096")
    if max_len < NEAR:
        raise ValueError(f"{max_len=}: give {NEAR} or more")
    if asked.layout not in ("", *LAYOUTS):
        raise ValueError(f"layout={asked.layout!r}: give one of {LAYOUTS}")
    if asked.base is not None and not 1 < asked.base < np.inf:
        raise ValueError(f"base={asked.base!r}: give a number above 1")
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"{tolerance=}: give 0 or more")


def look(
    rotation: Rotation, asked: Asked, max_len: int, tolerance: float
) -> RotaryReview:
    """Look at how it answers, how pairs turn, and how they do far out."""
    first = first_call(rotation)
    findings = call_again(rotation, first, "twice")
    findings = findings or not_linear(rotation)
    if findings:
        return RotaryReview(tuple(findings))
    findings += batches(rotation)
    matrices, cut = all_near(rotation)
    findings += cut
    values = format_of(matrices)
    near = max(2e-6, 2 * STEP.get(values, 0))
    misread = positions_kept(rotation, matrices, near)
    misread += positions_read(rotation, matrices, near)
    nothing_turns = np.ptp(matrices, axis=0).max() < near
    if any(each.position is None or nothing_turns for each in misread):
        matrices = near_matrices(rotation, NEAR, one_by_one=True)
        misread = positions_read(rotation, matrices, near) or misread
        values = format_of(matrices)
    findings += misread

    near_look = look_near(matrices, asked, near)
    findings += near_look.findings
    if near_look.hands is None:
        return RotaryReview(tuple(findings))
    probe = None
    if not misread and not cut and len(near_look.hands.seen) == NEAR:
        probe = Probe(rotation, near_look.layout, near_look.shuffle)
    digits, positions = "", NEAR
    if near_look.even:
        far = look_far(
            probe, near_look.hands, near_look.plan, max_len, near, tolerance
        )
        findings += far.findings
        digits, positions = far.digits, far.last + 1
    if values in ("bfloat16", "float16"):
        digits = f"Results in {values}"
    findings += few_digits(values, tolerance)
    findings += input_changed(rotation)
    findings += call_again(rotation, first, "after all others")
    return RotaryReview(
        tuple(findings),
        near_look.convention,
        positions,
        digits,
        near_look.notes,
    )


def all_near(rotation: Rotation) -> tuple[np.ndarray, list[Finding]]:
    """Ask for the first positions, or for as many as it answers."""
    try:
        return near_matrices(rotation, NEAR), []
    except NoAnswerError as error:
        trouble = str(error)

    def fails(count: int) -> bool:
        try:
            near_matrices(rotation, count)
        except NoAnswerError:
            return True
        return False

    first = first_where(fails, 4, NEAR)  # 4 were answered before
    words = f"Position {first - 1} is the first to fail: {trouble}."
    finding = Finding("far", words, first - 1)
    return near_matrices(rotation, first - 1), [finding]


class NearLook(NamedTuple):
    """What was seen near position 0."""

    findings: list[Finding]
    hands: Hands | None = None  # None if no pairs could be made out
    layout: Layout | None = None
    shuffle: Shuffle | None = None
    plan: Schedule | None = None
    even: bool = False
    convention: RotaryConvention = UNKNOWN
    notes: tuple[str, ...] = ()


def look_near(matrices: np.ndarray, asked: Asked, near: float) -> NearLook:
    """Make out pairs, speeds, lengths and layout at the first positions."""
    width = matrices.shape[-1]
    matrices, findings = usable(matrices)
    if len(matrices) < 3:
        return NearLook(findings)
    step = repeats(matrices)
    if step > 1:
        findings.append(in_steps(step))
        matrices = matrices[::step]
    shuffle, matrices = undo_shuffle(matrices)
    if shuffle.words and shuffle.words not in asked.layout:
        findings.append(moved(shuffle))
    partner, mixed = partners(matrices)
    if len(mixed) or np.array_equal(partner, np.arange(width)):
        return NearLook([*findings, no_pairs(matrices, mixed)])

    layout = layout_of(partner)
    if layout.name == "unknown":
        findings.append(unknown_layout(layout))
    hands = read_hands(hands_of(blocks_of(matrices, layout.pairs)))
    turning = turning_of(hands, layout, near)
    findings += turning.findings
    findings += left_alone(matrices, layout, near)
    sizes = []
    if turning.even:
        known = asked.config is not None
        sizes = lengths(hands, layout, near, asked.length, known)
        findings += sizes
    speeds = np.abs(turning.speeds)
    plan = plan_near(speeds, turning, layout, asked, near)
    findings += plan.findings
    findings += still_pairs(layout, plan.speeds)
    if turning.even:
        findings += directions(turning.speeds, plan.speeds)
    name = ", ".join(x for x in (layout.name, shuffle.words) if x)
    findings += held_to(asked, layout.name, speeds, plan, near)
    convention = RotaryConvention(
        name,
        2 * int((~layout.still).sum()),
        width,
        int(layout.pairs.min()),
        plan.base,
        plan.reading == 1,
        bool(np.median(np.sign(turning.speeds)) < 0),
        plan.divided_by,
        plan.parts,
        plan.scaling,
        asked.length,
    )
    return NearLook(
        findings,
        hands,
        layout,
        shuffle,
        plan,
        turning.even and not any(each.position for each in sizes),
        convention,
        notes_on(convention),
    )


def plan_near(
    speeds: np.ndarray,
    turning: Turning,
    layout: Layout,
    asked: Asked,
    near: float,
) -> Schedule:
    """Say what the speeds follow, or that they are none."""
    if not turning.known:
        return Schedule(speeds)
    if asked.config and not len(unlike(speeds, asked.config, near)):
        return plan_of(asked.config)
    steps = [len(layout.pairs)]
    if layout.pairs.size < layout.width:
        steps.append(layout.width / 2)
    return describe(speeds, tuple(steps), near)


def usable(matrices: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """Leave out positions from the first that gives NaN or nothing.

    Only position 0 may give either: it is then taken as if it were right.
    """
    fine = np.isfinite(matrices).all(axis=(1, 2))
    kept = np.diagonal(matrices, axis1=1, axis2=2)
    if kept[fine].any():
        fine &= matrices.any(axis=(1, 2))
    findings = []
    matrices = matrices.copy()
    if not fine[0] and fine[1:].all():
        what = "zero" if np.isfinite(matrices[0]).all() else "NaN or infinity"
        findings = [Finding("position 0", f"Position 0 gives {what}.", 0)]
        matrices[0], fine[0] = np.eye(matrices.shape[-1]), True
    if fine.all():
        return matrices, findings
    first = int(np.argmin(fine))
    what = "zero" if np.isfinite(matrices[first]).all() else "NaN or infinity"
    words = f"From position {first} on it gives {what}."
    return matrices[:first], [Finding("far", words, first)]


def moved(shuffle: Shuffle) -> Finding:
    """Say which columns of the result are made of which of x."""
    column = int(np.argmax(shuffle.order != np.arange(len(shuffle.order))))
    words = (
        "Position 0 moves columns: the result's column"
        f" {column} is column {shuffle.order[column]} of x."
    )
    if shuffle.words != MOVED:
        words += (
            f" Pairs are read in one layout and {shuffle.words}; scores are"
            " right where query and key both go through it."
        )
    return Finding("position 0", words, 0, column=column)


def repeats(matrices: np.ndarray) -> int:
    """Return how many positions in a row are turned alike."""
    first = matrices[0]
    alike = np.abs(matrices - first).max(axis=(1, 2)) < 1e-6
    step = int(np.argmin(alike))
    if alike.all() or len(matrices) < 4 * step:
        return 1
    for start in range(0, 3 * step, step):
        group = matrices[start : start + step]
        if np.abs(group - group[0]).max() > 1e-6:
            return 1
    return step


def in_steps(step: int) -> Finding:
    """Say that positions are cut to whole steps."""
    words = (
        f"Positions are cut to whole numbers of {step}, as a whole-number"
        f" division by {step} does: 0 to {step - 1} are turned alike."
    )
    return Finding("positions", words, 1)


def unknown_layout(layout: Layout) -> Finding:
    """Say which columns are a pair, where that is in no usual way."""
    one, other = layout.pairs[0]
    words = f"Columns {one} and {other} are a pair, which no usual layout has."
    return Finding("layout", words, pair=0, column=int(one))


def held_to(
    asked: Asked, layout: str, speeds: np.ndarray, plan: Schedule, near: float
) -> list[Finding]:
    """Compare what was seen with all that is asked for."""
    findings = held_to_layout(layout, asked.layout.split(",")[0])
    if asked.base is not None:
        findings += held_to_base(plan, asked.base, 2 * len(speeds))
    if asked.config:
        findings += held_to_config(speeds, plan, asked.config, near)
    return findings


def notes_on(convention: RotaryConvention) -> tuple[str, ...]:
    """Say what is worth to know of a convention, and is no finding."""
    notes = []
    size = convention.width if convention.proportional else convention.columns
    cause = suggestion(convention.base, size)
    if cause:
        notes.append(f"base {plain(convention.base)} suggests {cause}.")
    return tuple(notes)


def few_digits(values: str, tolerance: float) -> list[Finding]:
    """Say that results, or sines and cosines, are rounded to 16 bits."""
    if values not in ("bfloat16", "float16") or STEP[values] / 2 <= tolerance:
        return []
    words = (
        f"Sines and cosines, or the result, are rounded to {values}: by up to"
        f" {plain(STEP[values] / 2, 2)}."
    )
    return [Finding("digits", words, 0)]


def input_changed(rotation: Rotation) -> list[Finding]:
    """Name the arguments that the function has changed."""
    return [
        Finding("input", f"{name} is changed in place.")
        for name in sorted(rotation.changed)
    ]
