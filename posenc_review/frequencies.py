"""Which base the frequencies of pairs follow, and what was done to them.

A pair is two columns that turn together, like the hand of a clock. Its
frequency is the angle, in radians, that it turns by from one position to the
next. The usual frequencies are a geometric series, `base ** (-k / pairs)`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .report import Finding, numbered, plain, roundest, runs
from .rounding import FORMATS, STEP

BASE = 10_000.0
USUAL_BASES = (BASE, 500_000.0, 1_000_000.0)
STILL = 1e-12  # radians per position: what turns by less stands still

# What becomes of the right frequencies, the simplest first.
CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "The frequencies run backwards: pair 0 is the slowest, not the fastest.": (
        lambda w: w[::-1]
    ),
    "All pairs turn at one frequency, and each should be slower: does a"
    " whole-number division make all exponents 0?": np.ones_like,
    "Pairs turn two by two at one frequency: a pair is counted twice.": (
        lambda w: w[np.arange(len(w)) // 2 * 2]
    ),
    "Exponents begin with pair 1 instead of 0.": lambda w: w * w[1],
    "Pair 0 turns by 57.3 per position: degrees are taken for radians.": (
        np.rad2deg
    ),
    "Pair 0 turns by 0.0175 per position: radians are taken for degrees.": (
        np.deg2rad
    ),
    "Pair 0 turns by 6.28 per position: angles are multiplied by 2 pi.": (
        lambda w: w * (2 * np.pi)
    ),
    "Pair 0 turns by 0.159 per position: angles are divided by 2 pi.": (
        lambda w: w / (2 * np.pi)
    ),
}
# What a slip makes of a base `b`, where the exponents count `d` columns.
SLIPS: dict[str, Callable[[float, int], float]] = {
    "a missing factor 2 in the exponent": lambda b, d: b**0.5,
    "a doubled exponent": lambda b, d: b**2,
    "d - 1 for d in the exponent": lambda b, d: b ** (d / (d - 1)),
    "d - 2 for d in the exponent": lambda b, d: b ** (d / (d - 2)),
    "log10 for the natural logarithm": lambda b, d: np.exp(np.log10(b)),
}
NTK_FACTORS = (2, 4, 8, 16, 32)


class Plan(NamedTuple):
    """What the frequencies of all pairs follow."""

    frequencies: np.ndarray  # of each pair, as exactly as they are known
    base: float = np.nan
    exponents: int = 0  # which of several countings the base belongs to
    divided_by: float = 1.0  # all frequencies
    parts: str = ""  # says which pairs follow the base and which do not
    scaling: str = ""  # its name, if a config asks for it
    findings: tuple[Finding, ...] = ()


def geometric(base: float, pairs: int, steps: float = 0) -> np.ndarray:
    """Return the usual frequency of each pair.

    Args:
        base: The 10 000 of the paper.
        pairs: How many.
        steps: The pair whose frequency would be `1 / base`, if not `pairs`.
    """
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def plan_of(
    measured: np.ndarray,
    steps: tuple[float, ...],
    precision: float,
    likely: tuple[Plan, ...] = (),
    bases: tuple[float, ...] = USUAL_BASES,
) -> Plan:
    """Return the simplest plan that the frequencies of all pairs follow.

    Rounding is tried before another base: the plan then holds the exact
    frequencies, and the engine says what is rounded.

    Args:
        measured: The frequency of each pair, 0 where one stands still.
        steps: The pair whose frequency would be `1 / base`; if there are
            several countings, the usual one comes first.
        precision: By how much, relatively, what was measured may be off.
        likely: Plans to try before all others.
        bases: That are likely.
    """
    turning = measured > STILL
    if turning.sum() < 2:
        return alone(measured, precision)
    near = 4 * precision
    usual = [*likely, *usual_plans(len(measured), steps, bases)]
    right = [plan for plan in usual if not plan.findings]
    divided = [each for plan in right for each in slowed(plan, measured, near)]
    fitted = fitted_plans(measured, steps, precision)
    changed = [each for plan in right for each in changes_of(plan)]
    for plans in (usual, changed, divided):
        for plan in plans:
            if follows(measured, plan.frequencies, near):
                return plan
        for plan in plans:
            if follows_rounded(measured, plan.frequencies, near):
                return plan
    for plan in fitted:
        for each in (plan, *changes_of(plan), *slowed(plan, measured, near)):
            if follows(measured, each.frequencies, near):
                return each
            if follows_rounded(measured, each.frequencies, near):
                return each
    loose = max(10 * precision, 1e-4)
    if is_rounded(measured, near):
        loose = max(loose, STEP["bfloat16"])
    for plan in [*reversed(right), *fitted]:  # of the largest base first
        parts = by_parts(measured, plan, loose)
        if parts is not None:
            return parts
    return odd_pairs(measured, [*right, *fitted], max(10 * precision, 1e-4))


def usual_plans(
    pairs: int, steps: tuple[float, ...], bases: tuple[float, ...]
) -> list[Plan]:
    """Return the plans of likely bases, by each counting of exponents."""
    return [
        Plan(geometric(base, pairs, count), base, exponents)
        for base in bases
        for exponents, count in enumerate(steps)
    ]


def fitted_plans(
    measured: np.ndarray, steps: tuple[float, ...], precision: float
) -> list[Plan]:
    """Return the plan of the base that most pairs follow, if they do."""
    slope, scatter = most_common_slope(measured, precision)
    if abs(slope) < 1e-3:
        return []
    plans = []
    for exponents, count in enumerate(steps):
        base = float(np.exp(min(abs(slope) * count, 600.0)))
        for spread in (max(2e-6, 20 * scatter), 0.02):
            near = roundest(base, spread)
            frequencies = geometric(near, len(measured), count)
            plans.append(Plan(frequencies, near, exponents))
    return sorted(plans, key=lambda plan: len(plain(plan.base).strip("0.")))


def most_common_slope(
    measured: np.ndarray, precision: float
) -> tuple[float, float]:
    """Return by how much the logarithm falls from pair to pair.

    Returns:
        That of most pairs, and how far these miss a straight line.
    """
    index = np.flatnonzero(measured > STILL)
    logs = np.log(measured[index])
    slope, start = np.polyfit(index, logs, 1)
    off = np.abs(logs - start - slope * index).max()
    if off <= 4 * precision:
        return slope, off
    near = max(10 * precision, 1e-4)
    slopes = np.diff(logs) / np.diff(index)
    slope = slopes[largest_group(slopes, near)].mean()
    group = largest_group(logs - slope * index, near)
    slope, start = np.polyfit(index[group], logs[group], 1)
    off = np.abs(logs - start - slope * index)[group].max()
    return slope, off


def largest_group(values: np.ndarray, near: float) -> np.ndarray:
    """Tell which values are near to each other, most of all."""
    together = np.abs(values[:, None] - values) <= near
    return together[np.argmax(together.sum(axis=1))]


def as_seen(frequencies: np.ndarray) -> np.ndarray:
    """Return what one sees of frequencies: whole turns are lost."""
    return np.abs(np.angle(np.exp(1j * frequencies)))


def off_by(measured: np.ndarray, due: np.ndarray) -> np.ndarray:
    """Return by how much, relatively, frequencies miss those of a plan."""
    return np.abs(measured - as_seen(due)) / np.maximum(np.abs(due), STILL)


def follows(measured: np.ndarray, due: np.ndarray, near: float) -> bool:
    """Tell whether frequencies are those of a plan, but where one is 0."""
    return bool(np.all((off_by(measured, due) <= near) | (measured <= STILL)))


def follows_rounded(
    measured: np.ndarray, due: np.ndarray, near: float
) -> bool:
    """Tell whether frequencies are those of a plan in a shorter format."""
    return any(
        follows(measured, rounded(due), near)
        for name, rounded in FORMATS.items()
        if name != "float32" and near < STEP[name] / 8
    )


def is_rounded(measured: np.ndarray, near: float) -> bool:
    """Tell whether all frequencies are numbers of a shorter format."""
    some = measured[measured > STILL]
    return len(some) > 3 and follows_rounded(some, some, near)


def alone(measured: np.ndarray, precision: float) -> Plan:
    """Describe one pair that turns, or none: it has no base."""
    plan = Plan(np.where(measured > STILL, 1.0, 0.0))
    if not measured.any() or follows(measured, plan.frequencies, 1e-5):
        return plan
    return slowed(plan, measured, 4 * precision)[0]


def slowed(plan: Plan, measured: np.ndarray, near: float) -> list[Plan]:
    """Return a plan with all frequencies divided by a factor, if there is one.

    Of frequencies that are rounded, the factor is known less well.
    """
    turning = (measured > STILL) & (plan.frequencies > STILL)
    ratio = np.median(plan.frequencies[turning] / measured[turning])
    plans = []
    for spread in (max(1e-5, near), STEP["bfloat16"]):
        factor = roundest(float(ratio), spread)
        if abs(factor - 1) <= spread:
            continue
        findings = ()
        if factor < 1:
            turn = plain(1 / factor)
            words = f"Pair 0 turns by {turn} per position, not by 1."
            findings = (Finding("frequencies", words, pair=0),)
        divided = plan._replace(
            frequencies=plan.frequencies / factor,
            divided_by=factor,
            findings=findings,
        )
        plans.append(divided)
    return plans


def changes_of(plan: Plan) -> Iterator[Plan]:
    """Yield a plan with each of the `CHANGES`."""
    if len(plan.frequencies) < 2:
        return
    for words, change in CHANGES.items():
        finding = Finding("frequencies", words)
        frequencies = change(plan.frequencies)
        one = np.ptp(frequencies) == 0
        yield plan._replace(
            frequencies=frequencies,
            base=np.nan if one else plan.base,
            findings=(finding,),
        )


def by_parts(measured: np.ndarray, plan: Plan, near: float) -> Plan | None:
    """Describe fast pairs that follow a base and slow ones that do not.

    Args:
        measured: The frequency of each pair.
        plan: Of the base.
        near: By how much, relatively, frequencies may be off.
    """
    index = np.flatnonzero(measured > STILL)
    ratios = plan.frequencies[index] / measured[index]
    if ratios.min() < 1 - near or np.diff(ratios).min() < -near * ratios[-1]:
        return slow_left_alone(index, ratios, measured, near)
    if ratios[-1] < 1 + near:
        return None
    fast = index[np.abs(ratios - 1) <= near]
    slow = index[np.abs(ratios / ratios[-1] - 1) <= near]
    between = np.setdiff1d(index, [*fast, *slow])
    if not len(fast) or len(between) > 0.7 * len(index):
        rounded = near >= STEP["bfloat16"]
        unlikely = abs(ratios[0] - 1) > near or plan.base not in USUAL_BASES
        if rounded or unlikely:
            return None
        words = (
            "each pair slower by a factor of its own, up to"
            f" {plain(ratios[-1], 4)} from base {plain(plan.base)}"
        )
        return Plan(measured, parts=words)
    base, factor = plain(plan.base), plain(roundest(ratios[-1], near))
    said = [f"{numbered('pair', fast)} as base {base} has them"]
    if len(between):
        said.append(f"{runs(between)} between")
    said.append(f"{runs(slow)} divided by {factor}")
    frequencies = measured.copy()
    frequencies[fast] = plan.frequencies[fast]
    frequencies[slow] = plan.frequencies[slow] / float(factor)
    return plan._replace(frequencies=frequencies, parts=", ".join(said))


def slow_left_alone(
    index: np.ndarray, ratios: np.ndarray, measured: np.ndarray, near: float
) -> Plan | None:
    """Describe fast pairs that are slowed, and slow ones that are not."""
    falling = np.diff(ratios).max() <= near * ratios[0]
    fast = np.abs(ratios / ratios[0] - 1) <= near
    slow = np.abs(ratios - 1) <= near
    ends = fast.sum() > 1 and slow.sum() > 1
    if not falling or not ends or ratios[0] < 1 + near or not slow[-1]:
        return None
    words = (
        f"{numbered('pair', index[~slow]).capitalize()} are slowed and the"
        " slowest pairs are not: scaling by parts is for the slow ones."
    )
    return Plan(measured, findings=(Finding("frequencies", words),))


def odd_pairs(measured: np.ndarray, plans: list[Plan], near: float) -> Plan:
    """Name pairs that turn otherwise than a base has it for them."""
    turning = measured > STILL
    if is_rounded(measured, near / 10):
        return off_the_base(measured, plans, near / 10)

    def misses(plan: Plan) -> np.ndarray:
        return turning & (off_by(measured, plan.frequencies) > near)

    plan = min(plans, key=lambda each: misses(each).sum())
    if misses(plan).sum() > 0.5 * turning.sum():
        for each in plans:
            due = np.sort(each.frequencies[turning])
            if follows(np.sort(measured[turning]), due, near):
                words = "The pairs stand in another order."
                finding = Finding("pair", words)
                return each._replace(frequencies=measured, findings=(finding,))
        return off_the_base(measured, plans, near)
    odd = np.flatnonzero(misses(plan))
    findings, named = [], set()
    for pair in odd.tolist():
        if pair in named:
            continue
        other = int(np.abs(np.log(plan.frequencies / measured[pair])).argmin())
        exchanged = np.array([pair, other])
        due = plan.frequencies[exchanged[::-1]]
        if other in odd and follows(measured[exchanged], due, near):
            named.add(other)
            words = f"Pairs {pair} and {other} are exchanged."
        else:
            words = (
                f"Pair {pair} turns by {plain(measured[pair], 4)} per position"
                f" instead of {plain(plan.frequencies[pair], 4)}."
            )
        findings.append(Finding("pair", words, pair=pair))
    frequencies = plan.frequencies.copy()
    frequencies[odd] = measured[odd]
    return plan._replace(frequencies=frequencies, findings=tuple(findings))


def off_the_base(measured: np.ndarray, plans: list[Plan], near: float) -> Plan:
    """Describe frequencies that follow no base, or one by and large."""
    for plan in plans:
        if follows(measured, plan.frequencies, 0.01):
            return plan  # the engine says by how much they miss it
    if is_rounded(measured, near):
        words = "All frequencies are numbers of 16 bits: they are rounded."
        return Plan(measured, findings=(Finding("precision", words),))
    words = "The frequencies follow no single base, nor parts of one."
    return Plan(measured, findings=(Finding("frequencies", words),))


def suggestion(
    base: float, columns: int, meant: tuple[float, ...] = USUAL_BASES
) -> str:
    """Say what an unusual base looks like, or nothing.

    Args:
        base: That was seen.
        columns: How many the exponents count.
        meant: What it may have been meant to be.
    """
    if base in meant or np.isnan(base) or columns < 4:
        return ""
    slips = dict(SLIPS)
    for factor in NTK_FACTORS:
        slips[f"NTK-aware scaling by {factor}"] = lambda b, d, factor=factor: (
            b * factor ** (d / (d - 2))
        )
    for right in meant:
        for cause, slip in slips.items():
            if abs(base / slip(right, columns) - 1) <= 2e-5:
                return f"{cause} (of base {plain(right)})"
    return ""
