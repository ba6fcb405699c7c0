"""How a rotary function turns its pairs near position 0."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .probing import FEW, Hands, Layout
from .report import Finding, counted, listed, plain

EVEN = 0.05  # how far from its place a hand may be that turns evenly
STEPS = 4  # positions over which a hand must turn evenly; beyond, look_far


class Form(NamedTuple):
    """What a pair may do instead of turning.

    A pair that turns has two hands that point to the same number, `cosine +
    1j * sine`. The form says to which numbers they point instead.
    """

    words: str
    hands: Callable[[np.ndarray], tuple]


AGAINST = "a minus is missing, so that one column turns against the other"
OVERWRITTEN = "column is computed from one already overwritten: lengths change"
FORMS = (
    Form(AGAINST, lambda z: (z.conj(), z)),
    Form("the second column is negated", lambda z: (z, -z)),
    Form("the first column is negated", lambda z: (-z, z)),
    Form(
        "sine and cosine are exchanged",
        lambda z: (1j * z.conj(), 1j * z.conj()),
    ),
    Form(
        "sine and cosine are exchanged in the first column",
        lambda z: (1j * z.conj(), z),
    ),
    Form(
        "sine and cosine are exchanged in the second column",
        lambda z: (z, 1j * z.conj()),
    ),
    Form("only the first column turns", lambda z: (z, 1)),
    Form("only the second column turns", lambda z: (1, z)),
    Form("the second column is lost", lambda z: (z, 0)),
    Form("the first column is lost", lambda z: (0, z)),
    Form("both columns are computed like the first", lambda z: (z, 1j * z)),
    Form(
        "both columns are computed like the second",
        lambda z: (z / 1j, z),
    ),
    Form(
        f"the second {OVERWRITTEN}",
        lambda z: (z, z.real + 1j * z.imag * z),
    ),
    Form(
        f"the first {OVERWRITTEN}",
        lambda z: (z.real + 1j * z.imag * z, z),
    ),
)


class Turning(NamedTuple):
    """What the pairs do: their speeds, and what is wrong with it."""

    speeds: np.ndarray  # of each pair, below 0 if clockwise
    findings: tuple[Finding, ...] = ()
    even: bool = True  # each hand turns evenly, so that far ones are known


def turning_of(hands: Hands, layout: Layout, near: float) -> Turning:
    """Say how the pairs turn.

    Args:
        hands: That were read at the first positions.
        layout: Of the pairs.
        near: By how much, relatively, results may be off.
    """
    moving = ~layout.still
    first, second = hands.speed.T
    slack = near * np.maximum(np.abs(first), np.abs(second)) + 1e-12
    uneven = moving & ~even_hands(hands).all(axis=1)
    unlike = moving & (np.abs(first - second) > slack)
    turned = moving & (np.abs(hands.phase).max(axis=1) > 0.01)
    odd = uneven | unlike | turned
    if not odd.any():
        return Turning(first)

    pair = most_odd(hands, odd)
    seen = hands.seen[:FEW, pair]
    form = form_of(seen)
    if form is not None:
        pairs = np.flatnonzero(odd)
        words = f"{counted('pair', pairs).capitalize()}: {form.words}."
        finding = Finding("pairs", words, pair=int(pairs[0]))
        speeds = np.abs(hands.speed).max(axis=1)
        return Turning(speeds, (finding,), not uneven.any())
    if uneven.any():
        return Turning(first, (not_even(hands, pair),), False)
    if unlike.any():
        finding, speeds = mixed_angles(hands, layout, unlike, near)
        return Turning(speeds, (finding,))
    return Turning(first, (position_0(hands, layout),))


def even_hands(hands: Hands) -> np.ndarray:
    """Tell which hands turn by the same angle from position to position."""
    seen = hands.seen[:STEPS]
    turned = np.multiply.outer(np.arange(len(seen)), hands.speed)
    due = np.exp(1j * (hands.phase + turned))
    sizes = np.maximum(np.abs(seen), 1e-9)
    return np.all(np.abs(seen / sizes - due) <= EVEN, axis=0)


def most_odd(hands: Hands, odd: np.ndarray) -> int:
    """Return the pair, of the odd ones, whose hands differ most."""
    first, second = np.moveaxis(hands.seen[:FEW], -1, 0)
    apart = np.abs(first - second).max(axis=0)
    pairs = np.flatnonzero(odd)
    return int(pairs[apart[pairs].argmax()])


def form_of(seen: np.ndarray) -> Form | None:
    """Name what a pair does, from its two hands at the first positions.

    Args:
        seen: `[positions, 2]`, complex, of length 1 if it were turned.
    """
    numbers = np.abs([seen[1].real, seen[1].imag]).clip(0, 1).ravel()
    speeds = [*np.arccos(numbers), *np.arcsin(numbers)]
    for speed in [speed for speed in speeds if speed > 0.01]:
        for sign in (1, -1):
            turned = np.exp(1j * sign * speed * np.arange(len(seen)))
            for form in FORMS:
                first, second = form.hands(turned)
                off = np.abs(seen[:, 0] - first) + np.abs(seen[:, 1] - second)
                if off.max() < EVEN:
                    return form
    return None


def not_even(hands: Hands, pair: int) -> Finding:
    """Describe a pair that turns by another angle from place to place."""
    first, _ = hands.seen[:STEPS, pair].T
    numbers = cosine_and_sine(first)
    if numbers is not None:
        words = (
            f"Cosines and sines are of different angles: in pair {pair} of"
            f" {plain(numbers[0], 4)} and {plain(numbers[1], 4)} per position."
        )
        return Finding("layout", words, pair=pair)
    angles = np.unwrap(np.angle(first))
    steps = ", ".join(plain(step, 3) for step in np.diff(angles))
    words = (
        "Scores do not depend on the offset alone: from position 0 to 3, pair"
        f" {pair} turns by {steps}."
    )
    return Finding("scores", words, 0, pair)


def cosine_and_sine(seen: np.ndarray) -> tuple[float, float] | None:
    """Return the angles per position of a hand's cosine and of its sine.

    Args:
        seen: The hand at the first positions, complex.

    Returns:
        None if they are no such waves.
    """
    positions = np.arange(len(seen))
    with np.errstate(invalid="ignore"):  # above 1 it is no such wave
        one, other = np.arccos(seen[1].real), np.arcsin(seen[1].imag)
    due = np.cos(positions * one) + 1j * np.sin(positions * other)
    return (one, other) if np.abs(seen - due).max() < EVEN else None


def mixed_angles(
    hands: Hands, layout: Layout, unlike: np.ndarray, near: float
) -> tuple[Finding, np.ndarray]:
    """Name pairs whose two columns turn by different angles.

    Returns:
        The finding, and the speeds in the order in which they are laid out.
    """
    speeds = np.abs(hands.speed)
    pair = int(
        np.where(unlike, np.abs(speeds[:, 0] - speeds[:, 1]), 0).argmax()
    )
    one, other = layout.pairs[pair]
    words = (
        f"columns {one} and {other}, which are a pair, turn by"
        f" {plain(speeds[pair, 0], 4)} and {plain(speeds[pair, 1], 4)}"
    )
    by_column = speeds.ravel()[np.argsort(layout.pairs.ravel())]
    angles = {
        "half": np.split(by_column, 2),
        "interleaved": (by_column[::2], by_column[1::2]),
    }
    for name, (firsts, seconds) in angles.items():
        if np.all(np.abs(firsts - seconds) <= near * firsts + 1e-12):
            words = (
                f"The pairs are {layout.names[0]}, the angles are laid out"
                f" {name}: {words}."
            )
            return Finding("layout", words, column=int(one)), firsts
    words = f"Angles differ within a pair: {words}."
    return Finding("layout", words, column=int(one)), speeds[:, 0]


def position_0(hands: Hands, layout: Layout) -> Finding:
    """Say by how much position 0 turns, which should leave x as it is."""
    moving = ~layout.still
    (phase, _), (speed, _) = hands.phase[moving].T, hands.speed[moving].T
    pair = int(np.flatnonzero(moving)[np.abs(phase).argmax()])
    slowest = np.argmin(np.abs(speed))
    start = phase[slowest] / speed[slowest]
    later = np.abs(np.exp(1j * (phase - start * speed)) - 1).max()
    if later < EVEN:
        first = plain(start, 3)
        words = (
            f"Position 0 is turned as position {first} should be, 1 as"
            f" {plain(start + 1, 3)}, and so on: they count from {first}."
        )
        return Finding("position 0", words, 0)
    words = f"Position 0 turns pair {pair} by {plain(np.abs(phase).max(), 4)}."
    return Finding("position 0", words, 0, pair)


def directions(speeds: np.ndarray, exact: np.ndarray) -> list[Finding]:
    """Find pairs that turn against most others.

    Args:
        speeds: As they were seen.
        exact: As they are; of half a turn or more one does not see the sign.
    """
    usual = np.sign(np.sign(speeds).sum())
    against = np.flatnonzero((np.sign(speeds) == -usual) & (exact < np.pi))
    if not len(against):
        return []
    words = f"Against the others turn: {counted('pair', against)}."
    return [Finding("pair", words, pair=int(against[0]))]


def still_pairs(layout: Layout, exact: np.ndarray) -> list[Finding]:
    """Find pairs that stand still and should not.

    Args:
        layout: Of the pairs.
        exact: Their speeds; whole turns are not seen.
    """
    if len(layout.pairs) == 1 and layout.width >= 8:
        words = "Only one pair turns: have the speeds become whole numbers?"
        return [Finding("pair", words)]
    return [
        Finding(
            "pair",
            f"Pair {pair} (columns {one}, {other}) stands still.",
            pair=int(pair),
        )
        for pair, (one, other) in enumerate(layout.pairs)
        if layout.still[pair] and exact[pair] < np.pi
    ]


def no_pairs(matrices: np.ndarray, mixed: np.ndarray) -> Finding:
    """Say why the columns do not turn in pairs.

    Args:
        matrices: What the first positions make of each column.
        mixed: Columns that are mixed with more than one other.
    """
    if len(mixed):
        words = f"Columns {listed(mixed)} are mixed with more than one other."
        return Finding("pairs", words, column=int(mixed[0]))
    kept = np.diagonal(matrices, axis1=1, axis2=2)
    if np.ptp(kept, axis=0).max() < 1e-6:
        return Finding("pairs", "Nothing turns, whatever the position.")
    column = int(np.ptp(kept, axis=0).argmax())
    words = (
        f"No column is mixed with another; column {column} only changes its"
        " size: the sines are missing."
    )
    return Finding("pairs", words, column=column)


def left_alone(
    matrices: np.ndarray, layout: Layout, near: float
) -> list[Finding]:
    """Find columns that do not turn, and yet are changed."""
    kept = np.diagonal(matrices, axis1=1, axis2=2).copy()
    kept[:, layout.pairs[~layout.still]] = 1
    changed = np.abs(kept - 1).max(axis=0) > max(1e-4, near)
    if not changed.any():
        return []
    column = int(changed.argmax())
    factor = kept[np.abs(kept[:, column] - 1).argmax(), column]
    words = (
        f"Columns {listed(np.flatnonzero(changed))} do not turn and should"
        f" stay as they are; they change by {plain(factor, 4)}."
    )
    return [Finding("lengths", words, column=column)]


def lengths(
    hands: Hands, layout: Layout, near: float, due: float, asked: bool
) -> list[Finding]:
    """Find pairs whose length is changed otherwise than it should be.

    Args:
        hands: That were seen.
        layout: Of the pairs.
        near: By how much, relatively, they may be off.
        due: The factor by which lengths should change.
        asked: Whether that factor is asked for, by a config.
    """
    moving = np.flatnonzero(~layout.still)
    slack = max(1e-4, 2 * near)
    sizes = np.abs(hands.seen[:, moving]).max(axis=2)
    drift = sizes / sizes[0]  # [positions, pairs]
    changed = np.argwhere(np.abs(drift - 1) > slack)
    if len(changed):
        position, place = changed[0]
        factor = plain(drift[position, place], 5)
        words = (
            f"Lengths change with the position: in pair {moving[place]} by"
            f" {factor} at position {position}."
        )
        return [Finding("lengths", words, int(position), int(moving[place]))]
    length = np.median(sizes, axis=0)
    off = np.abs(length - due) > slack
    if not off.any():
        return []
    factor = float(np.median(length[off]))
    said = f"Lengths change by {plain(factor, 5)}"
    if abs(factor - 1) <= slack:
        said = "Lengths do not change"
    pair = None
    if not off.all():
        said += f" in {counted('pair', moving[off])}"
        pair = int(moving[off.argmax()])
    else:
        said += known_factor(factor, layout.pairs.size)
    if asked:
        said += f", where the config asks for {plain(due, 5)}"
        if abs(factor - due**2) <= slack:
            said += ": it is applied twice"
    return [Finding("lengths", f"{said}.", pair=pair)]


def known_factor(factor: float, width: int) -> str:
    """Say where a factor of lengths is known from, or nothing."""
    scaling = np.round(np.exp(10 * (min(factor, 2) - 1)))
    if 1 < scaling <= 64 and abs(0.1 * np.log(scaling) + 1 - factor) < 1e-4:
        return f", YaRN's attention factor for scaling by {scaling:.0f}"
    if abs(factor / width**0.5 - 1) < 1e-3:
        return f", the square root of {width} columns"
    if abs(factor * width**0.5 - 1) < 1e-3:
        return f", 1 over the square root of {width} columns"
    return ""
