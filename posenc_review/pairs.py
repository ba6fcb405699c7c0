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
    def places(self) -> tuple[slice | np.ndarray, slice | np.ndarray]:
        """Return the first columns, and the second, as slices if evenly set.

        NumPy reads slices without a copy.
        """
        both = []
        for some in self.columns.T:
            step = int(some[1] - some[0]) if len(some) > 1 else 1
            even = step > 0 and np.all(np.diff(some) == step)
            both.append(slice(some[0], some[-1] + 1, step) if even else some)
        return both[0], both[1]

    def but_last(self) -> "Pairs":
        """Leave out the last pair, beyond the end of a part."""
        layout = self.layout
        if layout == "half":
            layout = "half of the head"
        return self._replace(
            layout=layout, columns=self.columns[:-1], still=self.still[:-1]
        )

    @property
    def turning(self) -> int:
        """Count the columns that turn."""
        return 2 * int((~self.still).sum())


def pairs_of(matrices: np.ndarray) -> tuple[Pairs | None, list[Finding]]:
    """Find out which columns turn together, and what is wrong with them."""
    order, written = order_of(matrices[0])
    matrices = in_order(matrices, order)
    partner, mixed = partners(matrices)
    if len(mixed) or np.array_equal(partner, np.arange(len(partner))):
        return None, [no_pairs(matrices, mixed)]
    pairs = laid_out(partner)._replace(order=order, written=written)
    findings = left_alone(matrices, pairs)
    if not np.array_equal(order, np.arange(len(order))) and not written:
        findings.append(moved(pairs))
    if pairs.layout == "unknown":
        one, other = pairs.columns[0].tolist()
        words = f"Columns {one} and {other} are a pair, as in no usual layout."
        findings.append(Finding("layout", words, column=one))
    return pairs, findings


def order_of(matrix: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the column of x that each one of the result is, at position 0.

    Some functions read pairs interleaved and write them as halves; such an
    order is named.
    """
    plain_order = np.arange(len(matrix))
    order = matrix.argmax(axis=1)
    if not np.array_equal(np.sort(order), plain_order):
        return plain_order, ""
    if np.abs(matrix - np.eye(len(matrix))[order]).max() >= 1e-3:
        return plain_order, ""
    if np.array_equal(order, plain_order):
        return plain_order, ""
    if np.array_equal(order, [*plain_order[::2], *plain_order[1::2]]):
        return order, "half"
    if np.array_equal(order[::2], plain_order[: len(matrix) // 2]):
        return order, "interleaved"
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
        words += (
            " Pairs are read in the other layout and written as"
            f" {pairs.written}; scores are right where query and key both go"
            " through it, and the layout may be asked for."
        )
    return Finding("position 0", words, 0, column=column)


def partners(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each column's partner, or itself, and those that have more."""
    mixing = np.maximum(matrices.max(axis=0), -matrices.min(axis=0))
    mixing = np.maximum(mixing, mixing.T)
    np.fill_diagonal(mixing, 0)
    most = mixing.max(axis=1)
    partner = np.where(most > 0, mixing.argmax(axis=1), np.arange(len(most)))
    others = mixing > 1e-6 * np.maximum(most[:, None], most)
    return partner, np.flatnonzero(others.sum(axis=1) > 1)


def no_pairs(matrices: np.ndarray, mixed: np.ndarray) -> Finding:
    """Say why the columns do not turn in pairs."""
    if len(mixed):
        words = f"Columns {runs(mixed)} are mixed with more than one other."
        return Finding("rotation", words, column=int(mixed[0]))
    kept = np.diagonal(matrices, axis1=1, axis2=2)
    if np.ptp(kept, axis=0).max() < 1e-6:
        return Finding("rotation", "Nothing turns, whatever the position.")
    column = int(np.ptp(kept, axis=0).argmax())
    words = (
        f"No column is mixed with another; column {column} only changes its"
        " size: the sines are missing."
    )
    return Finding("rotation", words, column=column)


def laid_out(partner: np.ndarray) -> Pairs:
    """Name the layout by the distance of partners.

    Partners half of the head apart, and half of the part that turns, are
    two layouts: columns i and i + 64, or i and i + 48.
    """
    width = len(partner)
    same = np.arange(width)
    turning = np.flatnonzero(partner != same)
    firsts = turning[partner[turning] > turning]
    distances = partner[firsts] - firsts
    distance = int(distances[0])
    if np.any(distances != distance):
        columns = np.stack([firsts, partner[firsts]], axis=1)
        return Pairs("unknown", columns, columns[:, 0] < 0, width, same)
    if distance == 1:
        name, places = "interleaved", np.arange(0, width - 1, 2)
    elif 2 * distance == width:
        name, places = "half", np.arange(distance)
    else:
        # the first pair of a block that begins at 0 may stand still
        start = 0 if turning[-1] < 2 * distance else turning[0]
        name, places = "half of the part", start + np.arange(distance)
    if width == 2:
        name = "interleaved or half"
    if not np.isin(firsts, places).all():
        name, places = "unknown", firsts
    still = ~np.isin(places, firsts)
    if still.sum() > 1 and name != "half of the part":
        moving = np.flatnonzero(~still)  # a part, not a pair forgotten
        kept = slice(moving[0], moving[-1] + 1)
        places, still = places[kept], still[kept]
        if name == "half":
            name = "half of the head"
    columns = np.stack([places, places + distance], axis=1)
    return Pairs(name, columns, still, width, same)


def left_alone(matrices: np.ndarray, pairs: Pairs) -> list[Finding]:
    """Find columns that do not turn, and yet are changed."""
    kept = np.diagonal(matrices, axis1=1, axis2=2).copy()
    kept[:, pairs.columns[~pairs.still]] = 1
    with np.errstate(invalid="ignore"):
        changed = np.abs(kept[1:] - 1).max(axis=0) > 1e-4
    if not changed.any():
        return []
    column = int(changed.argmax())
    factor = kept[1:][np.abs(kept[1:, column] - 1).argmax(), column]
    words = (
        f"{numbered('column', np.flatnonzero(changed)).capitalize()} do not"
        " turn and should stay as they are; they change by"
        f" {plain(factor, 4)}."
    )
    return [Finding("lengths", words, column=column)]


def hands_of(matrices: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return where both hands of each pair point.

    A column's hand, of `[positions, pairs, 2]`, has for its cosine what the
    column keeps of itself, and for its sine what it takes from its partner.
    """
    matrices = in_order(matrices, pairs.order)
    one, other = pairs.columns.T
    first = matrices[:, one, one] - 1j * matrices[:, one, other]
    second = matrices[:, other, other] + 1j * matrices[:, other, one]
    return np.stack([first, second], axis=-1)
