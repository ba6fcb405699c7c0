"""What is said of measurements. No sentence says why."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from .measure import SHOWN, Compared, Rates, Reference, series

EVERY = np.arange(-(2**17), 2**17)  # positions that tokens may be turned as


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
    rounded = float(f"{number:.{digits}g}") + 0.0  # not -0
    return np.format_float_positional(rounded, trim="-")


def runs(what: str, numbers: Iterable[int]) -> str:
    """Write "pair 7", or "pairs 3 to 5, 7"; only the first few runs."""
    ordered = np.unique(np.array(list(numbers), int))
    said = []
    for run in np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1):
        said.append(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}")
    said[SHOWN:] = ["and more"] * (len(said) > SHOWN)
    return f"{what}{'s' * (len(ordered) > 1)} {', '.join(said)}"


def frequencies(
    report: Report, seen: Rates, due: np.ndarray, off: np.ndarray, words: str
) -> None:
    """Say which pairs turn otherwise than is due, and how."""
    pairs, times = np.flatnonzero(off), seen.measured[off] / due[off]
    values = {"pairs": pairs, "measured": seen.measured, "due": due}
    said = f"{len(pairs)} of {len(due)} pairs ({runs('pair', pairs)}) turn"
    if np.abs(times + 1).max() < 0.01:
        way = "clockwise" if due[off].sum() > 0 else "counterclockwise"
        report.add("sign", f"{said} {way}, where the other way is due.")
        return
    if np.ptp(times) < 1e-3 * np.abs(times).max():
        said += f" {plain(np.median(times))} times as fast as with"
        said += f" {words}."
    else:
        listed = [
            f"pair {k} by {plain(seen.measured[k])} radians per position, not"
            f" {plain(due[k])} ({plain(seen.measured[k] / due[k])} times)"
            for k in (pairs if len(pairs) < 5 else [*pairs[:3], pairs[-1]])
        ]
        said += f" otherwise than with {words}: {'; '.join(listed)}."
    follows = series(seen)
    if follows:
        said += f" All are those of {follows}."
    report.add("frequencies", said, **values)


def lengths(report: Report, seen: Rates, due: float, off: np.ndarray) -> None:
    """Say how much longer vectors become than they should."""
    ends = np.quantile(seen.length[off], (0, 1))
    said = " to ".join(dict.fromkeys(plain(end, 4) for end in ends))
    words = f"Vectors become {said} times as long in"
    words += f" {runs('pair', np.flatnonzero(off))} of {len(off)}, where"
    words += f" {plain(due)} is due."
    report.add("lengths", words, measured=seen.length, due=due)


def rotation(
    report: Report, matrices: np.ndarray, pairs: np.ndarray, slack: float
) -> None:
    """Say which pairs are not rotated, and what becomes of the first."""
    one, other = pairs.T
    a, b = matrices[:, one, one], matrices[:, one, other]
    c, d = matrices[:, other, one], matrices[:, other, other]
    off = np.maximum(np.abs(a - d), np.abs(b + c)) > slack
    if off.any():
        position, k = np.argwhere(off)[0]
        made = [plain(each[position, k], 4) for each in (a, c, b, d)]
        words = (
            f"{off.any(axis=0).sum()} of {len(pairs)} pairs are not turned:"
        )
        words += f" position {[0, 1, 2, 3, 40][position]} makes of columns"
        words += f" {one[k]} and {other[k]} ({made[0]}, {made[1]}) where they"
        words += f" were (1, 0), and ({made[2]}, {made[3]}) where (0, 1)."
        report.add("rotation", words)


def tokens(
    report: Report, calls: list[Compared], reference: Reference, what: str
) -> None:
    """Say how many tokens differ, which, and as what they were turned."""
    wrong = [call for call in calls if call.wrong.any()]
    if not wrong:
        return
    number = sum(int(call.wrong.sum()) for call in calls)
    every = sum(call.wrong.size for call in calls)
    worst, first = max(call.worst for call in wrong), wrong[0]
    row, token = first.places[0].tolist()
    place = int(first.positions[row, token])
    hands = reference.due(first.given[:1], np.array([place]))[0]
    due, made = hands.view(float), first.made[0].view(float)
    at = np.nan_to_num(np.abs(made - due), nan=np.inf).argmax()
    column = int(reference.pairs.ravel()[at])
    words = f"{number} of {every} {what}s differ, by up to {plain(worst, 2)}."
    words += f" The first is {what} {token}"
    if len(calls) > 1:
        words += f" of row {row}, at position {place}, in a call {first.name}"
    words += f": column {column} is {plain(made[at])}, where {plain(due[at])}"
    values = {"number": number, "of": every, "row": row, "token": token}
    values |= {"position": place, "column": column, "call": first.name}
    values |= {"made": float(made[at]), "due": float(due[at])}
    report.add(f"{what}s", f"{words} is due.", **values)
    turned_as(report, wrong, reference)
    if len(calls) > 1:
        which_calls(report, calls)


def turned_as(
    report: Report, wrong: list[Compared], reference: Reference
) -> None:
    """Say as which positions the first tokens of calls were turned."""
    read, by_call, found = reader(reference), {}, []
    for call in wrong:
        for pick, (row, token) in enumerate(call.places.tolist()):
            place = int(call.positions[row, token])
            turned = read(call.made[pick] / call.given[pick])
            turned = "itself" if turned == place else turned
            by_call.setdefault(call.name, {})[place] = turned
            if isinstance(turned, int):
                found.append((call.positions, row, token, turned))
    told = [turned for call in by_call.values() for turned in call.values()]
    if not found and set(told) <= {"no position", "itself"}:
        report.add("turned as", in_pairs(wrong[0], reference))
        return
    said, equal = [], [*equalities(found)] if len(found) > 2 else []
    for name, turned in [*by_call.items()][: 1 if equal else 4]:
        places = ", ".join(map(str, [*turned][:SHOWN]))
        became = ", ".join(map(str, [*turned.values()][:SHOWN]))
        said.append(f"{places} as {became}")
        said[-1] += f" in a call {name}" if name else ""
    words = f"Positions are turned: {'; '.join(said)}."
    for what in equal:
        words += f" All {len(found)} that were read back are {what}."
    report.add("turned as", words, calls=by_call)


def reader(reference: Reference) -> Callable[[np.ndarray], int | str]:
    """Return a function that says as which position a token was turned."""
    speed = np.abs(reference.rates)
    fastest = int(speed.argmax())
    every = np.exp(1j * EVERY * reference.rates[fastest])

    def read(hands: np.ndarray) -> int | str:
        if not np.isfinite(hands).all():
            return "NaN or infinity"
        if not hands.any():
            return "zero"
        hands, places, waves = hands / reference.length, EVERY, every
        for k in speed.argsort()[::-1]:
            if k != fastest:
                waves = np.exp(1j * places * reference.rates[k])
            slack = 2 * reference.forgiven[k] * np.abs(places)
            slack += 3 * max(reference.tolerance, 1e-4)
            places = places[np.abs(waves - hands[k]) < slack]
        return int(places[0]) if len(places) == 1 else "no position"

    return read


def equalities(found: list[tuple]) -> Iterator[str]:
    """Yield what all positions that were read back are equal to."""
    formulas = {  # of positions [rows, tokens], a row and a token
        "the number of the token": lambda p, row, token: token,
        "that of row 0": lambda p, row, token: p[0, token],
        "the position less the first of its row": (
            lambda p, row, token: p[row, token] - p[row, 0]
        ),
    }
    for words, formula in formulas.items():
        if all(read == formula(*where) for *where, read in found):
            yield words
    apart = {read - int(p[row, token]) for p, row, token, read in found}
    if len(apart) == 1:
        by = apart.pop()
        yield f"{abs(by)} {'after' if by > 0 else 'before'} their own"


def in_pairs(call: Compared, reference: Reference) -> str:
    """Say how far each pair is turned, of the first token that differs."""
    place = int(call.positions[tuple(call.places[0])])
    due = reference.due(call.given[:1], np.array([place]))[0]
    ratio = call.made[0] / due
    off = np.flatnonzero(~(np.abs(ratio - 1) <= reference.tolerance))
    listed = [
        f"pair {k} by {plain(np.angle(ratio[k]), 3)} radians beyond what is"
        f" due, {plain(np.abs(ratio[k]), 4)} times as long"
        for k in off[:3]
    ]
    words = f"No position gives what became of position {place}, where"
    words += f" {len(off)} of {len(due)} pairs differ:"
    return f"{words} {'; '.join(listed)}."


def rates_within(call: Compared) -> np.ndarray | None:
    """Return radians per position between the first two that differ."""
    places = call.positions[tuple(call.places[:2].T)]
    if len(places) < 2 or places[1] - places[0] != 1:
        return None
    one, other = call.made[:2] / call.given[:2]
    return np.angle(other * one.conj())


def which_calls(report: Report, calls: list[Compared]) -> None:
    """Say which calls differ, or which positions, if only these matter."""
    most = 1 + max(call.positions.max() for call in calls)
    bad, good = np.zeros((2, most), bool)
    where, right = {}, {}
    for call in calls:
        bad[call.positions[call.wrong]] = True
        good[call.positions[~call.wrong]] = True
        if call.wrong.any():
            where.setdefault(call.name, rows_and_tokens(call))
        right.setdefault(call.name, None)
    if not (bad & good).any():
        words = "Whatever the call, these differ, and no others:"
        words += f" {runs('position', np.flatnonzero(bad))}."
        report.add("calls", words, positions=np.flatnonzero(bad))
        return
    right = [name for name in right if name not in where]
    listed = [f"{name} ({at})" for name, at in where.items()][:8]
    listed += [f"{len(where) - 8} more kinds"] * (len(where) > 8)
    words = f"Calls {'; '.join(listed)} differ. Right are"
    words += f" {', '.join(right)}." if len(right) < 12 else " all others."
    most = largest_matters(calls)
    if most:
        words += f" Calls up to position {most[0]} are right, and all with"
        words += f" position {most[1]} or a larger one differ."
    report.add("calls", words, differ=[*where], right=right)


def rows_and_tokens(call: Compared) -> str:
    """Say which rows and tokens of a call differ."""
    rows = np.flatnonzero(call.wrong.any(axis=1))
    said = [runs("row", rows)] if len(call.wrong) > 1 else []
    if not call.wrong[rows].all() or not said:
        said.append(runs("token", np.flatnonzero(call.wrong.any(axis=0))))
    return ", ".join(said)


def largest_matters(calls: list[Compared]) -> tuple[int, int] | None:
    """Tell whether all calls with far positions differ, and no others.

    Returns:
        The largest position of right calls, and of the nearest wrong one.
    """
    most, nearest = {False: [0], True: []}, []
    for call in calls:
        most[bool(call.wrong.any())].append(int(call.positions.max()))
        nearest += call.positions[call.wrong].tolist()[:1]
    right, wrong = max(most[False]), min(most[True], default=0)
    both = 63 <= right < wrong and min(nearest) <= right
    return (right, wrong) if both else None
