"""Displays values in the page, with the functions that notebooks use."""

import json
import pprint
import sys
from base64 import b64encode
from io import BytesIO

from page import post  # a function of worker.mjs

METHODS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


class Printer(pprint.PrettyPrinter):
    """Prints values as IPython does, which never breaks a text."""

    _dispatch = pprint.PrettyPrinter._dispatch.copy()
    del _dispatch[str.__repr__]


def display(*values, raw=False, metadata=None, **_):
    """Display values, or, if `raw`, what is theirs by media type."""
    for value in values:
        data = value if raw else data_of(value)
        show_data(data, metadata)


def clear_output(wait=False):
    """Clear what the cell shows, as soon as it shows something else."""
    post("clear", "", "")


def show_data(data, metadata=None):
    """Send data by media type to the page, after all that was printed."""
    sys.stdout.flush()
    sys.stderr.flush()
    post("data", json.dumps(data), json.dumps(metadata or {}))


def data_of(value) -> dict:
    """A value in each media type that it has, as text."""
    data = {"text/plain": Printer(width=79, sort_dicts=False).pformat(value)}
    if isinstance(value, type):
        return data
    figure = sys.modules.get("matplotlib.figure")
    if figure and isinstance(value, figure.Figure):
        file = BytesIO()
        value.savefig(file, format="png", bbox_inches="tight")
        sys.modules["matplotlib.pyplot"].close(value)  # not shown again
        data["image/png"] = b64encode(file.getvalue()).decode()
    for media_type, name in METHODS.items():
        content = getattr(value, name, lambda: None)()
        if content is not None:
            data[media_type] = content
    return data


def show_open_figures(*_, **__):
    """Display all figures that are open: `plt.show()`."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else []:
        display(pyplot.figure(number))


class HTML:
    """HTML, with its scripts."""

    def __init__(self, data):
        self.data = data

    def _repr_html_(self):
        return self.data


class SVG(HTML):
    """A drawing."""
