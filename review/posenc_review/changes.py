"""What may be changed in how columns turn: each change is a hypothesis."""

from collections.abc import Callable, Iterator

import numpy as np

from .hypothesis import FEW, Hypothesis, Measured, measure
from .report import Finding, numbered, plain

# What positions `p` from `n` on are taken for.
TAKEN_FOR: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
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
    "both columns are negated": ("-z", "-z"),
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


def changes(
    model: Hypothesis,
    first_hands: np.ndarray,
    run: tuple[int, float],
    hands: np.ndarray,
    unit: str,
) -> Iterator[Hypothesis]:
    """Yield hypotheses with one thing changed, the simplest first.

    Positions are wrong from the first of `run` to the last; `hands` are those
    at the first, and `first_hands` those at positions 0, 1, 2 and so on.
    """
    first, last = run
    measured = measure(first_hands)
    where = f"From {unit} {first} on"
    if last == first:
        where = f"At {unit} {first}"
    elif np.isfinite(last):
        where = f"At {unit}s {first} to {last}"
    yield from other_start(model, measured, unit)
    yield from other_forms(model, first_hands)
    yield from other_lengths(model, measured)
    if first and last - first >= FEW:  # rounding, too, moves a few
        yield from other_readings(model, first, last, where)
    yield from spoiled(model, first, last, hands, where)
    yield other_phase(model, measured, unit)
    for stages in STAGES if not model.doubt else ():
        for name in ("bfloat16", "float16", "TensorFloat-32"):
            words = (
                f"{stages.capitalize()} are rounded to {name}: {unit} {first}"
                " is the first that is off."
            )
            finding = Finding("precision", words, first)
            yield model.but(finding, format=name, stages=stages)
    if np.all(measured.frequencies * model.frequencies >= 0):
        yield as_measured(model, measured)


def other_start(
    model: Hypothesis, measured: Measured, unit: str
) -> Iterator[Hypothesis]:
    """Yield the hypothesis that counting begins elsewhere, or is backwards."""
    sign = np.sign(
        np.median(np.sign(measured.frequencies * model.frequencies))
    )
    start = sign * measured.start
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


def other_lengths(
    model: Hypothesis, measured: Measured
) -> Iterator[Hypothesis]:
    """Yield the hypothesis that lengths change by a factor."""
    due = model.length
    off = np.abs(measured.length - due) > model.slack
    if not off.any():
        return
    factor, pair = float(np.median(measured.length[off])), None
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
    length = np.where(off, measured.length, due)
    yield model.but(Finding("lengths", f"{said}.", pair=pair), length=length)


def other_readings(
    model: Hypothesis, first: int, last: float, where: str
) -> Iterator[Hypothesis]:
    """Yield hypotheses that positions of a run are taken for others."""
    for words, reading in TAKEN_FOR.items():
        said = words.format(n=first, before=first - 1)

        def read(p: np.ndarray, reading: Callable = reading) -> np.ndarray:
            within = (p >= first) & (p <= last)
            return model.read(np.where(within, reading(p, first), p))

        finding = Finding("far positions", f"{where}, {said}.", first)
        yield model.but(finding, read=read)


def spoiled(
    model: Hypothesis, first: int, last: float, seen: np.ndarray, where: str
) -> Iterator[Hypothesis]:
    """Yield hypotheses that whole vectors of a run are multiplied."""
    due = max(np.median(np.abs(model.hands([first]))), 1e-9)
    factor = float(np.median(np.abs(seen)) / due)
    factors = {"the result is NaN or infinity": np.nan}
    factors["the result is zero"] = 0.0
    if abs(factor - 1) > 10 * model.slack:  # if not, lengths may drift
        by = f"lengths change by {plain(factor, 5)}"
        factors |= {by: factor, f"it is negated, and {by}": -factor}
    name = "far positions" if first else "position 0"
    for words, number in factors.items():
        finding = Finding(name, f"{where}, {words}.", first)
        yield model.but(finding, spoiled=(first, last, number))


def other_phase(
    model: Hypothesis, measured: Measured, unit: str
) -> Hypothesis:
    """Return the hypothesis that pairs begin at other angles."""
    most = np.abs(measured.phase).max(axis=1)
    pair = int(most.argmax())
    by = plain(most[pair], 4)
    words = f"{unit.capitalize()} 0 turns pair {pair} by {by} radians."
    finding = Finding("position 0", words, 0, pair)
    return model.but(finding, phase=measured.phase)


def as_measured(model: Hypothesis, measured: Measured) -> Hypothesis:
    """Return the hypothesis that frequencies are as they were measured."""
    due = np.where(model.frequencies, model.frequencies, 1)
    off = np.where(
        np.abs(due) < np.pi, np.abs(measured.frequencies / due - 1), 0
    )
    pair = int(off.max(axis=1).argmax())
    one, other = np.abs(measured.frequencies[pair, [0, -1]])
    name = "precision"
    words = (
        "Frequencies miss those of the base, by up to"
        f" {plain(100 * off[pair].max(), 2)} % in pair {pair}."
    )
    if abs(one - other) > 1e-4 * one:
        name = "layout"
        words = (
            f"Angles differ within a pair: the columns of pair {pair} turn by"
            f" {plain(one, 4)} and {plain(other, 4)}."
        )
    finding = Finding(name, words, pair=pair)
    return model.but(finding, frequencies=measured.frequencies)
