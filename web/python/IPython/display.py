"""Displays values in the page, with the functions that notebooks use."""

import json
import pprint
import sys
from base64 import b64encode
from io import BytesIO

from page import post  # a function of worker.mjs

METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
}


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
        data["image/png"] = _picture(value)
    if bundle := getattr(value, "_repr_mimebundle_", None):
        more = bundle()
        data |= (more[0] if isinstance(more, tuple) else more) or {}
    for media_type, name in METHODS.items():
        method = getattr(value, name, None)
        content = method() if method else None
        if isinstance(content, bytes):
            content = b64encode(content).decode()
        if content is not None:
            data[media_type] = content
    return data


def _picture(figure) -> str:
    """A figure of Matplotlib as PNG; it is closed, and not shown again."""
    file = BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    sys.modules["matplotlib.pyplot"].close(figure)
    return b64encode(file.getvalue()).decode()


def show_open_figures(*_, **__):
    """Display all figures that are open: `plt.show()`."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else []:
        display(pyplot.figure(number))


class DisplayObject:
    """Data of one media type."""

    media_type = "text/plain"

    def __init__(self, data=None, **_):
        self.data = data

    def _repr_mimebundle_(self):
        return {self.media_type: self.data}


class Pretty(DisplayObject):
    """Text."""


class HTML(DisplayObject):
    """HTML, with its scripts."""

    media_type = "text/html"


class SVG(DisplayObject):
    """A drawing."""

    media_type = "image/svg+xml"


class Markdown(DisplayObject):
    """Markdown, which the page shows as it is written."""

    media_type = "text/markdown"


class Latex(DisplayObject):
    """A formula, which the page shows as it is written."""

    media_type = "text/latex"


Math = Latex
