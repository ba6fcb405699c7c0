"""The command: python -m posenc_review."""

import argparse
from pkgutil import resolve_name

from .tables import *
from .tables import LONGEST, SHORT


def main() -> int:
    """Review the encoder that the command line names."""
    parser = argparse.ArgumentParser("python -m posenc_review", None, __doc__)
    parser.add_argument("target", help="the encoder: package.module:function")
    for option, kind, default, words in (
        ("--width", int, 64, "columns of its table (64)"),
        ("--max-len", int, LONGEST, f"its rows: {SHORT} or more ({LONGEST})"),
        ("--convention", str, "", f"one of {CONVENTIONS} (the one that fits)"),
        ("--tolerance", float, 1e-6, "how far an entry may be off (1e-06)"),
    ):
        parser.add_argument(option, type=kind, default=default, help=words)
    given = vars(parser.parse_args())
    try:
        encoder = resolve_name(target := given.pop("target"))
        if not callable(encoder):
            raise TypeError(f"{target} is of {type(encoder)}, no function")
        print(found := review(encoder, given.pop("width"), **given))
    except Exception as error:
        parser.exit(2, f"error: {error}\n")
    return int(found.findings != {})


if __name__ == "__main__":
    raise SystemExit(main())
