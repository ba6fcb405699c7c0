"""How a rotary function turns positions farther out."""

from typing import NamedTuple

import numpy as np

from .near import Pairs
from .probing import NEAR, Hands, NoAnswerError, Probe
from .report import Finding, first_where, plain
from .rounding import EXACT, ROUNDINGS, STEP, Rounding
from .waves import Schedule

COMPANY = np.arange(1, 4)  # positions that are asked again in each call
GROUP = 12  # positions that are asked in each octave, beside its edges


class Model(NamedTuple):
    """Where hands should point: to `phase + position * speed`."""

    length: np.ndarray  # [pairs, 2], as are the next two
    phase: np.ndarray
    speed: np.ndarray
    slack: float  # by how much an entry may be off at position 0
    rounding: Rounding = EXACT

    def hands(self, positions: object) -> np.ndarray:
        """Return `[positions, pairs, 2]`, complex."""
        angles = self.rounding.angles(positions, self.speed)
        with np.errstate(invalid="ignore"):  # infinity, from float16
            return self.length * np.exp(1j * (angles + self.phase))

    def allowed(self, positions: object) -> np.ndarray:
        """Return by how much hands may be off: as angles in float32 are."""
        angles = np.multiply.outer(np.asarray(positions, float), self.speed)
        return self.slack + 8 * STEP["float32"] * np.abs(angles)

    def fits(self, positions: object, seen: np.ndarray) -> np.ndarray:
        """Tell which hands are where they should be, or NaN as they."""
        due = self.hands(positions)
        near = np.abs(seen - due) <= self.allowed(positions)
        return near | (~np.isfinite(seen) & ~np.isfinite(due))

    def right(self, positions: object, seen: np.ndarray) -> np.ndarray:
        """Tell at which positions all hands are where they should be."""
        return self.fits(positions, seen).all(axis=(1, 2))


class Seen(NamedTuple):
    """Hands that a function was seen to have."""

    positions: np.ndarray
    hands: np.ndarray  # [positions, pairs, 2], complex


class FarLook(NamedTuple):
    """What was found farther out, how exact it is, and to which position."""

    findings: list[Finding]
    digits: str
    last: int


def model_of(hands: Hands, plan: Schedule, snap: float, slack: float) -> Model:
    """Say where hands should point, by the speeds that they follow.

    Args:
        hands: As they were measured, to a few digits only.
        plan: Exact speeds.
        snap: By how much, relatively, a measured speed may be off to be
            taken for the nearest exact one.
        slack: By how much an entry may be off at position 0.
    """
    exact = plan.speeds[plan.speeds > 0]
    speed = hands.speed.copy()
    for place in np.argwhere(hands.speed):
        measured = speed[tuple(place)]
        ratios = exact / abs(measured)
        nearest = np.argmin(np.abs(np.log(ratios)))
        if abs(ratios[nearest] - 1) <= snap:
            speed[tuple(place)] = exact[nearest] * np.sign(measured)
    return Model(hands.length, hands.phase, speed, slack)


def look_far(
    probe: Probe | None,
    pairs: Pairs,
    max_len: int,
    near: float,
    tolerance: float,
) -> FarLook:
    """Look at positions up to `max_len - 1`.

    Args:
        probe: Asks the function; if None, only the first ones are judged.
        pairs: What was seen of the first positions.
        max_len: How many positions to look at.
        near: By how much, relatively, results may be off.
        tolerance: By how much an entry may be off, beside that.
    """
    slack = tolerance + near
    hands, plan = pairs.hands, pairs.plan
    model = model_of(hands, plan, max(1e-5, 4 * near), slack)
    some = hands.seen[:max_len]
    seen, findings = Seen(np.arange(len(some)), some), []
    if probe is not None:
        seen, findings = ask_octaves(probe, seen, slack, max_len)
    ideal = model_of(hands, plan, max(1e-5, 4 * (near + plan.scatter)), slack)
    model, rounded = with_rounding(ideal, model, seen)
    right = model.right(*seen) & np.isfinite(seen.hands).all(axis=(1, 2))
    if probe is not None and not right.all():
        findings.append(wrong_from(probe, model, seen, right))
    last = int(seen.positions.max())
    return FarLook(findings + rounded, digits(model, seen, right), last)


def octaves(max_len: int) -> list[np.ndarray]:
    """Return positions to ask for, in groups that reach twice as far each."""
    random = np.random.default_rng(3)
    groups, start = [], NEAR
    while start < max_len:
        end = min(2 * start, max_len)
        some = random.integers(start, end, GROUP)
        groups.append(np.unique([*some, end - 1]))
        start = end
    return groups


def ask_octaves(
    probe: Probe, near: Seen, slack: float, max_len: int
) -> tuple[Seen, list[Finding]]:
    """Ask ever farther out, until something fails or the end."""
    positions, hands = [near.positions], [near.hands]
    findings: list[Finding] = []
    for group in octaves(max_len):
        reached = int(positions[-1].max())
        try:
            answer = probe([*COMPANY, *group])
        except NoAnswerError as trouble:
            finding = refused_from(probe, reached, group, trouble)
            findings.append(finding)
            group = group[group < finding.position]
            if not len(group):
                break
            answer = probe([*COMPANY, *group])
        company = answer[: len(COMPANY)]
        if np.abs(company - near.hands[COMPANY]).max() > slack:
            findings.append(other_company(probe, near, slack, reached, group))
            break
        positions.append(group)
        hands.append(answer[len(COMPANY) :])
        if findings:
            break
    return Seen(np.concatenate(positions), np.concatenate(hands)), findings


def refused_from(
    probe: Probe, reached: int, group: np.ndarray, trouble: NoAnswerError
) -> Finding:
    """Name the first position that a function refuses."""

    def is_refused(position: int) -> bool:
        try:
            probe([position])
        except NoAnswerError:
            return True
        return False

    for position in np.sort(group):
        if is_refused(int(position)):
            first = first_where(is_refused, reached, int(position))
            break
        reached = int(position)
    else:
        first = int(group.min())
        words = (
            f"Positions {first} to {group.max()} fail in a call with positions"
            f" 1 to 3, and alone they do not: {trouble}."
        )
        return Finding("far", words, first)
    words = f"Position {first} is the first to fail: {trouble}."
    return Finding("far", words, first)


def other_company(
    probe: Probe, near: Seen, slack: float, reached: int, group: np.ndarray
) -> Finding:
    """Name the largest position of a call from which others turn anew."""

    def is_wrong(position: int) -> bool:
        company = probe([*COMPANY, position])[: len(COMPANY)]
        return np.abs(company - near.hands[COMPANY]).max() > slack

    first = first_where(is_wrong, reached, int(group.max()))
    words = (
        "How a position is turned depends on the largest one of its call:"
        f" beside {first} or more, positions 1 to 3 turn by other angles."
    )
    return Finding("company", words, first)


def with_rounding(
    ideal: Model, measured: Model, seen: Seen
) -> tuple[Model, list[Finding]]:
    """Find out whether angles are rounded to 16 bits on their way.

    Args:
        ideal: With the speeds of the base.
        measured: With the speeds that were seen, where these are others.
        seen: The hands to explain.

    Returns:
        The model that explains them best, and what is rounded.
    """
    most = measured.fits(*seen).mean()
    if np.array_equal(ideal.speed, measured.speed):
        if most == 1:
            return measured, []
        most += 0.02
    best, most = None, max(0.9, most)
    for rounding in ROUNDINGS:
        other = ideal._replace(rounding=rounding, slack=ideal.slack + 0.01)
        share = other.fits(*seen).mean()
        if share >= most:
            best, most = other, share + 0.001
    if best is not None:
        return best, [rounded_to(best, ideal)]
    if np.array_equal(ideal.speed, measured.speed):
        return measured, []
    off = np.abs(ideal.speed / np.where(measured.speed, measured.speed, 1) - 1)
    pair = int(off.max(axis=1).argmax())
    words = (
        "Speeds miss those of the base, as if they were rounded to 16 bits: by"
        f" up to {plain(100 * off[pair].max(), 2)} %, in pair {pair}."
    )
    return measured, [Finding("digits", words, pair=pair)]


def rounded_to(best: Model, ideal: Model) -> Finding:
    """Say what is rounded, and from where on it shows."""
    positions = np.arange(4097)
    off = np.abs(best.hands(positions) - ideal.hands(positions))
    first = int(np.argmax(off.max(axis=(1, 2)) > 0.01))
    words = (
        f"{best.rounding.words()}: position {first} is the first that is off"
        " by more than 0.01."
    )
    return Finding("digits", words, first)


def wrong_from(
    probe: Probe, model: Model, seen: Seen, right: np.ndarray
) -> Finding:
    """Name the first wrong position, and what is made of it."""
    bad = int(seen.positions[~right].min())
    good = int(seen.positions[seen.positions < bad].max(initial=-1))

    def is_wrong(position: int) -> bool:
        hands = probe.alone(position)
        return not (
            np.isfinite(hands).all() and model.right([position], hands)
        )

    first = first_where(is_wrong, good, bad)
    hands = np.concatenate([probe.alone(first), probe.alone(first + 5)])
    words = what_happens(model, first, hands)
    off = np.abs(hands[0] - model.hands([first])[0])
    pair = int(np.nan_to_num(off).max(axis=1).argmax())
    if not words:
        words = (
            f"Position {first} is the first that is turned wrongly, by"
            f" {plain(off.max(), 2)} in pair {pair}."
        )
        return Finding("far", words, first, pair)
    return Finding("far", words, first)


def what_happens(model: Model, first: int, hands: np.ndarray) -> str:
    """Say what is made of a first wrong position and of one 5 farther on."""
    if not np.isfinite(hands[0]).all():
        return f"From position {first} on there is NaN or infinity."
    if np.abs(hands).max() < 1e-6:
        return f"From position {first} on the result is zero."
    due = model.hands([first, first + 5])
    ratios = hands / due
    if np.all(np.abs(ratios - np.abs(ratios)) <= model.allowed([first])):
        factor = plain(np.abs(ratios[0]).min(), 5)
        return f"From position {first} on lengths change, by {factor} there."
    taken_for = {
        f"are turned as {first - 1}: clipped there": (first - 1, first - 1),
        "are counted from 0 again: wrapped there": (0, 5),
        "are left as they were": (0, 0),
        f"overflow to negative ones, from -{first}": (-first, 5 - first),
        "come one late: each is turned as the next": (first + 1, first + 6),
        "come one early: each is turned as the one before": (
            first - 1,
            first + 4,
        ),
    }
    for told, positions in taken_for.items():
        off = np.abs(hands - model.hands(positions))
        if np.all(off <= model.allowed([first])):
            return f"Positions from {first} on {told}."
    return ""


def digits(model: Model, seen: Seen, right: np.ndarray) -> str:
    """Say how exact the angles are, of those that are right."""
    if model.rounding.format:
        return f"Angles in {model.rounding.format}"
    error = np.abs(model.hands(seen.positions) - seen.hands)[right]
    if not len(error):
        return ""
    worst = error.max(axis=(1, 2))
    if worst.max() < 1e-8:
        return "Angles in float64"
    position = int(seen.positions[right][worst.argmax()])
    # Angles lose more digits the farther out; results, once and everywhere.
    what = "Results" if worst.max() <= 2 * STEP["float32"] else "Angles"
    return (
        f"{what} in float32, off by {plain(worst.max(), 2)} at most (position"
        f" {position})"
    )
