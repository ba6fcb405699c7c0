"""Find the change that explains all that is seen, or two."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .changes import Place, changes, place_of
from .hypothesis import MOST, Hypothesis

MANY = 4096  # positions that are compared in one go


class Look(NamedTuple):
    """What a hypothesis makes of all positions from 0 on."""

    wrong: np.ndarray  # which it does not explain
    error: np.ndarray  # of each, the largest


class Evidence:
    """Where hands point at each position, as far as one can see.

    Here they are known, as of a table or of a few positions; `Sweep` asks a
    rotary function for them.
    """

    def __init__(self, hands: np.ndarray, unit: str = "position"):
        """Take hands at positions from 0 on, `[positions, pairs, hands]`."""
        self.every, self.first, self.unit = hands, hands[:42], unit
        self.end = len(hands)

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

    def look(self, hypothesis: Hypothesis, to_first: bool = False) -> Look:
        """Compare all positions, or those up to the first call that is off."""
        wrong, error = np.zeros(self.end, bool), np.zeros(self.end)
        shares = []
        for positions in self.stretches():
            fits, right, off = self.compare(hypothesis, positions)
            wrong[positions] = ~right
            error[positions] = off.max(axis=(1, 2))
            shares.append(fits.mean())
            if to_first and not right.all():
                done = int(positions.max()) + 1
                return Look(wrong[:done], error[:done])
        if hypothesis.stages and np.mean(shares) > MOST:
            wrong[:] = False
        return Look(wrong, error)


def explain(
    model: Hypothesis, look: Look, evidence: Evidence
) -> tuple[Hypothesis, Look]:
    """Return the first change that explains all that is seen, or two.

    Where no one change explains all, the best that explains the first wrong
    positions is kept, and a second is tried from the first that it leaves.
    """
    for _ in range(2):
        if not look.wrong.any():
            break
        place = place_of(look.wrong, evidence.unit)
        positions = telling(evidence, look.wrong, place)
        hands = evidence.hands(positions)
        wrong = hands[positions == place.first]
        every = list(changes(model, evidence.first, wrong, place))
        for each in by_share(every, positions, hands):
            left = evidence.look(each)
            if not left.wrong.any():
                return each, left
        # It must explain 16 in a row, or all that are wrong in a row.
        enough = int(min(place.last, place.first + 15))
        early = positions <= enough
        some = by_share(every, positions[early], hands[early])
        better = mending(some, evidence, look.wrong, enough)
        if better is None:
            break
        model, look = better
    return model, look


def telling(evidence: Evidence, wrong: np.ndarray, place: Place) -> np.ndarray:
    """Return positions that tell hypotheses apart, right ones and wrong."""
    random = np.random.default_rng(5)
    end = len(wrong)
    somewhere = np.flatnonzero(wrong)
    ends = [place.first, min(place.last, end - 1), somewhere[-1]]
    chosen = [
        np.arange(len(evidence.first)),
        np.add.outer(ends, np.arange(-3, 20)).ravel(),
        random.choice(somewhere, 60),
        np.geomspace(1, end, 60).astype(int) - 1,
    ]
    positions = np.unique(np.concatenate(chosen).astype(int))
    return positions[(positions >= 0) & (positions < end)]


def by_share(
    every: list[Hypothesis], positions: np.ndarray, hands: np.ndarray
) -> list[Hypothesis]:
    """Return those that explain some hands, the best first."""
    shares = [each.share(positions, hands) for each in every]
    order = np.argsort([-share for share in shares], kind="stable")
    return [every[place] for place in order if shares[place] > 0]


def mending(
    some: list[Hypothesis], evidence: Evidence, wrong: np.ndarray, enough: int
) -> tuple[Hypothesis, Look] | None:
    """Return the hypothesis that explains most, and all up to a position.

    It must mend more than ten positions for each that it breaks.
    """
    best, most = None, 0
    for each in some:
        look = evidence.look(each)
        left = look.wrong[: len(wrong)]
        mended = np.sum(wrong[: len(left)] & ~left)
        broken = np.sum(left & ~wrong[: len(left)])
        if not left[: enough + 1].any() and mended - 10 * broken > most:
            best, most = (each, look), mended - 10 * broken
    return best
