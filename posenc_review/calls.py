"""Whether a rotary function reads x and positions as it is told to."""

from typing import NamedTuple

import numpy as np

from .probing import NoAnswerError, Rotation
from .report import Finding

# What a function may take for the positions that it is given.
READINGS = {
    "ignored": (
        lambda p: np.broadcast_to(np.arange(p.shape[1]), p.shape),
        "Positions are ignored: the tokens of a call count from 0",
    ),
    "from the first": (
        lambda p: p - p[:, :1],
        "Positions are counted from the first of each row",
    ),
    "onwards": (
        lambda p: p[:, :1] + np.arange(p.shape[1]),
        "Only the first position of a row is read, the rest count on from it",
    ),
    "first row": (
        lambda p: np.broadcast_to(p[0], p.shape),
        "The positions of the first row of the batch are taken for all rows",
    ),
    "last row": (
        lambda p: np.broadcast_to(p[-1], p.shape),
        "The positions of the last row of the batch are taken for all rows",
    ),
    "first of all": (
        lambda p: p[0, 0] + np.broadcast_to(np.arange(p.shape[1]), p.shape),
        "Only the very first position is read, all rows count on from it",
    ),
    "from the very first": (
        lambda p: p - p[0, 0],
        "Positions are counted from the first of the first row",
    ),
    "first row from its first": (
        lambda p: np.broadcast_to(p[0] - p[0, 0], p.shape),
        "The first row's positions, counted from its first, are taken for all",
    ),
    "from the smallest": (
        lambda p: p - p.min(axis=1, keepdims=True),
        "Positions are counted from the smallest of each row",
    ),
    "sorted": (
        lambda p: np.sort(p, axis=1),
        "Positions are sorted",
    ),
    "one for all": (
        lambda p: np.broadcast_to(p[:, :1], p.shape),
        "The first position of a row is taken for the whole row",
    ),
    "the last for all": (
        lambda p: np.broadcast_to(p[:, -1:], p.shape),
        "The last position of a row is taken for the whole row",
    ),
    "clipped by length": (
        lambda p: np.minimum(p, p.shape[1] - 1),
        "Positions are clipped to the number of tokens in the call",
    ),
    "wrapped by length": (
        lambda p: p % p.shape[1],
        "Positions begin again at the number of tokens in the call",
    ),
    "all 0": (
        lambda p: np.zeros_like(p),
        "Every position is taken for 0",
    ),
}


class Call(NamedTuple):
    """Positions to ask for, and how to speak of them."""

    words: str
    positions: np.ndarray


FIRST = Call("of one row from 0 on", np.arange(4)[None])
CALLS = (
    Call("of one row from 0 on", np.arange(6)[None]),
    Call("of one row that begins at 20", np.arange(20, 25)[None]),
    Call("of one token", np.array([[7]])),
    Call("of one token in each of two rows", np.array([[19], [7]])),
    Call(
        "of three rows, each with positions of its own",
        np.array([[3, 9, 4, 17, 6], [5, 30, 11, 8, 25], [4, 7, 33, 12, 20]]),
    ),
    Call("of two texts packed in one row", np.array([[0, 1, 2, 3, 0, 1, 2]])),
)


def ask(rotation: Rotation, call: Call, seed: int) -> tuple:
    """Ask with random numbers; return them and the result."""
    shape = (*call.positions.shape, rotation.width)
    x = np.random.default_rng(seed).normal(size=shape)
    return x, rotation(x, call.positions)


def first_call(rotation: Rotation) -> np.ndarray:
    """Ask for positions 0 to 3 of one row; always the same call."""
    return ask(rotation, FIRST, seed=0)[1]


def call_again(
    rotation: Rotation, first: np.ndarray, when: str
) -> list[Finding]:
    """Look whether the first call is still answered as it was."""
    again = first_call(rotation)
    if np.array_equal(first, again, equal_nan=True):
        return []
    position = int(np.argwhere(first != again)[0][1])
    words = f"Positions 0 to 3, asked {when}, give another result."
    return [Finding("state", words, position)]


def not_linear(rotation: Rotation) -> list[Finding]:
    """Look whether x is only turned, each token by itself."""
    x, made = ask(rotation, FIRST, seed=0)
    positions = FIRST.positions
    slack = 0.01 * np.abs(made).max()
    if np.abs(rotation(0 * x, positions)).max() > slack:
        words = "Zeros do not stay zeros: something is added to x."
        return [Finding("linear", words, 0)]
    if np.abs(rotation(2 * x, positions) - 2 * made).max() > slack:
        words = "Twice x does not give twice the result: x is not only turned."
        return [Finding("linear", words, 0)]
    other = x.copy()
    other[:, -1] += 1
    if np.abs((rotation(other, positions) - made)[:, :-1]).max() > slack:
        words = "A token changes the results of those before it."
        return [Finding("linear", words, int(positions[0, -1]))]
    return []


def batches(rotation: Rotation) -> list[Finding]:
    """Look whether rows of a batch come out as they do alone."""
    rows = Call("", np.concatenate([FIRST.positions, FIRST.positions]))
    try:
        x, made = ask(rotation, rows, seed=4)
    except NoAnswerError as trouble:
        rotation.takes_batches = False
        words = f"A batch of two rows fails: {trouble}."
        return [Finding("batch", words, 0)]
    for row in (0, 1):
        alone = rotation(x[row : row + 1], FIRST.positions)[0]
        if np.abs(alone - made[row]).max() > 0.01 * np.abs(alone).max():
            rotation.takes_batches = False
            words = (
                f"Row {row} of a batch of two is not turned as it is alone."
            )
            return [Finding("batch", words, 0)]
    return []


def positions_read(
    rotation: Rotation, matrices: np.ndarray, near: float
) -> list[Finding]:
    """Look whether each token is turned by the position that it is given.

    Args:
        rotation: The function.
        matrices: What it does at the first positions, asked in order.
        near: By how much results may be off.
    """
    findings, failed = [], []
    for call in CALLS:
        try:
            x, made = ask(rotation, call, seed=1)
        except NoAnswerError as trouble:
            findings.append(refused(call, trouble))
            continue
        slack = 20 * near * np.abs(x).max()
        if not fits(made, x, matrices, call.positions, slack):
            likely = [
                name
                for name, (read, _) in READINGS.items()
                if fits(made, x, matrices, read(call.positions), slack)
            ]
            failed.append((call, likely))
    return findings[:1] + misreadings(failed)


def refused(call: Call, trouble: NoAnswerError) -> Finding:
    """Say which call a function refuses."""
    far = int(call.positions.max())
    words = (
        f"A call {call.words}, with positions up to {far}, fails: {trouble}."
    )
    if far >= call.positions.shape[1]:
        words += " Is its table as long as the call?"
    return Finding("positions", words, far)


def fits(
    made: np.ndarray,
    x: np.ndarray,
    matrices: np.ndarray,
    positions: np.ndarray,
    slack: float,
) -> bool:
    """Tell whether each token was turned by such positions."""
    if positions.min() < 0 or positions.max() >= len(matrices):
        return False
    due = np.einsum("bsij,bsj->bsi", matrices[positions], x)
    return bool(np.all(np.abs(made - due) <= slack))


def misreadings(failed: list[tuple[Call, list[str]]]) -> list[Finding]:
    """Name what positions are taken for, over all calls that failed."""
    if not failed:
        return []
    call, likely = failed[0]
    if call is CALLS[0] and not likely:
        words = "A result is not the sum of its parts: x is not only turned."
        return [Finding("linear", words, 0)]
    for name, (read, words) in READINGS.items():
        if all(name in likely for _, likely in failed):
            call = failed[0][0]
            wrong = np.argwhere(read(call.positions) != call.positions)
            place = tuple(wrong[0])
            position = int(call.positions[place])
            words += (
                f": in a call {call.words}, position {position} is turned as"
                f" {int(read(call.positions)[place])}."
            )
            return [Finding("positions", words, position)]
    findings = []
    for call, likely in failed:
        words = (
            f"In a call {call.words}, tokens are not turned by their positions"
        )
        if likely:
            words = READINGS[likely[0]][1] + f", in a call {call.words}"
        findings.append(
            Finding("positions", words + ".", int(call.positions.max()))
        )
    return findings


def positions_kept(
    rotation: Rotation, matrices: np.ndarray, near: float
) -> list[Finding]:
    """Look whether a call of one length is answered by an earlier one."""
    x = np.random.default_rng(2).normal(size=(1, 9, rotation.width))
    later, sooner = np.arange(20, 29)[None], np.arange(5, 14)[None]
    slack = 20 * near * np.abs(x).max()
    try:
        first, second = rotation(x, later), rotation(x, sooner)
    except NoAnswerError:
        return []
    kept = fits(first, x, matrices, later, slack) and fits(
        second, x, matrices, later, slack
    )
    if not kept:
        return []
    words = (
        "Positions of an earlier call are used again: 5 to 13, asked after 20"
        " to 28, are turned as those."
    )
    return [Finding("state", words, 5)]
