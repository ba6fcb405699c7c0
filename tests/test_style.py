"""The hooks of .pre-commit-config.yaml, run as tests over every file."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
HOOKS = [hook for repo in CONFIG["repos"] for hook in repo["hooks"]]
ENDINGS = {
    "ruff-check": (".py", ".ipynb"),
    "ruff-format": (".py", ".ipynb"),
    "nbstripout": (".ipynb",),
    "codespell": (".py", ".ipynb", ".md", ".toml", ".yml", ".json", ".css"),
}


def files(endings: tuple[str, ...]) -> list[str]:
    folders = [ROOT, *(ROOT / name for name in FOLDERS)]
    found = [p for folder in folders for p in folder.glob("*")]
    return sorted(str(p) for p in found if p.suffix in endings)


FOLDERS = ("notebooks", "tests", "workshop", ".github/workflows", ".jupyter")


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hook_passes(hook):
    words = shlex.split(hook["entry"])
    assert words[:2] == ["uv", "run"]
    # The same tool, from the environment that this test runs in.
    command = [str(Path(sys.executable).parent / words[2]), *words[3:]]
    checked = files(ENDINGS[hook["id"]])
    assert checked
    done = subprocess.run(
        command + checked, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
