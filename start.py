"""Open the notebooks in JupyterLab, and install what that needs.

    python3 start.py         opens notebook 00  (on Windows: py start.py)
    python3 start.py 07      opens another notebook
    python3 start.py check   says which notebooks this computer is ready for
    python3 start.py test    runs all notebooks and all tests but the slow ones

You work in copies of your own, in the folder my_notebooks. Everything that
is installed goes into .uv and .venv beside this file; delete the two to
remove it. Options come last: JupyterLab's, as --no-browser, or pytest's.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
COPIES, VENV, UV = (ROOT / name for name in ("my_notebooks", ".venv", ".uv"))
FITS = (3, 11) <= sys.version_info < (3, 14)  # as pyproject.toml asks
SMALL, KERAS = "import jupyterlab, matplotlib, mpmath, PIL", "import keras"
STOPPED = """start.py: not everything could be installed, for the reason above.
Is there a network, and pip (on Debian and Ubuntu: sudo apt install
python3-pip)? If Python {}.{} does not fit, install 3.13. Then start again."""


def main():
    """Do what the command line asks for; return a status or a message."""
    if {"-h", "--help"} & {*sys.argv}:
        return print(__doc__)
    named = len(sys.argv) > 1 and not sys.argv[1].startswith("--")
    word, *options = sys.argv[1:] if named else ["0", *sys.argv[1:]]
    word = word.zfill(2)
    listed = (ROOT / "notebooks/series.toml").read_text(encoding="utf-8")
    entry = r'(?s)\nfile = "((\d\d)[^"]+)".+?\ntensorflow = (true|false)'
    found = re.findall(entry, listed)
    files = {number: file for file, number, _ in found}
    heavy = [number for _, number, needs in found if needs == "true"]
    if word == "check":
        return check(files, heavy)
    if word == "test":
        return uv("run", "pytest", *options)
    if word not in files:
        return f"start.py: no notebook {word!r}; there are 00 to {max(files)}"
    install(word in heavy)
    return open_notebook(files[word], options)


def check(files, heavy):
    """Say which notebooks this computer is ready for."""
    if not works(SMALL):
        return "Ready for no notebook yet: python3 start.py installs them."
    missing = [] if works(KERAS) else heavy
    print("Ready for", *[number for number in files if number not in missing])
    if missing:
        print(f"python3 start.py {missing[0]} adds TensorFlow and the others.")


def works(code):
    """Whether the Python that was installed here can run this code."""
    python = program("python", VENV)
    return python and not run([python, "-c", code], quiet=True)


def install(with_tensorflow):
    """Install what is missing, and remove nothing that is there."""
    sync = ["sync", "--inexact", "--no-dev", "--no-compile-bytecode"]
    sync += ["--no-install-package=debugpy"]
    sync += ["--group=tensorflow"] * with_tensorflow
    if FITS and not program("python", VENV) and "UV_PYTHON" not in os.environ:
        sync.append(f"--python={sys.executable}")
    if uv(*sync, "--offline", quiet=True) == 0:
        return
    heavy = " and 1.4 GB for TensorFlow" if with_tensorflow else ""
    print(f"Installing 300 MB{heavy} in {VENV}", flush=True)
    if uv(*sync) and not works(KERAS if with_tensorflow else SMALL):
        sys.exit(STOPPED.format(*sys.version_info))


def open_notebook(file, options):
    """Make or renew the copies to work in, and open one of them."""
    python = program("python", VENV)
    if run([python, "-m", "posenc_series.learners", COPIES, "--solutions"]):
        return "start.py: no copies to work in, for the reason above"
    print(f"Opening {file}. Ctrl+C here stops JupyterLab.")
    lab = [python, "-m", "jupyterlab", "-y", f"--notebook-dir={COPIES}"]
    lab += [f"--LabApp.default_url=/lab/tree/{file}", "--allow-root"]
    return run([*lab, "--Application.log_level=ERROR", *options])


def uv(*arguments, quiet=False):
    """Run uv: the one in .uv, or this computer's, or install it in .uv."""
    env = dict(os.environ, UV_PROJECT_ENVIRONMENT=str(VENV))
    if not program("uv", UV):
        knows = ["uv", "sync", "--group=dev", "--help"]  # an old one does not
        if shutil.which("uv") and run(knows, quiet=True) == 0:
            return run(["uv", *arguments], env, quiet)
        print(f"Installing uv, which installs the rest, in {UV}", flush=True)
        pip = ["-m", "pip", "install", "--upgrade", "--no-cache-dir", "uv"]
        if run([sys.executable, *pip, f"--target={UV}"]):
            run([sys.executable, "-m", "venv", UV])  # which brings a pip
            run([program("python", UV) or sys.executable, *pip])
        if not program("uv", UV):
            sys.exit(STOPPED.format(*sys.version_info))
    env["UV_CACHE_DIR"] = str(UV / "cache")
    env["UV_PYTHON_INSTALL_DIR"] = str(UV / "python")
    return run([program("uv", UV), *arguments], env, quiet)


def program(name, folder):
    """The path of a program in an environment, or None."""
    folders = [str(folder / "bin"), str(folder / "Scripts")]
    return shutil.which(name, path=os.pathsep.join(folders))


def run(command, env=None, quiet=False):
    """Run a command to its end, and leave Ctrl+C to it."""
    out = subprocess.DEVNULL if quiet else None
    it = subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=out)
    while True:
        try:
            return it.wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    sys.exit(main())
