"""Run by Pyodide: in its archives, compile what the first cells import.

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

UNUSED = ("/tests/", "/sample_data/", "/fonts/afm/", "/fonts/pdfcorefonts/")
# Lists for `help` what each class can set: a quarter of the imports' time.
UNLISTED = b"def kwdoc(artist):\n", b"def kwdoc(artist):\n    return ''\n"
FIRST = ("html", "numbers", "pprint", "reprlib")  # besides what draws
HOMES = ("/lib/python314.zip/", "/lib/python3.14/site-packages/")


def compiled(source, name):
    """The bytes of a .pyc file that no source has to stand beside."""
    code = compile(source, name, "exec", dont_inherit=True)
    return bytes(importer._code_to_hash_pyc(code, source_hash(source), False))


for first in FIRST:
    import_module(first)
pyplot.figure().savefig(BytesIO())  # which imports what drawing needs
used = {getattr(each, "__file__", None) for each in sys.modules.values()}
for archive in Path("/archives").iterdir():
    if archive.suffix not in {".whl", ".zip"}:
        continue
    with zipfile.ZipFile(archive) as opened:
        contents = {name: opened.read(name) for name in opened.namelist()}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as small:
        for name, data in contents.items():
            if any(part in name for part in UNUSED):
                continue
            if name == "matplotlib/artist.py":
                data = data.replace(*UNLISTED)
            if name.endswith(".py") and used & {home + name for home in HOMES}:
                small.writestr(f"{name}c", compiled(data, name))
            else:
                small.writestr(name, data)
