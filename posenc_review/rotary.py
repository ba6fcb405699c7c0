"""Review a rotary function: `rotate(x, positions)`, step by step."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .calls import (
    FIRST,
    NEAR,
    NoAnswerError,
    Rotation,
    asked_again,
    batches,
    columns_alone,
    first_matrices,
    positions_read,
)
from .config import read_config
from .explain import Evidence, Look, explain
from .frequencies import Plan, suggestion
from .held import Asked, plans_of
from .hypothesis import Hypothesis
from .pairs import LAYOUTS, Pairs, hands_of, pairs_of
from .report import Finding, Review, choices, plain
from .rounding import STEP, format_of
from .settings import check_base, check_integer, check_tolerance
from .sweep import Sweep
from .turning import odd_ones, turning_of, uneven_pairs

WIDTH = 64
WIDEST = 1024  # columns: 1 GB of memory
POSITIONS = 131_072  # how many are looked at, unless told otherwise
FARTHEST = 2**24  # positions: minutes
TOLERANCE = 1e-4


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
) -> Review:
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
    settings, plans = None, ()
    if layers and config is None:
        raise ValueError(f"{layers=}: these are layers of a config; give it")
    if width is not None:
        check_integer("width", width, 2, WIDEST)
    if config is not None:
        settings = read_config(config, layers, width)
        plans = plans_of(settings)
        width = settings.width
        max_len = settings.max_len if max_len is None else max_len
    width = WIDTH if width is None else width
    max_len = POSITIONS if max_len is None else max_len
    check_integer("width", width, 2, WIDEST)
    check_integer("max_len", max_len, NEAR, FARTHEST)
    if layout not in ("", *LAYOUTS):
        raise ValueError(f"{layout=}: give one of {choices(LAYOUTS)}")
    if base is not None:
        check_base(base)
    check_tolerance(tolerance)

    asked = Asked(base, layout, settings, plans, max_len, tolerance)
    looked = Looking(Rotation(rotate, width), asked)
    looked.take_steps()
    return Review(
        tuple(looked.findings),
        looked.convention(),
        looked.what_was_asked(),
        notes=tuple(looked.notes()),
        asked=str(settings) if settings else "",
        fields=looked.fields(),
    )


class Looking:
    """A look at a rotary function, and what has been seen so far."""

    def __init__(self, rotation: Rotation, asked: Asked):
        """Take the function, and what it is held to."""
        self.rotation, self.asked = rotation, asked
        self.findings: list[Finding] = []
        self.pairs: Pairs | None = None
        self.plan: Plan | None = None
        self.clockwise = False
        self.length = 1.0  # by which vectors are stretched, as a config asks
        self.positions = 0  # how many were looked at, from 0 on
        self.digits = ""

    def take_steps(self) -> None:
        """Look, until something is wrong that hides the rest."""
        try:
            self.first_calls()
            if self.findings:
                return
            misread = self.other_calls()
            if self.findings:
                return
            self.findings += batches(self.rotation)
            misread += positions_read(
                self.rotation, self.matrices, self.slack, self.asked.max_len
            )
            self.findings += misread
            model = self.first_positions()
            if model is not None:
                self.every_position(model, bool(misread))
            self.few_digits()
            for name in sorted(self.rotation.changed):
                words = f"{name} is changed in place."
                self.findings.append(Finding("input", words))
            if not any(each.name == "state" for each in self.findings):
                self.findings += self.asked_last()
        except NoAnswerError as trouble:
            words = f"It answers some calls and fails in others: {trouble}."
            self.findings[:] = [Finding("result", words)]
            self.pairs = None

    def first_calls(self) -> None:
        """Ask for positions 0 to 3, twice."""
        try:
            _, self.first = self.rotation.random(FIRST)
        except NoAnswerError as trouble:
            words = f"Asked for positions 0 to 3, it fails: {trouble}."
            if self.rotation.width % 2:
                words += " Columns turn in pairs, and the width is odd."
            else:
                words += " If it makes a table, leave out --rotary."
            self.findings.append(Finding("result", words))
            return
        self.findings += asked_again(self.rotation, self.first, "twice")

    def asked_last(self) -> list[Finding]:
        """Ask for the first positions once more."""
        return asked_again(self.rotation, self.first, "after all others")

    def other_calls(self) -> list[Finding]:
        """Ask how the first positions mix columns; return what fails."""
        self.matrices, failed = first_matrices(self.rotation)
        self.findings += self.asked_last()
        self.format = format_of(self.matrices[:4])
        self.precision = max(2e-6, 2 * STEP.get(self.format, 0))
        self.slack = 2e-4 + 4 * self.precision
        if not self.findings:
            self.findings += columns_alone(
                self.rotation, self.matrices, self.slack
            )
        return failed

    def first_positions(self) -> Hypothesis | None:
        """Return where hands should be, by the first, if that can be told."""
        matrices = self.matrices
        self.positions = len(matrices)
        fine = np.isfinite(matrices).all(axis=(1, 2))
        fine &= matrices.any(axis=(1, 2))
        first_is_fine, fine[0] = fine[0], True
        count = int(np.append(fine, False).argmin())
        if count < 3:
            words = f"From position {count} on it gives NaN, infinity or zero."
            if count == len(matrices):
                words = f"Only {count} positions can be asked for."
            self.findings.append(Finding("far positions", words, count))
            return None
        matrices = matrices[:count]
        if not first_is_fine:
            still = np.eye(len(matrices[0]))[None]
            matrices = np.concatenate([still, matrices[1:]])
        self.pairs, wrong = pairs_of(matrices)
        self.findings += wrong
        if self.pairs is None:
            return None
        uneven = uneven_pairs(hands_of(matrices, self.pairs))
        self.findings += uneven
        if uneven:
            return None
        asked = self.asked
        turning = turning_of(matrices, self.pairs, asked, self.precision)
        self.pairs, self.plan = turning.pairs, turning.plan
        self.length = asked.length
        self.findings += odd_ones(turning)
        self.findings += turning.laid_out
        self.findings += asked.findings(self.pairs, self.plan)
        return turning.model(asked, self.precision)

    def every_position(self, model: Hypothesis, misread: bool) -> None:
        """Look at every position, and explain those that are wrong.

        Where positions are misread, only the first can be looked at.
        """
        hands = hands_of(self.matrices, self.pairs)
        if misread:
            evidence = Evidence(hands)
            model, look = explain(model, evidence.look(model), evidence)
            self.conclude(model, look, evidence)
            return
        kept = np.diagonal(self.matrices[1][np.argsort(self.pairs.order)])
        sweep = Sweep(
            self.rotation, self.pairs, hands, kept, self.asked.max_len
        )
        look = sweep.look(model, to_first=True)
        if look.wrong.any():
            changed = self.asked_last() or sweep.by_the_call(model, look)
            if changed:
                self.positions = len(look.wrong)
                self.findings += self.plan.findings
                self.findings += changed + sweep.findings
                return
            right = model
            model, look = explain(right, look, sweep)
            if look.wrong.any() and len(look.wrong) <= sweep.end:
                model, look = explain(right, sweep.look(right), sweep)
        self.conclude(model, look, sweep)
        self.findings += sweep.findings

    def conclude(
        self, model: Hypothesis, look: Look, evidence: Evidence
    ) -> None:
        """Say what is wrong, by the simplest hypothesis for all positions."""
        uneven = look.wrong[:NEAR].any()  # pairs have no frequencies, then
        for each in self.plan.findings:
            if each.name != "pair" or not uneven:
                self.findings.append(each)
        self.findings += model.findings
        if look.wrong.any():
            self.findings.append(unexplained(evidence, model, look))
        if any(each.name == "lengths" for each in model.findings):
            self.length = 1.0
        self.clockwise = bool(np.sign(model.frequencies).sum() < 0)
        self.positions = len(look.wrong)
        self.digits = digits(model, look)

    def few_digits(self) -> None:
        """Say that results, or sines and cosines, are rounded to 16 bits."""
        if self.format not in ("bfloat16", "float16"):
            return
        self.digits = f"Results in {self.format}"
        off = STEP[self.format] / 2
        if off > self.asked.tolerance:
            words = (
                f"Sines and cosines, or the result, are rounded to"
                f" {self.format}: by up to {plain(off, 2)}."
            )
            self.findings.append(Finding("precision", words))

    def convention(self) -> str:
        """Name the convention."""
        if self.pairs is None or self.plan is None:
            return "unknown"
        pairs, plan = self.pairs, self.plan
        said = [pairs.name]
        if 0 < pairs.turning < pairs.width:
            said.append(f"{pairs.turning} of {pairs.width} columns")
            if pairs.columns.min():
                said.append(f"from column {pairs.columns.min()}")
        if plan.exponents:
            said.append("exponents of the head")
        if self.clockwise:
            said.append("clockwise")
        if np.isfinite(plan.base):
            said.append(f"base {plain(plan.base, 5)}")
        if plan.divided_by != 1:
            said.append(f"linear by {plain(plan.divided_by)}")
        if plan.parts:
            said.append(f"by parts ({plan.parts})")
        if plan.scaling:
            said.append(plan.scaling)
        if self.length != 1:
            said.append(f"lengths by {plain(self.length, 5)}")
        return ", ".join(said)

    def what_was_asked(self) -> str:
        """Say what was looked at, and nothing more."""
        rotation = self.rotation
        if not rotation.most_rows:
            return ""
        said = []
        if self.positions:
            said.append(f"positions 0 to {self.positions - 1}")
        said.append(f"calls of up to {rotation.most_tokens} tokens")
        said.append(f"batches of up to {rotation.most_rows} rows")
        digits = f" {self.digits}." if self.digits else ""
        return f"Looked at: {', '.join(said)}.{digits}"

    def notes(self) -> list[str]:
        """Say what is worth knowing, and is no finding."""
        notes, asked = [], self.asked
        if self.pairs is not None and self.plan is not None:
            columns = self.pairs.columns.size
            if self.plan.exponents:
                columns = self.pairs.width
            base = self.plan.base
            cause = suggestion(base, columns)
            if cause:
                notes.append(f"base {plain(base)} suggests {cause}.")
            if asked.base is not None and np.isnan(base):
                notes.append(
                    "the base could not be seen, and is held to nothing."
                )
        if asked.config is not None:
            notes += asked.config.notes
            if not asked.layout:
                notes.append(
                    "whether pairs are interleaved or half is held to nothing,"
                    " since configs do not say it; --layout does."
                )
        return notes

    def fields(self) -> dict:
        """Return what was seen, for programs."""
        layout, columns, partners = "unknown", 0, []
        if self.pairs is not None:
            layout, columns = self.pairs.name, self.pairs.turning
            partners = self.pairs.columns[~self.pairs.still].tolist()
        base, divided_by = None, 1.0
        if self.plan is not None:
            divided_by = self.plan.divided_by
            if np.isfinite(self.plan.base):
                base = self.plan.base
        config = self.asked.config
        return {
            "layout": layout,
            "partners": partners,
            "columns": columns,
            "width": self.rotation.width,
            "base": base,
            "divided_by": divided_by,
            "clockwise": self.clockwise,
            "length": self.length,
            "positions": self.positions,
            "longest_call": self.rotation.most_tokens,
            "largest_batch": self.rotation.most_rows,
            "digits": self.digits,
            "asked": str(config) if config else "",
        }


def unexplained(evidence: Evidence, model: Hypothesis, look: Look) -> Finding:
    """Say what is seen at the first position that nothing explains."""
    wrong = np.flatnonzero(look.wrong)
    first = int(wrong[0])
    seen, due = evidence.hands(wrong[:1])[0], model.hands(wrong[:1])[0]
    off = np.nan_to_num(np.abs(seen - due), nan=0).max(axis=1)
    pair = int(off.argmax())
    name = "far positions"
    words = f"Position {first} is the first that is turned wrongly"
    if off[pair] > 0:
        words += f", by {plain(off[pair], 2)} in pair {pair}"
        hand = int(np.abs(seen[pair] - due[pair]).argmax())
        ratio = seen[pair, hand] / due[pair, hand % due.shape[1]]
        if abs(ratio - abs(ratio)) <= model.slack:
            name = "lengths"
            words = (
                f"Lengths change with the position: in pair {pair} by"
                f" {plain(abs(ratio), 5)} at position {first}"
            )
    words += f"; {len(wrong)} of {len(look.wrong)} positions are wrong"
    words += f", the last is {wrong[-1]}." if len(wrong) > 1 else "."
    return Finding(name, words, first, pair)


def digits(model: Hypothesis, look: Look) -> str:
    """Say how exact the angles are, of those that are right."""
    if model.stages:
        return f"Angles in {model.format}"
    if look.wrong.all():
        return ""
    error = np.where(look.wrong | ~np.isfinite(look.error), 0, look.error)
    position = int(error.argmax())
    if error[position] < 1e-8:
        return "Angles in float64"
    # Angles lose more digits the farther out; results, once and everywhere.
    what = "Results" if error[position] <= 2 * STEP["float32"] else "Angles"
    return (
        f"{what} in float32, off by {plain(error[position], 2)} at most"
        f" (position {position})"
    )
