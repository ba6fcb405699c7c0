"""Fill a folder, such as a USB stick, for computers without a network.

It gets students' notebooks with solutions, the wheels of what the notebooks
without TensorFlow need, and START.txt, which says what to type. What
`web/build.py`, `workshop/slides.py` and `workshop/handouts.py` have made comes
along. The wheels are downloaded, and only for the systems that you name.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from posenc_series.commands import CommandError, parser, run
from posenc_series.learners import write_notebooks
from posenc_series.listing import NOTEBOOKS, ROOT

PYTHON = "{}.{}".format(*sys.version_info)
PROJECT = "positional-encoding-notebooks"
# What uv calls a system, and what pip calls its wheels, of which it takes no
# older ones by itself.
GLIBC = [f"manylinux_2_{minor}_" for minor in (28, 27, 26, 24, 17)]
SYSTEMS = {
    "linux": ("x86_64-manylinux_2_28", [each + "x86_64" for each in GLIBC]),
    "mac": ("aarch64-apple-darwin", ["macosx_14_0_arm64"]),
    "windows": ("x86_64-pc-windows-msvc", ["win_amd64"]),
}
COMES_ALONG = ("site", "slides", "handouts")
START = """\
Needed: Python {python} (python.org). In a terminal, in a copy of this folder:

  python3 -m venv env                (on Windows: py -{python} -m venv env)
  env/bin/python -m pip install --no-index --find-links wheels {project}
  env/bin/python -m jupyterlab notebooks/{first}

On Windows, write env\\Scripts\\python for env/bin/python. Ready without
TensorFlow: {ready}.

The folders site, slides and handouts, if they are here, open by double click.
To run the pages of site, type "python3 -m http.server -d site" and open
http://127.0.0.1:8000.
"""


def download(system: str, folder: Path) -> None:
    """Download the wheels for a system, in the versions of the lock."""
    name, wheels = SYSTEMS[system]
    with tempfile.TemporaryDirectory() as temporary:
        needed = f"{temporary}/needed.txt"
        run_uv(
            *("pip", "compile", "pyproject.toml", "--quiet", "--no-header"),
            *("--constraints=requirements.txt", f"--python-platform={name}"),
            *(f"--python-version={PYTHON}", f"--output-file={needed}"),
        )
        run_uv(
            *("tool", "run", "pip", "download", "--quiet", "--no-deps"),
            *("--only-binary=:all:", f"--python-version={PYTHON}"),
            *(f"--platform={wheel}" for wheel in [*wheels, "any"]),
            *(f"--dest={folder}", f"--requirement={needed}"),
        )


def run_uv(*arguments: str) -> None:
    """Run uv in the project's folder.

    Raises:
        CommandError: If uv fails.
    """
    if subprocess.run(["uv", *arguments], cwd=ROOT).returncode:
        raise CommandError(f"uv {arguments[0]} failed, as it says above")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill the folder that the command line names."""
    command = parser(__doc__)
    command.add_argument("folder", type=Path, help="where to write")
    command.add_argument(
        "--systems",
        nargs="+",
        choices=SYSTEMS,
        default=[],
        help="the systems whose wheels come along (default: none)",
    )
    args = command.parse_args(arguments)
    paths = [each.path for each in NOTEBOOKS]
    write_notebooks(paths, args.folder / "notebooks", with_solutions=True)
    for name in COMES_ALONG:
        if (ROOT / name).is_dir():
            to = args.folder / name
            shutil.copytree(ROOT / name, to, dirs_exist_ok=True)
    wheels = args.folder.resolve() / "wheels"
    if args.systems:
        run_uv("build", "--quiet", "--wheel", f"--out-dir={wheels}")
    for system in args.systems:
        download(system, wheels)
    text = START.format(
        python=PYTHON,
        project=PROJECT,
        first=NOTEBOOKS[0].file,
        ready=" ".join(n.number for n in NOTEBOOKS if not n.tensorflow),
    )
    (args.folder / "START.txt").write_text(text, encoding="utf-8")
    files = [file for file in args.folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"{args.folder}: {len(files)} files, {size:.0f} MB")


if __name__ == "__main__":
    run(main)
