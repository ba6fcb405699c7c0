"""Ask an encoder for tables."""

from collections.abc import Callable

import numpy as np

from .report import Finding, first_where
from .settings import describe_error, numbers

SHORT = 64  # rows of the first look
FAR = 32_768  # a row far out, whose position needs 16 binary digits


class Encoder:
    """An encoder, asked for its tables. Those that it gave are kept."""

    def __init__(self, function: Callable, d_model: int):
        """Take the function and the width to ask for."""
        self.function, self.d_model = function, d_model
        self.kept: dict[int, np.ndarray] = {}

    def made(self, seq_len: int) -> np.ndarray:
        """Ask for a table; raise what is wrong with it."""
        table = numbers(self.function(seq_len, self.d_model))
        sizes = [size for size in table.shape[:-1] if size != 1]
        if sizes != [seq_len] or table.shape[-1] != self.d_model:
            raise ValueError(f"the shape is {table.shape}")
        fine = np.isfinite(table).all(axis=-1).ravel()
        if not fine.all():
            row = int(fine.argmin())
            raise ValueError(f"there is NaN or infinity in row {row}")
        return table

    def table(self, seq_len: int) -> np.ndarray:
        """Return a table as it came, asked for at most once."""
        if seq_len not in self.kept:
            self.kept[seq_len] = self.made(seq_len)
        return self.kept[seq_len]

    def trouble(self, ask: Callable, seq_len: int) -> str:
        """Say why there is no table of so many rows, or nothing."""
        try:
            ask(seq_len)
        except (Exception, SystemExit) as error:  # whatever the encoder raises
            return describe_error(error)
        return ""

    def longest(self, most: int) -> tuple[int, list[Finding]]:
        """Return the rows of the longest table, and what a longer one did."""
        longest = 0
        for rows in (4, SHORT, 256, 512, FAR + 1, most):
            rows = min(rows, most)
            trouble = self.trouble(self.table, rows)
            if trouble:
                break
            longest = rows
        else:
            return longest, []
        words = f"Asked for {rows} rows: {trouble}."
        if not longest:
            words += " If it is a rotary function, --rotary is missing."
        if longest < SHORT:
            return longest, [Finding("table", words)]

        def fails(count: int) -> bool:
            return bool(self.trouble(self.made, count))

        longest = first_where(fails, longest, rows) - 1
        words += f" Up to {longest} rows it gives a table."
        return longest, [Finding("table", words, position=longest)]

    def asked_again(self) -> list[Finding]:
        """Look whether a table that was asked for before is still the same."""
        before, words = self.table(SHORT), ""
        trouble = self.trouble(self.made, SHORT)
        if trouble:
            words = f"Asked again for {SHORT} rows, it fails: {trouble}."
            return [Finding("state", words)]
        same = before == self.made(SHORT)
        if same.all():
            return []
        row = int(same.all(axis=-1).ravel().argmin())
        words = f"Asked again for {SHORT} rows, it gives another row {row}."
        return [Finding("state", words, position=row)]
