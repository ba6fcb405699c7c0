"""Speeds of pairs: which base they follow, and what an odd one suggests.

A pair is two columns that turn together, like the hand of a clock. Its
speed is the angle, in radians, that it turns by from one position to the
next. The usual speeds are a geometric series, `base ** (-k / pairs)`.
"""

from typing import NamedTuple

import numpy as np

from .report import Finding, listed, plain, roundest_between

USUAL_BASES = (10_000, 500_000, 1_000_000)
PLAIN = 1e-5  # relative: as near as speeds in float32 come to a plain base
STILL = 1e-12  # radians per position: what turns by less stands still
ROUNDED = 0.01  # relative: as near as speeds in 16 bits come to a series


class Schedule(NamedTuple):
    """What the speeds of all pairs follow."""

    speeds: np.ndarray  # as they should be, by what they follow
    base: float = np.nan
    reading: int = 0  # which of the possible exponents the base belongs to
    divided_by: float = 1.0  # positions, or all speeds
    parts: str = ""  # says which pairs follow the base and which do not
    scaling: str = ""  # its name, if that is known
    scatter: float = 0.0  # by how much the pairs miss it, relatively
    findings: tuple[Finding, ...] = ()


class Series(NamedTuple):
    """A geometric series that most speeds follow."""

    slope: float  # of the logarithms, from pair to pair
    follow: np.ndarray  # which pairs do
    scatter: float  # how near these are, relatively


def speeds_of(base: float, pairs: int, steps: float = 0) -> np.ndarray:
    """Return the speed of each pair, in radians per position.

    Args:
        base: The 10 000 of the paper.
        pairs: How many speeds.
        steps: The pair that would have the speed `1 / base`, if not `pairs`.
    """
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


def schedule_of(
    speeds: np.ndarray,
    steps: tuple[float, ...],
    near: float,
    usual: tuple = USUAL_BASES,
) -> Schedule:
    """Say which base the speeds of all pairs follow, and how.

    Args:
        speeds: Of each pair, 0 where one stands still.
        steps: The pair that would have the speed `1 / base`; if there are
            several readings, the usual one comes first.
        near: By how much, relatively, the measured speeds may be off.
        usual: Bases that are likely.
    """
    index = np.flatnonzero(speeds > STILL)
    if len(index) < 2:
        return alone(speeds)
    other = in_another_order(speeds, steps, near, usual)
    if other:
        return other
    series = fit_series(index, speeds[index], near)
    trend, _ = np.polyfit(index, np.log(speeds[index]), 1)
    if min(series.slope, trend) > near:  # a few exchanged pairs rise too
        return backwards(speeds, steps, near)
    if np.ptp(np.log(speeds[index])) <= 10 * near:
        words = (
            "Pairs all turn at one speed, and each should be slower: does a"
            " whole-number division make all exponents 0?"
        )
        return Schedule(speeds, findings=(Finding("speeds", words),))
    base, reading = base_of(series, steps, usual)
    plan = speeds_of(base, len(speeds), steps[reading])
    start = mean_ratio(series, speeds[index], plan[index])
    seen_as = as_seen(start * plan[index])
    rest = ~series.follow & (np.abs(speeds[index] / seen_as - 1) > near)
    if not rest.any():
        slack = near + series.scatter
        divided_by, wrong = scaled_by(start, base, steps[reading], slack)
        return Schedule(
            plan / divided_by,
            base,
            reading,
            divided_by,
            scatter=series.scatter,
            findings=wrong,
        )
    near = max(10 * near, 1e-4)
    ratios = speeds[index] / plan[index]
    odd = index[np.abs(ratios - 1) > near]
    ends = np.minimum(np.abs(ratios - 1), np.abs(ratios / ratios[-1] - 1))
    most = np.mean(ends <= near) > 0.3  # of the pairs follow one or the other
    falling = np.diff(ratios).max() <= near and ratios[-1] < 1
    if falling and most and len(odd) > 1:
        return parts_of(speeds, plan, base, near)._replace(reading=reading)
    if len(odd) > len(index) / 2:
        return no_series(speeds, ratios, odd, near)
    wrong = wrong_pairs(speeds, plan, odd, near)
    return Schedule(plan, base, reading, findings=wrong)


def in_another_order(
    speeds: np.ndarray, steps: tuple[float, ...], near: float, usual: tuple
) -> Schedule | None:
    """Describe usual speeds whose pairs changed places, if that is all."""
    if np.all(np.diff(speeds) > 0):
        return None  # these run backwards
    near = max(10 * near, 1e-4)
    for base in usual:
        for reading, step in enumerate(steps):
            plan = speeds_of(base, len(speeds), step)
            odd = np.flatnonzero(np.abs(speeds / plan - 1) > near)
            alike = np.abs(np.sort(speeds)[::-1] / plan - 1) <= near
            if len(odd) and alike.all():
                wrong = wrong_pairs(speeds, plan, odd, near)
                return Schedule(plan, base, reading, findings=wrong)
    return None


def mean_ratio(series: Series, speeds: np.ndarray, plan: np.ndarray) -> float:
    """Return how many times faster the pairs are than the plan."""
    ratios = speeds[series.follow] / plan[series.follow]
    return float(np.exp(np.log(ratios).mean()))


def as_seen(speeds: np.ndarray) -> np.ndarray:
    """Return the speeds that are seen where a step is half a turn or more."""
    return np.abs(np.angle(np.exp(1j * speeds)))


def fit_series(index: np.ndarray, speeds: np.ndarray, near: float) -> Series:
    """Find the geometric series that most of the speeds follow.

    Args:
        index: The number of each pair.
        speeds: Of these pairs, above 0.
        near: By how much, relatively, a speed may miss the series.
    """
    logs = np.log(speeds)
    slope, start = np.polyfit(index, logs, 1)
    off = np.abs(logs - start - slope * index)
    if off.max() <= max(near, ROUNDED):
        return Series(slope, off < np.inf, off.max())
    near = max(10 * near, 1e-4)
    steps = np.diff(logs) / np.diff(index)
    slope = steps[most_common(steps, near)].mean()
    follow = most_common(logs - slope * index, near)
    slope, _ = np.polyfit(index[follow], logs[follow], 1)
    return Series(slope, follow, near)


def most_common(values: np.ndarray, near: float) -> np.ndarray:
    """Tell which values are near to each other, most of all.

    Of two groups of one size it is the one that begins first.
    """
    together = np.abs(values[:, None] - values) <= near
    return together[np.argmax(together.sum(axis=1))]


def alone(speeds: np.ndarray) -> Schedule:
    """Describe one pair that turns, or none: it has no base."""
    divided_by, wrong = scaled_by(float(speeds.max()), np.nan, np.nan, PLAIN)
    return Schedule(speeds, divided_by=divided_by, findings=wrong)


def backwards(
    speeds: np.ndarray, steps: tuple[float, ...], near: float
) -> Schedule:
    """Describe speeds that rise from pair to pair."""
    other = schedule_of(speeds[::-1], steps, near)
    words = "The speeds run backwards: pair 0 is the slowest, not the fastest."
    wrong = Finding("speeds", words, pair=0)
    return other._replace(speeds=other.speeds[::-1], findings=(wrong,))


def base_of(
    series: Series, steps: tuple[float, ...], usual: tuple
) -> tuple[float, int]:
    """Return the base, and which of the steps it belongs to.

    Of several readings the first with a usual base is taken.
    """
    spread = max(2e-6, 20 * series.scatter)  # of what float32 loses
    bases = []
    for step in steps:
        base = np.exp(-series.slope * step)
        bases.append(
            roundest_between(base * (1 - spread), base * (1 + spread))
        )
    for reading, base in enumerate(bases):
        if base in usual:
            return base, reading
    return bases[0], 0


def scaled_by(
    start: float, base: float, steps: float, near: float
) -> tuple[float, tuple[Finding, ...]]:
    """Return what the speeds are divided by, and a finding if it is odd.

    Args:
        start: The speed of pair 0, which should be 1.
        base: That the pairs follow.
        steps: The pair that would have the speed `1 / base`.
        near: By how much, relatively, the speeds may be off.
    """
    spread = max(PLAIN, 4 * near)
    if abs(start - 1) <= spread:
        return 1.0, ()
    causes = {
        np.pi / 180: "degrees are taken for radians",
        180 / np.pi: "radians are taken for degrees",
        1 / (2 * np.pi): "angles are multiplied by 2 pi",
        2 * np.pi: "angles are divided by 2 pi",
        base ** (1 / steps): "exponents begin with pair 1 instead of 0",
    }
    words = f"Pair 0 turns by {plain(start)} per position, not by 1"
    for factor, cause in causes.items():
        if abs(start * factor - 1) <= spread:
            wrong = Finding("speeds", f"{words}: {cause}.", pair=0)
            return factor, (wrong,)
    divided_by = roundest_between((1 - spread) / start, (1 + spread) / start)
    if divided_by > 1:
        return divided_by, ()
    return divided_by, (Finding("speeds", f"{words}.", pair=0),)


def parts_of(
    speeds: np.ndarray, plan: np.ndarray, base: float, near: float
) -> Schedule:
    """Describe fast pairs that follow the base and slow ones that do not.

    Args:
        speeds: Of each pair, 0 where one stands still.
        plan: The speeds of the base.
        base: That the fast ones follow.
        near: By how much, relatively, the speeds may be off.
    """
    index = np.flatnonzero(speeds)
    ratios = speeds[index] / plan[index]
    factor = roundest_between((1 - near) / ratios[-1], (1 + near) / ratios[-1])
    fast = index[np.abs(ratios - 1) <= near]
    slow = index[np.abs(ratios * factor - 1) <= near]
    between = np.setdiff1d(index, [*fast, *slow])
    said = [f"pairs {listed(fast)} as base {plain(base)} has them"]
    if len(between):
        said.append(f"{listed(between)} between")
    said.append(f"{listed(slow)} divided by {plain(factor)}")
    return Schedule(speeds, base, parts=", ".join(said))


def wrong_pairs(
    speeds: np.ndarray, plan: np.ndarray, odd: np.ndarray, near: float
) -> tuple[Finding, ...]:
    """Name pairs that are exchanged, or turn by a speed of their own."""
    findings = []
    named: set[int] = set()
    for pair in odd.tolist():
        other = int(np.abs(np.log(plan / speeds[pair])).argmin())
        if pair in named:
            continue
        if (
            other in odd
            and abs(speeds[pair] / plan[other] - 1) <= near
            and abs(speeds[other] / plan[pair] - 1) <= near
        ):
            named |= {pair, other}
            words = f"Pairs {pair} and {other} are exchanged."
        else:
            words = (
                f"Pair {pair} turns by {plain(speeds[pair], 4)} per position"
                f" instead of {plain(plan[pair], 4)}."
            )
        findings.append(Finding("pair", words, pair=pair))
    return tuple(findings)


def no_series(
    speeds: np.ndarray, ratios: np.ndarray, odd: np.ndarray, near: float
) -> Schedule:
    """Describe speeds that for the most part follow no series.

    Args:
        speeds: Of each pair.
        ratios: To the series that is nearest.
        odd: Which pairs do not follow it.
        near: By how much, relatively, the speeds may be off.
    """
    for base in sorted(USUAL_BASES, reverse=True):
        divided = speeds_of(base, len(speeds)) / np.maximum(speeds, 1e-300)
        if divided.min() >= 1 - near and np.diff(divided).min() >= -near:
            parts = (
                f"each pair of base {plain(base)} divided by a number of its"
                f" own, {plain(divided[0], 4)} to {plain(divided[-1], 4)}"
            )
            return Schedule(speeds, base, parts=parts)
    off = np.abs(speeds[1::2] - speeds[:-1:2])
    if np.all(off <= near * speeds[:-1:2]):
        words = "Pairs turn two by two at one speed: a pair is counted twice."
    elif np.diff(ratios).min() >= -near and ratios[0] < 1 - near:
        words = (
            f"Pairs {listed(odd)} are slowed and the slowest pairs are not:"
            " scaling by parts is for the slow ones."
        )
    else:
        words = "The speeds of the pairs follow no single base, nor parts."
    return Schedule(speeds, findings=(Finding("speeds", words),))


def suggestion(
    base: float, width: int, usual_bases: tuple = USUAL_BASES
) -> str:
    """Say what an unusual base looks like, or nothing.

    Args:
        base: That was seen.
        width: How many columns the exponents count.
        usual_bases: What it may have been meant to be.
    """
    if base in usual_bases or np.isnan(base):
        return ""
    for usual in usual_bases:
        causes = {
            usual**0.5: "a missing factor 2 in the exponent",
            float(usual) ** 2: "a doubled exponent",
            usual ** (width / (width - 1)): "d - 1 for d in the exponent",
            usual ** (width / (width - 2)): "d - 2 for d in the exponent",
            np.exp(np.log10(usual)): "log10 for the natural logarithm",
        }
        for factor in (2, 4, 8, 16, 32):
            larger = usual * factor ** (width / (width - 2))
            causes[larger] = f"NTK-aware scaling by {factor}"
        for other, cause in causes.items():
            if abs(base / other - 1) <= 2 * PLAIN:
                return f"{cause} (of base {plain(usual)})"
    return ""
