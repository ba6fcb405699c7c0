"""What a review says: findings, and numbers in words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Finding(NamedTuple):
    """One thing that is wrong, and where it shows."""

    name: str
    words: str
    position: int | None = None
    pair: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Review:
    """What a review found, and which convention it saw. Print it to read."""

    details: tuple[Finding, ...]
    convention: str = "unknown"
    looked_at: str = ""  # the last line
    held_to: str = ""  # another convention, if that one is not followed
    notes: tuple[str, ...] = ()
    asked: str = ""  # of the function, by a config
    fields: dict = field(default_factory=dict, repr=False)  # for programs

    @property
    def findings(self) -> dict[str, str]:
        """What is wrong, by name; sentences of one name are joined."""
        words: dict[str, str] = {}
        for name, said, *_ in self.details:
            words[name] = f"{words[name]} {said}" if name in words else said
        return words

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"The config asks for {self.asked}."] if self.asked else []
        lines += [f"- {name}: {said}" for name, said in self.findings.items()]
        held_to = f"; held to {self.held_to}" if self.held_to else ""
        count = f"Findings: {len(self.findings)}."
        lines.append(f"{count} Convention: {self.convention}{held_to}.")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join([*lines, self.looked_at]).strip()

    def as_dict(self) -> dict:
        """Return what JSON can hold; of places, those that are known."""
        details = [
            {k: v for k, v in each._asdict().items() if v is not None}
            for each in self.details
        ]
        return {
            "findings": details,
            "convention": self.convention,
            **self.fields,
            "notes": list(self.notes),
            "exit_code": int(bool(self.details)),
        }


def plain(number: float, digits: int = 6) -> str:
    """Write a number as people do: 500000, 0.25, 1.139."""
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-")


def roundest(number: float, spread: float) -> float:
    """Return a number of at most four digits near another, or that other."""
    for digits in range(4):
        short = float(f"{number:.{digits}e}")
        if abs(short - number) <= spread * abs(number):
            return short
    return float(number)


def runs(numbers: Iterable[int], most: int = 6) -> str:
    """Write whole numbers as runs: "0 to 5, 9"; only the first few runs."""
    ordered = np.unique(np.array(list(numbers), int))
    said = []
    for run in np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1):
        said.append(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}")
    if len(said) > most:
        said[most:] = ["and more"]
    return ", ".join(said)


def numbered(what: str, numbers: Iterable[int]) -> str:
    """Write "pair 7", or "pairs 3 to 5, 7"."""
    some = list(numbers)
    return f"{what}{'s' if len(some) > 1 else ''} {runs(some)}"


def first_where(is_wrong: Callable[[int], bool], good: int, bad: int) -> int:
    """Return the first wrong position, by halving the gap between two."""
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_wrong(middle) else (middle, bad)
    return bad
