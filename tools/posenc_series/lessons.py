"""What whoever leads a group says and asks: workshop/class.toml."""

import tomllib
from dataclasses import dataclass

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


def lessons() -> dict[str, Lesson]:
    """The lessons, by the numbers of their notebooks."""
    read = tomllib.loads(CLASS.read_text(encoding="utf-8"))["notebook"]
    return {number: Lesson(**each) for number, each in read.items()}


def table_of_questions() -> str:
    """The key question of each notebook as Markdown, with its address."""
    lines = ["| notebook | the question |", "|---|---|"]
    for each in NOTEBOOKS:
        lesson = lessons()[each.number]
        cell = f"../notebooks/{each.file}#cell-id={lesson.key}"
        lines.append(f"| {each.number} | [{lesson.question}]({cell}) |")
    return "\n".join(lines)


def table_of_stuck() -> str:
    """What people say and what to ask them, as Markdown."""
    lines = ["| notebook | they say | ask |", "|---|---|---|"]
    for number, lesson in lessons().items():
        for say, ask in lesson.stuck:
            lines.append(f"| {number} | {say} | {ask} |")
    return "\n".join(lines)


def plans() -> str:
    """Plans to the minute as Markdown, each with the clock from 0:00 on."""
    parts = []
    for plan in tomllib.loads(CLASS.read_text(encoding="utf-8"))["plan"]:
        lines = [
            f"### {plan['title']}",
            f"\n{plan['about']}\n",
            "| at | min | what | if you are late |",
            "|---|---|---|---|",
        ]
        now = 0
        for minutes, what, late in plan["rows"]:
            clock = f"{now // 60}:{now % 60:02}"
            lines.append(f"| {clock} | {minutes} | {what} | {late} |")
            now += minutes
        parts.append(
            "\n".join([*lines, f"| {now // 60}:{now % 60:02} | | End. | |"])
        )
    return "\n\n".join(parts)
