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

from IPython.display import LONGEST, cut, display, show_open_figures
from page import post  # a function of worker.mjs

import __main__

AT_ONCE = 200  # parts that are sent as they come; then ten a second
DEEPEST = 200  # calls of a traceback that are looked at, of a million
NO_INPUT = "a page cannot ask for input: write the value into the cell"
NOT_PYTHON = "The line {!r} is for IPython; this page runs plain Python."
HOMES = r"/lib/python[^/]+/(?:site-packages/)?"  # of libraries


class Stream(io.TextIOBase):
    """Text on its way to the page; a flood of it comes in larger parts."""

    def __init__(self, name: str):
        self.name = name
        self.begin()

    def begin(self):
        """Count from zero, for the next cell."""
        self.waiting, self.length, self.parts, self.last = [], 0, 0, 0.0

    def write(self, text: str) -> int:
        if self.length <= LONGEST:
            self.waiting.append(text)
            if self.parts < AT_ONCE or time.monotonic() > self.last + 0.1:
                self.flush()
        return len(text)

    def flush(self):
        text, self.waiting = "".join(self.waiting), []
        room = LONGEST - self.length
        if not text or room < 0:
            return
        self.length += len(text)
        self.parts, self.last = self.parts + 1, time.monotonic()
        post("text", self.name, cut(text, room))


def run_cell(number: int, source: str) -> str:
    """Run a cell in `__main__`.

    Args:
        number: Its number, which tracebacks name.
        source: Its code.

    Returns:
        Nothing if all went well, or JSON: what to say of the error, and the
        line of this cell, or 0.
    """
    name = f"Cell {number}"
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = len(source), None, lines, name  # for tracebacks
    sys.stdout.begin()
    sys.stderr.begin()
    try:
        run(source, name)
    except BaseException as error:  # also SystemExit and KeyboardInterrupt
        return json.dumps([text_of(error, source), line_of(error, name)])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return ""


def run(source: str, name: str) -> None:
    """Run the statements of a cell, and display the value of the last one."""
    tree = ast.parse(source, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, name, "exec"), vars(__main__))
    if last:
        value = eval(compile(last, name, "eval"), vars(__main__))
        if value is not None:
            builtins._ = value
            display(value)
    show_open_figures()


def line_of(error: BaseException, name: str) -> int:
    """The line of a cell in which an error has its cause, or 0."""
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno or 0
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == name:
            return line
    return 0


def text_of(error: BaseException, source: str) -> str:
    """A traceback of the cells' own lines, and of where it was raised."""
    whole = traceback.TracebackException.from_exception(error, limit=-DEEPEST)
    one = whole
    while one:
        raised = one.stack[-1:]
        own = [f for f in one.stack if f.filename.startswith("Cell ")]
        own += [f for f in raised if re.match(HOMES, f.filename)]
        one.stack = traceback.StackSummary.from_list(own) if own else None
        one = one.__cause__ or one.__context__
    text = "".join(whole.format())
    text = re.sub(rf'  File "(?:{HOMES})?([^"]+)", line', r"\1, line", text)
    if isinstance(error, SyntaxError):
        for line in map(str.strip, source.splitlines()):
            if line.startswith(("%", "!")) or line.endswith("?"):
                return text + NOT_PYTHON.format(line)
    return text


def no_input(*_) -> str:
    """Say that a page cannot ask."""
    raise RuntimeError(NO_INPUT)


os.environ["MPLBACKEND"] = "module://page_backend"
builtins.input = no_input
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
