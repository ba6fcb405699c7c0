"""Round numbers to shorter formats, and tell these again."""

from collections.abc import Callable

import numpy as np

# Between two numbers just below 1.
STEP = {
    "bfloat16": 2.0**-8,
    "float16": 2.0**-11,
    "TensorFloat-32": 2.0**-11,
    "float32": 2.0**-24,
}


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
    return np.ldexp(np.round(fraction * 2**8), exponent - 8)


def to_tensor_float(values: object) -> np.ndarray:
    """Round to TensorFloat-32: 11 binary digits, the range of float32."""
    fraction, exponent = np.frexp(to_float32(values))
    return np.ldexp(np.round(fraction * 2**11), exponent - 11)


FORMATS: dict[str, Callable[[object], np.ndarray]] = {
    "bfloat16": to_bfloat16,
    "float16": to_float16,
    "TensorFloat-32": to_tensor_float,
    "float32": to_float32,
}


def format_of(values: np.ndarray) -> str:
    """Name the shortest format that holds all numbers, or some 65 000."""
    telling = values[np.isfinite(values) & ~np.isin(values, (-1, 0, 1))]
    some = telling[: 2**16]
    for name in ("bfloat16", "float16", "float32"):
        if len(some) and np.array_equal(FORMATS[name](some), some):
            return name
    return "float64"
