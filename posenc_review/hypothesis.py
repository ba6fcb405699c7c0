"""Hypotheses: how columns turn with the position, and what may be changed.

A pair of columns is the hand of a clock. At each position it points to a
complex number, its cosine + 1j * its sine. A hypothesis computes where hands
point by the formula, with a field for each stage at which something may be
changed:

    read positions, times frequencies, + phase, exp, times length, form

A wrong function is a right one with one or two things changed. `changes`
yields a hypothesis for each change that is known, and `explain` returns the
first that explains all that is seen. Rotary functions have two hands a pair,
one for each column; in a table of sinusoids, pairs have one hand.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from .report import Finding, numbered, plain
from .rounding import FORMATS, STEP

FEW = 9  # positions, from 0 on, over which hands are measured
MANY = 4096  # positions that are compared in one go
EVEN = 0.05  # how far off a hand may be that turns evenly
MOST = 0.9  # of the hands must be where a rounding puts them: ties differ

# What positions `p` from `n` on are taken for.
READINGS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "all are taken for position {before}: clipped there": (
        lambda p, n: 0 * p + n - 1
    ),
    "all are taken for position 0": lambda p, n: 0 * p,
    "counting begins at 0 again: wrapped there": lambda p, n: p % n,
    "numbers overflow to negative ones, from -{n}": (
        lambda p, n: (p + n) % (2 * n) - n
    ),
    "each is taken for the next: one late": lambda p, n: p + 1,
    "each is taken for the one before: one early": lambda p, n: p - 1,
}
OVERWRITTEN = "column is computed from one already overwritten: lengths change"
# What both columns of a pair make of the right hand `z`.
FORMS: dict[str, Callable[[np.ndarray], tuple]] = {
    "a minus is missing, so that one column turns against the other": (
        lambda z: (z.conj(), z)
    ),
    "the second column is negated": lambda z: (z, -z),
    "the first column is negated": lambda z: (-z, z),
    "sine and cosine are exchanged": (
        lambda z: (1j * z.conj(), 1j * z.conj())
    ),
    "sine and cosine are exchanged in the first column": (
        lambda z: (1j * z.conj(), z)
    ),
    "sine and cosine are exchanged in the second column": (
        lambda z: (z, 1j * z.conj())
    ),
    "only the first column turns": lambda z: (z, z**0),
    "only the second column turns": lambda z: (z**0, z),
    "the second column is lost": lambda z: (z, 0 * z),
    "the first column is lost": lambda z: (0 * z, z),
    "both columns are computed like the first": lambda z: (z, 1j * z),
    "both columns are computed like the second": lambda z: (-1j * z, z),
    f"the second {OVERWRITTEN}": lambda z: (z, z.real + 1j * z.imag * z),
    f"the first {OVERWRITTEN}": lambda z: (z.real + 1j * z.imag * z, z),
}
STAGES = (  # of an angle, at which it may be rounded
    ("positions",),
    ("frequencies",),
    ("angles",),
    ("positions", "angles"),
    ("frequencies", "positions"),
    ("frequencies", "angles"),
    ("frequencies", "positions", "angles"),
)


def same(values: np.ndarray) -> np.ndarray:
    """Leave positions, or hands, as they are."""
    return values


class Hypothesis(NamedTuple):
    """Where hands point at each position."""

    frequencies: np.ndarray  # [pairs, hands]: radians per position, signed
    slack: float  # by how much a hand may be off, beside what float32 loses
    read: Callable[[np.ndarray], np.ndarray] = same  # taken for positions
    phase: np.ndarray | float = 0.0
    length: np.ndarray | float = 1.0
    form: Callable[[np.ndarray], np.ndarray] = same  # made of hands
    format: str = ""  # to which values are rounded,
    stages: tuple[str, ...] = ()  # and which of them
    spoiled: tuple[float, float, float] = (0, -1, 1)  # from, to, by what
    doubt: float = 0.0  # by how much, relatively, frequencies may be off
    findings: tuple[Finding, ...] = ()  # the changes, in words

    def but(self, finding: Finding, **fields) -> "Hypothesis":
        """Return a hypothesis with some fields changed, and the words."""
        return self._replace(findings=(*self.findings, finding), **fields)

    def rounded(self, stage: str, values: np.ndarray) -> np.ndarray:
        """Round values, if they are rounded at this stage."""
        return FORMATS[self.format](values) if stage in self.stages else values

    def angles(self, positions: object) -> np.ndarray:
        """Return `[positions, pairs, hands]`, in radians."""
        taken = self.read(np.asarray(positions, float))
        taken = self.rounded("positions", taken)
        frequencies = self.rounded("frequencies", self.frequencies)
        with np.errstate(invalid="ignore"):  # infinity times 0, in float16
            return self.rounded(
                "angles", np.multiply.outer(taken, frequencies)
            )

    def hands(self, positions: object) -> np.ndarray:
        """Return `[positions, pairs, hands]`, complex."""
        angles = self.angles(positions) + self.phase
        hands = np.empty(angles.shape, complex)
        with np.errstate(invalid="ignore"):  # infinity, from float16
            np.cos(angles, out=hands.real)
            np.sin(angles, out=hands.imag)
            hands = self.form(self.length * hands)
            return hands * self.factors(positions)[:, None, None]

    def factors(self, positions: object) -> np.ndarray:
        """Return what whole vectors are multiplied by, `[positions]`."""
        first, last, factor = self.spoiled
        places = np.asarray(positions)
        within = (places >= first) & (places <= last)
        return np.where(within, factor, 1.0)

    def allowed(self, positions: object) -> np.ndarray:
        """Return by how much hands may be off: as angles in float32 are."""
        places = np.abs(np.asarray(positions, float))
        angles = np.multiply.outer(places, np.abs(self.frequencies))
        return self.slack + (8 * STEP["float32"] + self.doubt) * angles

    def fits(self, positions: object, seen: np.ndarray) -> np.ndarray:
        """Tell which hands are where they should be, or NaN as they."""
        due = self.hands(positions)
        near = np.abs(seen - due) <= self.allowed(positions)
        return near | (~np.isfinite(seen) & ~np.isfinite(due))

    def share(self, positions: object, seen: np.ndarray) -> float:
        """Return which part of the hands it explains, 0 for too few.

        A rounding must explain nine in ten: of all, and of those it moves.
        """
        fits = self.fits(positions, seen)
        if not self.stages:
            return float(fits.all())
        moved = ~self._replace(stages=()).fits(positions, seen)
        if not moved.any() or fits[moved].mean() < MOST or fits.mean() < MOST:
            return 0.0
        return float(fits.mean())


class Measured(NamedTuple):
    """Hands as they were seen at the first positions: `[pairs, hands]`."""

    frequencies: np.ndarray
    phase: np.ndarray
    length: np.ndarray
    off: np.ndarray  # by how much a hand turns unevenly from position 1 on

    @property
    def even(self) -> np.ndarray:
        """Tell which hands turn evenly."""
        return (self.off <= EVEN) & (self.length > 0)

    def but_last(self) -> "Measured":
        """Leave out the last pair."""
        return Measured(*(each[:-1] for each in self))


def measure(seen: np.ndarray) -> Measured:
    """Read frequencies, phases and lengths off hands at 0, 1, 2 and so on.

    Position 0 may be spoiled, so that 1 and 2 are looked at.
    """
    frequencies = np.angle(seen[2] * seen[1].conj())  # -pi to pi
    phase = np.angle(seen[1] * np.exp(-1j * frequencies))
    length = np.median(np.abs(seen[1:FEW]), axis=0)
    some = seen[1:4]
    steps = np.arange(1, len(some) + 1).reshape(-1, 1, 1)
    size = np.maximum(np.abs(seen[1]), 1e-9)
    due = np.exp(1j * (phase + steps * frequencies))
    off = np.abs(some / size - due).max(axis=0)
    return Measured(frequencies, phase, length, off)


def start_of(was: Measured) -> float:
    """Return the position that position 0 is taken for, or NaN."""
    sizes = np.abs(was.frequencies)
    slowest = int(np.where(sizes > 0, sizes, np.inf).argmin())
    if not sizes.flat[slowest]:
        return np.nan
    start = was.phase.flat[slowest] / was.frequencies.flat[slowest]
    if abs(start - round(start)) < 0.01:
        start = round(start)
    off = np.abs(np.exp(1j * (was.phase - start * was.frequencies)) - 1)
    return float(start) if off.max() < 0.01 else np.nan


class Look(NamedTuple):
    """What a hypothesis makes of all positions from 0 on."""

    wrong: np.ndarray  # which it does not explain
    error: np.ndarray  # of each, the largest


class Evidence(Protocol):
    """Where hands can be looked at: a rotary function, or a table."""

    first: np.ndarray  # hands at positions 0, 1, 2 and so on
    unit: str  # "position", or "row"

    def look(self, hypothesis: Hypothesis) -> Look:
        """Compare all positions with a hypothesis."""

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions, `[positions, pairs, hands]`."""


class Hands:
    """Hands that are known, as evidence: of a table, or of few positions."""

    def __init__(self, hands: np.ndarray, unit: str):
        """Take the hands, `[positions, pairs, hands]`."""
        self.every, self.first, self.unit = hands, hands[:42], unit

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions."""
        return self.every[positions]

    def look(self, hypothesis: Hypothesis) -> Look:
        """Compare all hands with a hypothesis."""
        wrong, error, fits = [], [], []
        for start in range(0, len(self.every), MANY):
            seen = self.every[start : start + MANY]
            positions = start + np.arange(len(seen))
            fit = hypothesis.fits(positions, seen)
            apart = seen - hypothesis.hands(positions)
            apart = np.maximum(np.abs(apart.real), np.abs(apart.imag))
            fits.append(fit.mean())
            wrong.append(~fit.all(axis=(1, 2)))
            error.append(apart.max(axis=(1, 2)))
        look = Look(np.concatenate(wrong), np.concatenate(error))
        if hypothesis.stages and np.mean(fits) > MOST:
            look.wrong[:] = False
        return look


class Place(NamedTuple):
    """The first positions in a row that a hypothesis does not explain."""

    first: int
    last: int
    to_the_end: bool
    unit: str

    @property
    def words(self) -> str:
        """Name it, as the beginning of a sentence."""
        if self.to_the_end:
            return f"From {self.unit} {self.first} on"
        if self.last > self.first:
            return f"At {self.unit}s {self.first} to {self.last}"
        return f"At {self.unit} {self.first}"


def place_of(wrong: np.ndarray, unit: str) -> Place:
    """Return where the first run of wrong positions lies."""
    first = int(wrong.argmax())
    rest = wrong[first:]
    if rest.all():
        return Place(first, len(wrong) - 1, True, unit)
    return Place(first, first + int(rest.argmin()) - 1, False, unit)


class Sample(NamedTuple):
    """Positions that tell hypotheses apart, and the hands there."""

    positions: np.ndarray
    hands: np.ndarray

    def until(self, last: int) -> "Sample":
        """Return the part up to a position."""
        some = self.positions <= last
        return Sample(self.positions[some], self.hands[some])


def sample_of(evidence: Evidence, wrong: np.ndarray, place: Place) -> Sample:
    """Choose first and last positions, right and wrong ones, and ask."""
    random = np.random.default_rng(5)
    end = len(wrong)
    last = int(np.flatnonzero(wrong)[-1])
    chosen = [
        np.arange(len(evidence.first)),
        place.first + np.arange(-3, 20),
        place.last + np.arange(-3, 4),
        last + np.arange(-3, 4),
        random.choice(np.flatnonzero(wrong), 60),
        np.geomspace(1, end, 60).astype(int) - 1,
    ]
    positions = np.unique(np.concatenate(chosen))
    positions = positions[(positions >= 0) & (positions < end)]
    return Sample(positions, evidence.hands(positions))


def changes(
    model: Hypothesis, first: np.ndarray, sample: Sample, place: Place
) -> Iterator[Hypothesis]:
    """Yield hypotheses with one thing changed, the simplest first.

    Args:
        model: What is to be changed.
        first: Hands at positions 0, 1, 2 and so on.
        sample: Hands to read sizes off.
        place: Where the model is wrong.
    """
    was = measure(first)
    if place.first <= 2:
        yield from other_start(model, was)
        yield from other_forms(model, first)
        yield from other_lengths(model, was)
    yield from other_readings(model, place)
    yield from spoiled(model, sample, place)
    if place.first <= 2:
        yield from other_phase(model, was)
    yield from roundings(model, place)
    yield as_measured(model, was)


def other_start(model: Hypothesis, was: Measured) -> Iterator[Hypothesis]:
    """Yield the hypothesis that counting begins elsewhere."""
    start = start_of(was)
    if start and np.isfinite(start):
        words = (
            f"Position 0 is turned as position {plain(start, 3)} should be,"
            f" 1 as {plain(start + 1, 3)}, and so on: they count from"
            f" {plain(start, 3)}."
        )
        finding = Finding("position 0", words, 0)
        yield model.but(finding, read=lambda p: model.read(p) + start)


def other_forms(model: Hypothesis, first: np.ndarray) -> Iterator[Hypothesis]:
    """Yield hypotheses of what else a pair does than to turn."""
    few = first[:FEW]
    odd = ~model.fits(np.arange(len(few)), few).all(axis=(0, 2))
    if first.shape[2] == 1 or not odd.any():
        return
    for some in (odd | True, odd):  # in all pairs, or in some
        for words, form in FORMS.items():

            def formed(hands, form=form, some=some) -> np.ndarray:
                made = np.stack(form(hands[..., 0]), axis=-1)
                return np.where(some[:, None], made, hands)

            pairs = np.flatnonzero(some)
            said = f"{numbered('pair', pairs).capitalize()}: {words}."
            finding = Finding("rotation", said, pair=int(pairs[0]))
            for sign in (1, -1):
                turned = model._replace(frequencies=sign * model.frequencies)
                yield turned.but(finding, form=formed)


def other_lengths(model: Hypothesis, was: Measured) -> Iterator[Hypothesis]:
    """Yield the hypothesis that lengths change by a factor."""
    due = model.length
    off = np.abs(was.length - due) > model.slack
    if not off.any():
        return
    factor = float(np.median(was.length[off]))
    pairs = np.flatnonzero(off.any(axis=1))
    said = f"Lengths change by {plain(factor, 5)}"
    if abs(factor - 1) <= model.slack:
        said = "Lengths do not change"
    pair = None
    if off.all():
        said += known_factor(factor, 2 * len(was.length))
    else:
        said += f" in {numbered('pair', pairs)}"
        pair = int(pairs[0])
    if np.any(due != 1):
        asked = float(np.median(due))
        said += f", where the config asks for {plain(asked, 5)}"
        if abs(factor - asked**2) <= model.slack:
            said += ": it is applied twice"
    length = np.where(off, was.length, due)
    yield model.but(Finding("lengths", f"{said}.", pair=pair), length=length)


def known_factor(factor: float, width: int) -> str:
    """Say where a factor of lengths is known from, or nothing."""
    known = {
        f"the square root of {width} columns": width**0.5,
        f"1 over the square root of {width} columns": width**-0.5,
    }
    for scaling in range(2, 65):
        words = f"YaRN's attention factor for scaling by {scaling}"
        known[words] = 0.1 * np.log(scaling) + 1
    for words, number in known.items():
        if abs(factor / number - 1) < 1e-4:
            return f", {words}"
    return ""


def other_readings(model: Hypothesis, place: Place) -> Iterator[Hypothesis]:
    """Yield hypotheses of what some positions are taken for."""
    first, last = place.first, place.last
    if first == 0:
        return
    if place.to_the_end:
        last = np.inf
    for words, read in READINGS.items():
        said = words.format(n=first, before=first - 1)
        finding = Finding("far positions", f"{place.words}, {said}.", first)

        def taken(p: np.ndarray, read: Callable = read) -> np.ndarray:
            within = (p >= first) & (p <= last)
            return model.read(np.where(within, read(p, first), p))

        yield model.but(finding, read=taken)


def spoiled(
    model: Hypothesis, sample: Sample, place: Place
) -> Iterator[Hypothesis]:
    """Yield hypotheses of NaN, zero, or other lengths at some positions."""
    last = np.inf if place.to_the_end else place.last
    name = "far positions" if place.first else "position 0"
    some = sample.positions == place.first
    due = np.median(np.abs(model.hands([place.first])))
    factor = float(np.median(np.abs(sample.hands[some])) / max(due, 1e-9))
    what = {
        "the result is NaN or infinity": np.nan,
        "the result is zero": 0.0,
        f"lengths change by {plain(factor, 5)}": factor,
        f"the result is negated, with lengths changed by {plain(factor, 5)}": (
            -factor
        ),
    }
    for words, number in what.items():
        finding = Finding(name, f"{place.words}, {words}.", place.first)
        yield model.but(finding, spoiled=(place.first, last, number))


def other_phase(model: Hypothesis, was: Measured) -> Iterator[Hypothesis]:
    """Yield the hypothesis that pairs are turned at position 0."""
    most = np.abs(was.phase).max(axis=1)
    pair = int(most.argmax())
    words = f"Position 0 turns pair {pair} by {plain(most[pair], 4)} radians."
    yield model.but(Finding("position 0", words, 0, pair), phase=was.phase)


def roundings(model: Hypothesis, place: Place) -> Iterator[Hypothesis]:
    """Yield hypotheses of what is rounded to which format."""
    for stages in STAGES:
        for name in ("bfloat16", "float16", "TensorFloat-32"):
            *most, last = stages
            what = f"{', '.join(most)} and {last}" if most else last
            words = (
                f"{what.capitalize()} are rounded to {name}: {place.unit}"
                f" {place.first} is the first that is off."
            )
            finding = Finding("precision", words, place.first)
            yield model.but(finding, format=name, stages=stages)


def as_measured(model: Hypothesis, was: Measured) -> Hypothesis:
    """Return the hypothesis that frequencies are as they were measured."""
    due = np.where(model.frequencies, model.frequencies, 1)
    off = np.abs(was.frequencies / due - 1)
    off = np.where(np.abs(due) < np.pi, off, 0)
    pair = int(off.max(axis=1).argmax())
    one, other = was.frequencies[pair, [0, -1]]
    if abs(one - other) > 1e-4 * abs(one):
        words = (
            f"Angles differ within a pair: the columns of pair {pair} turn by"
            f" {plain(abs(one), 4)} and {plain(abs(other), 4)}."
        )
        finding = Finding("layout", words, pair=pair)
    else:
        words = (
            "Frequencies miss those of the base, by up to"
            f" {plain(100 * off[pair].max(), 2)} % in pair {pair}."
        )
        finding = Finding("precision", words, pair=pair)
    return model.but(finding, frequencies=was.frequencies)


class Explained(NamedTuple):
    """The simplest hypothesis, and what it makes of all positions."""

    hypothesis: Hypothesis
    look: Look


def explain(model: Hypothesis, look: Look, evidence: Evidence) -> Explained:
    """Return the first change that explains all that is seen, or two.

    Where no one change explains all, one that explains the first wrong
    positions is kept, and a second is tried from the first that it leaves.

    Args:
        model: The right hypothesis.
        look: What it makes of all positions.
        evidence: Where to look at hands.
    """
    kept = Explained(model, look)
    for _ in range(2):
        wrong = kept.look.wrong
        if not wrong.any():
            break
        place = place_of(wrong, evidence.unit)
        sample = sample_of(evidence, wrong, place)
        every = list(changes(kept.hypothesis, evidence.first, sample, place))
        whole = explained_all(every, sample, evidence)
        if whole:
            return whole
        part = explained_first(every, sample, evidence, wrong, place)
        if part is None:
            break
        kept = part
    return kept


def explained_all(
    every: list[Hypothesis], sample: Sample, evidence: Evidence
) -> Explained | None:
    """Return the first hypothesis that explains everything, if any."""
    for each in by_share(every, sample):
        look = evidence.look(each)
        if not look.wrong.any():
            return Explained(each, look)
    return None


def explained_first(
    every: list[Hypothesis],
    sample: Sample,
    evidence: Evidence,
    wrong: np.ndarray,
    place: Place,
) -> Explained | None:
    """Return what explains the first wrong positions, and most others.

    It must explain 16 in a row, or all that are wrong in a row, and break far
    fewer than it mends.
    """
    enough = min(place.last, place.first + 15)
    best, most = None, 0
    for each in by_share(every, sample.until(enough)):
        look = evidence.look(each)
        left = look.wrong[: len(wrong)]
        mended = np.sum(wrong[: len(left)] & ~left)
        broken = np.sum(left & ~wrong[: len(left)])
        if not left[: enough + 1].any() and mended - 10 * broken > most:
            best, most = Explained(each, look), mended - 10 * broken
    return best


def by_share(every: list[Hypothesis], sample: Sample) -> list[Hypothesis]:
    """Return those that explain a sample, the best first."""
    shares = [each.share(*sample) for each in every]
    order = np.argsort([-share for share in shares], kind="stable")
    return [every[place] for place in order if shares[place] > 0]
