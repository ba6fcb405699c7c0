"""Prepare what Sphinx turns into pages: notebooks, and some other files.

Nothing here needs Sphinx. A notebook is changed so that its page folds what
JupyterLab folds, and the answers too, and has room for a prediction.
"""

import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from posenc_series.cells import (
    ASKS,
    JUDGMENTS,
    is_folded,
    is_form,
    question_and_choices,
    tags,
)
from posenc_series.chapters import (
    alt_texts,
    answers,
    read_notebook,
    relink,
    title_of,
)
from posenc_series.commands import CommandError
from posenc_series.listing import COLAB, NOTEBOOKS, ROOT, Listed

WEB = Path(__file__).resolve().parent
OTHER_PAGES = {
    "install": "INSTALL.md",
    "workshop": "workshop/README.md",
    "changes": "web/changes.md",
}
ALONG_THE_SERIES = re.compile(r"\[(Previous|Next): ")
ROOM_TO_WRITE = (
    '<label class="prediction" data-question="{}">Your prediction'
    '<textarea rows="2"></textarea></label>'
)
ROOM_TO_CHOOSE = """\
<fieldset class="prediction" data-question="{}">
<legend>Your prediction</legend>

{}

{}</fieldset>"""
CHOICE = '- <label><input type="radio" name="{}"> {}</label>'
OWN_WORDS = '<textarea rows="2" aria-label="In your own words"></textarea>'
ANSWER = (
    '<details class="answer" data-question="{}">'
    "<summary>Show the answer</summary>"
)
SOLUTION = '<details class="solution"><summary>Show the solution</summary>'


def whole_numbers(text: str) -> str:
    """A text in which no line breaks within a number such as 10 000."""
    return re.sub(r"(?<=\d) (?=\d{3}\b)", "\N{NO-BREAK SPACE}", text)


# The page of a notebook.


def page_of(path: Path, keras: bool, repository: str) -> NotebookNode:
    """Make the source of a notebook's page.

    Args:
        path: The notebook.
        keras: Whether it needs TensorFlow.
        repository: OWNER/NAME on GitHub, or nothing.
    """
    notebook = read_notebook(path)
    links = new_markdown_cell(how_to_run(path.stem, keras, repository))
    cells = [c for c in notebook.cells if not ALONG_THE_SERIES.match(c.source)]
    judges = any(map(is_form, cells))
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = _prose(cell, repository)
            if "predict" in tags(cell):
                cell.source = _with_room(cell, judges)
        else:
            _fold_as_in_jupyterlab(cell)
            _hand_over_alt_text(cell, path)
            if tags(cell) & ASKS:
                cell.outputs = []  # which say that it is not answered yet
    cells[0].source = re.sub(
        "^# .+$", f"# {title_of(path, cells)}", cells[0].source, flags=re.M
    )
    notebook.cells = [cells[0], links, *_with_folds(cells[1:])]
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # the same in each build
    return notebook


def _prose(cell: NotebookNode, repository: str) -> str:
    """The text of a cell, with links to pages."""
    paragraphs = cell.source.split("\n\n")
    # The theme has links to the previous page and to the next one.
    kept = [text for text in paragraphs if not ALONG_THE_SERIES.match(text)]
    return relink_files("\n\n".join(kept), "notebooks", repository)


def _with_room(cell: NotebookNode, judges: bool) -> str:
    """A question, with choices or with room for a prediction."""
    room = ROOM_TO_WRITE.format(cell.id)
    question, choices = question_and_choices(cell.source)
    if choices:
        room = _choices(cell.id, choices, OWN_WORDS)
    elif judges:
        room = _choices(cell.id, JUDGMENTS)
    return f'<div class="predict">\n\n{question}\n\n{room}\n\n</div>'


def _choices(question: str, choices: Sequence[str], more: str = "") -> str:
    """Choices, each as a button; `more` stands below."""
    labels = [CHOICE.format(question, choice) for choice in choices]
    return ROOM_TO_CHOOSE.format(question, "\n".join(labels), more)


def _fold_as_in_jupyterlab(cell: NotebookNode) -> None:
    """Tell MyST-NB what is folded; the first line says what it is."""
    if is_folded(cell) and "solution" not in tags(cell):
        first_line = cell.source.splitlines()[0].removeprefix("# ")
        cell.metadata.tags = [*cell.metadata.get("tags", []), "hide-input"]
        cell.metadata.mystnb = {
            "code_prompt_show": first_line,
            "code_prompt_hide": first_line,
        }


def _hand_over_alt_text(cell: NotebookNode, path: Path) -> None:
    """Move the alt text to the cell, where MyST-NB looks for it."""
    texts = alt_texts(cell, path)
    if len(texts) > 1:
        raise CommandError(
            f"{path.name}, cell {cell.id}: more than one picture; MyST-NB"
            " has one alt text for all pictures of a cell"
        )
    if texts:
        mystnb = cell.metadata.setdefault("mystnb", {})
        mystnb["image"] = {"alt": texts[0]}


def _with_folds(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Fold answers and solutions, and give each cell an address."""
    opens, closes = {}, set()
    for first, last in answers(cells):
        asks = [cell.id for cell in cells[:first] if "predict" in tags(cell)]
        opens[first] = ANSWER.format(asks[-1])
        closes.add(last)
    solved = [i for i, cell in enumerate(cells) if "solution" in tags(cell)]
    for place in solved:  # those that follow each other belong together
        if place - 1 not in solved:
            opens[place] = SOLUTION
        if place + 1 not in solved:
            closes.add(place)
    made = []
    for place, cell in enumerate(cells):
        if place in opens:
            made.append(new_markdown_cell(opens[place]))
        made.append(new_markdown_cell(f'<div id="cell-id={cell.id}"></div>'))
        made.append(cell)
        if place in closes:
            made.append(new_markdown_cell("</details>"))
    return made


def how_to_run(name: str, keras: bool, repository: str) -> str:
    """Say at the top of a page how its notebook is run."""
    command = f"<code>python3 start.py {name[:2]}</code>"
    here = f'<a href="install.html">on your own computer</a> ({command})'
    if not keras:
        # Where scripts run, a button takes the place of this text.
        return f'<p class="run" data-run>Run this notebook {here}.</p>'
    text = "No browser can train with TensorFlow, as this notebook does:"
    if repository:
        address = COLAB.format(repository, f"{name}.ipynb")
        text += f' <a href="{address}">open it on Colab</a>, for which you'
        text += " need a Google account, or"
    return f'<p class="run">{text} run it {here}.</p>'


def exercises_on_page(listed: Listed) -> int:
    """How many exercises a reader can solve on the page of a notebook."""
    if listed.tensorflow:
        return 0
    cells = read_notebook(listed.path).cells
    return sum(
        "exercise" in tags(cell) and cell.cell_type == "code" for cell in cells
    )


# Pages made of other files.


def relink_files(text: str, folder: str, repository: str) -> str:
    """Let links to files and cells lead to pages, or to GitHub.

    Args:
        text: Markdown.
        folder: Where it stands in the repository.
        repository: OWNER/NAME on GitHub; without it, what has no page loses
            its link.
    """
    pages = {page: f"{name}.md" for name, page in OTHER_PAGES.items()}
    pages["README.md"] = "index.md"

    def link(text: str, file: str, anchor: str) -> str:
        path = posixpath.normpath(posixpath.join(folder, file))
        if not file:
            address = ""
        elif path.endswith(".ipynb"):
            address = posixpath.basename(path)
        elif path in pages:
            address = pages[path]
        elif repository:
            address = f"https://github.com/{repository}/blob/HEAD/{path}"
        else:
            return text
        if anchor.startswith("#cell-id="):  # which Sphinx does not know
            page = address.replace(".ipynb", ".html")
            return f'<a href="{page}{anchor}">{text}</a>'
        return f"[{text}]({address}{anchor})"

    return relink(text, link)


# All of them.


def write_sources(folder: Path, repository: str, home: str) -> None:
    """Write what Sphinx reads; unchanged files are left alone.

    Args:
        folder: Where to write it.
        repository: OWNER/NAME on GitHub, or nothing.
        home: The home page.
    """
    texts = {"index.md": home}
    for name, file in OTHER_PAGES.items():
        text = (ROOT / file).read_text("utf-8")
        text = relink_files(text, posixpath.dirname(file), repository)
        # A box to tick on paper; MyST's own has no label.
        texts[f"{name}.md"] = text.replace("- [ ] ", "- \N{BALLOT BOX} ")
    for each in NOTEBOOKS:
        page = page_of(each.path, each.tensorflow, repository)
        texts[each.file] = nbformat.writes(page)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        file = folder / name
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
