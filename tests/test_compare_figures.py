"""The comparison of figures must notice what an eye would notice."""

import io
from functools import partial

import matplotlib.pyplot as plt
import nbformat
import numpy as np
from nbclient import NotebookClient
from PIL import Image

from tests.compare_figures import COMPARE, difference

pytest_plugins = ["pytester"]

DRAW = """
import matplotlib.pyplot as plt
from posenc_helpers import show
figure, ax = plt.subplots(figsize=(4, 3))
ax.set_title("Title")
show(figure, alt="A title.")
"""
COUNT = "print('one'); print('two')"
SCORES = "print('scores [0.46 0.5  1e-3]')"
OPTIONS = "figures_vary = trained\nfigures_store = store {notebook}"


def drawn(more=0.0, label="") -> Image.Image:
    """A sine on an Axes, as a notebook has it."""
    figure, ax = plt.subplots(figsize=(4, 3))
    ax.plot(np.sin(np.arange(60) / 8) + more)
    ax.set_xlabel(label)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=200)
    plt.close(figure)
    return Image.open(stream).convert("RGB")


def test_a_wrong_figure_is_noticed_and_a_hair_is_not():
    right = drawn()
    for wrong in (drawn(more=0.1), drawn(label="Position")):
        assert "apart" in difference(right, wrong)
    assert difference(right, drawn(more=0.001)) == ""
    smaller = right.crop((0, 0, 80, 40))
    words = difference(right.crop((0, 0, 88, 40)), smaller)
    assert words == "80 x 40 pixels, stored 88 x 40"


def test_pytest_compares_figures_alt_texts_and_lines(pytester):
    """Through pytest itself, as a notebook's cell is tested."""
    cell = partial(nbformat.v4.new_code_cell, DRAW)
    cells = [cell(id=name) for name in ("same", "moved", "renamed", "varies")]
    cells.append(nbformat.v4.new_code_cell(COUNT, id="count"))
    cells.append(nbformat.v4.new_code_cell(SCORES, id="scores"))
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3").execute()
    # What is drawn from here on is not what is stored.
    _, moved, renamed, varies, count, scores = notebook.cells
    moved.source = varies.source = DRAW.replace('"Title"', '"Another"')
    renamed.source = DRAW.replace("A title.", "Another one.")
    varies.metadata.tags = scores.metadata.tags = ["trained"]
    scores.source = SCORES.replace("0.46 0.5 ", "-0.4 0.52")
    count.source = COUNT.replace("two", "2")
    nbformat.write(notebook, pytester.path / "small.ipynb")
    pytester.makeini(f"[pytest]\n{OPTIONS}")

    plugins = ["-p", "tests.compare_figures", "-n", "0"]
    nbval = ["--nbval", "--nbval-current-env"]
    run = pytester.runpytest_inprocess(*plugins, *nbval)

    red = 3 if COMPARE else 2
    run.assert_outcomes(failed=red, passed=6 - red)
    words = run.stdout.str()
    assert words.count("store small.ipynb") >= red  # where CI is set, twice
    assert "new alt text: Another one.\nstored: A title." in words
    run.stdout.fnmatch_lines(["*cell count*", "stored: two", "new: *2"])
    if COMPARE:
        assert "The figure of moved differs" in words
        kept = sorted(p.name for p in pytester.path.glob("artifacts/*.png"))
        assert kept == ["small-moved-now.png", "small-moved-stored.png"]
