"""What a review says: findings, and how it prints them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np


class Finding(NamedTuple):
    """One thing that is wrong, and where it shows."""

    name: str
    words: str
    position: int | None = None
    pair: int | None = None
    column: int | None = None

    def as_dict(self) -> dict:
        """Return the name, the words, and those places that are known."""
        fields = self._asdict()
        return {
            name: fields[name] for name in fields if fields[name] is not None
        }


def by_name(findings: Iterable[Finding]) -> dict[str, str]:
    """Return the words of findings by name; those of one name are joined."""
    words: dict[str, list[str]] = {}
    for finding in findings:
        words.setdefault(finding.name, []).append(finding.words)
    return {name: " ".join(said) for name, said in words.items()}


def plain(number: float, digits: int = 6) -> str:
    """Write a number as people do: 500000, 0.25, 1.139.

    Args:
        number: Any number.
        digits: How many digits count, from the first that is not 0.
    """
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-")


def choices(names: Iterable[str]) -> str:
    """Write what one may choose from; names may hold commas."""
    return "; ".join(names)


def roundest_between(low: float, high: float) -> float:
    """Return a number of at most four digits between two, or their middle."""
    middle = (low + high) / 2
    for digits in range(4):
        number = float(f"{middle:.{digits}e}")
        if low <= number <= high:
            return number
    return middle


def counted(what: str, numbers: Iterable[int]) -> str:
    """Write "pair 7", or "pairs 3 to 5, 7"."""
    some = list(numbers)
    return f"{what}{'s' if len(some) > 1 else ''} {listed(some)}"


def listed(numbers: Iterable[int], most: int = 6) -> str:
    """Write whole numbers as runs: "0 to 5, 9"; only the first few runs."""
    runs: list[list[int]] = []
    for number in sorted({int(n) for n in numbers}):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    said = []
    for first, last in runs[:most]:
        if first == last:
            said.append(f"{first}")
        else:
            said.append(f"{first} to {last}")
    if len(runs) > most:
        said.append("and more")
    return ", ".join(said)


def first_where(is_wrong: Callable[[int], bool], good: int, bad: int) -> int:
    """Return the first wrong position, by halving the gap between two."""
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_wrong(middle):
            bad = middle
        else:
            good = middle
    return bad
