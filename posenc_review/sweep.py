"""Look at every position of a rotary function, in long calls."""

import sys
import time
from collections.abc import Iterator

import numpy as np

from .calls import LONG, ROWS, NoAnswerError, Rotation
from .explain import Evidence, Look
from .hypothesis import Hypothesis
from .pairs import Pairs, in_order
from .report import Finding, first_where

NUMBERS = 2**21  # of a call, at most: 17 MB
FEWEST = 512  # tokens of a row all the same, where heads are wide
WAIT = 2.0  # seconds after which a reader is told how far it is


class Sweep(Evidence):
    """Hands of a rotary function, which is asked for them.

    Each position is asked for with three vectors: 1 in the first column of
    each pair, 1 in the second, and random numbers. The first two show both
    hands of each pair; the third has to be turned as these say. They stand in
    rows of their own, of three stretches of positions, so that a call is a
    batch of nine.
    """

    def __init__(
        self,
        rotation: Rotation,
        pairs: Pairs,
        first: np.ndarray,
        kept: np.ndarray,
        end: int,
    ):
        """Take what is known of the function, and how far to look.

        Columns that do not turn are multiplied by what is `kept` of them.
        """
        self.rotation, self.pairs, self.first = rotation, pairs, first
        self.end, self.unit = end, "position"
        self.findings: list[Finding] = []  # of positions that fail
        size = NUMBERS // (ROWS * rotation.width)
        self.length = max(min(size, LONG), FEWEST)
        self.begun = time.monotonic()
        self.rest = np.setdiff1d(np.arange(rotation.width), pairs.columns)
        self.kept = kept[self.rest]
        self.vectors = np.zeros((3, rotation.width))
        self.vectors[0, pairs.columns[:, 0]] = 1
        self.vectors[1, pairs.columns[:, 1]] = 1
        random = np.random.default_rng(7)
        self.vectors[2] = random.uniform(-0.7, 0.7, rotation.width)

    def stretches(self) -> Iterator[np.ndarray]:
        """Yield the positions of each call, those of three rows in one."""
        start = 0
        while start < self.end:
            tokens = min(self.length, -(-(self.end - start) // 3))
            stop = start + 3 * tokens
            self.asked = np.minimum(np.arange(start, stop), self.end - 1)
            yield self.asked
            start = stop
            self.tell(min(stop, self.end))

    def answers(self, positions: np.ndarray) -> np.ndarray:
        """Ask for rows of positions; return `[vectors, positions, width]`."""
        rows, tokens = positions.shape
        x = np.repeat(self.vectors[:, None], rows * tokens, axis=1)
        made = self.rotation(
            x.reshape(3 * rows, tokens, -1), np.tile(positions, (3, 1))
        )
        made = made.reshape(-1, self.rotation.width)
        return in_order(made, self.pairs.order).reshape(x.shape)

    def hands_in(self, made: np.ndarray) -> np.ndarray:
        """Read hands off answers to the first two vectors."""
        one, other = self.pairs.places
        shape = (made.shape[1], len(self.pairs.columns), 2)
        hands = np.empty(shape, complex)
        hands[..., 0].real = made[0][:, one]
        hands[..., 0].imag = -made[1][:, one]
        hands[..., 1].real = made[1][:, other]
        hands[..., 1].imag = made[0][:, other]
        return hands

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions, NaN if it fails there."""
        try:
            return self.hands_in(self.answers(positions[None]))
        except NoAnswerError:
            shape = (len(positions), len(self.pairs.columns), 2)
            return np.full(shape, np.nan, complex)

    def compare(
        self, hypothesis: Hypothesis, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which hands fit, which positions do, and errors of hands."""
        rows = 3 if len(positions) % 3 == 0 else 1
        made = self.answers(positions.reshape(rows, -1))
        hands = self.hands_in(made)
        fits, off = hypothesis.compare(positions, hands)
        right = fits.all(axis=(1, 2))
        right &= self.others_fit(made, hands, hypothesis, positions)
        return fits, right, off

    def others_fit(
        self,
        made: np.ndarray,
        hands: np.ndarray,
        hypothesis: Hypothesis,
        positions: np.ndarray,
    ) -> np.ndarray:
        """Tell where random numbers are turned as the hands say.

        Columns that do not turn have to stay as they are.
        """
        one, other = self.pairs.places
        given = self.vectors[2, one] + 1j * self.vectors[2, other]
        due = np.empty(made.shape[1:])
        with np.errstate(invalid="ignore"):  # infinity, from the function
            due[:, one] = (hands[..., 0] * given).real
            due[:, other] = (hands[..., 1] * given).imag
            off = made[2] - due
        factors = hypothesis.factors(positions)
        stay = np.outer(factors, self.kept * self.vectors[2, self.rest])
        off[:, self.rest] = made[2][:, self.rest] - stay
        fits = np.abs(off) <= hypothesis.slack
        fits[:, self.rest] |= np.isnan(off[:, self.rest] * stay)
        fits |= ~np.isfinite(due) & ~np.isfinite(made[2])
        return fits.all(axis=1)

    def look(self, hypothesis: Hypothesis, to_first: bool = False) -> Look:
        """Compare all positions with a hypothesis, up to one that fails."""
        while True:
            try:
                return super().look(hypothesis, to_first)
            except NoAnswerError as trouble:
                self.end_before_failure(trouble)

    def fails(self, positions: np.ndarray) -> bool:
        """Tell whether a row of positions fails."""
        x = np.tile(self.vectors[2], (1, len(positions), 1))
        try:
            self.rotation(x, positions[None])
        except NoAnswerError:
            return True
        return False

    def end_before_failure(self, trouble: NoAnswerError) -> None:
        """Name the first position that fails, and look no farther."""
        called = np.unique(self.asked)

        def fails_up_to(count: int) -> bool:
            return self.fails(called[:count])

        count = len(called)
        if fails_up_to(count):
            count = first_where(fails_up_to, 0, count)
        first = self.end = int(called[count - 1])
        words = f"Position {first} is the first to fail: {trouble}."
        if not self.fails(called[count - 1 : count]):
            first, last = int(called[0]), int(called[-1])
            self.end = first or len(self.first)
            self.length = len(self.first)
            words = (
                f"Positions {first} to {last} fail in one call, and not by"
                f" themselves: {trouble}."
            )
        self.findings.append(Finding("far positions", words, first))

    def tell(self, done: int) -> None:
        """Tell a reader who waits how far it is."""
        waited = time.monotonic() - self.begun
        if waited > WAIT and sys.stderr.isatty():
            end = "\n" if done == self.end else ""
            said = f"\rposition {done} of {self.end} "
            print(said, end=end, file=sys.stderr, flush=True)

    def by_the_call(self, model: Hypothesis, look: Look) -> list[Finding]:
        """Look whether a position that is wrong is right alone."""
        place = int(look.wrong.argmax())
        called = next(p for p in self.stretches() if p[-1] >= place)

        def is_wrong(largest: int) -> bool:
            hands = self.hands(np.array([place, largest]))[:1]
            return not model.compare([place], hands)[0].all()

        if is_wrong(place):
            return []
        largest = int(called[-1])
        if not is_wrong(largest):
            words = (
                f"Position {place} is turned rightly alone, and wrongly in a"
                f" call of {len(called) // 3} tokens."
            )
            return [Finding("positions", words, place)]
        first = first_where(is_wrong, place, largest)
        words = (
            "How a position is turned depends on the largest one of its call:"
            f" beside {first} or more, position {place} turns by other angles."
        )
        return [Finding("batch maximum", words, first)]
