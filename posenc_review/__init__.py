"""Review position encoders: tables of sinusoids, and rotary functions."""

from .conventions import CONVENTIONS, convention_of
from .rotary import RotaryConvention, RotaryReview, review_rotary
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
