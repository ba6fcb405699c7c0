"""Renew the versions of the project, and of the web edition.

Without options or names, the command only adds what is new in pyproject.toml
and requirements.in. It writes requirements.txt, and then the versions in the
head of web/build.py. It leaves JupyterLite, its kernel and Pyodide as they
are, because their versions belong together (web/pyodide.json).
"""

import datetime
import os
import re
import subprocess
from collections.abc import Sequence

from posenc_series import commands
from posenc_series.listing import ROOT

LOCK, BUILD = "requirements.txt", ROOT / "web/build.py"
TOGETHER = ("jupyterlite",)
PIN = re.compile(r'"(?P<name>[\w-]+)==(?P<version>[\w.]+)"')
LOCKED = re.compile(r"^([\w-]+)==([\w.]+)", re.M)
DATE = re.compile(r'(?<=exclude-newer = ")[^"]+')


def compiled(*arguments: str, given: str | None = None) -> str:
    """Ask uv for versions that fit together; return what it prints."""
    command = [os.environ.get("UV", "uv"), "pip", "compile", "--quiet"]
    command += ["--no-header", "--universal", "--python-version", "3.11"]
    done = subprocess.run(
        [*command, *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    if done.returncode:
        raise commands.CommandError(done.stderr)
    return done.stdout


def renew_lock(everything: bool, packages: Sequence[str]) -> None:
    """Write requirements.txt."""
    chosen = ["--upgrade"] if everything else []
    for package in packages:
        chosen += ["--upgrade-package", package]
    chosen += ["--group", "tensorflow"]
    compiled(*chosen, "pyproject.toml", "requirements.in", "-o", LOCK)


def renew_web(everything: bool, packages: Sequence[str]) -> None:
    """Write the head of web/build.py.

    Packages of the lock get the version that they have there. Others keep
    theirs unless they are to be renewed. JupyterLite is never renewed here.
    """
    text = BUILD.read_text("utf-8")
    locked = dict(LOCKED.findall((ROOT / LOCK).read_text("utf-8")))
    asked = []
    for name, version in PIN.findall(text):
        is_free = everything or name in packages or name in locked
        if is_free and not name.startswith(TOGETHER):
            asked.append(name)
        else:
            asked.append(f"{name}=={version}")
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT00:00:00Z}"
    limits = ["--constraint", LOCK, "--exclude-newer", today]
    limits += ["--fork-strategy", "fewest"]
    answer = compiled(*limits, "-", given="\n".join(asked))
    versions = dict(LOCKED.findall(answer))

    def new_pin(pin: re.Match) -> str:
        return f'"{pin["name"]}=={versions[pin["name"]]}"'

    renewed = PIN.sub(new_pin, text)
    if everything or renewed != text:
        renewed = DATE.sub(today, renewed)
    BUILD.write_text(renewed, "utf-8")


def main() -> None:
    """Renew what the command line names."""
    parser = commands.parser(__doc__)
    parser.add_argument(
        "packages",
        nargs="*",
        metavar="PACKAGE",
        help="renew only these packages",
    )
    parser.add_argument(
        "--all", action="store_true", help="renew all packages"
    )
    given = parser.parse_args()
    if given.all and given.packages:
        parser.error("give --all or packages, not both")
    known = dict(LOCKED.findall((ROOT / LOCK).read_text("utf-8")))
    known |= dict(PIN.findall(BUILD.read_text("utf-8")))
    for package in given.packages:
        if package not in known:
            parser.error(f"{package} is neither in {LOCK} nor in {BUILD.name}")
    renew_lock(given.all, given.packages)
    renew_web(given.all, given.packages)


if __name__ == "__main__":
    commands.run(main)
