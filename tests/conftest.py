"""What several test files share."""

import importlib
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout

import handouts
import nbformat
import pytest
from built_site import address as address
from built_site import page as page
from built_site import project as project
from in_browser import figures as figures
from posenc_series import listing
from posenc_series.chapters import run_up_to
from posenc_series.commands import CommandError

from posenc.check import hints_shown

ROOT = listing.ROOT
PATHS = [each.path for each in listing.NOTEBOOKS]
ALONE = ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]


def slow_but(number: str) -> list:
    """All notebooks as parameters; all but the one of this number are slow."""
    return [
        pytest.param(
            path,
            id=path.stem,
            marks=[] if path.stem[:2] == number else pytest.mark.slow,
        )
        for path in PATHS
    ]


class LazyModule:
    """A module that is imported when a test first uses it.

    TensorFlow takes five seconds, and each process collects all tests.
    """

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        if attribute.startswith("_"):  # pytest looks for some in all it sees
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def cells_of(notebook: str) -> list[nbformat.NotebookNode]:
    """The cells of a notebook, named without its folder and ending."""
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    return nbformat.read(path, as_version=4).cells


def run_cells(notebook: str, *cell_ids: str, **names: object) -> dict:
    """Run the named cells of a notebook; return the names they define.

    This is how a test gets hold of a function that a notebook builds:
    out of the notebook itself, never out of a copy. `names` are those
    that the cells expect from cells that are left out.
    """
    cells = {cell.id: cell for cell in cells_of(notebook)}
    namespace = dict(names)
    for cell_id in cell_ids:
        exec(cells[cell_id].source, namespace)
    return namespace


@pytest.fixture(scope="module")
def names(request: pytest.FixtureRequest) -> dict:
    """What a notebook defines, for the test file that is named after it.

    Solutions and cells that only draw are left out, and so are those that the
    file names `WITHOUT`, which take seconds and define nothing it needs.
    """
    notebook = request.path.stem.removeprefix("test_")
    without = getattr(request.module, "WITHOUT", ())
    return run_up_to(notebook, "nav-end", without)


def assert_replies(
    check: Callable, answers: Iterable, words: str | tuple[str, str]
) -> None:
    """Give answers to an exercise's check; each reply has these words.

    A pair of words is for an answer that is given twice: the first hint, and
    the hint when the same mistake comes back. Each answer begins anew.
    """
    for answer in answers:
        hints_shown.clear()
        for expected in [words] if isinstance(words, str) else words:
            printed = io.StringIO()
            with redirect_stdout(printed):
                check(answer)
            assert expected in printed.getvalue(), answer


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """The system's browser; the tests that want one skip without it.

    It reaches this machine only. It is closed with the module: its event
    loop would disturb those of the notebooks.
    """
    try:
        with handouts.open_browser(options=ALONE) as opened:
            yield opened
    except CommandError as error:
        pytest.skip(str(error))
