"""Check what a caller asks for, before any work."""

import math
from numbers import Integral, Real

FARTHEST = 2**53  # up to there, float64 holds every whole number


def check_integer(name: str, value: object, low: int, high: int) -> None:
    """Raise an error that names a setting which is no integer in a range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r}: give an integer")
    if not low <= value <= high:
        raise ValueError(f"{name}={value!r}: give {low} to {high}")


def check_base(base: object) -> None:
    """Raise an error if it is no number above 1."""
    if not 1 < number(base) < math.inf:
        raise ValueError(f"{base=}: give a number above 1")


def check_tolerance(tolerance: object) -> None:
    """Raise an error if it is no number of at least 0."""
    if not 0 <= number(tolerance) < math.inf:
        raise ValueError(f"{tolerance=}: give a number of 0 or more")


def number(value: object) -> float:
    """Return a number as a float; NaN for what is none, or too large."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan
