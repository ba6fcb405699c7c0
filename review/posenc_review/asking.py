"""Ask a rotary function, and see whether it reads what it is given."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .hypothesis import NEAR
from .report import Finding, first_where
from .settings import describe_error, numbers

LONG = 4096  # tokens of the longest call
BATCH = 9  # rows

FIRST = np.arange(4)[None]
CALLS: dict[str, np.ndarray] = {  # positions, `[batch, seq_len]`
    "of one row that begins at 20": np.arange(20, 25)[None],
    "of as many tokens as the one before": np.arange(8, 13)[None],
    "of one token": np.array([[7]]),
    "of one token in each of two rows": np.array([[19], [7]]),
    "of three rows, each with positions of its own": (
        2 * np.arange(15).reshape(3, 5)
    ),
    "of two texts packed in one row": np.arange(7)[None] % 4,
    f"of {BATCH} rows": np.arange(8) + np.arange(BATCH)[:, None],
    "of {tokens} tokens": np.arange(LONG)[None] % 32,
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
        "One token alone is taken for the next: one late": (
            lambda p, before: p + (p.shape[1] == 1)
        ),
        "One token alone is taken for the one before: one early": (
            lambda p, before: p - (p.shape[1] == 1)
        ),
        "Positions are clipped to the length of the call": (
            lambda p, before: np.minimum(p, p.shape[1] - 1)
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
    out; `changed` tells which it has changed. What it was asked is counted.
    """

    def __init__(self, rotate: Callable, width: int):
        """Take the function and the width of what it rotates."""
        self.rotate, self.width = rotate, width
        self.changed: set[str] = set()
        self.most_tokens = self.most_rows = 0

    def __call__(self, x: np.ndarray, positions: object) -> np.ndarray:
        """Return what it makes of `x`, or raise a NoAnswerError."""
        positions = np.array(positions, np.int64)
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

    def trouble(self, positions: np.ndarray) -> NoAnswerError | None:
        """Return why a call of one row fails, if it does."""
        try:
            self(np.ones((1, len(positions), self.width)), [positions])
        except NoAnswerError as trouble:
            return trouble
        return None

    def first_to_fail(self, start: int, last: int, trouble: object) -> Finding:
        """Name the first position that fails in a call from `start` on."""

        def fails(end: int) -> bool:
            return self.trouble(np.arange(start, end + 1)) is not None

        first = first_where(fails, start - 1, last)
        words = f"Position {first} is the first to fail"
        alone = self.trouble(np.array([first]))
        if not fails(first):
            first, words = (
                start,
                f"Positions {start} to {last} fail in a batch",
            )
        elif not alone:
            words += ", in a call with others"
        words += f": {alone or trouble}."
        return Finding("far positions", words, first)

    def matrices(self) -> tuple[np.ndarray, list[Finding]]:
        """Ask for each column alone, at positions 0, 1, 2 and so on.

        Returns:
            `[positions, width, width]`; entry `[p, i, j]` is how much of
            column `j` position `p` puts into column `i`. And the first
            position that fails, if one does.
        """
        p, findings = np.arange(NEAR), []
        trouble = self.trouble(p)
        if trouble:
            findings.append(self.first_to_fail(0, NEAR - 1, trouble))
            p = p[: findings[0].position]
        made = np.empty((self.width, len(p), self.width))
        for column in range(self.width):
            x = np.tile(np.eye(1, self.width, column), (1, len(p), 1))
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
            given, matrix = x[tokens], self.matrices[position]
            with np.errstate(all="ignore"):  # infinity, from the function
                off = np.abs(made[tokens] - given @ matrix.T)
                size = np.abs(given).max(axis=1) * np.abs(matrix).max()
                slack = self.slack * np.maximum(size, 1)
            wrong[tokens] = np.any(off > slack[:, None], axis=1)
        return wrong

    def positions_read(
        self, rotation: Rotation, max_len: int
    ) -> list[Finding]:
        """Look whether each token is turned by the position it is given."""
        findings, failed, before = [], [], FIRST
        for words, positions in CALLS.items():
            p = positions[:, :max_len]
            words = words.format(tokens=p.shape[1])
            if p.max() >= len(self.matrices):
                continue  # what these positions should do is not known
            try:
                x, made = rotation.random(p)
            except NoAnswerError as trouble:
                far = int(p.max())
                said = f"A call {words} fails, with positions up to {far}"
                hint = " Is its table as long as the call?"
                too_far = far >= p.shape[1] and "Index" in str(trouble)
                said += f": {trouble}.{hint * too_far}"
                findings.append(Finding(about(p), said, far))
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
        return Finding(about(p), words, position)


def about(positions: np.ndarray) -> str:
    """Name a finding by the first call that goes wrong."""
    return "positions" if len(positions) == 1 else "batch"
