"""Make handouts from the notebooks, for students and for instructors.

HTML needs nothing else. PDF needs Chromium 131 or newer, or a browser
made from it (Chrome, Edge): on the PATH, or named by --browser.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
from jinja2 import pass_context
from latex2mathml.converter import convert as latex_to_mathml
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
)
from nbconvert.preprocessors import TagRemovePreprocessor
from nbformat import NotebookNode

WORKSHOP = Path(__file__).resolve().parent
NOTEBOOKS = WORKSHOP.parent / "notebooks"
SERIES = "Positional encoding, step by step"
KINDS = ("student", "instructor")
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
BROWSER_OPTIONS = [  # no first-run page, and nothing over the network
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-sync",
    "--no-first-run",
]
if sys.platform == "linux" and os.geteuid() == 0:
    BROWSER_OPTIONS.append("--no-sandbox")  # root cannot have one
SLIDERS = "Sliders, in the notebook. The same picture, still, is above."
PROGRESS = "Shows its progress when it runs."
THIN = '<mspace width="0.167em"/>'
FUNCTION = "<mi>(?:sin|cos|tan|exp|ln|log|max|min)</mi>"
TIDY = [  # what latex2mathml sets otherwise than TeX
    (r'<mspace width="negative\w+" */>', ""),
    ("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>'),
    (rf"(?<=</m[in]>)({FUNCTION})", rf"{THIN}\1"),
    (
        rf"(?<!<msup>)(?<!<msub>)({FUNCTION})(?=<m(?!o|space))",
        rf"\1{THIN}",
    ),
    # \mathrm of one letter, \overline, and an index on a matrix.
    (r"<mi>(&#x000[4-7][0-9A-F];)</mi>", r'<mi mathvariant="normal">\1</mi>'),
    (
        r"<mo [^>]*>&#x0(?:2015|00AF);</mo>",
        '<mo stretchy="true">&#x0203E;</mo>',
    ),
    (
        r"<(msu[bp])>(<mo>[^<]*</mo><mtable>.*?</mtable><mo>[^<]*</mo>)",
        r"<\1><mrow>\2</mrow>",
    ),
]

Link = Callable[[str], str | None]  # from a notebook's name to an address


class HandoutError(Exception):
    """What is wrong, in words for the one who ran the command."""


class _Renderer(IPythonRenderer):
    """Markdown with MathML, headings to link to, and the series marked."""

    def __init__(self, chapter: str):
        super().__init__(escape=False, exclude_anchor_links=True)
        self.chapter = chapter

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")

    def paragraph(self, text: str) -> str:
        along = re.match(r"(<a [^>]*>)?(Previous|Next): ", text)
        return (
            f'<p class="series">{text}</p>\n' if along else f"<p>{text}</p>\n"
        )

    def heading(self, text: str, level: int, **attrs: object) -> str:
        return (
            f'<h{level} id="{_heading_id(self.chapter, text)}">'
            f"{text}</h{level}>\n"
        )


class HandoutExporter(HTMLExporter):
    """nbconvert's HTML, through the template in workshop/handout."""

    @pass_context
    def markdown2html(self, context: dict, source: str) -> str:
        """Convert a Markdown cell."""
        renderer = _Renderer(context["cell"].metadata.handout.id)
        return MarkdownWithMath(renderer=renderer).render(source)


def mathml(latex: str, display: str) -> str:
    """Convert a formula, and space it as TeX would."""
    try:
        markup = latex_to_mathml(latex.strip(), display=display)
    except Exception as error:  # of many kinds, and not all documented
        raise HandoutError(f"cannot set ${latex}$: {error!r}") from error
    if unknown := re.search(r"\\[a-zA-Z]+", markup):
        raise HandoutError(f"cannot set {unknown[0]} in ${latex}$")
    for pattern, replacement in TIDY:
        markup = re.sub(pattern, replacement, markup)
    return markup


def _chapter_id(path: Path) -> str:
    return "notebook-" + re.sub(r"\W", "-", path.stem)


def _heading_id(chapter: str, heading: str) -> str:
    words = re.findall(r"\w+", re.sub(r"<[^>]*>", "", heading).lower())
    return "-".join([chapter, *words])


def _tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


def _headings(cell: NotebookNode, level: int) -> list[str]:
    prose = cell.source if cell.cell_type == "markdown" else ""
    return re.findall(rf"^#{{{level}}} (.+)$", prose, re.MULTILINE)


def read_chapter(path: Path, kind: str, link: Link) -> list[NotebookNode]:
    """Read a notebook's cells, marked for the template.

    Args:
        path: The notebook.
        kind: "student" or "instructor".
        link: Gives the address of another notebook, or None for no link.

    Returns:
        The cells that this kind of handout shows. What the template has
        to know about each is in `cell.metadata.handout`.

    Raises:
        HandoutError: If it cannot be read, or a picture has no text for
            those who cannot see it.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        raise HandoutError(f"{path} is no notebook: {error}") from error
    unwanted = {"remove_all_outputs_tags": {"exercise"}}
    if kind == "student":
        unwanted["remove_cell_tags"] = {"solution"}
    remove = TagRemovePreprocessor(enabled=True, **unwanted)
    notebook, _ = remove.preprocess(notebook, {})
    for cell in notebook.cells:
        cell.id = f"{path.stem[:2]}-{cell.id}"  # unique in a bound series
        cell.metadata.handout = NotebookNode(id=_chapter_id(path))
        if cell.cell_type == "markdown":
            cell.source = _relink(cell.source, link)
        _describe_pictures(cell, path)
    _mark_parts(notebook.cells, _chapter_id(path))
    if kind == "student":
        _mark_student(notebook.cells)
    return notebook.cells


def _relink(source: str, link: Link) -> str:
    def replace(match: re.Match) -> str:
        address = link(match["name"])
        return f"[{match['text']}]({address})" if address else match["text"]

    pattern = r"\[(?P<text>[^]]+)\]\((?P<name>\w+)\.ipynb\)"
    return re.sub(pattern, replace, source)


def _describe_pictures(cell: NotebookNode, path: Path) -> None:
    for output in cell.get("outputs", ()):
        if "image/png" in output.get("data", {}):
            if not output.metadata.get("image/png", {}).get("alt"):
                raise HandoutError(
                    f"{path.name}, cell {cell.id}: a picture without a text"
                    " for those who cannot see it; use show(fig, alt=...)"
                )
            cell.metadata.handout.figure = True


def _mark_parts(cells: list[NotebookNode], chapter: str) -> None:
    cells[0].metadata.handout.chapter = chapter
    cells[-1].metadata.handout.last = True
    sections = [title for cell in cells for title in _headings(cell, 2)]
    first = next((c for c in cells if _headings(c, 2)), cells[0])
    first.metadata.handout.contents = [
        {"title": title, "id": _heading_id(chapter, title)}
        for title in sections
    ]
    for cell in cells:
        if "solution" in _tags(cell):
            cell.metadata.handout.label = "Solution"
        elif "nbval-ignore-output" in _tags(cell):
            cell.metadata.handout.label = (
                SLIDERS if "interact(" in cell.source else PROGRESS
            )


def _mark_student(cells: list[NotebookNode]) -> None:
    """Leave room for answers, and fold what would give them away."""
    fold = None
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        mark, tags = cell.metadata.handout, _tags(cell)
        if "predict" in tags:
            mark.write = ("Your prediction", 2)
        elif "exercise" in tags and cell.cell_type == "code":
            mark.write = ("Your answer", 5)
        elif "reveal" in tags:
            mark.opens_fold, fold = True, cell
        if fold and _ends_fold(following):
            mark.closes_fold, fold = True, None


def _ends_fold(following: NotebookNode | None) -> bool:
    """Whether a new section, question or exercise begins."""
    if following is None or _tags(following) & {"predict", "exercise"}:
        return True
    prose = following.cell_type == "markdown"
    return prose and following.source.startswith("#")


def page(
    paths: Sequence[Path],
    kind: str,
    paper: str,
    link: Link,
    starts: Sequence[int] | None = None,
) -> str:
    """One HTML page with one or more notebooks.

    Args:
        paths: The notebooks.
        kind: "student" or "instructor".
        paper: "a4" or "letter", for when it is printed.
        link: Gives the address of another notebook, or None for no link.
        starts: Page on which each notebook starts, for the contents.
    """
    chapters, cells = [], []
    for number, path in enumerate(paths):
        chapter = read_chapter(path, kind, link)
        titles = [title for cell in chapter for title in _headings(cell, 1)]
        chapters.append(
            {
                "id": _chapter_id(path),
                "title": f"{path.stem[:2]} {titles[0] if titles else ''}",
                "starts": starts[number] if starts else "",
            }
        )
        cells += chapter
    handout = {
        "title": SERIES if len(paths) > 1 else chapters[0]["title"],
        "subtitle": f"Handout for {kind}s",
        "kind": kind,
        "paper": paper,
        "chapters": chapters,
    }
    exporter = HandoutExporter(
        template_name="handout", extra_template_basedirs=[str(WORKSHOP)]
    )
    html, _ = exporter.from_notebook_node(
        nbformat.v4.new_notebook(cells=cells), {"handout": handout}
    )
    return html


def find_browser(named: str | None = None) -> str:
    """Path of a Chromium.

    Args:
        named: A path or the name of a command; without one, the
            environment variable CHROMIUM, then the usual names.

    Raises:
        HandoutError: If there is none.
    """
    named = named or os.environ.get("CHROMIUM")
    for name in [named] if named else BROWSERS:
        if path := shutil.which(name):
            return path
    raise HandoutError(
        f"no browser at {named}"
        if named
        else "PDF needs Chromium, Chrome or Edge, and none is on the PATH."
        " Name one with --browser, or leave out --pdf."
    )


def print_pdf(html: str, pdf: Path, browser: str) -> int:
    """Print a page to a tagged PDF, and return its number of pages."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(html, encoding="utf-8")
        command = [
            browser,
            "--headless",
            *BROWSER_OPTIONS,
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            "--generate-pdf-document-outline",
            "--export-tagged-pdf",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300
        )
        if not target.exists():
            raise HandoutError(f"{browser} made no PDF:\n{done.stderr[-800:]}")
        shutil.copyfile(target, pdf)
    return len(re.findall(rb"/Type /Page\b", pdf.read_bytes()))


def _write_html(paths: Sequence[Path], kind: str, args) -> None:
    exported = {path.stem for path in paths}
    for path in paths:
        file = args.output / kind / f"{path.stem}.html"
        html = page(
            [path],
            kind,
            args.paper,
            lambda name: f"{name}.html" if name in exported else None,
        )
        file.write_text(html, encoding="utf-8")
        _say(file)


def _write_pdf(paths: Sequence[Path], kind: str, args, browser: str) -> None:
    folder, counts = args.output / kind, []
    for path in paths:
        file = folder / f"{path.stem}.pdf"
        html = page([path], kind, args.paper, lambda name: None)
        counts.append(print_pdf(html, file, browser))
        _say(file, counts[-1])
    if len(paths) > 1:
        file = folder / "positional_encoding.pdf"
        starts = [2 + sum(counts[:place]) for place in range(len(counts))]
        bound = {path.stem: f"#{_chapter_id(path)}" for path in paths}
        html = page(paths, kind, args.paper, bound.get, starts)
        pages = print_pdf(html, file, browser)
        if pages != 1 + sum(counts):
            raise HandoutError(f"the contents of {file} would be wrong")
        _say(file, pages)


def _say(file: Path, pages: int | None = None) -> None:
    size = f"{file.stat().st_size / 1000:,.0f} kB"
    print(file, size, *([f"{pages} pages"] if pages else []), flush=True)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="which ones (default: all)"
    )
    parser.add_argument(
        "--output", type=Path, default="handouts", help="folder to write to"
    )
    parser.add_argument("--pdf", action="store_true", help="PDF as well")
    parser.add_argument("--paper", choices=["a4", "letter"], default="a4")
    parser.add_argument("--browser", help="a Chromium: path or command")
    args = parser.parse_args(arguments)
    args.notebooks = args.notebooks or sorted(NOTEBOOKS.glob("*.ipynb"))
    for path in args.notebooks:
        if not (path.suffix == ".ipynb" and path.is_file()):
            parser.error(f"not a notebook: {path}")
    return args


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the handouts that the command line asks for."""
    args = _parse(arguments)
    browser = find_browser(args.browser) if args.pdf else ""
    for kind in KINDS:
        (args.output / kind).mkdir(parents=True, exist_ok=True)
        _write_html(args.notebooks, kind, args)
        if browser:
            _write_pdf(args.notebooks, kind, args, browser)
    print(f"Done: open {args.output / 'student'}")
    if browser:
        print("Print in color: gray heatmaps lose the sign of their values.")


if __name__ == "__main__":
    try:
        main()
    except (HandoutError, OSError) as error:
        sys.exit(f"handouts: {error}")
