"""Notebooks as HTML, for slides, handouts and sheets: what these share.

A page is one file, with its styles, its pictures and the font of formulas
within, so that it opens by double click and needs no network.
"""

import argparse
import base64
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
)
from nbformat import NotebookNode
from posenc_series.chapters import (
    alt_texts,
    in_sections,
    read_notebook,
)
from posenc_series.commands import parser
from posenc_series.formulas import mathml
from posenc_series.listing import NOTEBOOKS, ROOT
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from posenc.play import figures_in, script_of

CAPTION = re.compile(r"\A\*(?!\*).+\*(?=\n|\Z)")
SENTENCE_ENDS = r"(?<=[.?!])\s+(?=[A-Z\"*$`])"
WIDEST = 85  # characters that a line on a slide has room for
TEMPLATES = ROOT / "workshop/templates"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
<body>
<main>
{body}
</main>
{scripts}
</html>
"""
FONT = '@font-face {{ font-family: "Formulas"; src: url({}); }}'


class _Renderer(IPythonRenderer):
    """Markdown with formulas as MathML."""

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")


def markdown(source: str) -> str:
    """Text as HTML."""
    renderer = _Renderer(escape=False, exclude_anchor_links=True)
    return MarkdownWithMath(renderer=renderer).render(source)


def unfolded(text: str) -> str:
    """Text for where nothing is folded: no sentence says that it is."""
    text = re.sub(r"[Tt]he folded (?=`)|\bfolded (?=\w)", "", text)
    return re.sub(r"[^.?!\n]*\bfolded\b[^.?!\n]*[.?!] ?", "", text)


def code(source: str) -> str:
    """Code in colors."""
    style = HtmlFormatter(noclasses=True, nobackground=True)
    return highlight(source, PythonLexer(), style)


def printed(cell: NotebookNode) -> str:
    """What a cell prints, and the value that it shows."""
    text = ""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        text += output.get("text", "")
        if set(data) == {"text/plain"}:
            text += data["text/plain"]
    if not text:
        return ""
    is_wide = max(map(len, text.splitlines())) > WIDEST
    kind = "printed wide" if is_wide else "printed"
    return f'<pre class="{kind}">{escape(text.rstrip())}</pre>'


def picture(cell: NotebookNode) -> str:
    """The pictures of a cell, and the figure to play with if it has one."""
    shown = ""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if png := data.get("image/png"):
            about = output.metadata["image/png"]
            alt = escape(about["alt"], quote=True)
            source = f"data:image/png;base64,{png.strip()}"
            width = about["width"]
            shown += f'<img src="{source}" width="{width}" alt="{alt}">'
        shown += re.sub("(?s)<script>.*", "", data.get("text/html", ""))
    return f'<div class="picture">{shown}</div>' if shown else ""


def document(title: str, body: str, style: str, script: str = "") -> str:
    """A page as one HTML file.

    Args:
        title: Its title.
        body: What it shows, as HTML.
        style: The name of its style sheet, beside `base.css`.
        script: JavaScript, besides that of the figures in the page.
    """
    sheets = [TEMPLATES / "base.css", TEMPLATES / style]
    styles = [sheet.read_text(encoding="utf-8") for sheet in sheets]
    if "<math" in body:
        font = base64.b64encode((TEMPLATES / "STIXTwoMath.woff").read_bytes())
        source = f"data:font/woff;base64,{font.decode()}"
        styles.insert(0, FONT.format(source))
    parts = []
    if figures := figures_in(body):
        parts.append(script_of(figures))
    if script:  # which may measure the figures
        parts.append(script)
    return PAGE.format(
        title=escape(title),
        style="\n".join(styles),
        body=body,
        scripts="\n".join(f"<script>\n{part}</script>" for part in parts),
    )


def write(page: str, file: Path) -> int:
    """Write a page, in a folder that is made if needed; its size in kB."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page, encoding="utf-8")
    return round(file.stat().st_size / 1000)


def cells_of(path: Path, sections: Sequence[str] = ()) -> list[NotebookNode]:
    """The cells of a notebook, or of some of its sections.

    Raises:
        CommandError: If it cannot be read, or a picture has no text for
            those who cannot see it.
    """
    cells = in_sections(read_notebook(path).cells, sections)
    for cell in cells:
        alt_texts(cell, path)
    return cells


def notebook(name: str) -> Path:
    """The notebook of this file or number."""
    numbered = {each.number: each.path for each in NOTEBOOKS}
    path = numbered.get(name, Path(name))
    if path.suffix == ".ipynb" and path.is_file():
        return path
    raise argparse.ArgumentTypeError(
        f"not a notebook: {name}; name a file, or a number such as 03"
    )


def command(about: str | None, output: str) -> argparse.ArgumentParser:
    """A command that takes notebooks or sections, and writes to a folder.

    Args:
        about: What it does.
        output: The folder, unless another one is named.
    """
    command = parser(about)
    command.add_argument(
        "paths",
        nargs="*",
        type=notebook,
        default=[each.path for each in NOTEBOOKS],
        metavar="NOTEBOOK",
        help="the notebooks to use, by file or number (default: all)",
    )
    command.add_argument(
        "--output",
        type=Path,
        default=Path(output),
        metavar="FOLDER",
        help=f"where to write (default: {output})",
    )
    command.add_argument(
        "--sections",
        nargs="+",
        action="extend",
        default=[],
        metavar="SECTION",
        help='only these, such as "What does", and the title',
    )
    return command
