"""Pyodide, the Python that runs in browsers, and what goes with it.

Everything is pinned by the checksums in pyodide.json, wherever it is from.
"""

import hashlib
import io
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

from copies import MODULES, sources_of
from pages import WEB
from posenc_series.commands import CommandError

PINS = json.loads((WEB / "pyodide.json").read_text("utf-8"))
FILES = PINS["core"] | PINS["wheels"]
# Where the files are from: Pyodide's own release; or, where a network reaches
# Python's registry only, a package that carries the same files.
RELEASE = f"https://cdn.jsdelivr.net/pyodide/v{PINS['pyodide']}/full/"
CARRIER = "open-webui==0.12.4"
CARRIED = "open_webui/frontend/pyodide/"
PYTHON = WEB / "python"  # what runs the cells, and stands in for IPython
UNUSED = ("/tests/", "/sample_data/", "/fonts/afm/", "/fonts/pdfcorefonts/")
EPOCH = (1980, 1, 1, 0, 0, 0)  # so that equal files give equal archives


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


# The folder of the site.


def write_folder(kept: Path, folder: Path) -> None:
    """Write what the pages load to run: Pyodide, packages and their list.

    Args:
        kept: What `fetch` has filled.
        folder: Where to write it.
    """
    folder.mkdir(parents=True)
    packages = {}
    for name in PINS["core"]:
        shutil.copy(kept / name, folder)
    for name in PINS["wheels"]:
        data = _without_unused((kept / name).read_bytes())
        distribution, version = name.split("-")[:2]
        _add(packages, distribution, version, name, data, folder)
    files = {module: sources_of(module) for module in MODULES}
    files["page_session"] = {
        path: path.relative_to(PYTHON) for path in PYTHON.rglob("*.py")
    }
    for module, places in files.items():
        data = _archive(
            {place.as_posix(): path.read_bytes() for path, place in places.items()}
        )
        # Its name changes with it: no browser then has an older one.
        name = f"{module}-{sha256(data)[:12]}.zip"
        _add(packages, module, "0", name, data, folder)
    lock = {"info": PINS["info"], "packages": packages}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")


def _add(
    packages: dict[str, dict],
    name: str,
    version: str,
    file: str,
    data: bytes,
    folder: Path,
) -> None:
    """Write a package, and add it to those of Pyodide's lock."""
    (folder / file).write_bytes(data)
    name = name.replace("_", "-")
    packages[name] = {
        "name": name,
        "version": version,
        "file_name": file,
        "sha256": sha256(data),
        "install_dir": "site",
        "package_type": "package",
        "imports": _imports(data),
        "depends": [],
        "unvendored_tests": False,
    }


def _imports(archive: bytes) -> list[str]:
    """The modules that one can import from an archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        names = [name for name in opened.namelist() if name.endswith(".py")]
    modules = {name.removesuffix(".py").partition("/")[0] for name in names}
    return sorted(module for module in modules if "." not in module)


def _without_unused(wheel: bytes) -> bytes:
    """A wheel without tests, sample data and fonts for other formats."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as opened:
        return _archive(
            {
                name: opened.read(name)
                for name in opened.namelist()
                if not any(part in name for part in UNUSED)
            }
        )


def _archive(files: dict[str, bytes]) -> bytes:
    """A zip archive of files by their names."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data, compresslevel=9)
    return made.getvalue()
