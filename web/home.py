"""The home page: a card for each notebook, and sentences to judge."""

import html
import re
import shutil
from base64 import b64decode
from pathlib import Path
from string import Template

from nbformat import NotebookNode
from pages import WEB, Edition, whole_numbers
from posenc_series.cells import tags
from posenc_series.chapters import read_notebook
from posenc_series.commands import CommandError
from posenc_series.listing import NOTEBOOKS, PARTS, ROOT, Listed

PICTURE = ".github/binary-and-waves.png"
CARDS = "cards"  # the folder of their pictures
CLAIMS = "claims"  # how the notebook ends whose sentences are judged
SURPRISING = (4, 7, 8, 13, 20)  # of these, what surprises most
CARD = """\
<a class="chapter" href="{page}.html">
<img src="{folder}/{number}.png" alt="" loading="lazy">
<span class="about">
<strong>{number} {title}</strong>
<span>{question}</span>
<small>about {minutes} minutes{tensorflow}</small>
</span>
</a>"""
CLAIM = """\
<div class="claim" data-verdict="{verdict}">

**{sentence}**

<details class="answer">
<summary>Show the verdict</summary>

{says}

{cases}

[See it computed]({file}#{anchor}).

</details>
</div>
"""
SAYS = {
    "true": "True:",
    "false": "False:",
    "it depends": "It depends on a setting:",
}


def home_page(edition: Edition) -> str:
    """Make the home page, of home.md and of the list of notebooks."""
    parts = {
        "start_file": NOTEBOOKS[0].file,
        "claims": claims(),
        "cards": "\n".join(map(_cards_of, PARTS)),
        "pages": "\n".join(map(_pages_of, PARTS)),
        "handouts": _downloads(edition),
    }
    return Template((WEB / "home.md").read_text("utf-8")).substitute(parts)


def _cards_of(part: str) -> str:
    """A heading for a part of the series, and a card for each notebook."""
    cards = [
        CARD.format(
            page=each.path.stem,
            folder=CARDS,
            number=each.number,
            title=html.escape(whole_numbers(each.title)),
            question=html.escape(each.question),
            minutes=each.minutes,
            tensorflow=", TensorFlow" if each.tensorflow else "",
        )
        for each in NOTEBOOKS
        if each.part == part
    ]
    grid = "\n".join(['<div class="chapters">', *cards, "</div>"])
    return f"### {part}\n\n{grid}\n" if cards else ""


def picture_of(listed: Listed) -> bytes:
    """The figure that stands for a notebook: the one listed, or the first.

    Raises:
        CommandError: If the notebook has no such figure.
    """
    for cell in read_notebook(listed.path).cells:
        if cell.id == listed.figure or not listed.figure:
            for output in cell.get("outputs", ()):
                if "image/png" in output.get("data", {}):
                    return b64decode(output.data["image/png"])
    raise CommandError(
        f"{listed.file}: no figure in a cell {listed.figure!r}, which"
        " notebooks/series.toml names"
    )


def write_pictures(folder: Path) -> None:
    """Write the cards' pictures, and the one for links that are shared."""
    folder.mkdir()
    shutil.copy(ROOT / PICTURE, folder)
    for each in NOTEBOOKS:
        (folder / f"{each.number}.png").write_bytes(picture_of(each))


# Sentences to judge.


def claims() -> str:
    """Some sentences of the notebook on claims, each with its verdict."""
    found = [each for each in NOTEBOOKS if each.path.stem.endswith(CLAIMS)]
    if not found:
        return ""
    cells = {cell.id: cell for cell in read_notebook(found[0].path).cells}
    return "\n".join(
        _claim(found[0].file, cells, number) for number in SURPRISING
    )


def _claim(file: str, cells: dict[str, NotebookNode], number: int) -> str:
    heading = cells[f"sentence-{number}"].source
    sentence = heading.removeprefix(f"### {number}. ")
    verdict, cases = verdict_of(cells[f"verdict-{number}"], number)
    anchor = re.sub(r"[^\w -]", "", heading.removeprefix("### ").lower())
    return CLAIM.format(
        verdict=verdict,
        sentence=sentence,
        says=SAYS[verdict],
        cases="\n".join(cases),
        file=file,
        anchor=anchor.replace(" ", "-"),
    )


def verdict_of(cell: NotebookNode, number: int) -> tuple[str, list[str]]:
    """The verdict that a cell printed on its sentence, and in which cases.

    Raises:
        CommandError: If it printed none.
    """
    printed = "\n".join(output.get("text", "") for output in cell.outputs)
    found = re.search(rf"Sentence {number}: ([\w ]+)\.", printed)
    if "reveal" not in tags(cell) or not found:
        raise CommandError(f"the cell {cell.id} printed no verdict")
    cases = re.findall(r"(?m)^- .+: (?:holds|does not hold)$", printed)
    return found[1], cases


# What is below.


def _pages_of(part: str) -> str:
    """The navigation's entries for a part of the series."""
    names = [each.path.stem for each in NOTEBOOKS if each.part == part]
    lines = ["```{toctree}", ":hidden:", f":caption: {part}", "", *names]
    return "\n".join([*lines, "```", ""]) if names else ""


def _downloads(edition: Edition) -> str:
    """Say what handouts there are to download, if any were built."""
    titles = {each.path.stem: each.title for each in NOTEBOOKS}
    lines = []
    for name, title in [*titles.items(), ("positional_encoding", "All")]:
        links = [
            f'<a href="handouts/{kind}/{name}.pdf">{kind}</a>'
            for kind in ("student", "instructor")
            if f"{kind}/{name}.pdf" in edition.handouts
        ]
        if links:
            lines.append(f"- {title}: {', '.join(links)}")
    if not lines:
        return ""
    return "\n".join(["Handouts to print, as PDF:", "", *lines])
