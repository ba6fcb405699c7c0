"""Compare what is seen with a hypothesis, and find the change that explains.

A wrong function is a right one with one or two things changed. `explain`
returns the first of the known `changes` that explains all that is seen.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .changes import changes
from .hypothesis import NEAR, Hypothesis
from .report import Finding
from .rounding import STEP

MANY = 4096  # positions that are compared in one go
MOST = 0.9  # of the hands must be where a rounding puts them: ties differ


class Look(NamedTuple):
    """What a hypothesis makes of all positions from 0 on."""

    wrong: np.ndarray  # which it does not explain
    error: np.ndarray  # of each, the largest

    def run(self) -> tuple[int, float]:
        """Return the ends of the first wrong run; infinity is the end."""
        first = int(self.wrong.argmax())
        rest = self.wrong[first:]
        return first, np.inf if rest.all() else first + int(rest.argmin()) - 1


class Evidence:
    """Where hands point at each position, as far as one can see.

    Here they are known, as of a table or of a few positions; `Sweep` asks a
    rotary function for them.
    """

    def __init__(self, hands: np.ndarray, unit: str = "position"):
        """Take hands at positions from 0 on, `[positions, pairs, hands]`."""
        self.every, self.first, self.unit = hands, hands[:NEAR], unit
        self.end = len(hands)
        self.findings: list[Finding] = []  # of positions that fail

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions."""
        return self.every[positions]

    def stretches(self) -> Iterator[np.ndarray]:
        """Yield positions, as many as are compared in one go."""
        for start in range(0, self.end, MANY):
            yield np.arange(start, min(start + MANY, self.end))

    def compare(
        self, hypothesis: Hypothesis, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which hands fit, which positions do, and errors of hands."""
        fits, off = hypothesis.compare(positions, self.hands(positions))
        return fits, fits.all(axis=(1, 2)), off

    def look(self, hypothesis: Hypothesis) -> Look:
        """Compare all positions with a hypothesis."""
        wrong, error = np.zeros(self.end, bool), np.zeros(self.end)
        shares = []
        for positions in self.stretches():
            fits, right, off = self.compare(hypothesis, positions)
            wrong[positions] = ~right
            error[positions] = off.max(axis=(1, 2))
            shares.append(fits.mean())
        if hypothesis.stages and np.mean(shares) > MOST:
            # What is rounded otherwise, as ties are, has to be near at least.
            near = 2 * STEP[hypothesis.format]
            unrounded = hypothesis._replace(stages="", doubt=near)
            wrong &= self.look(unrounded).wrong
        return Look(wrong, error)

    def sample(self, look: Look) -> np.ndarray:
        """Return positions that tell hypotheses apart."""
        end, wrong = len(look.wrong), np.flatnonzero(look.wrong)
        first, last = look.run()
        ends = [first, min(last, end - 1), wrong[-1]]
        chosen = [
            np.arange(len(self.first)),
            np.add.outer(ends, np.arange(-3, 20)).ravel(),
            np.random.default_rng(5).choice(wrong, 60),
        ]
        positions = np.unique(np.concatenate(chosen).astype(int))
        return positions[(positions >= 0) & (positions < end)]


def explain(
    model: Hypothesis, look: Look, evidence: Evidence
) -> tuple[Hypothesis, Look]:
    """Return the first change that explains all that is seen, or two.

    Where no one change explains all, the first that explains the first wrong
    positions is kept, and a second is tried from the first that it leaves.

    Returns:
        The hypothesis, and what it makes of all positions.
    """
    for _ in range(2):
        if not look.wrong.any():
            break
        run, positions = look.run(), evidence.sample(look)
        hands = evidence.hands(positions)
        at_first = hands[positions == run[0]][0]
        every = list(
            changes(model, evidence.first, run, at_first, evidence.unit)
        )
        for each in by_share(every, positions, hands):
            left = evidence.look(each)
            if not left.wrong.any():
                return each, left
        enough = int(min(run[1], run[0] + 15))
        early = positions <= enough
        for each in by_share(every, positions[early], hands[early]):
            left = evidence.look(each)
            mended = left.wrong.sum() < look.wrong.sum()
            if mended and not left.wrong[: enough + 1].any():
                model, look = each, left
                break
        else:
            break
    return model, look


def by_share(
    every: list[Hypothesis], positions: np.ndarray, hands: np.ndarray
) -> list[Hypothesis]:
    """Return those that explain a sample, the best first."""
    shares = [share(each, positions, hands) for each in every]
    order = np.argsort([-share for share in shares], kind="stable")
    return [every[place] for place in order if shares[place] > 0]


def share(
    hypothesis: Hypothesis, positions: np.ndarray, hands: np.ndarray
) -> float:
    """Return which part of the hands it explains, 0 for too few.

    A rounding must explain nine in ten: of all, and of those it moves.
    """
    fits, _ = hypothesis.compare(positions, hands)
    if not hypothesis.stages:
        return float(fits.all())
    unrounded, _ = hypothesis._replace(stages="").compare(positions, hands)
    if unrounded.all() or min(fits[~unrounded].mean(), fits.mean()) < MOST:
        return 0.0
    return float(fits.mean())
