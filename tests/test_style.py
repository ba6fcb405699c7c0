"""The hooks of .pre-commit-config.yaml, run as tests over every file."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
HOOKS = {
    hook["id"]: hook for repo in CONFIG["repos"] for hook in repo["hooks"]
}
PYTHON, NOTEBOOK = {".py"}, {".ipynb"}
CHECKED = {
    "ruff-check": PYTHON | NOTEBOOK,
    "ruff-format": PYTHON | NOTEBOOK,
    "nbstripout": NOTEBOOK,
}
MEND = {
    "ruff-check": "uv run ruff check --fix .  and what is left by hand",
    "ruff-format": "uv run ruff format .",
    "nbstripout": "uv run tools/store_notebooks.py notebooks/NAME.ipynb",
    "codespell": "uv run codespell --write-changes FILE",
}


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in paths if path.exists()]


def is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_passes(hook):
    words = shlex.split(HOOKS[hook]["entry"])
    assert words[:2] == ["uv", "run"]
    # The same tool, from the environment that this test runs in.
    tool = shutil.which(words[2], path=Path(sys.executable).parent)
    command = [tool, *words[3:]]
    endings = CHECKED.get(hook)
    files = [
        str(path)
        for path in tracked_files()
        if (path.suffix in endings if endings else is_text(path))
    ]
    assert files
    done = subprocess.run(
        command + files, cwd=ROOT, capture_output=True, text=True
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"Fix it with: {MEND[hook]}\n{said}"
