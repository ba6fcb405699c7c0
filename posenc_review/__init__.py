"""Review position encodings: tables of sinusoids, and rotary functions.

To read it, begin with `report` (what is said) and `waves` (bases from
speeds). For tables: `conventions`, `tables` (the checks of notebook 07),
`causes`. For rotary functions: `rotary`, which tells the steps; `calls`
(are positions read), `probing`, `turning` and `near` (how pairs turn), `far`
(caches, rounding), `asked` and `config` (what it is held to). `settings`,
`reading` and `rounding` serve both.
"""

from .conventions import CONVENTIONS, convention_of
from .near import RotaryConvention
from .rotary import RotaryReview, review_rotary
from .tables import Review, review

__all__ = [
    "CONVENTIONS",
    "Review",
    "RotaryConvention",
    "RotaryReview",
    "convention_of",
    "review",
    "review_rotary",
]
