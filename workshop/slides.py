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

import markup
from markup import markdown
from nbformat import NotebookNode
from posenc_series.cells import (
    JUDGMENTS,
    is_folded,
    is_form,
    question_and_choices,
    tags,
)
from posenc_series.chapters import (
    headings,
    relink,
    sentence,
    title_of,
    without_folds,
)
from posenc_series.commands import run
from posenc_series.lessons import lesson_of

LINES = 22  # that a slide holds in a good size
PICTURE = 17  # lines that a picture takes, unless it moves
WORDS_A_SECOND = 3
LOOK, EXERCISE = 20, 300  # seconds
ASK, ASK_AND_TALK = 60, 240  # with all six steps of the workshop's page
LISTED = re.compile(r"(?ms)^(?:(?:- |\d+\. |\|).*?(?:\n(?!\n)|\Z))+")
FORMULA = re.compile(r"(?s)\$\$.+?\$\$")
CAPTION = re.compile(r"\A\*(?!\*).+\*(?=\n|\Z)")
SENTENCE_ENDS = r"(?<=[.?!])\s+(?=[A-Z\"*$`])|\n\n"
SKIPPED = ("Further reading", "Exercises")
HAND = (
    '<label><button type="button" aria-label="One more">+</button>'
    '<input inputmode="numeric" aria-label="Hands for {}, count {}"></label>'
)


@dataclass
class Slide:
    """A slide.

    Attributes:
        name: Its address in the deck: the id of a cell.
        section: The heading of the notebook that it belongs to.
        lead: The words above what it shows, as HTML.
        seconds: How long it takes, without what is said.
        shown: What it shows, as HTML.
        lines: How many lines that takes.
        bars: Of hands for each choice, as HTML, if it answers a question.
        caption: Of a picture, as Markdown.
        remember: The sentence that comes as the last step, as Markdown.
        notes: What to say, as Markdown.
    """

    name: str
    section: str
    lead: str = ""
    seconds: float = LOOK
    shown: str = ""
    lines: int = 0
    bars: str | None = None
    caption: str = ""
    remember: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def minutes(self) -> float:
        """How long it takes, with what is said."""
        said = [note for note in self.notes if not note.startswith("```")]
        words = len(" ".join(said).split())
        return (self.seconds + words / WORDS_A_SECOND) / 60

    def html(self, title: str) -> str:
        """As a part of the page of a deck with this title."""
        words, stage = "", ""
        if self.caption:
            words += f'<div class="caption">{html(self.caption)}</div>'
        if self.remember:
            words += f'<div class="remember later">{html(self.remember)}</div>'
        if self.shown or self.bars:
            shows = f'<div class="results">{self.shown}</div>{self.bars or ""}'
            stage = f'<div class="shows">{shows}</div>'
        if words:
            stage += f'<div class="words">{words}</div>'
        if stage:
            stage = f'<div class="stage">{stage}</div>'
        notes = html("\n\n".join(self.notes))
        return (
            f'<article class="slide" id="{self.name}"'
            f' data-minutes="{self.minutes:.2f}">\n'
            f'<p class="where"><span>{escape(self.section)}</span>'
            f"<span>{escape(title)}</span></p>\n{self.lead}\n"
            f'{stage}\n<aside class="notes">{notes}</aside>\n</article>'
        )


class Deck:
    """The slides of a notebook, made cell by cell.

    A slide shows a question, an exercise, a list, a formula, or code with
    what it prints and draws. The text up to the next of these goes into its
    notes; the sentence with bold words is the one to remember, and the last
    paragraph leads to the next slide.

    Attributes:
        title: Of the notebook.
        slides: The slides.
    """

    def __init__(self, path: Path, sections: Sequence[str] = ()):
        """Make the slides of a notebook, or of some of its sections."""
        cells = markup.cells_of(path, sections)
        self.path = path
        self.title = title_of(path, cells)
        self.lesson = lesson_of(path)
        self.has_forms = any(map(is_form, cells))
        self.slides: list[Slide] = []
        self.section = ""
        self.told: list[str] = []  # in a section that has no slide so far
        self.lead = ""  # the paragraph that leads to the next slide
        self.is_open = False  # whether more code goes onto the last slide
        self.question, self.bars = "", ""  # to be answered
        for cell in cells:
            self._take(cell)

    def _take(self, cell: NotebookNode) -> None:
        """Put a cell on a slide, or into notes."""
        own = tags(cell)
        if title := headings(cell, 2):
            self.section, self.told, self.lead = title[0], [], ""
        if self.section in SKIPPED and not own:
            return
        if headings(cell, 1):
            title, hook, *_ = cell.source.split("\n\n")
            self._add(cell.id, html(title) + html(hook))
        elif "predict" in own:
            self._ask(cell)
        elif "exercise" in own:
            self._set_exercise(cell)
        elif "solution" in own:
            self._note(cell)
        elif cell.cell_type == "markdown":
            self._tell(cell)
        elif self.section and not own & {"check", "form"}:
            self._show(cell)

    def _add(self, name: str, lead: str, seconds: float = LOOK) -> Slide:
        """Begin a slide."""
        slide = Slide(name, self.section, lead, seconds, notes=self.told)
        self.told, self.lead, self.is_open = [], "", False
        self.slides.append(slide)
        return slide

    def _note(self, cell: NotebookNode) -> None:
        """Keep a cell for the notes of a slide of its section."""
        text = cell.source
        if cell.cell_type == "code":
            text = f"```python\n{text}\n```"
        has_slide = self.slides[-1].section == self.section
        notes = self.slides[-1].notes if has_slide else self.told
        notes.append(text)

    def _ask(self, cell: NotebookNode) -> None:
        """A question, a minute to write, and fields for hands."""
        question, choices = question_and_choices(cell.source)
        if self.has_forms and not choices:
            choices = [*JUDGMENTS]
        shown = f'<div class="question">{html(question)}</div>'
        shown += '<button type="button" class="minute">One minute, in writing'
        shown += f"</button>{votes(cell.id, choices)}"
        if cell.id == self.lesson.key:
            slide = self._add(cell.id, shown, ASK_AND_TALK)
            slide.notes.append(f"**They say**\n\n{self.lesson.they_say}")
        else:
            self._add(cell.id, shown, ASK)
        self.question, self.bars = question, bars(cell.id, choices)

    def _answer(self, cell: NotebookNode) -> Slide:
        """Begin the slide that answers the question before it."""
        asked = f'<div class="asked">{html(self.question)}</div>'
        slide = self._add(cell.id, asked)
        slide.bars = self.bars
        return slide

    def _set_exercise(self, cell: NotebookNode) -> None:
        """An exercise, and the cell for its answer."""
        if cell.cell_type == "code":
            self.slides[-1].shown += markup.code(cell.source)
        else:
            self.section, self.told = "Exercises", []
            task = cell.source[cell.source.find("### ") :]
            self._add(cell.id, html(task), EXERCISE)

    def _show(self, cell: NotebookNode) -> None:
        """Code, unless it is folded, and what it prints and draws."""
        source = "" if is_folded(cell) else cell.source
        printed, picture = markup.text_of(cell), markup.picture(cell)
        is_answer = "reveal" in tags(cell)
        if is_answer:
            source = ""
        if not (source or printed or picture or is_answer):
            return
        lines = len(source.splitlines()) + len(printed.splitlines())
        if picture:
            lines += LINES if "<posenc-play" in picture else PICTURE
        slide = self.slides[-1]
        if is_answer:
            slide = self._answer(cell)
            self._note(cell)
        elif not self.is_open or slide.lines + lines > LINES:
            slide = self._add(cell.id, "" if picture else self._lead())
        slide.shown += markup.code(source) if source else ""
        slide.shown += markup.printed(cell) + picture
        slide.lines += lines
        self.is_open = True

    def _tell(self, cell: NotebookNode) -> None:
        """Text for the notes, and a slide for a list or a formula in it."""
        text = re.sub(r"(?m)^##? .+\n*", "", cell.source)
        if not text or text.startswith("[Previous"):
            return
        if "reveal" in tags(cell):
            self._answer(cell)
        shown = LISTED if LISTED.search(text) else FORMULA
        before, *after = shown.split(text)
        parts = html("\n\n".join(shown.findall(text)))
        if not self.section:  # what one will find out
            self.slides[-1].shown += parts
            return
        is_explained = self._explain(shown.sub("", text))
        if after:
            self.lead = last_paragraph(before)
            self._add(cell.id, self._lead()).shown = parts
        self._note(cell)
        last = last_paragraph(after[-1] if after else text)
        leads_on = after or not is_explained or last.endswith(":")
        self.lead = last if leads_on else ""
        self.is_open = text.endswith("$$")  # for its code

    def _explain(self, text: str) -> bool:
        """Put caption and sentence of a text on the slide that it explains.

        Returns:
            Whether it explains one.
        """
        slide = self.slides[-1]
        if slide.section != self.section or slide.remember:
            return False
        if caption := CAPTION.match(text):
            slide.caption = caption[0]
            text = text[caption.end() :].strip()
        slide.remember = sentence(text)
        if slide.bars is not None and text and not slide.remember:
            slide.remember = re.split(SENTENCE_ENDS, text)[0]
        return bool(caption or slide.remember)

    def _lead(self) -> str:
        """The paragraph that leads to what comes now, or its end."""
        lead = self.lead
        if len(lead.split()) > 45:
            lead = re.split(SENTENCE_ENDS, lead)[-1]
        return html(lead)


# What slides show.


def last_paragraph(text: str) -> str:
    """The paragraph that a text ends with."""
    return text.strip().split("\n\n")[-1]


def html(text: str) -> str:
    """Markdown as a slide shows it, without links and words on folds."""
    text = without_folds(relink(text, lambda name, cell: None))
    return markdown(text.replace("**Predict.** ", "")) if text else ""


def votes(question: str, choices: Sequence[str]) -> str:
    """Choices with two fields each for hands, before and after talking."""
    if not choices:
        return ""
    rows = '<span></span><span class="round">at first</span>'
    rows += '<span class="round">after talking</span>'
    for choice in choices:
        rows += f"<div>{html(choice)}</div>"
        name = escape(re.sub(r"[*`$]", "", choice), quote=True)
        for count in (1, 2):
            hand = HAND.format(name, count)
            rows += f'<div data-count="{count}">{hand}</div>'
    return f'<div class="choices" data-question="{question}">{rows}</div>'


def bars(question: str, choices: Sequence[str]) -> str:
    """A bar for each choice and each count of hands, filled in later."""
    if not choices:
        return ""
    rows = ""
    for place, choice in enumerate(choices):
        letter = re.match(r"\*\*(\w)\*\*", choice)
        two = "".join(
            f'<div class="bar" data-count="{count}" data-choice="{place}">'
            "</div>"
            for count in (1, 2)
        )
        rows += f"<span>{letter[1] if letter else choice}</span>"
        rows += f"<div>{two}</div>"
    return f'<div class="bars" data-question="{question}" hidden>{rows}</div>'


# The command.


def page(deck: Deck) -> str:
    """A deck as one HTML file."""
    slides = "\n".join(slide.html(deck.title) for slide in deck.slides)
    script = (markup.TEMPLATES / "slides.js").read_text(encoding="utf-8")
    return markup.document(deck.title, slides, "slides.css", scripts=script)


def minutes(decks: Sequence[Deck], room: float | None) -> str:
    """How long each section takes, and when it ends."""
    lines, spent = [], 0.0
    for deck in decks:
        lines.append(deck.title)
        for section, slides in groupby(deck.slides, lambda s: s.section):
            own = sum(slide.minutes for slide in slides)
            spent += own
            late = "  does not fit" if room and spent > room + 0.5 else ""
            name = section or "Title"
            lines.append(f"{own:6.0f} min, ends at {spent:3.0f}: {name}{late}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the decks that the command line asks for."""
    command = markup.command(__doc__, "slides")
    command.add_argument(
        "--minutes",
        type=float,
        help="say which sections fit in this time",
    )
    args = markup.parse(command, arguments)
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
