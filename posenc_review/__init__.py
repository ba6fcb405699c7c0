"""Review position encodings: tables of sinusoids, and rotary functions.

To read it, begin with `hypothesis`: how columns turn, and at which stages
something may be changed. `changes` has the changes that are known, and
`explain` finds the one that explains all that is seen.

For rotary functions go on with `rotary`, which takes the steps: `calls` (are
positions read), `pairs` (which columns turn together), `turning` and
`frequencies` (what they turn by), `config` and `held` (what is asked for),
`sweep` (every position). For tables: `conventions`, `tables`, `encoder`,
`table_checks` (those of notebook 07), `table_causes`. `report`, `rounding` and
`settings` serve both.
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
