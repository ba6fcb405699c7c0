"""Renew the versions in the head of web/build.py, as of today.

usage: uv run web/renew.py

What the project's lock has too is taken from there, so renew that first.
JupyterLite, its kernel and Pyodide are fixed together and stay: their sums
are in pyodide.json, which says where they are from.
"""

import datetime
import os
import re
import subprocess
from pathlib import Path

WEB = Path(__file__).resolve().parent
BUILD = WEB / "build.py"
TOGETHER = ("jupyterlite", "jupyterlab-widgets")
PIN = re.compile(r'"(?P<name>[\w-]+)==(?P<version>[\w.]+)"')
DATE = re.compile(r'(?<=exclude-newer = ")[^"]+')


def main() -> None:
    """Write newer versions into the head."""
    text = BUILD.read_text("utf-8")
    today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT00:00:00Z}"
    asked = [
        pin[0].strip('"') if pin["name"].startswith(TOGETHER) else pin["name"]
        for pin in PIN.finditer(text)
    ]
    uv = os.environ.get("UV", "uv")
    command = [uv, "pip", "compile", "--quiet", "--no-header", "--universal"]
    command += ["--python-version", "3.11", "--fork-strategy", "fewest"]
    command += ["--constraint", str(WEB.parent / "requirements.txt")]
    done = subprocess.run(
        [*command, "--exclude-newer", today, "-"],
        input="\n".join(asked),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"renew: {done.stderr}")
    versions = dict(re.findall(r"^([\w-]+)==([\w.]+)", done.stdout, re.M))
    text = PIN.sub(lambda p: f'"{p["name"]}=={versions[p["name"]]}"', text)
    BUILD.write_text(DATE.sub(today, text), "utf-8")


if __name__ == "__main__":
    main()
