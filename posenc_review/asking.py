"""Ask a rotary function, and see whether it reads what it is given."""

from collections.abc import Callable

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
# What may be taken for positions `p`, after a call with positions `before`.
READINGS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
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
    "Only the very first position of the batch is read, and counted on from"
    " in all rows": lambda p, before: p[0, 0] + np.arange(p.shape[1]),
    "The largest position so far is taken for each token": (
        lambda p, before: np.maximum.accumulate(p, axis=1)
    ),
    "One token alone is taken to be at position 0": (
        lambda p, before: p * (p.shape[1] > 1)
    ),
    "Positions of an earlier call of this length are used again": (
        lambda p, before: before if before.shape == p.shape else p
    ),
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

    def fails(self, x: np.ndarray, positions: np.ndarray) -> bool:
        """Tell whether a call fails."""
        try:
            self(x, positions)
        except NoAnswerError:
            return True
        return False

    def matrices(self) -> tuple[np.ndarray, list[Finding]]:
        """Ask for each column alone, at positions 0, 1, 2 and so on.

        Returns:
            `[positions, width, width]`; entry `[p, i, j]` is how much of
            column `j` position `p` puts into column `i`. And the first
            position that fails, if one does.
        """
        count, findings = NEAR, []
        x, p = np.ones((1, NEAR, self.width)), np.arange(NEAR)[None]

        def fails(count: int) -> bool:
            return self.fails(x[:, :count], p[:, :count])

        try:
            self(x, p)
        except NoAnswerError as trouble:
            count = first_where(fails, FIRST.size, NEAR) - 1
            words = f"Position {count} is the first to fail: {trouble}."
            findings.append(Finding("far positions", words, count))
        made = np.empty((count, self.width, self.width))
        for column in range(self.width):
            x[:] = np.eye(1, self.width, column)
            made[:, :, column] = self(x[:, :count], p[:, :count])[0]
        return made, findings

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
            try:
                x, made = self.random(np.repeat(FIRST, rows, axis=0))
            except NoAnswerError as trouble:
                self.takes_batches = False
                words = f"A batch of {rows} rows fails: {trouble}."
                return [Finding("batch", words)]
            for row in range(rows):
                alone = self(x[row : row + 1], FIRST)[0]
                off = np.abs(alone - made[row]).max()
                if off > 1e-2 * np.abs(alone).max():
                    self.takes_batches = False
                    words = f"Row {row} of a batch of {rows} is not turned"
                    return [Finding("batch", f"{words} as it is alone.")]
        return []


def turned(
    x: np.ndarray, positions: np.ndarray, matrices: np.ndarray
) -> np.ndarray:
    """Return tokens turned by the matrices of their positions, or NaN."""
    made = np.full(x.shape, np.nan)
    for position in np.unique(positions[positions < len(matrices)]):
        tokens = positions == position
        made[tokens] = x[tokens] @ matrices[position].T
    return made


def positions_read(
    rotation: Rotation, matrices: np.ndarray, slack: float, max_len: int
) -> list[Finding]:
    """Look whether each token is turned by the position that it is given.

    What is known are the matrices of the first positions.
    """
    calls, findings, before = [], [], FIRST
    for words, positions in CALLS.items():
        p = positions[:, :max_len]
        known = p.max() if p.size > NEAR else max(p.max(), p.size)
        if known >= len(matrices):
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

        def wrong(taken: np.ndarray, x=x, made=made) -> np.ndarray:
            places = np.broadcast_to(taken, x.shape[:2])
            off = np.abs(made - turned(x, places, matrices))
            return np.any(off > slack, axis=-1)  # NaN tells nothing

        calls.append((words, p, before, wrong))
        before = p
    failed = [call for call in calls if call[3](call[1]).any()]
    if not failed:
        return findings
    words, p, before, wrong = failed[0]
    row, token = np.argwhere(wrong(p))[0]
    name, position = "positions", int(p[row, token])
    said = (
        f"Tokens are not turned by their positions in a call {words}: token"
        f" {token} of row {row} is the first, at position {position}."
    )
    for some in (failed, calls):  # those that are wrong, or better, all
        for reading, read in reversed(READINGS.items()):
            if any(wrong(read(p, q)).any() for _, p, q, wrong in some):
                continue
            taken = np.broadcast_to(read(p, before), p.shape)
            row, token = np.argwhere(taken != p)[0]
            position = int(p[row, token])
            name = "state" if "earlier" in reading else "positions"
            said = (
                f"{reading}: in a call {words}, {position} is turned as"
                f" {taken[row, token]}."
            )
    return [*findings, Finding(name, said, position)]
