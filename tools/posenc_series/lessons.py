"""What whoever leads a group says and asks: workshop/class.toml."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from posenc_series.chapters import headings, read_notebook
from posenc_series.commands import CommandError
from posenc_series.listing import NOTEBOOKS, ROOT

CLASS = ROOT / "workshop/class.toml"


@dataclass(frozen=True)
class Lesson:
    """What a notebook needs in class.

    Attributes:
        key: The id of the Predict that is worth the most time.
        question: What it asks, in short.
        stuck: What people say where they are stuck, and what to ask them.
    """

    key: str
    question: str
    stuck: list[list[str]]

    @property
    def they_say(self) -> str:
        """What people say and what to ask them, as a list in Markdown."""
        return "\n".join(f"- {say} *Ask:* {ask}" for say, ask in self.stuck)


def lessons() -> dict[str, Lesson]:
    """The lessons, by the numbers of their notebooks."""
    read = tomllib.loads(CLASS.read_text(encoding="utf-8"))["notebook"]
    return {number: Lesson(**each) for number, each in read.items()}


def lesson_of(path: Path) -> Lesson:
    """That of a notebook; an empty one if it is not in the series."""
    return lessons().get(path.stem[:2], Lesson("", "", []))


def table_of_questions() -> str:
    """The notebooks as Markdown, with the key question of each."""
    lines = [
        "| notebook | needs | TensorFlow | minutes | its key question |",
        "|---|---|---|---|---|",
    ]
    for each in NOTEBOOKS:
        lesson = lessons()[each.number]
        cell = f"../notebooks/{each.file}#cell-id={lesson.key}"
        needs = ", ".join(each.needs) or "-"
        tensorflow = "yes" if each.tensorflow else "no"
        lines.append(
            f"| {each.number} {each.short_title} | {needs} | {tensorflow}"
            f" | {each.minutes} | [{lesson.question}]({cell}) |"
        )
    return "\n".join(lines)


def read_plans() -> list[dict]:
    """The plans to the minute.

    Raises:
        CommandError: If one names a section that no notebook has.
    """
    plans = tomllib.loads(CLASS.read_text(encoding="utf-8"))["plan"]
    titles = {
        title
        for each in NOTEBOOKS
        for cell in read_notebook(each.path).cells
        for title in headings(cell, 2)
    }
    for plan in plans:
        for row in plan["rows"]:
            for section in sections_in(row):
                if section not in titles:
                    raise CommandError(
                        f"{CLASS}, plan {plan['title']!r}: no notebook has a"
                        f" section {section!r}"
                    )
    return plans


def sections_in(row: list) -> list[str]:
    """The sections that a row of a plan names."""
    _, what, late = row
    return re.findall(r"\*(.+?)\*", f"{what} {late}")


def table_of_plans() -> str:
    """The plans as Markdown, each with the clock from 0:00 on."""
    parts = []
    for plan in read_plans():
        lines = [
            f"### {plan['title']}",
            f"\n{plan['about'].strip()}\n",
            "| at | min | what | if you are late |",
            "|---|---|---|---|",
        ]
        now = 0
        for minutes, what, late in plan["rows"]:
            clock = f"{now // 60}:{now % 60:02}"
            lines.append(f"| {clock} | {minutes} | {what} | {late} |")
            now += minutes
        lines.append(f"| {now // 60}:{now % 60:02} | | End. | |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
