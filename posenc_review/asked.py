"""Hold a rotary function to what is asked of it."""

from typing import NamedTuple

import numpy as np

from .config import BASE, RotarySettings
from .probing import Layout, Shuffle
from .report import Finding, listed, plain
from .waves import Schedule, parts_of, speeds_of, suggestion

LAYOUTS = {  # how pairs are read, and how they are written if otherwise
    "interleaved": ("interleaved", ""),
    "half": ("half", ""),
    "interleaved, written as half": ("interleaved", "half"),
    "half, written as interleaved": ("half", "interleaved"),
}


class Asked(NamedTuple):
    """What a rotary function is held to, where something is asked."""

    base: float | None = None
    layout: str = ""  # one of `LAYOUTS`
    config: RotarySettings | None = None

    @property
    def length(self) -> float:
        """Return the factor by which vectors are to be stretched."""
        return self.config.length if self.config else 1.0


def held_to_layout(
    layout: Layout, shuffle: Shuffle, asked: str
) -> list[Finding]:
    """Compare the layout, and the order in which columns are written."""
    findings = []
    read, written = LAYOUTS.get(asked, ("", ""))
    if read and read not in layout.names:
        words = f"Pairs are {layout_name(layout)}, where {read} is asked for."
        findings.append(Finding("layout", words))
    elif not layout.names:
        one, other = (int(column) for column in layout.pairs[0])
        words = f"Columns {one} and {other} are a pair, as in no usual layout."
        findings.append(Finding("layout", words, column=one))
    if not shuffle.known or shuffle.written != written:
        findings.append(moved(shuffle))
    return findings


def layout_name(layout: Layout) -> str:
    """Name a layout, or both at width 2."""
    return " or ".join(layout.names) or "unknown"


def moved(shuffle: Shuffle) -> Finding:
    """Say that position 0 moves columns, or does not and should."""
    places = np.flatnonzero(shuffle.order != np.arange(len(shuffle.order)))
    if not len(places):
        words = "Columns are written as they were read, not as is asked for."
        return Finding("position 0", words)
    column = int(places[0])
    words = (
        f"Position 0 moves columns: column {column} of the result is column"
        f" {shuffle.order[column]} of x."
    )
    if shuffle.known:
        words += (
            " Pairs are read in the other layout and written as"
            f" {shuffle.written}; scores are right where query and key both go"
            " through it, and the layout may be asked for."
        )
    return Finding("position 0", words, 0, column=column)


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
    return [Finding("base", f"{words}.")]


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
        findings.append(Finding("columns", words))
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
        findings.append(Finding("scaling", words))
        return findings
    if scaling_of(plan) != due_scaling(config):
        words = (
            f"The scaling is {scaling_words(plan)}, where the config asks for"
            f" {due_words(config)}"
        )
        findings.append(Finding("scaling", f"{words}."))
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
    return np.flatnonzero(~(off <= max(1e-5, near)))


def scaling_of(plan: Schedule) -> tuple[bool, float]:
    """Tell whether speeds are scaled by parts, and else by how much."""
    return bool(plan.parts), 1.0 if plan.parts else plan.divided_by


def due_scaling(config: RotarySettings) -> tuple[bool, float]:
    """Tell the same of what a config asks for."""
    by_parts = config.scaling in ("llama3", "yarn")
    return by_parts, 1.0 if by_parts else config.factor


def due_words(config: RotarySettings) -> str:
    """Name the scaling that a config asks for."""
    if config.scaling == "default":
        return "none"
    return f"{config.scaling} by {plain(config.factor)}"


def scaling_words(plan: Schedule) -> str:
    """Name the scaling that was seen."""
    if plan.parts:
        return "by parts"
    if plan.divided_by != 1:
        return f"linear by {plain(plan.divided_by)}"
    return "none"


def plan_of(config: RotarySettings) -> Schedule:
    """Return what the config asks for, as if it had been seen."""
    if config.scaling in ("llama3", "yarn"):
        plain_speeds = speeds_of(config.base, len(config.speeds))
        plan = parts_of(config.speeds, plain_speeds, config.base, 1e-4)
        return plan._replace(scaling=config.scaling)
    reading = 1 if config.scaling == "proportional" else 0
    return Schedule(config.speeds, config.base, reading, config.factor)
