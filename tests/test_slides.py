"""Slides ask, count hands and answer; they work offline, and fit."""

import re

import nbformat
import pytest
import slides
from bs4 import BeautifulSoup
from conftest import PATHS
from nbformat.v4 import new_notebook
from posenc_series.commands import CommandError
from small_series import code, printed, prose, teal_picture

CHOICES = "- **A** one\n- **B** two,\n  or so\n- something else"
SMALLEST = 14  # pixels of a slide 720 high
TOO_LARGE = """() => slides.filter((slide) => {
    slide.classList.add('measured');
    const large = overflows(slide)
        || all('pre', slide).some(overflows);
    slide.classList.remove('measured');
    return large; }).map((slide) => slide.id)"""
ALL_VOTE = """() => {
    all('.choices input').forEach((field) => (field.value = 12));
    all('.choices').forEach(count); }"""
SIZES = """() => all('.slide :is(p, li, td, pre, img)').filter(
    (e) => !e.closest('.notes, posenc-play')).map((e) => {
    const slide = e.closest('.slide');
    slide.classList.add('measured');
    const size = e.matches('img') ? e.clientHeight && 99
        : parseFloat(getComputedStyle(e).fontSize);
    slide.classList.remove('measured');
    return [size || 99, slide.id]; }).sort((a, b) => a[0] - b[0])[0]"""


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> str:
    """A deck with one of everything, and a path to it."""
    cells = [
        prose("title", "# Ask\n\nWhy?\n\n[Next: x](01_x.ipynb)"),
        prose("aims", "**What you will find out**\n\n- AIM"),
        prose("first", "## First\n\nWORDS. The next cell has a sum:"),
        code("sum", "1 + 1", outputs=[printed("SUM")]),
        prose("then", "**This is the one sentence to keep.** Not this."),
        prose("predict-a", f"**Predict.** How many?\n\n{CHOICES}", "predict"),
        code("reveal-a", "draw()", "reveal", outputs=[printed("ANSWER")]),
        prose("explain-a", "Two. And **nobody ever finds more** here. MORE."),
        prose("second", "## Second"),
        code("figure-b", "draw()", outputs=[teal_picture("Teal.")]),
        prose("caption-b", "*A box.*\n\nIt is teal."),
        prose("exercise-1", "### Exercise 1. Try\n\nTASK", "exercise"),
        code("answer-1", "answer_1 = ...", "exercise"),
        code("solution-1", "SOLVED = 1", "solution"),
    ]
    path = tmp_path_factory.mktemp("deck") / "20_ask.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def deck_of(path, *sections) -> dict[str, BeautifulSoup]:
    html = slides.page(slides.Deck(path, sections))
    page = BeautifulSoup(html, "html.parser")
    return {slide["id"]: slide for slide in page.select(".slide")}


def without_notes(slide) -> tuple[str, str]:
    notes = slide.select_one(".notes").extract()
    text, told = (
        " ".join(part.get_text(" ").split()) for part in (slide, notes)
    )
    slide.append(notes)
    return text, told


def test_what_is_on_a_slide_and_what_is_said(small):
    deck = deck_of(small)
    shown = {name: without_notes(slide) for name, slide in deck.items()}
    assert list(shown) == [
        "title",
        "sum",
        "predict-a",
        "reveal-a",
        "figure-b",
        "exercise-1",
    ]
    assert "AIM" in shown["title"][0]
    slide, notes = shown["sum"]
    assert re.search(r"has a sum: .*SUM.* This is the one sentence", slide)
    assert "WORDS" in notes
    slide, notes = shown["reveal-a"]
    assert re.search("How many.*ANSWER.*And nobody ever finds more h", slide)
    assert "Two" not in slide
    assert "MORE" in notes
    assert "A box" in shown["figure-b"][0]
    slide, notes = shown["exercise-1"]
    assert ("SOLVED" in notes, "SOLVED" in slide) == (True, False)
    later = [name for name in deck if deck[name].select(".later")]
    assert later == ["sum", "reveal-a"]


def test_each_choice_has_two_counts_and_two_bars(small):
    deck = deck_of(small)
    fields = deck["predict-a"].select("input")
    named = [field["aria-label"] for field in fields]
    assert named[2:4] == [f"Hands for B two, or so, count {n}" for n in (1, 2)]
    assert len(named) == len(deck["reveal-a"].select(".bar")) == 6


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_key_question_has_choices_and_what_people_say(path):
    deck = slides.Deck(path)
    slide = {each.name: each for each in deck.slides}[deck.lesson.key]
    assert slide.lead.count("<input") >= 6
    assert "*Ask:*" in "".join(slide.notes)


def test_sections_are_chosen_by_name(small, tmp_path, capsys):
    assert list(deck_of(small, "sec")) == ["title", "figure-b", "exercise-1"]
    to = ["--output", str(tmp_path)]
    with pytest.raises(CommandError, match="'Third'; there are: First, Sec"):
        slides.main([str(small), "--sections", "Third", *to])
    slides.main([str(small), "--minutes", "3", *to])
    said = capsys.readouterr().out
    assert [line.endswith("fit") for line in said.splitlines()[2:]] == [
        *(False, False, False),
        True,  # the exercise takes five minutes
    ]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            id=path.stem,
            marks=[] if path.stem[:2] == "00" else pytest.mark.slow,
        )
        for path in PATHS
    ],
)
def test_all_slides_fit_with_the_network_off(browser, path, tmp_path):
    file = tmp_path / "deck.html"
    file.write_text(slides.page(slides.Deck(path)), encoding="utf-8")
    asked, errors = [], []
    with browser.new_context(
        offline=True, viewport={"width": 1280, "height": 720}
    ) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        page.wait_for_selector("[data-ready]", state="attached")
        assert page.evaluate(TOO_LARGE) == []
        page.evaluate(ALL_VOTE)
        assert page.evaluate(TOO_LARGE) == []
        smallest, slide = page.evaluate(SIZES)
        assert smallest >= SMALLEST, slide
        assert errors == []
        assert len([url for url in asked if not url.startswith("data:")]) == 1


def test_hands_are_kept_and_shown_beside_the_result(browser, small, tmp_path):
    file = tmp_path / "deck.html"
    file.write_text(slides.page(slides.Deck(small)), encoding="utf-8")
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto(f"{file.as_uri()}#reveal-a")
        assert not page.locator(".bars").is_visible()
        page.keyboard.press("ArrowLeft")
        more = page.get_by_role("button", name="One more")
        for place in (0, 0, 0, 3):  # A three times, B after talking
            more.nth(place).click()
        page.get_by_label("B two, or so, count 1").fill("9")
        page.reload()  # as if the deck had been closed
        assert page.get_by_label("A one, count 1").input_value() == "3"
        page.locator(".where:visible").click()
        bars = page.locator(".bar:visible")
        assert bars.all_inner_texts() == ["3", "0", "9", "1", "0", "0"]
        share = "(bar) => bar.style.getPropertyValue('--share')"
        assert bars.nth(2).evaluate(share) == "75%"


def test_the_presenters_view_has_notes_and_leads(browser, small, tmp_path):
    file = tmp_path / "deck.html"
    file.write_text(slides.page(slides.Deck(small)), encoding="utf-8")
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto(f"{file.as_uri()}#sum")
        with page.expect_popup() as opened:
            page.keyboard.press("s")
        desk = opened.value
        assert "WORDS" in desk.locator(".desk > .notes").inner_text()
        assert (
            "How many?" in desk.locator(".desk > .slide").nth(1).inner_text()
        )
        desk.keyboard.press("PageDown")  # the sentence
        assert page.locator(".remember:visible").count() == 1
        desk.keyboard.press("PageDown")
        assert page.url.endswith("#predict-a")
        clock = desk.locator(".clock").inner_text()
        assert re.search(r"0 of \d min · .+ · slide 3 of 6", clock)
