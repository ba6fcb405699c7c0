"""Update what repeats notebooks/series.toml and workshop/class.toml.

These are the tables of README.md, notebooks/README.md and workshop/README.md,
and each notebook's title, minutes, and links to its neighbors. Once
notebooks/series.toml says where the series is published, a notebook also ends
with a link to a form for readers who are lost.
"""

import re
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from posenc_series import commands
from posenc_series.chapters import read_notebook
from posenc_series.lessons import table_of_questions
from posenc_series.listing import (
    NOTEBOOKS,
    REPOSITORY,
    ROOT,
    Listed,
    neighbors,
    tables,
)

TABLE = r"(?s)(?<=<!--{}-->\n).*?(?=<!--end-->)"
ALONG = re.compile(r"(?m)^\[(?:Previous|Next): .+$")
MINUTES = re.compile(r"(?i)(?<=\babout )\d+(?= minutes)")
LOST = "[I was lost here](https://github.com/{}/issues/new?{})"


def files_as_listed() -> dict[Path, str]:
    """The text of every file that repeats something of the lists."""
    pages = {
        "README.md": {"notebooks": tables("notebooks/")},
        "notebooks/README.md": {"notebooks": tables()},
        "workshop/README.md": {
            "questions": f"{table_of_questions()}\n",
        },
    }
    texts = {ROOT / page: with_tables(page, pages[page]) for page in pages}
    for each in NOTEBOOKS:
        notebook = read_notebook(each.path)
        new = renewed(deepcopy(notebook), each, REPOSITORY)
        text = each.path.read_text(encoding="utf-8")
        is_same = new == notebook  # however the file is written
        texts[each.path] = text if is_same else nbformat.writes(new) + "\n"
    return texts


def with_tables(page: str, tables: dict[str, str]) -> str:
    """A page with its tables replaced, by name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, table in tables.items():
        place = re.compile(TABLE.format(name))
        if not place.search(text):
            raise commands.CommandError(
                f"{page}: no <!--{name}--> and <!--end-->"
            )
        text = place.sub(lambda _, table=table: table, text, count=1)
    return text


def renewed(
    notebook: NotebookNode, listed: Listed, repository: str
) -> NotebookNode:
    """A notebook with the title, the links and the minutes of the list."""
    title, links = f"# {listed.title}", neighbors(listed.file)
    beginning = [c for c in notebook.cells[:3] if c.cell_type == "markdown"]
    for cell in beginning:
        cell.source = re.sub(r"\A# .+", lambda _: title, cell.source)
        cell.source = MINUTES.sub(str(listed.minutes), cell.source)
        cell.source = ALONG.sub(lambda _: links, cell.source)
    if repository:
        form = f"template=lost.md&title={listed.file}"
        links += f" | {LOST.format(repository, form)}"
    last = notebook.cells[-1]
    last.source = ALONG.sub(lambda _: links, last.source)
    return notebook


def main() -> None:
    """Write the files that have changed."""
    commands.parser(__doc__).parse_args()
    for path, text in files_as_listed().items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"renewed {path.relative_to(ROOT)}")


if __name__ == "__main__":
    commands.run(main)
