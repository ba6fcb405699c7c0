"""Whether a rotary function reads x and positions as it is told to."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .probing import NoAnswerError, Rotation
from .report import Finding


class Call(NamedTuple):
    """Positions to ask for, and how to speak of them."""

    words: str
    positions: np.ndarray  # [batch, seq_len]


FIRST = Call("of one row from 0 on", np.arange(4)[None])
CALLS = (
    FIRST,
    Call("of one row that begins at 20", np.arange(20, 25)[None]),
    Call("of one token", np.array([[7]])),
    Call("of one token in each of two rows", np.array([[19], [7]])),
    Call(
        "of three rows, each with positions of its own",
        2 * np.arange(15).reshape(3, 5),
    ),
    Call("of two texts packed in one row", np.arange(7)[None] % 4),
)


class Reading(NamedTuple):
    """What a function may take for the positions that it is given."""

    words: str
    read: Callable[[np.ndarray], np.ndarray]  # both `[batch, seq_len]`


def counted(p: np.ndarray) -> np.ndarray:
    """Return 0, 1, 2 and so on for each row."""
    return np.broadcast_to(np.arange(p.shape[1]), p.shape)


def for_all(part: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return a row, a column or a number for all of them."""
    return np.broadcast_to(part, p.shape)


READINGS = (
    Reading("Positions are ignored: tokens are counted from 0", counted),
    Reading(
        "Positions are counted from the first of their row",
        lambda p: p - p[:, :1],
    ),
    Reading(
        "Only the first position of a row is read, and counted on from",
        lambda p: p[:, :1] + counted(p),
    ),
    Reading(
        "The positions of the first row of the batch are taken for all rows",
        lambda p: for_all(p[:1], p),
    ),
    Reading(
        "The positions of the last row of the batch are taken for all rows",
        lambda p: for_all(p[-1:], p),
    ),
    Reading(
        "Only the very first position of the batch is read, and counted on"
        " from in all rows",
        lambda p: p[0, 0] + counted(p),
    ),
)


def ask(
    rotation: Rotation, call: Call, seed: int
) -> tuple[np.ndarray, np.ndarray]:
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
    try:
        again = first_call(rotation)
    except NoAnswerError as trouble:
        words = f"Positions 0 to 3, asked {when}, fail: {trouble}."
        return [Finding("state", words)]
    if np.array_equal(first, again, equal_nan=True):
        return []
    words = f"Positions 0 to 3, asked {when}, give another result."
    return [Finding("state", words)]


def not_linear(rotation: Rotation) -> list[Finding]:
    """Look whether x is only turned, each token by itself."""
    x, made = ask(rotation, FIRST, seed=0)
    positions = FIRST.positions
    slack = 1e-3 * np.abs(made).max()
    if np.abs(rotation(0 * x, positions)).max() > slack:
        words = "Zeros do not stay zeros: something is added to x."
        return [Finding("linear", words)]
    if np.abs(rotation(2 * x, positions) - 2 * made).max() > slack:
        words = "Twice x does not give twice the result: x is not only turned."
        return [Finding("linear", words)]
    sides = {"before": (-1, slice(-1)), "after": (0, slice(1, None))}
    for side, (token, rest) in sides.items():
        other = x.copy()
        other[:, token] += 1
        if np.abs((rotation(other, positions) - made)[:, rest]).max() > slack:
            words = f"A token changes the results of those {side} it."
            return [Finding("linear", words)]
    return []


def batches(rotation: Rotation) -> list[Finding]:
    """Look whether rows of a batch come out as they do alone."""
    rows = Call("", np.concatenate([FIRST.positions, FIRST.positions]))
    try:
        x, made = ask(rotation, rows, seed=4)
    except NoAnswerError as trouble:
        rotation.takes_batches = False
        words = f"A batch of two rows fails: {trouble}."
        return [Finding("batch", words)]
    for row in (0, 1):
        alone = rotation(x[row : row + 1], FIRST.positions)[0]
        if np.abs(alone - made[row]).max() > 1e-2 * np.abs(alone).max():
            rotation.takes_batches = False
            words = (
                f"Row {row} of a batch of two is not turned as it is alone."
            )
            return [Finding("batch", words)]
    return []


class Failed(NamedTuple):
    """A call whose tokens are not turned by their positions."""

    call: Call
    explained: list[Reading]  # what would explain it


def positions_read(
    rotation: Rotation, matrices: np.ndarray, near: float
) -> list[Finding]:
    """Look whether each token is turned by the position that it is given.

    Args:
        rotation: The function.
        matrices: What it does at the first positions.
        near: By how much results may be off.
    """
    failed = []
    for call in CALLS:
        if max(call.positions.max(), call.positions.size) >= len(matrices):
            continue  # what these positions should do is not known
        try:
            x, made = ask(rotation, call, seed=1)
        except NoAnswerError as trouble:
            return [refused(call, trouble), *misreadings(failed)]
        slack = 100 * near
        if fits(made, x, matrices, call.positions, slack):
            continue
        explained = [
            reading
            for reading in READINGS
            if fits(made, x, matrices, reading.read(call.positions), slack)
        ]
        failed.append(Failed(call, explained))
    return misreadings(failed)


def refused(call: Call, trouble: NoAnswerError) -> Finding:
    """Say which call a function refuses."""
    far = int(call.positions.max())
    words = (
        f"A call {call.words} fails, with positions up to {far}: {trouble}."
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
    turned = (matrices[positions] @ x[..., None])[..., 0]
    near = np.abs(made - turned) <= slack
    both_nan = ~np.isfinite(made) & ~np.isfinite(turned)
    return bool(np.all(near | both_nan))


def misreadings(failed: list[Failed]) -> list[Finding]:
    """Name what positions are taken for, in the calls that failed."""
    if not failed:
        return []
    for reading in failed[0].explained:
        if all(reading in each.explained for each in failed):
            return [misread(failed[0].call, reading)]
    findings = []
    for call, explained in failed[:2]:
        if explained:
            findings.append(misread(call, explained[0]))
            continue
        words = (
            f"Tokens are not turned by their positions in a call {call.words}."
        )
        findings.append(Finding("positions", words))
    return findings


def misread(call: Call, reading: Reading) -> Finding:
    """Say what positions are taken for, with an example."""
    taken = reading.read(call.positions)
    place = tuple(np.argwhere(taken != call.positions)[0])
    position = int(call.positions[place])
    words = (
        f"{reading.words}: in a call {call.words}, {position} is turned as"
        f" {taken[place]}."
    )
    return Finding("positions", words, position)


def positions_kept(
    rotation: Rotation, matrices: np.ndarray, near: float
) -> list[Finding]:
    """Look whether a call is answered by an earlier one of its length."""
    x = np.random.default_rng(2).normal(size=(1, 9, rotation.width))
    later, sooner = np.arange(20, 29)[None], np.arange(5, 14)[None]
    slack = 100 * near
    if later.max() >= len(matrices):
        return []
    try:
        rotation(x, later)
        made = rotation(x, sooner)
    except NoAnswerError:
        return []
    right = fits(made, x, matrices, sooner, slack)
    if right or not fits(made, x, matrices, later, slack):
        return []
    words = (
        "Positions of an earlier call are used again: 5 to 13, asked after 20"
        " to 28, are turned as those."
    )
    return [Finding("state", words, 5)]
