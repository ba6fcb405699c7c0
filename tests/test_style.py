"""The hooks of .pre-commit-config.yaml, run as tests over every file."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from test_environment import tracked_files

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


def is_text(path: Path) -> bool:
    return b"\0" not in path.read_bytes()


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_passes(hook):
    words = shlex.split(HOOKS[hook]["entry"])
    assert words[:2] == ["uv", "run"]
    # The same tool, from the environment that this test runs in.
    command = [str(Path(sys.executable).parent / words[2]), *words[3:]]
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
    assert done.returncode == 0, done.stdout + done.stderr
