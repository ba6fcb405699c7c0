"""What every notebook of the series keeps to, beyond running (nbval).

CONTRIBUTING.md says in words what is asked here, and why.
"""

import itertools
import re
from copy import deepcopy

import nbformat
import pytest
import renew_series
import store_notebooks
from conftest import PATHS, ROOT
from posenc_series import listing
from posenc_series.cells import TAGS, is_folded, tags

from tests.compare_figures import pictures

LISTED = {each.path: each for each in listing.NOTEBOOKS}
KILOBYTES = 400  # wanted: 300; above this, a figure is too large
PARTS = ["exercise", "check", "answer", "solution"]
STORE = "store it: uv run tools/store_notebooks.py notebooks/"


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose_of(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    return "\n".join(cell.source for cell in cells)


def test_the_list_names_the_notebooks_that_there_are():
    listed = [each.file for each in listing.NOTEBOOKS]
    there = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert there == listed, "list it in notebooks/series.toml"
    numbers = [name[:3] for name in listed]
    assert numbers == [f"{place:02}_" for place in range(len(listed))]


def test_what_repeats_the_list_agrees_with_it():
    """Titles, minutes and links, so that no old name is left anywhere."""
    for page, wanted in renew_series.files_as_listed().items():
        assert page.read_text(encoding="utf-8") == wanted, (
            f"{page.name} differs from notebooks/series.toml: correct it"
            " there, then uv run tools/renew_series.py"
        )


def test_it_is_stored_by_the_command_that_stores_it(notebook, path):
    """Ids, metadata, folding, formatting and counts."""
    nbformat.validate(notebook)
    corrected = store_notebooks.mend(deepcopy(notebook))
    assert not corrected, STORE + path.name
    assert notebook.metadata == {"kernelspec": store_notebooks.KERNELSPEC}
    counts = [cell.execution_count for cell in code(notebook)]
    in_order = counts == list(range(1, len(counts) + 1))
    assert in_order, STORE + path.name
    assert path.stat().st_size <= KILOBYTES * 1000, "figures are too large"


def test_outputs_are_clean_and_compared(notebook):
    """Nbval sees what varies from run to run; a path stays the same here."""
    for cell in code(notebook):
        shown = str(cell.outputs)
        warned = re.search(r"'name': 'stderr'|/home/|/tmp/|/root/", shown)
        assert not warned, f"{cell.id} shows {warned[0]}"


def test_tags_are_known_and_a_folded_cell_says_what_it_is(notebook):
    for cell in notebook.cells:
        unknown = tags(cell) - TAGS
        assert not unknown, f"{cell.id}: CONTRIBUTING.md lists the tags"
        named = re.match(r"# \w+ \w+|def \w+\(|class \w+", cell.source)
        assert named or not is_folded(cell), (
            f"begin {cell.id} with a comment of two words, def or class"
        )


def test_cells_are_short_and_end_in_no_semicolon(notebook):
    for cell in code(notebook):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        most = 22 if "check" in tags(cell) else 15
        assert 0 < len(lines) <= most, (
            f"{cell.id} has {len(lines)} lines of code; one to {most} are"
            " wanted"
        )
        assert not lines[-1].rstrip().endswith(";"), (
            f"{cell.id}: take the ; from the end of {lines[-1]}"
        )


def test_every_figure_has_alt_text_and_a_caption(notebook):
    shown = 0
    for cell, following in itertools.pairwise(notebook.cells):
        images = pictures(cell.get("outputs", ()))
        for image in images:
            alt = image.metadata["image/png"]["alt"]
            enough = len(alt.split()) >= 6
            assert enough, f"{cell.id}: describe more than {alt}"
        if images and "solution" not in tags(cell):
            shown += 1
            is_text = following.cell_type == "markdown"
            caption = re.match(r"\*[^*\n]+\*(\n\n|$)", following.source)
            assert is_text and caption, (
                f"begin the cell after {cell.id} with a paragraph in italics"
            )
    assert shown >= 1, "draw one figure at least"


def test_has_the_parts_that_a_reader_expects(notebook, path):
    first = "\n\n".join(cell.source for cell in notebook.cells[:3])
    assert renew_series.MINUTES.search(first), "say it takes about N minutes"
    links = listing.neighbors(path.name)  # a line of its own, at both ends
    assert links in first and links in notebook.cells[-1].source, links
    if LISTED[path].part == listing.PARTS[0]:
        return  # the way in has no list of aims
    assert "**What you need**" in first
    titles = re.findall(r"(?m)^## (.+)$", prose_of(notebook))
    titles = [each for each in titles if not each.startswith("Appendix")]
    assert titles[-2:] == ["Recap", "Further reading"]


def test_sections_and_figures_have_names_and_no_numbers(notebook):
    """A number would be wrong as soon as something is put before it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            assert "\n## " not in cell.source, f"{cell.id}: begin with the ##"
        if cell.source.startswith("## Further reading"):
            return  # papers are cited with numbers
        numbered = r"(?m)^## \d.*|\b([Ss]ection|[Ff]igure)s? \d+\b(?!\.\d)"
        found = re.search(numbered, cell.source)
        assert not found, f"{cell.id}: say by name what {found[0]} is"


def test_minutes_are_about_as_reckoned(notebook, path):
    listed, reckoned = LISTED[path].minutes, listing.minutes_of(notebook)
    assert abs(listed - reckoned) <= 10, (
        f"{path.name} takes about {reckoned} minutes: list them in"
        " notebooks/series.toml, then uv run tools/renew_series.py"
    )


def test_each_exercise_is_open_and_its_solution_passes(notebook, path):
    """Four cells, whose ids the command that stores a notebook gives."""
    cells = {cell.id: cell for cell in notebook.cells}
    numbers = re.findall(r"(?m)^### Exercise (\d+)\. ", prose_of(notebook))
    for place, number in enumerate(numbers, 1):
        assert number == str(place), "number the exercises anew"
        names = [f"{part}-{number}" for part in PARTS]
        assert [name for name in cells if name in names] == names, (
            f"{names} are wanted in this order: tag them, {STORE}{path.name}"
        )
        answer, solution = cells[names[2]], cells[names[3]]
        assert f"check_{number}(" in answer.source, answer.id
        assert "Not answered yet" in str(answer.outputs), answer.id
        confirms = f"confirm(check_{number}, solution_{number})"
        assert confirms in solution.source, f"{solution.id}: {confirms}"
        assert "The solution passes." in str(solution.outputs), solution.id


def test_predictions_are_followed_by_their_answer(notebook):
    kinds = [tags(cell) & {"predict", "reveal"} for cell in notebook.cells]
    order = [kind.pop() for kind in kinds if kind]
    assert order.count("predict") >= 2, "ask two times at least"
    in_turn = order == ["predict", "reveal"] * (len(order) // 2)
    assert in_turn, f"one reveal after each predict; the tags are {order}"


def anchors_of(file) -> set[str]:
    """Where in a file a link may lead: its cells, or its headings.

    GitHub names a heading in small letters, without punctuation and links.
    """
    if file.suffix == ".ipynb":
        cells = nbformat.read(file, as_version=4).cells
        return {f"cell-id={cell.id}" for cell in cells}
    headings = re.findall(r"(?m)^#+ (.+)$", file.read_text("utf-8"))
    kept = [re.sub(r"[^\w\- ]", "", each.lower()) for each in headings]
    return {each.replace(" ", "-") for each in kept}


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *PATHS]
PAGES.append(ROOT / "web/changes.md")  # home.md is a page of the site


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_cells_and_headings_that_there_are(page):
    text = page.read_text("utf-8")
    if page.suffix == ".ipynb":
        text = prose_of(nbformat.read(page, as_version=4))
    for name in re.findall(r"\b\d\d_\w+\.ipynb", text):
        assert name in {path.name for path in PATHS}, f"{name}: no such file"
    text = re.sub(r"`[^`]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        if target.startswith(("http://", "https://")):
            continue
        there = page.parent / file if file else page
        assert there.exists(), f"{target}: no such file"
        if anchor:
            assert anchor in anchors_of(there), f"{target}: no such place"
