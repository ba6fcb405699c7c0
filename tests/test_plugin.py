"""The comparison of figures must notice what an eye would notice."""

import io
from functools import partial

import matplotlib.pyplot as plt
import nbformat
import numpy as np
from nbclient import NotebookClient
from PIL import Image

from tests import plugin

pytest_plugins = ["pytester"]

TURNS = np.arange(60) / 8
DRAW = """
import matplotlib.pyplot as plt
from posenc_helpers import show, use_series_style
use_series_style()
figure, ax = plt.subplots(figsize=(4, 3))
ax.set_title("Title")
show(figure, alt="A title.")
"""


def drawn(draw) -> Image.Image:
    """What a function draws on an Axes, as a notebook has it."""
    figure, ax = plt.subplots(figsize=(4, 3))
    draw(ax)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=200)
    plt.close(figure)
    return Image.open(stream).convert("RGB")


def sine(ax, more=0.0, label=""):
    ax.plot(np.sin(TURNS) + more)
    ax.set_xlabel(label)


def test_a_wrong_figure_is_noticed_and_a_hair_is_not():
    right = drawn(sine)
    for wrong in (partial(sine, more=0.1), partial(sine, label="Position")):
        assert "apart" in plugin.difference(right, drawn(wrong))
    assert plugin.difference(right, drawn(partial(sine, more=0.001))) == ""
    smaller = right.crop((0, 0, 80, 40))
    said = plugin.difference(right.crop((0, 0, 88, 40)), smaller)
    assert said == "80 x 40 pixels, stored 88 x 40"


def test_pytest_compares_figures_and_alt_texts(pytester):
    """Through pytest itself, as a notebook's cell is tested."""
    names = ["same", "moved", "renamed", "trained", "digits", "words"]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(DRAW, id=name) for name in names]
    )
    for cell in notebook.cells[4:]:
        cell.source = "print('right:', 0.9833, '[0.95 1.  ]')"
    NotebookClient(notebook, kernel_name="python3").execute()
    # What is drawn from here on is not what is stored.
    moved, renamed, trained, digits, words = notebook.cells[1:]
    moved.source = DRAW.replace('"Title"', '"Another"')
    renamed.source = DRAW.replace("A title.", "Another one.")
    trained.source = moved.source
    digits.source = "print('right:', 1.0, '[0.9 0.951]')"
    words.source = digits.source.replace("right", "wrong")
    for cell in (trained, digits, words):
        cell.metadata.tags = ["trained"]
    nbformat.write(notebook, pytester.path / "small.ipynb")

    run = pytester.runpytest_inprocess(
        "-p", "tests.plugin", "--nbval", "--nbval-current-env", "-n", "0"
    )

    red = 3 if plugin.COMPARE else 2
    run.assert_outcomes(failed=red, passed=len(names) - red)
    store = "uv run tools/store_notebooks.py notebooks/small.ipynb"
    said = run.stdout.str()
    assert said.count(store) >= red  # where CI is set, pytest says it twice
    assert "alt text: Another one." in said
    if plugin.COMPARE:
        assert "The figure of moved differs" in said
        kept = sorted(p.name for p in pytester.path.glob("artifacts/*.png"))
        assert kept == ["small-moved-now.png", "small-moved-stored.png"]
