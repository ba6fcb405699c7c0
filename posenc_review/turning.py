"""How the pairs of a rotary function turn at its first positions."""

from typing import NamedTuple

import numpy as np

from .frequencies import STILL, USUAL_BASES, Plan, plan_of
from .held import Asked
from .hypothesis import Hypothesis, Measured, measure
from .pairs import Pairs, hands_of
from .report import Finding, numbered, plain


class Turning(NamedTuple):
    """Pairs, what their frequencies follow, and the directions."""

    pairs: Pairs
    hands: np.ndarray  # at positions 0, 1, 2 and so on, `[.., pairs, 2]`
    signed: np.ndarray  # the frequencies that were seen, minus for clockwise
    plan: Plan
    laid_out: tuple[Finding, ...]  # if angles are not laid out as pairs are

    @property
    def is_usual(self) -> bool:
        """Tell whether frequencies are known exactly, by a usual base."""
        return self.plan.base in USUAL_BASES and not self.plan.parts

    def model(self, asked: Asked, precision: float) -> Hypothesis:
        """Return where hands should be, by what the first positions show."""
        frequencies = directed(self)[:, None]
        if self.laid_out:
            frequencies = measure(self.hands).frequencies
        loose = precision > 1e-4 and not self.is_usual
        return Hypothesis(
            frequencies,
            asked.tolerance + precision,
            length=asked.length,
            doubt=precision if loose else 0.0,
        )


def turning_of(
    matrices: np.ndarray, pairs: Pairs, asked: Asked, precision: float
) -> Turning:
    """Make out what pairs turn by."""
    hands = hands_of(matrices, pairs)
    signed, laid_out = frequencies_seen(pairs, measure(hands), precision)
    steps = [float(len(pairs.columns))]
    if pairs.columns.size < pairs.width:  # a part: its exponents may count
        steps.append(pairs.width / 2)  # the whole head
    likely = asked.plans
    if likely and len(likely[0].frequencies) != len(signed):
        likely = ()
    bases = USUAL_BASES
    if asked.base is not None and asked.base not in bases:
        bases = (float(asked.base), *bases)
    plan = plan_of(np.abs(signed), tuple(steps), precision, likely, bases)
    turning = Turning(pairs, hands, signed, plan, laid_out)
    if pairs.still[-1] and not turning.is_usual:  # the end of a part, it seems
        return turning_of(matrices, pairs.but_last(), asked, precision)
    return turning


def uneven_pairs(hands: np.ndarray) -> list[Finding]:
    """Find a pair that turns by another angle from position to position."""
    uneven = np.flatnonzero(~measure(hands).even.any(axis=1))
    if not len(uneven):
        return []
    pair = int(uneven[0])
    angles = np.unwrap(np.angle(hands[:4, pair, 0]))
    steps = ", ".join(plain(step, 3) for step in np.diff(angles))
    words = (
        "Scores do not depend on the offset alone: from position 0 to 3,"
        f" pair {pair} turns by {steps}."
    )
    return [Finding("offsets", words, 0, pair)]


def frequencies_seen(
    pairs: Pairs, was: Measured, precision: float
) -> tuple[np.ndarray, tuple[Finding, ...]]:
    """Return the frequency of each pair, negative if clockwise.

    Of two hands it is that of the one that turns more evenly; of two that
    turn alike, the first, unless it stands still. If angles are laid out
    otherwise than pairs, that is a finding.
    """
    turns = np.where(was.even, was.frequencies, 0)
    first, second = turns.T
    first_off, second_off = was.off.T
    better = (first_off > precision / 10) & (second_off < first_off / 4)
    signed = np.where(better | (np.abs(first) < STILL), second, first)
    sizes = np.abs(turns)
    apart = np.ptp(sizes, axis=1)
    if not was.even.all() or np.all(
        apart <= precision * sizes.max(axis=1) + 1e-9
    ):
        return signed, ()
    by_column = turns.ravel()[np.argsort(pairs.columns.ravel())]
    layouts = {
        "half": by_column.reshape(2, -1).T,
        "interleaved": by_column.reshape(-1, 2),
    }
    for name, angles in layouts.items():
        slack = precision * np.abs(angles[:, 0]) + 1e-9
        if np.all(np.ptp(angles, axis=1) <= slack):
            place = int(apart.argmax())
            one, other = pairs.columns[place].tolist()
            words = (
                f"The pairs are {pairs.layout}, the angles are laid out"
                f" {name}: columns {one} and {other}, which are a pair, turn"
                f" by {plain(sizes[place, 0], 4)} and"
                f" {plain(sizes[place, 1], 4)}."
            )
            return angles[:, 0], (Finding("layout", words, column=one),)
    return signed, ()


def signs_of(turning: Turning) -> tuple[np.ndarray, float]:
    """Return the direction of each pair, 0 if unseen, and the usual one."""
    seen = turning.plan.frequencies < np.pi  # else half a turn or more
    signs = np.sign(turning.signed) * seen
    usual = np.sign(signs.sum()) or next(iter(signs[signs != 0]), 1.0)
    return signs, float(usual)


def directed(turning: Turning) -> np.ndarray:
    """Return exact frequencies with their directions."""
    signs, usual = signs_of(turning)
    frequencies = turning.plan.frequencies
    still = turning.pairs.still & (frequencies < np.pi)
    signed = frequencies * np.where(signs == -usual, -usual, usual)
    return np.where(still, 0, signed)


def odd_ones(turning: Turning) -> list[Finding]:
    """Find pairs that stand still, or turn against the others."""
    pairs, plan = turning.pairs, turning.plan
    signs, usual = signs_of(turning)
    findings = []
    against = np.flatnonzero(signs == -usual)
    unsure = np.isnan(plan.base) and plan.findings  # of frequencies, so signs
    if len(against) and not unsure:
        words = f"Against the others turn: {numbered('pair', against)}."
        findings.append(Finding("pair", words, pair=int(against[0])))
    if len(pairs.columns) == 1 and pairs.width >= 8:
        words = "Only one pair turns: have frequencies become whole numbers?"
        findings.append(Finding("pair", words))
    for pair in np.flatnonzero(pairs.still & (plan.frequencies < np.pi)):
        one, other = pairs.columns[pair].tolist()
        words = f"Pair {pair} (columns {one}, {other}) stands still."
        findings.append(Finding("pair", words, pair=int(pair)))
    return findings
