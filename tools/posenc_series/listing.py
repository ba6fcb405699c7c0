"""The list of notebooks, and how long each of them takes to read."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_origin

from nbformat import NotebookNode

from posenc_series.cells import is_folded, is_form, tags

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "notebooks/series.toml"
WORKSHOP = ROOT / "workshop/README.md"
# A notebook's copy on the branch `colab` of a repository.
COLAB = "https://colab.research.google.com/github/{}/blob/colab/{}"


@dataclass(frozen=True)
class Listed:
    """A notebook of the series, as notebooks/series.toml describes it.

    Attributes:
        file: Its name in `notebooks/`.
        title: Its heading, without a number.
        short_title: How other notebooks call it in their links.
        question: The question it answers.
        minutes: How long it takes, an estimate.
        part: The part of the series that it belongs to.
        needs: The numbers of the notebooks that it builds upon.
        tensorflow: Whether it needs TensorFlow.
        figure: The id of the cell whose picture stands for it on the home
            page; by default the first one with a picture.
    """

    file: str
    title: str
    short_title: str
    question: str
    minutes: int
    part: str
    needs: list[str]
    tensorflow: bool
    figure: str = ""

    def __post_init__(self):
        """Refuse values of another type, such as `minutes = "25"`."""
        for each in fields(self):
            value = getattr(self, each.name)
            if not isinstance(value, get_origin(each.type) or each.type):
                raise TypeError(f"{self.file}: {each.name} = {value!r}")

    @property
    def number(self) -> str:
        """Its number, such as "01"."""
        return self.file[:2]

    @property
    def path(self) -> Path:
        """Where it is."""
        return LIST.with_name(self.file)


@dataclass(frozen=True)
class Published:
    """Where the series is published; empty as long as it is not.

    Attributes:
        address: Of the web edition, with a slash at its end.
        repository: OWNER/NAME on GitHub.
    """

    address: str
    repository: str


def read_published() -> Published:
    """Read where the series is published."""
    read = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return Published(read["address"], read["repository"])


def read_list() -> tuple[str, list[str], list[Listed]]:
    """Read the title, the parts and the notebooks of the series.

    Raises:
        ValueError: If notebooks/series.toml is not as it should be.
    """
    try:
        read = tomllib.loads(LIST.read_text(encoding="utf-8"))
        listed = [Listed(**each) for each in read["notebook"]]
        for each in listed:
            if each.part not in read["parts"]:
                raise ValueError(f"{each.file}: no part {each.part!r}")
        return read["title"], read["parts"], listed
    except KeyError as error:
        raise ValueError(f"{LIST}: {error} is missing") from error
    except (OSError, TypeError, ValueError) as error:
        raise ValueError(f"{LIST}: {error}") from error


TITLE, PARTS, NOTEBOOKS = read_list()


# Tables.


def tables(listed: Sequence[Listed], folder: str = "") -> str:
    """The notebooks as Markdown, one table for each part of the series.

    Args:
        listed: The notebooks.
        folder: What stands before the name of a file in its link.
    """
    lines = []
    for part in PARTS:
        lines += [f"{part} | question | minutes | TensorFlow", "-|-|-|-"]
        lines += [
            f"[{each.number} {each.title}]({folder}{each.file})"
            f" | {each.question} | {each.minutes}"
            f" | {'yes' if each.tensorflow else ''}".rstrip()
            for each in listed
            if each.part == part
        ]
        lines.append("")
    return "\n".join(lines)


def table_of_needs(listed: Sequence[Listed]) -> str:
    """The notebooks as Markdown, with what each needs, for a workshop."""
    lines = [
        "| notebook | needs | TensorFlow | minutes |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {each.number} {each.short_title}"
        f" | {', '.join(each.needs) or '-'}"
        f" | {'yes' if each.tensorflow else 'no'} | {each.minutes} |"
        for each in listed
    ]
    return "\n".join(lines)


def neighbors(file: str) -> str:
    """The line of links to the notebooks before and after one."""
    place = [each.file for each in NOTEBOOKS].index(file)
    links = []
    if place > 0:
        links.append(("Previous", NOTEBOOKS[place - 1]))
    if place + 1 < len(NOTEBOOKS):
        links.append(("Next", NOTEBOOKS[place + 1]))
    return " | ".join(
        f"[{word}: {each.short_title}]({each.file})" for word, each in links
    )


# Minutes.


def minutes_of(notebook: NotebookNode) -> int:
    """Estimate how many minutes a new reader needs, to the nearest five."""
    return 5 * round(minutes_for(notebook.cells) / 5)


def minutes_for(cells: Sequence[NotebookNode]) -> float:
    """Estimate how many minutes a new reader needs for some cells.

    Prose is read at 180 words a minute; a cell of code that is shown takes
    half a minute, a folded one a fifth, a figure half a minute, a Predict two
    (a sentence to judge, one), and an exercise five. The code of solutions
    does not count. Everything is 15 % more for those who are new: readers who
    went through four notebooks cell by cell came within a tenth.
    """
    prose = [cell for cell in cells if cell.cell_type == "markdown"]
    code = [
        cell
        for cell in cells
        if cell.cell_type == "code" and "solution" not in tags(cell)
    ]
    folded = sum(map(is_folded, code))
    figures = sum(
        "image/png" in output.get("data", {})
        for cell in code
        for output in cell.outputs
    )
    predicts = sum("predict" in tags(cell) for cell in prose)
    exercises = sum("exercise" in tags(cell) for cell in prose)
    words = _words("\n\n".join(cell.source for cell in prose))
    minutes = words / 180 + (len(code) - folded) / 2 + folded / 5
    minutes += figures / 2 + 5 * exercises
    minutes += predicts * (1 if any(map(is_form, code)) else 2)
    return 1.15 * minutes


def _words(text: str) -> int:
    """How many words Markdown has; a formula or code in a line counts one."""
    text = re.sub(r"(?s)```.*?```|\$\$.*?\$\$", "\n\n", text)
    lead_on = r"(?m)^\s*(?:#|!\[|\[Next|\[Prev).*$"  # and headings, pictures
    text = re.sub(lead_on, "\n", text)
    text = re.sub(r"(?m)^\s*>\s?|<[^>\n]+>|\|", " ", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)  # links
    text = re.sub(r"\$[^$\n]*\$|`[^`\n]*`", "x", text)
    text = re.sub(r"[*_]", "", text)
    return len(re.findall(r"[A-Za-z0-9'-]+", text))
