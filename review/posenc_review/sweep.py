"""Look at every position of a rotary function, in long calls."""

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

from .asking import LONG, NoAnswerError, Rotation
from .explain import Evidence, Look
from .hypothesis import Hypothesis
from .pairs import Pairs, hands_of, in_order
from .report import Finding, first_where

NUMBERS = 2**21  # of a call, at most: 17 MB
ROWS = 8  # of a call: four stretches of positions, with two vectors each
ALONE = 50  # positions, at most, that are asked for alone
WAIT = 2.0  # seconds after which a reader is told how far it is


class Sweep(Evidence):
    """Hands of a rotary function, which is asked for them.

    Each position is asked for with two vectors. One is 1 in the first column
    of each pair, so that it shows their hands. The other holds numbers in all
    columns, random ones but for their size; without what the first columns
    make of it, it shows the hands of the second.
    """

    def __init__(
        self,
        rotation: Rotation,
        pairs: Pairs,
        matrices: np.ndarray,
        end: int,
    ):
        """Take the function, its pairs and matrices, and how far to look."""
        super().__init__(hands_of(matrices, pairs))
        self.rotation, self.pairs, self.end = rotation, pairs, end
        self.length = min(NUMBERS // (ROWS * rotation.width), LONG)
        self.asked_alone = 0  # how many positions
        self.begun = time.monotonic()
        self.one, self.other = (sliced(some) for some in pairs.columns.T)
        self.rest = np.setdiff1d(np.arange(rotation.width), pairs.columns)
        random = np.random.default_rng(7)
        self.vectors = np.zeros((2, rotation.width))
        self.vectors[0, self.one] = 1
        self.vectors[1] = random.uniform(0.1, 0.3, rotation.width)
        self.vectors[1, self.other] = 1  # so that errors stay as they are
        self.vectors[1] *= random.choice([-1, 1], rotation.width)
        keeps = np.diagonal(in_order(matrices[1:2], pairs.order)[0])
        self.kept = self.vectors[1, self.rest] * keeps[self.rest]

    def called_from(self, start: int) -> np.ndarray:
        """Return the positions of a call, those of all rows in one."""
        rows = ROWS // 2
        tokens = min(self.length, -(-(self.end - start) // rows))
        return np.minimum(start + np.arange(rows * tokens), self.end - 1)

    def stretches(self) -> Iterator[np.ndarray]:
        """Yield the positions of each call, and say how far it is."""
        for start in range(0, self.end, ROWS // 2 * self.length):
            self.called = self.called_from(start)
            yield self.called
            waited = time.monotonic() - self.begun
            if waited > WAIT and sys.stderr.isatty():
                said = f"position {self.called[-1] + 1} of {self.end}"
                print(said, end="\r", file=sys.stderr, flush=True)

    def answers(
        self, positions: np.ndarray, apart: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Ask for positions in rows, `[rows, tokens]`, with each vector.

        Where it is asked `apart`, each row is a call of its own.

        Returns:
            The hands, `[positions, pairs, 2]`, and what becomes of the random
            numbers, `[positions, width]`, by the columns that were read.
        """
        rows, tokens = positions.shape
        x = np.repeat(self.vectors, rows * tokens, axis=0)
        each = x.reshape(2 * rows, 1, tokens, -1)
        calls = zip(each, np.tile(positions, (2, 1))[:, None], strict=True)
        if not apart:
            calls = [(each[:, 0], np.tile(positions, (2, 1)))]
        made = np.concatenate([self.rotation(*call) for call in calls])
        made = in_order(made.reshape(x.shape), self.pairs.order)
        first, random = np.split(made, 2)
        one, other = self.one, self.other
        given, its = self.vectors[1, one], self.vectors[1, other]
        hands = np.empty((len(first), len(self.pairs.columns), 2), complex)
        hands[..., 0].real = first[:, one]
        hands[..., 1].imag = first[:, other]
        with np.errstate(all="ignore"):  # infinity, from the function
            hands[..., 0].imag = (given * first[:, one] - random[:, one]) / its
            random[:, other] -= given * first[:, other]
            hands[..., 1].real = random[:, other] / its
        return hands, random

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

        Columns that do not turn have to stay as they are.
        """
        return self.judged(hypothesis, positions.reshape(ROWS // 2, -1))

    def judged(
        self, hypothesis: Hypothesis, rows: np.ndarray, apart: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compare what is answered with a hypothesis; see `compare`."""
        positions = rows.ravel()
        hands, made = self.answers(rows, apart)
        fits, off = hypothesis.compare(positions, hands)
        factors = hypothesis.factors(positions)
        with np.errstate(invalid="ignore"):
            due = np.outer(factors, self.kept)
            rest = made[:, self.rest]
            missed = np.abs(rest - due)
            right = missed <= hypothesis.slack
        right |= ~np.isfinite(due) & ~np.isfinite(rest)
        if len(self.rest):
            off = np.maximum(off, missed.max(axis=1)[:, None, None])
        return fits, fits.all(axis=(1, 2)) & right.all(axis=1), off

    def are_wrong(
        self, hypothesis: Hypothesis, places: Sequence, apart: bool = False
    ) -> np.ndarray:
        """Tell which positions are wrong in a call of their own."""
        try:
            judged = self.judged(hypothesis, np.array([places]), apart)
        except NoAnswerError:
            return np.ones(len(places), bool)
        return ~judged[1]

    def look(self, hypothesis: Hypothesis) -> Look:
        """Compare all positions with a hypothesis, up to one that fails."""
        while True:
            try:
                return super().look(hypothesis)
            except NoAnswerError as trouble:
                self.end_before_failure(trouble)

    def end_before_failure(self, trouble: NoAnswerError) -> None:
        """Name the first position that fails, and look no farther."""
        start, last = self.called[[0, -1]].tolist()
        found = self.rotation.first_to_fail(start, last, trouble)
        end = max(found.position, len(self.first))
        if end >= self.end:
            raise trouble
        self.end = end
        self.findings.append(found)

    def alone(self, model: Hypothesis) -> list[Finding]:
        """Look at some positions in calls of one row: many tokens, or one."""

        def is_wrong(place: int) -> bool:
            self.asked_alone += 1
            return self.are_wrong(model, [place], apart=True).any()

        places = range(max(self.end - self.length, 0), self.end)
        wrong = self.are_wrong(model, places, apart=True)
        if wrong.any():
            first = places[int(wrong.argmax())]
            row = f"row of {len(places)} tokens"
            return [self.only_in(first, row, places)]
        right = -1
        places = np.unique(np.geomspace(1, self.end, ALONE).astype(int) - 1)
        for place in places.tolist():
            if is_wrong(place):
                first = first_where(is_wrong, right, place)
                token = "token, as in decoding"
                return [self.only_in(first, token, [first])]
            right = place
        return []

    def only_in(self, first: int, call: str, places: Sequence) -> Finding:
        """Say that a position is wrong only in a call of these places."""
        trouble = self.rotation.trouble(np.array(places))
        how = f"fails ({trouble})" if trouble else "is turned wrongly"
        words = (
            f"Position {first} {how} in a call of one {call}; in long batches"
            " it is turned rightly."
        )
        return Finding("positions", words, first)

    def by_the_call(self, model: Hypothesis, look: Look) -> list[Finding]:
        """Look whether the first position that is wrong is right alone.

        If none is wrong, look at some alone.
        """
        if not look.wrong.any():
            return self.alone(model)
        place = int(look.wrong.argmax())

        def is_wrong_beside(other: int) -> bool:
            wrong = self.are_wrong(model, [place, other, place])
            return bool(wrong[0] or wrong[2])

        if is_wrong_beside(place):
            return []
        called = self.called_from(place - place % (ROWS // 2 * self.length))
        largest = int(called[-1])
        if not is_wrong_beside(largest):
            words = (
                f"Position {place} is turned rightly alone, and wrongly in a"
                f" batch of {ROWS} rows of {2 * len(called) // ROWS} tokens."
            )
            return [Finding("positions", words, place)]
        first = first_where(is_wrong_beside, place, largest)
        words = (
            f"Position {place} is turned one way alone, and another way beside"
            f" position {first} or more: the largest position of a call"
            " changes how the others are turned."
        )
        return [Finding("batch maximum", words, place)]


def sliced(columns: np.ndarray) -> slice | np.ndarray:
    """Return evenly set columns as a slice, which NumPy reads uncopied."""
    step = int(columns[1] - columns[0]) if len(columns) > 1 else 1
    even = step > 0 and np.all(np.diff(columns) == step)
    return slice(columns[0], columns[-1] + 1, step) if even else columns
