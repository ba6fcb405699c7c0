"""What the commands of tools, workshop and web have in common."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


class CommandError(Exception):
    """What is wrong, in words for whoever ran the command."""


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser whose `--help` begins with a module's docstring, as it is."""
    return argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run(main: Callable[[], None]) -> None:
    """Run a command; an error that one can expect is a sentence."""
    try:
        main()
    except (CommandError, OSError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: error: {error}")
