"""The hooks of .pre-commit-config.yaml, run as tests over every file."""

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


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_passes(hook):
    _, _, name, *options = HOOKS[hook].split()  # uv run NAME
    files = ["."]
    if hook == "codespell":
        listed = run("git", "ls-files").stdout.splitlines()
        files = [name for name in listed if (ROOT / name).exists()]
        if not files:
            pytest.skip("not a git checkout")
    # The same tool, from the environment that this test runs in.
    done = run(Path(sys.executable).with_name(name), *options, *files)
    assert done.returncode == 0, (
        f"Fix it with: {MEND[hook]}\n{done.stdout}{done.stderr}"
    )
