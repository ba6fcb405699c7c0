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
from typing import NamedTuple

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

    def compare(
        self, positions: object, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which hands are where they should be, and how far off.

        Where NaN or infinity is due, any of them is right.
        """
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            apart = seen - self.hands(positions)
        fits = np.abs(apart) <= self.allowed(positions)
        neither = ~np.isfinite(apart)
        if neither.any():
            due = self.hands(positions)
            fits |= neither & ~np.isfinite(seen) & ~np.isfinite(due)
        return fits, np.maximum(np.abs(apart.real), np.abs(apart.imag))

    def share(self, positions: object, seen: np.ndarray) -> float:
        """Return which part of the hands it explains, 0 for too few.

        A rounding must explain nine in ten: of all, and of those it moves.
        """
        fits, _ = self.compare(positions, seen)
        if not self.stages:
            return float(fits.all())
        unmoved, _ = self._replace(stages=()).compare(positions, seen)
        if unmoved.all() or min(fits[~unmoved].mean(), fits.mean()) < MOST:
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

    @property
    def start(self) -> float:
        """Return the position that position 0 is taken for, or NaN."""
        sizes = np.abs(self.frequencies)
        if not sizes.any():
            return np.nan
        slowest = int(np.where(sizes > 0, sizes, np.inf).argmin())
        start = self.phase.flat[slowest] / self.frequencies.flat[slowest]
        if abs(start - round(start)) < 0.01:
            start = round(start)
        off = np.exp(1j * (self.phase - start * self.frequencies)) - 1
        return float(start) if np.abs(off).max() < 0.01 else np.nan


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


class Look(NamedTuple):
    """What a hypothesis makes of all positions from 0 on."""

    wrong: np.ndarray  # which it does not explain
    error: np.ndarray  # of each, the largest


class Evidence:
    """Where hands point at each position, as far as one can see.

    Here they are known, as of a table or of a few positions; `Sweep` asks a
    rotary function for them.
    """

    def __init__(self, hands: np.ndarray, unit: str = "position"):
        """Take hands at positions from 0 on, `[positions, pairs, hands]`."""
        self.every, self.first, self.unit = hands, hands[:42], unit
        self.end = len(hands)

    def hands(self, positions: np.ndarray) -> np.ndarray:
        """Return the hands at some positions."""
        return self.every[positions]

    def stretches(self) -> Iterator[np.ndarray]:
        """Yield positions, as many as are compared in one go."""
        for start in range(0, self.end, MANY):
            yield np.arange(start, min(start + MANY, self.end))

    def compare(
        self, hypothesis: Hypothesis, positions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which hands fit, which positions do, and errors of hands."""
        fits, off = hypothesis.compare(positions, self.hands(positions))
        return fits, fits.all(axis=(1, 2)), off

    def look(self, hypothesis: Hypothesis, to_first: bool = False) -> Look:
        """Compare all positions with a hypothesis.

        Args:
            hypothesis: Says where hands should be.
            to_first: Whether to stop after the first stretch with wrong ones;
                the result then is as long as what was looked at.
        """
        wrong, error = np.zeros(self.end, bool), np.zeros(self.end)
        shares = []
        for positions in self.stretches():
            fits, right, off = self.compare(hypothesis, positions)
            wrong[positions] = ~right
            error[positions] = off.max(axis=(1, 2))
            shares.append(fits.mean())
            if to_first and not right.all():
                done = int(positions.max()) + 1
                return Look(wrong[:done], error[:done])
        if hypothesis.stages and np.mean(shares) > MOST:
            wrong[:] = False
        return Look(wrong, error)


class Place(NamedTuple):
    """The first positions in a row that a hypothesis does not explain."""

    first: int
    last: float  # infinity if they go on to the end
    unit: str

    @property
    def words(self) -> str:
        """Name it, as the beginning of a sentence."""
        if np.isinf(self.last):
            return f"From {self.unit} {self.first} on"
        if self.last > self.first:
            return f"At {self.unit}s {self.first} to {self.last}"
        return f"At {self.unit} {self.first}"


def place_of(wrong: np.ndarray, unit: str) -> Place:
    """Return where the first run of wrong positions lies."""
    first = int(wrong.argmax())
    rest = wrong[first:]
    last = np.inf if rest.all() else first + int(rest.argmin()) - 1
    return Place(first, last, unit)


class Sample(NamedTuple):
    """Positions that tell hypotheses apart, and the hands there."""

    positions: np.ndarray
    hands: np.ndarray


def sample_of(evidence: Evidence, wrong: np.ndarray, place: Place) -> Sample:
    """Choose first and last positions, right and wrong ones, and ask."""
    random = np.random.default_rng(5)
    end = len(wrong)
    somewhere = np.flatnonzero(wrong)
    ends = [place.first, min(place.last, end - 1), somewhere[-1]]
    chosen = [
        np.arange(len(evidence.first)),
        np.add.outer(ends, np.arange(-3, 20)).ravel(),
        random.choice(somewhere, 60),
        np.geomspace(1, end, 60).astype(int) - 1,
    ]
    positions = np.unique(np.concatenate(chosen).astype(int))
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
        yield from other_start(model, was, place.unit)
        yield from other_forms(model, first)
        yield from other_lengths(model, was)
    yield from other_readings(model, place)
    yield from spoiled(model, sample, place)
    if place.first <= 2:
        yield from other_phase(model, was)
    yield from roundings(model, place)
    yield as_measured(model, was)


def other_start(
    model: Hypothesis, was: Measured, unit: str
) -> Iterator[Hypothesis]:
    """Yield the hypothesis that counting begins elsewhere, or is backwards."""
    sign = np.sign(np.median(np.sign(was.frequencies * model.frequencies)))
    start = sign * was.start
    late = start - model.read(np.zeros(1))[0]
    if not late or not np.isfinite(late):
        return
    words = f"{unit.capitalize()} 0 is taken for position {plain(start, 3)}"
    if sign < 0:
        words += f", and {unit}s count backwards."
    else:
        many = "one position"
        if abs(late) != 1:
            many = f"{plain(abs(late), 3)} positions"
        causes = {1: " (counted from 1?)", 2: " (an offset for padding?)"}
        words += (
            f": each {unit} is {many} {'late' if late > 0 else 'early'}"
            f"{causes.get(float(late), '')}."
        )
    finding = Finding("position 0", words, 0)
    yield model.but(finding, read=lambda p: start + sign * p)


def other_forms(model: Hypothesis, first: np.ndarray) -> Iterator[Hypothesis]:
    """Yield hypotheses of what else a pair does than to turn."""
    few = first[:FEW]
    fits, _ = model.compare(np.arange(len(few)), few)
    odd = ~fits.all(axis=(0, 2))
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
    first, last, _ = place
    if first == 0 or last - first < FEW:
        return  # rounding, too, takes a few positions for near ones
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
    name = "far positions" if place.first else "position 0"
    some = sample.positions == place.first
    due = np.median(np.abs(model.hands([place.first])))
    factor = float(np.median(np.abs(sample.hands[some])) / max(due, 1e-9))
    what = {
        "the result is NaN or infinity": np.nan,
        "the result is zero": 0.0,
    }
    if abs(factor - 1) > 10 * model.slack:  # if not, lengths may drift
        by = f"lengths change by {plain(factor, 5)}"
        what[by] = factor
        what[f"the result is negated, and {by}"] = -factor
    for words, number in what.items():
        finding = Finding(name, f"{place.words}, {words}.", place.first)
        yield model.but(finding, spoiled=(place.first, place.last, number))


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


def explain(
    model: Hypothesis, look: Look, evidence: Evidence
) -> tuple[Hypothesis, Look]:
    """Return the first change that explains all that is seen, or two.

    Where no one change explains all, the best that explains the first wrong
    positions is kept, and a second is tried from the first that it leaves.

    Args:
        model: The right hypothesis.
        look: What it makes of all positions.
        evidence: Where to look at hands.

    Returns:
        The hypothesis, and what it makes of all positions.
    """
    for _ in range(2):
        if not look.wrong.any():
            break
        place = place_of(look.wrong, evidence.unit)
        sample = sample_of(evidence, look.wrong, place)
        every = list(changes(model, evidence.first, sample, place))
        for each in by_share(every, sample):
            left = evidence.look(each)
            if not left.wrong.any():
                return each, left
        better = beginning(every, sample, place, look.wrong, evidence)
        if better is None:
            break
        model, look = better
    return model, look


def beginning(
    every: list[Hypothesis],
    sample: Sample,
    place: Place,
    wrong: np.ndarray,
    evidence: Evidence,
) -> tuple[Hypothesis, Look] | None:
    """Return the hypothesis that explains the first wrong positions best.

    It must explain 16 in a row, or all that are wrong in a row, and mend more
    than ten positions for each that it breaks.
    """
    enough = int(min(place.last, place.first + 15))
    early = sample.positions <= enough
    best, most = None, 0
    few = Sample(sample.positions[early], sample.hands[early])
    for each in by_share(every, few):
        look = evidence.look(each)
        left = look.wrong[: len(wrong)]
        mended = np.sum(wrong[: len(left)] & ~left)
        broken = np.sum(left & ~wrong[: len(left)])
        if not left[: enough + 1].any() and mended - 10 * broken > most:
            best, most = (each, look), mended - 10 * broken
    return best


def by_share(every: list[Hypothesis], sample: Sample) -> list[Hypothesis]:
    """Return those that explain a sample, the best first."""
    shares = [each.share(*sample) for each in every]
    order = np.argsort([-share for share in shares], kind="stable")
    return [every[place] for place in order if shares[place] > 0]
