"""Look at every position of a rotary function, in long calls."""

import sys
import time
from collections.abc import Iterator

import numpy as np

from .calls import LONG, ROWS, NoAnswerError, Rotation
from .hypothesis import Hypothesis, Look
from .pairs import Pairs
from .report import Finding, first_where

TOKENS = 2**22  # numbers of a call, at most: 34 MB
FEWEST = 512  # tokens of a row all the same, where heads are wide
WAIT = 2.0  # seconds after which a reader is told how far it is


class Sweep:
    """Asks for all positions from 0 on, and compares.

    Each position is asked for with three vectors: 1 in the first column of
    each pair, 1 in the second, and a random one. They stand in rows of their
    own, of three stretches of positions, so that a call is a batch of nine.
    """

    unit = "position"

    def __init__(
        self,
        rotation: Rotation,
        pairs: Pairs,
        first: np.ndarray,
        kept: np.ndarray,
        end: int,
    ):
        """Take what is known of the function.

        Args:
            rotation: The function.
            pairs: Its pairs of columns.
            first: Hands at the first positions, `[positions, pairs, 2]`.
            kept: What columns that do not turn are multiplied by.
            end: How many positions to look at.
        """
        self.rotation, self.pairs = rotation, pairs
        self.first, self.end = first, end
        self.back = np.argsort(pairs.order)
        self.findings: list[Finding] = []  # of positions that fail
        size = TOKENS // (ROWS * rotation.width)
        self.length = max(min(size, LONG), FEWEST)
        random = np.random.default_rng(7).uniform(-0.7, 0.7, rotation.width)
        self.vectors = np.zeros((3, rotation.width))
        self.vectors[0, pairs.columns[:, 0]] = 1
        self.vectors[1, pairs.columns[:, 1]] = 1
        self.vectors[2] = random
        self.rest = np.setdiff1d(np.arange(rotation.width), pairs.columns)
        self.kept = kept[self.rest]

    def stretches(self) -> Iterator[np.ndarray]:
        """Yield the positions of each call, `[3, tokens]`."""
        start = 0
        while start < self.end:
            tokens = min(self.length, -(-(self.end - start) // 3))
            positions = start + np.arange(3 * tokens).reshape(3, tokens)
            yield np.minimum(positions, self.end - 1)
            start += 3 * tokens

    def look(self, hypothesis: Hypothesis, to_first: bool = False) -> Look:
        """Compare all positions with a hypothesis.

        Args:
            hypothesis: Says where hands should be.
            to_first: Whether to stop after the first call that has wrong
                ones; the result then is as long as what was looked at.
        """
        wrong, error = np.zeros(self.end, bool), np.zeros(self.end)
        misses = total = 0
        begun = time.monotonic()
        for positions in self.stretches():
            try:
                off, allowed = self.errors(hypothesis, positions)
            except NoAnswerError as trouble:
                self.refused(positions, trouble)
                return self.look(hypothesis, to_first)
            missed = ~(off <= allowed)
            misses, total = misses + missed.sum(), total + missed.size
            wrong[positions] = missed.any(axis=-1)
            error[positions] = off.max(axis=-1)
            done = int(positions[-1, -1]) + 1
            self.tell(begun, done)
            if to_first and missed.any():
                wrong, error = wrong[:done], error[:done]
                break
        if hypothesis.stages and misses <= 0.1 * total:
            wrong[:] = False
        return Look(wrong, error)

    def errors(
        self, hypothesis: Hypothesis, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return by how much hands are off, and by how much they may be.

        Args:
            hypothesis: Says where hands should be.
            positions: `[stretches, tokens]`.

        Returns:
            Both `[stretches, tokens, pairs]`; infinity where only one of
            both is a number.
        """
        stretches, tokens = positions.shape
        shape = (stretches, 3, tokens, self.rotation.width)
        x = np.broadcast_to(self.vectors[:, None], shape)
        made = self.rotation(
            x.reshape(-1, *shape[2:]), np.repeat(positions, 3, axis=0)
        )
        made = made.reshape(shape)
        one, other = self.pairs.columns.T
        off = np.zeros((*positions.shape, len(one)))
        allowed = np.empty_like(off)
        for stretch, places in enumerate(positions):
            hands = hypothesis.hands(places)
            first, second = hands[..., 0], hands[..., -1]
            factors = hypothesis.factors(places)
            allowed[stretch] = hypothesis.allowed(places).max(axis=-1)
            for kind, vector in enumerate(self.vectors):
                given = vector[one] + 1j * vector[other]
                due = first * given
                if hands.shape[-1] > 1:
                    due.imag = (second * given).imag
                seen = made[stretch, kind][:, self.back]
                missed = np.abs(seen[:, one] - due.real)
                missed = np.maximum(missed, np.abs(seen[:, other] - due.imag))
                none = np.isnan(missed)
                if none.any():
                    both = ~np.isfinite(seen[:, one]) & ~np.isfinite(due)
                    missed[none] = np.where(both[none], 0, np.inf)
                off[stretch] = np.maximum(off[stretch], missed)
                if len(self.rest):
                    rest = np.outer(factors, self.kept * vector[self.rest])
                    beside = np.abs(seen[:, self.rest] - rest)
                    beside[np.isnan(seen[:, self.rest]) & np.isnan(rest)] = 0
                    beside = np.nan_to_num(beside.max(axis=-1), nan=np.inf)
                    off[stretch, :, 0] = np.maximum(off[stretch, :, 0], beside)
        return off, allowed

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions, asked in one row.

        Returns:
            `[positions, pairs, 2]`, complex, NaN where it cannot be asked.
        """
        positions = np.asarray(positions)
        made = []
        for vector in self.vectors[:2]:
            x = np.tile(vector, (1, len(positions), 1))
            try:
                answer = self.rotation(x, positions[None])[0]
            except NoAnswerError:
                answer = np.full(x.shape[1:], np.nan)
            made.append(answer[:, self.back][:, self.pairs.columns])
        first = made[0][..., 0] - 1j * made[1][..., 0]
        second = made[1][..., 1] + 1j * made[0][..., 1]
        return np.stack([first, second], axis=-1)

    def fails(self, positions: np.ndarray) -> bool:
        """Tell whether a row of positions fails."""
        x = np.tile(self.vectors[2], (1, len(positions), 1))
        try:
            self.rotation(x, positions[None])
        except NoAnswerError:
            return True
        return False

    def refused(self, positions: np.ndarray, trouble: NoAnswerError) -> None:
        """Name the first position that fails, and end before it."""
        some = np.unique(positions)
        from_, to = int(some[0]), int(some[-1])
        while len(some) > 1:
            halves = np.array_split(some, 2)
            failing = [half for half in halves if self.fails(half)]
            if not failing:
                break
            some = failing[0]
        if len(some) == 1 and self.fails(some):
            first = self.end = int(some[0])
            words = f"Position {first} is the first to fail: {trouble}."
        else:
            first, self.end = from_, from_ or len(self.first)
            self.length = len(self.first)
            words = (
                f"Positions {from_} to {to} fail in one call, and not by"
                f" themselves: {trouble}."
            )
        self.findings.append(Finding("far positions", words, first))

    def tell(self, begun: float, done: int) -> None:
        """Tell a reader who waits how far it is."""
        if not sys.stderr.isatty():
            return
        if time.monotonic() - begun > WAIT:
            end = "\n" if done == self.end else ""
            said = f"\rposition {done} of {self.end} "
            print(said, end=end, file=sys.stderr, flush=True)

    def by_the_call(self, model: Hypothesis, look: Look) -> list[Finding]:
        """Look whether a position that is wrong is right alone.

        Args:
            model: Says where hands should be.
            look: What it makes of all positions.
        """
        place = int(look.wrong.argmax())

        def is_wrong(largest: int) -> bool:
            some = np.array([[place, largest]])
            off, allowed = self.errors(model, some)
            return not np.all(off[0, 0] <= allowed[0, 0])

        if is_wrong(place):
            return []
        for positions in self.stretches():
            if place <= positions.max():
                largest = int(positions.max())
                break
        if largest == place or not is_wrong(largest):
            words = (
                f"Position {place} is turned rightly alone, and wrongly in a"
                f" call of {positions.shape[1]} tokens."
            )
            return [Finding("positions", words, place)]
        first = first_where(is_wrong, place, largest)
        words = (
            "How a position is turned depends on the largest one of its call:"
            f" beside {first} or more, position {place} turns by other angles."
        )
        return [Finding("batch maximum", words, first)]
