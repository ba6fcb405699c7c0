"""A hub for a rehearsal, and visitors who use it; nothing of it stays.

The load test and the tests use it. It has a port, users, homes and names
of its own, so that it touches no hub that serves a class.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import requests
from classroom import is_taken

PROJECT = Path(__file__).resolve().parents[2]
PASSWORD = secrets.token_hex()
COMMIT = ["-c", "user.name=Teacher", "-c", "user.email=teacher@localhost"]


@dataclass
class Visitor:
    """One person with a browser, as far as the hub can tell."""

    hub: str
    name: str
    session: requests.Session = field(default_factory=requests.Session)

    def log_in(self, password: str = PASSWORD) -> bool:
        """Fill in the form at the door, and tell whether it opened."""
        self.session.get(f"{self.hub}/hub/login").raise_for_status()
        form = {"username": self.name, "password": password}
        door = self.session.post(
            f"{self.hub}/hub/login",
            params={"next": "/hub/home"},
            data={**form, "_xsrf": self.session.cookies["_xsrf"]},
        )
        return door.status_code == 200 and door.url.endswith("/hub/home")

    def call(self, verb: str, path: str, **options) -> requests.Response:
        """Ask the hub for something, as its own pages do."""
        cookies = self.session.cookies
        xsrf = cookies.get("_xsrf", path="/hub/") or cookies["_xsrf"]
        return self.session.request(
            verb,
            f"{self.hub}/hub/api/users/{self.name}{path}",
            headers={"X-XSRFToken": xsrf},
            **options,
        )

    def start_server(self, seconds: float = 300) -> None:
        """Start the own server, and wait until it can be used."""
        self.call("POST", "/server").raise_for_status()
        wait_for(self.has_server, seconds, f"the server of {self.name}", 1)

    def has_server(self) -> bool:
        """Tell whether the own server can be used."""
        servers = self.call("GET", "").json()["servers"]
        return servers.get("", {}).get("ready", False)

    def token(self) -> str:
        """Get a token that other programs may use the server with."""
        return self.call("POST", "/tokens", json={}).json()["token"]


@dataclass
class Hub:
    """A running hub: where it is, and who may come in."""

    url: str
    folder: Path
    names: list[str]
    process: subprocess.Popen

    def visitor(self, name: str) -> Visitor:
        """Let somebody come to the door."""
        return Visitor(self.url, name)

    def stop(self, how: str = "SIGINT") -> None:
        """Stop the hub, as Ctrl+C does, or by another signal."""
        self.process.send_signal(signal.Signals[how])
        self.process.wait(timeout=120)


def wait_for(
    done: Callable[[], bool], seconds: float, what: str, each: float = 0.3
) -> None:
    """Wait until something is done, but not for ever.

    Args:
        done: Asked again and again whether it is done.
        seconds: How long to wait at most.
        what: What is waited for, in words.
        each: Seconds from one question to the next.

    Raises:
        TimeoutError: If it is not done by then.
    """
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(each)


def free_port() -> int:
    """Find three ports in a row that nobody uses, and give the first."""
    for port in range(8790, 9000, 10):
        if not any(map(is_taken, range(port, port + 3))):
            return port
    raise SystemExit("All ports from 8790 on are in use; `ss -ltnp` tells.")


def commit(repository: Path, message: str) -> None:
    """Commit all that is in a repository, as a teacher does."""
    for words in (["add", "."], [*COMMIT, "commit", "-qm", message]):
        subprocess.run(["git", *words], cwd=repository, check=True)


def make_class(folder: Path, notebooks: Path) -> Path:
    """Make the class's repository from a folder of notebooks."""
    repository = folder / "class/notebooks"
    ignored = shutil.ignore_patterns(".*", "__pycache__")
    shutil.copytree(notebooks, repository, ignore=ignored)
    subprocess.run(["git", "init", "-qb", "main"], cwd=repository, check=True)
    commit(repository, "First day")
    return repository


def settings(folder: Path, port: int) -> dict[str, str]:
    """Give the environment that keeps a hub within a folder and a port."""
    own = {
        "POSENC_CLASS": folder / "class/notebooks",
        "POSENC_STATE": folder / "state",
        "POSENC_HOMES": folder / "homes",
        "POSENC_HOST": "127.0.0.1",
        "POSENC_PORT": port,
    }
    return {**os.environ, **{name: str(value) for name, value in own.items()}}


def remove_user(name: str) -> None:
    """Remove a Unix user, what it runs, and its home."""
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        return
    subprocess.run(["pkill", "-KILL", "-u", str(user.pw_uid)])
    subprocess.run(["userdel", "--remove", name], capture_output=True)


@contextmanager
def rehearse(
    learners: int,
    *,
    project: Path = PROJECT,
    notebooks: Path = PROJECT / "notebooks",
    port: int | None = None,
    idle: int = 3600,
) -> Iterator[Hub]:
    """Run a hub for a while, then remove all that it made."""
    port = port or free_port()
    folder = Path(tempfile.mkdtemp(prefix="class-"))
    folder.chmod(0o755)  # learners have to reach their homes in it
    end = secrets.token_hex(2)  # another rehearsal may be under way
    names = [f"guest{n:02}-{end}" for n in range(learners + 1)]
    for part in ("state", "homes"):
        (folder / part).mkdir()
    (folder / "state/names.txt").write_text("\n".join(names))
    make_class(folder, notebooks)
    with (folder / "hub.log").open("w") as log:
        process = subprocess.Popen(
            [project / "workshop/hub/start"],
            env={**settings(folder, port), "POSENC_IDLE": str(idle)},
            stdout=log,
            stderr=log,
        )
    hub = Hub(f"http://127.0.0.1:{port}", folder, names, process)
    try:
        wait_for(lambda: is_up(hub), 60, "the hub")
        yield hub
    finally:
        try:
            if process.poll() is None:
                hub.stop()
        finally:
            for name in names:
                remove_user(name)
            shutil.rmtree(folder)


def is_up(hub: Hub) -> bool:
    """Tell whether the hub runs; if it ended, end with what it said."""
    said = (hub.folder / "hub.log").read_text()
    if hub.process.poll() is not None:
        raise SystemExit(said)
    return "JupyterHub is now running" in said
