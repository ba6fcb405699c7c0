"""Make handouts from the notebooks: pages, PDF, and notebooks to work in.

Pages and notebooks need nothing else. PDF needs Chromium, Chrome or Edge
(131 or newer): where they usually are, or named by --browser.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import nbformat
from latex2mathml.converter import convert as latex_to_mathml
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
)
from nbformat import NotebookNode
from playwright.sync_api import Browser, Error, sync_playwright

WORKSHOP = Path(__file__).resolve().parent
NOTEBOOKS = WORKSHOP.parent / "notebooks"
SERIES = "Positional encoding, step by step"
KINDS = ("student", "instructor")
BROWSERS = ("chromium", "chromium-browser", "chrome", "msedge")
CLEAR_OUTPUTS = "**Before you begin**"  # a paragraph for JupyterLab alone
SLIDERS = "Sliders, in the notebook. Such a picture, still, is above."
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
    """Markdown with MathML, and the links along the series marked."""

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline")

    def block_math(self, body: str) -> str:
        return mathml(body, "block")

    def paragraph(self, text: str) -> str:
        along = re.match(r"(<a [^>]*>)?(Previous|Next): ", text)
        return f'<p class="series">{text}</p>' if along else f"<p>{text}</p>"


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


def _markdown(source: str) -> str:
    renderer = _Renderer(escape=False, exclude_anchor_links=True)
    return MarkdownWithMath(renderer=renderer).render(source)


def _tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", ()))


def _headings(cell: NotebookNode, level: int) -> list[str]:
    prose = cell.source if cell.cell_type == "markdown" else ""
    return re.findall(rf"^#{{{level}}} (.+)$", prose, re.MULTILINE)


def _read(path: Path) -> NotebookNode:
    """Read a notebook, without what is said about clearing its outputs."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (ValueError, nbformat.ValidationError) as error:
        raise HandoutError(f"{path} is no notebook: {error}") from error
    for cell in notebook.cells:
        paragraphs = cell.source.split("\n\n")
        cell.source = "\n\n".join(
            text for text in paragraphs if not text.startswith(CLEAR_OUTPUTS)
        )
    return notebook


def student_notebook(path: Path) -> NotebookNode:
    """Read a notebook to work in: no outputs and no solutions."""
    notebook = _read(path)
    notebook.cells = [c for c in notebook.cells if "solution" not in _tags(c)]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def write_notebooks(
    paths: Sequence[Path],
    folder: Path,
    *,
    solutions: bool = False,
    overwrite: bool = False,
) -> None:
    """Write notebooks to hand out.

    Args:
        paths: The notebooks.
        folder: Where to write them, under the same names.
        solutions: Copy them as they are. Otherwise they come without
            outputs and without solutions.
        overwrite: Replace what is there. Otherwise a file that holds
            something else stops all, before anything is written.

    Raises:
        HandoutError: If a file would be lost, or one is no notebook.
    """
    texts = {}
    for path in paths:
        text = nbformat.writes(student_notebook(path)) + "\n"
        if solutions:
            text = path.read_text(encoding="utf-8")
        file = folder / path.name
        texts[file] = text
        if not file.exists() or file.read_text(encoding="utf-8") == text:
            continue
        if file.samefile(path):
            raise HandoutError(f"{file} is the notebook to copy; not replaced")
        if not overwrite:
            raise HandoutError(
                f"{file} is there and holds something else, perhaps somebody's"
                " work. Name another folder, or add --overwrite."
            )
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        file.write_text(text, encoding="utf-8")
        _say(file)


def _chapter_id(path: Path) -> str:
    return "notebook-" + re.sub(r"\W", "-", path.stem)


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
    cells = _read(path).cells
    for cell in cells:
        cell.id = f"{path.stem[:2]}-{cell.id}"  # unique in a bound series
        cell.metadata.handout = NotebookNode(label=_label(cell))
        if cell.cell_type == "markdown":
            cell.source = _relink(cell.source, link)
        elif "exercise" in _tags(cell):
            cell.outputs = []  # which say that it is not answered yet
        _check_pictures(cell, path)
    if kind == "student":
        cells = _without_folded_code(cells)
        _mark_student(cells)
    cells[0].metadata.handout.chapter = _chapter_id(path)
    cells[-1].metadata.handout.last = True
    sections = [cell for cell in cells if _headings(cell, 2)]
    (sections or cells)[0].metadata.handout.contents = [
        (cell.id, title) for cell in sections for title in _headings(cell, 2)
    ]
    return cells


def _label(cell: NotebookNode) -> str:
    if "solution" in _tags(cell):
        return "Solution"
    if "nbval-ignore-output" in _tags(cell):
        return SLIDERS if "interact(" in cell.source else PROGRESS
    return ""


def _relink(source: str, link: Link) -> str:
    def replace(match: re.Match) -> str:
        address = link(match["name"])
        return f"[{match['text']}]({address})" if address else match["text"]

    pattern = r"\[(?P<text>[^]]+)\]\((?P<name>\w+)\.ipynb\)"
    return re.sub(pattern, replace, source)


def _check_pictures(cell: NotebookNode, path: Path) -> None:
    for output in cell.get("outputs", ()):
        for kind in output.get("data", {}):
            if kind.startswith("image/") and not output.metadata.get(
                kind, {}
            ).get("alt"):
                raise HandoutError(
                    f"{path.name}, cell {cell.id}: a picture without a text"
                    " for those who cannot see it; use show(fig, alt=...)"
                )


def _without_folded_code(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Leave out solutions, and of folded cells all but what they show."""
    kept = [cell for cell in cells if "solution" not in _tags(cell)]
    for cell in kept:
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata.transient = {"remove_source": True}  # to nbconvert
    return [
        cell
        for cell in kept
        if "transient" not in cell.metadata
        or cell.outputs
        or cell.metadata.handout.label
    ]


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
    if following is None or "predict" in _tags(following):
        return True
    prose = following.cell_type == "markdown"
    return prose and following.source.startswith("#")


def page(
    paths: Sequence[Path],
    kind: str,
    paper: str,
    link: Link,
    starts: Sequence[int] = (),
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
    for path in paths:
        chapter = read_chapter(path, kind, link)
        titles = [title for cell in chapter for title in _headings(cell, 1)]
        title = " ".join([path.stem[:2], *titles[:1]])
        chapters.append({"id": _chapter_id(path), "title": title})
        cells += chapter
    for chapter, start in zip(chapters, starts, strict=False):
        chapter["starts"] = start
    handout = {
        "title": SERIES if len(paths) > 1 else chapters[0]["title"],
        "kind": kind,
        "paper": paper,
        "chapters": chapters,
    }
    exporter = HTMLExporter(
        template_name="templates",
        extra_template_basedirs=[str(WORKSHOP)],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        filters={"markdown2html": _markdown},
    )
    html, _ = exporter.from_notebook_node(
        nbformat.v4.new_notebook(cells=cells), {"handout": handout}
    )
    return html


@contextmanager
def open_browser(named: str | None = None) -> Iterator[Browser]:
    """Start Chromium, Chrome or Edge, and close it in the end.

    Args:
        named: A path or the name of a command; without one, the
            environment variable CHROMIUM, or else the usual names.

    Raises:
        HandoutError: If there is none.
    """
    named = named or os.environ.get("CHROMIUM")
    with sync_playwright() as playwright:
        for name in [named] if named else BROWSERS:
            path = shutil.which(name)  # or where Chrome and Edge install
            where = {"executable_path": path} if path else {"channel": name}
            try:
                browser = playwright.chromium.launch(**where)
            except Error:
                continue
            with browser:
                yield browser
            return
    raise HandoutError(
        f"no browser: {named} (named by --browser or CHROMIUM)"
        if named
        else "PDF needs Chromium, Chrome or Edge, and none was found."
        " Name one with --browser, or leave out --pdf."
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


def _write_pdf(paths: Sequence[Path], kind: str, args, browser) -> None:
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


def _folder(name: str) -> Path:
    path = Path(name)
    there = next(p for p in [path, *path.absolute().parents] if p.exists())
    if not there.is_dir():
        raise argparse.ArgumentTypeError(f"not a folder: {there}")
    return path


def _notebook(name: str) -> Path:
    if not (name.endswith(".ipynb") and Path(name).is_file()):
        raise argparse.ArgumentTypeError(f"not a notebook: {name}")
    return Path(name)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="*",
        type=_notebook,
        default=sorted(NOTEBOOKS.glob("*.ipynb")),
        metavar="NOTEBOOK",
        help="which ones (default: all)",
    )
    parser.add_argument(
        "--output",
        type=_folder,
        default="handouts",
        metavar="FOLDER",
        help="where to write (default: handouts)",
    )
    parser.add_argument("--pdf", action="store_true", help="PDF as well")
    parser.add_argument("--paper", choices=["a4", "letter"], default="a4")
    parser.add_argument(
        "--browser", metavar="NAME", help="for --pdf: its path or command"
    )
    parser.add_argument(
        "--notebooks",
        type=_folder,
        metavar="FOLDER",
        help="write the notebooks for students there, and nothing else",
    )
    parser.add_argument(
        "--solutions",
        action="store_true",
        help="with --notebooks: the full ones instead",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="with --notebooks: replace what differs there",
    )
    args = parser.parse_args(arguments)
    if not args.notebooks and (args.solutions or args.overwrite):
        parser.error("--solutions and --overwrite go with --notebooks FOLDER")
    if args.notebooks and args.pdf:
        parser.error("--pdf goes without --notebooks")
    if args.browser and not args.pdf:
        parser.error("--browser goes with --pdf")
    return args


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the handouts that the command line asks for."""
    args = _parse(arguments)
    if args.notebooks:
        write_notebooks(
            args.paths,
            args.notebooks,
            solutions=args.solutions,
            overwrite=args.overwrite,
        )
        return
    with open_browser(args.browser) if args.pdf else nullcontext() as browser:
        for kind in KINDS:
            (args.output / kind).mkdir(parents=True, exist_ok=True)
            _write_html(args.paths, kind, args)
            if browser:
                _write_pdf(args.paths, kind, args, browser)
    write_notebooks(args.paths, args.output / "student", overwrite=True)
    print(f"Done: open {args.output / 'student'}")
    if browser:
        print("Print in color: in gray, red and blue heatmaps lose the sign.")


if __name__ == "__main__":
    try:
        main()
    except (HandoutError, OSError) as error:
        sys.exit(f"handouts: {error}")
