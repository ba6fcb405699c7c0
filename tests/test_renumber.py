"""The command that numbers sections, figures and notebooks in order."""

import re
import shutil
import tomllib

import nbformat
import pytest
import renumber
from conftest import ROOT
from nbformat.v4 import new_markdown_cell
from posenc_series import listing, references


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy of what the command reads and writes."""
    monkeypatch.setattr(renumber, "ROOT", tmp_path)
    monkeypatch.setattr(renumber, "WORKSHOP", tmp_path / "workshop/README.md")
    for module in (listing, renumber):
        monkeypatch.setattr(module, "LIST", tmp_path / "notebooks/series.toml")
    for folder in ("notebooks", "tests", "tools", "workshop"):
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    return tmp_path


def add(project, stem: str, before: str, *sources: str) -> None:
    """Put cells in front of the first one that begins so."""
    path = project / f"notebooks/{stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (place, *_) = (
        place
        for place, cell in enumerate(notebook.cells)
        if cell.source.startswith(before)
    )
    notebook.cells[place:place] = map(new_markdown_cell, sources)
    nbformat.write(notebook, path)


def text_of(project, stem: str) -> str:
    path = project / f"notebooks/{stem}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells)


def test_a_new_section_moves_the_others_and_all_that_names_them(
    project, command
):
    last = "## 3. "
    here = "See section 3 and sections 2 to 4, Figure 1, section 3.5."
    there = "As section 3 of notebook 02 and Figure 2 of notebook 02 say."
    add(project, "02_encoding_matrix", last, "## ?. New", "**Figure ?.** N.")
    add(project, "02_encoding_matrix", "## 1. ", here)
    add(project, "03_reading_the_matrix", "## 1. ", there)
    page = project / "workshop/README.md"
    page.write_text(page.read_text() + "\nRead sections 2 and 3 of 02.\n")
    before = text_of(project, "02_encoding_matrix").count("**Figure 1.**")

    done = command(renumber)
    assert done.returncode == 0, done.stderr
    text = text_of(project, "02_encoding_matrix")
    assert "## 3. New" in text
    assert "## 4. " in text
    assert "See section 4 and sections 2 to 5, Figure 1, section 3.5." in text
    assert text.count("**Figure 1.**") == before == 1
    other = text_of(project, "03_reading_the_matrix")
    assert "As section 4 of notebook 02 and Figure" in other
    assert page.read_text().endswith("\nRead sections 2 and 4 of 02.\n")
    assert "renumbered notebooks/03_reading_the_matrix.ipynb" in done.stdout
    assert "renumbered notebooks/01_sine_waves.ipynb" not in done.stdout
    assert command(renumber).stdout == ""  # all is in order now


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("## 2. The same number again", "two sections 2: write ? instead"),
        ("As section 31 says.", "speaks of section 31, which there is not"),
        ("See Figure 9 of notebook 03.", "figure 9 of notebook 03, which"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_changes(
    project, command, source, said
):
    add(project, "02_encoding_matrix", "## 1. ", source, "## ?. New")
    before = text_of(project, "02_encoding_matrix")
    done = command(renumber)
    assert done.returncode == 1
    assert said in done.stderr
    assert text_of(project, "02_encoding_matrix") == before


def test_a_notebook_gets_another_number(project, command):
    here = "Notebook 02, notebooks 03 and 05, section 1 of 02, at most 04."
    add(project, "01_sine_waves", "## 1. ", here)
    page = project / "workshop/README.md"
    rows = "| 02 | one |\n| 03 | two |\n| 03 | three |\n| 04 | four |\n"
    linked = "Then [02](../notebooks/02_encoding_matrix.ipynb).\n"
    page.write_text(f"{page.read_text()}\n{linked}\n{rows}")

    done = command(renumber, "02_encoding_matrix", "4")
    assert done.returncode == 0, done.stderr
    names = {path.stem for path in (project / "notebooks").glob("0*.ipynb")}
    assert {"02_reading_the_matrix", "03_keras_layers"} <= names
    assert "04_encoding_matrix" in names
    tests = {path.stem for path in (project / "tests").glob("test_0*.py")}
    assert {f"test_{name}" for name in names} == tests
    said = "Notebook 04, notebooks 02 and 05, section 1 of 04, at most 04."
    assert said in text_of(project, "01_sine_waves")
    rows = "| 02 | two |\n| 02 | three |\n| 03 | four |\n| 04 | one |\n"
    linked = "Then [04](../notebooks/04_encoding_matrix.ipynb).\n"
    assert page.read_text().endswith(f"\n{linked}\n{rows}")
    listed = tomllib.loads((project / "notebooks/series.toml").read_text())
    entries = {each["file"]: each for each in listed["notebook"]}
    assert list(entries) == sorted(entries)
    assert entries["04_encoding_matrix.ipynb"]["needs"] == ["01"]
    assert "04" in entries["02_reading_the_matrix.ipynb"]["needs"]


@pytest.mark.parametrize(
    "page", ["README.md", "web/home.md", "workshop/README.md"]
)
def test_pages_name_notebooks_by_links_which_follow_a_new_number(page):
    text = (ROOT / page).read_text("utf-8")
    text = re.sub(r"(?m)\[[^\]]*\]\([^)]*\)|^\| \d\d .*$", "", text)
    bare = re.findall(
        r"(?<![\w.,/-])(?<![Nn]otebook )0\d(?![\w:%/_-]|\.\d)", text
    )
    assert bare == [], f"Make links of the numbers {bare} in {page}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["02_matrix", "4"], "no notebook 02_matrix: 00_in_one_sitting, "),
        (["02_encoding_matrix", "40"], "a number is from 0 to"),
    ],
)
def test_a_move_that_cannot_be_made_is_refused(
    project, command, arguments, said
):
    done = command(renumber, *arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert (project / "notebooks/02_encoding_matrix.ipynb").exists()


def test_what_is_a_reference_and_what_is_none():
    text = "Sections 1, 2 and 3 of notebook 05, section 3.5, Table 2, Figure 7"
    first, last = references.references(text)
    assert (first.kind, first.numbers, first.notebook) == (
        "section",
        [1, 2, 3],
        "05",
    )
    assert (last.kind, last.numbers, last.notebook) == ("figure", [7], None)
