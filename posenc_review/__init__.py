"""Review position encoders: tables of sinusoids, and rotary functions."""

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
