"""Run by Pyodide: in its archives, compile what the first cells import.

Most of the time until the first output would go into compiling modules. With
bytecode instead, it comes after 7.4 s instead of 15.2 (medians of four, in
Chromium on two busy cores).
"""

import importlib
import importlib._bootstrap_external as importer
import sys
import zipfile
from importlib.util import source_hash
from pathlib import Path

FIRST = (
    "asyncio",
    "matplotlib.backends.backend_agg",
    "matplotlib.pyplot",
    "PIL.PngImagePlugin",
    "posenc.check",
    "posenc.play",
    "pprint",
)
SMALL = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 9}
UNUSED = ("/tests/", "/sample_data/", "/fonts/afm/", "/fonts/pdfcorefonts/")
HOMES = ("/lib/python314.zip/", "/lib/python3.14/site-packages/")
for first in FIRST:
    importlib.import_module(first)
files = [getattr(module, "__file__", None) for module in sys.modules.values()]
used = {
    file.removeprefix(home)
    for file in files
    for home in HOMES
    if file and file.startswith(home) and file.endswith(".py")
}


def compiled(source, name):
    """The bytes of a .pyc file that no source has to stand beside."""
    code = compile(source, name, "exec", dont_inherit=True)
    return importer._code_to_hash_pyc(code, source_hash(source), False)


for archive in Path("/archives").iterdir():
    # The series' own modules keep their source, for the lines of tracebacks.
    if archive.suffix not in {".whl", ".zip"} or "posenc" in archive.name:
        continue
    with zipfile.ZipFile(archive) as opened:
        contents = {name: opened.read(name) for name in opened.namelist()}
    archive.unlink()
    with zipfile.ZipFile(archive, "w", **SMALL) as made:
        for name, data in contents.items():
            if any(part in name for part in UNUSED):
                continue
            if name in used:
                made.writestr(f"{name}c", bytes(compiled(data, name)))
            else:
                made.writestr(name, data)
