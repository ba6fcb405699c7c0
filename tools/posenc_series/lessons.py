"""What whoever leads a group says and asks: workshop/class.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

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
