"""The web edition: its pages before they run. test_browsers.py runs them."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import copies
import home
import nbformat
import pages
import pyodide_files
import pytest
from bs4 import BeautifulSoup
from built_site import some
from conftest import PATHS
from in_browser import OPEN_FOLDS, violations
from posenc_series import listing
from posenc_series.cells import tags
from posenc_series.commands import CommandError
from small_series import notebook_with_a_form, write_small_series


@pytest.fixture
def small(tmp_path) -> list[Path]:
    return write_small_series(tmp_path)


@pytest.fixture
def page_source(small):
    return pages.page_of(small[0], False, "")


def text_of(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells)


# The source of a page.


def test_a_page_folds_answers_solutions_and_what_jupyterlab_folds(page_source):
    text = text_of(page_source)
    answer_a, answer_b, solution = re.findall("(?s)<details.*?/details>", text)
    assert 'details class="answer" data-question="predict-a"' in answer_a
    assert text.count('<label class="prediction" data-question=') == 2
    assert re.search("(?s)It is two.*A box", answer_a)
    assert "It is four" in answer_b
    assert "SOLVED" in solution
    outside = re.sub("(?s)<details.*?/details>", "", text)
    assert not re.search("It is two|It is four|SOLVED", outside)
    assert "QUESTION-B" in outside
    cells = {cell.source.split("\n")[0]: cell for cell in page_source.cells}
    for line in ("# Draw folded", "def check_1(answer): HINT"):
        assert "hide-input" in tags(cells[line])
    shown = cells["# Draw folded"].metadata.mystnb
    assert shown["code_prompt_show"] == "Draw folded"
    assert shown["image"]["alt"] == "A teal box."
    assert cells["answer_1 = ..."].outputs == []


def test_a_page_has_choices_where_sentences_are_judged(tmp_path):
    path = tmp_path / "15_sentences.ipynb"
    nbformat.write(notebook_with_a_form(), path)
    page = pages.page_of(path, False, "")
    assert '<fieldset class="prediction" data-question="predict-1">' in (
        text_of(page)
    )
    judgments = re.findall(r"name=.predict-1.> (.+)</label>", text_of(page))
    assert judgments == ["true", "false", "it depends"]
    assert "<textarea" not in text_of(page)
    assert not any(cell.get("outputs") for cell in page.cells)


def test_a_page_says_nothing_that_is_for_jupyterlab(page_source):
    page = text_of(page_source)
    assert page.startswith("# 01 The one")
    assert "**What you need**: time." in page
    assert "Next: the other" not in page
    assert "[the other](02_second.ipynb)" in page
    assert '<a href="02_second.html#cell-id=figure-a">its box</a>' in page
    assert '<a href="#cell-id=figure-a">our own</a>' in page
    assert '<div id="cell-id=figure-a"></div>' in page
    assert "That was all." in page  # what has no page, has no link


def test_each_page_says_how_its_notebook_is_run():
    assert "data-run" in pages.how_to_run("01_x", False, "a/b")
    on_colab = pages.how_to_run("04_x", True, "a/b")
    assert '/github/a/b/blob/colab/04_x.ipynb"' in on_colab
    neither = pages.how_to_run("04_x", True, "")
    assert "python3 start.py 04" in neither
    assert not re.search("olab|data-run", neither)


# The other pages.


def test_the_home_page_lists_every_page_and_the_handouts(monkeypatch):
    monkeypatch.setattr(home, "handouts", list)
    page = home.home_page()
    for path in PATHS:
        assert f'href="{path.stem}.html"' in page
        assert f"\n{path.stem}\n" in page  # in the list of pages
    assert "handouts/" not in page
    built = [listing.ROOT / "handouts/student/01_sine_waves.pdf"]
    monkeypatch.setattr(home, "handouts", lambda: built)
    link = 'href="handouts/student/01_sine_waves.pdf"'
    assert home.home_page().count(link) == 1


def test_links_to_files_lead_to_pages_or_to_github():
    links = "[a](hub/README.md) [b](../README.md#begin) [c](#c)"
    links += " [d](../notebooks/01_x.ipynb) [e](https://x.org)"
    hub = "https://github.com/owner/name/blob/HEAD/workshop/hub/README.md"
    known = "[b](index.md#begin) [c](#c) [d](01_x.ipynb) [e](https://x.org)"
    relink = pages.relink_files
    assert relink(links, "workshop", "owner/name") == f"[a]({hub}) {known}"
    assert relink(links, "workshop", "") == f"a {known}"


# Copies.


def test_copies_for_colab_bring_the_modules(small, tmp_path):
    branch = tmp_path / "branch"
    copies.write_for_colab(small, branch, "owner/name", "https://x.org/")
    notebook = nbformat.read(branch / "01_first.ipynb", as_version=4)
    assert "Your prediction" in text_of(notebook)
    assert "raw" not in {cell.cell_type for cell in notebook.cells}
    bring = notebook.cells[1].source.splitlines()[-1]
    assert bring.endswith("https://github.com/owner/name/archive/HEAD.zip")
    link = "https://colab.research.google.com/github/owner/name/blob/colab/"
    for cell in ("", "#scrollTo=figure-a"):
        assert f"({link}02_second.ipynb{cell})" in text_of(notebook)
    assert "[our own](#scrollTo=figure-a)" in text_of(notebook)
    assert "# @title Draw folded\n# Draw folded" in text_of(notebook)
    alone = tmp_path / "alone"
    copies.write_for_colab(small[:1], alone, "owner/name", "https://x.org/")
    notebook = nbformat.read(alone / "01_first.ipynb", as_version=4)
    link = "(https://x.org/02_second.html#cell-id=figure-a)"
    assert link in text_of(notebook)


@pytest.mark.slow
def test_what_colab_installs_is_whole(tmp_path):
    """From a source tree, into a folder whose modules come first."""
    command = [os.environ.get("UV", "uv"), "pip", "install", "--no-deps"]
    subprocess.run([*command, "--target", tmp_path, listing.ROOT], check=True)
    code = "import posenc.layers, posenc.stored, posenc_helpers; from posenc"
    code += " import play; play.script_of(play.FIGURES); print(play.__file__)"
    command = [sys.executable, "-c", code]
    shown = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert str(tmp_path) in shown


# Pyodide.


def test_a_file_with_another_checksum_is_refused(tmp_path):
    for name in pyodide_files.FILES:
        (tmp_path / name).write_text("something else")
    with pytest.raises(CommandError, match=r"not what web/.* was removed"):
        pyodide_files.fetch(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(pyodide_files.FILES) - 1


# Slow: built from nothing, and opened in a browser that reaches nothing else.

OTHERS = ["index", *pages.OTHER_PAGES, "search"]
PAGES = [path.stem for path in PATHS] + OTHERS
WIDTHS = "[document.documentElement.scrollWidth, innerWidth]"
HIDDEN = """() => [
    ...document.querySelectorAll('article :is(.formula, pre.sentences)')
    ].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent.slice(0, 200))"""


@pytest.mark.slow
def test_links_inside_the_site_lead_somewhere(project):
    site = project / "site"
    read = {
        path: BeautifulSoup(path.read_bytes(), "html.parser")
        for path in site.glob("*.html")
    }
    assert {path.stem for path in read} == set(PAGES)
    for path, html in read.items():
        for link in html.select("a[href], img, script[src]"):
            there = link.get("href") or link["src"]
            parts = urlsplit(there)
            if parts.scheme:
                continue
            target = site / (unquote(parts.path) or path.name)
            assert target.is_file(), (path.name, there)
            if parts.fragment and target in read:
                assert read[target].find(id=parts.fragment), there


@pytest.mark.slow
@pytest.mark.parametrize("name", some(PAGES))
def test_a_page_is_whole_and_accessible(page, address, name):
    for width, scheme in [(1280, "light"), (390, "dark")]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{address}{name}.html", wait_until="networkidle")
        assert page.locator("details[open]").count() == 0
        page.evaluate(OPEN_FOLDS)
        scrolled, shown = page.evaluate(WIDTHS)
        assert scrolled <= shown
        assert violations(page) == []
        assert page.evaluate(HIDDEN) == []
        # A fold is announced by the words that it shows.
        assert page.locator("summary[aria-label]").count() == 0


@pytest.mark.slow
def test_figures_take_the_place_of_pictures_but_on_paper(page, address):
    page.goto(f"{address}{PATHS[0].stem}.html", wait_until="networkidle")
    page.evaluate(OPEN_FOLDS)
    figures = page.locator("posenc-play")
    stills = page.locator("article .posenc-still")
    assert stills.count() == figures.count() > 0
    assert not any(still.is_visible() for still in stills.all())
    page.emulate_media(media="print")
    assert not any(figure.is_visible() for figure in figures.all())
    assert all(still.is_visible() for still in stills.all())
