"""What every notebook of the series keeps to, beyond running (nbval)."""

import itertools
import re

import nbformat
import pytest
from conftest import NOTEBOOKS, ROOT

FOLDED = {"check", "drawing", "plumbing", "solution"}
OTHER_TAGS = {"exercise", "nbval-ignore-output", "predict", "reveal"}
OTHER_TAGS |= {"timed", "trained"}  # figures that differ from run to run
KERAS = ("04", "05", "06", "08", "09")
MAIN_LINE = ("01", "02", "03", "04", "05", "06")
BEFORE = (
    "**Before you begin**, clear the outputs: *Kernel > Restart Kernel and"
    " Clear Outputs of All Cells*. Then no output stands under its question."
    " The text below tells the answer all the same, so decide before you read"
    " on. Each exercise is followed by its solution, folded."
)
KILOBYTES = 400  # wanted: 300; above this, a figure is too large
LINES_OF_A_CELL = 15


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def tags(cell):
    return set(cell.metadata.get("tags", ()))


def headings(notebook):
    lines = "\n".join(cell.source for cell in prose(notebook))
    return re.findall(r"^(#{1,6}) (.+)$", lines, re.MULTILINE)


def test_there_are_eleven_notebooks():
    numbers = [path.name[:3] for path in NOTEBOOKS]
    assert numbers == [f"{number:02}_" for number in range(1, 12)]


def test_format_and_kernel(notebook):
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert set(notebook.metadata) == {"kernelspec"}
    assert notebook.metadata.kernelspec.name == "python3"


def test_run_in_order_in_a_fresh_kernel(notebook):
    counts = [cell.execution_count for cell in code(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_outputs_are_clean(notebook):
    for cell in code(notebook):
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id
            text = output.get("text", "") + str(
                output.get("data", {}).get("text/plain", "")
            )
            assert not re.search(r"0x[0-9a-f]{6}|/home/|/tmp/|/root/", text)


def test_every_output_is_compared_except_widgets(notebook):
    for cell in code(notebook):
        if "nbval-ignore-output" in tags(cell):
            shows = r"interact\(|ProgressBar|progress|display_id"
            assert re.search(shows, cell.source), cell.id
            assert not cell.outputs, f"{cell.id} stores what no test compares"


def test_tags_are_known_and_what_is_no_lesson_is_folded(notebook):
    for cell in notebook.cells:
        assert tags(cell) <= FOLDED | OTHER_TAGS, cell.id
        folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        is_code = cell.cell_type == "code"
        assert folded == (is_code and bool(tags(cell) & FOLDED)), cell.id
        assert "outputs_hidden" not in cell.metadata.get("jupyter", {})


def test_folded_cells_begin_with_a_line_that_names_them(notebook):
    for cell in code(notebook):
        if tags(cell) & FOLDED:
            first = cell.source.splitlines()[0]
            assert re.match(r"(# \w+ \w+|def \w+\()", first), cell.id


def test_cells_are_short_and_end_in_no_semicolon(notebook):
    for cell in code(notebook):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        assert 0 < len(lines) <= LINES_OF_A_CELL, cell.id
        assert not lines[-1].rstrip().endswith(";"), cell.id


def test_cell_ids_are_readable(notebook):
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cell.id), cell.id
        assert not re.fullmatch(r"[0-9a-f]{8}", cell.id), cell.id


def test_every_figure_has_alt_text_and_a_numbered_caption(notebook):
    number = 0
    for cell, following in zip(
        notebook.cells, [*notebook.cells[1:], None], strict=True
    ):
        images = [
            output
            for output in cell.get("outputs", ())
            if "image/png" in output.get("data", {})
        ]
        for image in images:
            alt = image.metadata["image/png"]["alt"]
            assert len(alt.split()) >= 6, (cell.id, alt)
        if images and "solution" not in tags(cell):
            number += 1
            caption = following.source
            assert caption.startswith(f"**Figure {number}.** "), cell.id
    assert number >= 1


def test_has_the_parts_that_a_reader_expects(notebook):
    first = "\n".join(cell.source for cell in notebook.cells[:3])
    for part in (
        "**What you will build**",
        "**What you will be able to do**",
        "**What you need**",
    ):
        assert part in first
    assert BEFORE in notebook.cells[1].source
    titles = [title for level, title in headings(notebook) if level == "##"]
    titles = [each for each in titles if not each.startswith("Appendix")]
    assert titles[-3:] == ["Exercises", "Recap", "Further reading"]


def test_headings_are_in_order(notebook):
    levels = [len(level) for level, _ in headings(notebook)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    for before, after in itertools.pairwise(levels):
        assert after <= before + 1


def test_no_paragraph_is_a_left_over(notebook):
    for cell in prose(notebook):
        assert cell.source == cell.source.strip(), cell.id
        for paragraph in cell.source.split("\n\n"):
            assert len(paragraph.split()) >= 2, (cell.id, paragraph)


def test_minutes_are_one_sitting(notebook, path):
    minutes = int(re.search(r"(\d+) minutes", notebook.cells[1].source)[1])
    assert 20 <= minutes <= (60 if path.name[:2] in MAIN_LINE else 75)


def test_each_exercise_has_a_check_an_answer_and_a_solution(notebook):
    cells = {cell.id: cell for cell in notebook.cells}
    numbers = [
        int(name.removeprefix("exercise-"))
        for name in cells
        if re.fullmatch(r"exercise-\d+", name)
    ]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 3
    for number in numbers:
        names = ("exercise", "check", "answer", "solution")
        task, check, answer, solution = (cells[f"{n}-{number}"] for n in names)
        assert f"### Exercise {number}. " in task.source
        assert check.source.startswith(f"def check_{number}(answer"), check.id
        assert "..." in answer.source
        assert len(answer.source.splitlines()) <= 6, answer.id
        called = f"check_{number}("
        assert called in answer.source
        assert called in solution.source
        assert "Not answered yet" in str(answer.outputs), answer.id
        assert "Correct." in str(solution.outputs), solution.id
        assert "Not yet" not in str(solution.outputs), solution.id


def test_no_two_exercises_set_the_same_task(notebook):
    heads = "\n".join(cell.source for cell in prose(notebook))
    titles = re.findall(r"^### Exercise \d+\. (.+)", heads, re.MULTILINE)
    assert len(set(titles)) == len(titles) >= 3


def test_predictions_are_followed_by_their_answer(notebook):
    kinds = [tags(c) & {"predict", "reveal"} for c in notebook.cells]
    order = [kind.pop() for kind in kinds if kind]
    assert order.count("predict") >= 2
    assert order == ["predict", "reveal"] * (len(order) // 2)


def test_links_lead_somewhere(notebook, path):
    text = "\n".join(cell.source for cell in prose(notebook))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http://", "https://", "#")):
            assert (path.parent / target).exists(), target


def test_previous_and_next_are_linked_at_both_ends(notebook, path):
    place = NOTEBOOKS.index(path)
    neighbors = [
        (NOTEBOOKS[place - 1], "Previous") if place else None,
        (NOTEBOOKS[place + 1], "Next") if path != NOTEBOOKS[-1] else None,
    ]
    ends = [
        "\n".join(cell.source for cell in notebook.cells[:3]),
        notebook.cells[-1].source,
    ]
    for neighbor, word in filter(None, neighbors):
        for end in ends:
            link = rf"\[{word}: [^]]+\]\({re.escape(neighbor.name)}\)"
            assert re.search(link, end), (neighbor.name, word)


def test_is_small(path):
    assert path.stat().st_size <= KILOBYTES * 1000


def test_numpy_notebooks_never_name_tensorflow_in_code(notebook, path):
    if path.name[:2] not in KERAS:
        for cell in code(notebook):
            imported = r"^\s*(import|from) (tensorflow|keras)"
            assert not re.search(imported, cell.source, re.M), cell.id


def test_readme_lists_exactly_the_notebooks_there_are():
    readme = (ROOT / "README.md").read_text()
    listed = re.findall(
        r"\| \[(.+)\]\(notebooks/(.+)\) \|.*\| (\d+) \| (no|yes) \|", readme
    )
    told = []
    for path in NOTEBOOKS:
        first = nbformat.read(path, as_version=4).cells[:3]
        text = "\n".join(cell.source for cell in first)
        title = f"{path.name[:2]} {text.splitlines()[0].removeprefix('# ')}"
        minutes = re.search(r"(\d+) minutes", text)[1]
        tensorflow = "yes" if path.name[:2] in KERAS else "no"
        told.append((title, path.name, minutes, tensorflow))
    assert listed == told
