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
        """Return what it makes of `x`, as float64.

        Args:
            x: `[batch, seq_len, width]`.
            positions: `[batch, seq_len]`.

        Raises:
            NoAnswerError: If it raises, or returns another shape.
        """
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
        one row, as every function should be able to answer.

        Returns:
            `[count, width, width]`; entry `[p, i, j]` is how much of column
            `j` position `p` puts into column `i`.
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
        said = "give another result"
    except NoAnswerError as trouble:
        again, said = None, f"fail: {trouble}"
    if again is not None and np.array_equal(first, again, equal_nan=True):
        return []
    return [Finding("state", f"Positions 0 to 3, asked {when}, {said}.")]


def not_linear(rotation: Rotation) -> list[Finding]:
    """Look whether x is only turned, each token by itself."""
    x, made = rotation.random(FIRST)
    slack = 1e-3 * np.abs(made).max()

    def changes(other: np.ndarray, due: np.ndarray, rest: object) -> bool:
        return np.abs(rotation(other, FIRST) - due)[:, rest].max() > slack

    words = ""
    every = slice(None)
    before, after = x.copy(), x.copy()
    before[:, -1] += 1
    after[:, 0] += 1
    if changes(0 * x, 0 * made, every):
        words = "Zeros do not stay zeros: something is added to x."
    elif changes(2 * x, 2 * made, every):
        words = "Twice x does not give twice the result: x is not only turned."
    elif changes(before, made, slice(-1)):
        words = "A token changes the results of those before it."
    elif changes(after, made, slice(1, None)):
        words = "A token changes the results of those after it."
    return [Finding("linear", words)] if words else []


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


class Answer(NamedTuple):
    """What came of a call."""

    words: str
    positions: np.ndarray
    misses: Callable[[np.ndarray], np.ndarray]  # by positions: wrong tokens
    taken: dict[str, np.ndarray]  # for positions, by each reading

    def explained(self, name: str) -> bool:
        """Tell whether a reading explains what came."""
        return not self.misses(self.taken[name]).any()


def positions_read(
    rotation: Rotation, matrices: np.ndarray, slack: float, max_len: int
) -> list[Finding]:
    """Look whether each token is turned by the position that it is given.

    Args:
        rotation: The function.
        matrices: What it does at the first positions.
        slack: By how much results may be off.
        max_len: How many tokens a call may have.
    """
    answers, before = [], FIRST
    for words, p in CALLS.items():
        p = p[:, :max_len]
        fewest = p.max() if p.size > NEAR else max(p.max(), p.size)
        if fewest >= len(matrices):
            continue  # what these positions should do is not known
        try:
            x, made = rotation.random(p)
        except NoAnswerError as trouble:
            return [refused(words, p, trouble), *misread(answers)]

        def misses(taken: np.ndarray, x=x, made=made) -> np.ndarray:
            taken = np.broadcast_to(taken, made.shape[:2])
            off = made - turned(x, taken, matrices)
            return np.any(np.abs(off) > slack, axis=-1)  # NaN tells nothing

        taken = {name: read(p, before) for name, read in READINGS.items()}
        answers.append(Answer(words, p, misses, taken))
        before = p
    return misread(answers)


def turned(
    x: np.ndarray, positions: np.ndarray, matrices: np.ndarray
) -> np.ndarray:
    """Return tokens turned by the matrices of their positions."""
    made = np.full(x.shape, np.nan)
    for position in np.unique(positions[positions < len(matrices)]):
        tokens = positions == position
        made[tokens] = x[tokens] @ matrices[position].T
    return made


def refused(words: str, p: np.ndarray, trouble: NoAnswerError) -> Finding:
    """Say which call a function refuses."""
    far = int(p.max())
    said = f"A call {words} fails, with positions up to {far}: {trouble}."
    if far >= p.shape[1]:
        said += " Is its table as long as the call?"
    return Finding("positions", said, far)


def misread(answers: list[Answer]) -> list[Finding]:
    """Name what positions are taken for, or else where this shows."""
    failed = [each for each in answers if each.misses(each.positions).any()]
    if not failed:
        return []
    for some in (answers, failed):  # all calls, or those that are wrong
        for name in READINGS:
            if all(each.explained(name) for each in some):
                return [example(failed[0], name)]
    findings = []
    for each in failed[:2]:
        known = [name for name in READINGS if each.explained(name)]
        if known:
            findings.append(example(each, known[0]))
            continue
        wrong = each.misses(each.positions)
        row, token = np.argwhere(wrong)[0].tolist()
        position = int(each.positions[row, token])
        words = (
            "Tokens are not turned by their positions in a call"
            f" {each.words}: token {token} of row {row} is the first, at"
            f" position {position}."
        )
        findings.append(Finding("positions", words, position))
    return findings


def example(answer: Answer, name: str) -> Finding:
    """Say what positions are taken for, with an example."""
    taken = np.broadcast_to(answer.taken[name], answer.positions.shape)
    place = tuple(np.argwhere(taken != answer.positions)[0])
    position = int(answer.positions[place])
    words = (
        f"{name}: in a call {answer.words}, {position} is turned as"
        f" {taken[place]}."
    )
    kind = "state" if "earlier" in name else "positions"
    return Finding(kind, words, position)
