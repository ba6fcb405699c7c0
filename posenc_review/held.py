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
# Settings that may be another number, and which numbers that may be.
OTHER_NUMBERS: dict[str, tuple[float, ...]] = {
    "factor": (*POWERS, 40.0),
    OLD_LEN: (*(2**k for k in range(9, 21)), *range(1000, 101_000, 1000)),
    "low_freq_factor": POWERS,
    "high_freq_factor": POWERS,
    "beta_fast": POWERS,
    "beta_slow": POWERS,
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
        one, other = pairs.columns[0].tolist()
        seen = f"Pairs are {pairs.layout} (columns {one} and {other}), where"
        read, _, written = self.layout.partition(", written as ")
        if read not in pairs.layout and pairs.layout not in read:
            words = f"{seen} {read} is asked for."
            yield Finding("layout", words, column=one)
        if pairs.written and pairs.written != written:
            yield moved(pairs)
        elif written and not pairs.written:
            words = "Columns are written as they were read, not as is asked"
            yield Finding("position 0", f"{words} for.")
        if self.base is not None:
            yield from other_base(plan.base, self.base, pairs.columns.size)
        config = self.config
        if config is None:
            return
        if clockwise:
            words = "Pairs turn clockwise; models with a config turn the other"
            yield Finding("direction", f"{words} way.")
        begin = int(pairs.columns.min())
        columns = pairs.turning == config.columns
        if columns and begin > 0:
            words = (
                f"{pairs.turning} columns from column {begin} on turn, where"
                f" the config asks for the first {config.columns}."
            )
            yield Finding("columns", words, column=begin)
        elif not columns:
            words = (
                f"{pairs.turning} columns turn, where the config asks for"
                f" {config.columns} of {config.width}."
            )
            yield Finding("columns", words)
        elif pairs.layout.startswith("half") and pairs.layout != config.layout:
            words = f"{seen} the config asks for {config.layout}."
            yield Finding("layout", words, column=one)
        if plan.findings or any(
            plan.frequencies is each.frequencies for each in self.plans
        ):
            return  # the plan says what is wrong, if anything is
        due = config.frequencies[: len(plan.frequencies)]
        turns = plan.frequencies[: len(due)]
        off = np.abs(turns / due - 1)
        if not np.any(off > 1e-5):
            return
        base = list(other_base(plan.base, config.base, config.columns))
        yield from base
        if (columns and not base) or plan.divided_by != 1 or plan.parts:
            worst = int(off.argmax())
            odd = numbered("pair", np.flatnonzero(off > 1e-5)).capitalize()
            words = (
                f"{odd} turn by other frequencies than the config asks for:"
                f" pair {worst} by {plain(turns[worst], 4)} radians per"
                f" position instead of {plain(due[worst], 4)}."
            )
            yield Finding("scaling", words, pair=worst)


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


def plans_of(config: RotarySettings) -> tuple[Plan, ...]:
    """Return what a config asks for, and what it would with a change."""
    bases = [base for base in USUAL_BASES if base != config.base]
    names = [name for name in SCALINGS if name != config.scaling]
    changes = [{}, *({"rope_theta": base} for base in bases)]
    changes += [{"rope_type": name} for name in names]
    changes += [
        {"rope_theta": base, "rope_type": name}
        for base in bases
        for name in names
    ]
    changes += [
        {name: value}
        for name, values in OTHER_NUMBERS.items()
        for value in values
    ]
    changes.append({"truncate": not config.given.get("truncate", True)})
    plans = []
    for change in changes:
        try:
            other = config.but(**change)
        except ValueError:  # a setting of that scaling is missing
            continue
        alike = np.allclose(other.frequencies, config.frequencies, 1e-6, 0)
        if alike and change:
            continue
        parts = other.scaling in ("llama3", "yarn")
        plan = Plan(
            other.frequencies,
            other.base,
            exponents=int(other.scaling == "proportional"),
            divided_by=1.0 if parts else other.factor,
            scaling=f"{other.scaling} by {plain(other.factor)}" * parts,
            findings=tuple(in_words(change, config)),
        )
        plans.append(plan)
    return tuple(plans)


def in_words(change: dict, config: RotarySettings) -> Iterator[Finding]:
    """Say which settings a function has taken for those of a config."""
    given = config.given | {"rope_type": config.scaling}
    for name, value in change.items():
        if name == "rope_theta":
            yield from other_base(value, config.base, config.columns)
            continue
        words = (
            f"The frequencies are those of {name} {value}, where the config"
            f" asks for {given.get(name, 'its default')}."
        )
        yield Finding("scaling", words)
