"""One lock, and what a notebook may import."""

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

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LIGHT = [Requirement(line).name for line in PROJECT["dependencies"]]
# IPython comes with JupyterLab.
IMPORTED_AS = {"jupyterlab": "IPython", "pillow": "PIL"}


def required(file: str) -> list[Requirement]:
    """What a file of requirements asks for on this system."""
    lines = (ROOT / file).read_text().splitlines()
    lines = [line.partition("#")[0].strip() for line in lines]
    found = [Requirement(line) for line in lines if line]
    return [r for r in found if r.marker is None or r.marker.evaluate()]


def test_what_is_asked_for_is_locked_and_what_is_locked_is_installed():
    lock = {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in required("requirements.txt")
    }
    asked = LIGHT + [each.name for each in required("requirements.in")]
    missing = {canonicalize_name(name) for name in asked} - lock.keys()
    assert not missing, "uv run tools/renew_versions.py"
    installed = {name: importlib.metadata.version(name) for name in lock}
    assert installed == lock, "uv sync"


def imported(path: Path) -> set[str]:
    """The top names of the packages that a notebook's code imports."""
    found = set()
    for cell in nbformat.read(path, as_version=4).cells:
        tree = ast.parse(cell.source if cell.cell_type == "code" else "")
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module)
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("listed", NOTEBOOKS, ids=lambda each: each.number)
def test_notebooks_without_tensorflow_run_in_the_small_installation(listed):
    light = {IMPORTED_AS.get(name, name) for name in LIGHT}
    light |= {"posenc_helpers", "posenc_review", *sys.stdlib_module_names}
    more = imported(listed.path) - light
    assert bool(more) == listed.tensorflow, (
        f"notebooks/series.toml: tensorflow = {str(bool(more)).lower()},"
        f" because of {more}"
    )
