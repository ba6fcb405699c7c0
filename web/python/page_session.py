"""Runs the cells of a page, and tells the page what they show."""

import ast
import builtins
import io
import json
import linecache
import os
import re
import sys
import time
import traceback
from collections.abc import Coroutine, Iterator
from inspect import CO_COROUTINE
from types import CodeType

from IPython.display import data_of, show_data, show_open_figures
from page import post  # a function of worker.mjs

import __main__

LONGEST = 200_000  # characters that one cell may print
AT_ONCE = 200  # parts that are sent as they come; then ten a second
FRAMES = 8  # of a traceback; the page counts what is between them
CUT = "\n... (the page does not show the rest)\n"
NO_INPUT = "a page cannot ask for input: write the value into the cell"
NOT_PYTHON = "\nThe line {!r} is for IPython; this page runs plain Python."
LIBRARIES = r"/site-packages/(?!page_session)"


class Stream(io.TextIOBase):
    """Text on its way to the page; a flood of it comes in larger parts."""

    def __init__(self, name: str):
        self.name = name
        self.begin()

    def begin(self):
        """Count from zero, for the next cell."""
        self.waiting, self.length, self.parts, self.last = [], 0, 0, 0.0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes str, not {type(text).__name__}")
        if self.length <= LONGEST:
            self.waiting.append(text)
            if self.parts < AT_ONCE or time.monotonic() > self.last + 0.1:
                self.flush()
        return len(text)

    def flush(self):
        text, self.waiting = "".join(self.waiting), []
        if not text or self.length > LONGEST:
            return
        room = LONGEST - self.length
        self.length += len(text)
        self.parts, self.last = self.parts + 1, time.monotonic()
        post(
            "text", self.name, text if len(text) <= room else text[:room] + CUT
        )


def run_cell(number: int, source: str) -> str | Coroutine:
    """Run a cell in `__main__`.

    Args:
        number: Its number, which tracebacks name.
        source: Its code. A coroutine is returned if it awaits something.

    Returns:
        Nothing if all went well, or JSON: what to say of the error, and the
        line of this cell, or 0.
    """
    name = f"cell {number}"
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = len(source), None, lines, name  # for tracebacks
    sys.stdout.begin()
    sys.stderr.begin()
    try:
        parts = compiled(source, name)
    except Exception as error:
        return report(error, name, ipython_line(source))
    running = run(parts, name)
    if any(part.co_flags & CO_COROUTINE for part in parts):
        return running
    try:
        running.send(None)  # which runs it all, because nothing is awaited
    except StopIteration as end:
        return end.value


def compiled(source: str, name: str) -> list[CodeType]:
    """The statements of a cell, and its last value if it ends with one."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = ast.parse(source, name)
    last = []
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = [ast.Expression(tree.body.pop().value)]
    return [
        compile(part, name, mode, flags, dont_inherit=True)
        for part, mode in [(tree, "exec"), *((part, "eval") for part in last)]
    ]


async def run(parts: list[CodeType], name: str) -> str:
    """Run what `compiled` has made; what `run_cell` returns."""
    try:
        for part in parts:
            value = eval(part, vars(__main__))
            if part.co_flags & CO_COROUTINE:
                value = await value
        if value is not None:
            builtins._ = value
            show_data(data_of(value))
        show_open_figures()
    except BaseException as error:  # also SystemExit and KeyboardInterrupt
        return report(error, name)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return ""


# Errors.


def report(error: BaseException, name: str, hint: str = "") -> str:
    """What to say of an error, and the line of the cell, as JSON."""
    if isinstance(error, SyntaxError) and error.filename == name:
        line = error.lineno
    else:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((f.lineno for f in frames if f.filename == name), 0)
    return json.dumps([short_traceback(error) + hint, line or 0])


def short_traceback(error: BaseException) -> str:
    """A traceback of the cells' own lines, and of where it was raised."""
    chain = [traceback.TracebackException.from_exception(error)]
    while before := chain[0].__cause__ or (
        None if chain[0].__suppress_context__ else chain[0].__context__
    ):
        chain.insert(0, before)
    between = "\nWhile this error was handled, there was another:\n\n"
    return between.join("".join(_lines(each)) for each in chain)


def _lines(error: traceback.TracebackException) -> Iterator[str]:
    frames = [f for f in error.stack if f.filename.startswith("cell ")]
    raised = error.stack[-1:]
    frames += [f for f in raised if re.search(LIBRARIES, f.filename)]
    for place, frame in enumerate(frames):
        if place == FRAMES // 2 and len(frames) > FRAMES:
            yield f"... {len(frames) - FRAMES} more calls ...\n"
        if FRAMES // 2 <= place < len(frames) - FRAMES // 2:
            continue
        where = re.split(LIBRARIES, frame.filename)[-1].capitalize()
        inside = "" if frame.name == "<module>" else f", in {frame.name}"
        yield f"{where}, line {frame.lineno}{inside}\n    {frame.line}\n"
    text = "".join(error.format_exception_only())
    yield re.sub(r'  File "cell (\d+)", line', r"Cell \1, line", text)


def ipython_line(source: str) -> str:
    """What to say of a line that only IPython understands."""
    for line in map(str.strip, source.splitlines()):
        if line.startswith(("%", "!")) or line.endswith("?"):
            return NOT_PYTHON.format(line)
    return ""


def no_input(*_) -> str:
    """Say that a page cannot ask."""
    raise RuntimeError(NO_INPUT)


os.environ["MPLBACKEND"] = "module://page_backend"
builtins.input = no_input
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
