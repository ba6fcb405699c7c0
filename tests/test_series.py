"""What tools, workshop and web share: students' copies, and formulas."""

import re
import tomllib

import nbformat
import pytest
import renew_series
import yaml
from conftest import PATHS, ROOT, slow_but
from nbclient import NotebookClient
from posenc_series import chapters, listing
from posenc_series.cells import ASKS, is_folded, tags
from posenc_series.commands import CommandError
from posenc_series.formulas import mathml
from small_series import notebook_with_a_form, write_small_series

# Students' copies.


def test_a_student_copy_folds_answers_and_leaves_room_to_write(tmp_path):
    """And what a learner runs is what the notebook has."""
    path, _ = write_small_series(tmp_path)
    copy = chapters.student_notebook(path)
    nbformat.validate(copy)
    cells = {cell.id: cell for cell in copy.cells}
    ids = list(cells)
    for letter in "ab":
        question, room, answer = (
            ids.index(f"{name}-{letter}")
            for name in ("predict", "your-predict", "reveal")
        )
        assert (question + 1, question + 2) == (room, answer)
        assert is_folded(copy.cells[answer])
    folded = {name for name in ids if "<details>" in cells[name].source}
    assert folded == {"explain-a", "caption-a", "explain-b"}


def test_sentences_in_a_form_have_their_place_there(tmp_path):
    path = tmp_path / "15_sentences.ipynb"
    nbformat.write(notebook_with_a_form(), path)
    copy = chapters.student_notebook(path)
    assert {cell.cell_type for cell in copy.cells} == {"code", "markdown"}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_learners_run_the_code_of_the_notebook_and_have_its_solutions(path):
    """All of it, each in one of the two files."""
    cells = chapters.read_notebook(path).cells
    written = [chapters.student_notebook(path), chapters.solutions(path)]
    code = [
        (cell.id, cell.source)
        for notebook in filter(None, written)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    wanted = [(c.id, c.source) for c in cells if c.cell_type == "code"]
    assert sorted(code) == sorted(wanted), "not the cells of the notebook"
    assert not any(c.get("outputs") for c in written[0].cells)
    text = "\n".join(cell.source for cell in written[0].cells)
    assert "solution_" not in text


@pytest.mark.parametrize("path", slow_but("02"))
def test_a_student_copy_runs(path):
    copy = chapters.student_notebook(path)
    NotebookClient(copy, timeout=300, kernel_name="python3").execute()
    for cell in copy.cells:
        if cell.cell_type == "code" and tags(cell) & ASKS:
            assert "Not answered yet" in str(cell.outputs), cell.id


def test_a_published_notebook_ends_with_a_link_for_who_is_lost():
    first = listing.NOTEBOOKS[0]
    notebook = chapters.read_notebook(first.path)
    last = renew_series.renewed(notebook, first, "me/it").cells[-1]
    assert "github.com/me/it/issues/new?template=lost.md&" in last.source
    assert (ROOT / ".github/ISSUE_TEMPLATE/lost.md").exists()


def test_one_version_stands_everywhere():
    projects = [
        tomllib.loads((ROOT / file).read_text())["project"]
        for file in ("pyproject.toml", "review/pyproject.toml")
    ]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    changes = (ROOT / "web/changes.md").read_text()
    newest = re.search(r"(?m)^## Version (\S+)$", changes)[1]
    found = [project["version"] for project in projects]
    found += [citation["version"], newest]
    assert len(set(found)) == 1, f"CONTRIBUTING.md, A release: {found}"


# Formulas.


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        ("a = -1", '<mo form="prefix">&#x02212;</mo><mn>1</mn>'),
        (r"2 \sin x", '<mn>2</mn><mspace width="0.167em"/><mi>sin</mi>'),
    ],
)
def test_formulas_are_spaced_as_tex_spaces_them(latex, wanted):
    assert wanted in mathml(latex, "inline")


def test_a_formula_that_cannot_be_set_is_refused():
    with pytest.raises(CommandError, match="cannot set"):
        mathml(r"\nonsense{a}", "inline")
