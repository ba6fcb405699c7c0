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
# What a column of a pair may make of the right hand `z`.
HANDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "z": lambda z: z,
    "-z": lambda z: -z,
    "jz": lambda z: 1j * z,  # as the other column does
    "-jz": lambda z: -1j * z,
    "against": np.conj,
    "exchanged": lambda z: 1j * z.conj(),
    "still": lambda z: z**0,
    "lost": lambda z: 0 * z,
    "overwritten": lambda z: z.real + 1j * z.imag * z,
}
# What the first and the second column of each pair make of it.
FORMS: dict[str, tuple[str, str]] = {
    "a minus is missing, so that columns turn apart": ("against", "z"),
    "the second column is negated": ("z", "-z"),
    "the first column is negated": ("-z", "z"),
    "sine and cosine are exchanged": ("exchanged", "exchanged"),
    "sine and cosine are exchanged in the first column": ("exchanged", "z"),
    "sine and cosine are exchanged in the second column": ("z", "exchanged"),
    "only the first column turns": ("z", "still"),
    "only the second column turns": ("still", "z"),
    "the second column is lost": ("z", "lost"),
    "the first column is lost": ("lost", "z"),
    "both columns are computed like the first": ("z", "jz"),
    "both columns are computed like the second": ("-jz", "z"),
    "the second column is made of the new first": ("z", "overwritten"),
    "the first column is made of the new second": ("overwritten", "z"),
}
STAGES = (  # of an angle, at which it may be rounded
    "positions",
    "frequencies",
    "angles",
    "positions and angles",
    "frequencies and positions",
    "frequencies and angles",
    "frequencies, positions and angles",
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
    stages: str = ""  # and which of them, one of `STAGES`
    spoiled: tuple[float, float, float] = (0, -1, 1)  # from, to, by what
    doubt: float = 0.0  # by how much, relatively, frequencies may be off
    findings: tuple[Finding, ...] = ()  # the changes, in words

    def but(self, finding: Finding, **fields) -> "Hypothesis":
        """Return a hypothesis with some fields changed, and the words."""
        return self._replace(findings=(*self.findings, finding), **fields)

    def hands(self, positions: object) -> np.ndarray:
        """Return `[positions, pairs, hands]`, complex."""

        def stage(name: str, values: np.ndarray) -> np.ndarray:
            rounds = name in self.stages
            return FORMATS[self.format](values) if rounds else values

        p = stage("positions", self.read(np.asarray(positions, float)))
        frequencies = stage("frequencies", self.frequencies)
        with np.errstate(invalid="ignore"):  # infinity, from float16
            angles = stage("angles", np.multiply.outer(p, frequencies))
            angles = angles + self.phase
            hands = np.empty(angles.shape, complex)
            np.cos(angles, out=hands.real)
            np.sin(angles, out=hands.imag)
            hands = self.form(self.length * hands)
            return hands * self.factors(positions)[:, None, None]

    def factors(self, positions: object) -> np.ndarray:
        """Return what whole vectors are multiplied by, `[positions]`."""
        first, last, factor = self.spoiled
        places = np.asarray(positions)
        return np.where((places >= first) & (places <= last), factor, 1.0)

    def compare(
        self, positions: object, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which hands are where they should be, and how far off.

        Where NaN or infinity is due, any of them is right.
        """
        due = self.hands(positions)
        places = np.abs(np.asarray(positions, float))
        angles = np.multiply.outer(places, np.abs(self.frequencies))
        angles *= 8 * STEP["float32"] + self.doubt  # what float32 loses
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            apart = seen - due
        fits = np.abs(apart) <= self.slack + angles
        if not np.isfinite(apart).all():
            fits |= ~np.isfinite(seen) & ~np.isfinite(due)
        return fits, np.maximum(np.abs(apart.real), np.abs(apart.imag))

    def share(self, positions: object, seen: np.ndarray) -> float:
        """Return which part of the hands it explains, 0 for too few.

        A rounding must explain nine in ten: of all, and of those it moves.
        """
        fits, _ = self.compare(positions, seen)
        if not self.stages:
            return float(fits.all())
        unmoved, _ = self._replace(stages="").compare(positions, seen)
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
    steps = np.arange(1, len(seen[:4])).reshape(-1, 1, 1)
    size = np.maximum(np.abs(seen[1]), 1e-9)
    due = np.exp(1j * (phase + steps * frequencies))
    off = np.abs(seen[1:4] / size - due).max(axis=0)
    return Measured(frequencies, phase, length, off)


class Look(NamedTuple):
    """What a hypothesis makes of all positions from 0 on."""

    wrong: np.ndarray  # which it does not explain
    error: np.ndarray  # of each, the largest

    def place(self) -> tuple[int, float]:
        """Return the ends of the first wrong run; infinity is the end."""
        first = int(self.wrong.argmax())
        rest = self.wrong[first:]
        return first, np.inf if rest.all() else first + int(rest.argmin()) - 1


class Evidence:
    """Where hands point at each position, as far as one can see.

    Here they are known, as of a table or of a few positions; `Sweep` asks a
    rotary function for them.
    """

    def __init__(self, hands: np.ndarray, unit: str = "position"):
        """Take hands at positions from 0 on, `[positions, pairs, hands]`."""
        self.every, self.first, self.unit = hands, hands[:42], unit
        self.end, self.findings = len(hands), []

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

    def look(self, hypothesis: Hypothesis) -> Look:
        """Compare all positions with a hypothesis."""
        wrong, error = np.zeros(self.end, bool), np.zeros(self.end)
        shares = []
        for positions in self.stretches():
            fits, right, off = self.compare(hypothesis, positions)
            wrong[positions] = ~right
            error[positions] = off.max(axis=(1, 2))
            shares.append(fits.mean())
        if hypothesis.stages and np.mean(shares) > MOST:
            wrong[:] = False
        return Look(wrong, error)

    def sample(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """Return positions that tell hypotheses apart, and the hands there."""
        end, somewhere = len(look.wrong), np.flatnonzero(look.wrong)
        first, last = look.place()
        ends = [first, min(last, end - 1), somewhere[-1]]
        chosen = [
            np.arange(len(self.first)),
            np.add.outer(ends, np.arange(-3, 20)).ravel(),
            np.random.default_rng(5).choice(somewhere, 60),
            np.geomspace(1, end, 60).astype(int) - 1,
        ]
        positions = np.unique(np.concatenate(chosen).astype(int))
        positions = positions[(positions >= 0) & (positions < end)]
        return positions, self.hands(positions)


def changes(
    model: Hypothesis,
    look: Look,
    evidence: Evidence,
    sample: tuple[np.ndarray, np.ndarray],
) -> Iterator[Hypothesis]:
    """Yield hypotheses with one thing changed, the simplest first."""
    first, last = look.place()
    unit, was = evidence.unit, measure(evidence.first)
    where = f"At {unit}s {first} to {last}"
    if last == first:
        where = f"At {unit} {first}"
    elif np.isinf(last):
        where = f"From {unit} {first} on"
    if first <= 2:
        yield from other_start(model, was, unit)
        yield from other_forms(model, evidence.first)
        yield from other_lengths(model, was)
    if first and last - first >= FEW:  # rounding, too, moves a few
        for words, read in READINGS.items():
            said = words.format(n=first, before=first - 1)

            def taken(p: np.ndarray, read: Callable = read) -> np.ndarray:
                within = (p >= first) & (p <= last)
                return model.read(np.where(within, read(p, first), p))

            finding = Finding("far positions", f"{where}, {said}.", first)
            yield model.but(finding, read=taken)
    due = max(np.median(np.abs(model.hands([first]))), 1e-9)
    some = sample[1][sample[0] == first]
    factor = float(np.median(np.abs(some)) / due)
    by = f"lengths change by {plain(factor, 5)}"
    spoiled = {"the result is NaN or infinity": np.nan}
    spoiled["the result is zero"] = 0.0
    if abs(factor - 1) > 10 * model.slack:  # if not, lengths may drift
        spoiled |= {by: factor, f"it is negated, and {by}": -factor}
    for words, number in spoiled.items():
        name = "far positions" if first else "position 0"
        finding = Finding(name, f"{where}, {words}.", first)
        yield model.but(finding, spoiled=(first, last, number))
    if first <= 2:
        most = np.abs(was.phase).max(axis=1)
        pair = int(most.argmax())
        by = plain(most[pair], 4)
        words = f"Position 0 turns pair {pair} by {by} radians."
        finding = Finding("position 0", words, 0, pair)
        yield model.but(finding, phase=was.phase)
    for stages in STAGES:
        for name in ("bfloat16", "float16", "TensorFloat-32"):
            words = (
                f"{stages.capitalize()} are rounded to {name}: {unit} {first}"
                " is the first that is off."
            )
            finding = Finding("precision", words, first)
            yield model.but(finding, format=name, stages=stages)
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
    many = "one position"
    if abs(late) != 1:
        many = f"{plain(abs(late), 3)} positions"
    if sign < 0:
        words += f", and {unit}s count backwards."
    elif late < 0:
        words += f": each {unit} is {many} early."
    else:
        causes = {1: " (counted from 1?)", 2: " (an offset for padding?)"}
        words += f": each {unit} is {many} late{causes.get(late, '')}."
    finding = Finding("position 0", words, 0)
    yield model.but(finding, read=lambda p: start + sign * p)


def other_forms(model: Hypothesis, first: np.ndarray) -> Iterator[Hypothesis]:
    """Yield hypotheses of what else a pair does than to turn."""
    fits, _ = model.compare(np.arange(len(first[:FEW])), first[:FEW])
    odd = ~fits.all(axis=(0, 2))
    if first.shape[2] == 1 or not odd.any():
        return
    for some in (odd | True, odd):  # in all pairs, or in some
        for words, form in FORMS.items():

            def formed(hands, form=form, some=some) -> np.ndarray:
                made = [HANDS[name](hands[..., 0]) for name in form]
                made = np.stack(made, axis=-1)
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
    factor, pair = float(np.median(was.length[off])), None
    said = f"Lengths change by {plain(factor, 5)}"
    if abs(factor - 1) <= model.slack:
        said = "Lengths do not change"
    if not off.all():
        pairs = np.flatnonzero(off.any(axis=1))
        said += f" in {numbered('pair', pairs)}"
        pair = int(pairs[0])
    if np.any(due != 1):
        asked = float(np.median(due))
        said += f", where the config asks for {plain(asked, 5)}"
    length = np.where(off, was.length, due)
    yield model.but(Finding("lengths", f"{said}.", pair=pair), length=length)


def as_measured(model: Hypothesis, was: Measured) -> Hypothesis:
    """Return the hypothesis that frequencies are as they were measured."""
    due = np.where(model.frequencies, model.frequencies, 1)
    off = np.where(np.abs(due) < np.pi, np.abs(was.frequencies / due - 1), 0)
    pair = int(off.max(axis=1).argmax())
    one, other = np.abs(was.frequencies[pair, [0, -1]])
    by = plain(100 * off[pair].max(), 2)
    name = "precision"
    words = f"Frequencies miss those of the base, by up to {by} %"
    words += f" in pair {pair}."
    if abs(one - other) > 1e-4 * one:
        name = "layout"
        words = (
            f"Angles differ within a pair: the columns of pair {pair} turn by"
            f" {plain(one, 4)} and {plain(other, 4)}."
        )
    finding = Finding(name, words, pair=pair)
    return model.but(finding, frequencies=was.frequencies)


def explain(
    model: Hypothesis, look: Look, evidence: Evidence
) -> tuple[Hypothesis, Look]:
    """Return the first change that explains all that is seen, or two.

    Where no one change explains all, the best that explains the first wrong
    positions is kept, and a second is tried from the first that it leaves.

    Returns:
        The hypothesis, and what it makes of all positions.
    """
    for _ in range(2):
        if not look.wrong.any():
            break
        sample = evidence.sample(look)
        every = list(changes(model, look, evidence, sample))
        for each in by_share(every, *sample):
            left = evidence.look(each)
            if not left.wrong.any():
                return each, left
        better = beginning(every, sample, look, evidence)
        if better is None:
            break
        model, look = better
    return model, look


def beginning(
    every: list[Hypothesis],
    sample: tuple[np.ndarray, np.ndarray],
    look: Look,
    evidence: Evidence,
) -> tuple[Hypothesis, Look] | None:
    """Return the hypothesis that explains the first wrong positions best.

    It must explain 16 in a row, or all that are wrong in a row, and mend more
    than ten positions for each that it breaks.
    """
    first, last = look.place()
    enough = int(min(last, first + 15))
    early = sample[0] <= enough
    best, most = None, 0
    for each in by_share(every, sample[0][early], sample[1][early]):
        left = evidence.look(each)
        now = left.wrong[: len(look.wrong)]
        before = look.wrong[: len(now)]
        gain = np.sum(before & ~now) - 10 * np.sum(now & ~before)
        if not now[: enough + 1].any() and gain > most:
            best, most = (each, left), gain
    return best


def by_share(
    every: list[Hypothesis], positions: np.ndarray, hands: np.ndarray
) -> list[Hypothesis]:
    """Return those that explain a sample, the best first."""
    shares = [each.share(positions, hands) for each in every]
    order = np.argsort([-share for share in shares], kind="stable")
    return [every[place] for place in order if shares[place] > 0]
