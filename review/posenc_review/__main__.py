"""Review a table of sinusoids, or with --rotary a rotary function.

Exit codes: 0 if nothing is found, 1 if something is, 2 for a usage error. In
a test: assert review(my_encoder, 64).findings == {}, or
assert review_rotary(my_function, 64).findings == {}.
"""

import argparse
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pkgutil import resolve_name
from types import ModuleType

from . import CONVENTIONS, Review, review, review_rotary
from .pairs import LAYOUTS
from .rotary import POSITIONS
from .rotary import TOLERANCE as ROTARY_TOLERANCE
from .settings import describe_error
from .tables import LONGEST, SHORT, TOLERANCE

OPTIONS = {  # their types, and what they do
    "--width": (int, "columns (64, or those of --config)"),
    "--base": (
        float,
        "hold it to this base, such as 500000. A table is held to 10000 by"
        " default; a rotary function's base is only reported, unless you give"
        " one",
    ),
    "--max-len": (
        int,
        f"rows of a table, {SHORT} or more ({LONGEST}; memory grows with them:"
        " 1.4 GB at width 1024), or positions of a rotary function"
        f" ({POSITIONS}, or those of --config)",
    ),
    "--tolerance": (
        float,
        f"how far an entry may be off ({TOLERANCE:g} in a table;"
        f" {ROTARY_TOLERANCE:g} for a rotary function, beside what float32"
        " loses)",
    ),
    "--convention": (str, f"of a table: {'; '.join(CONVENTIONS)}"),
    "--start": (int, "of a table: the position of its row 0 (0)"),
    "--layout": (str, f"of a rotary function: {'; '.join(LAYOUTS)}"),
    "--config": (str, "of a rotary function: a Hugging Face config.json"),
    "--layers": (str, "which layers of --config, where sets differ"),
}
TABLES_ONLY = ("convention", "start")
ROTARY_ONLY = ("layout", "config", "layers")


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser(
        "python -m posenc_review", description=__doc__
    )
    made.add_argument("target", help="what to review: package.module:function")
    made.add_argument(
        "--rotary",
        action="store_true",
        help="the target is rotate(x, positions), not encoder(seq_len,"
        " d_model)",
    )
    made.add_argument(
        "--json", action="store_true", help="print one JSON object"
    )
    for option, (kind, words) in OPTIONS.items():
        made.add_argument(option, type=kind, help=words)
    return made


def find(target: str) -> Callable:
    """Return the function that the command line names."""
    module = target.partition(":")[0]
    try:
        found = resolve_name(target)
    except ModuleNotFoundError as error:
        hint = "; modules are looked for in this folder and on PYTHONPATH"
        if ".py:" in target:
            hint = "; leave out .py"
        elif not f"{module}.".startswith(f"{error.name}."):
            hint = ""  # what the module itself imports is missing
        raise ValueError(f"{error}{hint}") from None
    except (Exception, SystemExit) as error:  # whatever the module raises
        raise ValueError(describe_error(error)) from None
    if isinstance(found, ModuleType):
        raise ValueError(f"{target} is a module: give package.module:function")
    if not callable(found):
        raise ValueError(f"{target} is no function")
    return found


def run(given: dict) -> Review:
    """Review the target with the options that are given."""
    rotary = given.pop("rotary")
    for name in TABLES_ONLY if rotary else ROTARY_ONLY:
        if name in given:
            kind = "a table" if rotary else "--rotary"
            raise ValueError(f"--{name} is for {kind}")
    function = find(given.pop("target"))
    width = [given.pop("width")] if "width" in given else []
    return (review_rotary if rotary else review)(function, *width, **given)


def as_typed(error: Exception) -> str:
    """Return an error's words, with the option that was typed."""
    name, equals, rest = str(error).partition("=")
    if not equals or not name.isidentifier():
        return str(error)
    option = name.replace("d_model", "width").replace("_", "-")
    return f"--{option} {rest}"


def main() -> int:
    """Review what the command line names, and say what was found."""
    reads = parser()
    typed = vars(reads.parse_args())
    given = {name: typed[name] for name in typed if typed[name] is not None}
    as_json = given.pop("json")
    try:
        with redirect_stdout(sys.stderr):  # what the function itself prints
            found = run(given)
    except (OSError, TypeError, ValueError) as error:
        reads.exit(2, f"error: {as_typed(error)}\n")
    print(json.dumps(found.as_dict(), indent=2) if as_json else found)
    return found.as_dict()["exit_code"]


if __name__ == "__main__":
    raise SystemExit(main())
