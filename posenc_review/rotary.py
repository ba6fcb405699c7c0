"""Review a rotary function: `rotate(x, positions)`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .calls import first_calls, positions_kept, positions_read
from .far import Model, look_far
from .probing import (
    Hands,
    NoAnswer,
    Probe,
    Rotation,
    blocks_of,
    hands_of,
    layout_of,
    near_matrices,
    partners,
    read_hands,
    undo_shuffle,
)
from .report import Finding, by_name, plain
from .rounding import STEP, format_of
from .turning import (
    directions,
    forms,
    lengths,
    no_pairs,
    pair_speeds,
    position_0,
    still_pairs,
)
from .waves import Schedule, describe, suggestion

FAR = 131_072  # positions, 0 to 131 071
TOLERANCE = 1e-4
LAYOUTS = ("interleaved", "half")


class RotaryConvention(NamedTuple):
    """What a rotary function follows, right or wrong."""

    layout: str = "unknown"
    columns: int = 0  # how many of them turn
    width: int = 0
    first_column: int = 0
    base: float = np.nan
    proportional: bool = False
    clockwise: bool = False
    divided_by: float = 1.0
    parts: str = ""

    def __str__(self) -> str:
        """Say it in a few words."""
        said = [self.layout]
        if 0 < self.columns < self.width:
            said.append(f"{self.columns} of {self.width} columns")
            if self.first_column:
                said.append(f"from column {self.first_column}")
        if self.proportional:
            said.append("proportional")
        if self.clockwise:
            said.append("clockwise")
        if np.isfinite(self.base):
            said.append(f"base {plain(self.base)}")
        if self.divided_by != 1:
            said.append(f"linear, by {plain(self.divided_by)}")
        if self.parts:
            said.append(f"by parts ({self.parts})")
        return ", ".join(said)

    def __format__(self, how: str) -> str:
        """Let f-strings pad it like text."""
        return format(str(self), how)


@dataclass(frozen=True)
class RotaryReview:
    """What a review found, and which convention it saw. Print it to read."""

    details: tuple[Finding, ...]
    convention: RotaryConvention = RotaryConvention()
    notes: tuple[str, ...] = ()
    digits: str = ""
    positions: int = 0

    @property
    def findings(self) -> dict[str, str]:
        """What is wrong, by name."""
        return by_name(self.details)

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        findings = self.findings
        lines = [f"- {name}: {words}" for name, words in findings.items()]
        lines.append(
            f"Findings: {len(findings)}. Convention: {self.convention}."
        )
        if self.positions:
            lines.append(
                f"Positions: 0 to {self.positions - 1}. {self.digits}"
            )
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)


def review_rotary(
    rotate: Callable,
    width: int = 64,
    *,
    base: float | None = None,
    layout: str = "",
    max_len: int = FAR,
    tolerance: float = TOLERANCE,
) -> RotaryReview:
    """Look at a rotary function: its convention, and what is wrong with it."""
    rotation = Rotation(rotate, width)
    findings: list[Finding] = []
    notes: list[str] = []
    try:
        findings += first_calls(rotation)
        matrices = near_matrices(rotation)
    except NoAnswer as trouble:
        words = f"Asked for a few positions from 0 on: {trouble}."
        return RotaryReview((Finding("result", words),))
    bad = np.flatnonzero(~np.isfinite(matrices).all(axis=(1, 2)))
    if len(bad):
        words = f"Position {bad[0]} gives NaN or infinity."
        return RotaryReview((Finding("result", words, int(bad[0])),))

    shuffle, back = undo_shuffle(matrices)
    partner, mixed = partners(back)
    if len(mixed) or np.all(partner == np.arange(width)):
        return RotaryReview((*findings, no_pairs(back, mixed)))
    values = format_of(back)
    near = max(2e-6, 2 * STEP.get(values, 0))
    places = layout_of(partner)
    hands = read_hands(hands_of(blocks_of(back, places.pairs)))
    wrong_forms = forms(hands, places, near)
    speeds = pair_speeds(hands, places, near)
    plan = describe(np.abs(speeds), places.pairs.size, width, near)
    findings += wrong_forms + list(plan.findings)
    findings += directions(speeds) + still_pairs(places)
    findings += lengths(hands, places, near)
    findings += position_0(hands, places)
    reading = positions_read(rotation, matrices, near)
    reading += positions_kept(rotation, matrices, near)
    findings += reading
    said = ""
    if not reading and not any(x.name == "scores" for x in wrong_forms):
        model = model_of(hands, plan, tolerance, near)
        far, said = look_far(Probe(rotation, places, shuffle), model, max_len)
        findings += far
    for name in sorted(rotation.changed):
        findings.append(Finding("input", f"{name} is changed in place."))
    seen = RotaryConvention(
        ", ".join(x for x in (places.name, shuffle.words) if x),
        2 * int((~places.still).sum()),
        width,
        int(places.pairs.min()),
        plan.base,
        plan.proportional,
        bool(np.median(np.sign(speeds[speeds != 0])) < 0),
        plan.divided_by,
        plan.parts,
    )
    if suggestion(plan.base, width):
        notes.append(suggestion(plan.base, width) + ".")
    return RotaryReview(tuple(findings), seen, tuple(notes), said, max_len)


def model_of(
    hands: Hands, plan: Schedule, tolerance: float, near: float
) -> Model:
    """Say where hands should point far out, by the speeds they follow."""
    speed = hands.speed.copy()
    for place in np.ndindex(speed.shape):
        if speed[place] == 0:
            continue
        likely = plan.speeds[plan.speeds > 0]
        likely = likely[np.argmin(np.abs(np.log(likely / abs(speed[place]))))]
        if abs(likely / abs(speed[place]) - 1) <= max(1e-5, 4 * near):
            speed[place] = likely * np.sign(speed[place])
    return Model(hands.length, hands.phase, speed, tolerance + near)
