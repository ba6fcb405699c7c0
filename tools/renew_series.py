"""Update every file that repeats something of notebooks/series.toml.

These are README.md and workshop/README.md with their tables, the contents page
notebooks/README.md, and each notebook with its title, its minutes, and the
links to its neighbors. Once the series is published, they are also those that
say where: badges, the address to clone, that for Binder, the project's and the
citation's, and links from notebooks to a form for readers who are lost.
"""

import re
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from posenc_series import commands
from posenc_series.chapters import read_notebook
from posenc_series.lessons import plans, table_of_questions, table_of_stuck
from posenc_series.listing import (
    COLAB,
    LIST,
    NOTEBOOKS,
    ROOT,
    WORKSHOP,
    Listed,
    Published,
    minutes_of,
    neighbors,
    read_list,
    read_published,
    table_of_needs,
    tables,
)

TABLE = r"(?s)(?<=<!--{}-->\n).*?(?=<!--end-->)"
ALONG = re.compile(r"(?m)^\[(?:Previous|Next): .+$")
MINUTES = re.compile(r"(?i)(?<=\babout )\d+(?= minutes)")
README, CONTENTS = ROOT / "README.md", ROOT / "notebooks/README.md"
INSTALL, PYPROJECT = ROOT / "INSTALL.md", ROOT / "pyproject.toml"
CITATION = ROOT / "CITATION.cff"
BADGES = re.compile(r"(?s)(?<=<!--published-->\n).*?(?=<!--end-->)")
BINDER = re.compile(r"(?<=mybinder.org/v2/gh/)[^/]+/[^/]+(?=/binder)")
CLONE = re.compile(r"(?<=git clone https://github.com/)\S+/\S+(?=\.git )")
LOST = re.compile(r"\A\[I was lost here\].+\n\n")
ADDRESSES = re.compile(r"(?s)(?<=# published\n).*?(?=# end\n)")
BADGE = "[![{0}](https://img.shields.io/badge/{1}-open-1f6fb2)]({2})"


def files_as_listed() -> dict[Path, str]:
    """The text of every file that repeats something of the list."""
    _, _, listed = read_list()  # again, since the minutes may have changed
    published = read_published()
    texts = {
        README: with_badges(
            with_tables(README, {"notebooks": tables(listed, "notebooks/")}),
            published,
        ),
        WORKSHOP: with_tables(
            WORKSHOP,
            {
                "notebooks": f"{table_of_needs(listed)}\n",
                "questions": f"{table_of_questions()}\n",
                "stuck": f"{table_of_stuck()}\n",
                "plans": f"{plans()}\n",
            },
        ),
        CONTENTS: with_tables(CONTENTS, {"notebooks": tables(listed)}),
        **with_addresses(published),
    }
    for each in listed:
        notebook = read_notebook(each.path)
        new = renewed(deepcopy(notebook), each, published.repository)
        text = each.path.read_text(encoding="utf-8")
        is_same = new == notebook  # however the file is written
        texts[each.path] = text if is_same else nbformat.writes(new) + "\n"
    return texts


def with_tables(path: Path, tables: dict[str, str]) -> str:
    """A page with its tables replaced, by name."""
    text = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        place = re.compile(TABLE.format(name))
        if not place.search(text):
            raise commands.CommandError(
                f"{path}: no <!--{name}--> and <!--end-->"
            )
        text = place.sub(lambda _, table=table: table, text, count=1)
    return text


def with_badges(text: str, published: Published) -> str:
    """A page that says where the series can be cloned and opened."""
    if not published.repository:
        return BADGES.sub("", text, count=1)
    binder = f"https://mybinder.org/v2/gh/{published.repository}/binder"
    first = NOTEBOOKS[0].file
    keras = next(each.file for each in NOTEBOOKS if each.tensorflow)
    places = {
        "Web edition": published.address,
        "Binder": f"{binder}?urlpath=lab/tree/my_notebooks/{first}",
        "Colab": COLAB.format(published.repository, keras),
    }
    badges = [
        BADGE.format(name, name.replace(" ", "_"), place)
        for name, place in places.items()
        if place
    ]
    block = "\n".join(badges) + "\n"
    text = CLONE.sub(published.repository, text)
    return BADGES.sub(lambda _: block, text, count=1)


def with_addresses(published: Published) -> dict[Path, str]:
    """The texts of the files that name addresses and have no table."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in (INSTALL, PYPROJECT, CITATION)
    }
    urls = cited = ""
    if published.repository:
        code = f"https://github.com/{published.repository}"
        site = published.address or code
        urls = f'[project.urls]\nHomepage = "{site}"\nRepository = "{code}"\n'
        cited = f'url: "{site}"\nrepository-code: "{code}"\n'
        texts[INSTALL] = BINDER.sub(published.repository, texts[INSTALL])
    texts[PYPROJECT] = ADDRESSES.sub(lambda _: urls, texts[PYPROJECT])
    texts[CITATION] = ADDRESSES.sub(lambda _: cited, texts[CITATION])
    return texts


def renewed(
    notebook: NotebookNode, listed: Listed, repository: str
) -> NotebookNode:
    """A notebook with the title, the links and the minutes of the list."""
    title, links = f"# {listed.title}", neighbors(listed.file)
    beginning = [c for c in notebook.cells[:3] if c.cell_type == "markdown"]
    for cell in beginning:
        cell.source = re.sub(r"\A# .+", lambda _: title, cell.source)
        cell.source = MINUTES.sub(str(listed.minutes), cell.source)
    for cell in [*beginning, notebook.cells[-1]]:
        cell.source = ALONG.sub(lambda _: links, cell.source)
    last = notebook.cells[-1]
    last.source = LOST.sub("", last.source)
    if repository:
        form = f"https://github.com/{repository}/issues/new?template=lost.md"
        lost = f"[I was lost here]({form}&title={listed.file})"
        last.source = f"{lost}\n\n{last.source}"
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


def publish(address: str, repository: str) -> None:
    """Write to the list where the series is published."""
    text = LIST.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^address = .*$", f'address = "{address}"', text)
    text = re.sub(
        r"(?m)^repository = .*$", f'repository = "{repository}"', text
    )
    LIST.write_text(text, encoding="utf-8")


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
    parser.add_argument(
        "--address",
        type=commands.site_address,
        metavar="URL",
        help="where the web edition is published; with --repository",
    )
    parser.add_argument(
        "--repository",
        type=commands.repository_name,
        metavar="OWNER/NAME",
        help="where the series is published on GitHub; with --address",
    )
    given = parser.parse_args()
    if bool(given.address) != bool(given.repository):
        parser.error("--address and --repository go together")
    if given.address:
        publish(given.address, given.repository)
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
