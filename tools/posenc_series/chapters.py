"""A notebook as a chapter of handouts and of the web edition."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode, ValidationError
from nbformat.v4 import new_markdown_cell, new_raw_cell

from posenc_series.cells import is_folded, is_form, tags
from posenc_series.commands import CommandError
from posenc_series.listing import ROOT

EXPLANATION = """\
<details>
<summary>Show the explanation</summary>

{}

</details>"""
PREDICTION = "Your prediction: "
NEEDS_CHECK = """

*Folded cells below check your answer. After a restart, run them first, with
all cells above: Run > Run All Above Selected Cell.*"""
SOLUTIONS = """\
# Solutions: {}

A solution runs where its exercise is: copy it into [your notebook](../{})."""

# From the words of a link, its file and its anchor to Markdown. An empty file
# means the page that has the link; an anchor begins with "#", or is empty.
Link = Callable[[str, str, str], str]


@contextmanager
def as_a_notebook(path: Path) -> Iterator[None]:
    """Turn what nbformat raises for another file into a `CommandError`."""
    try:
        yield
    except (LookupError, AttributeError, ValueError, ValidationError) as error:
        first_line = str(error).partition("\n")[0]
        raise CommandError(f"{path} is no notebook: {first_line}") from error


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook as it is stored.

    Raises:
        CommandError: If the file is no notebook, or has no cells.
    """
    with as_a_notebook(path):
        notebook = nbformat.v4.reads(path.read_text(encoding="utf-8"))
        notebook.nbformat_minor = 5
        for number, cell in enumerate(notebook.cells):
            cell.setdefault("id", f"cell-{number}")  # older ones have none
        nbformat.validate(notebook)
    if not notebook.cells:
        raise CommandError(f"{path} has no cells")
    return notebook


def run_up_to(
    name: str, last: str, without: Collection[str] = ()
) -> dict[str, object]:
    """Run a notebook's code up to the cell `last`; return what it defines.

    Exercises stay open and solutions are left out, as a reader who skips them
    would have it. So are what only draws, for the time it takes, and the
    cells `without`.
    """
    cells = read_notebook(ROOT / f"notebooks/{name}.ipynb").cells
    names: dict[str, object] = {}
    for cell in cells[: [cell.id for cell in cells].index(last) + 1]:
        is_left_out = {"solution", "drawing"} & tags(cell)
        if cell.cell_type != "code" or is_left_out or cell.id in without:
            continue
        exec(cell.source, names)
    return names


def student_notebook(path: Path) -> NotebookNode:
    """Read a notebook to work in: no outputs and no solutions.

    After each Predict there is a place to write, and its answer is folded:
    the code, which shows its first line, and the explanation. Sentences that
    are judged in a form have their place there.
    """
    notebook = read_notebook(path)
    for cell in _explanations(notebook.cells):
        cell.source = EXPLANATION.format(cell.source)
    has_forms = any(map(is_form, notebook.cells))
    cells, notebook.cells = notebook.cells, []
    for cell in cells:
        if "solution" in tags(cell):
            continue
        notebook.cells.append(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            if "reveal" in tags(cell):
                cell.metadata["jupyter"] = {"source_hidden": True}
        elif "predict" in tags(cell) and not has_forms:
            # JupyterLab opens a raw cell at one click.
            place = new_raw_cell(PREDICTION, id=f"your-{cell.id}")
            notebook.cells.append(place)
        elif "exercise" in tags(cell) and cell.cell_type == "markdown":
            cell.source += NEEDS_CHECK
    return notebook


def solutions(path: Path) -> NotebookNode | None:
    """Read the solutions of a notebook's exercises, each below its task."""

    def beside(text: str, file: str, anchor: str) -> str:
        if file.startswith("../"):
            return text  # which a reader's folder lacks
        return f"[{text}](../{file or path.name}{anchor})"

    notebook = read_notebook(path)
    title = title_of(path, notebook.cells)
    cells = [new_markdown_cell(SOLUTIONS.format(title, path.name), id="title")]
    for cell in notebook.cells:
        if "solution" in tags(cell):
            cell.metadata.pop("jupyter", None)
            cells.append(cell)
        elif "exercise" in tags(cell) and cell.cell_type == "markdown":
            cell.source = cell.source[cell.source.index("### ") :]
            cells.append(cell)
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, beside)
    notebook.cells = cells
    return notebook if len(cells) > 1 else None


def headings(cell: NotebookNode, level: int) -> list[str]:
    """The headings of one level, 1 to 6, that a cell of text has."""
    if cell.cell_type != "markdown":
        return []
    return re.findall(rf"^#{{{level}}} (.+)$", cell.source, re.MULTILINE)


def title_of(path: Path, cells: list[NotebookNode]) -> str:
    """The number of a notebook and its first heading."""
    titles = [title for cell in cells for title in headings(cell, 1)]
    return " ".join([path.stem[:2], *titles[:1]])


def by_section(
    cells: list[NotebookNode],
) -> list[tuple[str, list[NotebookNode]]]:
    """Sections with their titles; what comes before the first has none."""
    found: list[tuple[str, list[NotebookNode]]] = [("", [])]
    for cell in cells:
        for title in headings(cell, 2):
            found.append((title, []))
        found[-1][1].append(cell)
    return found


def in_sections(
    cells: list[NotebookNode], names: Collection[str]
) -> list[NotebookNode]:
    """The cells before the first section, and of those that are named.

    The first words of a name will do, and no names stand for all sections.
    """
    wanted = tuple(name.lower() for name in names) or ""
    return [
        cell
        for title, section in by_section(cells)
        if not title or title.lower().startswith(wanted)
        for cell in section
    ]


def check_sections(paths: Sequence[Path], names: Collection[str]) -> None:
    """Raise a `CommandError` for a section that no notebook has."""
    cells = [cell for path in paths for cell in read_notebook(path).cells]
    titles = [title for title, _ in by_section(cells) if title]
    for name in names:
        if not any(t.lower().startswith(name.lower()) for t in titles):
            raise CommandError(
                f"no section {name!r}; there are: {', '.join(titles)}"
            )


def answers(cells: list[NotebookNode]) -> list[tuple[int, int]]:
    """Where the answer to each Predict begins and ends.

    An answer begins with the cell tagged `reveal`. It ends where a new
    section, question or exercise begins.

    Returns:
        The first and the last index of each answer.
    """
    found = []
    for first, cell in enumerate(cells):
        if "reveal" in tags(cell):
            last = first
            while last + 1 < len(cells) and not _is_new(cells[last + 1]):
                last += 1
            found.append((first, last))
    return found


def _explanations(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The text after each Predict, until other code is shown."""
    found = []
    for first, last in answers(cells):
        for place, cell in enumerate(cells[first : last + 1]):
            if cell.cell_type == "markdown":
                found.append(cell)
            elif place and not is_folded(cell):
                break
    return found


def _is_new(cell: NotebookNode) -> bool:
    heading = cell.cell_type == "markdown" and cell.source.startswith("#")
    return heading or "predict" in tags(cell)


# [text](07_rotary.ipynb), [text](#cell-id=hand), both, or [text](../a.py)
LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?=[\w.#])([\w./-]*)(#[\w=-]+)?\)")


def relink(source: str, link: Link) -> str:
    """Let links to files and cells lead elsewhere, or become plain text.

    Args:
        source: Markdown.
        link: Gives what takes the place of a link.
    """
    return LINK.sub(lambda m: link(m[1], m[2], m[3] or ""), source)


def unlinked(source: str) -> str:
    """Markdown whose links to files and cells are plain text."""
    return relink(source, lambda text, file, anchor: text)


def sentence(text: str) -> str:
    """The sentence with bold words, which is the thing to remember."""
    bold = max(re.findall(r"(?s)\*\*.+?\*\*", text), key=len, default="")
    if len(bold.split()) < 4:
        return ""
    place = text.index(bold)
    before = re.split(r"(?<=[.?!*]) |(?<=\.\)) |\n\n", text[:place])[-1]
    after = "" if bold[-3] in ".?!" else text[place + len(bold) :]
    return before + bold + re.split(r"(?<=[.?!])(?=\s)", after)[0]


def alt_texts(cell: NotebookNode, path: Path) -> list[str]:
    """The alt texts of the pictures of a cell, in the notebook at a path.

    Raises:
        CommandError: If a picture comes without such a text.
    """
    texts = []
    for output in cell.get("outputs", ()):
        if "image/png" in output.get("data", {}):
            texts.append(output.metadata.get("image/png", {}).get("alt"))
    if not all(texts):
        place = f"{path.name}, cell {cell.id}"
        raise CommandError(f"{place}: a picture without a text; show(alt=...)")
    return texts
