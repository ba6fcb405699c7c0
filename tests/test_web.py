"""The web edition: its pages before they run. test_browsers.py runs them."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import build
import copies
import home
import nbformat
import pages
import pyodide_files
import pytest
from bs4 import BeautifulSoup
from built_site import some
from conftest import PATHS
from in_browser import (
    OPEN_FOLDS,
    PLAYED,
    play_all,
    violations,
    wait_for_themes,
)
from nbformat.v4 import new_code_cell, new_output
from posenc_series import listing
from posenc_series.cells import tags
from posenc_series.commands import CommandError
from site_folder import check_folder, replace_folder
from small_series import notebook_with_a_form, prose, write_small_series

from posenc.play import FIGURES


@pytest.fixture
def small(tmp_path) -> list[Path]:
    return write_small_series(tmp_path)


def text_of(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells)


# The source of a page.


def test_a_page_folds_answers_and_solutions(small):
    page = text_of(pages.page_of(small[0], False, pages.Edition()))
    folds = re.findall(r"<details.*?</details>", page, re.S)
    answer_a, answer_b, solution = folds
    assert 'details class="answer" data-question="predict-a"' in answer_a
    assert page.count('<label class="prediction" data-question=') == 2
    assert re.search("(?s)It is two.*A box", answer_a)
    assert "It is four" in answer_b
    assert "SOLVED" in solution
    outside = re.sub(r"<details.*?</details>", "", page, flags=re.S)
    assert not re.search("It is two|It is four|SOLVED", outside)
    assert "QUESTION-B" in outside


def test_a_page_has_choices_where_sentences_are_judged(tmp_path):
    path = tmp_path / "15_sentences.ipynb"
    nbformat.write(notebook_with_a_form(), path)
    page = pages.page_of(path, False, pages.Edition())
    html = BeautifulSoup(text_of(page), "html.parser")
    assert html.select("fieldset[data-question=predict-1]")
    judgments = re.findall(r"name=.predict-1.> (.+)</label>", text_of(page))
    assert judgments == ["true", "false", "it depends"]
    assert not html("textarea")
    (answer,) = html.select("details[data-question=predict-1]")
    assert "VERDICT" in answer.text
    assert "SO-OR-NOT" not in answer.text
    assert not any(cell.get("outputs") for cell in page.cells)


def test_a_predict_that_lists_choices_has_a_button_for_each():
    text = "**Predict.** How many?\n\n- **A** $2^3$,\n  or so\n"
    text += "- **B** none\n- something else"
    room = pages._with_room(prose("predict-c", text, "predict"), False)
    question, _, choices = room.partition("<fieldset")
    assert question.strip().endswith("**Predict.** How many?")
    said = re.findall(r"(?m)^- <label><input .+?> (.+)</label>$", choices)
    assert said == ["**A** $2^3$, or so", "**B** none", "something else"]
    assert choices.count("<textarea") == 1


def test_a_page_folds_what_jupyterlab_folds(small):
    page = pages.page_of(small[0], False, pages.Edition())
    cells = {cell.source.split("\n")[0]: cell for cell in page.cells}
    for line in ("# Draw folded", "def check_1(answer): HINT"):
        assert "hide-input" in tags(cells[line])
    shown = cells["# Draw folded"].metadata.mystnb
    assert shown["code_prompt_show"] == "Draw folded"
    assert shown["image"]["alt"] == "A teal box."
    assert cells["answer_1 = ..."].outputs == []


def test_a_page_says_nothing_that_is_for_jupyterlab(small):
    page = text_of(pages.page_of(small[0], False, pages.Edition()))
    assert page.startswith("# 01 The one")
    assert "**What you need**: time." in page
    assert "Next: the other" not in page
    assert "[the other](02_second.ipynb)" in page
    assert '<a href="02_second.html#cell-id=figure-a">its box</a>' in page
    assert '<a href="#cell-id=figure-a">our own</a>' in page
    assert '<div id="cell-id=figure-a"></div>' in page
    assert "That was all." in page  # what has no page, has no link


def test_each_page_says_how_its_notebook_is_run():
    edition = pages.Edition("a/b", {"04_x": ("z", "full/z")})
    assert "data-run" in pages.how_to_run("01_x", False, edition)
    on_colab = pages.how_to_run("04_x", True, edition)
    links = re.findall('/github/a/b/blob/colab/([^"]+)', on_colab)
    assert links == ["z", "full/z"]
    neither = pages.how_to_run("04_x", True, pages.Edition())
    assert "python3 start.py 04" in neither
    assert not re.search("olab|data-run", neither)


# The other pages.


def test_the_home_page_lists_every_page_and_the_handouts_there_are():
    page = home.home_page(pages.Edition())
    for path in PATHS:
        assert f'href="{path.stem}.html"' in page
        assert f"\n{path.stem}\n" in page  # in the list of pages
    assert "<strong>09" in page and "10 000" not in page  # no line breaks it
    assert "handouts/" not in page
    built = pages.Edition(handouts=["student/01_sine_waves.pdf"])
    assert home.home_page(built).count('href="handouts/') == 1


def test_a_notebook_is_shown_by_its_figure(tmp_path):
    for each in listing.NOTEBOOKS:
        assert home.picture_of(each).startswith(b"\x89PNG")
    missing = replace(listing.NOTEBOOKS[0], figure="none")
    with pytest.raises(CommandError, match="no figure in a cell 'none'"):
        home.picture_of(missing)


def test_a_verdict_on_the_home_page_is_the_one_that_was_computed():
    cells = {"sentence-1": "### 1. Sums, or not?", "verdict-1": "verdict(1)"}
    cells = {
        name: new_code_cell(source, metadata={"tags": ["reveal"]})
        for name, source in cells.items()
    }
    with pytest.raises(CommandError, match="printed no verdict"):
        home._claim("15_claims.ipynb", cells, 1)
    text = "- a: holds\nSentence 1: it depends. You said: true.\n"
    cells["verdict-1"].outputs = [new_output("stream", text=text)]
    claim = home._claim("15_claims.ipynb", cells, 1)
    assert 'data-verdict="it depends"' in claim
    assert "**Sums, or not?**" in claim
    assert "\n- a: holds\n" in claim
    assert "(15_claims.ipynb#1-sums-or-not)" in claim


def test_links_to_files_lead_to_pages_or_to_github():
    links = "[a](hub/README.md) [b](../README.md#begin) [c](#c)"
    links += " [d](../notebooks/01_x.ipynb) [e](https://x.org)"
    hub = "https://github.com/owner/name/blob/HEAD/workshop/hub/README.md"
    known = "[b](index.md#begin) [c](#c) [d](01_x.ipynb) [e](https://x.org)"
    on_github = pages.Edition(repository="owner/name")
    relink = pages.relink_files
    assert relink(links, "workshop", on_github) == f"[a]({hub}) {known}"
    assert relink(links, "workshop", pages.Edition()) == f"a {known}"


# Copies.


def test_copies_for_colab_bring_the_modules(small, tmp_path):
    branch = tmp_path / "branch"
    copies.write_for_colab(small, branch, "owner/name", lambda name: None)
    mine = nbformat.read(branch / "01_first.ipynb", as_version=4)
    assert "Your prediction" in text_of(mine)
    assert "raw" not in {cell.cell_type for cell in mine.cells}
    notebook = nbformat.read(branch / "full/01_first.ipynb", as_version=4)
    link = "https://colab.research.google.com/github/owner/name/blob/colab/"
    for cell in ("", "#scrollTo=figure-a"):
        assert f"({link}full/02_second.ipynb{cell})" in text_of(notebook)
    assert "[our own](#scrollTo=figure-a)" in text_of(notebook)
    assert all(c.metadata.id == c.id for c in notebook.cells[2:])
    folded = [c for c in notebook.cells if c.metadata.get("cellView")]
    assert [c.id for c in folded] == [
        c.id for c in notebook.cells if c.metadata.get("jupyter")
    ]
    assert {c.metadata.cellView for c in folded} == {"form"}
    assert "# @title Draw folded\n# Draw folded" in text_of(notebook)

    # As GitHub packs it: all files below a folder NAME-BRANCH.
    (tmp_path / "pack").mkdir()
    branch.rename(tmp_path / "pack/name-colab")
    packed = shutil.make_archive(tmp_path / "colab", "zip", tmp_path / "pack")
    code = next(c.source for c in notebook.cells if c.cell_type == "code")
    there = "https://github.com/owner/name/archive/refs/heads/colab.zip"
    assert there in code
    # In an empty folder, whose modules come before all others.
    (tmp_path / "empty").mkdir()
    code = code.replace(there, Path(packed).as_uri())
    numpy = f"import sys; sys.path += {sys.path!r}\n"
    code += "\nimport posenc.check, posenc.play, posenc_helpers, posenc_review"
    code += "\nprint(posenc_review.__file__, *posenc.play.FIGURES)"
    code += "\nposenc.play.script_of(posenc.play.FIGURES)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", numpy + code],
        cwd=tmp_path / "empty",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "empty/posenc_review") in done.stdout
    assert done.stdout.split()[1:] == list(FIGURES)
    assert (tmp_path / "empty/posenc/layers.py").exists()


# Pyodide.


def test_the_command_needs_no_options(tmp_path, monkeypatch):
    """Also while the series is published nowhere."""
    given = []
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "build", lambda *values: given.append(values))
    monkeypatch.setattr(sys, "argv", ["build.py"])
    build.main()
    published = listing.read_published()
    assert given == [
        (tmp_path / "site", published.repository, published.address)
    ]


def test_a_file_with_another_checksum_is_refused(tmp_path):
    for name in pyodide_files.FILES:
        (tmp_path / name).write_text("something else")
    with pytest.raises(CommandError, match=r"not what web/.* was removed"):
        pyodide_files.fetch(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(pyodide_files.FILES) - 1


def test_a_failed_download_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(pyodide_files, "RELEASE", "http://127.0.0.1:9/")
    with pytest.raises(CommandError, match="cannot download Pyodide"):
        pyodide_files.fetch(tmp_path)


# The folder.


def test_a_folder_that_holds_something_else_is_refused(tmp_path):
    site, new = tmp_path / "site", tmp_path / "new"
    for content in ("old", "newer"):
        new.mkdir()
        (new / "index.html").write_text(content)
        check_folder(site)
        replace_folder(site, new)
    assert (site / "index.html").read_text() == "newer"
    (site / "thesis.txt").write_text("years")
    with pytest.raises(CommandError, match=r"holds thesis\.txt.*Nothing was"):
        check_folder(site)
    with pytest.raises(CommandError, match="is no folder"):
        check_folder(site / "thesis.txt")


# Slow: built from nothing, and opened in a browser that reaches nothing else.

OTHERS = ["index", *pages.OTHER_PAGES, "search"]
PAGES = [path.stem for path in PATHS] + OTHERS
TOO_WIDE = """() => {
    const scrolls = e => e && (getComputedStyle(e).overflowX === 'auto'
        || scrolls(e.parentElement));
    return [...document.querySelectorAll('article *')]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
        .filter(e => !scrolls(e)).map(e => e.outerHTML.slice(0, 200)); }"""
WIDTHS = "[document.documentElement.scrollWidth, window.innerWidth]"
HIDDEN = """() => [
    ...document.querySelectorAll('article :is(.formula, pre.sentences)')
    ].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent.slice(0, 200))"""
# Pictures further down load only when the reader comes near.
DECODED = """() => Promise.all([...document.images].map(image => {
    image.loading = 'eager';
    return image.decode().then(() => true, () => false); }))
    .then(all => all.every(Boolean))"""


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
        assert page.evaluate(TOO_WIDE) == []
        assert page.evaluate(DECODED)
        assert violations(page) == []
        # Formulas and printed sentences are whole.
        assert page.evaluate(HIDDEN) == []
        # A fold is announced by the words that it shows.
        assert page.locator("summary[aria-label]").count() == 0
    # On a telephone, what is printed can be read, short code is whole, and
    # long code scrolls.
    for output in page.locator("div.cell_output pre").all():
        size = output.evaluate("o => parseFloat(getComputedStyle(o).fontSize)")
        assert size >= 11
    for code in page.locator("article code.whole").all():
        assert code.evaluate("code => code.getClientRects().length") == 1
    for code in page.locator("div.cell_input pre").all():
        style = code.evaluate("code => getComputedStyle(code).whiteSpace")
        assert style == "pre"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_figures_play_on_the_pages_and_follow_the_theme(page, address, width):
    page.set_viewport_size({"width": width, "height": 844})
    for name in ["index", *some(PLAYED)]:
        page.emulate_media(color_scheme="dark", media="screen")
        page.goto(f"{address}{name}.html", wait_until="networkidle")
        page.evaluate(OPEN_FOLDS)
        figures = page.locator("posenc-play")
        assert figures.count() > 0
        for figure in figures.all():
            play_all(figure)
        wait_for_themes(page, dark=figures.count())
        page.emulate_media(color_scheme="light")
        wait_for_themes(page, dark=0)
        stills = page.locator("article .posenc-still")
        assert stills.count() == (0 if name == "index" else figures.count())
        assert not any(still.is_visible() for still in stills.all())
        page.emulate_media(media="print")
        assert not any(figure.is_visible() for figure in figures.all())
        assert all(still.is_visible() for still in stills.all())


@pytest.mark.slow
def test_a_page_has_a_preview_a_source_and_whole_numbers(project):
    (stem,) = [path.stem for path in PATHS if "10000" in path.stem]
    html = (project / f"site/{stem}.html").read_text("utf-8")
    page = BeautifulSoup(html, "html.parser")
    (preview,) = page.select('[property="og:image"]')
    picture = preview["content"].removeprefix("https://x.org/y/")
    assert picture == f"cards/{stem[:2]}.png"
    assert (project / "site" / picture).is_file()
    (source,) = page.select(".about-page a[href*=blob]")
    assert source["href"].endswith(f"/notebooks/{stem}.ipynb")
    assert "10\N{NO-BREAK SPACE}000" in page.article.text
    assert page.select(".with-sign > math")


@pytest.mark.slow
def test_a_sentence_is_judged_on_the_home_page(page, address):
    page.goto(address)
    claims = page.locator(".claim")
    assert claims.count() == len(home.SURPRISING)
    for claim in claims.all():
        verdict = claim.get_attribute("data-verdict").capitalize()
        assert not claim.get_by_role("status").is_visible()
        for button in claim.get_by_role("button").all():
            button.click()
            said = claim.get_by_role("status").text_content()
            is_right = button.text_content() == verdict
            assert ("So says the computation" in said) == is_right
        assert claim.locator("[aria-pressed=true]").count() == 1


@pytest.mark.slow
def test_search_quotes_neither_menus_nor_folds(page, address):
    page.goto(f"{address}search.html?q=rotary", wait_until="networkidle")
    quotes = page.locator("#search-results .context")
    quotes.first.wait_for()
    found = page.locator("#search-results li a").all_inner_texts()
    assert "07 Rotate instead of adding" in " ".join(found)
    quoted = " ".join(quotes.all_inner_texts())
    assert not re.search("System Settings|Contents|set_xticks", quoted)
