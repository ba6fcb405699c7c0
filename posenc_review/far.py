"""How a rotary function turns at positions far out."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from .probing import NEAR, NoAnswer, Probe
from .report import Finding, plain
from .rounding import FORMATS, STEP

COMPANY = np.arange(4)  # positions that are asked again in each call


class Model(NamedTuple):
    """Where hands should point: each has a length, a phase and a speed."""

    length: np.ndarray  # [pairs, 2], like the others
    phase: np.ndarray
    speed: np.ndarray
    slack: float  # by how much an entry may be off at position 0
    rounding: tuple[str, ...] = ()  # a format, and what is rounded to it

    def hands(self, positions: object) -> np.ndarray:
        """Return `[positions, pairs, 2]`, complex."""
        positions, speed = np.asarray(positions, float), self.speed
        format_, *stages = self.rounding or ("float32",)
        rounded = FORMATS[format_]
        if "speeds" in stages:
            speed = rounded(speed)
        if "positions" in stages:
            positions = rounded(positions)
        with np.errstate(invalid="ignore"):
            angles = np.multiply.outer(positions, speed)
            if "angles" in stages:
                angles = rounded(angles)
            return self.length * np.exp(1j * (angles + self.phase))

    def allowed(self, positions: object) -> np.ndarray:
        """Return by how much each hand may be off, as float32 angles are."""
        angles = np.abs(
            np.multiply.outer(np.asarray(positions, float), self.speed)
        )
        return self.slack + 8 * STEP["float32"] * angles

    def right(self, positions: object, seen: np.ndarray) -> np.ndarray:
        """Tell at which positions all hands are where they should be."""
        due = self.hands(positions)
        near = np.abs(seen - due) <= self.allowed(positions)
        both_nan = ~np.isfinite(seen) & ~np.isfinite(due)
        return (near | both_nan).all(axis=(1, 2))


class Seen(NamedTuple):
    """Hands that were seen far out."""

    positions: np.ndarray
    hands: np.ndarray  # [positions, pairs, 2], complex


def look_far(
    probe: Probe, model: Model, max_len: int
) -> tuple[list[Finding], str]:
    """Look at positions up to `max_len - 1`; say what is wrong, and digits."""
    seen, findings = ask_octaves(probe, model, max_len)
    if not len(seen.positions):
        return findings, ""
    model, rounded = with_rounding(model, seen)
    right = model.right(seen.positions, seen.hands)
    if not right.all():
        findings.append(wrong_from(probe, model, seen.positions, right))
    return findings + rounded, digits(model, seen, right)


def octaves(max_len: int) -> list[np.ndarray]:
    """Return positions to ask for, in groups that go twice as far each."""
    random = np.random.default_rng(3)
    groups, start, last = [], NEAR, max_len - 1
    while start <= last:
        end = min(2 ** int(np.log2(start) + 1), last)
        some = random.integers(start, end + 1, 12)
        edges = [start, start + 1, end - 1, end, end + 1]
        group = np.unique([*some, *edges])
        groups.append(group[(group >= start) & (group <= last)])
        start = int(groups[-1].max()) + 1
    return groups


def ask_octaves(
    probe: Probe, model: Model, max_len: int
) -> tuple[Seen, list[Finding]]:
    """Ask ever farther out, until an error or the end."""
    positions, hands = [], []
    findings: list[Finding] = []
    reached = NEAR - 1
    for group in octaves(max_len):
        try:
            answer = probe([*COMPANY, *group])
        except NoAnswer:
            findings.append(refused_from(probe, reached, group))
            group = group[group < findings[0].position]
            if not len(group):
                break
            answer = probe([*COMPANY, *group])
        if not model.right(COMPANY, answer[: len(COMPANY)]).all():
            findings.append(other_company(probe, model, reached, group))
            break
        positions.append(group)
        hands.append(answer[len(COMPANY) :])
        reached = int(group[-1])
        if findings:
            break
    if not positions:
        return Seen(
            np.array([], int), np.zeros((0, *model.speed.shape))
        ), findings
    return Seen(np.concatenate(positions), np.concatenate(hands)), findings


def first_where(is_wrong, good: int, bad: int) -> int:
    """Return the first wrong position between a good one and a bad one."""
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_wrong(middle):
            bad = middle
        else:
            good = middle
    return bad


def refused_from(probe: Probe, reached: int, group: np.ndarray) -> Finding:
    """Name the first position that a function refuses."""
    trouble = [""]

    def is_refused(position: int) -> bool:
        try:
            probe([position])
        except NoAnswer as error:
            trouble[0] = str(error)
            return True
        return False

    last = int(group[-1])
    if not is_refused(last):
        words = (
            f"Positions 0 to 3 and {last} can be asked alone, not together."
        )
        return Finding("far", words, int(group[0]))
    first = first_where(is_refused, reached, last)
    words = f"Position {first} is the first to fail: {trouble[0]}."
    return Finding("far", words, first)


def other_company(
    probe: Probe, model: Model, reached: int, group: np.ndarray
) -> Finding:
    """Name the largest position of a call from which others are turned anew."""

    def is_wrong(position: int) -> bool:
        answer = probe([*COMPANY, position])[: len(COMPANY)]
        return not model.right(COMPANY, answer).all()

    first = first_where(is_wrong, reached, int(group[-1]))
    words = (
        "How a position is turned depends on the largest one of the call:"
        f" from {first} on, positions 1 to 3 are turned by other angles."
    )
    return Finding("company", words, first)


def with_rounding(model: Model, seen: Seen) -> tuple[Model, list[Finding]]:
    """Find out whether angles are rounded to 16 bits on their way."""
    error = np.abs(model.hands(seen.positions) - seen.hands)
    fine = error <= model.allowed(seen.positions)
    if fine.all():
        return model, []
    best, share = model, fine.mean()
    for name in ("bfloat16", "float16"):
        for count in (1, 2, 3):
            for stages in combinations(
                ("speeds", "positions", "angles"), count
            ):
                other = model._replace(rounding=(name, *stages))
                off = np.abs(other.hands(seen.positions) - seen.hands)
                both_nan = np.isnan(off) & ~np.isfinite(seen.hands)
                near = off <= other.allowed(seen.positions) + 0.01
                fits = (near | both_nan).mean()
                if fits > max(share + 0.02, 0.9):
                    best, share = other, fits
    if best is model:
        return model, []
    name, *stages = best.rounding
    asked = np.arange(1, int(seen.positions[-1]) + 1)[:70_000]
    off = np.abs(best.hands(asked) - model.hands(asked)).max(axis=(1, 2))
    first = int(asked[np.argmax(off > 0.01)])
    words = (
        f"Rounded to {name}: {' and '.join(stages)}; position {first} is the"
        f" first that is off by more than 0.01, {seen.positions[-1]} is off"
        f" by {plain(np.nanmax(error[-1]), 2)}."
    )
    best = best._replace(slack=best.slack + 0.02)
    return best, [Finding("digits", words, first)]


def wrong_from(
    probe: Probe, model: Model, positions: np.ndarray, right: np.ndarray
) -> Finding:
    """Name the first wrong position, and what is made of it."""
    bad = int(positions[~right][0])
    good = max([NEAR - 1, *positions[right & (positions < bad)]])

    def is_wrong(position: int) -> bool:
        return not model.right([position], probe([position])).all()

    first = first_where(is_wrong, int(good), bad)
    ahead = np.array([first, first + 5])
    hands = np.concatenate([probe([p]) for p in ahead])
    words = what_happens(model, first, hands)
    if words is None:
        off = np.abs(hands[0] - model.hands([first])[0])
        pair = int(off.max(axis=1).argmax())
        words = (
            f"Position {first} is the first that is turned wrongly, by"
            f" {plain(off.max(), 2)} in pair {pair}."
        )
        return Finding("far", words, first, pair)
    return Finding("far", words, first)


def what_happens(model: Model, first: int, hands: np.ndarray) -> str | None:
    """Say what is made of a first wrong position and of one 5 farther on."""
    if not np.isfinite(hands[0]).all():
        return f"From position {first} on there is NaN or infinity."
    if np.abs(hands).max() < 1e-6:
        return f"From position {first} on the result is zero."
    takes = {
        f"is turned as {first - 1}: clipped there": [first - 1, first - 1],
        "counts from 0 again: wrapped": [0, 5],
        "counts from 1 again: wrapped": [1, 6],
        "is left as it was": [0, 0],
    }
    for told, positions in takes.items():
        off = np.abs(hands - model.hands(positions))
        if np.all(off <= model.allowed(positions) + model.allowed([first])):
            return f"From position {first} on, each {told}."
    return None


def digits(model: Model, seen: Seen, right: np.ndarray) -> str:
    """Say how exact the angles are."""
    error = np.abs(model.hands(seen.positions) - seen.hands)[right]
    if not len(error):
        return ""
    worst = error.max(axis=(1, 2))
    if worst.max() < 1e-8:
        return "Angles in float64."
    position = int(seen.positions[right][worst.argmax()])
    off = f"off by {plain(worst.max(), 2)} at most, at position {position}"
    if model.rounding:
        return f"Angles in {model.rounding[0]}."
    return f"Angles in float32: {off}."
