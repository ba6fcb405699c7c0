"""Review position encodings: rotary functions, and tables of sinusoids.

Each is compared with a formula in float64, and what differs is explained by
the first known change of the formula. Read `report` first (findings, words,
answers), then `formula`, `measure` (which columns are pairs, and how fast they
turn), `changes` (what may be wrong), `asked` (what a function is held to),
`rotary` (in many kinds of calls) and `tables` (row by row). `adapters` are for
functions of other shapes.
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
