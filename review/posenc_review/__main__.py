"""The command: review a function that is given as package.module:function.

The exit code is 0 if nothing is found, 1 if something is, and 2 for a usage
error or a function of a kind that is not reviewed.
"""

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module

from . import CONVENTIONS, LAYOUTS, review, review_rotary
from .formula import DTYPES

# Options of one kind of function alone: name, type, what it says.
FOR_ROTARY = {
    "layout": (str, f"hold it to one of: {'; '.join(LAYOUTS)}"),
    "config": (str, "hold it to a Hugging Face model's config.json"),
    "layers": (str, "whose settings, where a config has several sets"),
    "dtype": (str, f"what results should be at least: {', '.join(DTYPES)}"),
}
FOR_TABLES = {
    "convention": (str, f"hold it to one of: {'; '.join(CONVENTIONS)}"),
    "start": (int, "the position of the table's first row"),
}
FOR_BOTH = {
    "base": (float, "hold it to this base"),
    "max_len": (int, "how many positions or rows to look at"),
    "tolerance": (float, "how far a number may be off"),
}


def option(name: str) -> str:
    """Return how an argument is typed."""
    return "--" + name.replace("_", "-")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command = argparse.ArgumentParser("posenc-review", description=__doc__)
    command.add_argument("target", help="package.module:function")
    command.add_argument("--width", type=int, help="columns; by default 64")
    words = "the function is rotate(x, positions), not encoder(rows, width)"
    command.add_argument("--rotary", action="store_true", help=words)
    for name, (kind, words) in (FOR_BOTH | FOR_ROTARY | FOR_TABLES).items():
        command.add_argument(option(name), type=kind, help=words)
    return command


def function_of(target: str) -> Callable:
    """Import the function that is named, or raise an error that says why."""
    sys.path.insert(0, os.getcwd())
    module, _, name = target.partition(":")
    if not name:
        raise ValueError(f"{target}: give package.module:function")
    function = import_module(module)
    for part in name.split("."):
        function = getattr(function, part)
    if not callable(function):
        raise ValueError(f"{target} is no function")
    return function


def main() -> int:
    """Run the command and return its exit code."""
    command = parser()
    given = vars(command.parse_args())
    target, rotary = given.pop("target"), given.pop("rotary")
    given = {name: value for name, value in given.items() if value is not None}
    for name in FOR_TABLES if rotary else FOR_ROTARY:
        if name in given:
            kind = "a table" if rotary else "--rotary"
            command.error(f"{option(name)} is for {kind}")
    if "width" in given and not rotary:
        given["d_model"] = given.pop("width")
    try:
        function = function_of(target)
        found = (review_rotary if rotary else review)(function, **given)
    except (ImportError, AttributeError, OSError, TypeError, ValueError) as e:
        command.error(str(e))  # exits with 2
    try:
        print(found, flush=True)
    except BrokenPipeError:  # the reader has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(bool(found.findings))


if __name__ == "__main__":
    sys.exit(main())
