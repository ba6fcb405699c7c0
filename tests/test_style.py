"""The hooks of .pre-commit-config.yaml, run as tests over every file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
HOOKS = {each["id"]: each["entry"] for each in CONFIG["repos"][0]["hooks"]}
MEND = {
    "ruff-check": "uv run ruff check --fix .  and what is left by hand",
    "ruff-format": "uv run ruff format .",
    "oxlint": "uv run oxlint --fix .  and what is left by hand",
    "oxfmt": "uv run oxfmt .",
    "codespell": "uv run codespell --write-changes FILE",
}


def files(hook: str) -> list[str]:
    if hook.startswith(("ruff", "ox")):
        return ["."]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [f for f in listed.stdout.splitlines() if (ROOT / f).exists()]


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_passes(hook):
    _, _, name, *options = HOOKS[hook].split()  # uv run NAME
    # The same tool, from the environment that this test runs in.
    tool = shutil.which(name, path=Path(sys.executable).parent)
    done = subprocess.run(
        [tool, *options, *files(hook)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"Fix it with: {MEND[hook]}\n{said}"
