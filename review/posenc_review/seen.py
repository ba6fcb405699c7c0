"""What was seen of a rotary function, and how a review says it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .asking import Rotation
from .frequencies import Plan, suggestion
from .held import Asked
from .pairs import NO_PAIRS, Pairs
from .report import Finding, Review, plain
from .rounding import STEP

NO_PLAN = Plan(np.empty(0))


class HiddenError(Exception):
    """What was found hides the rest, so that there is no more to look at."""


@dataclass
class Seen:
    """What has been seen so far; the steps of `rotary` fill it in."""

    rotation: Rotation
    asked: Asked
    findings: list[Finding] = field(default_factory=list)
    answer: np.ndarray | None = None  # to the first call
    matrices: np.ndarray | None = None  # of the first positions
    misread: list[Finding] = field(default_factory=list)  # positions
    format: str = ""  # the shortest that holds the matrices
    pairs: Pairs = NO_PAIRS
    plan: Plan = NO_PLAN
    clockwise: bool = False
    length: float = 1.0  # by which vectors are stretched, as a config asks
    positions: int = 0  # how many were looked at, from 0 on
    alone: int = 0  # and how many of them in calls of one token
    error: np.ndarray | None = None  # of each position, if all are right

    @property
    def precision(self) -> float:
        """Return by how much, relatively, a frequency may be off."""
        return max(2e-6, 2 * STEP.get(self.format, 0))

    def stop_if(self, findings: list[Finding]) -> None:
        """Keep findings, and if there are any, look no farther."""
        self.findings += findings
        if findings:
            raise HiddenError

    def review(self) -> Review:
        """Return it as a review, in words and for programs."""
        pairs, plan, rotation = self.pairs, self.plan, self.rotation
        asked = str(self.asked.config or "")
        looked_at = (
            f"calls of up to {rotation.most_tokens} tokens,"
            f" batches of up to {rotation.most_rows}"
            f" row{'s' * (rotation.most_rows > 1)}"
        )
        if self.alone:
            looked_at += f", {self.alone} positions in calls of one token"
        if self.positions:
            looked_at = f"positions 0 to {self.positions - 1}, {looked_at}"
        error = None
        if self.error is not None:
            error, off = float(self.error.max()), "below 1e-8"
            if error >= 1e-8:
                off = f"{plain(error, 1)}, at position {self.error.argmax()}"
            looked_at += f". Largest error: {off}"
        return Review(
            tuple(self.findings),
            self.convention(),
            f"Looked at: {looked_at}." if rotation.most_rows else "",
            notes=tuple(self.notes()),
            asked=asked,
            fields={
                "layout": pairs.name,
                "partners": pairs.columns[~pairs.still].tolist(),
                "columns": pairs.turning,
                "width": rotation.width,
                "base": plan.base if np.isfinite(plan.base) else None,
                "divided_by": plan.divided_by,
                "clockwise": self.clockwise,
                "length": self.length,
                "positions": self.positions,
                "longest_call": rotation.most_tokens,
                "largest_batch": rotation.most_rows,
                "asked_alone": self.alone,
                "error": error,
                "asked": asked,
            },
        )

    def convention(self) -> str:
        """Name the convention, or "unknown"."""
        pairs, plan = self.pairs, self.plan
        if not len(plan.frequencies):
            return "unknown"
        is_part, start = pairs.turning < pairs.width, pairs.columns.min()
        said = [
            (True, pairs.name),
            (is_part, f"{pairs.turning} of {pairs.width} columns"),
            (is_part and start, f"from column {start}"),
            (plan.exponents, "exponents of the head"),
            (self.clockwise, "clockwise"),
            (np.isfinite(plan.base), f"base {plain(plan.base, 5)}"),
            (plan.divided_by != 1, f"linear by {plain(plan.divided_by)}"),
            (plan.parts, f"by parts ({plan.parts})"),
            (plan.scaling, plan.scaling),
            (self.length != 1, f"lengths by {plain(self.length, 5)}"),
        ]
        return ", ".join(words for is_so, words in said if is_so)

    def notes(self) -> Iterator[str]:
        """Say what is worth knowing, and is no finding."""
        pairs, asked, base = self.pairs, self.asked, self.plan.base
        counted = pairs.width if self.plan.exponents else pairs.columns.size
        cause = suggestion(base, counted)
        if cause:
            yield f"base {plain(base)} suggests {cause}."
        if asked.base is not None and np.isnan(base):
            yield "the base could not be seen, and is held to nothing."
        if asked.config is not None:
            yield from asked.config.notes
            if not asked.layout:
                yield (
                    "whether pairs are interleaved or half is held to"
                    " nothing, since configs do not say it; --layout does."
                )
