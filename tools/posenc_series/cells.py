"""What a cell says of itself: its tags, and whether it is folded."""

import re

from nbformat import NotebookNode

FOLDED = {"check", "drawing", "plumbing", "solution"}  # not part of the lesson
ASKS = {"exercise", "form"}  # their code waits for a reader's answer
# What only a browser needs, and the repository has once: no output stores it.
PLAY_SCRIPT = re.compile("(?s)(?<=</posenc-play>)<script>.*</script>")
JUDGMENTS = ("true", "false", "it depends")  # of a sentence in a form
# The list that ends a Predict.
CHOICES = re.compile(r"\n\n((?:- .+(?:\n  .+)*(?:\n|$))+)\s*$")
TAGS = FOLDED | ASKS | {"predict", "reveal", "trained", "varies"}


def tags(cell: NotebookNode) -> set[str]:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", ()))


def is_form(cell: NotebookNode) -> bool:
    """Whether a reader judges sentences in a cell."""
    return "form" in tags(cell)


def is_folded(cell: NotebookNode) -> bool:
    """Whether JupyterLab shows a cell's first line only."""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def question_and_choices(source: str) -> tuple[str, list[str]]:
    """A Predict's question, and its choices, which may be none."""
    listed = CHOICES.search(source)
    if not listed:
        return source, []
    choices = re.split(r"(?m)^- ", listed[1])[1:]
    return source[: listed.start()], [" ".join(c.split()) for c in choices]
