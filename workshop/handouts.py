"""Make handouts from the notebooks: pages for students and instructors.

Beside them come sheets of two pages for whoever teaches, and the figures as
PNG files, named by notebook and cell. Each page is one HTML file that needs no
network. PDF needs Chromium or Chrome, version 131 or newer.
"""

import base64
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import markup
from nbformat import NotebookNode
from playwright.sync_api import Browser, Error, sync_playwright
from posenc_series.cells import ASKS, is_folded, question_and_choices, tags
from posenc_series.chapters import (
    check_sections,
    relink,
    title_of,
)
from posenc_series.commands import CommandError, run
from posenc_series.listing import NOTEBOOKS, ROOT
from sheets import sheet

KINDS = ("student", "instructor")
FEEDBACK = ROOT / "workshop/feedback.md"
ALONG = re.compile(r"<p>(?:Previous|Next): .*</p>")  # the series
WRITE = '<label class="write">{}<textarea rows="{}"></textarea></label>'
ANSWER = '<p class="label answer"><b>Answer</b></p>'
SOLUTION = '<p class="label"><b>Solution</b></p>'
TOGETHER = 4  # cells: a question, or the end, and what leads to it


# Pages.


def page(path: Path, kind: str, sections: Sequence[str] = ()) -> str:
    """A notebook as one HTML file.

    Args:
        path: The notebook.
        kind: "student" or "instructor".
        sections: The sections to take, or none for all.
    """
    cells = markup.cells_of(path, sections)
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = relink(
                cell.source,
                lambda text, file, anchor: (
                    text if file else f"[{text}]({anchor})"
                ),
            )
    show = _for_a_student if kind == "student" else _for_an_instructor
    parts: list[str] = []
    for cell in cells:
        if kind == "student" and "reveal" in tags(cell):
            parts = [*_together(parts), ANSWER]
        parts.append(show(cell))
    body = "\n".join(_together(parts))
    title = title_of(path, cells)
    name = title.replace('"', r"\"")
    head = f'<style>@page {{ @top-left {{ content: "{name}"; }} }}</style>\n'
    return markup.document(title, head + body, "handout.css")


def _cell(cell: NotebookNode, shown: str) -> str:
    """A cell of a page, with its address and its tags, unless it is empty."""
    kinds = " ".join(["cell", cell.cell_type, *sorted(tags(cell))])
    shown = ALONG.sub("", shown).strip()
    if not shown:
        return ""
    return f'<div id="cell-id={cell.id}" class="{kinds}">\n{shown}\n</div>'


def _results(cell: NotebookNode) -> str:
    """What a cell prints and draws, unless it waits for an answer."""
    if tags(cell) & ASKS:
        return ""
    return markup.printed(cell) + markup.picture(cell)


def _together(parts: list[str]) -> list[str]:
    """Let the last cells stay on one page, so that none has a line or two."""
    parts = list(filter(None, parts))
    first = max(0, len(parts) - TOGETHER)
    if ANSWER in parts[first:]:
        first = parts.index(ANSWER, first) + 1
    return [*parts[:first], '<div class="together">', *parts[first:], "</div>"]


def _for_an_instructor(cell: NotebookNode) -> str:
    """All of a cell, and a label for a solution."""
    if cell.cell_type == "markdown":
        shown = markup.markdown(cell.source)
    else:
        shown = markup.code(cell.source) + _results(cell)
    return _cell(cell, SOLUTION + shown if "solution" in tags(cell) else shown)


def _for_a_student(cell: NotebookNode) -> str:
    """A cell as students see it, if there is anything to see."""
    room = ""
    if "solution" in tags(cell):
        return ""
    if cell.cell_type == "markdown":
        source = markup.unfolded(cell.source)
        if "predict" in tags(cell):
            question, choices = question_and_choices(source)
            boxes = [f"\N{BALLOT BOX} {choice}" for choice in choices]
            source = "\n\n".join([question, "  \n".join(boxes)])
            if not choices:
                room = WRITE.format("Your prediction", 2)
        shown = markup.markdown(source)
    else:
        shown = "" if is_folded(cell) else markup.code(cell.source)
        shown += _results(cell)
        if "exercise" in tags(cell):
            room = WRITE.format("Your answer", 4)
    return _cell(cell, shown) + room


def write_figures(path: Path, folder: Path, sections: Sequence[str]) -> None:
    """Write the pictures of a notebook, except those of solutions."""
    folder.mkdir(parents=True, exist_ok=True)
    for cell in markup.cells_of(path, sections):
        for output in cell.get("outputs", ()):
            png = output.get("data", {}).get("image/png")
            if png and "solution" not in tags(cell):
                file = folder / f"{path.stem[:2]}_{cell.id}.png"
                file.write_bytes(base64.b64decode(png))


def sheet_page(title: str, text: str) -> str:
    """A sheet, as HTML, from its text in Markdown."""
    body = markup.markdown(text)
    return markup.document(title, body, "handout.css")


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the handouts that the command line asks for."""
    command = markup.command(__doc__, "handouts")
    command.add_argument("--pdf", action="store_true", help="also write PDF")
    args = command.parse_args(arguments)
    check_sections(args.paths, args.sections)
    listed = [each.path for each in NOTEBOOKS]
    pages = {
        f"{kind}/{path.stem}.html": page(path, kind, args.sections)
        for kind in KINDS
        for path in args.paths
    }
    sheets = {p.stem: sheet(p) for p in args.paths if p.resolve() in listed}
    sheets["feedback"] = FEEDBACK.read_text(encoding="utf-8")
    for name, text in sheets.items():
        pages[f"sheets/{name}.html"] = sheet_page(name, text)
    with open_browser() if args.pdf else nullcontext() as browser:
        for name, html in pages.items():
            file = args.output / name
            line = f"{file} {markup.write(html, file)} kB"
            if browser:
                pdf = file.with_suffix(".pdf")
                line += f", PDF of {print_pdf(html, pdf, browser)} pages"
            print(line, flush=True)
    for path in args.paths:
        write_figures(path, args.output / "figures", args.sections)


if __name__ == "__main__":
    run(main)
