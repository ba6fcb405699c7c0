"""Number sections and figures in order, or give a notebook another number.

Without an argument: after you have added, moved or removed sections or
figures, all of them are numbered in order, and every reference to them is
corrected, in the notebooks and on the workshop's page. Write a question mark
instead of the number of a new one: `## ?. Title`, `**Figure ?.** Caption`.

With a notebook and a number, the notebook takes that place and the others
move up or down: files, tests, links, prose, `needs` and tables follow. A
number that is neither in a link nor after the word "notebook" stays as it is.
"""

import re
from itertools import count
from pathlib import Path

import nbformat
from posenc_series import commands, references
from posenc_series.chapters import read_notebook
from posenc_series.listing import LIST, NOTEBOOKS, ROOT, WORKSHOP

SPEAK_OF_NOTEBOOKS = (
    *("*.md", "*.py", "*.js", "*.toml", "tests/*", "tools/**/*"),
    *("notebooks/*", "posenc/**/*", "review/**/*", "web/*", "workshop/*"),
    ".github/**/*",
)
OWN = {"tests/test_renumber.py", "web/changes.md"}  # examples, and history
SUFFIXES = {".md", ".py", ".js", ".toml", ".ipynb", ".yml"}


# Sections and figures.


def renumber_pages() -> list[Path]:
    """Number sections and figures in order; return the files that changed.

    Raises:
        CommandError: If two sections or figures of a page have one number, or
            a reference leads to one that is gone.
    """
    notebooks = {path: read_notebook(path) for path in paths()}
    pages = {
        (path.name[:2], kind): references.in_order(
            path.name, kind, references.labels(notebook, kind)
        )
        for path, notebook in notebooks.items()
        for kind in references.LABELS
    }
    changed = []
    for path, notebook in notebooks.items():
        before = [cell.source for cell in notebook.cells]
        for cell in references.prose(notebook):
            _must_lead_somewhere(cell.source, path, pages)
            cell.source = references.renumber(
                cell.source, path.name[:2], pages
            )
        for kind in references.LABELS:
            place = count(1)
            for cell in notebook.cells:
                if cell.cell_type == "markdown":
                    cell.source = references.count_labels(
                        cell.source, kind, place
                    )
        if [cell.source for cell in notebook.cells] != before:
            path.write_text(nbformat.writes(notebook) + "\n", "utf-8")
            changed.append(path)
    return changed + _written(WORKSHOP, _renumbered_page(WORKSHOP, pages))


def paths() -> list[Path]:
    """All notebooks."""
    return [each.path for each in NOTEBOOKS]


def _must_lead_somewhere(
    text: str, path: Path, pages: references.Pages
) -> None:
    for each in references.references(text):
        page = pages.get((each.notebook or path.name[:2], each.kind), {})
        gone = [number for number in each.numbers if number not in page]
        if gone:
            where = f" of notebook {each.notebook}" if each.notebook else ""
            raise commands.CommandError(
                f"{path.name} speaks of {each.kind} {gone[0]}{where}, which"
                " there is not: correct that first"
            )


def _renumbered_page(path: Path, pages: references.Pages) -> str:
    text = path.read_text("utf-8")
    _must_lead_somewhere(text, path, pages)
    return references.renumber(text, None, pages)


def _written(path: Path, text: str) -> list[Path]:
    if text == path.read_text("utf-8"):
        return []
    path.write_text(text, "utf-8")
    return [path]


# Notebooks.


def move(stem: str, place: int) -> list[Path]:
    """Give a notebook another number; return the files that changed.

    Args:
        stem: Its name without the ending, such as "12_spot_the_bug".
        place: The number that it takes.

    Raises:
        CommandError: If there is no such notebook or no such place.
    """
    stems = [path.stem for path in paths()]
    if stem not in stems:
        raise commands.CommandError(f"no notebook {stem}: {', '.join(stems)}")
    if not 0 <= place < len(stems):
        raise commands.CommandError(
            f"a number is from 0 to {len(stems) - 1}, not {place}"
        )
    order = [each for each in stems if each != stem]
    order.insert(place, stem)
    new = {old: f"{at:02}{old[2:]}" for at, old in enumerate(order)}
    new = {old: now for old, now in new.items() if old != now}
    changed = []
    for path in files():
        text = references.renumber_notebooks(path.read_text("utf-8"), new)
        changed += _written(path, text)
    changed += _written(LIST, _list_in_order(new, order))
    changed += _written(WORKSHOP, _rows_in_order(WORKSHOP.read_text("utf-8")))
    for pattern in ("notebooks/{}.ipynb", "tests/test_{}.py"):
        # By way of another name, since two may trade their places.
        for old in new:
            aside = ROOT / f"{pattern.format(old)}.moving"
            (ROOT / pattern.format(old)).rename(aside)
        for old, now in new.items():
            aside = ROOT / f"{pattern.format(old)}.moving"
            aside.rename(ROOT / pattern.format(now))
            changed.append(ROOT / pattern.format(now))
    return [path for path in changed if path.exists()]


def files() -> list[Path]:
    """The files that may speak of notebooks."""
    found = {p for pattern in SPEAK_OF_NOTEBOOKS for p in ROOT.glob(pattern)}
    own = {ROOT / name for name in OWN}
    return sorted(
        p for p in found - own if p.suffix in SUFFIXES and p.is_file()
    )


def _list_in_order(new: dict[str, str], order: list[str]) -> str:
    """The list, already with new names, with entries in the new order."""
    head, *entries = LIST.read_text("utf-8").split("[[notebook]]\n")
    entries = [entry.rstrip("\n") + "\n" for entry in entries]
    numbers = {old[:2]: now[:2] for old, now in new.items()}

    def renewed(entry: str) -> str:
        return re.sub(
            r"(?m)^needs = .*$",
            lambda line: re.sub(
                r"\d\d",
                lambda each: numbers.get(each[0], each[0]),
                line[0],
            ),
            entry,
        )

    entries.sort(key=lambda entry: re.search(r'file = "(\d\d)', entry)[1])
    return (
        head
        + "[[notebook]]\n"
        + "\n[[notebook]]\n".join(map(renewed, entries))
    )


def _rows_in_order(page: str) -> str:
    """A page whose tables have their rows by notebook in the new order."""

    def by_number(rows: re.Match) -> str:
        return "".join(sorted(rows[0].splitlines(True), key=lambda r: r[:4]))

    return re.sub(r"(?m)(?:^\| \d\d .*\n)+", by_number, page)


def main() -> None:
    """Do what the command line asks for."""
    parser = commands.parser(__doc__)
    parser.add_argument("notebook", nargs="?", help="such as 12_spot_the_bug")
    parser.add_argument("number", nargs="?", type=int)
    given = parser.parse_args()
    if given.notebook and given.number is None:
        parser.error("which number shall it have?")
    if not given.notebook:
        changed = renumber_pages()
    else:
        changed = move(given.notebook, given.number)
    for path in sorted(set(changed)):
        print(f"renumbered {path.relative_to(ROOT)}")
    if given.notebook:
        print("Now run: uv run tools/renew_series.py")


if __name__ == "__main__":
    commands.run(main)
