"""The list of notebooks, and how long each of them takes to read."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from posenc_series.cells import is_folded, is_form, tags

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "notebooks/series.toml"
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

    @property
    def number(self) -> str:
        """Its number, such as "01"."""
        return self.file[:2]

    @property
    def path(self) -> Path:
        """Where it is."""
        return LIST.with_name(self.file)


_READ = tomllib.loads(LIST.read_text(encoding="utf-8"))
TITLE: str = _READ["title"]
# Where the series is published; empty as long as it is not.
ADDRESS: str = _READ["address"]  # of the pages, with a slash at its end
REPOSITORY: str = _READ["repository"]  # OWNER/NAME on GitHub
PARTS: list[str] = _READ["parts"]
NOTEBOOKS = [Listed(**each) for each in _READ["notebook"]]


def tables(folder: str = "") -> str:
    """The notebooks as Markdown, one table for each part of the series.

    Args:
        folder: What stands before the name of a file in its link.
    """
    lines = []
    for part in PARTS:
        lines.append(f"{part} | question | builds on | minutes | TensorFlow")
        lines.append("-|-|-|-|-")
        lines += [
            f"[{each.number} {each.title}]({folder}{each.file})"
            f" | {each.question} | {', '.join(each.needs)} | {each.minutes}"
            f" | {'yes' if each.tensorflow else ''}".rstrip()
            for each in NOTEBOOKS
            if each.part == part
        ]
        lines.append("")
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

# Formulas, code, tags and where links lead, which are not read word by word.
NO_WORDS = re.compile(
    r"(?s)```.*?```|\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`|\]\([^)]*\)|<[^>\n]+>"
)


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
    a_predict = 1 if any(map(is_form, cells)) else 2
    minutes = 0.0
    for cell in cells:
        if cell.cell_type == "markdown":
            minutes += len(NO_WORDS.sub(" x ", cell.source).split()) / 180
            if "predict" in tags(cell):
                minutes += a_predict
            if "exercise" in tags(cell):
                minutes += 5
        elif "solution" not in tags(cell):
            minutes += 0.2 if is_folded(cell) else 0.5
            shown = [each.get("data", {}) for each in cell.outputs]
            minutes += sum("image/png" in data for data in shown) / 2
    return 1.15 * minutes
