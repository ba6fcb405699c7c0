"""Round numbers to the formats of 16 and 32 bits, and tell them again."""

from collections.abc import Callable
from typing import NamedTuple

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
# Between two numbers just below 1.
STEP = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24}


def format_of(values: np.ndarray) -> str:
    """Name the shortest format that holds all these numbers exactly."""
    finite = values[np.isfinite(values)]
    if np.all(np.isin(finite, (-1, 0, 1))):  # these tell nothing
        return "float64"
    for name, rounded in FORMATS.items():
        if np.array_equal(rounded(finite), finite):
            return name
    return "float64"


STAGES = (  # of an angle, at which it may be rounded
    ("positions",),
    ("angles",),
    ("speeds",),
    ("positions", "angles"),
    ("speeds", "positions"),
    ("speeds", "angles"),
    ("speeds", "positions", "angles"),
)


class Rounding(NamedTuple):
    """To which format angles are rounded on their way, and at which stages."""

    format: str = ""
    stages: tuple[str, ...] = ()

    def angles(self, positions: object, speeds: np.ndarray) -> np.ndarray:
        """Return each position times each speed, with that rounding."""
        rounded = FORMATS.get(self.format)
        positions = np.asarray(positions, float)
        if "speeds" in self.stages:
            speeds = rounded(speeds)
        if "positions" in self.stages:
            positions = rounded(positions)
        with np.errstate(invalid="ignore"):  # infinity times 0, in float16
            angles = np.multiply.outer(positions, speeds)
        return rounded(angles) if "angles" in self.stages else angles

    def words(self) -> str:
        """Say what is rounded to what."""
        *most, last = self.stages
        said = f"{', '.join(most)} and {last}" if most else last
        return f"{said.capitalize()} are rounded to {self.format}"


EXACT = Rounding()
ROUNDINGS = [
    Rounding(name, stages)
    for stages in STAGES
    for name in ("bfloat16", "float16")
]
