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
ALONE = 50  # positions, at most, that are asked for alone
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
        """Take the function, its pairs, its first hands, and how far to look.

        `kept` is what columns keep of themselves, should they not turn.
        """
        super().__init__(first)
        self.rotation, self.pairs, self.end = rotation, pairs, end
        self.length = min(NUMBERS // (ROWS * rotation.width), LONG)
        self.asked_alone = 0  # how many positions
        self.begun = time.monotonic()
        self.one, self.other = (sliced(some) for some in pairs.columns.T)
        self.rest = np.setdiff1d(np.arange(rotation.width), pairs.columns)
        self.kept = kept[self.rest]
        random = np.random.default_rng(7)
        self.vectors = np.zeros((3, rotation.width))
        self.vectors[0, self.one] = self.vectors[1, self.other] = 1
        self.vectors[2] = random.uniform(-0.7, 0.7, rotation.width)

    def called_from(self, start: int) -> np.ndarray:
        """Return the positions of a call, those of three rows in one."""
        tokens = min(self.length, -(-(self.end - start) // 3))
        return np.minimum(np.arange(start, start + 3 * tokens), self.end - 1)

    def stretches(self) -> Iterator[np.ndarray]:
        """Yield the positions of each call, and say how far it is."""
        for start in range(0, self.end, 3 * self.length):
            self.called = self.called_from(start)
            yield self.called
            waited = time.monotonic() - self.begun
            if waited > WAIT and sys.stderr.isatty():
                done = self.called[-1] + 1
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
        x = np.repeat(self.vectors, rows * tokens, axis=0)
        made = self.rotation(
            x.reshape(3 * rows, tokens, -1), np.tile(positions, (3, 1))
        )
        made = in_order(made.reshape(x.shape), self.pairs.order)
        first, second, third = np.split(made, 3)
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
            p = np.arange(first, last + 1)
            x = np.tile(self.vectors[2], (1, len(p), 1))
            return self.rotation.trouble(x, [p]) is not None

        start, last = self.called[[0, -1]].tolist()
        first = first_where(lambda end: fails(start, end), start - 1, last)
        words = f"Position {first} is the first to fail"
        if not fails(start, first):
            first = start
            self.length = len(self.first)
            words = f"Positions {first} to {last} fail in a batch"
        elif not fails(first, first):
            words += ", in a call with others"
        self.end = first or len(self.first)
        alone = self.rotation.trouble(self.vectors[2:, np.newaxis], [[first]])
        words += f": {alone or trouble}."
        self.findings.append(Finding("far positions", words, first))

    def alone(self, model: Hypothesis) -> list[Finding]:
        """Look at some positions in calls of one token, as in decoding."""

        def is_wrong(place: int) -> bool:
            self.asked_alone += 1
            fits, _ = model.compare([place], self.hands(np.array([place])))
            return not fits.all()

        right = -1
        places = np.unique(np.geomspace(1, self.end, ALONE).astype(int) - 1)
        for place in places.tolist():
            if is_wrong(place):
                first = first_where(is_wrong, right, place)
                vector = self.vectors[2:, np.newaxis]
                trouble = self.rotation.trouble(vector, [[first]])
                how = f"fails ({trouble})" if trouble else "is turned wrongly"
                words = (
                    f"Position {first} {how} in a call of one token, as in"
                    " decoding; in long calls it is turned rightly."
                )
                return [Finding("positions", words, first)]
            right = place
        return []

    def by_the_call(self, model: Hypothesis, look: Look) -> list[Finding]:
        """Look whether the first position that is wrong is right alone."""
        place = int(look.wrong.argmax())
        twice = np.array([place, place])
        fits, _ = model.compare(twice, self.hands(twice))
        if not fits.all():
            return []
        called = self.called_from(place - place % (3 * self.length))
        found = self.rotation.beside_larger(place, called[-1], model.slack)
        if found:
            return found
        words = (
            f"Position {place} is turned rightly alone, and wrongly in a call"
            f" of {len(called) // 3} tokens."
        )
        return [Finding("positions", words, place)]


def sliced(columns: np.ndarray) -> slice | np.ndarray:
    """Return evenly set columns as a slice, which NumPy reads uncopied."""
    step = int(columns[1] - columns[0]) if len(columns) > 1 else 1
    even = step > 0 and np.all(np.diff(columns) == step)
    return slice(columns[0], columns[-1] + 1, step) if even else columns
