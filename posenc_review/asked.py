"""Hold a rotary function to what is asked of it."""

from typing import NamedTuple

import numpy as np

from .config import BASE, RotarySettings
from .report import Finding, listed, plain
from .waves import Schedule, parts_of, speeds_of, suggestion


class Asked(NamedTuple):
    """What a rotary function is held to, where something is asked."""

    base: float | None = None
    layout: str = ""
    config: RotarySettings | None = None

    @property
    def length(self) -> float:
        """Return the factor by which vectors are to be stretched."""
        return self.config.length if self.config else 1.0


def held_to_layout(layout: str, asked: str) -> list[Finding]:
    """Compare the layout; "interleaved or half" is right for both."""
    if not asked or asked in layout.split(" or "):
        return []
    words = f"Pairs are {layout}, where {asked} is asked for."
    return [Finding("layout", words, pair=0)]


def held_to_base(plan: Schedule, asked: float, width: int) -> list[Finding]:
    """Compare the base; that of a single pair cannot be seen."""
    slack = max(1e-4, 4 * plan.scatter)
    if np.isnan(plan.base) or abs(plan.base / asked - 1) <= slack:
        return []
    words = (
        f"The base is {plain(plan.base)}, where {plain(asked)} is asked for"
    )
    cause = suggestion(plan.base, width, (asked,))
    if cause:
        words += f": it suggests {cause}"
    elif plan.base == BASE:
        words += f": {plain(BASE)} is the default, where none is read"
    return [Finding("base", words + ".", pair=1)]


def held_to_config(
    speeds: np.ndarray, plan: Schedule, config: RotarySettings, near: float
) -> list[Finding]:
    """Compare how many columns turn, and their speeds.

    Args:
        speeds: As measured, of each pair that turns.
        plan: What these speeds follow.
        config: What is asked for.
        near: By how much, relatively, speeds may be off.
    """
    findings = []
    if len(speeds) != len(config.speeds):
        words = (
            f"{2 * len(speeds)} columns turn, where the config asks for"
            f" {config.columns} of {config.width}."
        )
        column = min(2 * len(speeds), config.columns)
        findings.append(Finding("columns", words, column=column))
    odd = unlike(speeds, config, near)
    if not len(odd):
        return findings
    findings += held_to_base(plan, config.base, config.columns)
    if (plan.reading == 1) != (config.scaling == "proportional"):
        whose = ("the part's", "the whole head's")
        words = (
            f"The exponents count {whose[plan.reading]} columns, where the"
            f" config asks for {whose[1 - plan.reading]}."
        )
        findings.append(Finding("scaling", words, pair=int(odd[0])))
        return findings
    seen, due = seen_scaling(plan), due_scaling(config)
    if not due.startswith(seen):
        words = f"The scaling is {seen}, where the config asks for {due}."
        findings.append(Finding("scaling", words, pair=int(odd[0])))
    if not findings:
        off = np.abs(np.log(speeds[odd] / config.speeds[odd]))
        worst = int(odd[off.argmax()])
        words = (
            f"Pairs {listed(odd)} turn by other angles than the config asks"
            f" for: pair {worst} by {plain(speeds[worst], 4)} per position"
            f" instead of {plain(config.speeds[worst], 4)}."
        )
        findings.append(Finding("scaling", words, pair=worst))
    return findings


def unlike(
    speeds: np.ndarray, config: RotarySettings, near: float
) -> np.ndarray:
    """Return the pairs that turn by other speeds than the config's."""
    some = min(len(speeds), len(config.speeds))
    off = np.abs(speeds[:some] / config.speeds[:some] - 1)
    return np.flatnonzero(off > max(1e-5, near))


def seen_scaling(plan: Schedule) -> str:
    """Name the scaling that speeds were seen to have."""
    if plan.parts:
        return "by parts"
    if plan.divided_by != 1:
        return f"linear by {plain(plan.divided_by)}"
    return "none"


def due_scaling(config: RotarySettings) -> str:
    """Name the scaling that a config asks for, in the same words."""
    if config.scaling in ("llama3", "yarn"):
        return f"by parts ({config.scaling} by {plain(config.factor)})"
    if config.factor != 1:
        return f"linear by {plain(config.factor)}"
    return "none"


def plan_of(config: RotarySettings) -> Schedule:
    """Return what the config asks for, as if it had been seen."""
    if config.scaling in ("llama3", "yarn"):
        plain_speeds = speeds_of(config.base, len(config.speeds))
        plan = parts_of(config.speeds, plain_speeds, config.base, 1e-4)
        return plan._replace(scaling=config.scaling)
    reading = 1 if config.scaling == "proportional" else 0
    return Schedule(config.speeds, config.base, reading, config.factor)
