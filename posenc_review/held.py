"""What a rotary function is held to: a layout, a base, a model's config.

A function that does not do what a config asks for does, most likely, what a
config with one setting changed would ask for.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .config import OLD_LEN, SCALINGS, RotarySettings
from .frequencies import BASE, USUAL_BASES, Plan, suggestion
from .pairs import Pairs, moved
from .report import Finding, numbered, plain

# Settings that may be another number, and which numbers that may be.
OTHER_NUMBERS: dict[str, tuple[float, ...]] = {
    "factor": (2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0),
    OLD_LEN: (
        *(2**power for power in range(9, 21)),
        *range(1000, 101_000, 1000),
    ),
    "low_freq_factor": (1.0, 2.0, 4.0, 32.0),
    "high_freq_factor": (1.0, 2.0, 4.0, 8.0, 32.0),
    "beta_fast": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    "beta_slow": (0.5, 1.0, 2.0, 4.0, 32.0),
}


class Asked(NamedTuple):
    """What a rotary function is held to, and how far to look."""

    base: float | None
    layout: str
    config: RotarySettings | None
    plans: tuple[Plan, ...]  # what the config asks for, and what others would
    max_len: int
    tolerance: float

    @property
    def length(self) -> float:
        """Return the factor by which vectors are to be stretched."""
        return self.config.length if self.config else 1.0

    def findings(self, pairs: Pairs, plan: Plan) -> list[Finding]:
        """Compare with the pairs that were seen, and their frequencies."""
        findings = held_to_layout(pairs, self.layout)
        if self.base is not None:
            findings += held_to_base(plan, self.base, pairs.columns.size)
        if self.config is not None:
            findings += self.held_to_config(pairs, plan, self.config)
        return findings

    def held_to_config(
        self, pairs: Pairs, plan: Plan, config: RotarySettings
    ) -> list[Finding]:
        """Compare layout, columns and frequencies with the config."""
        findings = []
        if pairs.turning != config.columns:
            words = (
                f"{pairs.turning} columns turn, where the config asks for"
                f" {config.columns} of {config.width}."
            )
            findings.append(Finding("columns", words))
        elif pairs.layout.startswith("half") and pairs.layout != config.layout:
            one, other = pairs.columns[0].tolist()
            words = (
                f"Pairs are {pairs.layout} (columns {one} and {other}), where"
                f" the config asks for {config.layout}."
            )
            findings.append(Finding("layout", words, column=one))
        if any(plan.frequencies is each.frequencies for each in self.plans):
            return findings  # the plan says what is wrong, if anything is
        due = config.frequencies[: len(plan.frequencies)]
        seen = plan.frequencies[: len(due)]
        off = np.abs(seen / due - 1)
        if plan.findings or not np.any(off > 1e-5):
            return findings
        base = held_to_base(plan, config.base, config.columns)
        is_scaled = plan.divided_by != 1 or plan.parts
        if (findings or base) and not is_scaled:
            return [*findings, *base]
        odd, worst = np.flatnonzero(off > 1e-5), int(off.argmax())
        words = (
            f"{numbered('pair', odd).capitalize()} turn by other frequencies"
            f" than the config asks for: pair {worst} by"
            f" {plain(seen[worst], 4)} radians per position instead of"
            f" {plain(due[worst], 4)}."
        )
        return [*findings, *base, Finding("scaling", words, pair=worst)]


def held_to_layout(pairs: Pairs, asked: str) -> list[Finding]:
    """Compare the layout, and the order in which columns are written."""
    read, _, written = asked.partition(", written as ")
    findings = []
    if read not in pairs.layout and pairs.layout not in read:
        one, other = pairs.columns[0].tolist()
        words = (
            f"Pairs are {pairs.layout} (columns {one} and {other}), where"
            f" {read} is asked for."
        )
        findings.append(Finding("layout", words, column=one))
    if pairs.written and pairs.written != written:
        findings.append(moved(pairs))
    elif written and not pairs.written:
        words = "Columns are written as they were read, not as is asked for."
        findings.append(Finding("position 0", words))
    return findings


def held_to_base(plan: Plan, asked: float, columns: int) -> list[Finding]:
    """Compare the base; that of a single pair cannot be seen."""
    if np.isnan(plan.base) or abs(plan.base / asked - 1) <= 1e-4:
        return []
    return [other_base(plan.base, asked, columns)]


def other_base(seen: float, asked: float, columns: int) -> Finding:
    """Say which base was seen, and what it suggests."""
    words = f"The base is {plain(seen)}, where {plain(asked)} is asked for"
    cause = suggestion(seen, columns, (asked,))
    if cause:
        words += f": it suggests {cause}"
    elif seen == BASE:
        words += f": {plain(BASE)} is the default, where none is read"
    return Finding("base", f"{words}.")


def plans_of(config: RotarySettings) -> tuple[Plan, ...]:
    """Return what a config asks for, and what it would with a change."""
    plans = [as_plan(config)]
    for change in changes_of(config):
        try:
            other = config.but(**change)
        except ValueError:  # a setting of that scaling is missing
            continue
        if not np.allclose(other.frequencies, config.frequencies, 1e-6, 0):
            findings = tuple(in_words(change, config))
            plans.append(as_plan(other)._replace(findings=findings))
    return tuple(plans)


def as_plan(config: RotarySettings) -> Plan:
    """Return what a config asks for, as if it had been seen."""
    by_parts = config.scaling in ("llama3", "yarn")
    return Plan(
        config.frequencies,
        config.base,
        exponents=int(config.scaling == "proportional"),
        divided_by=1.0 if by_parts else config.factor,
        scaling=f"{config.scaling} by {plain(config.factor)}" * by_parts,
    )


def changes_of(config: RotarySettings) -> Iterator[dict]:
    """Yield settings that a function may have taken for those of a config."""
    bases = [base for base in USUAL_BASES if base != config.base]
    scalings = [name for name in SCALINGS if name != config.scaling]
    for base in bases:
        yield {"rope_theta": base}
    for name in scalings:
        yield {"rope_type": name}
    for base in bases:
        for name in scalings:
            yield {"rope_theta": base, "rope_type": name}
    for name, values in OTHER_NUMBERS.items():
        for value in values:
            yield {name: value}
    yield {"truncate": not config.given.get("truncate", True)}


def in_words(change: dict, config: RotarySettings) -> Iterator[Finding]:
    """Say which settings a function has taken for those of a config."""
    given = config.given | {"rope_type": config.scaling}
    for name, value in change.items():
        if name == "rope_theta":
            yield other_base(value, config.base, config.columns)
            continue
        asked = given.get(name, "its default")
        words = (
            f"The frequencies are those of {name} {value}, where the config"
            f" asks for {asked}."
        )
        yield Finding("scaling", words)
