"""The comparison of figures must notice what an eye would notice."""

import io

import matplotlib.pyplot as plt
import nbformat
import numpy as np
from PIL import Image
from small_series import code, picture, printed

from tests.compare_figures import COMPARE, difference

pytest_plugins = ["pytester"]

COUNT = "print('one'); print('2')"
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


def shows(figure) -> str:
    """Code that shows a figure."""
    data, metadata = dict(figure.data), dict(figure.metadata)
    return f"display({data}, raw=True, metadata={metadata})"


def test_pytest_compares_figures_alt_texts_and_lines(pytester):
    """Through pytest itself, as a notebook's cell is tested."""
    stored, moved = picture("A box."), picture("A box.", "coral")
    scores = printed("scores [-0.4 0.52 1e-3]\n")
    cells = [
        code("same", shows(stored), outputs=[stored]),
        code("moved", shows(moved), outputs=[stored]),
        code("renamed", shows(picture("A car.")), outputs=[stored]),
        code("varies", shows(moved), "trained", outputs=[stored]),
        code("count", COUNT, outputs=[printed("one\ntwo\n")]),
        code("scores", SCORES, "trained", outputs=[scores]),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, pytester.path / "small.ipynb")
    pytester.makeini(f"[pytest]\n{OPTIONS}")

    plugins = ["-p", "tests.compare_figures", "-n", "0"]
    nbval = ["--nbval", "--nbval-current-env"]
    run = pytester.runpytest_inprocess(*plugins, *nbval)

    red = 3 if COMPARE else 2
    run.assert_outcomes(failed=red, passed=6 - red)
    words = run.stdout.str()
    assert words.count("store small.ipynb") >= red  # where CI is set, twice
    assert "new alt text: A car.\nstored: A box." in words
    run.stdout.fnmatch_lines(["*cell count*", "stored: two", "new: *2"])
    if COMPARE:
        assert "The figure of moved differs" in words
        kept = sorted(p.name for p in pytester.path.glob("artifacts/*.png"))
        assert kept == ["small-moved-now.png", "small-moved-stored.png"]
