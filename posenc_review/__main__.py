"""Review a table of sinusoids, or a rotary function with --rotary.

It exits with 0 if nothing is found, with 1 if something is, and with 2 if it
cannot begin. In a test: assert review(my_encoder, 64).findings == {}, or
assert review_rotary(my_function, 64).findings == {}.
"""

import argparse
import json
import sys
from contextlib import redirect_stdout
from pkgutil import resolve_name
from types import ModuleType

from . import CONVENTIONS, review, review_rotary
from .asked import LAYOUTS
from .report import choices
from .rotary import POSITIONS
from .rotary import TOLERANCE as ROTARY_TOLERANCE
from .tables import LONGEST, SHORT, TOLERANCE

TABLES_ONLY = ("convention", "start")
ROTARY_ONLY = ("layout", "config", "layers")


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser(
        "python -m posenc_review", description=__doc__
    )
    add = made.add_argument
    add("target", help="what to review: package.module:function")
    add(
        "--rotary",
        action="store_true",
        help="it is rotate(x, positions), not encoder(seq_len, d_model)",
    )
    add("--width", type=int, help="columns (64, or those of --config)")
    add(
        "--base",
        type=float,
        help="hold it to this base, such as 500000; a table is held to 10000,"
        " and of a rotary function any base is told and right",
    )
    add(
        "--max-len",
        type=int,
        help=f"rows of a table, {SHORT} or more ({LONGEST}; memory grows with"
        " them: 1.4 GB at width 1024), or positions of a rotary function"
        f" ({POSITIONS}, or those of --config)",
    )
    add(
        "--tolerance",
        type=float,
        help=f"how far an entry may be off ({TOLERANCE:g} in a table;"
        f" {ROTARY_TOLERANCE:g} for a rotary function, beside what float32"
        " loses)",
    )
    add("--json", action="store_true", help="print one JSON object")
    add("--convention", help=f"of a table: {choices(CONVENTIONS)}")
    add("--start", type=int, help="of a table: the position of its row 0 (0)")
    add(
        "--layout",
        help=f"of a rotary function: {choices(LAYOUTS)}",
    )
    add("--config", help="of a rotary function: a Hugging Face config.json")
    add("--layers", help="whose settings in --config, where there are several")
    return made


def find(target: str) -> object:
    """Return the function that the command line names."""
    try:
        found = resolve_name(target)
    except ModuleNotFoundError as error:
        module = target.partition(":")[0]
        if error.name and not f"{module}.".startswith(f"{error.name}."):
            raise  # what the module itself imports is missing
        hint = "; it is looked for in this folder and on PYTHONPATH"
        if ".py:" in target:
            hint = "; leave out .py"
        raise ModuleNotFoundError(f"{error}{hint}") from None
    if isinstance(found, ModuleType):
        raise TypeError(f"{target} is a module: give package.module:function")
    if not callable(found):
        raise TypeError(f"{target} is no function")
    return found


def main() -> int:
    """Review what the command line names, and say what was found."""
    given = {
        name: value
        for name, value in vars(parser().parse_args()).items()
        if value is not None
    }
    as_json, rotary = given.pop("json"), given.pop("rotary")
    for name in TABLES_ONLY if rotary else ROTARY_ONLY:
        if name in given:
            kind = "a table" if rotary else "--rotary"
            parser().exit(2, f"error: --{name} is for {kind}\n")
    with redirect_stdout(sys.stderr):  # what the function itself prints
        try:
            function = find(given.pop("target"))
        except (Exception, SystemExit) as error:  # whatever its module raises
            parser().exit(2, f"error: {error}\n")
        try:
            if rotary:
                found = review_rotary(
                    function, given.pop("width", None), **given
                )
            else:
                found = review(function, given.pop("width", 64), **given)
        except (OSError, TypeError, ValueError) as error:  # of the settings
            parser().exit(2, f"error: {error}\n")
    if as_json:
        print(json.dumps(found.as_dict(), indent=2))
    else:
        print(found)
    return found.as_dict()["exit_code"]


if __name__ == "__main__":
    raise SystemExit(main())
