"""The web edition, built from nothing and served, for the slow tests."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from posenc_series.listing import ROOT


def run_build(project: Path, **environment) -> None:
    command = [os.environ.get("UV", "uv"), "run", project / "web/build.py"]
    command += ["--repository", "owner/name", "--address", "https://x.org/y"]
    env = os.environ | environment
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """The project with its site, built while no download was kept."""
    project = tmp_path_factory.mktemp("project")
    made = shutil.ignore_patterns(".cache", "__pycache__")
    folders = ".github notebooks posenc review tools web workshop"
    for name in folders.split():
        shutil.copytree(ROOT / name, project / name, ignore=made)
    for path in [ROOT / "INSTALL.md", ROOT / "posenc_helpers.py"]:
        shutil.copy(path, project)
    run_build(project)
    return project


@pytest.fixture(scope="module")
def address(project) -> Iterator[str]:
    """Where the site is served: below a folder, as for a project."""
    command = [sys.executable, "-u", "-m", "http.server", "0"]
    command += ["--bind", "127.0.0.1", "-d", project]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        port = re.search(r"port (\d+)", server.stdout.readline())[1]
        yield f"http://127.0.0.1:{port}/site/"
        server.terminate()
