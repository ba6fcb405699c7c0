"""Review position encoders: tables of sinusoids, and rotary functions."""

from .rotary import review_rotary
from .tables import CONVENTIONS, Review, convention_of, review

__all__ = ["CONVENTIONS", "Review", "convention_of", "review", "review_rotary"]
