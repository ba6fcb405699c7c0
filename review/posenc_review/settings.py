"""Check what a caller asks for, and read what a function returns."""

import math
import sys
from numbers import Integral, Real

import numpy as np

MUCH = 2**25  # numbers to look at
LARGE = 1e30  # settings that are larger make no sense


def say_if_long(positions: int, columns: int, memory: float) -> None:
    """Say on stderr, before it begins, what takes long or much memory.

    Args:
        positions: How many are to be looked at.
        columns: Of each of them.
        memory: How many bytes will be held.
    """
    count = positions * columns
    if count <= MUCH and memory <= 5e8:
        return
    minutes = "a minute" if count <= 8 * MUCH else "some minutes"
    words = (
        f"Looking at {positions} x {columns} numbers: this may take {minutes}"
        f" and {memory / 1e9:.1f} GB of memory; a smaller max_len is faster."
    )
    print(words, file=sys.stderr)


def check_function(name: str, value: object) -> None:
    """Raise an error that names an argument which is no function."""
    if not callable(value):
        raise TypeError(f"{name}={shown(value)}: give a function")


def check_integer(name: str, value: object, low: int, high: int) -> None:
    """Raise an error that names a setting which is no integer in a range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={shown(value)}: give an integer")
    if not low <= value <= high:
        raise ValueError(f"{name}={shown(value)}: give {low} to {high}")


def check_number(name: str, value: object, above: float | None = None) -> None:
    """Raise an error that names a setting which is no number in a range.

    It has to be above a number, or if there is none, 0 or more.
    """
    read = number(value)
    if above is None:
        is_right, wanted = 0 <= read < LARGE, "of 0 or more"
    else:
        is_right, wanted = (
            above < read < LARGE,
            f"above {above} and below {LARGE:g}",
        )
    if not is_right:
        raise ValueError(f"{name}={shown(value)}: give a number {wanted}")


def number(value: object) -> float:
    """Return a number as a float; NaN for what is none, or too large."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def shown(value: object) -> str:
    """Return how Python writes a value, cut where that is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:30]}..."


def numbers(made: object) -> np.ndarray:
    """Return a list, an array, a PyTorch or TensorFlow tensor as float64.

    Raises:
        ValueError: If it holds complex numbers, text, or no numbers at all.
    """
    if made is None:
        raise ValueError("it returns None")
    if hasattr(made, "detach"):  # PyTorch; its bfloat16 needs the `double`
        made = made.detach().cpu().double()
    array = np.asarray(made)
    if np.iscomplexobj(array):
        raise ValueError("the numbers are complex")
    if array.dtype.kind in "US":
        raise ValueError("it returns text")
    try:
        return array.astype(np.float64)
    except TypeError:
        kind = type(made).__name__
        raise ValueError(f"it returns no numbers, but: {kind}") from None


def describe_error(error: BaseException) -> str:
    """Name an error and what it says, on one line."""
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}".removesuffix(": ")
