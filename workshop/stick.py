"""Fill a folder, such as a USB stick, for computers without a network.

It gets students' notebooks with solutions, the wheels of what the notebooks
without TensorFlow need, and START.txt, which says what to type. What
`web/build.py`, `workshop/slides.py` and `workshop/handouts.py` have made comes
along. The wheels are downloaded, and only for the systems that you name.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from posenc_series.commands import CommandError, parser, run
from posenc_series.learners import write_notebooks
from posenc_series.listing import NOTEBOOKS, ROOT

PROJECT = "positional-encoding-notebooks"
# pip takes wheels of these tags alone, and no older ones.
MANY = [f"manylinux_2_{minor}_" for minor in (28, 27, 26, 24, 17)]
SAYS = ("sys_platform", "platform_system", "os_name", "platform_machine")
LINUX = ("linux", "Linux", "posix")
MAC = ("darwin", "Darwin", "posix")
# What Python says of a system, and the tags of the wheels that it takes.
SYSTEMS = {
    "linux": (*LINUX, "x86_64", [each + "x86_64" for each in MANY]),
    "linux-arm": (*LINUX, "aarch64", [each + "aarch64" for each in MANY]),
    "mac": (*MAC, "x86_64", ["macosx_12_0_x86_64"]),
    "mac-arm": (*MAC, "arm64", ["macosx_14_0_arm64"]),
    "windows": ("win32", "Windows", "nt", "AMD64", ["win_amd64"]),
}
MADE = ("site", "slides", "handouts")
START = """\
Needed: Python {python} (python.org). In a terminal, in a copy of this folder:

  python3 -m venv env                (on Windows: py -{python} -m venv env)
  env/bin/python -m pip install --no-index --find-links wheels {project}
  env/bin/python -m jupyterlab notebooks/{first}

On Windows, write env\\Scripts\\python for env/bin/python. Ready without
TensorFlow: {ready}. The folders site, slides and handouts, if they are here,
open by double click; to run the pages of site, type
"python3 -m http.server -d site" and open http://127.0.0.1:8000.
"""


def download(systems: Sequence[str], python: str, folder: Path) -> None:
    """Download the wheels of some systems, in the versions of the lock.

    Raises:
        CommandError: If one of them cannot be had; the reason is printed.
    """
    run_uv("build", "--quiet", "--wheel", f"--out-dir={folder}", str(ROOT))
    with tempfile.TemporaryDirectory() as temporary:
        wanted = Path(temporary) / "wanted.txt"
        export = ["--no-dev", "--no-hashes", "--no-emit-project", "--quiet"]
        run_uv("export", *export, f"--output-file={wanted}")
        lines = wanted.read_text(encoding="utf-8").splitlines()
        listed = [Requirement(line) for line in lines if line[0] not in "# "]
        for system in systems:
            *says, tags = SYSTEMS[system]
            about = dict(zip(SAYS, says, strict=True), python_version=python)
            about["python_full_version"] = f"{python}.0"
            fits = [
                f"{each.name}{each.specifier}\n"
                for each in listed
                if not each.marker or each.marker.evaluate(about)
            ]
            wanted.write_text("".join(fits), encoding="utf-8")
            pip = ["tool", "run", "pip", "download", "--quiet", "--no-deps"]
            pip += ["--only-binary=:all:", f"--python-version={python}"]
            pip += [f"--platform={tag}" for tag in (*tags, "any")]
            run_uv(*pip, f"--dest={folder}", f"--requirement={wanted}")


def run_uv(*arguments: str) -> None:
    """Run uv in the project's folder.

    Raises:
        CommandError: If uv fails.
    """
    if subprocess.run(["uv", *arguments], cwd=ROOT).returncode:
        raise CommandError(f"uv {arguments[0]} failed, as it says above")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill the folder that the command line names."""
    here = "{}.{}".format(*sys.version_info)
    command = parser(__doc__)
    command.add_argument("folder", type=Path, help="where to write")
    command.add_argument(
        "--systems",
        nargs="+",
        choices=SYSTEMS,
        default=[],
        help="the systems whose wheels come along (default: none)",
    )
    command.add_argument(
        "--python",
        default=here,
        help=f"the version of Python on these computers (default: {here})",
    )
    args: argparse.Namespace = command.parse_args(arguments)
    write_notebooks(
        [each.path for each in NOTEBOOKS], args.folder / "notebooks", True
    )
    for name in MADE:
        if (ROOT / name).is_dir():
            to = args.folder / name
            shutil.copytree(ROOT / name, to, dirs_exist_ok=True)
    if args.systems:
        download(args.systems, args.python, args.folder / "wheels")
    light = [each for each in NOTEBOOKS if not each.tensorflow]
    text = START.format(
        python=args.python,
        project=PROJECT,
        first=NOTEBOOKS[0].file,
        ready=" ".join(each.number for each in light),
    )
    (args.folder / "START.txt").write_text(text, encoding="utf-8")
    files = [file for file in args.folder.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"{args.folder}: {len(files)} files, {size:.0f} MB")


if __name__ == "__main__":
    run(main)
