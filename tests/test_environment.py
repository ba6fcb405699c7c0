"""One lock, and whatever installs the project reads it."""

import ast
import importlib.metadata
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from series.listing import NOTEBOOKS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(lines: list[str]) -> list[Requirement]:
    """Read a list of requirements, those that hold on another system too."""
    lines = [line.partition("#")[0].strip() for line in lines]
    return [Requirement(line) for line in lines if line]


def requirements_of(file: str) -> list[Requirement]:
    return requirements((ROOT / file).read_text().splitlines())


def holds_here(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate()


LIGHT = requirements(PROJECT["project"]["dependencies"])
LOCK = requirements_of("requirements.txt")
LOCKED_HERE = {
    canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
    for pin in LOCK
    if holds_here(pin)
}


def needed_by(asked: list[Requirement]) -> set[str]:
    """Every distribution that a list needs here, its own names included."""
    found: set[tuple[str, str]] = set()
    open_questions = [(each.name, "") for each in asked if holds_here(each)]
    while open_questions:
        name, extra = open_questions.pop()
        name = canonicalize_name(name)
        if (name, extra) in found:
            continue
        found.add((name, extra))
        for line in importlib.metadata.requires(name) or ():
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                extras = [*need.extras, ""]
                open_questions += [(need.name, each) for each in extras]
    return {name for name, _ in found}


def test_what_is_installed_is_what_is_locked():
    installed = {n: importlib.metadata.version(n) for n in LOCKED_HERE}
    assert installed == LOCKED_HERE, "mend this by `uv sync`"


def test_the_lock_holds_all_that_the_lists_need_and_nothing_else():
    asked = LIGHT + requirements_of("requirements.in")
    assert needed_by(asked) == set(LOCKED_HERE), "renew requirements.txt"


def imported(path: Path) -> set[str]:
    """The top names of the packages that a notebook's code imports."""
    cells = nbformat.read(path, as_version=4).cells
    found = set()
    for cell in cells:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Import):
                    found |= {each.name for each in node.names}
                elif isinstance(node, ast.ImportFrom):
                    found.add(node.module)
    return {name.partition(".")[0] for name in found}


def modules_of(distributions: set[str]) -> set[str]:
    """The modules that distributions bring, and what is always there."""
    brought = importlib.metadata.packages_distributions()
    found = {"posenc_helpers", "posenc_review"} | sys.stdlib_module_names
    for module, names in brought.items():
        if not distributions.isdisjoint(map(canonicalize_name, names)):
            found.add(module)
    return found


@pytest.mark.parametrize("listed", NOTEBOOKS, ids=lambda each: each.number)
def test_the_light_way_serves_the_notebooks_without_tensorflow(listed):
    more = imported(listed.path) - modules_of(needed_by(LIGHT))
    assert bool(more) == listed.tensorflow, (
        f"notebooks/series.toml: tensorflow = {str(bool(more)).lower()},"
        f" because of {more}"
    )


def test_every_module_of_the_root_is_installed():
    modules = {path.name for path in ROOT.glob("posenc_*")}
    installed = PROJECT["tool"]["hatch"]["build"]["only-include"]
    assert set(installed) == modules
