"""A notebook on two pages, for whoever teaches it."""

import ast
import re
from pathlib import Path

import markup
from nbformat import NotebookNode
from posenc_series.cells import question_and_choices, tags
from posenc_series.chapters import (
    answers,
    by_section,
    headings,
    read_notebook,
    sentence,
    title_of,
    unlinked,
)
from posenc_series.lessons import lesson_of
from posenc_series.listing import minutes_for

LISTED = re.compile(r"(?m)^(?:- |\d+\. ).+(?:\n  .+)*\n?")
LONGEST = 250  # characters of a solution
NOT_PLANNED = ("Recap", "Further reading")


def sheet(path: Path) -> str:
    """What to say, ask and expect, as Markdown.

    Args:
        path: A notebook of the series.
    """
    cells = read_notebook(path).cells
    lesson = lesson_of(path)
    hook = cells[0].source.split("\n\n")[1]
    recap = [part for title, part in by_section(cells) if title == "Recap"]
    said = "".join(LISTED.findall(recap[0][0].source)) if recap else ""
    parts = {
        "In a minute": f"{hook}\n\n{said}",
        "Plan": _plan(cells),
        "The key question": _question(cells, lesson.key),
        "They say, and you ask": lesson.they_say,
        "Exercises": _exercises(cells),
    }
    texts = [f"## {name}\n\n{text}" for name, text in parts.items() if text]
    text = "\n\n".join([f"# {title_of(path, cells)}", *texts])
    return markup.unfolded(unlinked(text))


def _plan(cells: list[NotebookNode]) -> str:
    """Minutes by section, and what each section leaves one with."""
    lines = ["| min | until | section | to remember |", "|---|---|---|---|"]
    until = 0.0
    for title, part in by_section(cells):
        if not title or title in NOT_PLANNED:
            continue
        before = round(until)
        until += minutes_for(part)
        kept = [
            sentence(cell.source)
            for cell in part
            if cell.cell_type == "markdown" and not tags(cell)
        ]
        kept = " ".join(filter(None, kept)).replace("**", "")
        minutes = round(until) - before
        lines.append(f"| {minutes} | {round(until)} | {title} | {kept} |")
    return "\n".join(lines)


def _question(cells: list[NotebookNode], key: str) -> str:
    """The key question with its choices, and the first words of its answer."""
    (place,) = [n for n, cell in enumerate(cells) if cell.id == key]
    question, choices = question_and_choices(cells[place].source)
    rows = ["| choice | at first | after talking |", "|---|---|---|"]
    rows += [f"| {choice} | ____ | ____ |" for choice in choices]
    first, last = next(a for a in answers(cells) if a[0] > place)
    text = "\n\n".join(
        markup.CAPTION.sub("", cell.source)
        for cell in cells[first : last + 1]
        if cell.cell_type == "markdown" and not tags(cell)
    )
    answer = text.strip().split("\n\n")[0]
    if answer.endswith(":"):  # which leads to what is not on the sheet
        sentences = re.split(markup.SENTENCE_ENDS, answer)
        answer = " ".join(sentences[:-1])
    kept = sentence(text)
    if kept not in answer:
        answer += f" {kept}"
    table = "\n".join(rows) if choices else ""
    return f"{question}\n\n{table}\n\n**Answer.** {answer}"


def _exercises(cells: list[NotebookNode]) -> str:
    """Each exercise with its solution, unless that is long."""
    lines: list[str] = []
    for cell in cells:
        if "exercise" in tags(cell):
            lines += [f"- **{title}**" for title in headings(cell, 3)]
        elif "solution" in tags(cell) and cell.cell_type == "code" and lines:
            # Without comments, and each statement in one line.
            code = ast.unparse(ast.parse(cell.source))
            code = re.sub(r'(?m)^confirm.*$|^\s*""".*$', "", code)
            code = "; ".join(filter(None, map(str.strip, code.split("\n"))))
            code = code.replace(":;", ":")
            is_short = len(code) <= LONGEST
            lines[-1] += f" `{code}`" if is_short else " See the full page."
    return "\n".join(lines)
