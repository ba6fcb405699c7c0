"""Update every file that repeats something of notebooks/series.toml.

These are README.md and workshop/README.md with their tables, and each notebook
with its title, its minutes, and the links to its neighbors.
"""

import re
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from series import commands
from series.chapters import read_notebook
from series.listing import (
    LIST,
    NOTEBOOKS,
    ROOT,
    Listed,
    minutes_of,
    neighbors,
    read_list,
    table_of_needs,
    tables,
)

TABLE = re.compile(r"(?s)(?<=<!--notebooks-->\n).*?(?=<!--end-->)")
ALONG = re.compile(r"(?m)^\[(?:Previous|Next): .+$")
MINUTES = re.compile(r"(?i)(?<=\babout )\d+(?= minutes)")
README, WORKSHOP = ROOT / "README.md", ROOT / "workshop/README.md"


def files_as_listed() -> dict[Path, str]:
    """The text of every file that repeats something of the list."""
    _, _, listed = read_list()  # again, since the minutes may have changed
    texts = {
        README: with_table(README, tables(listed, "notebooks/")),
        WORKSHOP: with_table(WORKSHOP, f"{table_of_needs(listed)}\n"),
    }
    for each in listed:
        notebook = read_notebook(each.path)
        new = renewed(deepcopy(notebook), each)
        text = each.path.read_text(encoding="utf-8")
        is_same = new == notebook  # however the file is written
        texts[each.path] = text if is_same else nbformat.writes(new) + "\n"
    return texts


def with_table(path: Path, table: str) -> str:
    """A page with its table replaced."""
    text = path.read_text(encoding="utf-8")
    if not TABLE.search(text):
        raise commands.CommandError(
            f"{path}: no <!--notebooks--> and <!--end-->"
        )
    return TABLE.sub(lambda _: table, text)


def renewed(notebook: NotebookNode, listed: Listed) -> NotebookNode:
    """A notebook with the title, the links and the minutes of the list."""
    title, links = f"# {listed.title}", neighbors(listed.file)
    beginning = [c for c in notebook.cells[:3] if c.cell_type == "markdown"]
    for cell in beginning:
        cell.source = re.sub(r"\A# .+", lambda _: title, cell.source)
        cell.source = MINUTES.sub(str(listed.minutes), cell.source)
    for cell in [*beginning, notebook.cells[-1]]:
        cell.source = ALONG.sub(lambda _: links, cell.source)
    return notebook


def renew_minutes() -> None:
    """Estimate the minutes of all notebooks, and write them to the list."""
    before = text = LIST.read_text(encoding="utf-8")
    for each in NOTEBOOKS:
        minutes = minutes_of(read_notebook(each.path))
        entry = rf'(?s)(file = "{each.file}".*?\nminutes = )\d+'
        text = re.sub(entry, rf"\g<1>{minutes}", text, count=1)
    LIST.write_text(text, encoding="utf-8")
    if text != before:
        print(f"renewed {LIST.relative_to(ROOT)}")


def main() -> None:
    """Do what the command line asks for."""
    parser = commands.parser(__doc__)
    parser.add_argument(
        "--minutes",
        action="store_true",
        help="first estimate the minutes again, from the notebooks",
    )
    parser.add_argument(
        "--light",
        action="store_true",
        help="only print the notebooks that need no TensorFlow",
    )
    given = parser.parse_args()
    if given.light:
        light = [each.path for each in NOTEBOOKS if not each.tensorflow]
        print(*(path.relative_to(ROOT).as_posix() for path in light), end="")
        return
    if given.minutes:
        renew_minutes()
    for path, text in files_as_listed().items():
        if path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"renewed {path.relative_to(ROOT)}")


if __name__ == "__main__":
    commands.run(main)
