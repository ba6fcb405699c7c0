"""Make handouts from the notebooks: pages, PDF, and notebooks to work in.

A student's notebook that was edited since the last time is kept. PDF needs
Chromium, Chrome or Edge, version 131 or newer.
"""

import argparse
import base64
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
)
from nbformat import NotebookNode
from playwright.sync_api import Browser, Error, sync_playwright
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
    check_sections,
    headings,
    in_sections,
    read_notebook,
    relink,
    title_of,
    without_folds,
)
from posenc_series.commands import CommandError, parser, run
from posenc_series.formulas import mathml
from posenc_series.learners import write_notebooks
from posenc_series.listing import NOTEBOOKS, ROOT, TITLE
from sheets import sheet

from posenc.play import figures_in, script_of

Address = Callable[[str], str | None]  # of the notebook of this name

KINDS = ("student", "instructor")
TEMPLATES = ROOT / "workshop/templates"
SHEET = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>{style}</style>
<body class="sheet">
<main>
{body}
</main>
</html>
"""
BROWSERS = ("chromium", "chromium-browser", "chrome", "msedge")


class _Renderer(IPythonRenderer):
    """Markdown with MathML, and the links along the series marked."""

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")

    def paragraph(self, text: str) -> str:
        if re.match(r"(<a [^>]*>)?(Previous|Next): ", text):
            return f'<p class="series">{text}</p>'
        return f"<p>{text}</p>"


def markdown(source: str) -> str:
    """Text as HTML, with formulas as MathML."""
    renderer = _Renderer(escape=False, exclude_anchor_links=True)
    return MarkdownWithMath(renderer=renderer).render(source)


def math_font() -> str:
    """The font of formulas, as CSS that needs no other file."""
    font = base64.b64encode((TEMPLATES / "STIXTwoMath.woff").read_bytes())
    source = f"data:font/woff;base64,{font.decode()}"
    return f'@font-face {{ font-family: "Handout Math"; src: url({source}); }}'


# Pages.


def mark_cells(
    path: Path, kind: str, address: Address, sections: Sequence[str] = ()
) -> list[NotebookNode]:
    """Read a notebook's cells, marked for the template.

    Args:
        path: The notebook.
        kind: "student" or "instructor".
        address: Gives that of another notebook, or None for no link.
        sections: The sections to take, or none for all.

    Returns:
        The cells that this kind of handout shows. What the template has
        to know about each is in `cell.metadata.handout`.

    Raises:
        CommandError: If it cannot be read, or a picture has no text for
            those who cannot see it.
    """

    def unique(name: str, cell: str) -> str:
        """The id of a cell in a bound series."""
        return f"{name[:2]}-{cell}"

    def link(name: str, cell: str) -> str | None:
        page = address(name) if name else ""
        if page is None or not cell:
            return page
        page = page.partition("#")[0]  # which leads to a chapter, if bound
        return f"{page}#cell-id={unique(name or path.stem, cell)}"

    cells = in_sections(read_notebook(path).cells, sections)
    for cell in cells:
        alt_texts(cell, path)
        cell.id = unique(path.stem, cell.id)
        cell.metadata.handout = NotebookNode(label=_label(cell))
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, link)
        elif tags(cell) & ASKS:
            cell.outputs = []  # which say that it is not answered yet
    if kind == "student":
        for cell in cells:
            if cell.cell_type == "markdown":
                cell.source = without_folds(cell.source)
        cells = [cell for cell in cells if _is_for_students(cell)]
        _hide_folded_code(cells)
        _leave_room_to_write(cells)
        _fold_answers(cells)
    if not cells:
        raise CommandError(f"{path} has nothing to show to a {kind}")
    cells[0].metadata.handout.chapter = _chapter_id(path)
    cells[-1].metadata.handout.last = True
    _list_contents(cells)
    return cells


def _label(cell: NotebookNode) -> str:
    return "Solution" if "solution" in tags(cell) else ""


def _is_for_students(cell: NotebookNode) -> bool:
    """Whether a student's page shows anything of a cell."""
    if "solution" in tags(cell):
        return False
    if cell.cell_type == "markdown":
        return bool(cell.source.strip())
    return bool(cell.get("outputs")) or not is_folded(cell)


def _hide_folded_code(cells: list[NotebookNode]) -> None:
    for cell in cells:
        if is_folded(cell):
            cell.metadata.transient = {"remove_source": True}  # to nbconvert


def _leave_room_to_write(cells: list[NotebookNode]) -> None:
    prediction = ("Your prediction", 2)
    if any(map(is_form, cells)):
        prediction = (f"What do you say: {' / '.join(JUDGMENTS)}?", 1)
    for cell in cells:
        if "predict" in tags(cell):
            _, choices = question_and_choices(cell.source)
            if not choices:
                cell.metadata.handout.write = prediction
        elif "exercise" in tags(cell) and cell.cell_type == "code":
            cell.metadata.handout.write = ("Your answer", 5)


def _fold_answers(cells: list[NotebookNode]) -> None:
    for first, last in answers(cells):
        cells[first].metadata.handout.opens_fold = True
        cells[last].metadata.handout.closes_fold = True


def _list_contents(cells: list[NotebookNode]) -> None:
    """Put a list of sections before the first one."""
    sections = [cell for cell in cells if headings(cell, 2)]
    before = sections[0] if sections else cells[0]
    before.metadata.handout.contents = [
        (cell.id, title) for cell in sections for title in headings(cell, 2)
    ]


def _chapter_id(path: Path) -> str:
    return "notebook-" + re.sub(r"\W", "-", path.stem)


def page(
    paths: Sequence[Path],
    kind: str,
    paper: str,
    address: Address,
    starts: Sequence[int] = (),
    sections: Sequence[str] = (),
) -> str:
    """One HTML page with one or more notebooks.

    Args:
        paths: The notebooks.
        kind: "student" or "instructor".
        paper: "a4" or "letter", for when it is printed.
        address: Gives that of another notebook, or None for no link.
        starts: Page on which each notebook starts, for the contents.
        sections: The sections to take, or none for all.
    """
    chapters, cells = [], []
    for path in paths:
        chapter = mark_cells(path, kind, address, sections)
        title = title_of(path, chapter)
        chapters.append({"id": _chapter_id(path), "title": title})
        cells += chapter
    for chapter, start in zip(chapters, starts, strict=False):
        chapter["starts"] = start
    handout = {
        "title": TITLE if len(paths) > 1 else chapters[0]["title"],
        "kind": kind,
        "paper": paper,
        "chapters": chapters,
    }
    shown = [
        output.get("data", {}).get("text/html", "")
        for cell in cells
        for output in cell.get("outputs", ())
    ]
    figures = figures_in("\n".join(shown))
    if figures:
        handout["script"] = script_of(figures)
    exporter = HTMLExporter(
        template_name="templates",
        extra_template_basedirs=[str(ROOT / "workshop")],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        filters={"markdown2html": markdown},
    )
    html, _ = exporter.from_notebook_node(
        nbformat.v4.new_notebook(cells=cells), {"handout": handout}
    )
    return html


def sheet_page(title: str, text: str, paper: str) -> str:
    """A sheet, as HTML, from its text in Markdown."""
    style = (TEMPLATES / "handout.css").read_text(encoding="utf-8")
    return SHEET.format(
        title=title,
        style=f"{math_font()} @page {{ size: {paper}; }} {style}",
        body=markdown(text),
    )


# PDF.


@contextmanager
def open_browser(options: Sequence[str] = ()) -> Iterator[Browser]:
    """Start Chromium, Chrome or Edge, and close it in the end.

    The environment variable CHROMIUM may name it, by a path or a command.

    Args:
        options: What is handed to the browser as it starts.

    Raises:
        CommandError: If there is none.
    """
    named = os.environ.get("CHROMIUM")
    with sync_playwright() as playwright:
        for name in [named] if named else BROWSERS:
            path = shutil.which(name)  # or where Chrome and Edge install
            where = {"executable_path": path} if path else {"channel": name}
            try:
                browser = playwright.chromium.launch(**where, args=options)
            except Error:
                continue
            with browser:
                yield browser
            return
    if named:
        raise CommandError(f"no browser: {named}, which CHROMIUM names")
    raise CommandError(
        "PDF needs Chromium, Chrome or Edge, and none was found. Let the"
        " environment variable CHROMIUM name one, or leave out --pdf."
    )


def print_pdf(html: str, pdf: Path, browser: Browser) -> int:
    """Print a page to a tagged PDF, and return its number of pages."""
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.set_content(html)
        page.evaluate("document.fonts.ready")
        page.pdf(
            path=pdf, prefer_css_page_size=True, tagged=True, outline=True
        )
    return len(re.findall(rb"/Type /Page\b", pdf.read_bytes()))


# The command.


def _write_html(
    paths: Sequence[Path],
    folder: Path,
    kind: str,
    paper: str,
    sections: Sequence[str],
) -> None:
    """Write a page for each notebook, with links among these alone."""
    addresses = {path.stem: f"{path.stem}.html" for path in paths}
    for path in paths:
        html = page([path], kind, paper, addresses.get, (), sections)
        file = folder / addresses[path.stem]
        file.write_text(html, encoding="utf-8")
        _say(file)


def _write_pdf(
    paths: Sequence[Path],
    folder: Path,
    kind: str,
    paper: str,
    sections: Sequence[str],
    browser: Browser,
) -> None:
    """Write a PDF of each notebook, and one that binds them all."""
    counts = []
    for path in paths:
        html = page([path], kind, paper, lambda name: None, (), sections)
        file = folder / f"{path.stem}.pdf"
        counts.append(print_pdf(html, file, browser))
        _say(file, counts[-1])
    if len(paths) == 1:
        return
    starts = [2 + sum(counts[:place]) for place in range(len(counts))]
    addresses = {path.stem: f"#{_chapter_id(path)}" for path in paths}
    html = page(paths, kind, paper, addresses.get, starts, sections)
    file = folder / "positional_encoding.pdf"
    pages = print_pdf(html, file, browser)
    if pages != 1 + sum(counts):
        raise CommandError(f"the contents of {file} would be wrong")
    _say(file, pages)


def _write_sheets(
    paths: Sequence[Path], folder: Path, paper: str, browser: Browser | None
) -> None:
    """Write a sheet for each notebook of the series, and one for feedback."""
    folder.mkdir(exist_ok=True)
    listed = [each.path for each in NOTEBOOKS]
    texts = {p.stem: sheet(p) for p in paths if p.resolve() in listed}
    feedback = ROOT / "workshop/feedback.md"
    texts[feedback.stem] = feedback.read_text(encoding="utf-8")
    for name, text in texts.items():
        html = sheet_page(name, text, paper)
        file = folder / f"{name}.html"
        file.write_text(html, encoding="utf-8")
        _say(file)
        if browser:
            file = file.with_suffix(".pdf")
            _say(file, print_pdf(html, file, browser))


def _say(file: Path, pages: int | None = None) -> None:
    size = f"{file.stat().st_size / 1000:,.0f} kB"
    length = f" {pages} pages" if pages else ""
    print(f"{file} {size}{length}", flush=True)


def notebook(name: str) -> Path:
    """The notebook of this file or number."""
    path = Path(name)
    if path.suffix == ".ipynb" and path.is_file():
        return path
    for each in NOTEBOOKS:
        if each.number == name:
            return each.path
    raise argparse.ArgumentTypeError(
        f"not a notebook: {name}; name a file, or a number such as 03"
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    command = parser(__doc__)
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
        default=Path("handouts"),
        metavar="FOLDER",
        help="where to write (default: handouts)",
    )
    command.add_argument(
        "--sections",
        nargs="+",
        action="extend",
        default=[],
        metavar="SECTION",
        help='only these on the pages, such as "Meet RoPE"',
    )
    command.add_argument("--pdf", action="store_true", help="also write PDF")
    command.add_argument(
        "--paper",
        choices=["a4", "letter"],
        default="a4",
        help="the paper to print on (default: a4)",
    )
    return command.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the handouts that the command line asks for."""
    args = _parse(arguments)
    for path in args.paths:
        read_notebook(path)  # before anything is written
    check_sections(args.paths, args.sections)
    opened = open_browser() if args.pdf else nullcontext()
    with opened as browser:
        for kind in KINDS:
            folder = args.output / kind
            folder.mkdir(parents=True, exist_ok=True)
            what = args.paths, folder, kind, args.paper, args.sections
            _write_html(*what)
            if browser:
                _write_pdf(*what, browser)
        _write_sheets(args.paths, args.output / "sheets", args.paper, browser)
    student = args.output / "student"
    for file in write_notebooks(args.paths, student):
        _say(file)
    print(f"Done: open {student}")
    if args.pdf:
        print("Print in color: in gray, red and blue heatmaps lose the sign.")


if __name__ == "__main__":
    run(main)
