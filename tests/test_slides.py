"""Slides ask, count hands and answer; they work offline, and fit."""

import re
import shlex

import nbformat
import pytest
import slides
from bs4 import BeautifulSoup
from conftest import PATHS, ROOT, slow_but
from nbformat.v4 import new_notebook
from posenc_series.chapters import by_section, read_notebook
from posenc_series.listing import minutes_for
from small_series import code, picture, printed, prose

CHOICES = "- **A** one\n- **B** two,\n  or so\n- something else"
SMALLEST = 14  # pixels of a slide 720 high
TOO_LARGE = """() => slides.filter((slide) => {
    slide.classList.add('measured');
    const is = isTooLarge(slide);
    slide.classList.remove('measured');
    return is; }).map((slide) => slide.id)"""
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
def small(tmp_path_factory):
    """The path of a notebook with one of everything."""
    cells = [
        prose("title", "# Ask\n\nWhy?\n\n[Next: x](01_x.ipynb)"),
        prose("aims", "**What you will find out**\n\n- AIM"),
        prose("first", "## First\n\nWORDS. The next cell has a sum:"),
        code("sum", "1 + 1", outputs=[printed("SUM")]),
        prose("then", "**This is the one sentence to keep.** Not this."),
        prose("leads", f"{50 * 'LONG '}. {'SHORT ' * 11}. It LEADS."),
        prose("predict-a", f"**Predict.** How many?\n\n{CHOICES}", "predict"),
        code("reveal-a", "draw()", "reveal", outputs=[printed("ANSWER")]),
        prose("explain-a", "Two. And **nobody ever finds more** here. MORE."),
        prose("second", "## Second"),
        code("figure-b", "draw()", outputs=[picture("Teal.")]),
        prose("caption-b", "*A box.*\n\nIt is teal."),
        prose("exercise-1", "### Exercise 1. Try\n\nTASK", "exercise"),
        code("answer-1", "answer_1 = ...", "exercise"),
        code("solution-1", "SOLVED = 1", "solution"),
        code("end", "2 + 2", outputs=[printed("END")]),
        prose("then-end", "(An aside.) **Both of them ended well.**"),
    ]
    path = tmp_path_factory.mktemp("deck") / "20_ask.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture(scope="module")
def deck(small, tmp_path_factory) -> str:
    """The address of its deck."""
    file = tmp_path_factory.mktemp("deck") / "deck.html"
    file.write_text(slides.page(slides.Deck(small)), encoding="utf-8")
    return file.as_uri()


def test_what_is_on_a_slide_and_what_is_said(small):
    deck = {slide.name: slide for slide in slides.Deck(small).slides}
    assert list(deck) == [
        *("title", "sum", "predict-a", "reveal-a", "figure-b"),
        *("exercise-1", "end"),
    ]
    assert deck["end"].remember == "**Both of them ended well.**"
    shown, notes = {}, {}
    for name, slide in deck.items():
        page = BeautifulSoup(slide.html("Ask"), "html.parser")
        notes[name] = page.select_one(".notes").extract().text
        shown[name] = " ".join(page.get_text(" ").split())
    assert "AIM" in shown["title"]
    wanted = "has a sum: .*SUM.* This is the one sentence"
    assert re.search(wanted, shown["sum"])
    assert "Not this" in notes["sum"]
    assert re.match("First Ask SHORT.*LEADS. How many", shown["predict-a"])
    wanted = "How many.*ANSWER.*And nobody ever finds more h"
    assert re.search(wanted, shown["reveal-a"])
    assert "Two" not in shown["reveal-a"]
    assert "A box" in shown["figure-b"]
    assert "SOLVED" in notes["exercise-1"]
    assert "SOLVED" not in shown["exercise-1"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_key_question_has_choices_and_what_people_say(path):
    deck = slides.Deck(path)
    (slide,) = [s for s in deck.slides if s.name == deck.lesson.key]
    assert "[" not in deck.lesson.question  # it is the text of a link
    assert slide.lead.count("<input") >= 6
    assert "*Ask:*" in "".join(slide.notes)


def test_sections_are_chosen_and_their_minutes_added(small, tmp_path, capsys):
    chosen = slides.Deck(small, ["sec"]).slides
    assert [s.name for s in chosen[1:]] == ["figure-b", "exercise-1", "end"]
    assert "AIM" not in chosen[0].shown  # which is of all sections
    slides.main([str(small), "--minutes", "30", "--output", str(tmp_path)])
    said = capsys.readouterr().out.splitlines()[2:]
    assert [line.split(": ")[1] for line in said] == [
        *("Title", "First", "Second", "Exercises", "Second")
    ]
    text = (tmp_path / f"{small.stem}.html").read_text()
    minutes = re.findall(r'data-minutes="(.+?)"', text)
    assert sum(map(float, minutes)) == pytest.approx(30, abs=0.1)


@pytest.mark.parametrize("path", slow_but("00"))
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
        page.reload()  # now the fonts are there before the scripts
        page.wait_for_selector("[data-ready]", state="attached")
        assert page.evaluate(TOO_LARGE) == []
        page.evaluate(ALL_VOTE)
        assert page.evaluate(TOO_LARGE) == []
        smallest, slide = page.evaluate(SIZES)
        assert smallest >= SMALLEST, slide
        assert errors == []
        assert {url for url in asked if not url.startswith("data:")} == {
            file.as_uri()
        }


def test_hands_are_kept_and_shown_beside_the_result(browser, deck):
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto(f"{deck}#reveal-a")
        page.keyboard.press("ArrowLeft")
        page.get_by_label("A one, count 1").fill("2")
        page.get_by_label("A one, count 1").press("ArrowUp")
        page.get_by_label("B two, or so, count 1").fill("9")
        page.get_by_label("B two, or so, count 2").fill("1")
        page.keyboard.press("PageDown")  # a clicker, from within a field
        page.reload()  # as if the deck had been closed
        page.wait_for_selector("[data-ready]", state="attached")
        assert page.get_by_label("A one, count 1").input_value() == "3"
        bars = page.locator(".bars:visible")
        assert bars.inner_text().split() == [
            *("A", "3", "0", "B", "9", "1"),
            *("something", "else", "0", "0"),
        ]
        share = "(bar) => bar.position"
        assert bars.locator("progress").nth(2).evaluate(share) == 0.75


def test_the_presenters_view_has_notes_and_leads(browser, deck):
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto(f"{deck}#sum")
        with page.expect_popup() as opened:
            page.keyboard.press("s")
        desk = opened.value
        assert "Not this" in desk.locator(".desk > .notes").inner_text()
        assert "How many?" in desk.locator(".slide").nth(1).inner_text()
        desk.keyboard.press("PageDown")  # the sentence
        assert page.locator(".remember:visible").count() == 1
        desk.keyboard.press("PageDown")
        assert page.url.endswith("#predict-a")
        clock = desk.locator(".clock").inner_text()
        assert re.search(r"0 of \d min · .+ · slide 3 of 7", clock)


CLOSING = {"Exercises", "Recap", "Further reading"}
MINUTES = {"90 minutes": 90, "Half a day": 240}
DECK = re.compile(r"slides\.py (\d\d) --minutes (\d+)(?: --sections (.+))?")
ROW = re.compile(r"(?m)^\| (\d):(\d\d) \| (\d+) \| (.+?) \| (.*)\|$")


@pytest.mark.parametrize("title", MINUTES)
def test_a_plan_fills_its_time_and_its_decks_and_notebooks_fit(title):
    page = (ROOT / "workshop/README.md").read_text(encoding="utf-8")
    plan = page.partition(f"### {title}\n")[2].partition("\n##")[0]
    decks = DECK.findall(plan)
    assert len(decks) == plan.count("slides.py")
    for number, planned, sections in decks:
        deck = slides.Deck(PATHS[int(number)], shlex.split(sections))
        needed = sum(slide.minutes for slide in deck.slides)
        assert needed <= int(planned), number
    notebooks = [by_section(read_notebook(path).cells) for path in PATHS]
    titles = {title for notebook in notebooks for title, _ in notebook}
    now = 0
    for hours, minutes, planned, what, late in ROW.findall(plan):
        assert 60 * int(hours) + int(minutes) == now, what
        now += int(planned)
        assert titles.issuperset(re.findall(r"\*(.+?)\*", what + late)), what
        if read := re.match(r"(\d\d),? (up to|with all six steps)", what):
            needed = [
                minutes_for(part)
                for title, part in notebooks[int(read[1])]
                if title not in CLOSING
            ]
            assert sum(needed) <= int(planned), what
    assert now == MINUTES[title]
