"""Figures to play with, which notebooks 00, 01, 03, 07 and later show.

`figures/` holds a script for each figure, which the reader's browser draws,
and the scripts beside it are what figures share: `frame.js` moves them, and
says what a figure is made of. This module puts a figure into a notebook, with
the settings that its script lists in `RANGES`.
"""

import json
import re
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path

from IPython.display import display

PACKAGE = Path(__file__).resolve().parent.parent
FIGURES = {
    path.stem: path for path in sorted(PACKAGE.glob("play/figures/*.js"))
}
WHERE_IT_MOVES = (
    "<p><em>This figure moves in JupyterLab once its cell has run, and on the"
    " web page.</em></p>"
)
IMPORT = re.compile(r'(?s)^import ([^;]+?) from "([^"]+)"[^;]*;$', re.M)
EXPORT = re.compile(r"^export (?=(?:const|function) (\w+))", re.M)


def _ranges(script: str) -> dict[str, list]:
    """Where each setting of a figure begins, its least and its largest value.

    A start with a point allows fractions, and what starts as letters is a
    text, with the range of its length.
    """
    table = re.search(r"(?s)const RANGES = \{(.*?)\};", script)[1]
    rows = re.findall(r"(\w+): (\[.*?\])", table)
    return {setting: json.loads(row) for setting, row in rows}


RANGES = {
    name: _ranges(path.read_text("utf-8")) for name, path in FIGURES.items()
}


def play(name: str, **settings: float | str) -> None:
    """Display a figure to play with, in place of the picture above it.

    Call it right after `show`, in the same cell. The figure needs no kernel.
    Where no script runs, the picture stays: on paper, on GitHub, and in
    JupyterLab until the cell has run.

    Args:
        name: One of the figures in `figures/`, a key of `RANGES`.
        settings: Where the figure begins, such as `position=7`. What is left
            out begins as `RANGES` says.

    Raises:
        TypeError: If the figure has no such setting, or a value is of
            another kind.
        ValueError: If there is no such figure, or a value is out of range.
    """
    if name not in RANGES:
        known = ", ".join(RANGES)
        raise ValueError(f"no figure {name!r} to play with; there are {known}")
    for setting, value in settings.items():
        _check_setting(name, setting, value)
    starts = {setting: start for setting, (start, *_) in RANGES[name].items()}
    data = "".join(
        f' data-{setting}="{value}"'
        for setting, value in (starts | settings).items()
    )
    element = f'<posenc-play figure="{name}"{data}>{WHERE_IT_MOVES}'
    html = f"{element}</posenc-play><script>{script_of([name])}</script>"
    plain = f"A figure to play with: {name}"
    display({"text/plain": plain, "text/html": html}, raw=True)


def figures_in(html: str) -> list[str]:
    """The names of the figures in a page, in order and once each."""
    found = re.findall(r'<posenc-play figure="(\w+)"', html)
    return list(dict.fromkeys(found))


def script_of(names: Sequence[str]) -> str:
    """One script for some figures, with what they import and no more.

    The parts are modules, which a browser can load only from a server. Here
    each becomes a function that returns what the module exports.
    """
    parts: dict[Path, str] = {}
    for name in names:
        _add_part(FIGURES[name], parts)
    return '(() => {\n"use strict";\n' + "\n".join(parts.values()) + "})();\n"


def _add_part(path: Path, parts: dict[Path, str]) -> None:
    """Add a file to the parts of a script, after all that it imports."""
    if path in parts:
        return
    code = path.read_text("utf-8")
    if path.suffix == ".json":
        parts[path] = f"const {_part(path)} = {code};"
        return
    for _, other in IMPORT.findall(code):
        _add_part((path.parent / other).resolve(), parts)

    def imported(match: re.Match) -> str:
        return f"const {match[1]} = {_part(path.parent / match[2])};"

    exported = ", ".join(EXPORT.findall(code))
    code = EXPORT.sub("", IMPORT.sub(imported, code))
    parts[path] = (
        f"const {_part(path)} = (() => {{\n{code}"
        f"return {{ {exported} }};\n}})();\n"
    )


def _part(path: Path) -> str:
    """What a part is called in the script, such as `play_frame_js`."""
    name = path.resolve().relative_to(PACKAGE).as_posix()
    return re.sub(r"\W", "_", name)


def _check_setting(name: str, setting: str, value: object) -> None:
    """An error unless the figure has the setting, with the value in range."""
    if setting not in RANGES[name]:
        raise TypeError(
            f"figure {name!r} has no setting {setting!r}; it has"
            f" {', '.join(RANGES[name])}"
        )
    start, low, high = RANGES[name][setting]
    if isinstance(start, str):
        _check_text(setting, value, low, high)
        return
    kind = Integral if isinstance(start, int) else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        wanted = "an integer" if kind is Integral else "a number"
        raise TypeError(f"{setting} must be {wanted}, not {value!r}")
    if not low <= value <= high:
        raise ValueError(
            f"{setting} must be between {low} and {high}, not {value}"
        )


def _check_text(setting: str, value: object, low: int, high: int) -> None:
    """An error unless the value is so many letters."""
    if not isinstance(value, str):
        raise TypeError(f"{setting} must be text, not {value!r}")
    if not re.fullmatch(f"[a-z]{{{low},{high}}}", value):
        raise ValueError(
            f"{setting} must be {low} to {high} letters from a to z,"
            f" not {value!r}"
        )
