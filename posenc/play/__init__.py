"""Figures to play with, which notebooks 00, 01, 03, 07 and later show.

`figures/` holds a script for each figure, which the reader's browser draws,
and the scripts beside it are what figures share: `frame.js` moves them, and
says what a figure is made of. `figures.json` lists the settings of each
figure (for numbers, where they begin, the least and the largest; for a text,
the range of its length), which this module and the scripts read.

The files of a page's script stand in one block, one after the other, so that
each knows the names of those before it: first what `figures.json` lists as
shared, and then, for each figure, its parts in the order listed. A figure's
own script has a block within, and its names to itself. Parts that are JSON
become constants, and the settings the constant SETTINGS.
"""

import json
import re
from collections.abc import Sequence
from html import escape
from numbers import Integral, Real
from pathlib import Path

from IPython.display import display

FOLDER = Path(__file__).resolve().parent
_LISTED = json.loads((FOLDER / "figures.json").read_text("utf-8"))
FIGURES = _LISTED["figures"]
WHERE_IT_MOVES = (
    "<p><em>This figure moves in JupyterLab once its cell has run, and on the"
    " web page.</em></p>"
)


def play(
    name: str, *, ask: str | None = None, **settings: float | str
) -> None:
    """Display a figure to play with, in place of the picture above it.

    Call it right after `show`, in the same cell. The figure needs no kernel.
    Where no script runs, the picture stays: on paper, on GitHub, and in
    JupyterLab until the cell has run.

    Args:
        name: One of the figures in `figures.json`.
        ask: A question in place of the figure's own, whose answer, a note
            after the first move, is then left out; `""` for a figure below
            a text that asks.
        settings: Where the figure begins, such as `position=7`. What is left
            out begins as `figures.json` says.

    Raises:
        TypeError: If the figure has no such setting, or a value is of
            another kind.
        ValueError: If there is no such figure, or a value is out of range.
    """
    listed = _listed(name)["settings"]
    for setting, value in settings.items():
        if setting not in listed:
            raise TypeError(
                f"figure {name!r} has no setting {setting!r}; it has"
                f" {', '.join(listed)}"
            )
        _check_setting(setting, value, **listed[setting])
    data = {setting: row["start"] for setting, row in listed.items()}
    data |= settings | ({} if ask is None else {"ask": ask})
    attributes = "".join(
        f' data-{key}="{escape(str(value))}"' for key, value in data.items()
    )
    element = f'<posenc-play figure="{name}"{attributes}>{WHERE_IT_MOVES}'
    html = f"{element}</posenc-play><script>{script_of([name])}</script>"
    plain = f"A figure to play with: {name}"
    display({"text/plain": plain, "text/html": html}, raw=True)


def figures_in(html: str) -> list[str]:
    """The names of the figures in a page, in order and once each."""
    names = re.findall(r'<posenc-play figure="(\w+)"', html)
    return list(dict.fromkeys(names))


def script_of(names: Sequence[str]) -> str:
    """One script for some figures, with the parts they need and no more."""
    figures = {name: _listed(name) for name in names}
    parts = [part for figure in figures.values() for part in figure["parts"]]
    settings = {name: figure["settings"] for name, figure in figures.items()}
    codes = [f"const SETTINGS = {json.dumps(settings)};\n"]
    codes += map(_part, dict.fromkeys(_LISTED["shared"] + parts))
    codes += [f"{{\n{_part(f'figures/{name}.js')}}}\n" for name in figures]
    # A block in a strict script keeps its names, and refuses one given twice.
    return '"use strict";\n{\n' + "".join(codes) + "}\n"


def _part(name: str) -> str:
    """The code of a file, named as in `figures.json`."""
    path = FOLDER / name
    code = path.read_text("utf-8")
    if path.suffix == ".json":
        return f"const {path.stem.upper()} = {code};\n"
    return code


def _listed(name: str) -> dict:
    """What `figures.json` lists for a figure; an error if it has none."""
    if name not in FIGURES:
        known = ", ".join(FIGURES)
        raise ValueError(f"no figure {name!r} to play with; there are {known}")
    return FIGURES[name]


def _check_setting(
    setting: str,
    value: object,
    start: float | str,
    min: float,
    max: float,
) -> None:
    """An error unless the value is of the same kind as `start`, in range."""
    kinds = {
        str: (str, "text"),
        int: (Integral, "an integer"),
        float: (Real, "a number"),
    }
    kind, words = kinds[type(start)]
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{setting} must be {words}, not {value!r}")
    if isinstance(value, str):
        is_in_range = re.fullmatch(f"[a-z]{{{min},{max}}}", value)
        words = f"{min} to {max} letters from a to z"
    else:
        is_in_range = min <= value <= max
        words = f"between {min} and {max}"
    if not is_in_range:
        raise ValueError(f"{setting} must be {words}, not {value!r}")
