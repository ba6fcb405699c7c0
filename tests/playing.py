"""Notebooks of all figures to play with; keys, mouse and finger for them."""

from nbformat import NotebookNode
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)
from playwright.sync_api import Locator
from small_series import picture
from store_notebooks import KERNEL

from posenc_helpers import FIGURES

CALL = """import matplotlib.pyplot as plt
from posenc_helpers import play, show

fig, ax = plt.subplots(figsize=(3, 1))
show(fig, alt="An empty picture.")
play({!r})"""
STATE = "figure => figure.stage.state"
# For each figure: what is dragged, how far at 1280 pixels (a finger goes a
# third of it), and which settings that changes to what.
DRAGS = {
    "hands": [("row", (0, 80), {"position": 27})],
    "apart": [("mark", (60, 0), {"position": 29})],
    "pair": [
        ("both", (0, 40), {"position": 27}),
        ("later", (0, 40), {"offset": 23}),
        ("offset", (75, 0), {"offset": 11}),
    ],
    "alike": [("mark", (-100, 0), {"position": 20})],
    "rotary": [
        ("bar", (600, 0), {"query": 51, "key": 63}),  # as far as it goes
        ("key", (-150, 0), {"key": 17}),
        ("turn query", (80, 0), {"query": 7}),
    ],
    "unseen": [
        ("trained", (100, 0), {"trained": 44}),
        ("length", (200, 0), {"length": 89}),
    ],
}


def stored_notebook() -> NotebookNode:
    """A notebook with a picture and a figure of each kind, as stored."""
    cells = [new_markdown_cell("# Figures\n\nTo play with.", id="title")]
    for name in FIGURES:
        html = f'<posenc-play figure="{name}"><p>It moves.</p></posenc-play>'
        outputs = [
            picture("A teal box stands for it."),
            new_output("display_data", data={"text/html": html}),
        ]
        cell = new_code_cell(
            CALL.format(name), id=name, outputs=outputs, execution_count=1
        )
        cells.append(cell)
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def play_all(figure: Locator) -> None:
    """Move a figure by keys, mouse and finger; see that it answers."""
    keys(figure)
    for grip, by, wanted in DRAGS[figure.get_attribute("figure")]:
        for drag in (drag_by_mouse, drag_by_finger):
            assert drag(figure, grip, by).keys() == wanted.keys(), grip


def keys(figure: Locator) -> None:
    """Press keys at each slider and button."""
    for slider in figure.get_by_role("slider").all():
        slider.press("Home")
        value = slider.get_attribute("aria-valuetext")
        slider.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") != value
    for button in figure.get_by_role("radio").all()[:-1]:
        button.press("ArrowRight")
        assert not button.is_checked()


def begin(figure: Locator, grip: str) -> tuple[float, float]:
    """Put a figure back, and a grip into sight; where its middle is."""
    figure.evaluate("""figure => {
        for (const [name, {start}] of Object.entries(
            figure.stage.figure.settings)) figure.stage.move({[name]: start});
    }""")
    held = figure.locator(f".grip[data-drag='{grip}']").last
    held.evaluate("grip => grip.scrollIntoView({block: 'center'})")
    box = held.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag_by_mouse(figure: Locator, grip: str, by: tuple[int, int]) -> dict:
    """Drag a grip; the settings that changed."""
    x, y = begin(figure, grip)
    before = figure.evaluate(STATE)
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + by[0], y + by[1], steps=4)
    mouse.up()
    return changed(figure, before)


def drag_by_finger(figure: Locator, grip: str, by: tuple[int, int]) -> dict:
    start = begin(figure, grip)
    before = figure.evaluate(STATE)
    swipe(figure.page, start, (by[0] / 3, by[1] / 3))
    return changed(figure, before)


def changed(figure: Locator, before: dict) -> dict:
    now = figure.evaluate(STATE)
    return {name: now[name] for name in now if now[name] != before[name]}


def swipe(page, start: tuple[float, float], by: tuple[float, float]) -> None:
    """Move a finger over the page."""
    devtools = page.context.new_cdp_session(page)
    steps = [("touchStart", 0)]
    steps += [("touchMove", part / 8) for part in range(1, 9)]
    for kind, part in steps:
        point = {"x": start[0] + by[0] * part, "y": start[1] + by[1] * part}
        touch = {"type": kind, "touchPoints": [point]}
        devtools.send("Input.dispatchTouchEvent", touch)
    touch = {"type": "touchEnd", "touchPoints": []}
    devtools.send("Input.dispatchTouchEvent", touch)
    devtools.detach()
