"""Review a table of sinusoids, or with --rotary a rotary function.

Exit codes: 0 if nothing is found, 1 if something is, 2 for a usage error. In
a test: assert review(my_encoder, 64).findings == {}, or
assert review_rotary(my_function, 64).findings == {}.
"""

import argparse
import json
import sys
from contextlib import redirect_stdout
from pkgutil import resolve_name
from types import ModuleType

from . import CONVENTIONS, Review, review, review_rotary
from .config import read_config
from .pairs import LAYOUTS
from .report import choices
from .rotary import POSITIONS, WIDTH
from .rotary import TOLERANCE as ROTARY_TOLERANCE
from .tables import LONGEST, SHORT, TOLERANCE

TABLES_ONLY = ("convention", "start")
ROTARY_ONLY = ("layout", "config", "layers")
MUCH = 2**25  # numbers of a table, or of all positions of a rotary function


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
        help="the target is rotate(x, positions), not encoder(seq_len,"
        " d_model)",
    )
    add("--width", type=int, help="columns (64, or those of --config)")
    add(
        "--base",
        type=float,
        help="hold it to this base, such as 500000. A table is held to 10000"
        " by default; a rotary function's base is only reported, unless you"
        " give one",
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
    add("--layout", help=f"of a rotary function: {choices(LAYOUTS)}")
    add("--config", help="of a rotary function: a Hugging Face config.json")
    add("--layers", help="which layers of --config, where sets differ")
    return made


def find(target: str) -> object:
    """Return the function that the command line names."""
    try:
        found = resolve_name(target)
    except ModuleNotFoundError as error:
        module = target.partition(":")[0]
        if error.name and not f"{module}.".startswith(f"{error.name}."):
            raise  # what the module itself imports is missing
        hint = "; modules are looked for in this folder and on PYTHONPATH"
        if ".py:" in target:
            hint = "; leave out .py"
        raise ModuleNotFoundError(f"{error}{hint}") from None
    if isinstance(found, ModuleType):
        raise TypeError(f"{target} is a module: give package.module:function")
    if not callable(found):
        raise TypeError(f"{target} is no function")
    return found


def as_typed(error: Exception) -> str:
    """Return an error's words, with the option that was typed."""
    name, equals, rest = str(error).partition("=")
    if not equals or not name.isidentifier():
        return str(error)
    options = {"d_model": "width"}
    option = options.get(name, name).replace("_", "-")
    return f"--{option} {rest}"


def warn(rotary: bool, given: dict) -> None:
    """Say beforehand what takes much memory, or minutes."""
    width, length = WIDTH, POSITIONS if rotary else LONGEST
    if "config" in given:
        config = read_config(
            given["config"], given.get("layers", ""), given.get("width")
        )
        width, length = config.width, config.max_len or length
    width = given.get("width", width)
    length = given.get("max_len", length)
    if width * length <= MUCH:
        return
    what = "positions" if rotary else "rows"
    print(
        f"{length} {what} of {width} columns: this may take a minute or more,"
        " and 1.4 GB of memory; --max-len looks at fewer.",
        file=sys.stderr,
    )


def run(function: object, rotary: bool, given: dict) -> Review:
    """Review a function with the settings that were typed."""
    width = given.pop("width", None)
    if rotary:
        return review_rotary(function, width, **given)
    return review(function, WIDTH if width is None else width, **given)


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
            warn(rotary, given)
            found = run(function, rotary, given)
        except (OSError, TypeError, ValueError) as error:  # of the settings
            parser().exit(2, f"error: {as_typed(error)}\n")
    if as_json:
        print(json.dumps(found.as_dict(), indent=2))
    else:
        print(found)
    return found.as_dict()["exit_code"]


if __name__ == "__main__":
    raise SystemExit(main())
