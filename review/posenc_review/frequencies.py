"""Which base the frequencies of pairs follow, and what was done to them.

A pair is two columns that turn together, like the hand of a clock. Its
frequency is the angle, in radians, that it turns by from one position to the
next. The usual frequencies are a geometric series, `base ** (-k / pairs)`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .report import Finding, numbered, plain, roundest
from .rounding import FORMATS, STEP

BASE = 10_000.0
USUAL_BASES = (BASE, 500_000.0, 1_000_000.0)
OTHER = 0.05  # radians per position: what is farther off is another one
STILL = 1e-12  # radians per position: what turns by less stands still

# What becomes of the right frequencies, the simplest first.
CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "The frequencies run backwards: pair 0 is the slowest, not the fastest.": (
        lambda w: w[::-1]
    ),
    "Pairs turn ever faster: a minus is missing in the exponent.": (
        lambda w: 1 / np.maximum(w, STILL)
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
} | {
    f"NTK-aware scaling by {factor}": (
        lambda b, d, factor=factor: b * factor ** (d / (d - 2))
    )
    for factor in (2, 4, 8, 16, 32)
}


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
    """Return the usual frequencies; pair `steps` would have 1 / base."""
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
    frequencies, and `explain` says what is rounded.

    `measured` is 0 where a pair stands still, and may be off, relatively, by
    `precision`. The frequency of pair `steps` would be `1 / base`; if there
    are several countings, the usual one comes first. Plans that are `likely`
    are tried before those of usual `bases`.
    """
    pairs, near = len(measured), 4 * precision
    if np.sum(measured > STILL) < 2:  # a pair alone has no base
        plan = Plan(np.where(measured > STILL, 1.0, 0.0))
        if follows(measured, plan.frequencies, max(near, 1e-5)):
            return plan
        return next(slowed(plan, measured, near))
    usual = list(likely)
    for base in bases:
        for exponents, count in enumerate(steps):
            due = geometric(base, pairs, count)
            usual.append(Plan(due, base, exponents))
    fitted = fitted_plans(measured, steps, precision)
    for plans in (usual, *([plan] for plan in fitted)):
        simple, divided = [], []
        for plan in plans:
            if not plan.findings:
                simple += changed(plan)
                if plan.divided_by == 1:
                    divided += slowed(plan, measured, near)
        for group in (plans, simple, divided):
            for fits in (follows, follows_rounded):
                for plan in group:
                    if fits(measured, plan.frequencies, near):
                        return plan
    usual = [plan for plan in usual if not plan.findings]
    return inexact_plan(measured, usual, fitted, precision)


def inexact_plan(
    measured: np.ndarray,
    usual: list[Plan],
    fitted: list[Plan],
    precision: float,
) -> Plan:
    """Return the plan that some pairs follow, or all of them by and large."""
    near = max(10 * precision, 1e-4)
    turning, findings = measured[measured > STILL], ()
    if len(turning) > 3 and follows_rounded(turning, turning, 4 * precision):
        words = "The frequencies are numbers of 16 bits: they are rounded."
        findings, near = (Finding("precision", words),), STEP["bfloat16"]
    plan = by_parts(measured, [*reversed(usual), *fitted], near)
    if not plan and not findings:
        plan = odd_pairs(measured, [*usual, *fitted], near)
    if plan:
        return plan
    for plan in [*usual, *fitted]:
        if follows(measured, plan.frequencies, 0.01):
            return plan  # `explain` says by how much they miss it
    if findings:  # rounded numbers fit any factors
        return Plan(measured, findings=findings)
    words = "The frequencies follow no single base, nor parts of one."
    unknown = Plan(measured, findings=(Finding("frequencies", words),))
    # Or has each pair a factor of its own?
    return by_parts(measured, usual, 1e-4, most=1) or unknown


def fitted_plans(
    measured: np.ndarray, steps: tuple[float, ...], precision: float
) -> list[Plan]:
    """Return plans of the base that most pairs follow, the roundest first."""
    index = np.flatnonzero(measured > STILL)
    logs = np.log(measured[index])
    near = max(10 * precision, 1e-4)
    slopes = np.diff(logs) / np.diff(index)
    slope = slopes[largest_group(slopes, near)].mean()
    if abs(slope) < 1e-3:
        return []
    group = largest_group(logs - slope * index, near)
    slope, start = np.polyfit(index[group], logs[group], 1)
    scatter = np.abs(logs - start - slope * index)[group].max()
    plans = []
    for exponents, count in enumerate(steps):
        base = float(np.exp(min(abs(slope) * count, 600.0)))
        for spread in (max(2e-6, 20 * scatter), 0.02):
            rounded = roundest(base, spread)
            frequencies = geometric(rounded, len(measured), count)
            plans.append(Plan(frequencies, rounded, exponents))
    return sorted(plans, key=lambda plan: len(plain(plan.base).strip("0.")))


def largest_group(values: np.ndarray, near: float) -> np.ndarray:
    """Tell which values are near to each other, most of all."""
    together = np.abs(values[:, None] - values) <= near
    return together[np.argmax(together.sum(axis=1))]


def off_by(measured: np.ndarray, due: np.ndarray) -> np.ndarray:
    """Return by how much, relatively, frequencies miss those of a plan.

    Of those that make half a turn or more, whole turns cannot be seen.
    """
    with np.errstate(invalid="ignore"):  # infinity, from float16
        seen = np.abs(np.angle(np.exp(1j * due)))
    off = np.abs(measured - seen)
    return np.where(off > OTHER, 1, off / np.maximum(np.abs(due), STILL))


def follows(measured: np.ndarray, due: np.ndarray, near: float) -> bool:
    """Tell whether frequencies are those of a plan, but where one is 0."""
    return bool(np.all((off_by(measured, due) <= near) | (measured <= STILL)))


def follows_rounded(
    measured: np.ndarray, due: np.ndarray, near: float
) -> bool:
    """Tell whether frequencies are those of a plan in a shorter format."""
    return any(
        follows(measured, FORMATS[name](due), near)
        for name in ("bfloat16", "float16", "TensorFloat-32")
        if near < STEP[name] / 8
    )


def changed(plan: Plan) -> Iterator[Plan]:
    """Yield a plan with each of the `CHANGES`."""
    for words, change in CHANGES.items():
        frequencies = change(plan.frequencies)
        yield plan._replace(
            frequencies=frequencies,
            base=plan.base if np.ptp(frequencies) else np.nan,
            findings=(Finding("frequencies", words),),
        )


def slowed(plan: Plan, measured: np.ndarray, near: float) -> Iterator[Plan]:
    """Yield a plan with all frequencies divided by a factor, if there is one.

    Of frequencies that are rounded, the factor is known less well.
    """
    turning = (measured > STILL) & (plan.frequencies > STILL)
    ratio = float(np.median(plan.frequencies[turning] / measured[turning]))
    for spread in (max(1e-5, near), STEP["bfloat16"]):
        factor = roundest(ratio, spread)
        turn = plain(1 / factor)
        words = f"Pair 0 turns by {turn} per position, not by 1."
        finding = Finding("frequencies", words, pair=0)
        yield plan._replace(
            frequencies=plan.frequencies / factor,
            divided_by=factor,
            findings=(finding,) if factor < 1 else (),
        )


def by_parts(
    measured: np.ndarray, plans: list[Plan], near: float, most: float = 0.7
) -> Plan | None:
    """Return the first plan that the fast pairs follow, and not the slow.

    Fast pairs follow a base, slow ones are divided by a factor, and those
    between, at `most` this part of all, by less. Where it is the other way
    round, that is a finding.
    """
    index = np.flatnonzero(measured > STILL)
    for plan in plans:
        due = plan.frequencies[index]
        ratios = due / measured[index]
        fast = np.abs(ratios / ratios[0] - 1) <= near
        slow = np.abs(ratios / ratios[-1] - 1) <= near
        steps, slack = np.diff(ratios), near * ratios.max()
        if (fast & slow).any() or np.mean(~fast & ~slow) > most:
            continue
        if abs(ratios[0] - 1) <= near and steps.min() >= -slack:
            factor = roundest(ratios[-1], near)
            parts = (
                f"{numbered('pair', index[fast])} as base {plain(plan.base)}"
                f" has them, {numbered('pair', index[slow])} divided by"
                f" {plain(factor)}"
            )
            unseen = measured <= STILL  # too slow for float16, or still
            own = np.where(unseen, plan.frequencies / factor, measured)
            likely = own.copy()
            likely[index[fast]] = due[fast]
            likely[index[slow]] = due[slow] / factor
            # `explain` says what is rounded; else they are as measured.
            is_exact = off_by(measured, likely) <= 8 * STEP["float32"]
            is_rounded = near >= STEP["bfloat16"]
            exact = np.where(is_exact | is_rounded, likely, own)
            return plan._replace(frequencies=exact, parts=parts)
        ends = fast.sum() > 1 and slow.sum() > 1
        if ends and abs(ratios[-1] - 1) <= near and steps.max() <= slack:
            words = (
                f"{numbered('pair', index[~slow]).capitalize()} are slowed"
                " and the slowest pairs are not: scaling by parts is for the"
                " slow ones."
            )
            return Plan(measured, findings=(Finding("frequencies", words),))
    return None


def odd_pairs(
    measured: np.ndarray, plans: list[Plan], near: float
) -> Plan | None:
    """Name pairs that turn otherwise than a base has it, if they are few."""
    turning = measured > STILL

    def misses(plan: Plan) -> np.ndarray:
        return turning & (off_by(measured, plan.frequencies) > near)

    plan = min(plans, key=lambda each: misses(each).sum())
    due, odd = plan.frequencies, np.flatnonzero(misses(plan))
    if len(odd) > 0.5 * turning.sum():
        return None
    if not len(odd):
        return plan
    pair = int(odd[0])
    words = (
        f"Pair {pair} turns by {plain(measured[pair], 4)} per position instead"
        f" of {plain(due[pair], 4)}."
    )
    if len(odd) > 1:
        words += f" Off, too: {numbered('pair', odd[1:])}."
    if len(odd) == 2 and follows(measured[odd], due[odd[::-1]], near):
        words = f"Pairs {odd[0]} and {odd[1]} are exchanged."
    return plan._replace(
        frequencies=np.where(misses(plan), measured, due),
        findings=(Finding("pair", words, pair=pair),),
    )


def suggestion(
    base: float, columns: int, meant: tuple[float, ...] = USUAL_BASES
) -> str:
    """Say what an unusual base looks like, or nothing."""
    if base in meant or np.isnan(base) or columns < 4:
        return ""
    for right in meant:
        for cause, slip in SLIPS.items():
            if abs(base / slip(right, columns) - 1) <= 2e-5:
                return f"{cause} (of base {plain(right)})"
    return ""
