"""One lock, and whatever installs the project reads it."""

import importlib.metadata
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OURS = canonicalize_name(PROJECT["project"]["name"])


def requirements(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text().splitlines()
    lines = [line.partition("#")[0].strip() for line in lines]
    return [Requirement(line) for line in lines if line]


LOCK = requirements("requirements.txt")
HERE = {
    canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
    for pin in LOCK
    if pin.marker is None or pin.marker.evaluate()
}


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in paths if path.exists()]


def needed(name: str, extra: str = "", seen: set | None = None) -> set[str]:
    """Every distribution that a distribution needs here, itself included."""
    seen = set() if seen is None else seen
    key = canonicalize_name(name)
    if (key, extra) not in seen:
        seen.add((key, extra))
        for line in importlib.metadata.requires(key) or ():
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                for wanted in need.extras | {""}:
                    needed(need.name, wanted, seen)
    return {name for name, _ in seen}


def test_what_is_installed_is_what_is_locked():
    installed = {n: importlib.metadata.version(n) for n in HERE}
    assert installed == HERE


def test_the_lock_holds_all_that_the_list_needs_and_nothing_else():
    asked = [
        each.name
        for each in requirements("requirements.in")
        if each.marker is None or each.marker.evaluate()
    ]
    assert set().union(*map(needed, asked)) == set(HERE)


def test_the_project_depends_on_the_lock():
    """As the installed project says it, to uv, pip, conda and Binder."""
    told = map(Requirement, importlib.metadata.requires(OURS))
    assert {
        (canonicalize_name(each.name), each.specifier) for each in told
    } == {(canonicalize_name(pin.name), pin.specifier) for pin in LOCK}


def test_conda_installs_the_project_and_nothing_of_its_own():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert pip == {"pip": ["-e ."]}
    assert {each.partition("=")[0] for each in conda} == {"python", "pip"}


def test_every_module_of_the_root_is_installed():
    modules = sorted(path.name for path in ROOT.glob("posenc_*"))
    assert sorted(PROJECT["tool"]["hatch"]["build"]["only-include"]) == modules


def test_no_tracked_file_names_a_package_registry():
    hosts = ("pypi" + ".org", "pythonhosted" + ".org", "anaconda" + ".org")
    hosts += ("registry." + "npmjs",)
    for path in tracked_files():
        text = path.read_bytes().decode(errors="ignore")
        assert not any(host in text for host in hosts), path


def test_the_root_holds_what_a_reader_expects():
    names = {path.relative_to(ROOT).parts[0] for path in tracked_files()}
    assert {name for name in names if not name.startswith(".")} == {
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "environment.yml",
        "notebooks",
        "posenc_helpers.py",
        "posenc_layers.py",
        "posenc_review",
        "pyproject.toml",
        "requirements.in",
        "requirements.txt",
        "tests",
        "tools",
        "web",
        "workshop",
    }
