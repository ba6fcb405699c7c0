"""Round numbers to the formats of 16 and 32 bits, and tell them again."""

from collections.abc import Callable

import numpy as np


def to_float16(values: object) -> np.ndarray:
    """Round to float16: 11 binary digits; beyond 65504 is infinity."""
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(np.float16).astype(float)


def to_float32(values: object) -> np.ndarray:
    """Round to float32: 24 binary digits."""
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(np.float32).astype(float)


def to_bfloat16(values: object) -> np.ndarray:
    """Round to bfloat16: 8 binary digits, with the range of float32."""
    fraction, exponent = np.frexp(to_float32(values))
    return np.ldexp(np.round(fraction * 256), exponent - 8)


FORMATS: dict[str, Callable] = {
    "bfloat16": to_bfloat16,
    "float16": to_float16,
    "float32": to_float32,
}
STEP = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24}


def format_of(values: np.ndarray) -> str:
    """Name the shortest format that holds all these numbers exactly."""
    finite = values[np.isfinite(values)]
    for name, rounded in FORMATS.items():
        if np.array_equal(rounded(finite), finite):
            return name
    return "float64"
