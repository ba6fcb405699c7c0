"""What a rotary function is held to: a base, or a model's config.

A function that does not do what a config asks for does, most likely, what a
config with one setting changed would ask for.
"""

from collections.abc import Iterator

import numpy as np

from .config import OLD_LEN, SCALINGS, RotarySettings
from .frequencies import BASE, USUAL_BASES, Plan, suggestion
from .pairs import Pairs
from .report import Finding, numbered, plain

FACTORS = (2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 64.0)
LENGTHS = (
    *(2**power for power in range(9, 21)),
    *range(1000, 101_000, 1000),
)
# Settings that may be another number, and which numbers that may be.
OTHER_NUMBERS: dict[str, tuple[float, ...]] = {
    "factor": FACTORS,
    OLD_LEN: LENGTHS,
    "low_freq_factor": (1.0, 2.0, 4.0, 32.0),
    "high_freq_factor": (1.0, 2.0, 4.0, 8.0, 32.0),
    "beta_fast": (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    "beta_slow": (0.5, 1.0, 2.0, 4.0, 32.0),
}


def plans_of(config: RotarySettings) -> list[Plan]:
    """Return what a config asks for, and what others would."""
    plans = [as_plan(config)]
    for other, findings in others(config):
        plans.append(as_plan(other)._replace(findings=findings))
    return plans


def as_plan(config: RotarySettings) -> Plan:
    """Return what a config asks for, as if it had been seen."""
    divided_by = 1.0
    scaling = ""
    if config.scaling in ("llama3", "yarn"):
        scaling = f"{config.scaling} by {plain(config.factor)}"
    else:
        divided_by = config.factor
    return Plan(
        config.frequencies,
        config.base,
        int(config.scaling == "proportional"),
        divided_by,
        scaling=scaling,
    )


def others(
    config: RotarySettings,
) -> Iterator[tuple[RotarySettings, tuple[Finding, ...]]]:
    """Yield a config with one setting changed, or two, and the words."""
    bases = [base for base in USUAL_BASES if base != config.base]
    scalings = [name for name in SCALINGS if name != config.scaling]
    other_scaling = {"rope_type": None, "type": None}
    changes = [
        *({"rope_theta": base} for base in bases),
        *(other_scaling | {"rope_type": name} for name in scalings),
        *(
            {"rope_theta": base} | other_scaling | {"rope_type": name}
            for base in bases
            for name in scalings
        ),
        *(
            {name: value}
            for name, values in OTHER_NUMBERS.items()
            for value in values
        ),
        {"truncate": not config.given.get("truncate", True)},
    ]
    for change in changes:
        try:
            other = config.but(**change)
        except ValueError:  # a setting of that scaling is missing
            continue
        if not np.allclose(other.frequencies, config.frequencies, 1e-6, 0):
            yield other, tuple(in_words(change, other, config))


def in_words(
    change: dict, other: RotarySettings, config: RotarySettings
) -> Iterator[Finding]:
    """Say what a function does otherwise than a config asks for."""
    if "rope_theta" in change:
        yield other_base(other.base, config.base, config.columns)
    if "rope_type" in change:
        yield Finding("scaling", other_scaling(other, config))
    for name, value in change.items():
        if name in ("rope_theta", "rope_type", "type"):
            continue
        asked = config.given.get(name, "its default")
        words = (
            f"The frequencies are those of {name} {value}, where the config"
            f" asks for {asked}."
        )
        yield Finding("scaling", words)


def other_scaling(other: RotarySettings, config: RotarySettings) -> str:
    """Say which scaling is done, and which is asked for."""
    whole = [x.scaling == "proportional" for x in (other, config)]
    if whole[0] != whole[1]:
        whose = ("the part's", "the whole head's")
        return (
            f"The exponents count {whose[whole[0]]} columns, where the config"
            f" asks for {whose[whole[1]]}."
        )
    return (
        f"The scaling is {scaling_words(other)}, where the config asks for"
        f" {scaling_words(config)}."
    )


def scaling_words(config: RotarySettings) -> str:
    """Name a scaling and its factor."""
    if config.scaling == "default":
        return "none"
    return f"{config.scaling} by {plain(config.factor)}"


def other_base(seen: float, asked: float, columns: int) -> Finding:
    """Say which base was seen, and what it suggests."""
    words = f"The base is {plain(seen)}, where {plain(asked)} is asked for"
    cause = suggestion(seen, columns, (asked,))
    if cause:
        words += f": it suggests {cause}"
    elif seen == BASE:
        words += f": {plain(BASE)} is the default, where none is read"
    return Finding("base", f"{words}.")


def held_to_base(plan: Plan, asked: float, columns: int) -> list[Finding]:
    """Compare the base; that of a single pair cannot be seen."""
    if np.isnan(plan.base) or abs(plan.base / asked - 1) <= 1e-4:
        return []
    return [other_base(plan.base, asked, columns)]


def held_to_config(
    pairs: Pairs, plan: Plan, config: RotarySettings
) -> list[Finding]:
    """Compare layout, columns and frequencies with a config.

    Args:
        pairs: That turn.
        plan: What their frequencies follow. If it is one of `plans_of` the
            config, it says what is wrong, or that nothing is.
        config: What is asked for.
    """
    findings = []
    is_half = pairs.layout.startswith("half")
    if pairs.turning == config.columns:
        if is_half and pairs.layout != config.layout:
            one, other = pairs.columns[0].tolist()
            words = (
                f"Pairs are {pairs.layout} (columns {one} and {other}), where"
                f" the config asks for {config.layout}."
            )
            findings.append(Finding("layout", words, column=one))
    else:
        words = (
            f"{pairs.turning} columns turn, where the config asks for"
            f" {config.columns} of {config.width}."
        )
        findings.append(Finding("columns", words))
    known = [each.frequencies for each in plans_of(config)]
    if any(each is plan.frequencies for each in known):
        return findings
    due = config.frequencies[: len(plan.frequencies)]
    seen = plan.frequencies[: len(due)]
    off = np.abs(seen / due - 1)
    if not np.any(off > 1e-5) or plan.findings:
        return findings
    findings += held_to_base(plan, config.base, config.columns)
    if plan.parts or plan.divided_by != 1:
        said = "by parts"
        if not plan.parts:
            said = f"linear by {plain(plan.divided_by)}"
        words = (
            f"The scaling is {said}, where the config asks for"
            f" {scaling_words(config)}."
        )
        findings.append(Finding("scaling", words))
    elif not findings:
        odd, worst = np.flatnonzero(off > 1e-5), int(off.argmax())
        words = (
            f"{numbered('pair', odd).capitalize()} turn by other frequencies"
            f" than the config asks for: pair {worst} by"
            f" {plain(seen[worst], 4)} radians per position instead of"
            f" {plain(due[worst], 4)}."
        )
        findings.append(Finding("scaling", words, pair=worst))
    return findings
