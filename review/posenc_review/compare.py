"""Compare calls with a formula, and say what differs.

Nothing says why. Whoever reads a report is to find that out.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class OutOfReachError(ValueError):
    """The function may be right, but is of a kind that is not reviewed."""


@dataclass
class Report:
    """What differs from the formula. Print it to read it."""

    convention: str = "unknown"
    findings: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict] = field(default_factory=dict)  # their numbers
    looked_at: str = ""

    def add(self, kind: str, words: str, **values: object) -> None:
        """Add a finding of a kind, with its numbers."""
        self.findings[kind], self.values[kind] = words, values

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"- {kind}: {said}" for kind, said in self.findings.items()]
        lines.append(f"Findings: {len(lines)}. Convention: {self.convention}.")
        return "\n".join([*lines, self.looked_at]).strip()


def few(*numbers: float) -> str:
    """Write numbers as people do: "500000, 0.25, 0.00001, ..., 7"."""
    said = []
    for number in numbers:
        rounded = 0.0 if abs(number) < 1e-12 else float(f"{number:.5g}")
        said.append(np.format_float_positional(rounded, trim="-"))
    if len({*said}) == 1:
        return said[0]
    said[3:-1] = ["..."] * (len(said) > 4)
    return ", ".join(said)


def numbered(which: np.ndarray) -> str:
    """Write whole numbers: "0 to 4", or "0, 3, 5, ..., 99"."""
    numbers = np.unique(which).tolist()
    if 2 < len(numbers) == numbers[-1] - numbers[0] + 1:
        return f"{numbers[0]} to {numbers[-1]}"
    said = [str(number) for number in numbers]
    said[3:-1] = ["..."] * (len(said) > 4)
    return ", ".join(said)


def listed(which: np.ndarray) -> str:
    """Say which pairs are meant: "2 of 8 pairs (3, 5)"."""
    numbers = numbered(np.flatnonzero(which))
    return f"{which.sum()} of {len(which)} pairs ({numbers})"


class Formula(NamedTuple):
    """By what hands are multiplied, an entry for each pair."""

    rates: np.ndarray  # radians per position
    lengths: np.ndarray  # by how much it becomes longer
    tolerance: float
    float32: bool  # whether to forgive what it loses

    @property
    def lost(self) -> np.ndarray:
        """Return the radians per position that float32 may lose.

        It rounds position, base, exponent, power and product, and a frequency
        once more for each pair where it is made from the one before.
        """
        roundings = 16 + 2 * np.arange(len(self.rates))
        return roundings * np.abs(self.rates) * 2.0**-24 * self.float32

    def due(self, positions: np.ndarray) -> np.ndarray:
        """Return by what hands are multiplied at some positions."""
        angles = np.multiply.outer(positions, self.rates)
        return self.lengths * np.exp(1j * angles)

    def misses(self, positions: np.ndarray, turned: np.ndarray) -> np.ndarray:
        """Tell which hands differ, `[tokens, pairs]`; those of NaN do."""
        off = np.abs(turned - self.due(positions))
        forgiven = np.multiply.outer(np.abs(positions), self.lost)
        return ~(off <= self.lengths * (self.tolerance + forgiven))

    def read_back(self, hands: np.ndarray, most: int) -> int | None:
        """Return the only position as which a token is turned, if any."""
        places = np.arange(-most, most + 1)
        for k in np.abs(self.rates).argsort()[::-1]:  # the fastest first
            waves = self.lengths[k] * np.exp(1j * places * self.rates[k])
            allowed = self.tolerance + self.lost[k] * np.abs(places)
            places = places[np.abs(waves - hands[k]) < 3 * allowed]
        return int(places[0]) if len(places) == 1 else None


def read_frequencies(
    report: Report,
    formula: Formula,
    hands: tuple[np.ndarray, np.ndarray],
    bases: dict[str, np.ndarray],
    known: dict[str, np.ndarray],
) -> tuple[str, np.ndarray]:
    """Say which frequencies differ, and return those of a function.

    It is held to the nearest that are known, or to any base if none are.
    A pair differs if what is measured of it fits more of its hands.
    """

    def misses(rates: np.ndarray) -> np.ndarray:
        return formula._replace(rates=rates).misses(*hands).sum(axis=0)

    def nearest(named: dict[str, np.ndarray]) -> str:
        return min(named, key=lambda name: misses(named[name]).sum())

    words, follows = nearest(known or bases), nearest(bases)
    due, measured = (known or bases)[words], formula.rates
    off = misses(measured) < misses(due) / 2
    if not off.any():
        return words, due
    beyond = np.angle(np.exp(1j * (measured - due)))  # but for whole turns
    far = (off & (np.abs(beyond) > np.abs(due) / 50))[due != 0]
    if not known and far.mean() > 0.25:
        refuse(measured, "which follow no single base")
    measured = np.where(off, due + beyond, due)
    said = f"{listed(off)} turn by {few(*measured[off])} radians per position,"
    said += f" not by {few(*due[off])} as with {words}"
    if due[off].all():
        said += f" ({few(*measured[off] / due[off])} times)"
    words = "other frequencies"
    if not misses(bases[follows]).any():
        words, measured = follows, bases[follows]
        said += f". All are those of {follows}"
    report.add("frequencies", f"{said}.", measured=measured, due=due)
    return words, measured


def refuse(frequencies: np.ndarray, why: str) -> None:
    """Refuse a function whose frequencies may be meant."""
    words = f"Pairs turn by {few(*frequencies)} radians per position, {why}."
    words += " Such functions are only reviewed with base= or frequencies=."
    raise OutOfReachError(words)


class Compared(NamedTuple):
    """A call that was compared."""

    name: str
    positions: np.ndarray  # [rows, tokens]
    wrong: np.ndarray  # [rows, tokens]
    turned: np.ndarray  # the first tokens that differ, [tokens, pairs]


def say_first(
    report: Report, calls: list[Compared], formula: Formula, pairs: np.ndarray
) -> None:
    """Say how many tokens differ, and describe the first of them."""
    call = next(call for call in calls if call.wrong.any())
    row, token = np.argwhere(call.wrong)[0].tolist()
    position = int(call.positions[row, token])
    turned, due = call.turned[0], formula.due(np.array(position))
    missed = formula.misses(np.array([position]), turned[None])[0]
    off = np.nan_to_num(np.abs(turned - due), nan=np.inf)
    k = np.where(missed, off, -1).argmax()
    turned, due, columns = complex(turned[k]), complex(due[k]), pairs[k]
    number = int(sum(call.wrong.sum() for call in calls))
    words = f"{number} of {sum(call.wrong.size for call in calls)} differ. The"
    words += f" first is token {token} of row {row}, at position {position},"
    words += f" in a call {call.name}: columns {columns[0]} and {columns[1]}"
    words += f" are turned by {few(np.angle(turned))} radians, where"
    words += f" {few(np.angle(due))} is due"
    if not abs(abs(turned) - abs(due)) <= formula.tolerance:
        words += f", and become {few(abs(turned))} times as long, where"
        words += f" {few(abs(due))} is due"
    values = {"number": number, "call": call.name, "row": row, "token": token}
    values |= {"position": position, "columns": columns.tolist()}
    report.add("tokens", f"{words}.", turned=turned, due=due, **values)


def say_calls(report: Report, calls: list[Compared], formula: Formula) -> None:
    """Say in which calls tokens differ, and as which positions."""
    where, moved = {}, []
    most = max(int(np.abs(call.positions).max()) for call in calls)
    for call in calls:
        if call.name in where or not call.wrong.any():
            continue
        rows, tokens = np.nonzero(call.wrong)
        read = []
        for row, token, hands in zip(rows, tokens, call.turned, strict=False):
            own = call.positions[row, token]
            as_ = formula.read_back(hands, most)
            if as_ not in (own, None):
                read.append(f"{own} as {as_}")
                moved.append((as_, token, call.positions[0, token], own))
        read = f"turned {', '.join(read) or 'as no other'}"
        where[call.name] = f"{call.name} (tokens {numbered(tokens)}: {read})"
    listed = [*where.values()]
    listed[4:-1] = ["others"] * (len(listed) > 5)  # the last comes once more
    words = f"Calls {'; '.join(listed)} differ."

    bad = np.concatenate([call.positions[call.wrong] for call in calls])
    good = np.concatenate([call.positions[~call.wrong] for call in calls])
    right = [*dict.fromkeys(c.name for c in calls if c.name not in where)]
    if not good.size:
        words += " All tokens differ."
    elif np.isin(bad, good).any():
        some = ", ".join(right) if len(right) < 12 else "all others"
        words += f" Right are {some or 'none'}."
    else:
        words += f" No other positions than {numbered(bad)} differ."
    if len(moved) > 2:
        as_, token, of_row_0, own = np.array(moved).T
        by = as_[0] - own[0]
        after = f"{abs(by)} {'more' if by > 0 else 'less'} than their own"
        for common, expected in {
            "the number of the token": token,
            "that of row 0": of_row_0,
            after: own + by,
        }.items():
            if np.array_equal(as_, expected):
                words += f" All {len(as_)} that were read back are {common}."
    report.add("calls", words, differ=[*where], right=right)
