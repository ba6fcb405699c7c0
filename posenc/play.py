"""Figures to play with, which notebooks 00, 01, 03, 07 and later show.

The figures are drawn by `play.js` in the reader's browser. This module puts
them into a notebook, with the settings that the script lists in `RANGES`.
"""

import json
import re
from importlib.resources import files
from numbers import Integral, Real

from IPython.display import display

HOME = files("posenc")
SCRIPT = (HOME / "play.js").read_text("utf-8")
RANGES = json.loads(re.search(r"(?s)const RANGES = (\{.*?\n  \});", SCRIPT)[1])
WHERE_IT_MOVES = (
    "<p><em>This figure moves in JupyterLab once its cell has run, and on the"
    " web page.</em></p>"
)


def play(name: str, **settings: float | str) -> None:
    """Display a figure to play with, in place of the picture above it.

    Call it right after `show`, in the same cell. The figure needs no kernel.
    Where no script runs, the picture stays: on paper, on GitHub, and in
    JupyterLab until the cell has run.

    Args:
        name: One of the figures in `play.js`, a key of `RANGES`.
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
    script = data_of(name) + SCRIPT
    html = f"{element}</posenc-play><script>{script}</script>"
    plain = f"A figure to play with: {name}"
    display({"text/plain": plain, "text/html": html}, raw=True)


def data_of(name: str) -> str:
    """What a figure needs beside the script, as a script of its own.

    This is empty but for the figure "inside", which has the weights of its
    model there, so that other figures need not bring them.
    """
    data = HOME / f"{name}.js"
    return data.read_text("utf-8") if data.is_file() else ""


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
