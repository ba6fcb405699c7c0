"""Look at every position of a rotary function, in long calls."""

import sys
import time
from collections.abc import Iterator

import numpy as np

from .asking import LONG, ROWS, NoAnswerError, Rotation
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
        """Take the function, its pairs, and how far to look."""
        self.rotation, self.pairs, self.first = rotation, pairs, first
        self.end, self.unit = end, "position"
        self.findings: list[Finding] = []  # of positions that fail
        size = NUMBERS // (ROWS * rotation.width)
        self.length = max(min(size, LONG), FEWEST)
        self.begun = time.monotonic()
        self.one, self.other = (sliced(some) for some in pairs.columns.T)
        self.rest = np.setdiff1d(np.arange(rotation.width), pairs.columns)
        self.kept = kept[self.rest]
        self.vectors = np.zeros((3, rotation.width))
        self.vectors[0, self.one] = self.vectors[1, self.other] = 1
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
            waited = time.monotonic() - self.begun
            if waited > WAIT and sys.stderr.isatty():
                done = min(stop, self.end)
                said = f"\rposition {done} of {self.end} "
                end = "\n" if done == self.end else ""
                print(said, end=end, file=sys.stderr, flush=True)

    def answers(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ask for positions in rows, `[rows, tokens]`, with each vector.

        Returns:
            The hands, `[positions, pairs, 2]`, and what becomes of the random
            numbers, `[positions, width]`, by the columns that were read.
        """
        rows, tokens = positions.shape
        x = np.repeat(self.vectors[:, None], rows * tokens, axis=1)
        made = self.rotation(
            x.reshape(3 * rows, tokens, -1), np.tile(positions, (3, 1))
        )
        made = in_order(made.reshape(-1, x.shape[2]), self.pairs.order)
        first, second, third = made.reshape(x.shape)
        hands = np.empty((len(third), len(self.pairs.columns), 2), complex)
        hands[..., 0].real = first[:, self.one]
        hands[..., 0].imag = -second[:, self.one]
        hands[..., 1].real = second[:, self.other]
        hands[..., 1].imag = first[:, self.other]
        return hands, third

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions, NaN if it fails there."""
        try:
            return self.answers(positions[None])[0]
        except NoAnswerError:
            shape = (len(positions), len(self.pairs.columns), 2)
            return np.full(shape, np.nan, complex)

    def compare(
        self, hypothesis: Hypothesis, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which hands fit, which positions do, and errors of hands.

        Random numbers have to be turned as the hands say; columns that do not
        turn have to stay as they are.
        """
        hands, made = self.answers(positions.reshape(3, -1))
        fits, off = hypothesis.compare(positions, hands)
        vector, rest = self.vectors[2], self.rest
        given = vector[self.one] + 1j * vector[self.other]
        due = np.empty(made.shape)
        with np.errstate(invalid="ignore"):  # infinity, from the function
            due[:, self.one] = (hands[..., 0] * given).real
            due[:, self.other] = (hands[..., 1] * given).imag
            factors = hypothesis.factors(positions)
            due[:, rest] = np.outer(factors, self.kept * vector[rest])
            right = np.abs(made - due) <= hypothesis.slack
        right |= ~np.isfinite(due) & ~np.isfinite(made)
        return fits, fits.all(axis=(1, 2)) & right.all(axis=1), off

    def look(self, hypothesis: Hypothesis) -> Look:
        """Compare all positions with a hypothesis, up to one that fails."""
        while True:
            try:
                return super().look(hypothesis)
            except NoAnswerError as trouble:
                self.end_before_failure(trouble)

    def end_before_failure(self, trouble: NoAnswerError) -> None:
        """Name the first position that fails, and look no farther."""

        def fails(first: int, last: int) -> bool:
            p = np.arange(first, last + 1)[None]
            x = np.tile(self.vectors[2], (1, p.size, 1))
            return self.rotation.fails(x, p)

        start, last = int(self.asked[0]), int(self.asked[-1])
        first = first_where(lambda end: fails(start, end), start - 1, last)
        words = f"Position {first} is the first to fail"
        if not fails(start, first):
            first = start
            self.length = len(self.first)
            words = f"Positions {first} to {last} fail in a batch"
        elif not fails(first, first):
            words += ", in a call with others"
        words += f": {trouble}."
        self.end = first or len(self.first)
        self.findings.append(Finding("far positions", words, first))

    def by_the_call(self, model: Hypothesis, look: Look) -> list[Finding]:
        """Look whether the first position that is wrong is right alone."""
        place = int(look.wrong.argmax())
        called = next(p for p in self.stretches() if p[-1] >= place)

        def is_wrong(largest: int) -> bool:
            hands = self.hands(np.array([place, largest]))[:1]
            return not model.compare([place], hands)[0].all()

        if is_wrong(place):
            return []
        largest = int(called[-1])
        said, name = f"Position {place} is turned rightly alone,", "positions"
        words = f"{said} and wrongly in a call of {len(called) // 3} tokens."
        if is_wrong(largest):
            name, first = (
                "batch maximum",
                first_where(is_wrong, place, largest),
            )
            words = f"{said} and otherwise beside position {first} or more."
        return [Finding(name, words, place)]


def sliced(columns: np.ndarray) -> slice | np.ndarray:
    """Return evenly set columns as a slice, which NumPy reads uncopied."""
    step = int(columns[1] - columns[0]) if len(columns) > 1 else 1
    even = step > 0 and np.all(np.diff(columns) == step)
    return slice(columns[0], columns[-1] + 1, step) if even else columns
