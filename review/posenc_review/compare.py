"""Compare calls with the formula, and say what differs. Nothing says why."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .measure import Call, Rates, Reference, geometric, lost, rates


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


class Held(NamedTuple):
    """What a function is held to."""

    turning: int  # so many pairs turn, the others stay
    known: list[tuple[str, np.ndarray]]  # names of frequencies, and these
    free: bool  # whether others are right as well
    length: float  # by how much vectors should become longer
    tolerance: float  # how far a number may be off
    step: float  # numbers just below 1 are so far apart


def reference_for(
    report: Report, near: Call, far: Call, pairs: np.ndarray, held: Held
) -> tuple[Reference, str]:
    """Read how the first pairs turn, and say what differs.

    Returns:
        What calls are compared with: what is due, or else what was measured.
    """
    count = held.turning
    seen = rates(near.turned[:, :count], far.turned[:, :count], held.step)
    due, words = read_frequencies(report, seen, held)
    lengths = np.median(np.abs(near.turned[1:]), axis=0)
    due_lengths = np.where(np.arange(len(lengths)) < count, held.length, 1)
    off = np.abs(lengths - due_lengths) > max(held.tolerance, 1e-3)
    if off.any():
        ends = np.quantile(lengths[off], (0, 1))
        said = " to ".join(dict.fromkeys(plain(end, 4) for end in ends))
        said = f"Vectors become {said} times as long in"
        said += f" {runs('pair', np.flatnonzero(off))} of {len(off)}, where"
        said += f" {plain(due_lengths[off][0])} is due."
        report.add("lengths", said, measured=lengths, due=due_lengths)
    missed = np.where(seen.differ(due), 0, np.abs(seen.beyond(due)))
    doubt = np.where(due == seen.measured, seen.doubt, 0)
    still = np.zeros(len(lengths) - count)
    reference = Reference(
        pairs,
        np.append(due, still),
        np.where(off, lengths, due_lengths),
        np.append(lost(due) + missed + doubt, still),
        held.tolerance,
    )
    return reference, ", clockwise" * bool(due.sum() < 0) + f", {words}"


def read_frequencies(
    report: Report, seen: Rates, held: Held
) -> tuple[np.ndarray, str]:
    """Say which frequencies differ, and return those of a function."""
    follows, size = seen.series(), np.abs(seen.measured)
    if held.free and follows and follows.usual:
        return follows.frequencies, follows.words
    if held.free and len(size) == 1:
        return seen.measured, f"{plain(size[0])} radians per position"
    known = held.known
    if len(known[0][1]) != len(size):
        return seen.measured, "other frequencies"
    if held.free and seen.evenly and size.all() and len(size) > 2:
        slope = np.median(np.diff(np.log(size)))
        base = float(f"{np.exp(-slope * len(size)):.3g}")
        due = np.sign(seen.measured.sum()) * geometric(base, len(size))
        known = [*known, (f"base {base:.6g}", due)]
    most = [seen.differ(due, 0.02).mean() for _, due in known]
    (words, due), others = known[np.argmin(most)], min(most)
    off = seen.differ(due)
    if not off.any():
        return due, words
    if not seen.evenly:  # calls will tell more
        return due, f"compared with {words}" if held.free else words

    measured = due + seen.beyond(due)
    pairs, times = np.flatnonzero(off), measured / due
    said = f"{len(pairs)} of {len(due)} pairs ({runs('pair', pairs)}) turn"
    if held.free and others > 0.25:
        listed = [plain(rate, 4) for rate in seen.measured]
        listed[6:-1] = ["..."] * (len(listed) > 7)
        said = "Radians per position, without whole turns, are"
        said += f" {', '.join(listed)}."
        # No known scaling turns pairs both ways, or further than a radian.
        both_ways = np.ptp(np.sign(seen.measured)) > 0
        refused = not (follows or both_ways or size.max() > 1.001)
        if refused and not report.findings:
            words = "They follow no single base, which is not reviewed without"
            raise OutOfReachError(f"{said} {words} base= or frequencies=.")
    elif np.ptp(times[off]) < 1e-3 * np.abs(times[off]).max():
        said += f" {plain(np.median(times[off]))} times as fast as with"
        said += f" {words}."
    else:
        few = pairs if len(pairs) < 5 else [*pairs[:3], pairs[-1]]
        listed = [
            f"pair {k} by {plain(measured[k])} radians per position, not"
            f" {plain(due[k])} ({plain(times[k])} times)"
            for k in few
        ]
        said += f" otherwise than with {words}: {'; '.join(listed)}."
    words, due = "other frequencies", np.where(off, seen.measured, due)
    if follows:
        words, due = follows.words, follows.frequencies
        said += f" All are those of {words}."
    report.add("frequencies", said, pairs=pairs, measured=measured)
    return due, words


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
    worst = plain(max(call.off.max() for call in wrong), 2)
    words = f"{number} of {sum(call.wrong.size for call in calls)} {what}s"
    words += f" differ, by up to {worst}. The first is {what} {token}"
    words += f" of row {row}" * (len(first.wrong) > 1)
    words += f", at position {place}, in a {kind} {first.name}: columns {one}"
    words += (
        f" and {other} are turned by {plain(np.angle(turned[k]))} radians,"
    )
    words += f" where {plain(np.angle(due[k]))} is due"
    if not abs(abs(turned[k]) - abs(due[k])) <= reference.tolerance:
        words += f", and become {plain(abs(turned[k]))} times as long, where"
        words += f" {plain(abs(due[k]))} is due"
    values = {"call": first.name, "row": row, "token": token}
    values |= {"position": place, "columns": (one, other)}
    values |= {"turned": complex(turned[k]), "due": complex(due[k])}
    report.add(f"{what}s", f"{words}.", number=int(number), **values)

    # As which positions they are turned, and what all of these are.
    where, found, read = {}, [], {}
    for call in wrong:
        rows, tokens = np.nonzero(call.wrong)
        at = runs("row", rows) + ", " if len(call.wrong) > 1 else ""
        where.setdefault(call.name, f"{call.name} ({at}{runs(what, tokens)})")
        own = call.positions[rows, tokens][:6].tolist()
        turned_as = reference.read_back(call.turned)
        read.setdefault(call.name, (own, turned_as))
        others = tokens, call.positions[0, tokens], call.positions[rows, 0]
        for each in zip(turned_as, own, *others, strict=False):
            if isinstance(each[0], int) and each[0] != each[1]:
                found.append(each)
    common = ""
    if len(found) > 2:
        as_, own, token, of_row_0, start = np.array(found).T
        by = as_[0] - own[0]
        after = f"{abs(by)} {'after' if by > 0 else 'before'} their own"
        for words, position in (
            ("the number of the token", token),
            ("that of row 0", of_row_0),
            ("the position less the first of its row", own - start),
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
    right = [*dict.fromkeys(c.name for c in calls if c.name not in where)]
    bad = np.concatenate([call.positions[call.wrong] for call in calls])
    good = np.concatenate([call.positions[~call.wrong] for call in calls])
    if np.isin(bad, good).any():
        listed = [*where.values()][:8] + ["more kinds"] * (len(where) > 8)
        few = ", ".join(right) if len(right) < 12 else "all others"
        words = f"{kind.capitalize()}s {'; '.join(listed)} differ."
        words += f" Right are {few}." if right else " None are right."
    else:
        words = f"In all {kind}s, these differ, and no others:"
        words += f" {runs('position', bad)}."
    report.add("calls", words, differ=[*where], right=right)


def refuse_unknown(
    report: Report, calls: list[Call], reference: Reference
) -> None:
    """Refuse columns of another axis, and what scales by the call."""
    wrong = [call for call in calls if call.wrong.any()]
    if not wrong or wrong[0] is calls[0] or report.findings:
        return
    off = np.any([call.off for call in wrong], axis=0) & (reference.rates == 0)
    if off.any():
        said = runs("column", reference.pairs[off].flat)
        raise OutOfReachError(
            f"{said.capitalize()} change in a call {wrong[0].name}, and not in"
            " the first call. Two axes are not reviewed."
        )
    for call in wrong:
        at = call.positions[call.wrong][:3]
        if len(at) < 3 or at[2] > 63 or (np.diff(at) != 1).any():
            continue
        turns = np.angle(call.turned[1:3] * call.turned[:2].conj())
        evenly = np.abs(turns[1] - turns[0]).max() < 0.01
        others = np.ptp(turns[0] - reference.rates) > 0.01
        if (
            evenly
            and others
            and "no position" in reference.read_back(call.turned[:1])
        ):
            listed = ", ".join(plain(turn, 4) for turn in turns[0, :6])
            raise OutOfReachError(
                f"In a call {call.name}, pairs turn by {listed}, ... radians"
                " per position, and otherwise in the first call, which is not"
                " reviewed without base= or frequencies=."
            )
