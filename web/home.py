"""The home page: what to read, and a card for each notebook."""

import html
from base64 import b64decode
from itertools import groupby
from pathlib import Path
from string import Template

from pages import WEB, whole_numbers
from posenc_series.chapters import read_notebook
from posenc_series.listing import NOTEBOOKS, PARTS, ROOT, Listed

CARDS = "cards"  # the folder of their pictures
CARD = """\
<a class="chapter" href="{page}.html">
<img src="{folder}/{number}.png" alt="" loading="lazy">
<span class="about">
<strong>{number} {title}</strong>
<span>{question}</span>
<small>about {minutes} minutes{tensorflow}</small>
</span>
</a>"""
LIST_OF_PAGES = """\
```{{toctree}}
:hidden:
:caption: {part}

{names}
```
"""


def home_page() -> str:
    """Make the home page, of home.md and of the list of notebooks."""
    cards, pages = [], []
    for part in PARTS:
        listed = [each for each in NOTEBOOKS if each.part == part]
        grid = "\n".join(map(_card, listed))
        cards.append(f'### {part}\n\n<div class="chapters">\n{grid}\n</div>\n')
        names = "\n".join(each.path.stem for each in listed)
        pages.append(LIST_OF_PAGES.format(part=part, names=names))
    return Template((WEB / "home.md").read_text("utf-8")).substitute(
        start_file=NOTEBOOKS[0].file,
        cards="\n".join(cards),
        pages="\n".join(pages),
        handouts=_downloads(),
    )


def _card(listed: Listed) -> str:
    return CARD.format(
        page=listed.path.stem,
        folder=CARDS,
        number=listed.number,
        title=html.escape(whole_numbers(listed.title)),
        question=html.escape(listed.question),
        minutes=listed.minutes,
        tensorflow=", TensorFlow" if listed.tensorflow else "",
    )


def write_pictures(folder: Path) -> None:
    """Write the cards' pictures, which the list names, or each first one."""
    folder.mkdir()
    for each in NOTEBOOKS:
        png = next(
            output.data["image/png"]
            for cell in read_notebook(each.path).cells
            if cell.id == each.figure or not each.figure
            for output in cell.get("outputs", ())
            if "image/png" in output.get("data", {})
        )
        (folder / f"{each.number}.png").write_bytes(b64decode(png))


def handouts() -> list[Path]:
    """The handouts to print that were built."""
    return sorted((ROOT / "handouts").glob("*/*.pdf"))


def _downloads() -> str:
    """Links to the handouts, if there are any."""
    lines = []
    for kind, files in groupby(handouts(), lambda path: path.parent.name):
        links = [
            f'<a href="handouts/{kind}/{path.name}">{path.stem}</a>'
            for path in files
        ]
        lines.append(f"- for {kind}s: {', '.join(links)}")
    return "\n".join(
        ["Handouts to print, as PDF:", "", *lines] if lines else []
    )
