"""What a review says, and how it asks: findings, words, arguments, answers.

Everything here serves tables and rotary functions alike.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

LARGE = 1e30  # settings that are larger make no sense
MOST_RUNS = 6  # of pairs or columns that a sentence lists


class OutOfReachError(ValueError):
    """The function may be right, but is of a kind that is not reviewed."""


class Finding(NamedTuple):
    """One thing that is wrong."""

    name: str
    words: str


@dataclass(frozen=True)
class Review:
    """What a review found, and which convention it saw. Print it to read."""

    details: tuple[Finding, ...] = ()
    convention: str = "unknown"
    looked_at: str = ""  # the last line
    notes: tuple[str, ...] = ()
    asked: str = ""  # of the function, by a config

    @property
    def findings(self) -> dict[str, str]:
        """What is wrong, by name; sentences of one name are joined."""
        words: dict[str, str] = {}
        for finding in self.details:
            before = words.get(finding.name, "")
            words[finding.name] = f"{before} {finding.words}".strip()
        return words

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"The config asks for {self.asked}."] if self.asked else []
        lines += [f"- {name}: {said}" for name, said in self.findings.items()]
        count = len(self.findings)
        lines.append(f"Findings: {count}. Convention: {self.convention}.")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join([*lines, self.looked_at]).strip()


# Words.


def plain(number: float, digits: int = 6) -> str:
    """Write a number as people do: 500000, 0.25, 1.139."""
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-")


def numbered(what: str, numbers: Iterable[int]) -> str:
    """Write "Pair 7", or "Pairs 3 to 5, 7"; only the first few runs."""
    ordered = np.unique(np.array(list(numbers), int))
    breaks = np.flatnonzero(np.diff(ordered) > 1) + 1
    runs = []
    for run in np.split(ordered, breaks):
        runs.append(f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}")
    if len(runs) > MOST_RUNS:
        runs[MOST_RUNS:] = ["and more"]
    plural = "s" if len(ordered) > 1 else ""
    return f"{what}{plural} {', '.join(runs)}"


def shown(value: object) -> str:
    """Return how Python writes a value, cut where that is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:30]}..."


# Arguments.


def number(value: object) -> float:
    """Return a number as a float; NaN for what is none, or too large."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    return float(value) if abs(value) < LARGE else math.nan


def check(name: str, value: object, right: bool, wanted: str) -> None:
    """Raise an error that names a setting which is not right."""
    if not right:
        raise ValueError(f"{name}={shown(value)}: give {wanted}")


def check_above(name: str, value: object, low: float) -> None:
    """Raise an error that names a setting which is no number above another."""
    right = low < number(value) < LARGE
    check(name, value, right, f"a number above {low:g}")


def check_integer(name: str, value: object, low: int, high: int) -> None:
    """Raise an error that names a setting which is no integer in a range."""
    right = isinstance(value, Integral) and low <= value <= high
    check(name, value, right, f"an integer from {low} to {high}")


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Raise an error that names a setting which is none of the choices."""
    check(name, value, value in ("", *choices), f"one of {'; '.join(choices)}")


# Answers.


class Answer(NamedTuple):
    """What a call gave: numbers, or a sentence on what went wrong."""

    made: np.ndarray | None
    trouble: str = ""


def ask(function: Callable, *arguments: object) -> Answer:
    """Call a function, whatever it raises, and read what it returns."""
    try:
        with np.errstate(all="ignore"):
            return Answer(numbers(function(*arguments)))
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:200]
        trouble = f"{type(error).__name__}: {said}".removesuffix(": ")
        return Answer(None, trouble)


def numbers(made: object) -> np.ndarray:
    """Return a list, an array, a PyTorch or TensorFlow tensor as float64."""
    if hasattr(made, "detach"):  # PyTorch; its bfloat16 needs the `double`
        made = made.detach().cpu().double()
    array = np.asarray(made)
    if np.iscomplexobj(array):
        raise ValueError("the numbers are complex")
    if made is None or array.dtype.kind in "USO":
        kind = type(made).__name__
        raise ValueError(f"it returns no numbers, but: {kind}")
    return array.astype(np.float64)
