"""The command: review a function that is given as package.module:function.

The exit code is 0 if nothing is found, 1 if something is, and 2 for a usage
error or a function of a kind that is not reviewed.
"""

import argparse
import os
import sys
from pkgutil import resolve_name

from . import CONVENTIONS, LAYOUTS, review, review_rotary
from .formula import DTYPES

OPTIONS = {  # name: type, what it says
    "width": (int, "how many columns; by default 64"),
    "base": (float, "hold it to this base"),
    "max-len": (int, "how many positions or rows to look at"),
    "tolerance": (float, "how far a number may be off"),
    "layout": (str, f"rotary: hold it to one of: {'; '.join(LAYOUTS)}"),
    "config": (str, "rotary: hold it to a Hugging Face model's config.json"),
    "layers": (str, "rotary: whose settings, where a config has several sets"),
    "dtype": (str, f"rotary: the shortest format of: {', '.join(DTYPES)}"),
    "convention": (str, f"table: hold it to one of: {'; '.join(CONVENTIONS)}"),
    "start": (int, "table: the position of its first row"),
}


def main() -> int:
    """Run the command and return its exit code."""
    command = argparse.ArgumentParser("posenc-review", description=__doc__)
    command.add_argument("target", help="package.module:function")
    words = "the function is rotate(x, positions), not encoder(rows, width)"
    command.add_argument("--rotary", action="store_true", help=words)
    for name, (kind, words) in OPTIONS.items():
        command.add_argument(f"--{name}", type=kind, help=words)
    given = vars(command.parse_args())
    target, rotary = given.pop("target"), given.pop("rotary")
    given = {name: value for name, value in given.items() if value is not None}
    if "width" in given and not rotary:
        given["d_model"] = given.pop("width")
    sys.path.insert(0, os.getcwd())
    if ":" not in target:
        command.error(f"{target}: give package.module:function")
    try:
        function = resolve_name(target)
    except Exception as error:  # whatever the module raises
        command.error(f"{target}: {type(error).__name__}: {error}")
    try:
        found = (review_rotary if rotary else review)(function, **given)
    except (OSError, TypeError, ValueError) as error:
        command.error(str(error))  # exits with 2
    try:
        print(found, flush=True)
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(bool(found.findings))


if __name__ == "__main__":
    sys.exit(main())
