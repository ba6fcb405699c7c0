"""pyproject.toml fixes every version, and the rest agrees with it."""

import importlib.metadata
import re
import subprocess
import tomllib

import pytest
import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
HERE = {
    canonicalize_name(pin.name): str(pin.specifier).removeprefix("==")
    for pin in PINS
    if pin.marker is None or pin.marker.evaluate()
}
# Those above the comment "What those need in turn".
DIRECT = PINS[: [pin.name for pin in PINS].index("axe-playwright-python") + 1]
OURS = canonicalize_name(PROJECT["project"]["name"])
# What conda or an installer may bring along without being asked.
TOOLS = {"pip", "uv", "setuptools", "wheel"}


def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return listed.stdout.split()


def needed(name: str, extra: str = "", seen: set | None = None) -> set[str]:
    """Every distribution that a distribution needs here, itself included."""
    seen = set() if seen is None else seen
    key = canonicalize_name(name)
    if (key, extra) in seen:
        return {name for name, _ in seen}
    seen.add((key, extra))
    for line in importlib.metadata.requires(key) or ():
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            for wanted in need.extras | {""}:
                needed(need.name, wanted, seen)
    return {name for name, _ in seen}


@pytest.mark.parametrize("pin", PINS, ids=str)
def test_every_version_is_exact(pin):
    assert re.fullmatch(r"==[\d.]+(post\d+)?", str(pin.specifier))


def test_what_is_installed_is_what_is_written():
    installed = {n: importlib.metadata.version(n) for n in HERE}
    assert installed == HERE


def test_nothing_is_needed_that_is_not_written():
    assert needed(OURS) - {OURS} <= set(HERE)


def test_nothing_is_written_that_is_not_needed():
    """By any platform: on this one, nothing beyond what is needed."""
    direct = {"tensorflow", "tensorflow-cpu"}
    for pin in DIRECT:
        direct |= (
            needed(pin.name) if canonicalize_name(pin.name) in HERE else set()
        )
    assert set(HERE) <= direct


def test_the_universal_resolution_is_what_is_written():
    """uv.lock covers the platforms that this test does not run on."""
    if not (ROOT / "uv.lock").exists():
        pytest.skip("no uv.lock: the environment was not made by uv")
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    resolved = {
        (package["name"], package["version"])
        for package in lock["package"]
        if package["name"] != OURS
    }
    written = {
        (canonicalize_name(pin.name), str(pin.specifier)[2:]) for pin in PINS
    }
    assert resolved == written


def test_conda_installs_the_project_and_nothing_of_its_own():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.12", "pip"]
    assert pip == {"pip": ["-e ."]}
    assert environment["channels"] == ["conda-forge"]


def test_the_build_tools_are_fixed_too():
    for line in PROJECT["build-system"]["requires"]:
        assert str(Requirement(line).specifier).startswith("==")


def test_every_module_of_the_root_is_installed():
    modules = sorted(path.name for path in ROOT.glob("*.py"))
    assert sorted(PROJECT["tool"]["hatch"]["build"]["only-include"]) == modules


def test_no_tracked_file_names_a_package_registry():
    hosts = ("pypi.org", "pythonhosted", "anaconda.org", "registry.npmjs")
    for name in tracked_files():
        if name != "tests/test_environment.py":
            text = (ROOT / name).read_bytes().decode(errors="ignore")
            assert not any(host in text for host in hosts), name


def test_the_root_holds_what_a_reader_expects():
    visible = {name.split("/")[0] for name in tracked_files()}
    visible = {name for name in visible if not name.startswith(".")}
    assert visible <= {
        "LICENSE",
        "README.md",
        "environment.yml",
        "notebooks",
        "posenc_helpers.py",
        "posenc_layers.py",
        "pyproject.toml",
        "tests",
        "workshop",
    }


def test_jupyterlab_opens_on_the_first_notebook():
    config = yaml.safe_load(
        (ROOT / ".jupyter" / "jupyter_lab_config.json").read_text()
    )
    url = config["LabApp"]["default_url"]
    assert (ROOT / url.removeprefix("/lab/tree/")).exists()
    target = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert target["shared-data"] == {".jupyter": "etc/jupyter"}
