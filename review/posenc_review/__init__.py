"""Review position encodings: rotary functions, and tables of sinusoids.

Each is compared with the formula in float64 (`formula`), in many kinds of
calls (`rotary`) or row by row (`tables`). What differs is explained by the
first known change of the formula (`changes`). `measure` sees which columns
are pairs and how fast they turn, `asked` what a function is held to, and
`report` says it. `adapters` are for functions of other shapes.
"""

from .asked import read_config
from .measure import LAYOUTS
from .report import Finding, OutOfReachError, Review
from .rotary import review_rotary
from .tables import CONVENTIONS, review

__all__ = [
    "CONVENTIONS",
    "LAYOUTS",
    "Finding",
    "OutOfReachError",
    "Review",
    "read_config",
    "review",
    "review_rotary",
]
