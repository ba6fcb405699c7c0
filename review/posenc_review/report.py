"""Say what differs, in numbers, and never why: readers find that out."""

from dataclasses import dataclass, field

import numpy as np

from . import measure
from .measure import Call, Reference, Sample, bases_near, refine


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


def shorten(words: list[str], dots: str = "...", most: int = 3) -> list[str]:
    """Put dots between the first words and the last if there are many."""
    if len(words) > most + 1:
        return [*words[:most], dots, words[-1]]
    return words


def write(*numbers: float) -> str:
    """Write numbers to five digits: "500000, 0.25, 0.00001, ..., 7"."""
    words = []
    for number in numbers:
        rounded = 0.0 if abs(number) < 1e-12 else float(f"{number:.5g}")
        words.append(np.format_float_positional(rounded, trim="-"))
    return ", ".join(shorten(words)) if len({*words}) > 1 else words[0]


def write_whole(numbers: np.ndarray) -> str:
    """Write whole numbers, each once: "0 to 4", or "0, 3, 5, ..., 99"."""
    each = np.unique(numbers).tolist()
    if 2 < len(each) == each[-1] - each[0] + 1:
        return f"{each[0]} to {each[-1]}"
    return ", ".join(shorten([str(number) for number in each]))


def write_pairs(which: np.ndarray) -> str:
    """Write which pairs are meant: "2 of 8 pairs (3, 5)"."""
    numbers = write_whole(np.flatnonzero(which))
    return f"{which.sum()} of {len(which)} pairs ({numbers})"


def read_lengths(
    report: Report, sample: Sample, reference: Reference
) -> Reference:
    """Say which pairs have other lengths, and return a reference with them.

    The first token is left out, since tables may keep row 0 for padding.
    """
    due, sizes = reference.lengths, np.abs(sample.near[1:])
    measured = np.median(sizes, axis=0)
    bound = max(reference.tolerance, measure.OTHER_LENGTH)
    spread = np.quantile(np.abs(sizes - measured), measure.STEADY, axis=0)
    other = (spread <= bound) & (np.abs(measured - due) > bound)
    if other.any():
        words = f"{write_pairs(other)} become {write(*measured[other])} times"
        words += f" as long, where {write(*due[other])} is due."
        report.add("lengths", words, measured=measured)
    return reference._replace(lengths=np.where(other, measured, due))


def refuse_by_the_call(
    near: np.ndarray, far: np.ndarray, reference: Reference
) -> None:
    """Refuse a function that turns steadily, but otherwise with far positions.

    Args:
        near: The rotations at 64 successive positions, `[64, pairs]`.
        far: Those of 1, 2, 4, 8, ... positions in one call, `[powers, pairs]`.
        reference: What is forgiven.
    """
    measured = refine(np.angle(far[0]), far)
    steady = reference._replace(frequencies=measured)
    if not steady.differ(2 ** np.arange(len(far)), far).any():
        others = Sample(near, near[measure.SHARED]).frequencies()
        words = f"Pairs turn by {write(*others)} radians per position in a"
        words += f" call of near positions, and by {write(*measured)} in one"
        words += " with far ones. Such functions are only reviewed"
        raise OutOfReachError(f"{words} with base= or frequencies=.")


def read_frequencies(
    report: Report,
    sample: Sample,
    reference: Reference,
    asked: dict[str, np.ndarray],
    rotated: int,
) -> Reference:
    """Say which pairs have other frequencies, and return a reference with all.

    They are held to the nearest that are asked for, or of a base if none are.
    A pair differs if the frequency measured of it misses fewer tokens.
    """

    def misses(frequencies: np.ndarray) -> np.ndarray:
        """Count the tokens that pairs miss, `[pairs]`."""
        return sample.misses(reference._replace(frequencies=frequencies))

    def nearest(named: dict[str, np.ndarray]) -> str:
        """Name the frequencies that miss the fewest tokens."""
        return min(named, key=lambda name: misses(named[name]).sum())

    measured = sample.frequencies()
    bases = bases_near(measured, rotated)
    name, base = nearest(asked or bases), nearest(bases)
    due = (asked or bases)[name]
    other = misses(measured) < measure.FEWER * misses(due)
    if not other.any():
        report.convention = name
        return reference._replace(frequencies=due)
    off = other & (abs(measured - due) > measure.OTHER_FREQUENCY * abs(due))
    if not asked and off[due != 0].mean() > measure.OTHER_PAIRS:
        words = f"Pairs turn by {write(*measured)} radians per position, which"
        words += " follow no single base. Such functions are only reviewed"
        raise OutOfReachError(f"{words} with base= or frequencies=.")
    words = write_frequencies(measured, due, other, name)
    if misses(bases[base]).any():
        report.convention = "other frequencies"
        measured = np.where(other, measured, due)
    else:
        words += f". All are those of {base}"
        report.convention, measured = base, bases[base]
    report.add("frequencies", f"{words}.", measured=measured, due=due)
    return reference._replace(frequencies=measured)


def write_frequencies(
    measured: np.ndarray, due: np.ndarray, other: np.ndarray, name: str
) -> str:
    """Write which pairs have other frequencies than those of a name."""
    words = f"{write_pairs(other)} turn by {write(*measured[other])} radians"
    words += f" per position, not by {write(*due[other])} as with {name}"
    if due[other].all():
        words += f" ({write(*measured[other] / due[other])} times)"
    return words


def say_first(
    report: Report, calls: list[Call], reference: Reference, pairs: np.ndarray
) -> None:
    """Say how many tokens differ, and describe the first of them.

    Of its pairs `[pairs, 2]` that differ, the farthest off is described.
    """
    call = next(call for call in calls if call.wrong.any())
    row, token = np.argwhere(call.wrong)[0].tolist()
    position = int(call.positions[row, token])
    rotations, place = call.rotations[0], np.array([position])
    expected = reference.rotations(place)[0]
    differ = reference.differ(place, rotations[None])[0]
    off = np.nan_to_num(np.abs(rotations - expected), nan=np.inf)
    pair = np.where(differ, off, -1).argmax()
    turned, due = complex(rotations[pair]), complex(expected[pair])
    columns = pairs[pair].tolist()
    number = sum(int(call.wrong.sum()) for call in calls)
    words = f"{number} of {sum(call.wrong.size for call in calls)} differ. The"
    words += f" first is token {token} of row {row}, at position {position},"
    words += f" in a call {call.name}: columns {columns[0]} and {columns[1]}"
    words += f" are turned by {write(np.angle(turned))} radians, where"
    words += f" {write(np.angle(due))} is due"
    if not abs(abs(turned) - abs(due)) <= reference.tolerance:
        words += f", and become {write(abs(turned))} times as long, where"
        words += f" {write(abs(due))} is due"
    values = {"number": number, "call": call.name, "row": row, "token": token}
    values |= {"position": position, "columns": columns}
    report.add("tokens", f"{words}.", turned=turned, due=due, **values)


def say_calls(report: Report, calls: list[Call], reference: Reference) -> None:
    """Say in which calls tokens differ, and as which positions they turn."""
    differ, moves = {}, []
    farthest = max(int(np.abs(call.positions).max()) for call in calls)
    for call in calls:
        if call.name in differ or not call.wrong.any():
            continue
        numbers = np.nonzero(call.wrong)[1]
        token = "token" if len({*numbers}) == 1 else "tokens"
        moved = read_back(call, reference, farthest)
        words = f"{call.name} ({token} {write_whole(numbers)}: "
        differ[call.name] = f"{words}{write_moves(moved)})"
        moves += moved
    words = "; ".join(shorten([*differ.values()], "others", 2))
    names = dict.fromkeys(call.name for call in calls)
    right = [name for name in names if name not in differ]
    words = f"Calls {words} differ. {where_right(calls, right)}"
    words += in_common(moves)
    report.add("calls", words, differ=[*differ], right=right)


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
        other = reference.read_back(rotations, farthest)
        if other not in (own, None):
            moved.append((own, other, token, call.positions[0, token]))
    return moved


def write_moves(moved: list[tuple[int, int, int, int]]) -> str:
    """Write as which positions tokens are turned."""
    if not moved:
        return "turned as no other position"
    (own, other, *_), *more = moved
    words = [f"position {own} turned as {other}"]
    return ", ".join(words + [f"{own} as {other}" for own, other, *_ in more])


def where_right(calls: list[Call], right: list[str]) -> str:
    """Say which positions alone differ, or else which calls are right."""
    bad = np.concatenate([call.positions[call.wrong] for call in calls])
    good = np.concatenate([call.positions[~call.wrong] for call in calls])
    if not good.size:
        return "All tokens differ."
    if not np.isin(bad, good).any():
        return f"Only positions {write_whole(bad)} differ."
    if not right:
        return "Each call has tokens that differ."
    if len(right) < 12:
        return f"Calls {', '.join(right)} are right."
    return "All other calls are right."


def in_common(moves: list[tuple[int, int, int, int]]) -> str:
    """Say what three or more positions that were read back have in common."""
    common = ""
    if len(moves) < 3:
        return common
    own, other, token, of_row_0 = np.array(moves).T
    by = other[0] - own[0]
    more = "more" if by > 0 else "less"
    for words, expected in {
        "the token's number in its row": token,
        "those of row 0": of_row_0,
        f"{abs(by)} {more} than the token's own": own + by,
    }.items():
        if np.array_equal(other, expected):
            common += f" All {len(moves)} positions read back are {words}."
    return common
