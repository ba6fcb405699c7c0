"""Say how pairs turn, compare calls with a formula, and say what differs.

Nothing says why. Whoever reads a report is to find that out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .measure import Call, Rates, geometric

USUAL_BASES = (10_000.0, 500_000.0, 1_000_000.0)


class OutOfReachError(ValueError):
    """The function may be right, but is of a kind that is not reviewed."""


@dataclass
class Report:
    """What differs from the formula. Print it to read it."""

    convention: str = "unknown"
    findings: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict] = field(default_factory=dict)  # their numbers
    notes: list[str] = field(default_factory=list)
    looked_at: str = ""

    def add(self, kind: str, words: str, **values: object) -> None:
        """Add a finding of a kind, with its numbers."""
        before = self.findings.get(kind)
        self.findings[kind] = f"{before} {words}" if before else words
        self.values.setdefault(kind, {}).update(values)

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"- {kind}: {said}" for kind, said in self.findings.items()]
        lines.append(f"Findings: {len(lines)}. Convention: {self.convention}.")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join([*lines, self.looked_at]).strip()


def plain(number: float, digits: int = 5) -> str:
    """Write a number as people do: 500000, 0.25, 1.139."""
    if not np.isfinite(number):
        return str(number)
    if abs(number) < 1e-12:
        return "0"
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-")


def runs(what: str, numbers: Iterable[int]) -> str:
    """Write "pair 7", or "pairs 3 to 5, 7"; only the first few runs."""
    ordered = np.unique(np.array(list(numbers), int))
    said = []
    for run in np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1):
        said.append(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}")
    said[6:] = ["and more"] * (len(said) > 6)
    return f"{what}{'s' * (len(ordered) > 1)} {', '.join(said)}"


def read_base(seen: Rates) -> tuple[str, np.ndarray, bool] | None:
    """Return the base that all pairs follow, if any.

    Returns:
        Its words, its frequencies, and whether it may be meant.
    """
    size, sign = np.abs(seen.measured), np.sign(seen.measured[0])
    if len(size) == 1:
        words = f"{plain(size[0])} radians per position"
        return words, seen.measured, True
    if not (seen.measured * sign > 0).all():
        return None
    weights = size / (seen.doubt + 1e-6 * size)
    pair = np.arange(len(size))
    slope, start = np.polyfit(pair, np.log(size), 1, w=weights)
    base, factor = np.exp(-slope * len(size)), np.exp(start)
    for digits in (3, 6, 17):  # round numbers first
        some = float(f"{base:.{digits}g}")
        for by in (1.0, 1 / float(f"{1 / factor:.4g}"), factor):
            due = sign * by * geometric(some, len(size))
            if not seen.differ(due).any():
                words = f"base {some:.6g}"
                if abs(by - 1) > 1e-6:
                    words += f" and all divided by {1 / by:.5g}"
                # Parts of a turn, and degrees, are slips.
                slips = np.array([180 / np.pi, 2 * np.pi]) * by
                meant = 1 < some < 1e12 and by < 1.00001
                meant = meant and (np.abs(slips - 1) > 1e-3).all()
                return words, due, meant
    return None


def read_frequencies(
    report: Report, seen: Rates, known: list[tuple[str, np.ndarray]]
) -> tuple[str, np.ndarray]:
    """Say which frequencies differ, and return those of a function.

    It is held to the nearest that are known, or to any base if none are.
    """
    size, follows, free = np.abs(seen.measured), read_base(seen), not known
    if free and follows and follows[2]:
        return follows[:2]
    if free:
        bases = list(USUAL_BASES)
        if seen.evenly and size.all() and len(size) > 2:  # that of most pairs
            slope = np.median(np.diff(np.log(size)))
            bases.append(float(f"{np.exp(-slope * len(size)):.3g}"))
        known = [each for base in bases for each in of_base(base, len(size))]
    elif len(known[0][1]) != len(size):
        return "other frequencies", seen.measured
    most = [seen.differ(due, 0.02).mean() for _, due in known]
    words, due = known[np.argmin(most)]
    off = seen.differ(due)
    if not off.any():
        return words, due
    if not seen.evenly:  # calls will tell more
        return f"compared with {words}" if free else words, due

    # No known scaling turns pairs both ways, or further than a radian.
    both_ways = np.ptp(np.sign(seen.measured)) > 0
    may_be_meant = not (follows or both_ways or size.max() > 1.001)
    if free and min(most) > 0.25 and may_be_meant and not report.findings:
        refuse("Pairs", seen.measured, "which follow no single base")
    measured = due + seen.beyond(due)  # whole turns are not seen
    pairs = np.flatnonzero(off)
    few = pairs if len(pairs) < 5 else [*pairs[:3], pairs[-1]]
    listed = [
        f"pair {k} by {plain(measured[k])} radians per position, not"
        f" {plain(due[k])} ({plain(measured[k] / due[k])} times)"
        for k in few
    ]
    said = f"{len(pairs)} of {len(due)} pairs ({runs('pair', pairs)}) turn"
    said += f" otherwise than with {words}: {'; '.join(listed)}."
    words, due = "other frequencies", np.where(off, seen.measured, due)
    if follows:
        words, due, _ = follows
        said += f" All are those of {words}."
    report.add("frequencies", said, pairs=pairs, measured=measured)
    return words, due


def of_base(base: float, pairs: int) -> list[tuple[str, np.ndarray]]:
    """Name the usual frequencies, counterclockwise and clockwise."""
    due = geometric(base, pairs)
    return [(f"base {base:.6g}", due), (f"base {base:.6g}", -due)]


def refuse(pairs: str, frequencies: np.ndarray, but: str) -> None:
    """Refuse a function whose frequencies may be meant."""
    listed = [plain(rate, 4) for rate in frequencies]
    listed[6:-1] = ["..."] * (len(listed) > 7)
    raise OutOfReachError(
        f"{pairs} turn by {', '.join(listed)} radians per position, {but}."
        " Such functions are not reviewed without base= or frequencies=."
    )


def read_lengths(
    report: Report, near: Call, due: np.ndarray, tolerance: float
) -> np.ndarray:
    """Say which lengths differ, and return those of a function."""
    lengths = np.median(np.abs(near.turned[1:]), axis=0)
    off = np.abs(lengths - due) > max(tolerance, 1e-3)
    if off.any():
        ends = np.quantile(lengths[off], (0, 1))
        said = " to ".join(dict.fromkeys(plain(end, 4) for end in ends))
        said = f"Vectors become {said} times as long in"
        said += f" {runs('pair', np.flatnonzero(off))} of {len(off)}, where"
        said += f" {plain(due[off][0])} is due."
        report.add("lengths", said, measured=lengths, due=due)
    return np.where(off, lengths, due)


class Reference(NamedTuple):
    """The formula that calls are compared with, an entry for each pair."""

    pairs: np.ndarray  # [pairs, 2], columns
    rates: np.ndarray  # radians per position
    lengths: np.ndarray  # by how much it becomes longer
    forgiven: np.ndarray  # radians per position that may be lost
    tolerance: float

    def due(self, positions: np.ndarray) -> np.ndarray:
        """Return by what hands are multiplied at some positions."""
        angles = np.multiply.outer(positions.astype(float), self.rates)
        waves = np.empty(angles.shape, complex)
        waves.real, waves.imag = np.cos(angles), np.sin(angles)
        return self.lengths * waves

    def compare(self, call: Call) -> Call:
        """Return a call with the tokens that differ."""
        places = call.positions.ravel()
        off = np.abs((call.turned - self.due(places)).view(float))
        off = off.reshape(*call.turned.shape, 2).max(axis=-1)
        slack = self.lengths * np.multiply.outer(np.abs(places), self.forgiven)
        # Numbers that are NaN are never within the tolerance.
        wrong = ~(off <= self.tolerance + slack).all(axis=1)
        return call._replace(
            turned=call.turned[np.flatnonzero(wrong)[:6]],
            wrong=wrong.reshape(call.positions.shape),
            off=np.nan_to_num(off[wrong], nan=np.inf).max(initial=0),
        )

    def read_back(self, turned: np.ndarray) -> list[int | str]:
        """Say as which position each token, `[tokens, pairs]`, is turned."""
        order = np.abs(self.rates).argsort()[::-1]
        everywhere, read = np.arange(-(2**17), 2**17), []
        waves = np.exp(1j * everywhere * self.rates[order[0]])
        slack = 3 * max(self.tolerance, 1e-4)
        doubt = slack + 2 * self.forgiven[order[0]] * np.abs(everywhere)
        for hands in turned / self.lengths:
            near = np.abs(waves - hands[order[0]]) < doubt
            places = everywhere[near]
            for k in order[1:]:
                allowed = slack + 2 * self.forgiven[k] * np.abs(places)
                missed = np.exp(1j * places * self.rates[k]) - hands[k]
                places = places[np.abs(missed) < allowed]
            read.append(int(places[0]) if len(places) == 1 else "no position")
        return read


def differences(
    report: Report, calls: list[Call], reference: Reference, what: str
) -> None:
    """Say which tokens differ, and as which positions they are turned."""
    wrong = [call for call in calls if call.wrong.any()]
    if not wrong:
        return
    first, number = wrong[0], sum(call.wrong.sum() for call in wrong)
    kind = "call" if what == "token" else "table"
    row, token = np.argwhere(first.wrong)[0].tolist()
    place = int(first.positions[row, token])
    turned, due = first.turned[0], reference.due(np.array([place]))[0]
    k = np.nan_to_num(np.abs(turned - due), nan=np.inf).argmax()
    one, other = reference.pairs[k].tolist()
    worst = plain(max(call.off for call in wrong), 2)
    words = f"{number} of {sum(call.wrong.size for call in calls)} {what}s"
    words += f" differ, by up to {worst}. The first is {what} {token}"
    words += f" of row {row}" * (len(first.wrong) > 1)
    words += f", at position {place}, in a {kind} {first.name}: columns {one}"
    words += f" and {other} are turned by {plain(np.angle(turned[k]))}"
    words += f" radians, where {plain(np.angle(due[k]))} is due"
    if not abs(abs(turned[k]) - abs(due[k])) <= reference.tolerance:
        words += f", and become {plain(abs(turned[k]))} times as long, where"
        words += f" {plain(abs(due[k]))} is due"
    values = {"call": first.name, "row": row, "token": token}
    values |= {"position": place, "columns": (one, other)}
    values |= {"turned": complex(turned[k]), "due": complex(due[k])}
    report.add(f"{what}s", f"{words}.", number=int(number), **values)

    # As which positions they are turned, and what all of these are.
    where, read, found = {}, {}, []
    for call in wrong:
        rows, tokens = np.nonzero(call.wrong)
        at = runs("row", rows) + ", " if len(call.wrong) > 1 else ""
        where.setdefault(call.name, f"{call.name} ({at}{runs(what, tokens)})")
        own = call.positions[rows, tokens][:6].tolist()
        turned_as = reference.read_back(call.turned)
        read.setdefault(call.name, (own, turned_as))
        of_row_0 = call.positions[0, tokens]
        for each in zip(turned_as, own, tokens, of_row_0, strict=False):
            if isinstance(each[0], int) and each[0] != each[1]:
                found.append(each)
    common = ""
    if len(found) > 2:
        as_, own, token, of_row_0 = np.array(found).T
        by = as_[0] - own[0]
        after = f"{abs(by)} {'after' if by > 0 else 'before'} their own"
        for words, position in (
            ("the number of the token", token),
            ("that of row 0", of_row_0),
            (after, own + by),
        ):
            if np.array_equal(position, as_):
                common += f" All {len(found)} that were read back are {words}."
    listed = []
    for name in [*read][: 1 if common else 4]:
        own, as_ = (", ".join(map(str, places)) for places in read[name])
        as_ = read[name][1][0] if len({*read[name][1]}) == 1 else as_
        listed.append(f"{own} as {as_} in a {kind} {name}")
    words = f"Positions are turned: {'; '.join(listed)}.{common}"
    report.add("turned as", words, calls=read)

    # In which calls, or else at which positions.
    right = [*dict.fromkeys(c.name for c in calls if c.name not in where)]
    bad = np.concatenate([call.positions[call.wrong] for call in calls])
    good = np.concatenate([call.positions[~call.wrong] for call in calls])
    if np.isin(bad, good).any():
        listed = [*where.values()]
        if len(listed) > 8:  # the last one may be the first call again
            listed[7:-1] = ["more kinds"]
        few = ", ".join(right) if len(right) < 12 else "all others"
        words = f"{kind.capitalize()}s {'; '.join(listed)} differ."
        words += f" Right are {few}." if right else " None are right."
    else:
        words = f"In all {kind}s, these differ, and no others:"
        words += f" {runs('position', bad)}."
    report.add("calls", words, differ=[*where], right=right)


def refuse_by_the_call(calls: list[Call], reference: Reference) -> None:
    """Refuse a function that turns otherwise in longer or farther calls."""
    for call in calls:
        moved = (np.abs(call.turned - 1) > reference.tolerance).any(axis=0)
        moved &= reference.rates == 0
        if moved.any():
            columns = runs("column", reference.pairs[moved].flat)
            words = f"where {columns} stay, but not in a call {call.name}"
            refuse("In the first call, pairs", reference.rates, words)
        at = call.positions[call.wrong][:3]
        if np.diff(at).tolist() != [1, 1] or at[2] > 63:
            continue
        one, next_one = np.angle(call.turned[1:3] * call.turned[:2].conj())
        evenly = np.abs(next_one - one).max() < 0.01
        others = np.ptp(one - reference.rates) > 0.01
        read = reference.read_back(call.turned[:1])
        if evenly and others and read == ["no position"]:
            words = "and otherwise in the first call"
            refuse(f"In a call {call.name}, pairs", one, words)
