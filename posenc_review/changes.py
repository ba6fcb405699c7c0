"""What may be changed in a hypothesis, the simplest first."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .hypothesis import FEW, Hypothesis, Measured, measure
from .report import Finding, numbered, plain

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


def changes(
    model: Hypothesis, first: np.ndarray, wrong: np.ndarray, place: Place
) -> Iterator[Hypothesis]:
    """Yield hypotheses with one thing changed.

    Args:
        model: What is to be changed.
        first: Hands at positions 0, 1, 2 and so on.
        wrong: Those at the first position that is wrong.
        place: Where the model is wrong.
    """
    was = measure(first)
    if place.first <= 2:
        yield from other_start(model, was, place.unit)
        yield from other_forms(model, first)
        yield from other_lengths(model, was)
    yield from other_readings(model, place)
    yield from spoiled(model, wrong, place)
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
    model: Hypothesis, wrong: np.ndarray, place: Place
) -> Iterator[Hypothesis]:
    """Yield hypotheses of NaN, zero, or other lengths at some positions."""
    name = "far positions" if place.first else "position 0"
    due = np.median(np.abs(model.hands([place.first])))
    factor = float(np.median(np.abs(wrong)) / max(due, 1e-9))
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
