"""Say what differs, in numbers, and never why: readers find that out."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from . import measure
from .measure import Call, Reference, Rotary, Sample, Table


class OutOfReachError(ValueError):
    """The function may be right, but is of a kind that is not reviewed."""


@dataclass
class Report:
    """What differs from the reference. Print it to read it."""

    convention: str = "unknown"
    findings: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict] = field(default_factory=dict)  # their numbers
    looked_at: str = ""

    def add(self, kind: str, words: str, **values: object) -> None:
        """Add a finding of a kind, with its numbers."""
        self.findings[kind], self.values[kind] = words, values

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"- {kind}: {words}" for kind, words in self.findings.items()]
        lines.append(f"Findings: {len(lines)}. Convention: {self.convention}.")
        return "\n".join([*lines, self.looked_at]).strip()


def shorten(words: Iterable[str], most: int = 3, mark: str = ", ") -> str:
    """Join words; of many, the first ones and the last, with dots between."""
    words = [*words]
    if len(words) > most + 1:
        words[most:-1] = ["..."]
    return mark.join(words)


def write(numbers: np.ndarray, digits: int = 5) -> str:
    """Write numbers to some digits: "0.25", or "1, 0.31623, 0.1, ..., 7"."""
    words = []
    for number in np.where(np.abs(numbers) < measure.NOTHING, 0.0, numbers):
        rounded = float(f"{number:.{digits}g}")
        words.append(np.format_float_positional(rounded, trim="-"))
    return shorten(words if len({*words}) > 1 else words[:1])


def write_both(measured: np.ndarray, due: np.ndarray) -> tuple[str, str]:
    """Write numbers and those due to as many digits as tell them apart."""
    off = np.abs(measured - due) / np.maximum(np.abs(due), measure.NOTHING)
    least = np.min(off[off > measure.NOTHING], initial=1.0)
    digits = max(5, 2 + int(-np.log10(least)))
    return write(measured, digits), write(due, digits)


def write_whole(numbers: np.ndarray) -> str:
    """Write whole numbers, each once: "0 to 4", or "0, 3, 5, ..., 99"."""
    each = np.unique(numbers)
    if 2 < len(each) == each[-1] - each[0] + 1:
        return f"{each[0]} to {each[-1]}"
    return shorten(map(str, each))


def write_pairs(which: np.ndarray) -> str:
    """Write which pairs are meant: "2 of 8 pairs (3, 5)"."""
    numbers = write_whole(np.flatnonzero(which))
    return f"{which.sum()} of {len(which)} pairs ({numbers})"


def examine(
    report: Report,
    source: Rotary | Table,
    calls: list[tuple[str, np.ndarray]],
    asked: dict[str, np.ndarray],
    reference: Reference,
) -> None:
    """Ask, measure, make the reference, compare call after call, and say.

    The first two calls are measured: 64 successive positions, and 1, 2, 4,
    8, ... more than the first of these, which may be followed by the last
    position of all. All calls are compared.
    """
    near, far = (source.rotations(*call) for call in calls[:2])
    last = int(calls[1][1].max() - calls[0][1].min())
    powers, shared = far[: last.bit_length()], near[measure.SHARED]
    off = np.abs(powers[: len(shared)] - shared).max()
    if not off <= 2 * reference.tolerance:  # the second call turns otherwise
        # What has a memory answers otherwise again, and that is no scaling.
        again = [source.rotations(*call) for call in (calls[1], calls[0])]
        if not asked and all(map(np.array_equal, again, (far, near))):
            refuse_by_the_call(near, powers, reference)
        powers = shared
    sample = Sample(near, powers)
    reference = read_lengths(report, sample, reference)
    reference, name = read_frequencies(
        report, sample, reference, asked, source.rotated
    )
    if isinstance(source, Rotary):
        report.convention += f", {name}"

    compared = []
    for call_name, positions in calls:
        rotations = source.rotations(call_name, positions)
        wrong = reference.differ(positions.ravel(), rotations).any(axis=1)
        some = rotations[np.flatnonzero(wrong)[:3]]
        wrong = wrong.reshape(positions.shape)
        compared.append(Call(call_name, positions, wrong, some))
    if any(call.wrong.any() for call in compared):
        say_first(report, compared, reference, source.pairs)
        say_calls(report, compared, reference)
    farthest = max(call.positions.max() for call in compared)
    rows, tokens = np.max([call.positions.shape for call in compared], axis=0)
    most = "1 row" if rows == 1 else f"{rows} rows"
    report.looked_at = (
        f"Looked at: positions {calls[0][1][0, 0]} to {farthest},"
        f" {len(calls)} calls of up to {tokens} tokens and {most}."
    )


def read_lengths(
    report: Report, sample: Sample, reference: Reference
) -> Reference:
    """Say which pairs have other lengths, and return a reference with them.

    The first token is left out, since tables may keep row 0 for padding.
    """
    due, sizes = reference.lengths, np.abs(sample.near[1:])
    measured = np.median(sizes, axis=0)
    bound = max(reference.tolerance, measure.OTHER_LENGTH)
    off = np.abs(sizes - measured)
    spread = np.quantile(off, measure.MOST_TOKENS, axis=0)
    other = (spread <= bound) & (np.abs(measured - due) > bound)
    if other.any():
        words = "{} become {} times as long, where {} is due."
        both = write_both(measured[other], due[other])
        words = words.format(write_pairs(other), *both)
        report.add("lengths", words, measured=measured)
    return reference._replace(lengths=np.where(other, measured, due))


def refuse_by_the_call(
    near: np.ndarray, far: np.ndarray, reference: Reference
) -> None:
    """Refuse a function that turns steadily, but otherwise with far positions.

    Rotations are those of a `Sample`: `near` of one call, `far` of another.
    """
    measured = measure.refine(np.angle(far[0]), far)
    of_far = reference._replace(frequencies=measured)
    if not of_far.differ(2 ** np.arange(len(far)), far).any():
        others = Sample(near, near[measure.SHARED]).frequencies()
        words = f"Pairs turn by {write(others)} radians per position in a"
        words += f" call of near positions, and by {write(measured)} in one"
        words += " with far ones. Such functions are only reviewed"
        raise OutOfReachError(f"{words} with base= or frequencies=.")


def read_frequencies(
    report: Report,
    sample: Sample,
    reference: Reference,
    asked: dict[str, np.ndarray],
    rotated: int,
) -> tuple[Reference, str]:
    """Say which pairs have other frequencies than are asked for.

    They are held to the nearest of these, or of a base if none are asked for.
    A pair has others if the frequency measured of it misses fewer tokens.

    Returns:
        A reference with the frequencies that pairs have, and their name.
    """
    measured = sample.frequencies()
    bases = measure.bases_near(measured, rotated)
    name, missed = sample.nearest(reference, asked or bases)
    due = (asked or bases)[name]
    of_measured = sample.misses(reference._replace(frequencies=measured))
    other = of_measured < measure.FEWER * missed
    if not other.any():
        return reference._replace(frequencies=due), name
    far = other & (abs(measured - due) > measure.OTHER_FREQUENCY * abs(due))
    turning = np.abs(measured).max() > measure.NOTHING
    meant = turning and far[due != 0].mean() > measure.OTHER_PAIRS
    if meant and not asked:
        words = f"Pairs turn by {write(measured)} radians per position, which"
        words += " follow no single base. Such functions are only reviewed"
        raise OutOfReachError(f"{words} with base= or frequencies=.")
    words = write_frequencies(measured, due, other, name)
    name, missed = sample.nearest(reference, bases)
    frequencies = bases[name]
    if missed.any():
        name, frequencies = "other frequencies", np.where(other, measured, due)
    else:
        words += f". All are those of {name}"
    report.add("frequencies", f"{words}.", measured=frequencies, due=due)
    return reference._replace(frequencies=frequencies), name


def write_frequencies(
    measured: np.ndarray, due: np.ndarray, other: np.ndarray, name: str
) -> str:
    """Write which pairs have other frequencies than those of a name."""
    turned, due = measured[other], due[other]
    words = "{} turn by {} radians per position, not by {} as with {}"
    both = write_both(turned, due)
    words = words.format(write_pairs(other), *both, name)
    if due.all():
        times, _ = write_both(turned / due, np.ones(len(due)))
        words += f" ({times} times)"
    return words


def say_first(
    report: Report, calls: list[Call], reference: Reference, pairs: np.ndarray
) -> None:
    """Say how many tokens differ, and describe the first of them.

    Of its pairs `[pairs, 2]` that differ, the farthest off is described.
    """
    call = next(call for call in calls if call.wrong.any())
    row, token = np.argwhere(call.wrong)[0].tolist()
    place = call.positions[row, token][None]
    expected = reference.rotations(place)[0]
    wrong = reference.differ(place, call.rotations[:1])[0]
    off = np.nan_to_num(np.abs(call.rotations[0] - expected), nan=np.inf)
    pair = np.where(wrong, off, -1).argmax()
    columns = pairs[pair].tolist()
    turned, due = call.rotations[:1, pair], expected[[pair]]
    number = sum(int(call.wrong.sum()) for call in calls)
    words = f"{number} of {sum(call.wrong.size for call in calls)} differ. The"
    words += f" first is token {token} of row {row}, at position {place[0]},"
    words += f" in a call {call.name}: columns {columns[0]} and {columns[1]}"
    words += " are turned by {} radians, where {} is due"
    words = words.format(*write_both(np.angle(turned), np.angle(due)))
    if not abs(abs(turned) - abs(due)) <= reference.tolerance:
        words += ", and become {} times as long, where {} is due"
        words = words.format(*write_both(abs(turned), abs(due)))
    values = {"number": number, "call": call.name, "row": row, "token": token}
    values |= {"position": int(place[0]), "columns": columns}
    values |= {"turned": complex(turned[0]), "due": complex(due[0])}
    report.add("tokens", f"{words}.", **values)


def say_calls(report: Report, calls: list[Call], reference: Reference) -> None:
    """Say in which calls tokens differ, and as which positions they turn."""
    described, moves = {}, []
    farthest = max(int(np.abs(call.positions).max()) for call in calls)
    for call in calls:
        if call.name in described or not call.wrong.any():
            continue
        numbers = np.unique(np.nonzero(call.wrong)[1])
        token = "token" if len(numbers) == 1 else "tokens"
        moved = read_back(call, reference, farthest)
        as_which = [f"{own} as {other}" for own, other, *_ in moved]
        as_which = ", ".join(as_which).replace(" as", " turned as", 1)
        as_which = f"position {as_which}" if moved else "turned as no other"
        words = f"{call.name} ({token} {write_whole(numbers)}: {as_which})"
        described[call.name] = words
        moves += moved
    right = {call.name: 0 for call in calls if call.name not in described}
    words = shorten(described.values(), 2, "; ")
    words = f"Tokens differ in calls {words}. {where_right(calls, [*right])}"
    words += in_common(moves)
    report.add("calls", words, differ=[*described], right=[*right])


def read_back(
    call: Call, reference: Reference, farthest: int
) -> list[tuple[int, int, int, int]]:
    """Read back as which position the first tokens that differ are turned.

    Returns:
        For each that is turned as one other: its position, the other one, its
        number in its row, and the position of this number in row 0.
    """
    moved = []
    places = np.argwhere(call.wrong)
    for (row, token), rotations in zip(places, call.rotations, strict=False):
        own = call.positions[row, token]
        other = reference.position_of(rotations, farthest)
        if other not in (own, None):
            moved.append((own, other, token, call.positions[0, token]))
    return moved


def where_right(calls: list[Call], right: list[str]) -> str:
    """Say which positions alone differ, or else which calls are right."""
    bad = np.concatenate([call.positions[call.wrong] for call in calls])
    good = np.concatenate([call.positions[~call.wrong] for call in calls])
    if not np.isin(bad, good).any():
        return f"Only positions {write_whole(bad)} differ."
    if not right:
        return "Each call has tokens that differ."
    if len(right) < 12:
        return f"Calls {', '.join(right)} are right."
    return "All other calls are right."


def in_common(moves: list[tuple[int, int, int, int]]) -> str:
    """Say what three or more positions that were read back have in common."""
    if len(moves) < 3:
        return ""
    own, other, token, of_row_0 = np.array(moves).T
    by = other[0] - own[0]
    for words, expected in {
        "the token's number in its row": token,
        "those of row 0": of_row_0,
        f"{abs(by)} {'more' if by > 0 else 'less'} than the token's own": own
        + by,
    }.items():
        if np.array_equal(other, expected):
            return f" All {len(moves)} positions read back are {words}."
    return ""
