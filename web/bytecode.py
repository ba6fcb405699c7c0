"""Run by Pyodide: in its files, compile what the first cells import.

Most of the time until the first output would go into compiling modules.
"""

import importlib._bootstrap_external as importer
import sys
import zipfile
from importlib import import_module
from importlib.util import source_hash
from io import BytesIO
from pathlib import Path

from matplotlib import pyplot

# Lists for `help` what each class can set: a quarter of the imports' time.
UNLISTED = b"def kwdoc(artist):\n", b"def kwdoc(artist):\n    return ''\n"
FIRST = ("html", "numbers", "pprint", "reprlib")  # besides what draws
STDLIB = "/lib/python314.zip/"
PACKAGES = "/lib/python3.14/site-packages/"


def compiled(source, name):
    """The bytes of a .pyc file that no source has to stand beside."""
    code = compile(source, name, "exec", dont_inherit=True)
    return bytes(importer._code_to_hash_pyc(code, source_hash(source), False))


for first in FIRST:
    import_module(first)
pyplot.figure().savefig(BytesIO())  # which imports what drawing needs
files = [getattr(each, "__file__", None) for each in sys.modules.values()]
used = {file for file in files if file and file.endswith(".py")}

for file in used:
    if file.startswith(PACKAGES):
        source = Path(file).read_bytes()
        if file.endswith("/matplotlib/artist.py"):
            source = source.replace(*UNLISTED)
        Path(f"{file}c").write_bytes(compiled(source, file))
        Path(file).unlink()

archive = Path("/pyodide/python_stdlib.zip")
with zipfile.ZipFile(archive) as opened:
    contents = {name: opened.read(name) for name in opened.namelist()}
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as small:
    for name, data in contents.items():
        if f"{STDLIB}{name}" in used:
            small.writestr(f"{name}c", compiled(data, name))
        else:
            small.writestr(name, data)
