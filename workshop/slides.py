"""Make slides from the notebooks: a question, hands, the result, a sentence.

Each notebook becomes one HTML file that opens by double click and needs no
network. Space goes on, S opens the presenter's view, B hides the slide, F
fills the screen. To make a PDF, print it from the browser.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path

from handouts import TEMPLATES, markdown, math_font, notebook
from nbformat import NotebookNode
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
    check_sections,
    headings,
    in_sections,
    read_notebook,
    relink,
    sentence,
    title_of,
    without_folds,
)
from posenc_series.commands import parser, run
from posenc_series.lessons import lessons
from posenc_series.listing import NOTEBOOKS
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from posenc.play import figures_in, script_of

LINES = 22  # of code, or printed, that a slide holds in a readable size
WIDEST = 85  # characters in a line; longer ones are wrapped
WORDS_A_SECOND = 3
LOOK, EXERCISE = 20, 300  # seconds
ASK, ASK_AND_TALK = 60, 240  # with all six steps of the workshop's page
BLOCK = re.compile(r"(?ms)^(?:(?:- |\d+\. |\|).*?(?:\n(?!\n)|\Z))+")
DISPLAYED = re.compile(r"(?s)\$\$.+?\$\$")
CAPTION = re.compile(r"\A\*(?!\*).+\*(?=\n|\Z)")
SKIPPED = ("Further reading", "Exercises")
VOTE = (
    '<label><button type="button" aria-label="One more">+</button>'
    '<input inputmode="numeric" aria-label="Hands for {}"></label>'
)
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>{style}</style>
<body>
<main>
{slides}
</main>
{scripts}
</html>
"""


@dataclass
class Slide:
    """A slide.

    Attributes:
        name: Its address in the deck: the id of a cell.
        section: The heading of the notebook that it belongs to.
        body: What it shows, as HTML.
        seconds: How long it takes.
        notes: What to say, as Markdown.
    """

    name: str
    section: str
    body: str
    seconds: float
    notes: list[str] = field(default_factory=list)

    def html(self, title: str) -> str:
        """As a part of the page of a deck with this title."""
        notes = markdown(plain("\n\n".join(self.notes)))
        return (
            f'<article class="slide" id="{self.name}"'
            f' data-seconds="{self.seconds:.0f}">\n'
            f'<p class="where"><span>{escape(self.section)}</span>'
            f"<span>{escape(title)}</span></p>\n{self.body}\n"
            f'<aside class="notes">{notes}</aside>\n</article>'
        )


class Deck:
    """The slides of a notebook, made cell by cell.

    Attributes:
        slides: Those made so far.
    """

    def __init__(self, path: Path, sections: Sequence[str] = ()):
        """Make the slides of a notebook, or of some of its sections."""
        self.path = path
        self.lesson = lessons().get(path.stem[:2])
        cells = read_notebook(path).cells
        self.has_forms = any(map(is_form, cells))
        self.title = title_of(path, cells)
        self.cells = in_sections(cells, sections)
        self.section = ""
        self.slides: list[Slide] = []
        self.told: list[str] = []  # since the last slide, for the notes
        self.lead = ""  # to what is shown next
        self.pieces: list[tuple[str, str, int]] = []  # name, HTML, lines
        while self.cells:
            self._take(self.cells.pop(0))
        self._show_pieces()

    def _take(self, cell: NotebookNode) -> None:
        """Make what a cell shows, with the text that belongs to it."""
        alt_texts(cell, self.path)  # which refuses a picture without one
        if title := headings(cell, 2):
            self._show_pieces()
            self.section, self.told, self.lead = title[0], [], ""
        is_setup = "use_series_style()" in cell.source
        is_text, own = cell.cell_type == "markdown", tags(cell)
        if self.section in SKIPPED and not own:
            return
        if headings(cell, 1):
            self._begin(cell)
        elif "predict" in own:
            self._ask(cell)
        elif is_text and "exercise" in own:
            self._set_exercise(cell)
        elif is_text and "solution" not in own:
            self._tell(cell)
        elif own & (ASKS | {"solution", "check"}):
            return
        elif shown := picture_of(cell):
            self._show_figure(cell.id, shown)
        elif printed(cell):
            self._print(cell)
        elif not is_text and not is_folded(cell) and not is_setup:
            self._collect_code(cell)

    def _add(
        self, name: str, body: str, seconds: float = LOOK, notes: str = ""
    ) -> None:
        told = [text for text in (*self.told, notes) if text]
        seconds += len(" ".join(told).split()) / WORDS_A_SECOND
        self.slides.append(Slide(name, self.section, body, seconds, told))
        self.told = []

    def _collect(self, name: str, shown: str, lines: int) -> None:
        """Keep a part for a slide that has room for more."""
        if sum(n for *_, n in self.pieces) + lines > LINES:
            self._show_pieces()
        self.pieces.append((name, shown, lines))

    def _collect_code(self, cell: NotebookNode) -> None:
        lead = self._lead()
        for number, part in enumerate(parts(cell.source)):
            name = f"{cell.id}-{number}" if number else cell.id
            shown = lit(part) if number else lead + lit(part)
            self._collect(name, shown, part.count("\n") + 2 + 2 * bool(lead))

    def _show_pieces(self, more: str = "", notes: str = "") -> None:
        """Make a slide of what was kept, if there is anything."""
        if self.pieces:
            name = self.pieces[0][0]
            shown = "".join(shown for _, shown, _ in self.pieces)
            self.pieces = []
            self._add(name, shown + more, LOOK, notes)

    def _lead(self) -> str:
        """The paragraph that leads to what comes now, or its end."""
        last, self.lead = self.lead, ""
        if len(last.split()) > 45:
            last = re.split(r"(?<=[.?!]) (?=[A-Z])", last)[-1]
        return html(last)

    def _say(self, text: str) -> None:
        """Keep text for the notes, and its end as a lead."""
        if text.strip():
            self.told.append(text)
            self.lead = text.strip().split("\n\n")[-1]

    def _begin(self, cell: NotebookNode) -> None:
        """The title, what it is about, and what one will find out."""
        title, hook, *_ = cell.source.split("\n\n")
        listed = BLOCK.search(self._text_below())
        body = html(title) + html(hook)
        self._add(cell.id, body + html(listed[0] if listed else ""))

    def _tell(self, cell: NotebookNode) -> None:
        """A list, a table or a formula is shown; other text is for notes."""
        text = re.sub(r"(?m)^##? .+\n*", "", cell.source)
        if listed := BLOCK.search(text):
            self._show_pieces()
            self._say(text[: listed.start()])
            self.told.append(listed[0])
            self._add(cell.id, self._lead() + html(listed[0]))
            self._say(text[listed.end() :])
        elif formulas := DISPLAYED.findall(text):
            before, *_, after = DISPLAYED.split(text)
            self._say(before)
            shown = self._lead() + html("\n\n".join(formulas))
            self._collect(cell.id, shown, 4 + 2 * len(formulas))
            self._say(after)
            if sentence(text):
                self._show_pieces(keep(text))
        elif sentence(text) and self.pieces:
            self._show_pieces(keep(text), text)
        elif not text.startswith("[Previous"):
            self._say(text)

    def _show_figure(self, name: str, shown: str) -> None:
        """A figure with its caption, and with the code if this is short."""
        code = ""
        lines = sum(n for *_, n in self.pieces)
        if lines <= 6 and "<posenc-play" not in shown:
            code = "".join(piece for _, piece, _ in self.pieces)
            self.pieces = []
        self._show_pieces()
        text = self._text_below()
        body = code + figure(shown, caption_of(text) + keep(text))
        self._add(name, body, 2 * LOOK, text)

    def _print(self, cell: NotebookNode) -> None:
        """What a cell prints, below its code if this is shown."""
        shown = printed(cell)
        lines = shown.count("\n") + 2
        if is_folded(cell):
            self._show_pieces()
            self._collect(cell.id, self._lead() + shown, lines)
        else:
            lines += cell.source.count("\n") + 4
            if sum(n for *_, n in self.pieces) + lines > LINES + 4:
                self._show_pieces()
            self._collect_code(cell)
            self.pieces.append((f"{cell.id}-printed", shown, 0))
            if lines > LINES + 8:  # too long for one slide
                last = self.pieces.pop()
                self._show_pieces()
                self.pieces.append(last)
        text = self._text_below()
        self._show_pieces(keep(text), text)

    def _ask(self, cell: NotebookNode) -> None:
        """The question, and on the next slide what came of it."""
        self._show_pieces()
        question, choices = question_and_choices(cell.source)
        if self.has_forms and not choices:
            choices = [*JUDGMENTS]
        is_key = self.lesson and cell.id == self.lesson.key
        body = (
            f'<div class="question">{html(question)}</div>'
            '<button type="button" class="minute">One minute, in writing'
            f"</button>{votes(cell.id, choices)}"
        )
        self._add(cell.id, body, ASK_AND_TALK if is_key else ASK)
        self.told = [stuck(self.lesson.stuck)] if is_key else []
        first, shown = self._find_answer()
        if first is None:
            return
        text = first.source
        if first.cell_type == "code":
            text = self._text_below()
            self.told += [f"```python\n{first.source}\n```"]
        self.told += [text]
        said = caption_of(text) + keep(text, always=True)
        body = f'<div class="asked">{html(question)}</div>'
        body += figure(shown, said, bars(cell.id, choices))
        self._add(first.id, body)

    def _find_answer(self) -> tuple[NotebookNode | None, str]:
        """The cell that gives the answer, and what it and a figure show."""
        first, shown = None, ""
        while self.cells and not tags(self.cells[0]) & {"predict", "exercise"}:
            cell = self.cells[0]
            drawn = picture_of(cell)
            is_still = drawn and "<posenc-play" not in drawn
            is_enough = shown or (first and first.cell_type == "markdown")
            has_room = "<img" not in shown and shown.count("\n") < 5
            if is_enough and not (is_still and has_room):
                break
            self.cells.pop(0)
            if "reveal" in tags(cell):
                first = cell
            if first:
                shown += printed(cell) + drawn
            if cell.cell_type == "markdown":
                self.told.append(cell.source)
        return first, shown

    def _text_below(self) -> str:
        """The text right below a cell, which is taken."""
        texts: list[str] = []
        while self.cells:
            cell = self.cells[0]
            source = cell.source
            is_text = cell.cell_type == "markdown" and not tags(cell)
            leads_on = BLOCK.search(source) or source.rstrip().endswith(":")
            if not is_text or source.startswith("#"):
                break
            if texts and leads_on:
                break
            texts.append(self.cells.pop(0).source)
        text = "\n\n".join(texts)
        if text.endswith(":"):
            self.lead = text.split("\n\n")[-1]
        return text

    def _set_exercise(self, cell: NotebookNode) -> None:
        self._show_pieces()
        code = []
        for later in self.cells:
            if headings(later, 3) or headings(later, 2):
                break
            if tags(later) & {"exercise", "solution"}:
                code.append(later.source)
        task = cell.source[cell.source.find("### ") :]
        solution = "\n\n".join(f"```python\n{c}\n```" for c in code[1:])
        self.section, self.told = "Exercises", []
        body = html(task) + "".join(map(lit, code[:1]))
        self._add(cell.id, body, EXERCISE, solution)


# What slides show.


def plain(text: str) -> str:
    """Text without its links along the series and the word Predict."""
    text = without_folds(relink(text, lambda name, cell: None))
    return text.replace("**Predict.** ", "")


def html(text: str) -> str:
    """Markdown as a slide shows it."""
    return markdown(plain(text)) if text else ""


def lit(code: str) -> str:
    """Code whose lines can be lit by a click."""
    formatter = HtmlFormatter(nowrap=True)
    lines = highlight(code, PythonLexer(), formatter).rstrip().split("\n")
    spans = "\n".join(f'<span class="line">{line}</span>' for line in lines)
    return f'<div class="highlight"><pre>{spans}</pre></div>'


def parts(code: str) -> list[str]:
    """Code in parts that fit on slides, cut at empty lines if possible."""
    lines = code.split("\n")
    if len(lines) <= LINES + 4:
        return [code]
    middle = len(lines) // 2
    empty = [n for n, line in enumerate(lines) if not line.strip()]
    cut = min(empty or [middle], key=lambda n: abs(n - middle))
    head = "\n".join(lines[:cut]).rstrip()
    return [*parts(head), *parts("\n".join(lines[cut:]).strip("\n"))]


def printed(cell: NotebookNode) -> str:
    """What a cell prints, or the value that it shows."""
    text = ""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if output.output_type == "stream":
            text += output.text
        elif set(data) <= {"text/plain"}:
            text += data.get("text/plain", "")
    text = text.rstrip()
    is_long = max(map(len, text.split("\n"))) > WIDEST
    kind = "printed long" if is_long else "printed"
    return f'<pre class="{kind}">{escape(text)}</pre>' if text else ""


def picture_of(cell: NotebookNode) -> str:
    """The pictures of a cell, and a figure to play with if it has one."""
    found = ""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if "image/png" in data:
            alt = escape(output.metadata["image/png"]["alt"], quote=True)
            address = f"data:image/png;base64,{data['image/png'].strip()}"
            found += f'<img src="{address}" alt="{alt}">'
        if "<posenc-play" in data.get("text/html", ""):
            found += re.sub("(?s)<p>.*?</p>|<script>.*", "", data["text/html"])
    return f'<div class="picture">{found}</div>' if found else ""


def figure(shown: str, said: str, beside: str = "") -> str:
    """What a slide is about, with the words beside it or below."""
    if "<posenc-play" in shown:
        beside, said = f'<div class="beside">{said}{beside}</div>', ""
    if shown or beside:
        shown = f'<div class="shows">{shown}</div>' if shown else ""
        shown = f'<div class="stage">{shown}{beside}</div>'
    return shown + said


def caption_of(text: str) -> str:
    """The caption of a figure, which its text begins with."""
    caption = CAPTION.match(text)
    return f'<div class="caption">{html(caption[0])}</div>' if caption else ""


def keep(text: str, always: bool = False) -> str:
    """The thing to remember, as the next step; or the first sentence."""
    said = sentence(text)
    if not said and always:
        text = CAPTION.sub("", text).strip()
        said = re.split(r"(?<=[.?!])\s+(?=[A-Z\"*$`])|\n\n", text)[0]
    return f'<div class="remember later">{html(said)}</div>' if said else ""


def votes(question: str, choices: Sequence[str]) -> str:
    """Choices with two fields each for hands, before and after talking."""
    if not choices:
        return ""
    rows = '<span></span><span class="round">at first</span>'
    rows += '<span class="round">after talking</span>'
    for choice in choices:
        rows += f"<div>{html(choice)}</div>"
        name = escape(re.sub(r"[*`$]", "", choice), quote=True)
        for number in (1, 2):
            vote = VOTE.format(f"{name}, count {number}")
            rows += f'<div data-round="{number}">{vote}</div>'
    return f'<div class="choices" data-question="{question}">{rows}</div>'


def bars(question: str, choices: Sequence[str]) -> str:
    """A bar for each choice and each count of hands, filled in later."""
    rows = ""
    for place, choice in enumerate(choices):
        letter = re.match(r"\*\*(\w)\*\*", choice)
        rows += f"<span>{letter[1] if letter else choice}</span><div>"
        for number in (1, 2):
            rows += (
                f'<div class="bar" data-round="{number}"'
                f' data-choice="{place}"></div>'
            )
        rows += "</div>"
    if not rows:
        return ""
    return f'<div class="bars" data-question="{question}" hidden>{rows}</div>'


def stuck(said: Sequence[tuple[str, str]]) -> str:
    """What people say, and what to ask them, as Markdown."""
    rows = "".join(f"- {say} *Ask:* {ask}\n" for say, ask in said)
    return f"**They say**\n\n{rows}" if rows else ""


# The command.


def page(deck: Deck) -> str:
    """A deck as one HTML file."""
    slides = "\n".join(slide.html(deck.title) for slide in deck.slides)
    scripts = [(TEMPLATES / "slides.js").read_text(encoding="utf-8")]
    if figures := figures_in(slides):
        scripts.append(script_of(figures))
    style = (TEMPLATES / "slides.css").read_text(encoding="utf-8")
    return PAGE.format(
        title=escape(deck.title),
        style=math_font() + style if "<math" in slides else style,
        slides=slides,
        scripts="\n".join(f"<script>{each}</script>" for each in scripts),
    )


def minutes(decks: Sequence[Deck], room: float | None) -> str:
    """How long each section takes, and when it ends."""
    lines, spent = [], 0.0
    for deck in decks:
        lines.append(deck.title)
        for section, slides in groupby(deck.slides, lambda s: s.section):
            own = sum(slide.seconds for slide in slides) / 60
            spent += own
            late = "  does not fit" if room and spent > room + 0.5 else ""
            name = section or "Title"
            lines.append(f"{own:6.0f} min, ends at {spent:3.0f}: {name}{late}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the decks that the command line asks for."""
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
        "--sections",
        nargs="+",
        action="extend",
        default=[],
        metavar="SECTION",
        help='only these, such as "Meet RoPE", and the title',
    )
    command.add_argument(
        "--minutes",
        type=float,
        help="say which sections fit in this time",
    )
    command.add_argument(
        "--output",
        type=Path,
        default=Path("slides"),
        metavar="FOLDER",
        help="where to write (default: slides)",
    )
    args = command.parse_args(arguments)
    check_sections(args.paths, args.sections)
    decks = [Deck(path, args.sections) for path in args.paths]
    args.output.mkdir(parents=True, exist_ok=True)
    for deck in decks:
        file = args.output / f"{deck.path.stem}.html"
        file.write_text(page(deck), encoding="utf-8")
        size = file.stat().st_size / 1000
        print(f"{file} {len(deck.slides)} slides, {size:,.0f} kB")
    print(minutes(decks, args.minutes))


if __name__ == "__main__":
    run(main)
