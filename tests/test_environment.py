"""One lock, and what a notebook may import."""

import importlib.metadata
import re
import sys
import tomllib

import nbformat
import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from posenc_series.listing import NOTEBOOKS

METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LIGHT = [Requirement(line).name for line in METADATA["dependencies"]]
# IPython comes with JupyterLab.
IMPORTED_AS = {"jupyterlab": "IPython", "pillow": "PIL"}


def required(file: str) -> list[Requirement]:
    """What a file of requirements asks for on this system."""
    lines = (ROOT / file).read_text().splitlines()
    lines = [line.partition("#")[0].strip() for line in lines]
    needed = [Requirement(line) for line in lines if line]
    return [r for r in needed if r.marker is None or r.marker.evaluate()]


def test_what_is_asked_for_is_locked_and_what_is_locked_is_installed():
    lock = {
        canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
        for pin in required("requirements.txt")
    }
    names = LIGHT + [each.name for each in required("requirements.in")]
    missing = {canonicalize_name(name) for name in names} - lock.keys()
    assert not missing, "write the lock as requirements.in says at its head"
    installed = {name: importlib.metadata.version(name) for name in lock}
    assert installed == lock, "uv sync"


def test_the_site_is_built_with_what_is_locked():
    """A script's head has pins of its own, which nobody else renews."""
    pin = re.compile(r"\b([\w-]+)==([\w.]+)")
    lock = dict(pin.findall((ROOT / "requirements.txt").read_text()))
    head = dict(pin.findall((ROOT / "web/build.py").read_text()))
    assert {n: v for n, v in head.items() if lock.get(n, v) != v} == {}


IMPORT = re.compile(
    r"(?m)^\s*(?:import (?=[\w.]+(?: as|$))|from (?=\S+ import))(\w+)\.?(\w*)"
)


def imported(source: str) -> set[str]:
    """The top names of what code imports, by itself or through `posenc`."""
    packages = set()
    for package, module in IMPORT.findall(source):
        packages.add(package)
        if package == "posenc":
            packages |= imported(source_of(module))
    return packages


def source_of(module: str) -> str:
    """The code of a module of `posenc`, or of a package in it."""
    file, package = ROOT / f"posenc/{module}.py", ROOT / f"posenc/{module}"
    return (file if file.exists() else package / "__init__.py").read_text()


@pytest.mark.parametrize("listed", NOTEBOOKS, ids=lambda each: each.number)
def test_notebooks_without_tensorflow_run_in_the_small_installation(listed):
    light = {IMPORTED_AS.get(name, name) for name in LIGHT}
    light |= {"posenc", "posenc_helpers", "posenc_review"}
    code = [
        cell.source
        for cell in nbformat.read(listed.path, as_version=4).cells
        if cell.cell_type == "code"
    ]
    needed = imported("\n".join(code))
    more = needed - light - sys.stdlib_module_names
    assert bool(more) == listed.tensorflow, (
        f"notebooks/series.toml: tensorflow = {str(bool(more)).lower()},"
        f" because of {more}"
    )
