"""Speeds of pairs: which base they follow, and what an odd one suggests.

A pair is two columns that turn together, like the hand of a clock. Its
speed is the angle, in radians, that it turns by from one position to the
next. The usual speeds are a geometric series, `base ** (-k / pairs)`.
"""

from typing import NamedTuple

import numpy as np

from .report import Finding, listed, plain, rounder

USUAL_BASES = (10_000, 500_000, 1_000_000, 5_000_000, 10_000_000, 150_000)
PLAIN = 1e-5  # relative: as near as speeds in float32 come to a plain base


def speeds_of(base: float, pairs: int, steps: float = 0) -> np.ndarray:
    """Return the speed of each pair, in radians per position.

    Args:
        base: The 10 000 of the paper.
        pairs: How many speeds.
        steps: The pair that would have the speed `1 / base`, if not `pairs`.
    """
    return float(base) ** (-np.arange(pairs) / (steps or pairs))


class Schedule(NamedTuple):
    """What the speeds of all pairs follow."""

    speeds: np.ndarray  # as they should be, by what they follow
    base: float = np.nan
    proportional: bool = False  # the exponents count the head's columns
    divided_by: float = 1.0  # positions, or all speeds
    parts: str = ""  # says which pairs follow the base and which do not
    scatter: float = 0.0  # by how much the pairs miss it, relatively
    findings: tuple[Finding, ...] = ()


class Series(NamedTuple):
    """A geometric series that most speeds follow."""

    slope: float  # of the logarithms, from pair to pair
    follow: np.ndarray  # which pairs lie on one line
    scatter: float  # how near to the line they lie, relatively


def fit_series(index: np.ndarray, speeds: np.ndarray, near: float) -> Series:
    """Find the geometric series that most of the speeds follow.

    Args:
        index: The number of each pair.
        speeds: Of these pairs, above 0.
        near: By how much, relatively, a speed may miss the series.
    """
    logs = np.log(speeds)
    everyone = np.ones(len(logs), bool)
    slope, start = np.polyfit(index, logs, 1)
    off = np.abs(logs - start - slope * index)
    if off.max() <= max(near, 0.01):  # one series, exact or rounded
        return Series(slope, everyone, off.max())
    slope = most_common(np.diff(logs) / np.diff(index), near)[0]
    follow = most_common(logs - slope * index, near * len(logs))[1]
    if follow.sum() > 2:
        slope, start = np.polyfit(index[follow], logs[follow], 1)
        off = np.abs(logs - start - slope * index)
        follow = off <= 2 * near
    return Series(slope, follow, near)


def most_common(values: np.ndarray, near: float) -> tuple[float, np.ndarray]:
    """Return the mean of the largest group of near values, and who is in it.

    Of groups of one size it is the one that begins first.
    """
    together = np.abs(values[:, None] - values) <= near
    group = together[np.argmax(together.sum(axis=1))]
    return float(values[group].mean()), group


def describe(
    speeds: np.ndarray, columns: int, width: int, near: float
) -> Schedule:
    """Say which base the speeds of all pairs follow, and how.

    Args:
        speeds: Of each pair, 0 where one stands still.
        columns: How many columns these pairs are.
        width: Of the whole head; more than `columns` if a part turns.
        near: By how much, relatively, the measured speeds may be off.
    """
    index = np.flatnonzero(speeds)
    if len(index) < 2:
        return alone(speeds)
    series = fit_series(index, speeds[index], near)
    if series.slope > near:
        return backwards(speeds, columns, width, near)
    if abs(series.slope) <= near:
        words = "All pairs turn at the same speed; each should be slower."
        return Schedule(speeds, findings=(Finding("speeds", words),))
    base, proportional = base_of(series, columns, width)
    steps = width / 2 if proportional else columns / 2
    plan = speeds_of(base, len(speeds), steps)
    ratios = speeds / plan
    if series.follow.all():
        start = float(np.exp(np.log(ratios[index]).mean()))
        divided_by, findings = scaled_by(
            start, base, steps, near + series.scatter
        )
        return Schedule(
            plan / divided_by,
            base,
            proportional,
            divided_by,
            scatter=series.scatter,
            findings=findings,
        )
    return by_parts_or_wrong(speeds, plan, ratios, base, proportional, near)


def alone(speeds: np.ndarray) -> Schedule:
    """Describe one pair that turns: it has no base."""
    turning = speeds[speeds > 0]
    if not len(turning):
        return Schedule(speeds)
    divided_by, findings = scaled_by(float(turning[0]), np.nan, 1, PLAIN)
    return Schedule(speeds, divided_by=divided_by, findings=findings)


def backwards(
    speeds: np.ndarray, columns: int, width: int, near: float
) -> Schedule:
    """Describe speeds that rise from pair to pair."""
    other = describe(speeds[::-1], columns, width, near)
    words = "The speeds run backwards: pair 0 is the slowest, not the fastest."
    return other._replace(
        speeds=other.speeds[::-1],
        findings=(Finding("speeds", words, pair=0),),
    )


def base_of(series: Series, columns: int, width: int) -> tuple[float, bool]:
    """Return the base, and whether exponents count the whole head.

    A part of the columns has two readings: the exponents count the part's
    columns, as usual, or the head's. The one with a usual base is taken,
    else the one whose base takes fewer digits to write.
    """
    spread = max(PLAIN, 4 * series.scatter)
    bases = []
    for size in (columns, width):
        base = np.exp(-series.slope * size / 2)
        bases.append(rounder(base * (1 - spread), base * (1 + spread)))
    part, head = bases
    if columns == width or part in USUAL_BASES:
        return part, False
    if head in USUAL_BASES or len(f"{head:g}") < len(f"{part:g}"):
        return head, True
    return part, False


def scaled_by(
    start: float, base: float, steps: float, near: float
) -> tuple[float, tuple[Finding, ...]]:
    """Return what the speeds are divided by, and a finding if it is odd.

    Args:
        start: The speed of pair 0, which should be 1.
        base: That the pairs follow.
        steps: The pair whose speed is 1 over the base.
        near: By how much, relatively, the speeds may be off.
    """
    if abs(start - 1) <= max(PLAIN, 4 * near):
        return 1.0, ()
    spread = max(PLAIN, 4 * near)
    divided_by = rounder((1 - spread) / start, (1 + spread) / start)
    causes = {
        np.pi / 180: "angles in degrees where radians are due",
        180 / np.pi: "angles turned into radians twice",
        1 / (2 * np.pi): "turns where radians are due",
        2 * np.pi: "radians taken for turns",
        base ** (1 / steps): "exponents that count from 1 instead of 0",
        base ** (0.5 / steps): "exponents that are half a pair too large",
        base ** (-1 / steps): "exponents that count from -1 instead of 0",
    }
    for factor, cause in causes.items():
        if abs(divided_by / factor - 1) <= spread:
            words = f"Pair 0 turns by {plain(start)}, not 1, per position: {cause}."
            return 1 / start, (Finding("speeds", words, pair=0),)
    if divided_by > 1:
        return divided_by, ()
    words = f"Positions are multiplied by {plain(1 / divided_by)}."
    return divided_by, (Finding("speeds", words, pair=0),)


def by_parts_or_wrong(
    speeds: np.ndarray,
    plan: np.ndarray,
    ratios: np.ndarray,
    base: float,
    proportional: bool,
    near: float,
) -> Schedule:
    """Describe speeds of which some do not follow the base."""
    turning = np.flatnonzero(speeds)
    near = max(10 * near, 1e-4)
    lead = turning[np.abs(ratios[turning] - 1) <= near]
    odd = np.setdiff1d(turning, lead)
    falling = np.all(np.diff(ratios[turning]) <= near)
    if falling and len(odd) > 1 and ratios[turning[-1]] < 1:
        return by_parts(speeds, plan, ratios, base, proportional, near)
    rising = np.all(np.diff(ratios[turning]) >= -near)
    if rising and len(odd) > 1 and len(lead) > 1 and ratios[turning[0]] < 1:
        words = (
            f"Pairs {listed(odd)} are slowed, by up to"
            f" {plain(1 / ratios[turning[0]], 4)}, and the slow pairs are not:"
            " scaling by parts is for the slow ones."
        )
        findings = [Finding("speeds", words, pair=int(odd[0]))]
    else:
        findings = wrong_pairs(speeds, plan, odd, near)
    return Schedule(speeds, base, proportional, findings=tuple(findings))


def by_parts(speeds, plan, ratios, base, proportional, near) -> Schedule:
    """Describe fast pairs that follow the base and slow ones that do not."""
    turning = np.flatnonzero(speeds)
    lead = turning[np.abs(ratios[turning] - 1) <= near]
    last = ratios[turning[-1]]
    factor = rounder((1 - near) / last, (1 + near) / last)
    tail = turning[np.abs(ratios[turning] * factor - 1) <= near]
    between = np.setdiff1d(turning, [*lead, *tail])
    exact = speeds.copy()
    exact[lead] = plan[lead]
    exact[tail] = plan[tail] / factor
    said = []
    if len(lead):
        said.append(f"pairs {listed(lead)} as base {plain(base)} has them")
    if len(between):
        said.append(f"{listed(between)} between")
    said.append(f"{listed(tail)} divided by {plain(factor)}")
    return Schedule(exact, base, proportional, parts=", ".join(said))


def wrong_pairs(
    speeds: np.ndarray, plan: np.ndarray, odd: np.ndarray, near: float
) -> list[Finding]:
    """Name pairs that are exchanged, or turn by a speed of their own."""
    findings, left = [], set(odd.tolist())
    if len(odd) > max(2, len(speeds) // 3):
        words = "The speeds of the pairs follow no single base."
        return [Finding("speeds", words, pair=int(odd[0]))]
    for pair in odd.tolist():
        likely = int(np.argmin(np.abs(np.log(speeds[pair] / plan))))
        exchanged = (
            {pair, likely} <= left
            and abs(speeds[pair] / plan[likely] - 1) <= near
            and abs(speeds[likely] / plan[pair] - 1) <= near
        )
        if exchanged:
            words = f"Pairs {pair} and {likely} are exchanged."
            findings.append(Finding("pair", words, pair=pair))
            left -= {pair, likely}
        elif pair in left:
            words = (
                f"Pair {pair} turns by {plain(speeds[pair], 4)} per position"
                f" instead of {plain(plan[pair], 4)}."
            )
            findings.append(Finding("pair", words, pair=pair))
    return findings


def suggestion(base: float, width: int) -> str:
    """Say what an unusual base looks like, or nothing."""
    if base in USUAL_BASES or not np.isfinite(base):
        return ""
    for usual in USUAL_BASES:
        causes = {
            usual**0.5: "a missing factor 2 in the exponent",
            float(usual) ** 2: "an exponent that is doubled",
            usual ** (width / (width - 1)): "d - 1 for d in the exponent",
            usual
            ** (width / max(1, width - 2)): "d - 2 for d in the exponent",
            usual ** (width / (width + 2)): "d + 2 for d in the exponent",
            np.exp(np.log10(usual)): "log10 for the natural logarithm",
            np.exp(np.log2(usual)): "log2 for the natural logarithm",
        }
        for factor in (2, 4, 8, 16, 32):
            larger = usual * factor ** (width / max(1, width - 2))
            causes[larger] = f"NTK-aware scaling by {factor}"
        for other, cause in causes.items():
            if abs(base / other - 1) <= 2 * PLAIN:
                return f"base {plain(base)} suggests {cause} (of {usual})"
    return ""
