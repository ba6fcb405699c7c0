"""Displays values in the page, as IPython does."""

import json
import pprint
import sys
from base64 import b64encode
from io import BytesIO

from page import post  # a function of worker.mjs

LONGEST = 200_000  # characters of a value, or that one cell may print
CUT = "\n... (the page does not show the rest)\n"


class Printer(pprint.PrettyPrinter):
    """Prints values as IPython does, which never breaks a text."""

    _dispatch = pprint.PrettyPrinter._dispatch.copy()
    del _dispatch[str.__repr__]


def cut(text: str, room: int = LONGEST) -> str:
    """What the page shows of a text."""
    return text if len(text) <= room else text[:room] + CUT


def display(*values, raw=False, metadata=None, **_):
    """Display values, or, if `raw`, what is theirs by media type."""
    for value in values:
        data = value if raw else data_of(value)
        sys.stdout.flush()  # what was printed comes first
        sys.stderr.flush()
        post("data", json.dumps(data), json.dumps(metadata or {}))


def data_of(value) -> dict:
    """A value in each media type that it has, as text."""
    text = Printer(width=79, sort_dicts=False).pformat(value)
    data = {"text/plain": cut(text)}
    figure = sys.modules.get("matplotlib.figure")
    if figure and isinstance(value, figure.Figure):
        file = BytesIO()
        value.savefig(file, format="png", bbox_inches="tight")
        sys.modules["matplotlib.pyplot"].close(value)  # not shown again
        data["image/png"] = b64encode(file.getvalue()).decode()
    elif hasattr(value, "_repr_html_") and not isinstance(value, type):
        data["text/html"] = value._repr_html_()
    return data


def show_open_figures(*_, **__):
    """Display all figures that are open: `plt.show()`."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else []:
        display(pyplot.figure(number))
