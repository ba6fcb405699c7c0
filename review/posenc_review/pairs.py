"""Which columns turn together, and where pairs are written."""

from typing import NamedTuple

import numpy as np

from .report import Finding, numbered, plain, runs

LAYOUTS = (
    "interleaved",
    "half",
    "half of the part",
    "half of the head",
    "interleaved, written as half",
    "half, written as interleaved",
)


class Pairs(NamedTuple):
    """Columns that turn together."""

    layout: str  # its name, "unknown" if it is no usual one
    columns: np.ndarray  # [pairs, 2]; those that could turn
    still: np.ndarray  # which pairs do not
    width: int  # of the head
    order: np.ndarray  # column i of the result was column order[i]
    written: str = ""  # the layout in which pairs are written, if another

    @property
    def name(self) -> str:
        """Name the layout, and in which pairs are written if in another."""
        written = f", written as {self.written}" if self.written else ""
        return self.layout + written

    @property
    def turning(self) -> int:
        """Count the columns that turn."""
        return 2 * int((~self.still).sum())

    @property
    def left_out(self) -> list[int]:
        """Return the columns of the last pair, if only that one is missing."""
        rest = np.setdiff1d(np.arange(self.width), self.columns)
        from_0 = self.layout in ("interleaved", "half of the head")
        return rest.tolist() if from_0 and len(rest) == 2 else []


NO_COLUMNS = np.empty((0, 2), int)
NO_PAIRS = Pairs("unknown", NO_COLUMNS, np.empty(0, bool), 0, NO_COLUMNS)


def pairs_of(matrices: np.ndarray) -> tuple[Pairs, list[Finding]]:
    """Find out which columns turn together, and what is wrong with that."""
    order, written = order_of(matrices[0])
    matrices = in_order(matrices, order)
    kept = np.diagonal(matrices, axis1=1, axis2=2)
    mixing = np.maximum(matrices.max(axis=0), -matrices.min(axis=0))
    mixing = np.maximum(mixing, mixing.T)
    np.fill_diagonal(mixing, 0)
    most = mixing.max(axis=1)
    others = mixing > 1e-6 * np.maximum(most[:, None], most)
    mixed = np.flatnonzero(others.sum(axis=1) > 1)
    if len(mixed):
        words = f"Columns {runs(mixed)} are mixed with more than one other."
        return NO_PAIRS, [Finding("rotation", words, column=int(mixed[0]))]
    if not most.any():
        words = "Nothing turns, whatever the position."
        if np.ptp(kept, axis=0).max() >= 1e-6:
            words = "Columns only change their size: the sines are missing."
        return NO_PAIRS, [Finding("rotation", words)]
    columns = np.arange(len(order))
    partner = np.where(most > 0, mixing.argmax(axis=1), columns)
    pairs = laid_out(partner)._replace(order=order, written=written)
    findings = []
    off = np.abs(kept[1:] - 1).max(axis=0)
    changed = np.flatnonzero((partner == columns) & (off > 1e-4))
    if len(changed):
        column = int(changed[0])
        words = (
            f"{numbered('column', changed).capitalize()} do not turn and"
            " should stay as they are; they are multiplied by"
            f" {plain(kept[1, column], 4)}."
        )
        findings.append(Finding("lengths", words, column=column))
    if not written and not np.array_equal(order, columns):
        findings.append(moved(pairs))
    if pairs.layout == "unknown":
        one, other = pairs.columns[0].tolist()
        words = f"Columns {one} and {other} are a pair, as in no usual layout."
        findings.append(Finding("layout", words, column=one))
    return pairs, findings


def order_of(matrix: np.ndarray) -> tuple[np.ndarray, str]:
    """Find out whether position 0 moves columns.

    Some functions read pairs interleaved and write them as halves.

    Returns:
        The column of x that each column of the result is, and the name of
        that order if it is one.
    """
    columns, order = np.arange(len(matrix)), matrix.argmax(axis=1)
    largest = np.maximum(matrix.max(axis=1, keepdims=True), 1e-9)
    moves = np.abs(matrix / largest - np.eye(len(matrix))[order]).max() < 1e-3
    if not moves or not np.array_equal(np.sort(order), columns):
        return columns, ""  # they are turned or lost there, not moved
    halves = np.concatenate([columns[::2], columns[1::2]])
    names = {"": columns, "half": halves, "interleaved": np.argsort(halves)}
    for name, known in names.items():
        if np.array_equal(order, known):
            return order, name
    return order, ""


def in_order(made: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return results by the columns of x; their columns are on axis 1."""
    if np.array_equal(order, np.arange(len(order))):
        return made
    return made[:, np.argsort(order)]


def moved(pairs: Pairs) -> Finding:
    """Say that position 0 moves columns."""
    column = int(np.argmax(pairs.order != np.arange(len(pairs.order))))
    words = (
        f"Position 0 moves columns: column {column} of the result is column"
        f" {pairs.order[column]} of x."
    )
    if pairs.written:
        words += f" Pairs are read in the other layout than {pairs.written}."
    return Finding("position 0", words, 0, column=column)


def laid_out(partner: np.ndarray) -> Pairs:
    """Name the layout by the distance of partners.

    Partners half of the head apart, and half of the part that turns, are
    two layouts: columns i and i + 64, or i and i + 48.

    Args:
        partner: Of each column; a column that does not turn has itself.
    """
    width, same = len(partner), np.arange(len(partner))
    firsts = np.flatnonzero(partner > same)
    distances = partner[firsts] - firsts
    distance = int(distances[0])
    if distance == 1:
        name, places = "interleaved", np.arange(0, width - 1, 2)
    else:
        # the first pair of a block that begins at 0 may stand still
        start = 0 if partner[firsts].max() < 2 * distance else firsts[0]
        places = start + np.arange(distance)
        name = "half" if 2 * distance == width else "half of the part"
    if np.any(distances != distance) or not np.isin(firsts, places).all():
        columns = np.stack([firsts, partner[firsts]], axis=1)
        return Pairs("unknown", columns, columns[:, 0] < 0, width, same)
    still = ~np.isin(places, firsts)
    if name != "half of the part" and (still.sum() > 1 or still[-1]):
        # what turns is a part; one pair that stands still may be forgotten
        moving = np.flatnonzero(~still)
        part = slice(moving[0], moving[-1] + 1)
        places, still = places[part], still[part]
        name = "half of the head" if name == "half" else name
    if width == 2:
        name = "interleaved or half"
    columns = np.stack([places, places + distance], axis=1)
    return Pairs(name, columns, still, width, same)


def hands_of(matrices: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return where both hands of each pair point.

    A column's hand has for its cosine what the column keeps of itself, and
    for its sine what it takes from its partner.

    Returns:
        `[positions, pairs, 2]`, complex.
    """
    matrices = in_order(matrices, pairs.order)
    one, other = pairs.columns.T
    first = matrices[:, one, one] - 1j * matrices[:, one, other]
    second = matrices[:, other, other] + 1j * matrices[:, other, one]
    return np.stack([first, second], axis=-1)
