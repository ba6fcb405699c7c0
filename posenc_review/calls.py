"""Ask a rotary function, and see whether it reads what it is given."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .report import Finding, first_where
from .settings import describe_error, numbers

NEAR = 42  # positions that are looked at whole: no usual width, nor batch
LONG = 4096  # tokens of the longest call
ROWS = 9  # of the largest batch


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
        """Return what it makes of `x`, `[batch, seq_len, width]`."""
        positions = np.array(positions, np.int64)
        if self.takes_batches or len(x) == 1:
            return self.ask(x, positions)
        rows = zip(x, positions, strict=True)
        return np.concatenate([self.ask(r[None], p[None]) for r, p in rows])

    def ask(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Ask once, and see to it that `x` and `positions` stay."""
        mine, places = np.array(x, np.float64), positions.copy()
        try:
            with np.errstate(all="ignore"):
                made = numbers(self.rotate(mine, places))
        except (Exception, SystemExit) as error:  # whatever it raises
            raise NoAnswerError(describe_error(error)) from None
        if made.shape != x.shape:
            raise NoAnswerError(
                f"the result's shape is {made.shape}, not {x.shape}"
            )
        if not np.array_equal(mine, x):
            self.changed.add("x")
        if not np.array_equal(places, positions):
            self.changed.add("positions")
        rows, tokens = positions.shape
        self.most_rows = max(self.most_rows, rows)
        self.most_tokens = max(self.most_tokens, tokens)
        return made

    def random(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ask with random numbers; return them and the result."""
        shape = (*positions.shape, self.width)
        x = np.random.default_rng(positions.size).normal(size=shape)
        return x, self(x, positions)

    def matrices(self, count: int) -> np.ndarray:
        """Return how the first positions mix the columns.

        Each column is asked about alone, at positions 0, 1, 2 and so on in
        one row. Entry `[p, i, j]` of `[count, width, width]` is how much of
        column `j` position `p` puts into column `i`.
        """
        answers = np.empty((count, self.width, self.width))
        for column, basis in enumerate(np.eye(self.width)):
            x = np.tile(basis, (1, count, 1))
            answers[:, :, column] = self(x, [range(count)])[0]
        return answers


def first_matrices(rotation: Rotation) -> tuple[np.ndarray, list[Finding]]:
    """Ask for the first positions, or for as many as it answers."""
    try:
        return rotation.matrices(NEAR), []
    except NoAnswerError as error:
        trouble = str(error)

    def fails(count: int) -> bool:
        try:
            rotation.matrices(count)
        except NoAnswerError:
            return True
        return False

    count = first_where(fails, FIRST.size, NEAR) - 1
    words = f"Position {count} is the first to fail: {trouble}."
    return rotation.matrices(count), [Finding("far positions", words, count)]


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
    "The positions of the first row of the batch are taken for all rows": (
        lambda p, before: p[:1]
    ),
    "The positions of the last row of the batch are taken for all rows": (
        lambda p, before: p[-1:]
    ),
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


def asked_again(
    rotation: Rotation, first: np.ndarray, when: str
) -> list[Finding]:
    """Look whether the first call is still answered as it was."""
    try:
        _, again = rotation.random(FIRST)
    except NoAnswerError as trouble:
        said = f"fail: {trouble}"
    else:
        if np.array_equal(first, again, equal_nan=True):
            return []
        said = "give another result"
    return [Finding("state", f"Positions 0 to 3, asked {when}, {said}.")]


def columns_alone(
    rotation: Rotation, matrices: np.ndarray, slack: float
) -> list[Finding]:
    """Look whether random numbers are turned as their columns one by one."""
    x, made = rotation.random(FIRST)
    if not np.any(np.abs(made - turned(x, FIRST, matrices)) > slack):
        return []  # or NaN, which is looked at later
    words = (
        "x is not only turned: random numbers give another result than their"
        " columns one by one."
    )
    return [Finding("linear", words)]


def batches(rotation: Rotation) -> list[Finding]:
    """Look whether rows of a batch come out as they do alone.

    If not, rows are asked one by one from then on.
    """
    for rows in (2, ROWS):
        positions = np.repeat(FIRST, rows, axis=0)
        try:
            x, made = rotation.random(positions)
        except NoAnswerError as trouble:
            rotation.takes_batches = False
            words = f"A batch of {rows} rows fails: {trouble}."
            return [Finding("batch", words)]
        for row in range(rows):
            alone = rotation(x[row : row + 1], FIRST)[0]
            off = np.abs(alone - made[row]).max()
            if off > 1e-2 * np.abs(alone).max():
                rotation.takes_batches = False
                words = (
                    f"Row {row} of a batch of {rows} is not turned as it is"
                    " alone."
                )
                return [Finding("batch", words)]
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


class Answer(NamedTuple):
    """What came of a call."""

    call: str
    positions: np.ndarray
    before: np.ndarray  # the positions of the call before
    wrong: Callable[[np.ndarray], np.ndarray]  # which tokens, by positions

    def taken(self, reading: str) -> np.ndarray:
        """Return what is taken for positions, by one of the `READINGS`."""
        taken = READINGS[reading](self.positions, self.before)
        return np.broadcast_to(taken, self.positions.shape)

    def example(self, reading: str) -> Finding:
        """Say what positions are taken for, with an example."""
        taken = self.taken(reading)
        place = tuple(np.argwhere(taken != self.positions)[0])
        position = int(self.positions[place])
        words = (
            f"{reading}: in a call {self.call}, {position} is turned as"
            f" {taken[place]}."
        )
        kind = "state" if "earlier" in reading else "positions"
        return Finding(kind, words, position)


def positions_read(
    rotation: Rotation, matrices: np.ndarray, slack: float, max_len: int
) -> list[Finding]:
    """Look whether each token is turned by the position that it is given."""
    answers: list[Answer] = []
    before = FIRST
    for call, positions in CALLS.items():
        p = positions[:, :max_len]
        known = p.max() if p.size > NEAR else max(p.max(), p.size)
        if known >= len(matrices):
            continue  # what these positions should do is not known
        try:
            x, made = rotation.random(p)
        except NoAnswerError as trouble:
            far = int(p.max())
            said = (
                f"A call {call} fails, with positions up to {far}: {trouble}."
            )
            if far >= p.shape[1]:
                said += " Is its table as long as the call?"
            return [Finding("positions", said, far), *misread(answers)]

        def wrong(taken: np.ndarray, x=x, made=made) -> np.ndarray:
            off = np.abs(made - turned(x, taken, matrices))
            return np.any(off > slack, axis=-1)  # NaN tells nothing

        answers.append(Answer(call, p, before, wrong))
        before = p
    return misread(answers)


def misread(answers: list[Answer]) -> list[Finding]:
    """Name what positions are taken for, or else where this shows."""
    failed = [each for each in answers if each.wrong(each.positions).any()]
    if not failed:
        return []

    def explained(some: list[Answer]) -> list[str]:
        return [
            reading
            for reading in READINGS
            if not any(each.wrong(each.taken(reading)).any() for each in some)
        ]

    for some in (answers, failed):  # all calls, or those that are wrong
        for reading in explained(some)[:1]:
            return [failed[0].example(reading)]
    findings = []
    for each in failed[:2]:
        known = explained([each])
        if known:
            findings.append(each.example(known[0]))
            continue
        row, token = np.argwhere(each.wrong(each.positions))[0].tolist()
        position = int(each.positions[row, token])
        words = (
            "Tokens are not turned by their positions in a call"
            f" {each.call}: token {token} of row {row} is the first, at"
            f" position {position}."
        )
        findings.append(Finding("positions", words, position))
    return findings
