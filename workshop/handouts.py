"""Make handouts from the notebooks: pages for students and instructors.

Beside them come sheets of two pages for whoever teaches. Each is one HTML file
that needs no network. PDF needs Chromium or Chrome, version 131 or newer.
"""

import os
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from html import escape
from pathlib import Path

import markup
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
    answers,
    by_section,
    headings,
    relink,
    title_of,
    without_folds,
)
from posenc_series.commands import CommandError, run
from posenc_series.listing import NOTEBOOKS, ROOT
from sheets import sheet

KINDS = ("student", "instructor")
FEEDBACK = ROOT / "workshop/feedback.md"
ALONG = re.compile(r"<p>(?=(?:<a [^>]*>)?(?:Previous|Next): )")  # the series
WRITE = '<label class="write">{}<textarea rows="{}"></textarea></label>'
OPENS = '<details class="fold"><summary>Show the answer</summary>'


# Pages.


def page(
    path: Path,
    kind: str,
    sections: Sequence[str] = (),
    beside: Collection[str] = (),
) -> str:
    """A notebook as one HTML file.

    Args:
        path: The notebook.
        kind: "student" or "instructor".
        sections: The sections to take, or none for all.
        beside: The names of the notebooks whose pages are in the same folder;
            links to other notebooks become plain text.

    Raises:
        CommandError: If it cannot be read, or nothing would be shown.
    """

    def link(name: str, cell: str) -> str | None:
        if name and name not in beside:
            return None
        file = f"{name}.html" if name else ""
        return f"{file}#cell-id={cell}" if cell else file

    cells = markup.cells_of(path, sections)
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, link)
    show = _for_students if kind == "student" else _for_instructors
    (_, before), *_ = by_section(cells)
    parts = [show(before), _contents(cells), show(cells[len(before) :])]
    title = title_of(path, cells)
    name = title.replace('"', r"\"")
    head = f'<style>@page {{ @top-left {{ content: "{name}"; }} }}</style>\n'
    body = head + "\n".join(parts)
    return markup.document(title, body, "handout.css", kind)


def _contents(cells: list[NotebookNode]) -> str:
    """A list of the sections, with links."""
    rows = "\n".join(
        f'<li><a href="#cell-id={cell.id}">{escape(title)}</a></li>'
        for cell in cells
        for title in headings(cell, 2)
    )
    return f'<nav class="contents" aria-label="Contents"><ul>{rows}</ul></nav>'


def _cell(cell: NotebookNode, shown: str) -> str:
    """A cell of a page, with its address and its tags."""
    kinds = " ".join(["cell", cell.cell_type, *sorted(tags(cell))])
    shown = ALONG.sub('<p class="series">', shown)
    return f'<div id="cell-id={cell.id}" class="{kinds}">\n{shown}\n</div>'


def _results(cell: NotebookNode) -> str:
    """What a cell prints and draws, unless it waits for an answer."""
    if tags(cell) & ASKS:
        return ""
    return markup.printed(cell) + markup.picture(cell)


def _for_instructors(cells: list[NotebookNode]) -> str:
    """All of the cells, and a label for solutions."""
    parts = []
    for cell in cells:
        if cell.cell_type == "markdown":
            shown = markup.markdown(cell.source)
        else:
            shown = markup.code(cell.source) + _results(cell)
        if "solution" in tags(cell):
            shown = f'<p class="label">Solution</p>{shown}'
        parts.append(_cell(cell, shown))
    return "\n".join(parts)


def _for_students(cells: list[NotebookNode]) -> str:
    """Cells with room to write, each answer folded, and no solutions."""
    has_forms = any(map(is_form, cells))
    folds = answers(cells)
    firsts, lasts = {a for a, _ in folds}, {b for _, b in folds}
    parts = []
    for place, cell in enumerate(cells):
        if place in firsts:
            parts.append(OPENS)
        if "solution" not in tags(cell):
            parts.append(_for_a_student(cell, has_forms))
        if place in lasts:
            parts.append("</details>")
    return "\n".join(parts)


def _for_a_student(cell: NotebookNode, has_forms: bool) -> str:
    """A cell as students see it, if there is anything to see."""
    room = ""
    if cell.cell_type == "markdown":
        shown = markup.markdown(without_folds(cell.source))
        if "predict" in tags(cell):
            room = _room_for_a_prediction(cell, has_forms)
    else:
        shown = "" if is_folded(cell) else markup.code(cell.source)
        shown += _results(cell)
        if "exercise" in tags(cell):
            room = WRITE.format("Your answer", 5)
    return _cell(cell, shown) + room if shown.strip() else ""


def _room_for_a_prediction(cell: NotebookNode, has_forms: bool) -> str:
    """Lines to write on, unless there are boxes to tick."""
    if question_and_choices(cell.source)[1]:
        return ""
    if has_forms:
        judgments = " / ".join(JUDGMENTS)
        return WRITE.format(f"What do you say: {judgments}?", 1)
    return WRITE.format("Your prediction", 2)


def sheet_page(title: str, text: str) -> str:
    """A sheet, as HTML, from its text in Markdown."""
    body = markup.markdown(text)
    return markup.document(title, body, "handout.css", "sheet")


# PDF.


@contextmanager
def open_browser(options: Sequence[str] = ()) -> Iterator[Browser]:
    """Start Chromium or Chrome, and close it in the end.

    Args:
        options: What is handed to the browser as it starts.

    Raises:
        CommandError: If there is none.
    """
    name = os.environ.get("CHROMIUM", "chromium")
    path = shutil.which(name)
    with sync_playwright() as playwright:
        try:
            # Without Chromium, Chrome where it usually is.
            browser = playwright.chromium.launch(
                executable_path=path,
                channel=None if path else "chrome",
                args=options,
            )
        except Error as error:
            raise CommandError(
                f"PDF needs a browser, and neither {name} nor Chrome starts."
                " Let the environment variable CHROMIUM name one, or print"
                " the pages from any browser."
            ) from error
        with browser:
            yield browser


def print_pdf(html: str, pdf: Path, browser: Browser) -> int:
    """Print a page to a tagged PDF, and return its number of pages."""
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.set_content(html)
        page.evaluate("document.fonts.ready")
        page.pdf(
            path=pdf,
            format="A4",
            prefer_css_page_size=True,
            tagged=True,
            outline=True,
        )
    return len(re.findall(rb"/Type /Page\b", pdf.read_bytes()))


# The command.


def _write(html: str, file: Path, browser: Browser | None) -> None:
    """Write a page, and a PDF of it if there is a browser."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(html, encoding="utf-8")
    line = f"{file} {file.stat().st_size / 1000:,.0f} kB"
    if browser:
        pages = print_pdf(html, file.with_suffix(".pdf"), browser)
        line += f", PDF of {pages} pages"
    print(line, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the handouts that the command line asks for."""
    command = markup.command(__doc__, "handouts")
    command.add_argument("--pdf", action="store_true", help="also write PDF")
    args = markup.parse(command, arguments)
    beside = [path.stem for path in args.paths]
    listed = [each.path for each in NOTEBOOKS]
    sheets = {p.stem: sheet(p) for p in args.paths if p.resolve() in listed}
    sheets["feedback"] = FEEDBACK.read_text(encoding="utf-8")
    pages = {
        f"{kind}/{path.stem}.html": page(path, kind, args.sections, beside)
        for kind in KINDS
        for path in args.paths
    }
    pages |= {
        f"sheets/{name}.html": sheet_page(name, text)
        for name, text in sheets.items()
    }
    with open_browser() if args.pdf else nullcontext() as browser:
        for name, html in pages.items():
            _write(html, args.output / name, browser)


if __name__ == "__main__":
    run(main)
