"""A small series of two notebooks, with one of everything."""

import base64
import io
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from PIL import Image

FOLDED = {"jupyter": {"source_hidden": True}}
TITLES = {"01_first": "The one", "02_second": 'The "other"'}


def code(cell_id: str, source: str, *tags: str, outputs=(), **metadata):
    return new_code_cell(
        source,
        id=cell_id,
        metadata={**metadata, "tags": list(tags)},
        outputs=list(outputs),
        execution_count=1,
    )


def prose(cell_id: str, source: str, *tags: str):
    return new_markdown_cell(source, id=cell_id, metadata={"tags": list(tags)})


def picture(alt: str, color: str = "teal"):
    png = io.BytesIO()
    Image.new("RGB", (600, 300), color).save(png, "png")
    data = {"image/png": base64.b64encode(png.getvalue()).decode()}
    metadata = {"image/png": {"alt": alt, "width": 300}}
    return new_output("display_data", data=data, metadata=metadata)


def printed(text: str):
    return new_output("stream", name="stdout", text=text)


def small_notebook(title: str, other: str) -> NotebookNode:
    links = f"[Next: the other]({other}.ipynb)"
    reads = f"Read [the other]({other}.ipynb), [its box]({other}.ipynb"
    reads += "#cell-id=figure-a) and [our own](#cell-id=figure-a)."
    cells = [
        prose("title", f"# {title}\n\nIts subject.\n\n{links}"),
        prose("aims", "**What you need**: time."),
        prose("first", f"## First\n\n{reads}"),
        code("setup", "shared = 1"),
        prose("predict-a", "**Predict.** QUESTION-A", "predict"),
        code("reveal-a", "1 + 1", "reveal", outputs=[printed("ANSWER-A")]),
        prose("explain-a", "It is two: $1 + 1 = 2$."),
        code("draw", "def plot_folded(): ...", "drawing", **FOLDED),
        code(
            "figure-a",
            "# Draw folded",
            "drawing",
            outputs=[picture("A teal box.")],
            **FOLDED,
        ),
        prose("caption-a", "*A box.*"),
        prose("predict-b", "**Predict.** QUESTION-B", "predict"),
        code("reveal-b", "2 + 2", "reveal", outputs=[printed("ANSWER-B")]),
        prose("explain-b", "It is four."),
        code("wait", "go()"),
        prose("aside", "After other code, no explanation any more."),
        prose("exercises", "## Exercises"),
        prose("exercise-1", "### Exercise 1. Ask\n\nWhat?", "exercise"),
        code("check-1", "def check_1(answer): HINT", "check", **FOLDED),
        code(
            "answer-1",
            "answer_1 = ...\ncheck_1(answer_1)",
            "exercise",
            outputs=[printed("Not answered yet")],
        ),
        code(
            "solution-1",
            "solution_1 = 'SOLVED'",
            "solution",
            outputs=[picture("The solution.")],
            **FOLDED,
        ),
        prose("solution-1-text", "Because it is SOLVED.", "solution"),
        prose("recap", "## Recap\n\nThat was [all](../x.py)."),
        prose("nav-end", links),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def notebook_with_a_form() -> NotebookNode:
    """Sentences to judge, in place of exercises."""
    not_yet = [printed("Not answered yet: 1")]
    cells = [
        prose("title", "# Test sentences\n\nOne of them."),
        code("form-1", "said('?  1  It is so')", "form", outputs=not_yet),
        prose("sentence-1", "### 1. It is so"),
        prose("predict-1", "**Predict.** SO-OR-NOT", "predict"),
        code("verdict-1", "verdict(1, cases)", "reveal"),
        prose("explain-1", "Because it is: VERDICT."),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def write_small_series(folder: Path) -> list[Path]:
    for stem, title in TITLES.items():
        (other,) = TITLES.keys() - {stem}
        nbformat.write(small_notebook(title, other), folder / f"{stem}.ipynb")
    return sorted(folder.glob("*.ipynb"))
