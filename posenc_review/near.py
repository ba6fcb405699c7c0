"""What a rotary function does at the first positions."""

from typing import NamedTuple

import numpy as np

from .asked import (
    Asked,
    held_to_base,
    held_to_config,
    held_to_layout,
    layout_name,
    plan_of,
    unlike,
)
from .probing import (
    Hands,
    Layout,
    Shuffle,
    blocks_of,
    hands_of,
    layout_of,
    partners,
    read_hands,
    undo_shuffle,
)
from .report import Finding, plain
from .turning import (
    Turning,
    directions,
    left_alone,
    lengths,
    no_pairs,
    still_pairs,
    turning_of,
)
from .waves import Schedule, schedule_of


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
    length: float = 1.0  # by which vectors are stretched, as a config asks

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
            said.append(f"{self.scaling or 'by parts'} ({self.parts})")
        if self.length != 1:
            said.append(f"lengths by {plain(self.length, 5)}")
        return ", ".join(said)

    def __format__(self, how: str) -> str:
        """Pad it like text."""
        return format(str(self), how)


class NearLook(NamedTuple):
    """What was seen at the first positions.

    Without `seen` no pairs could be made out.
    """

    findings: list[Finding]
    seen: "Pairs | None" = None
    convention: RotaryConvention = RotaryConvention()


class Pairs(NamedTuple):
    """Which columns turn together, and how.

    Where they do not turn `evenly` one cannot tell where the hands should
    point farther out.
    """

    layout: Layout
    shuffle: Shuffle
    hands: Hands
    plan: Schedule
    evenly: bool


def look_near(matrices: np.ndarray, asked: Asked, near: float) -> NearLook:
    """Make out pairs, speeds, lengths and layout.

    Args:
        matrices: What the first positions do; see `near_matrices`.
        asked: What the function is held to.
        near: By how much, relatively, results may be off.
    """
    matrices, findings = usable(matrices)
    if len(matrices) < 3:
        return NearLook(findings)
    shuffle, matrices = undo_shuffle(matrices)
    partner, mixed = partners(matrices)
    if len(mixed) or np.array_equal(partner, np.arange(len(partner))):
        return NearLook([*findings, no_pairs(matrices, mixed)])

    layout = layout_of(partner)
    hands = read_hands(hands_of(blocks_of(matrices, layout.pairs)))
    turning = turning_of(hands, layout, near)
    plan = plan_of_speeds(turning, layout, asked, near)
    stretched = []
    if turning.even:
        config = asked.config is not None
        stretched = lengths(hands, layout, near, asked.length, config)
    findings += turning.findings
    findings += left_alone(matrices, layout, near)
    findings += stretched
    findings += plan.findings
    findings += still_pairs(layout, plan.speeds)
    if turning.even:
        findings += directions(turning.speeds, plan.speeds)
    findings += held_to_layout(layout, shuffle, asked.layout)
    speeds = np.abs(turning.speeds)
    if asked.base is not None:
        findings += held_to_base(plan, asked.base, layout.pairs.size)
    if asked.config is not None:
        findings += held_to_config(speeds, plan, asked.config, near)

    evenly = turning.even and all(each.position is None for each in stretched)
    seen = Pairs(layout, shuffle, hands, plan, evenly)
    convention = gathered(seen, turning, 1.0 if stretched else asked.length)
    return NearLook(findings, seen, convention)


def gathered(seen: Pairs, turning: Turning, length: float) -> RotaryConvention:
    """Gather what the function follows."""
    name = layout_name(seen.layout)
    if seen.shuffle.written:
        name += f", written as {seen.shuffle.written}"
    return RotaryConvention(
        layout=name,
        columns=2 * int((~seen.layout.still).sum()),
        width=seen.layout.width,
        first_column=int(seen.layout.pairs.min()),
        base=seen.plan.base,
        proportional=seen.plan.reading == 1,
        clockwise=bool(np.sign(turning.speeds).sum() < 0),
        divided_by=seen.plan.divided_by,
        parts=seen.plan.parts,
        scaling=seen.plan.scaling,
        length=length,
    )


def plan_of_speeds(
    turning: Turning, layout: Layout, asked: Asked, near: float
) -> Schedule:
    """Say what the speeds follow, if they are those of a hand that turns."""
    speeds = np.abs(turning.speeds)
    if not turning.even:
        return Schedule(speeds)
    config = asked.config
    as_many = config is not None and len(speeds) == len(config.speeds)
    if as_many and not len(unlike(speeds, config, near)):
        return plan_of(config)
    steps = [len(layout.pairs)]
    if layout.pairs.size < layout.width:  # a part: its exponents may count
        steps.append(layout.width / 2)  # the whole head
    return schedule_of(speeds, tuple(steps), near)


def usable(matrices: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """Leave out what tells nothing of how columns turn.

    That is: positions from the first that gives NaN or zero; where position
    0 does, it is taken as if it were right. And positions that are
    turned like the one before, if all are cut to whole steps.
    """
    matrices, findings = matrices.copy(), []
    fine = np.isfinite(matrices).all(axis=(1, 2)) & matrices.any(axis=(1, 2))
    if not fine[0]:
        findings.append(
            Finding("position 0", f"Position 0 {gives(matrices[0])}.", 0)
        )
        matrices[0] = np.eye(len(matrices.T))
        fine[0] = True
    if not fine.all():
        first = int(np.argmin(fine))
        words = f"From position {first} on it {gives(matrices[first])}."
        findings.append(Finding("far", words, first))
        matrices = matrices[:first]
    step = repeats(matrices)
    if step > 1:
        words = (
            f"Positions are cut to whole numbers of {step}, as a whole-number"
            f" division by {step} does: 0 to {step - 1} are turned alike."
        )
        findings.append(Finding("positions", words))
    return matrices[::step], findings


def gives(matrix: np.ndarray) -> str:
    """Say what a position gives that turns nothing."""
    zero = np.isfinite(matrix).all()
    return "gives zero" if zero else "gives NaN or infinity"


def repeats(matrices: np.ndarray) -> int:
    """Return how many positions in a row are turned alike, over and over."""
    if len(matrices) < 2:
        return 1
    change = np.abs(np.diff(matrices, axis=0)).max(axis=(1, 2)) > 1e-6
    step = int(np.argmax(change)) + 1
    every = np.arange(1, len(matrices)) % step == 0
    return step if np.array_equal(change, every) else 1
