"""Figures to play with: how they are called, come to a page, and move.

Their numbers are in test_play_numbers.py. Mouse and keys move them
here on a page; `-m slow` moves them in JupyterLab, and by a finger.
"""

import pytest
from in_browser import (
    BEGIN,
    DRAGS,
    STATE,
    by_finger,
    by_mouse,
    displayed,
    drag,
    jupyterlab,
    keys,
    moved,
    new_page,
    page_of_figures,
    run_all,
    the,
    violations,
    wait_for_themes,
)
from nbformat.v4 import new_code_cell, new_notebook
from store_notebooks import KERNELSPEC

from posenc.play import FIGURES, play

CALL = """import matplotlib.pyplot as plt
from posenc.play import play
from posenc_helpers import show

fig, ax = plt.subplots(figsize=(3, 1))
show(fig, alt="An empty picture.")
play({!r})"""
PAINT = """([background, color]) => {
    for (const figure of document.querySelectorAll('posenc-play')) {
        Object.assign(figure.parentElement.style, {background, color});
    } }"""

# The call.


@pytest.mark.parametrize(
    ("name", "settings", "error", "words"),
    [
        ("clock", {}, ValueError, "no figure 'clock'.*apart, hands, inside"),
        ("pair", {"k": 3}, TypeError, "no setting 'k'; it has position, off"),
        ("hands", {"position": 64}, ValueError, "between 0 and 63, not 64"),
        ("apart", {"frequency": "1"}, TypeError, "a number, not '1'"),
        ("inside", {"text": "A b"}, ValueError, "2 to 128 letters from a"),
    ],
)
def test_a_call_that_cannot_be_meant_is_an_error(name, settings, error, words):
    with pytest.raises(error, match=words):
        play(name, **settings)


# How they come to a page.


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_begins_and_ends_as_listed(browser, name):
    with new_page(browser, displayed(name)) as page:
        figure, listed = the(page, name), FIGURES[name]["settings"]
        starts = {setting: row["start"] for setting, row in listed.items()}
        assert figure.evaluate(STATE) == starts
        for slider in figure.get_by_role("slider").all():
            setting = slider.get_attribute("name")
            row = listed[setting]
            assert row["min"] <= row["start"] <= row["max"]
            for key, end in [("Home", "min"), ("End", "max")]:
                slider.press(key)
                now = figure.evaluate(STATE)[setting]
                assert now == pytest.approx(row[end])


def test_a_figure_begins_as_it_is_called_and_says_what_it_shows(browser):
    ask = 'Is "1 < 2"?'
    called = displayed("alike", max_wavelength=100, ask=ask)
    with new_page(browser, displayed("alike") + called) as page:
        own, other = the(page, "alike").all()
        assert other.evaluate(STATE)["max_wavelength"] == 100
        assert other.locator(".ask").inner_text() == ask
        slider = own.get_by_role("slider", name="Maximum wavelength")
        assert not own.locator(".note").is_visible()
        for figure in (own, other):
            keys(figure)
        slider.press("End")
        value = slider.get_attribute("aria-valuetext")
        assert value.replace("\N{NO-BREAK SPACE}", " ") == "1 000 000"
        assert own.locator(".note").is_visible()
        assert not other.locator(".note").is_visible()  # on another question
        own.get_by_role("status").filter(has_text="The dot").wait_for()


# How they are moved.


@pytest.mark.parametrize("name", FIGURES)
def test_the_mouse_drags_the_picture(figures, name):
    figures.set_viewport_size({"width": 1280, "height": 900})
    for grip, by, wanted in DRAGS[name]:
        after = drag(the(figures, name), grip, by, by_mouse)
        assert after == pytest.approx(wanted, abs=1)


def test_shift_moves_query_and_key_together(figures):
    moved(figures, "rotary", query=20, key=62)
    figure = the(figures, "rotary")
    slider = figure.get_by_role("slider", name="Position of the query")
    slider.press("Shift+ArrowRight")
    slider.press("Shift+ArrowRight")  # the key is at the end now
    now = figure.evaluate(STATE)
    assert (now["query"], now["key"]) == (21, 63)


# On a page.


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_is_accessible_and_fits(figures, width, dark):
    figures.set_viewport_size({"width": width, "height": 844})
    colors = ["#111", "#eee"] if dark else ["#fff", "#111"]
    figures.evaluate(PAINT, colors)
    wait_for_themes(figures, dark=len(FIGURES) * dark)
    assert violations(figures) == []
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert figures.evaluate(fits)


# Slow: in JupyterLab, by touch.


@pytest.mark.slow
def test_it_plays_in_jupyterlab(browser, tmp_path):
    """Where cells out of sight are taken off the page ("full")."""
    cells = [new_code_cell(CALL.format(name), id=name) for name in FIGURES]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    with jupyterlab(browser, tmp_path, windowing="full") as open_notebook:
        page, errors = open_notebook(notebook, "figures"), []
        # A window that has all figures on the screen at once.
        page.set_viewport_size({"width": 1280, "height": 1300 * len(FIGURES)})
        page.on("pageerror", lambda error: errors.append(error))
        run_all(page)
        page.get_by_role("menuitem", name="Settings", exact=True).click()
        for entry in ("Theme", "JupyterLab Dark"):
            page.locator(f".lm-Menu-itemLabel:text-is('{entry}')").click()
        wait_for_themes(page, dark=len(FIGURES))
        stills = page.locator(".jp-OutputArea-output img")
        assert not any(still.is_visible() for still in stills.all())
        assert violations(page, "posenc-play") == []
        for name in FIGURES:
            keys(the(page, name))
            for grip, by, wanted in DRAGS[name]:
                changed = drag(the(page, name), grip, by, by_mouse)
                assert changed.keys() == wanted.keys(), grip

        # Keys are the figure's: `b` would insert a cell.
        cells = page.locator(".jp-Cell").count()
        the(page, "hands").get_by_role("slider").press("b")
        assert page.locator(".jp-Cell").count() == cells
        assert errors == []


@pytest.mark.slow
def test_a_finger_on_a_grip_drags_and_elsewhere_scrolls(browser):
    phone = {"width": 390, "height": 844}
    how = {"has_touch": True, "is_mobile": True, "viewport": phone}
    with new_page(browser, page_of_figures(), **how) as page:
        figure = the(page, "hands")
        x, y = figure.evaluate(BEGIN, "row")
        before = page.evaluate("scrollY")
        by_finger(page, (x, y), (0, 60))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") == before
        dragged = figure.evaluate(STATE)
        assert dragged["position"] > 7
        by_finger(page, (x + 150, y), (0, -200))
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") > before + 100
        assert figure.evaluate(STATE) == dragged
        figure.locator("image").tap(position={"x": 100, "y": 202})
        assert figure.evaluate(STATE)["position"] == 50
