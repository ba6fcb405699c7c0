"""Commands for authors that have no test file of their own."""

import re
from subprocess import CompletedProcess

import benchmark
import numpy as np
import pytest
import renew_versions
import store_models
from posenc_series import chapters

from posenc.stored import load_weights

# Speed. Nothing is timed here: each side runs once.


def test_a_ratio_is_theirs_over_ours_in_either_order(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(benchmark, "perf_counter", lambda: now[0])

    def takes(seconds):
        def function():
            now[0] += seconds

        return function

    assert benchmark.ratio(takes(6), takes(2)) == 3


def test_tables_that_are_compared_for_speed_are_equal(command, monkeypatch):
    def ratio(theirs, ours, rounds):
        if ours.args == (100, 512) and theirs.func is not benchmark.numpy_full:
            np.testing.assert_allclose(np.squeeze(theirs()), ours(), atol=1e-4)
        return 7

    monkeypatch.setattr(benchmark, "ratio", ratio)
    done = command(benchmark, "encoding")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" 7.00 times\n") == 2 * 4


def test_layers_that_are_compared_for_speed_return_the_same(
    command, monkeypatch
):
    def ratio(theirs, ours):
        one, other = np.asarray(theirs()), np.asarray(ours())
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        return 7

    monkeypatch.setattr(benchmark, "ratio", ratio)
    done = command(benchmark, "layers")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" 7.00 times\n") == 2 * 2


@pytest.mark.parametrize("what", ["encoding", "layers"])
def test_a_speed_that_is_not_what_it_must_be_is_an_error(
    command, monkeypatch, what
):
    monkeypatch.setattr(benchmark, "ratio", lambda *sides: 0.5)
    done = command(benchmark, what)
    assert done.returncode == 1
    assert "times as fast at least" in done.stderr


# The models of notebook 13. What trains them is tested with the notebook.


@pytest.fixture(scope="module")
def notebook_13() -> dict:
    return chapters.run_up_to("13_inside", last="train")


@pytest.mark.parametrize(
    ("trained", "said"), [("inside", ""), ("stranger", "eight bits are not")]
)
def test_what_was_trained_is_stored(
    command, monkeypatch, notebook_13, tmp_path, trained, said
):
    """What is read again has to foretell what was trained."""

    def train(model):
        model.set_weights(load_weights(trained))

    names = notebook_13 | {"train": train}
    monkeypatch.setattr(store_models, "run_up_to", lambda name, last: names)
    monkeypatch.setattr(store_models, "SEEDS", {"inside": 0})
    monkeypatch.setattr(store_models, "ROOT", tmp_path)
    (tmp_path / "posenc").mkdir()
    done = command(store_models)
    assert said in done.stderr
    assert bool(done.returncode) == bool(said)
    stored = (tmp_path / "posenc/inside.json").read_text("utf-8")
    assert stored == (chapters.ROOT / f"posenc/{trained}.json").read_text()


def test_a_cell_that_is_gone_is_named():
    with pytest.raises(chapters.CommandError, match="13_inside has no cell x"):
        chapters.run_up_to("13_inside", last="x")


# Versions.

HEAD = """# needs = ["ruff==1.0", "sphinx==2.0", "jupyterlite-core==3.0"]
# exclude-newer = "2020-01-01T00:00:00Z"
"""


@pytest.fixture
def asked(monkeypatch, tmp_path) -> list:
    """What uv is asked, which finds version 9.9 of everything."""
    build, asked = tmp_path / "build.py", []
    build.write_text(HEAD)
    (tmp_path / "requirements.txt").write_text("ruff==1.0\nnumpy==1.0\n")

    def uv(command, *, input, **options):
        asked.append((" ".join(command), (input or "").split()))
        pins = [p if "==" in p else f"{p}==9.9" for p in asked[-1][1]]
        return CompletedProcess(command, 0, "\n".join(pins), "")

    monkeypatch.setattr(renew_versions, "ROOT", tmp_path)
    monkeypatch.setattr(renew_versions, "BUILD", build)
    monkeypatch.setattr(renew_versions.subprocess, "run", uv)
    return asked


@pytest.mark.parametrize(
    ("typed", "upgrade", "versions"),
    [
        ([], "", ["9.9", "2.0", "3.0"]),  # as the lock has it
        (["sphinx"], " --upgrade-package sphinx ", ["9.9", "9.9", "3.0"]),
        (["--all"], " --upgrade ", ["9.9", "9.9", "3.0"]),
    ],
)
def test_versions_are_renewed_in_the_lock_and_for_the_web(
    command, asked, tmp_path, typed, upgrade, versions
):
    done = command(renew_versions, *typed)
    assert done.returncode == 0, done.stderr
    (lock, _), (web, _) = asked
    assert "pyproject.toml requirements.in -o requirements.txt" in lock
    assert upgrade in lock
    assert ("--upgrade" in lock) == bool(upgrade)
    assert "--constraint requirements.txt" in web
    head = (tmp_path / "build.py").read_text()
    assert re.findall(r"==([\d.]+)", head) == versions
    assert "2020-01-01" not in head


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["kerass"], "kerass is neither in requirements.txt nor in build.py"),
        (["--all", "ruff"], "give --all or packages, not both"),
    ],
)
def test_what_cannot_be_renewed_is_refused(command, asked, typed, said):
    done = command(renew_versions, *typed)
    assert done.returncode == 2
    assert said in done.stderr
    assert asked == []


def test_what_uv_cannot_find_is_said(command, asked, monkeypatch, tmp_path):
    monkeypatch.setattr(
        renew_versions.subprocess,
        "run",
        lambda command, **_: CompletedProcess(command, 1, "", "no network"),
    )
    done = command(renew_versions)
    assert (done.returncode, "no network" in done.stderr) == (1, True)
    assert (tmp_path / "build.py").read_text() == HEAD
