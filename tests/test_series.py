"""What tools, workshop and web share: students' copies, and formulas."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace

import nbformat
import pytest
import renew_series
import yaml
from conftest import PATHS, ROOT
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
    assert sorted(code) == sorted(wanted)
    assert not any(c.get("outputs") for c in written[0].cells)


def functions(cells) -> set[str]:
    """What functions do, whatever they are called and say of themselves."""
    found = set()
    for cell in cells:
        tree = ast.parse(cell.source if cell.cell_type == "code" else "")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                if ast.get_docstring(node) is not None:
                    node.body = node.body[1:]
                found.add(ast.unparse(node.body))
    return found - {"..."}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_student_copy_holds_no_solution(path):
    """Nor does it speak of those that the notebook has."""
    cells = chapters.read_notebook(path).cells
    copy = chapters.student_notebook(path)
    solutions = functions(c for c in cells if "solution" in tags(c))
    assert not solutions & functions(copy.cells)
    text = "\n".join(cell.source for cell in copy.cells)
    assert not re.search(r"olution_\d|olutions? (of|stand|passes)", text)


SOME = [
    pytest.param(
        path,
        id=path.stem,
        marks=[] if path.stem[:2] in ("03", "07") else pytest.mark.slow,
    )
    for path in PATHS
]


@pytest.mark.parametrize("path", SOME)
def test_a_student_copy_runs(path):
    copy = chapters.student_notebook(path)
    NotebookClient(copy, timeout=300, kernel_name="python3").execute()
    for cell in copy.cells:
        if cell.cell_type == "code" and tags(cell) & ASKS:
            assert "Not answered yet" in str(cell.outputs), cell.id


@pytest.mark.parametrize("file", ["README.md", "web/home.md"])
def test_pages_say_what_builds_on_what_in_the_last_part(file):
    """As `needs` in notebooks/series.toml does."""
    last = {
        n.number: n for n in listing.NOTEBOOKS if n.part == "Going further"
    }
    needs = [
        (number, other)
        for number, each in last.items()
        for other in each.needs
        if other in last
    ]
    text = " ".join((ROOT / file).read_text().split())
    text = re.sub(r"\[(\d\d)\]\(\w[^)]+\)", r"\1", text)  # links
    (sentence,) = re.findall(r"in any order, except that [^.]+\.", text)
    said = re.findall(r"(\d\d)(?: builds)? on (\d\d)", sentence)
    assert said == needs, f"{file} says {sentence!r}; it needs {needs}"


def test_a_list_with_a_value_of_another_type_is_refused():
    with pytest.raises(TypeError, match="minutes = '25'"):
        replace(listing.NOTEBOOKS[0], minutes="25")


# Where the series is published.


def published(project, *arguments) -> subprocess.CompletedProcess:
    command = [sys.executable, "tools/renew_series.py", *arguments]
    env = os.environ | {"PYTHONPATH": str(project / "tools")}
    return subprocess.run(
        command, cwd=project, env=env, capture_output=True, text=True
    )


def test_one_command_says_everywhere_where_it_is_published(tmp_path):
    for folder in ("notebooks", "tools", "workshop"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    files = "README.md", "INSTALL.md", "pyproject.toml", "CITATION.cff"
    for name in files:
        shutil.copy(ROOT / name, tmp_path)
    where = ["--address", "https://x.org/y", "--repository", "me/it"]
    done = published(tmp_path, *where)
    assert done.returncode == 0, done.stderr
    readme, install, project, citation = (
        (tmp_path / name).read_text() for name in files
    )
    assert "](https://x.org/y/)" in readme
    assert "github/me/it/blob/colab/04_" in readme
    assert "](notebooks/00_" in readme  # the tables are there still
    assert "git clone https://github.com/me/it.git " in readme
    assert "mybinder.org/v2/gh/me/it/binder" in install
    path = tmp_path / "notebooks/00_in_one_sitting.ipynb"
    last = nbformat.read(path, 4).cells[-1]
    lost, along = last.source.split("\n\n")
    assert "me/it/issues/new?template=lost.md&title=00_in" in lost
    assert (ROOT / ".github/ISSUE_TEMPLATE/lost.md").exists()
    assert along.startswith("[Next: ")
    urls = tomllib.loads(project)["project"]["urls"]
    assert urls["Repository"] == "https://github.com/me/it"
    assert yaml.safe_load(citation)["url"] == "https://x.org/y/"
    assert published(tmp_path).stdout == ""  # once is enough
    again = published(tmp_path, *where[:3], "you/it")
    assert "renewed pyproject.toml" in again.stdout
    assert "me/it" not in (tmp_path / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--address", "https://x.org"], "go together"),
        (["--address", "x.org", "--repository", "a/b"], "not an address: x"),
        (["--address", "https://x.org", "--repository", "a"], "OWNER/NAME: a"),
    ],
)
def test_an_address_that_is_none_is_refused(arguments, said, command):
    before = listing.LIST.read_text()
    done = command(renew_series, *arguments)
    assert done.returncode
    assert said in done.stderr
    assert listing.LIST.read_text() == before


def test_one_version_stands_everywhere():
    """CONTRIBUTING.md, "Release a version", says where."""
    projects = [
        tomllib.loads((ROOT / file).read_text())["project"]
        for file in ("pyproject.toml", "review/pyproject.toml")
    ]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    changes = (ROOT / "web/changes.md").read_text()
    newest = re.search(r"(?m)^## Version (\S+)$", changes)[1]
    found = [project["version"] for project in projects]
    assert {*found, citation["version"], newest} == {found[0]}, (
        'see "Release a version" in CONTRIBUTING.md: pyproject.toml,'
        f" review/pyproject.toml, CITATION.cff, web/changes.md: {found},"
        f" {citation['version']}, {newest}"
    )
    assert citation["title"] == listing.TITLE
    assert {"cff-version", "message", "authors"} <= citation.keys()


# Formulas.

THIN = '<mspace width="0.167em"/>'


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"a\!b", "<mi>a</mi><mi>b</mi>"),
        ("a / b", '<mi>a</mi><mo lspace="0" rspace="0">/</mo><mi>b</mi>'),
        (r"2 \sin x", f"<mn>2</mn>{THIN}<mi>sin</mi>{THIN}<mi>x</mi>"),
        ("a = -1", '<mo form="prefix">&#x02212;</mo><mn>1</mn>'),
        ("a + |b|", '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;'),
        (r"\sin^2 x", "<msup><mi>sin</mi><mn>2</mn></msup>"),
        (r"\mathrm{i}", '<mi mathvariant="normal">&#x00069;</mi>'),
        (r"\overline{ab}", '<mo stretchy="true">&#x0203E;</mo>'),
    ],
)
def test_formulas_are_spaced_as_tex_spaces_them(latex, wanted):
    assert wanted in mathml(latex, "inline")


def test_a_formula_that_cannot_be_set_is_refused():
    with pytest.raises(CommandError, match="cannot set"):
        mathml(r"\nonsense{a}", "inline")
