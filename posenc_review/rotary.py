"""Review a rotary function: `rotate(x, positions)`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .asked import LAYOUTS, Asked
from .calls import (
    batches,
    call_again,
    first_call,
    not_linear,
    positions_kept,
    positions_read,
)
from .config import read_config
from .far import look_far
from .near import RotaryConvention, look_near
from .probing import NEAR, NoAnswerError, Probe, Rotation, near_matrices
from .report import Finding, by_name, choices, first_where, plain
from .rounding import STEP, format_of
from .settings import FARTHEST, check_base, check_integer, check_tolerance
from .waves import suggestion

WIDTH = 64
WIDEST = 1024  # columns: 2 GB of memory; twice as many would take 8
POSITIONS = 131_072  # how many are looked at, unless told otherwise
TOLERANCE = 1e-4
UNKNOWN = RotaryConvention()


@dataclass(frozen=True)
class RotaryReview:
    """What a review found, and which convention it saw. Print it to read."""

    details: tuple[Finding, ...]
    convention: RotaryConvention = UNKNOWN
    positions: int = 0  # how many were looked at, from 0 on
    digits: str = ""
    notes: tuple[str, ...] = ()
    asked: str = ""  # by a config

    @property
    def findings(self) -> dict[str, str]:
        """What is wrong, by name."""
        return by_name(self.details)

    def __str__(self) -> str:
        """Give each finding a line, then say what else was seen."""
        lines = [f"The config asks for {self.asked}."] if self.asked else []
        lines += [f"- {name}: {said}" for name, said in self.findings.items()]
        count = f"Findings: {len(self.findings)}."
        lines.append(f"{count} Convention: {self.convention}.")
        if self.positions:
            digits = f" {self.digits}." if self.digits else ""
            lines.append(f"Positions: 0 to {self.positions - 1}.{digits}")
        lines += [f"Note: {note}" for note in self.notes]
        return "\n".join(lines)

    def as_dict(self) -> dict:
        """Return what JSON can hold."""
        seen = self.convention._asdict()
        seen["base"] = seen["base"] if np.isfinite(seen["base"]) else None
        return {
            "findings": [each.as_dict() for each in self.details],
            "convention": str(self.convention),
            **seen,
            "positions": self.positions,
            "digits": self.digits,
            "asked": self.asked,
            "notes": list(self.notes),
            "exit_code": int(bool(self.details)),
        }


def review_rotary(
    rotate: Callable[[np.ndarray, np.ndarray], object],
    width: int | None = None,
    *,
    base: float | None = None,
    layout: str = "",
    config: str | Path | dict | None = None,
    layers: str = "",
    max_len: int | None = None,
    tolerance: float = TOLERANCE,
) -> RotaryReview:
    """Look at a rotary function: what it follows, and what is wrong.

    Args:
        rotate: A callable of `x`, floats `[batch, seq_len, width]`, and
            `positions`, integers `[batch, seq_len]`; the result is like `x`.
            Both come as NumPy arrays; NumPy reads the result.
        width: The columns of `x`; those of the config, else 64.
        base: What it is held to, such as 10000; else any base is right.
        layout: "interleaved" or "half" to hold it to one of them.
        config: A Hugging Face `config.json` to hold it to, or its dict.
        layers: Which layers of the config, where they differ.
        max_len: How many positions to look at; those of the config, else
            131 072.
        tolerance: How far a number may be off, beside what float32 loses.

    Returns:
        What is wrong, in `findings` (an empty dict if nothing is), and which
        convention was seen. Rotary embeddings are those of Su et al. 2021,
        "RoFormer".

    Raises:
        OSError: If there is no such config.
        TypeError, ValueError: If a setting makes no sense, by its name.
    """
    settings = None
    if layers and config is None:
        raise ValueError(f"{layers=}: these are layers of a config; give it")
    if config is not None:
        settings = read_config(config, layers, width)
        width = settings.width
        max_len = settings.max_len if max_len is None else max_len
    width = WIDTH if width is None else width
    max_len = POSITIONS if max_len is None else max_len
    asked = Asked(base, layout, settings)
    check_settings(width, asked, max_len, tolerance)

    try:
        found = look(Rotation(rotate, width), asked, max_len, tolerance)
    except NoAnswerError as trouble:
        words = f"It answers some calls and fails in others: {trouble}."
        found = RotaryReview((Finding("result", words),))
    return replace(found, asked=str(settings) if settings else "")


def check_settings(
    width: int, asked: Asked, max_len: int, tolerance: float
) -> None:
    """Raise an error that names the first setting that makes no sense."""
    check_integer("width", width, 2, WIDEST)
    check_integer("max_len", max_len, NEAR, FARTHEST)
    if asked.layout not in ("", *LAYOUTS):
        known = choices(LAYOUTS)
        raise ValueError(f"layout={asked.layout!r}: give one of {known}")
    if asked.base is not None:
        check_base(asked.base)
    check_tolerance(tolerance)


def look(
    rotation: Rotation, asked: Asked, max_len: int, tolerance: float
) -> RotaryReview:
    """Look at how it answers, how pairs turn, and how they do far out."""
    try:
        first = first_call(rotation)
    except NoAnswerError as trouble:
        words = f"Asked for positions 0 to 3, it fails: {trouble}."
        if rotation.width % 2:
            words += " Columns turn in pairs, and the width is odd."
        else:
            words += " If it makes a table, leave out --rotary."
        return RotaryReview((Finding("result", words),))
    findings = call_again(rotation, first, "twice")
    findings = findings or not_linear(rotation)
    if findings:
        return RotaryReview(tuple(findings))
    findings += batches(rotation)
    matrices, cut = all_near(rotation)
    findings += cut
    values = format_of(matrices)
    near = max(2e-6, 2 * STEP.get(values, 0))
    misread = positions_kept(rotation, matrices, near)
    misread += positions_read(rotation, matrices, near)
    findings += misread

    looked = look_near(matrices, asked, near)
    findings += looked.findings
    if looked.seen is None:
        return RotaryReview(tuple(findings))
    digits, positions = "", len(matrices)
    if looked.seen.evenly:
        probe = None
        if not misread and len(looked.seen.hands.seen) == NEAR:
            probe = Probe(rotation, looked.seen.layout, looked.seen.shuffle)
        far = look_far(probe, looked.seen, max_len, near, tolerance)
        findings += far.findings
        digits, positions = far.digits, far.last + 1
    if values in ("bfloat16", "float16"):
        digits = f"Results in {values}"
    findings += few_digits(values, tolerance)
    findings += input_changed(rotation)
    findings += call_again(rotation, first, "after all others")
    notes = notes_on(looked.convention)
    if misread:
        notes.append("positions farther out were not looked at.")
    return RotaryReview(
        tuple(findings),
        looked.convention,
        positions,
        digits,
        tuple(notes),
    )


def all_near(rotation: Rotation) -> tuple[np.ndarray, list[Finding]]:
    """Ask for the first positions, or for as many as it answers."""
    try:
        return near_matrices(rotation, NEAR), []
    except NoAnswerError as error:
        trouble = str(error)

    def fails(count: int) -> bool:
        try:
            near_matrices(rotation, count)
        except NoAnswerError:
            return True
        return False

    first = first_where(fails, 4, NEAR)  # 4 were answered before
    words = f"Position {first - 1} is the first to fail: {trouble}."
    finding = Finding("far", words, first - 1)
    return near_matrices(rotation, first - 1), [finding]


def notes_on(convention: RotaryConvention) -> list[str]:
    """Say what is worth to know of a convention, and is no finding."""
    notes = []
    size = convention.width if convention.proportional else convention.columns
    cause = suggestion(convention.base, size)
    if cause:
        notes.append(f"base {plain(convention.base)} suggests {cause}.")
    return notes


def few_digits(values: str, tolerance: float) -> list[Finding]:
    """Say that results, or sines and cosines, are rounded to 16 bits."""
    if values not in ("bfloat16", "float16") or STEP[values] / 2 <= tolerance:
        return []
    words = (
        f"Sines and cosines, or the result, are rounded to {values}: by up to"
        f" {plain(STEP[values] / 2, 2)}."
    )
    return [Finding("digits", words)]


def input_changed(rotation: Rotation) -> list[Finding]:
    """Name the arguments that the function has changed."""
    return [
        Finding("input", f"{name} is changed in place.")
        for name in sorted(rotation.changed)
    ]
