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
from nbformat import NotebookNode
from posenc_series.cells import (
    JUDGMENTS,
    is_folded,
    is_form,
    question_and_choices,
    tags,
)
from posenc_series.chapters import (
    check_sections,
    headings,
    sentence,
    title_of,
    unlinked,
)
from posenc_series.commands import run
from posenc_series.lessons import lesson_of

WORDS_A_SECOND = 3
LOOK, EXERCISE = 20, 300  # seconds
ASK, ASK_AND_TALK = 60, 240  # with all six steps of the workshop's page
LISTED = re.compile(r"(?ms)^(?:(?:- |\d+\. |\|).*?(?:\n(?!\n)|\Z))+")
FORMULA = re.compile(r"(?s)\$\$.+?\$\$")
SKIPPED = ("Further reading", "Exercises")
SLIDE = """\
<article class="slide" id="{name}" data-minutes="{minutes:.2f}">
<p class="where"><span>{section}</span><span>{title}</span></p>
{lead}
<div class="shows"><div class="results">{shown}</div>{bars}</div>
<div class="remember later">{remember}</div>
<aside class="notes">{notes}</aside>
</article>
"""
QUESTION = """\
<div class="question">{}</div>
<div class="soft">One minute, in writing</div>
{}
"""
HANDS = '<input type="number" min="0" aria-label="Hands for {}, count {}">'


@dataclass
class Slide:
    """A slide.

    Attributes:
        name: Its address in the deck: the id of a cell.
        section: The heading of the notebook that it belongs to.
        lead: The words above what it shows, as HTML.
        seconds: How long it takes, without what is said.
        shown: What it shows, as HTML.
        bars: For hands, as HTML, if it answers a question.
        remember: The sentence that comes as the last step, as Markdown.
        notes: What to say, as Markdown.
    """

    name: str
    section: str
    lead: str = ""
    seconds: float = LOOK
    shown: str = ""
    bars: str = ""
    remember: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def minutes(self) -> float:
        """How long it takes, with what is said."""
        said = [note for note in self.notes if not note.startswith("```")]
        words = len(" ".join(said).split())
        return (self.seconds + words / WORDS_A_SECOND) / 60

    def html(self, title: str, pace: float = 1) -> str:
        """As a part of the page of a deck with this title."""
        return SLIDE.format(
            name=self.name,
            minutes=pace * self.minutes,
            section=escape(self.section),
            title=escape(title),
            lead=self.lead,
            shown=self.shown,
            bars=self.bars,
            remember=html(self.remember),
            notes=html("\n\n".join(self.notes)),
        )


class Deck:
    """The slides of a notebook, made cell by cell.

    A slide shows a question, an exercise, a list, a formula, or a cell's code
    with what it prints and draws. The text up to the next of these goes into
    its notes; the sentence with bold words is the one to remember, and the
    last paragraph leads to the next slide.

    Attributes:
        title: Of the notebook.
        slides: The slides.
    """

    def __init__(self, path: Path, sections: Sequence[str] = ()):
        """Make the slides of a notebook, or of some of its sections."""
        cells = markup.cells_of(path, sections)
        self.path = path
        self.is_part = bool(sections)
        self.title = title_of(path, cells)
        self.lesson = lesson_of(path)
        self.has_forms = any(map(is_form, cells))
        self.slides: list[Slide] = []
        self.section = ""
        self.lead = ""  # the paragraph that leads to the next slide
        self.asked, self.bars = "", ""  # above and beside the answer
        for cell in cells:
            self._take(cell)

    def _take(self, cell: NotebookNode) -> None:
        """Put a cell on a slide, or into notes."""
        own = tags(cell)
        if title := headings(cell, 2):
            self.section, self.lead = title[0], ""
        if self.section in SKIPPED and not own:
            return
        if headings(cell, 1):
            title, hook, *_ = cell.source.split("\n\n")
            self._add(cell.id, html(title) + html(hook))
        elif "predict" in own:
            self._ask(cell)
        elif "exercise" in own and cell.cell_type == "markdown":
            self._set_exercise(cell)
        elif "solution" in own:
            self._note(cell)
        elif cell.cell_type == "markdown":
            self._tell(cell)
        elif self.section and not own & {"check", "exercise", "form"}:
            self._show(cell)

    def _add(self, name: str, lead: str, seconds: float = LOOK) -> Slide:
        """Begin a slide."""
        slide = Slide(name, self.section, lead, seconds)
        self.slides.append(slide)
        self.lead = ""
        return slide

    def _note(self, cell: NotebookNode) -> None:
        """Keep a cell for the notes of the last slide."""
        text = cell.source
        if cell.cell_type == "code":
            text = f"```python\n{text}\n```"
        self.slides[-1].notes.append(text)

    def _ask(self, cell: NotebookNode) -> None:
        """A question, a minute to write, and fields for hands."""
        question, choices = question_and_choices(cell.source)
        if self.has_forms and not choices:
            choices = [*JUDGMENTS]
        asked = QUESTION.format(html(question), votes(cell.id, choices))
        is_key = cell.id == self.lesson.key
        seconds = ASK_AND_TALK if is_key else ASK
        slide = self._add(cell.id, self._lead() + asked, seconds)
        if is_key:
            slide.notes.append(f"**They say**\n\n{self.lesson.they_say}")
        self.asked = f'<div class="soft">{html(question)}</div>'
        self.bars = f'<div class="bars" data-question="{cell.id}"></div>'

    def _answer(self, cell: NotebookNode) -> None:
        """Begin the slide that answers the question before it."""
        self._add(cell.id, self.asked).bars = self.bars

    def _set_exercise(self, cell: NotebookNode) -> None:
        """An exercise; the cell for its answer is not on the slide."""
        task = cell.source[cell.source.find("### ") :]
        self._add(cell.id, html(task), EXERCISE).section = "Exercises"

    def _show(self, cell: NotebookNode) -> None:
        """Code, unless it is folded, and what it prints and draws."""
        picture = markup.picture(cell)
        shown = markup.printed(cell) + picture
        if "reveal" in tags(cell):
            self._answer(cell)
        else:
            if not is_folded(cell):
                shown = markup.code(cell.source) + shown
            if shown:
                # Pictures have captions; those that move, what to try.
                is_led = not picture or "<posenc-play" in picture
                self._add(cell.id, self._lead() if is_led else "")
        self.slides[-1].shown += shown

    def _tell(self, cell: NotebookNode) -> None:
        """Text for the notes, and a slide for a list or a formula in it."""
        text = re.sub(r"(?m)^##? .+\n*", "", cell.source)
        if not text or text.startswith("[Previous"):
            return
        if "reveal" in tags(cell):
            self._answer(cell)
        pattern = LISTED if LISTED.search(text) else FORMULA
        before, *after = pattern.split(text)
        shown = html("\n\n".join(pattern.findall(text)))
        if not self.section:  # what one will find out in all of it
            self.slides[-1].shown += "" if self.is_part else shown
            return
        is_explained = self._explain(pattern.sub("", text))
        if after:
            self.lead = last_paragraph(before)
            self._add(cell.id, self._lead()).shown = shown
        self._note(cell)
        last = last_paragraph(after[-1] if after else text)
        leads_on = after or not is_explained or last.endswith(":")
        self.lead = last if leads_on else ""

    def _explain(self, text: str) -> bool:
        """Put caption and sentence of a text on the slide that it explains.

        Returns:
            Whether it explains one.
        """
        slide = self.slides[-1]
        if slide.section != self.section or slide.remember:
            return False
        if caption := markup.CAPTION.match(text):
            if "<posenc-play" not in slide.shown:  # which speaks for itself
                slide.shown += f'<div class="caption">{html(caption[0])}</div>'
            text = text[caption.end() :].strip()
        slide.remember = sentence(text)
        return bool(caption or slide.remember)

    def _lead(self) -> str:
        """The end of the paragraph that leads to what comes now."""
        sentences = re.split(markup.SENTENCE_ENDS, self.lead)
        while len(" ".join(sentences).split()) > 60 and sentences[1:]:
            del sentences[0]
        return html(" ".join(sentences))


def last_paragraph(text: str) -> str:
    """The paragraph that a text ends with."""
    return text.strip().split("\n\n")[-1]


def html(text: str) -> str:
    """Markdown as a slide shows it, without links and words on folds."""
    text = markup.unfolded(unlinked(text))
    return markup.markdown(text.replace("**Predict.** ", "")) if text else ""


def votes(question: str, choices: Sequence[str]) -> str:
    """Choices with two fields each for hands, before and after talking."""
    if not choices:
        return ""
    rows = "<i></i><i>at first</i><i>after talking</i>"
    for choice in choices:
        name = escape(re.sub(r"[*`$]", "", choice), quote=True)
        rows += f'<div class="choice">{html(choice)}</div>'
        rows += HANDS.format(name, 1) + HANDS.format(name, 2)
    return f'<div class="choices" data-question="{question}">{rows}</div>'


# The command.


def page(deck: Deck, pace: float = 1) -> str:
    """A deck as one HTML file, for a class that takes so many times longer."""
    slides = "".join(slide.html(deck.title, pace) for slide in deck.slides)
    script = (markup.TEMPLATES / "slides.js").read_text(encoding="utf-8")
    return markup.document(deck.title, slides, "slides.css", script)


def minutes(decks: Sequence[Deck], pace: float) -> str:
    """How long each section takes, and when it ends."""
    lines, spent = [], 0.0
    for deck in decks:
        lines.append(deck.title)
        for section, slides in groupby(deck.slides, lambda s: s.section):
            own = pace * sum(slide.minutes for slide in slides)
            spent += own
            name = section or "Title"
            lines.append(f"{own:6.0f} min, ends at {spent:3.0f}: {name}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the decks that the command line asks for."""
    command = markup.command(__doc__, "slides")
    command.add_argument(
        "--minutes", type=float, help="the time that you have for all of them"
    )
    args = command.parse_args(arguments)
    check_sections(args.paths, args.sections)
    decks = [Deck(path, args.sections) for path in args.paths]
    least = sum(slide.minutes for deck in decks for slide in deck.slides)
    pace = args.minutes / least if args.minutes else 1
    for deck in decks:
        file = args.output / f"{deck.path.stem}.html"
        kilobytes = markup.write(page(deck, pace), file)
        print(f"{file} {len(deck.slides)} slides, {kilobytes} kB")
    print(minutes(decks, pace))
    if pace < 1:
        print(f"This is too little: the slides need {least:.0f} minutes.")


if __name__ == "__main__":
    run(main)
