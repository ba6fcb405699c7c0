"""Review position encodings: tables of sinusoids, and rotary functions.

To read it, begin with `hypothesis`, how columns turn; `changes`, what may be
changed in that; and `explain`. For rotary functions go on with `rotary`, which
tells the steps: `asking` (are positions read), `pairs` (which columns turn
together), `frequencies` (which base they follow), `sweep` (every position),
`config` and `held` (what a model asks for), `seen` (what is reported). For
tables: `conventions`, `tables`, `table_causes`.
`report`, `rounding` and `settings` serve both.
"""

from .conventions import CONVENTIONS, convention_of
from .report import Finding, Review
from .rotary import review_rotary
from .tables import review

__all__ = [
    "CONVENTIONS",
    "Finding",
    "Review",
    "convention_of",
    "review",
    "review_rotary",
]
