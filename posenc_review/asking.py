"""Ask a rotary function, and see whether it reads what it is given."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .hypothesis import NEAR
from .report import Finding, first_where
from .settings import describe_error, numbers

LONG = 4096  # tokens of the longest call
ROWS = 9  # of the largest batch

FIRST = np.arange(4)[None]
CALLS: dict[str, np.ndarray] = {  # positions, `[batch, seq_len]`
    "of one row from 0 on": FIRST,
    "of one row that begins at 20": np.arange(20, 25)[None],
    "of as many tokens as the one before": np.arange(8, 13)[None],
    "of one token": np.array([[7]]),
    "of one token in each of two rows": np.array([[19], [7]]),
    "of three rows, each with positions of its own": (
        2 * np.arange(15).reshape(3, 5)
    ),
    "of two texts packed in one row": np.arange(7)[None] % 4,
    f"of {ROWS} rows": np.arange(8) + np.arange(ROWS)[:, None],
    f"of {LONG} tokens": np.arange(LONG)[None] % 32,
}
# What positions `p` may be taken for, after a call with positions `before`,
# by the name of the finding. The first that explains all is meant.
MISREADINGS: dict[str, dict[str, Callable]] = {
    "positions": {
        "One token alone is taken to be at position 0": (
            lambda p, before: p * (p.shape[1] > 1)
        ),
        "Positions are ignored: tokens are counted from 0": (
            lambda p, before: np.arange(p.shape[1])
        ),
        "Positions are counted from the first of their row": (
            lambda p, before: p - p[:, :1]
        ),
        "Only the first position of a row is read, and counted on from": (
            lambda p, before: p[:, :1] + np.arange(p.shape[1])
        ),
        "All rows get the positions of the first": lambda p, before: p[:1],
        "All rows get the positions of the last": lambda p, before: p[-1:],
        "Only the very first position of the batch is read, and counted on"
        " from in all rows": lambda p, before: p[0, 0] + np.arange(p.shape[1]),
        "The largest position so far is taken for each token": (
            lambda p, before: np.maximum.accumulate(p, axis=1)
        ),
    },
    "state": {
        "Positions of an earlier call of this length are used again": (
            lambda p, before: before if before.shape == p.shape else p
        ),
    },
}


class NoAnswerError(Exception):
    """The function raised an error, or returned something else."""


class Rotation:
    """A rotary function, asked with care.

    It is given arrays of its own, so that one which changes them is found
    out; `changed` tells which it has changed. Where it takes no batch it is
    asked row by row. What it was asked is counted.
    """

    def __init__(self, rotate: Callable, width: int):
        """Take the function and the width of what it rotates."""
        self.rotate, self.width = rotate, width
        self.takes_batches = True
        self.changed: set[str] = set()
        self.most_tokens = self.most_rows = 0

    def __call__(self, x: np.ndarray, positions: object) -> np.ndarray:
        """Return what it makes of `x`, or raise a NoAnswerError."""
        positions = np.array(positions, np.int64)
        if len(x) > 1 and not self.takes_batches:
            rows = zip(x, positions, strict=True)
            return np.concatenate([self(r[None], p[None]) for r, p in rows])
        mine, places = np.array(x, np.float64), positions.copy()
        try:
            with np.errstate(all="ignore"):
                made = numbers(self.rotate(mine, places))
        except (Exception, SystemExit) as error:  # whatever it raises
            raise NoAnswerError(describe_error(error)) from None
        if made.shape != x.shape:
            words = f"the result's shape is {made.shape}, not {x.shape}"
            raise NoAnswerError(words)
        if not np.array_equal(mine, x):
            self.changed.add("x")
        if not np.array_equal(places, positions):
            self.changed.add("positions")
        self.most_rows = max(self.most_rows, len(x))
        self.most_tokens = max(self.most_tokens, positions.shape[1])
        return made

    def random(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ask with random numbers; return them and the result."""
        shape = (*positions.shape, self.width)
        x = np.random.default_rng(positions.size).normal(size=shape)
        return x, self(x, positions)

    def trouble(self, x: np.ndarray, positions: object) -> Exception | None:
        """Return why a call fails, if it does."""
        try:
            self(x, positions)
        except NoAnswerError as trouble:
            return trouble
        return None

    def matrices(self) -> tuple[np.ndarray, list[Finding]]:
        """Ask for each column alone, at positions 0, 1, 2 and so on.

        Returns:
            `[positions, width, width]`; entry `[p, i, j]` is how much of
            column `j` position `p` puts into column `i`. And the first
            position that fails, if one does.
        """
        x, p, findings = np.ones((1, NEAR, self.width)), np.arange(NEAR), []
        trouble = self.trouble(x, [p])
        if trouble:

            def fails(last: int) -> bool:
                return bool(self.trouble(x[:, : last + 1], [p[: last + 1]]))

            first = first_where(fails, FIRST.max(), NEAR - 1)
            words = f"Position {first} is the first to fail: {trouble}."
            findings.append(Finding("far positions", words, first))
            x, p = x[:, :first], p[:first]
        made = np.empty((self.width, len(p), self.width))
        for column in range(self.width):
            x[:] = np.eye(1, self.width, column)
            made[column] = self(x, [p])[0]
        return made.transpose(1, 2, 0), findings

    def asked_again(self, first: np.ndarray, when: str) -> list[Finding]:
        """Look whether the first call is still answered as it was."""
        try:
            _, again = self.random(FIRST)
        except NoAnswerError as trouble:
            said = f"fail: {trouble}"
        else:
            if np.array_equal(first, again, equal_nan=True):
                return []
            said = "give another result"
        return [Finding("state", f"Positions 0 to 3, asked {when}, {said}.")]

    def batches(self) -> list[Finding]:
        """Look whether rows of a batch come out as they do alone.

        If not, rows are asked one by one from then on.
        """
        for rows in (2, ROWS):
            words = ""
            try:
                x, made = self.random(np.repeat(FIRST, rows, axis=0))
            except NoAnswerError as trouble:
                words = f"A batch of {rows} rows fails: {trouble}."
            else:
                alone = np.concatenate([self(row[None], FIRST) for row in x])
                off = np.abs(made - alone).max(axis=(1, 2))
                wrong = off > 1e-2 * np.abs(alone).max(axis=(1, 2))
                if wrong.any():
                    words = f"Row {wrong.argmax()} of a batch of {rows} is not"
                    words += " turned as it is alone."
            if words:
                self.takes_batches = False
                return [Finding("batch", words)]
        return []

    def beside_larger(
        self, place: int, largest: int, slack: float
    ) -> list[Finding]:
        """Look whether a position turns otherwise beside a larger one."""
        x = np.random.default_rng(place).normal(size=(1, 3, self.width))

        def otherwise(other: int) -> bool:
            alone = self(x, [[place, place, place]])
            beside = self(x, [[place, other, place]])
            off = np.any(np.abs(beside - alone) > slack, axis=2)
            return bool(off[0, 0] and off[0, 2])

        try:
            if not otherwise(largest):
                return []
            first = first_where(otherwise, place, largest)
        except NoAnswerError:
            return []
        words = (
            f"Position {place} is turned one way alone, and another way beside"
            f" position {first} or more: the largest position of a call"
            " changes how the others are turned."
        )
        return [Finding("batch maximum", words, place)]


class Known(NamedTuple):
    """What is known of a function: the matrices of its first positions."""

    matrices: np.ndarray
    slack: float

    def wrong(
        self, x: np.ndarray, made: np.ndarray, taken: np.ndarray
    ) -> np.ndarray:
        """Return which tokens are not turned by these positions."""
        places = np.broadcast_to(taken, x.shape[:2])
        wrong = np.zeros(places.shape, bool)
        for position in np.unique(places[places < len(self.matrices)]):
            tokens = places == position
            due = x[tokens] @ self.matrices[position].T
            off = np.abs(made[tokens] - due)
            wrong[tokens] = np.any(off > self.slack, axis=1)
        return wrong

    def positions_read(
        self, rotation: Rotation, max_len: int
    ) -> list[Finding]:
        """Look whether each token is turned by the position it is given."""
        findings, failed, before = [], [], FIRST
        for words, positions in CALLS.items():
            p = positions[:, :max_len]
            if p.max() >= len(self.matrices):
                continue  # what these positions should do is not known
            try:
                x, made = rotation.random(p)
            except NoAnswerError as trouble:
                far = int(p.max())
                said = f"A call {words} fails, with positions up to {far}"
                hint = " Is its table as long as the call?"
                said += f": {trouble}.{hint * (far >= p.shape[1])}"
                findings.append(Finding("positions", said, far))
                break
            if self.wrong(x, made, p).any():
                failed.append((words, p, before, x, made))
            before = p
        if failed:
            findings.append(self.misreading(failed))
        return findings

    def misreading(self, failed: list[tuple]) -> Finding:
        """Say what positions are taken for in all calls that go wrong."""

        def explains(read: Callable) -> bool:
            return not any(
                self.wrong(x, made, read(p, before)).any()
                for _, p, before, x, made in failed
            )

        call, p, before, x, made = failed[0]
        for name, readings in MISREADINGS.items():
            for words, read in readings.items():
                if explains(read):
                    taken = np.broadcast_to(read(p, before), p.shape)
                    row, token = np.argwhere(taken != p)[0]
                    position = int(p[row, token])
                    words += f": in a call {call}, {position} is turned as"
                    words += f" {taken[row, token]}."
                    return Finding(name, words, position)
        row, token = np.argwhere(self.wrong(x, made, p))[0]
        position = int(p[row, token])
        words = (
            f"Tokens are not turned by their positions in a call {call}: token"
            f" {token} of row {row} is the first, at position {position}."
        )
        return Finding("positions", words, position)
