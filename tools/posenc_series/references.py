"""References to sections, figures and notebooks, and how they are renumbered.

A reference is written "section 3", "Figures 1 and 2", "sections 2 to 4 of
notebook 05" or "section 2 of 05"; without a notebook it means its own page.
Papers are cited with points in their sections (3.5), or under *Further
reading*, where nothing is a reference.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from posenc_series.commands import CommandError

LABELS = {  # "## 3. Title" and "**Figure 2.** Caption", or ? for a new one
    "section": re.compile(r"(?m)^## (\d+|\?)\. "),
    "figure": re.compile(r"(?m)^\*\*Figure (\d+|\?)\.\*\* "),
}
# "3", "1 and 2", "1, 2 and 3", "2 to 4", but nothing of "3.5".
NUMBERS = r"\d+(?:(?:,?\s+and|,|\s+to)\s+\d+)*(?![\d.]*\.\d)"
# "section 3", "Figures 1 and 2", "sections 2 to 4 of [notebook 05".
REFERENCE = re.compile(
    rf"\b(?P<kind>[Ss]ection|[Ff]igure)s?\s+(?P<numbers>{NUMBERS})"
    r"(?:\s+of\s+\[?(?:notebook\s+)?(?P<notebook>\d\d)\b)?"
)
# What names a notebook. "notebooks 03 and 05", or "section 2 of 05".
BY_WORDS = re.compile(
    rf"\b(?:[Nn]otebooks?|[Ss]ections?\s+{NUMBERS}\s+of"
    rf"|[Ff]igures?\s+{NUMBERS}\s+of)\s+(?P<numbers>{NUMBERS})"
)
BY_ROW = re.compile(r"(?m)^\| (?P<numbers>\d\d) \|")  # "| 07 |" in a table
# [07](../notebooks/07_rotary.ipynb), or the name of a file alone.
BY_FILE = re.compile(
    r"(?:\[(?P<label>\d\d)\]\((?P<folder>[\w./]*/)?)?\b(?P<stem>\d\d_\w+)"
)
FURTHER = "## Further reading"

Numbers = Mapping[int, int]  # from an old number to the new one
Pages = Mapping[tuple[str, str], Numbers]  # by notebook and kind


@dataclass(frozen=True)
class Reference:
    """A place in a text that names sections or figures.

    Attributes:
        kind: "section" or "figure".
        numbers: Those that are named.
        notebook: The number of the notebook that is meant, such as "05", or
            None for the page's own.
    """

    kind: str
    numbers: list[int]
    notebook: str | None


def prose(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """The cells that may hold references: those before the sources."""
    for cell in notebook.cells:
        if cell.source.startswith(FURTHER):
            return
        yield cell


def references(text: str) -> list[Reference]:
    """What a text refers to."""
    return [
        Reference(
            found["kind"].lower(),
            [int(number) for number in re.findall(r"\d+", found["numbers"])],
            found["notebook"],
        )
        for found in REFERENCE.finditer(text)
    ]


def labels(notebook: NotebookNode, kind: str) -> list[str]:
    """The numbers of its sections or figures, as they stand on the page."""
    cells = [c for c in notebook.cells if c.cell_type == "markdown"]
    return [label for c in cells for label in LABELS[kind].findall(c.source)]


def in_order(stem: str, kind: str, found: Sequence[str]) -> Numbers:
    """From the numbers on a page to those that they should be.

    Args:
        stem: The page, to be named in the error.
        kind: "section" or "figure".
        found: The numbers as they stand there; a new one is "?".

    Raises:
        CommandError: If two have the same number.
    """
    for label in found:
        if label != "?" and found.count(label) > 1:
            raise CommandError(
                f"{stem} has two {kind}s {label}: write ? instead of the"
                " number of the new one"
            )
    places = enumerate(found, start=1)
    return {int(label): place for place, label in places if label != "?"}


def renumber(text: str, own: str | None, pages: Pages) -> str:
    """A text whose references lead to where sections and figures are now.

    Args:
        text: Markdown.
        own: The number of the notebook that it is from, if from one.
        pages: The numbers of all pages that changed.
    """

    def replace(found: re.Match) -> str:
        key = (found["notebook"] or own, found["kind"].lower())
        return _with_numbers(found, pages.get(key, {}))

    return REFERENCE.sub(replace, text)


def count_labels(text: str, kind: str, place: Iterator[int]) -> str:
    """A text whose headings or captions take their numbers from `place`."""

    def replace(found: re.Match) -> str:
        return found[0].replace(found[1], str(next(place)))

    return LABELS[kind].sub(replace, text)


def renumber_notebooks(text: str, stems: Mapping[str, str]) -> str:
    """A text in which notebooks have their new numbers.

    Args:
        text: Markdown, code or TOML.
        stems: From old names, such as "07_rotary", to new ones.
    """
    new = {int(old[:2]): int(now[:2]) for old, now in stems.items()}

    def by_file(found: re.Match) -> str:
        stem = stems.get(found["stem"], found["stem"])
        if found["label"] is None:
            return stem
        is_number = found["label"] == found["stem"][:2]
        label = stem[:2] if is_number else found["label"]
        return f"[{label}]({found['folder'] or ''}{stem}"

    text = BY_FILE.sub(by_file, text)
    for pattern in (BY_WORDS, BY_ROW):
        text = pattern.sub(lambda found: _with_numbers(found, new, 2), text)
    return text


def _with_numbers(found: re.Match, new: Numbers, digits: int = 1) -> str:
    """What was found, with its list of numbers renewed."""
    start, end = (place - found.start() for place in found.span("numbers"))
    numbers = re.sub(
        r"\d+",
        lambda each: f"{new.get(int(each[0]), int(each[0])):0{digits}}",
        found["numbers"],
    )
    return found[0][:start] + numbers + found[0][end:]
