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

POWERS = tuple(2.0**power for power in range(-1, 7))
# Settings that may have another value, and which values these may be.
OTHER_VALUES: dict[str, tuple] = {
    "factor": (*POWERS, 40.0),
    OLD_LEN: (*(2**k for k in range(9, 21)), *range(1000, 101_000, 1000)),
    "low_freq_factor": POWERS,
    "high_freq_factor": POWERS,
    "beta_fast": POWERS,
    "beta_slow": POWERS,
    "truncate": (True, False),
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

    def findings(
        self, pairs: Pairs, plan: Plan, clockwise: bool
    ) -> Iterator[Finding]:
        """Compare with the pairs that were seen, and how they turn."""
        config, layout = self.config, pairs.layout
        one, other = pairs.columns[0].tolist()
        seen = f"Pairs are {layout} (columns {one} and {other}), where"
        read, _, written = self.layout.partition(", written as ")
        if read not in layout and layout not in read:
            yield Finding("layout", f"{seen} {read} is asked for.", column=one)
        if pairs.written not in ("", written):
            yield moved(pairs)
        if written and not pairs.written:
            words = "Columns are written as they were read, not as is asked"
            yield Finding("position 0", f"{words} for.")
        if self.base is not None:
            yield from other_base(plan.base, self.base, pairs.columns.size)
        if config is None:
            return
        if clockwise:
            words = "Pairs turn clockwise; models with a config turn the other"
            yield Finding("direction", f"{words} way.")
        begin = int(pairs.columns.min())
        if begin > 0 or pairs.turning != config.columns:
            words = (
                f"From column {begin} on, {pairs.turning} columns turn, where"
                f" the config asks for the first {config.columns} of"
                f" {config.width}."
            )
            yield Finding("columns", words, column=begin)
        elif layout.startswith("half") and layout != config.layout:
            words = f"{seen} the config asks for {config.layout}."
            yield Finding("layout", words, column=one)
        if not plan.findings:  # else they say what the plan is
            yield from other_frequencies(pairs, plan, config)


def other_base(seen: float, asked: float, columns: int) -> Iterator[Finding]:
    """Say which base was seen instead, and what it suggests."""
    if np.isnan(seen) or abs(seen / asked - 1) <= 1e-4:
        return
    words = f"The base is {plain(seen)}, where {plain(asked)} is asked for"
    cause = suggestion(seen, columns, (asked,))
    if cause:
        words += f": it suggests {cause}"
    elif seen == BASE:
        words += f": {plain(BASE)} is the default, where none is read"
    yield Finding("base", f"{words}.")


def other_frequencies(
    pairs: Pairs, plan: Plan, config: RotarySettings
) -> Iterator[Finding]:
    """Say by which frequencies pairs turn, if not as asked, and why."""
    due = config.frequencies[: len(plan.frequencies)]
    seen = plan.frequencies[: len(due)]
    off = np.abs(seen / due - 1)
    odd = np.flatnonzero(off > 1e-5)
    if not len(odd):
        return
    base = list(other_base(plan.base, config.base, config.columns))
    yield from base
    by_base = base or pairs.turning != config.columns  # that explains it
    if by_base and plan.divided_by == 1 and not plan.parts:
        return
    worst = int(off.round(6).argmax())  # the first of those alike
    words = (
        f"{numbered('pair', odd).capitalize()} turn by other frequencies than"
        f" the config asks for: pair {worst} by {plain(seen[worst], 4)}"
        f" radians per position instead of {plain(due[worst], 4)}."
    )
    yield Finding("scaling", words, pair=worst)


def plans_of(config: RotarySettings) -> tuple[Plan, ...]:
    """Return what a config asks for, and what it would with a change."""
    changes = [
        {"rope_theta": base, "rope_type": name}
        for name in (config.scaling, *SCALINGS)
        for base in (config.base, *USUAL_BASES)
    ]
    for name, values in OTHER_VALUES.items():
        changes += [{name: value} for value in values]
    plans = []
    for change in changes:
        try:
            other = config.but(**change)
        except ValueError:  # a setting of that scaling is missing
            continue
        alike = np.allclose(other.frequencies, config.frequencies, 1e-6, 0)
        if plans and alike:
            continue
        plan = Plan(
            other.frequencies,
            other.base,
            exponents=int(other.scaling == "proportional"),
            findings=tuple(in_words(change, config)),
        )
        if other.scaling in ("llama3", "yarn"):
            by = f"{other.scaling} by {plain(other.factor)}"
            plans.append(plan._replace(scaling=by))
        else:
            plans.append(plan._replace(divided_by=other.factor))
    return tuple(plans)


def in_words(change: dict, config: RotarySettings) -> Iterator[Finding]:
    """Say which settings a function has taken for those of a config."""
    given = config.given | {"rope_type": config.scaling}
    for name, value in change.items():
        if name == "rope_theta":
            yield from other_base(value, config.base, config.columns)
        elif value != given.get(name):
            words = (
                f"The frequencies are those of {name} {value}, where the"
                f" config asks for {given.get(name, 'its default')}."
            )
            yield Finding("scaling", words)
