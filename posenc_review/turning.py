"""How the pairs of a rotary function turn near position 0."""

import numpy as np

from .probing import Hands, Layout, expected_hands
from .report import Finding, listed, plain

HAND = 0.05  # how far from a circle a hand may be that turns evenly


def no_pairs(matrices: np.ndarray, mixed: np.ndarray) -> Finding:
    """Say why the columns do not turn in pairs."""
    width = matrices.shape[-1]
    if len(mixed):
        words = f"Columns {listed(mixed)} are mixed with more than one other."
        return Finding("pairs", words, column=int(mixed[0]))
    kept = np.diagonal(matrices, axis1=1, axis2=2)
    if np.allclose(kept, 1):
        return Finding("pairs", "Nothing turns: x comes back as it was.")
    if np.allclose(kept, kept[:1]):
        return Finding("pairs", "Nothing turns at positions 0 to 40.")
    words = "No column is mixed with another: the sines are missing."
    return Finding("pairs", words, column=int(np.ptp(kept, axis=0).argmax()))


def forms(hands: Hands, layout: Layout, near: float) -> list[Finding]:
    """Look whether both columns of each pair turn, alike."""
    off = np.abs(
        hands.seen - expected_hands(hands, np.arange(len(hands.seen)))
    )
    odd = off[:9].max(axis=0) > HAND * np.maximum(1, hands.length)
    if odd.any():
        return [uneven(hands, odd)]
    first, second = hands.speed.T
    moving = ~layout.still
    slack = near * np.maximum(np.abs(first), np.abs(second)) + 1e-12
    alike = np.abs(first - second) <= slack
    against = (np.abs(first + second) <= slack) & moving & ~alike
    other = moving & ~alike & ~against
    findings = []
    if against.any():
        words = (
            f"Pairs {listed(np.flatnonzero(against))}: a minus is missing, so"
            " that one column turns forwards and the other backwards."
        )
        findings.append(Finding("minus", words, pair=int(against.argmax())))
    if other.any():
        findings.append(mixed_angles(hands, layout, other, near))
    return findings


def uneven(hands: Hands, odd: np.ndarray) -> Finding:
    """Name what a pair does that does not turn evenly."""
    pair = int(odd.any(axis=1).argmax())
    first, second = hands.seen[:9, pair].T
    right = first if odd[pair, 1] and not odd[pair, 0] else second
    cosine, sine = right.real, right.imag
    overwritten = (cosine - sine**2) + 1j * sine * cosine
    for hand in (first, second):
        if np.allclose(hand, overwritten, atol=0.02) and hand is not right:
            words = (
                f"Pair {pair}: one column is computed from the other after"
                " that has been overwritten."
            )
            return Finding("pairs", words, pair=pair)
    gaps = np.abs(hands.seen[:9, pair] * 0)
    del gaps
    words = f"Pair {pair} does not turn by the same angle from each position to the next."
    return Finding("scores", words, pair=pair)


def mixed_angles(
    hands: Hands, layout: Layout, other: np.ndarray, near: float
) -> Finding:
    """Name pairs whose two columns turn by different angles."""
    pair = int(other.argmax())
    speeds = np.abs(hands.speed)
    if np.all(speeds[other, 1] == 0) or np.all(speeds[other, 0] == 0):
        words = (
            f"Pairs {listed(np.flatnonzero(other))}: only one column turns."
        )
        return Finding("pairs", words, pair=pair)
    by_column = np.zeros(int(layout.pairs.max()) + 1)
    by_column[layout.pairs] = speeds
    by_column = by_column[int(layout.pairs.min()) :]
    in_halves = by_column.reshape(2, -1)
    woven = by_column.reshape(-1, 2).T
    for angles, (one, two) in (("half", in_halves), ("interleaved", woven)):
        if np.all(np.abs(one - two) <= near * one):
            words = (
                f"Pairs are {layout.name}, but the angles are {angles}:"
                f" columns {listed(layout.pairs[pair])} turn by"
                f" {plain(speeds[pair, 0], 4)} and {plain(speeds[pair, 1], 4)}."
            )
            return Finding("layout", words, pair=pair)
    words = (
        f"The two columns of a pair turn by different angles: in pair {pair}"
        f" by {plain(speeds[pair, 0], 4)} and {plain(speeds[pair, 1], 4)}."
    )
    return Finding("layout", words, pair=pair)


def pair_speeds(hands: Hands, layout: Layout, near: float) -> np.ndarray:
    """Return one speed for each pair, above 0 if it turns as usual.

    Where the angles are laid out unlike the pairs they are put in order.
    """
    first, second = hands.speed.T
    speeds = np.where(np.abs(first) > 0, first, second)
    same = (
        np.abs(np.abs(first) - np.abs(second)) <= near * np.abs(first) + 1e-12
    )
    if np.all(same | layout.still):
        return speeds
    ordered = np.sort(np.abs(hands.speed).ravel())[::-1]
    return ordered[::2] * np.sign(np.median(np.sign(speeds)))


def directions(speeds: np.ndarray) -> list[Finding]:
    """Find pairs that turn against most others."""
    usual = np.sign(np.median(np.sign(speeds[speeds != 0])))
    against = np.flatnonzero(np.sign(speeds) == -usual)
    if not len(against):
        return []
    words = f"Pairs {listed(against)} turn against the others."
    return [Finding("pair", words, pair=int(against[0]))]


def still_pairs(layout: Layout) -> list[Finding]:
    """Find pairs that stand still among others that turn."""
    still = np.flatnonzero(layout.still)
    if not len(still):
        return []
    columns = listed(layout.pairs[still].ravel())
    words = f"Pair {listed(still)} stands still: columns {columns}."
    return [Finding("pair", words, pair=int(still[0]))]


def lengths(hands: Hands, layout: Layout, near: float) -> list[Finding]:
    """Find pairs whose length is changed, and by which factor."""
    moving = ~layout.still
    size = np.abs(hands.seen)[:, moving]
    slack = max(1e-4, 2 * near)
    drift = np.abs(size / np.maximum(size[:1], 1e-12) - 1).max(axis=(1, 2))
    if drift.max() > slack:
        position = int(np.argmax(drift > slack))
        pair = int(np.abs(size[position] / size[0] - 1).max(axis=1).argmax())
        factor = plain(size[position, pair, 0] / size[0, pair, 0], 5)
        words = (
            "Lengths change with the position: at position"
            f" {position} by {factor} in pair {pair}."
        )
        return [Finding("lengths", words, position, pair)]
    length = hands.length[moving]
    off = np.abs(length - 1) > slack
    if not off.any():
        return []
    pair = int(np.flatnonzero(moving)[off.any(axis=1).argmax()])
    factor = float(np.median(length[off]))
    if np.all(off) and np.ptp(length) <= slack * factor:
        words = f"Lengths change by {plain(factor, 5)}{known_factor(factor, layout)}."
        return [Finding("lengths", words, 0, pair)]
    pairs = np.flatnonzero(moving)[off.any(axis=1)]
    words = f"Lengths change by {plain(factor, 5)} in pairs {listed(pairs)}."
    return [Finding("lengths", words, 0, pair)]


def known_factor(factor: float, layout: Layout) -> str:
    """Say where a factor is known from."""
    if 1.05 < factor < 1.7:
        scaling = np.exp((factor - 1) * 10)
        whole = round(scaling)
        if abs(0.1 * np.log(whole) + 1 - factor) < 2e-4:
            return f": YaRN's attention factor where positions are scaled by {whole}"
    width = layout.pairs.size
    for power, words in ((0.5, "the root"), (-0.5, "1 over the root")):
        if abs(factor / width**power - 1) < 1e-3:
            return f": {words} of {width} columns"
    return ""


def position_0(hands: Hands, layout: Layout) -> list[Finding]:
    """Look whether position 0 leaves x as it is, but for its length."""
    phase = hands.phase[~layout.still]
    if np.abs(phase).max() < 0.01:
        return []
    pair = int(
        np.flatnonzero(~layout.still)[np.abs(phase).max(axis=1).argmax()]
    )
    phase, speed = phase[:, 0], hands.speed[~layout.still, 0]
    slow = np.argmin(np.abs(speed))
    start = phase[slow] / speed[slow]
    turned_on = np.exp(1j * (phase - start * speed))
    if np.abs(turned_on - 1).max() < 0.05 and abs(start) < 1000:
        words = (
            f"Position 0 is turned as position {plain(start, 3)} should be:"
            f" every position is counted {plain(start, 3)} too far."
        )
        return [Finding("position 0", words, 0, pair)]
    if np.abs(np.exp(1j * (phase - phase[0])) - 1).max() < 0.01:
        turn = plain(np.degrees(phase[0]), 4)
        words = f"Position 0 turns all pairs by {turn} degrees"
        if abs(abs(phase[0]) - np.pi / 2) < 0.01:
            words += ": sine and cosine are exchanged"
        elif abs(abs(phase[0]) - np.pi) < 0.01:
            words += ": the result is negated"
        return [Finding("position 0", words + ".", 0, pair)]
    words = f"Position 0 turns pair {pair} by {plain(phase[pair], 4)}."
    return [Finding("position 0", words, 0, pair)]
