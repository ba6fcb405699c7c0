"""Figures to play with: how they are called, come to a page, and move.

Their numbers and colors are in test_play_numbers.py. Mouse and keys move them
here in a browser that reaches nothing; `-m slow` opens JupyterLab, and pages
and JupyterLite in test_web.py.
"""

import ast
import re
from unittest.mock import patch

import nbformat
import pytest
from conftest import PATHS
from in_browser import (
    DRAGS,
    STATE,
    TALL,
    begin,
    by_finger,
    by_mouse,
    drag,
    jupyterlab,
    keys,
    moved,
    new_page,
    play_all,
    run_all,
    stored_notebook,
    the,
    violations,
    wait_for_themes,
)

from posenc.play import PACKAGE, RANGES, play, script_of

PAINT = """([background, color]) => {
    for (const figure of document.querySelectorAll('posenc-play')) {
        Object.assign(figure.parentElement.style, {background, color});
    } }"""
# What is on the screen: a figure by its name.
VISIBLE = """() => [...document.querySelectorAll(
        '.jp-OutputArea-output img, main img, posenc-play')]
    .filter(node => node.checkVisibility())
    .map(node => node.getAttribute('figure') ?? 'picture')"""
# From the top of the pictures to the end of the numbers, sliders between.
HEIGHTS = """() => [...document.querySelectorAll('posenc-play')].map(host => {
    const box = part =>
        host.shadowRoot.querySelector(part).getBoundingClientRect();
    return box('.says').bottom - box('.pictures').top; })"""


def displayed(name: str, **settings: float) -> str:
    """The HTML that a call of `play` displays."""
    with patch("posenc.play.display") as display:
        play(name, **settings)
    return display.call_args.args[0]["text/html"]


# The call.


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("clock", {}, ValueError, "no figure 'clock'.*apart, hands, inside"),
        ("pair", {"k": 3}, TypeError, "no setting 'k'; it has position, off"),
        ("hands", {"position": 64}, ValueError, "between 0 and 63, not 64"),
        ("hands", {"position": 7.5}, TypeError, "an integer, not 7.5"),
        ("hands", {"position": True}, TypeError, "an integer, not True"),
        ("apart", {"frequency": "1"}, TypeError, "a number, not '1'"),
        ("inside", {"text": 7}, TypeError, "text must be text, not 7"),
        ("inside", {"text": "A b"}, ValueError, "2 to 128 letters from a"),
        ("inside", {"text": "a"}, ValueError, "2 to 128 letters from a"),
    ],
)
def test_a_call_that_cannot_be_meant_is_an_error(name, settings, error, words):
    with pytest.raises(error, match=words):
        play(name, **settings)


# In the notebooks.

CALLS = [
    pytest.param(path, cell, id=f"{path.stem[:2]}-{cell.id}")
    for path in PATHS
    for cell in nbformat.read(path, as_version=4).cells
    if cell.cell_type == "code" and "\nplay(" in cell.source
]


@pytest.mark.parametrize(("path", "cell"), CALLS)
def test_a_figure_is_stored_below_its_picture(path, cell):
    """Store the notebook again if the element is an older one.

    The picture is drawn for the settings of the figure: each number of the
    call is in the drawing too. For a length it may be the last offset.
    """
    drawing, call = cell.source.split("\nplay(")
    name = re.match(r'"(\w+)"', call)[1]
    settings = {
        setting: ast.literal_eval(value)
        for setting, value in re.findall(r"(\w+)=([\d_.]+)", call)
    }
    still, element = cell.outputs
    assert "image/png" in still.data
    html = displayed(name, **settings)
    assert element.data["text/html"] == html.partition("<script>")[0]
    drawn = re.findall(r"(?<![\w.])[\d.]+", drawing.replace("_", ""))
    for setting, value in settings.items():
        last = value - 1 if setting in ("trained", "length") else value
        assert {f"{value}", f"{last}"} & set(drawn), setting


# How they come to a page.


@pytest.mark.parametrize("name", RANGES)
def test_script_and_python_know_the_same_settings(browser, name):
    """What is left out begins as it should, and keys reach both ends."""
    with new_page(browser, displayed(name)) as page:
        figure = the(page, name)
        starts = {each: start for each, (start, *_) in RANGES[name].items()}
        assert figure.evaluate(STATE) == starts
        for slider in figure.get_by_role("slider").all():
            setting = slider.get_attribute("name")
            _, low, high = RANGES[name][setting]
            for key, end in [("Home", low), ("End", high)]:
                slider.press(key)
                now = figure.evaluate(STATE)[setting]
                assert now == pytest.approx(end)
        keys(figure)


def test_it_begins_as_it_is_called(browser):
    with new_page(browser, displayed("unseen", trained=30, remedy=3)) as page:
        state = the(page, "unseen").evaluate(STATE)
        assert (state["trained"], state["remedy"]) == (30, 3)
        assert page.get_by_role("radio", name="by parts").is_checked()


def test_the_script_of_a_figure_is_small():
    """It has what the figure needs, and one model's weights if it runs it."""
    sizes = {name: len(script_of([name])) for name in RANGES}
    assert sizes.pop("inside") < 100_000
    assert max(sizes.values()) < 40_000


def test_parts_import_what_there_is(browser):
    """A browser says which name is missing where, as our joining does not."""
    page = browser.new_page()
    page.route("**/*", serve_part)
    page.goto("http://127.0.0.1/")
    for name in RANGES:
        page.evaluate(f"import('/play/figures/{name}.js')")
    assert page.evaluate("Object.keys(posencFigures)") == list(RANGES)
    page.close()


def serve_part(route) -> None:
    path = PACKAGE / route.request.url.partition("127.0.0.1/")[2]
    if path.suffix:
        route.fulfill(path=path)
    else:
        route.fulfill(body="A page.", content_type="text/html")


# As JupyterLab does: first the element, then its script.
ADD = """([html, inShadow]) => {
    const [element, script] = html.split('<script>');
    const output = document.createElement('div');
    output.innerHTML = element;
    const {body} = document;
    (inShadow ? body.attachShadow({mode: 'open'}) : body).append(output);
    const run = document.createElement('script');
    run.textContent = script.replace('</' + 'script>', '');
    document.head.append(run);
    return output.firstChild.stage.state.position; }"""


def test_figures_bring_their_scripts_one_after_the_other(browser):
    """Each its own, and the same one again where a cell is run again."""
    with new_page(browser, "") as page:
        for name in ("pair", "alike", "inside", "pair"):
            html = displayed(name, position=9)
            assert page.evaluate(ADD, [html, False]) == 9
        for figure in page.locator("posenc-play").all():
            keys(figure)


def test_it_plays_in_a_shadow_root(browser):
    with new_page(browser, "") as page:
        html = displayed("hands", position=9)
        assert page.evaluate(ADD, [html, True]) == 9
        page.wait_for_timeout(200)  # until it has been drawn


# How they are moved.


# How much of the handle's tab is the handle's, and not a knob's.
HELD = """figure => {
    const root = figure.shadowRoot;
    const tab = [...root.querySelectorAll('[data-drag=bar] .tab')].at(-1);
    tab.scrollIntoView({block: 'center'});
    const box = tab.getBoundingClientRect();
    let [held, all] = [0, 0];
    for (let x = box.left + 1; x < box.right; x += 2) {
        for (let y = box.top + 1; y < box.bottom; y += 2) {
            const there = root.elementFromPoint(x, y);
            held += Boolean(there?.closest('[data-drag=bar]'));
            all += 1;
        }
    }
    return held / all; }"""


@pytest.mark.parametrize("width", [320, 360, 390, 430, 1280])
def test_query_and_key_can_be_moved_together(figures, width):
    """By finger, however close they are, and by Shift with an arrow key."""
    figures.set_viewport_size({"width": width, "height": 900})
    figure = the(figures, "rotary")
    for query, key in [(20, 32), (20, 21), (0, 0), (63, 62)]:
        moved(figures, "rotary", query=query, key=key)
        assert figure.evaluate(HELD) == 1
    moved(figures, "rotary", query=20, key=62)
    slider = figure.get_by_role("slider", name="Position of the query")
    states = []
    for pressed in ("Shift+ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        slider.press(pressed)
        now = figure.evaluate(STATE)
        states.append((now["query"], now["key"]))
    assert states == [(21, 63), (21, 63), (20, 63)]


def test_a_slider_has_a_name_and_says_its_value(figures):
    moved(figures, "unseen", base=1e6)
    figure = the(figures, "unseen")
    slider = figure.get_by_role("slider", name="Base", exact=True)
    said = slider.get_attribute("aria-valuetext")
    assert said.replace("\N{NO-BREAK SPACE}", " ") == "1 000 000"


@pytest.mark.parametrize("name", RANGES)
def test_the_mouse_drags_the_picture(figures, name):
    figures.set_viewport_size({"width": 1280, "height": 900})
    for grip, by, wanted in DRAGS[name]:
        done = drag(the(figures, name), grip, by, by_mouse)
        assert done == pytest.approx(wanted, abs=1)


def test_a_fast_hand_is_turned(figures):
    """A quarter of a turn of the second hand is five positions."""
    hands = the(figures, "hands")
    x, y = begin(hands, "1")
    figures.mouse.move(x + 20, y)
    figures.mouse.down()
    figures.mouse.move(x + 14, y - 14)
    figures.mouse.move(x, y - 20)
    figures.mouse.up()
    assert hands.evaluate(STATE)["position"] == 7 + 5


# In the place of the picture.


def test_what_to_notice_comes_after_the_first_move(browser):
    with new_page(browser, displayed("alike")) as page:
        figure = the(page, "alike")
        assert not figure.locator(".note").is_visible()
        figure.get_by_role("slider").first.press("ArrowLeft")
        assert figure.locator(".note").is_visible()
        figure.get_by_role("status").filter(has_text="The dot").wait_for()


def test_a_figure_is_on_the_screen_and_a_picture_on_paper(figures):
    assert figures.evaluate(VISIBLE) == list(RANGES)
    figures.emulate_media(media="print")
    assert figures.evaluate(VISIBLE) == ["picture"] * len(RANGES)
    figures.emulate_media(media="screen")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_is_accessible_and_fits(figures, width, dark):
    figures.set_viewport_size({"width": width, "height": 844})
    colors = ["#111", "#eee"] if dark else ["#fff", "#111"]
    figures.evaluate(PAINT, colors)
    wait_for_themes(figures, dark=len(RANGES) * dark)
    assert violations(figures) == []
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert figures.evaluate(fits)
    # On a phone, with what its browser leaves of those 844 pixels.
    assert max(figures.evaluate(HEIGHTS)) < 664


# Slow: in JupyterLab, by touch.


def choose_theme(page, name: str) -> None:
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-itemLabel:text-is('Theme')").hover()
    page.locator(f".lm-Menu-itemLabel:text-is('{name}')").click()


@pytest.mark.slow
@pytest.mark.parametrize("windowing", ["none", "defer", "full"])
def test_it_plays_in_jupyterlab(browser, tmp_path, windowing):
    with jupyterlab(browser, tmp_path, windowing) as open_notebook:
        plays_in_jupyterlab(open_notebook(stored_notebook(), "figures"))


def plays_in_jupyterlab(page) -> None:
    page.set_viewport_size(TALL)
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    # Nobody has run it yet, so it is not trusted: the pictures stand.
    page.locator("img").nth(len(RANGES) - 1).wait_for()
    assert page.evaluate(VISIBLE) == ["picture"] * len(RANGES)
    assert page.get_by_text("It moves.").first.is_visible()
    run_all(page)
    for theme, is_dark in [("JupyterLab Dark", 1), ("JupyterLab Light", 0)]:
        choose_theme(page, theme)
        wait_for_themes(page, dark=len(RANGES) * is_dark)
        assert page.evaluate(VISIBLE) == list(RANGES)
        assert violations(page, "posenc-play") == []
        for name in RANGES:
            play_all(the(page, name))

    # Keys are the figure's: `b` would insert a cell, arrows choose another.
    slider = the(page, "hands").get_by_role("slider")
    slider.press("Home")  # which may bring cells onto the screen
    cells = page.locator(".jp-Cell").count()
    for key in ("ArrowRight", "b", "ArrowUp"):
        slider.press(key)
    assert slider.input_value() == "2"
    assert page.locator(".jp-Cell").count() == cells

    page.locator(".jp-InputPrompt").last.click()
    page.keyboard.press("Control+S")
    page.locator(".jp-mod-dirty").wait_for(state="detached")
    page.reload()
    for name in RANGES:
        play_all(the(page, name))
    assert page.evaluate(VISIBLE) == list(RANGES)
    assert errors == []
    page.close()


@pytest.mark.slow
def test_a_finger_on_a_grip_drags_and_elsewhere_scrolls(browser, handout):
    phone = {"width": 390, "height": 844}
    how = {"has_touch": True, "is_mobile": True, "viewport": phone}
    with new_page(browser, handout, **how) as page:
        for name in RANGES:
            play_all(the(page, name))
        figure = the(page, "hands")
        start = begin(figure, "row")
        before = page.evaluate("scrollY")
        by_finger(page, start, (0, 60))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") == before
        dragged = figure.evaluate(STATE)
        assert dragged["position"] > 7
        by_finger(page, (start[0] + 150, start[1]), (0, -200))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") > before + 100
        assert figure.evaluate(STATE) == dragged
        figure.locator("image").tap(position={"x": 100, "y": 202})
        assert figure.evaluate(STATE)["position"] == 50


@pytest.mark.slow
def test_motion_is_slow_where_less_of_it_is_wanted(browser):
    steps = {}
    for wish in ("no-preference", "reduce"):
        with new_page(
            browser, displayed("hands"), reduced_motion=wish
        ) as page:
            the(page, "hands").get_by_role("button").click()
            page.wait_for_timeout(2200)
            steps[wish] = the(page, "hands").evaluate(STATE)["position"] - 7
    assert 1 <= steps["reduce"] <= 2 < 5 <= steps["no-preference"]
