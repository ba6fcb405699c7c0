"""Compare the figures of notebooks with the stored ones, as nbval runs them.

nbval compares what notebooks print, and leaves pictures out. This plugin of
pytest compares those, too, and says which line of a text differs. Where a tag
says that results differ from one processor to another, it compares the text
around the numbers. It is one file for any repository: it needs nbval, NumPy
and Pillow, and two settings of pytest are its own (see `pytest_addoption`).
"""

import io
import platform
import re
from base64 import b64decode
from collections.abc import Iterator
from difflib import ndiff

import numpy as np
import pytest
from nbval.plugin import IPyNbCell
from PIL import Image

# Pixels are compared on the system that the pictures are made on: elsewhere
# another last digit can move one.
COMPARE = (platform.system(), platform.machine()) == ("Linux", "x86_64")
BOX = 8  # pixels, a millimeter: less than that is averaged away
APART = 40  # of 255, in the mean color of any box
NUMBER = re.compile(r"\s*[-+]?\d[\d.]*(?:e[-+]?\d+)?\s*")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Settings for pyproject.toml or pytest.ini."""
    parser.addini(
        "figures_vary",
        "tags of cells whose figures and numbers differ between machines",
        type="args",
        default=[],
    )
    parser.addini(
        "figures_store",
        "the command that stores a notebook anew, for its failures to name;"
        " {notebook} stands for the file",
        default="jupyter execute --inplace {notebook}",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Compare the figures too, which nbval has made but does not look at."""
    if isinstance(item, IPyNbCell) and varies(item):
        item.sanitize = without_numbers  # nbval compares what this returns
    result = yield
    if isinstance(item, IPyNbCell):
        compare_figures(item)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Name the cell, the lines that differ, and the command that stores."""
    report = yield
    if isinstance(item, IPyNbCell) and report.failed:
        try:
            notebook = item.path.relative_to(item.config.rootpath)
        except ValueError:  # of another folder
            notebook = item.path
        store = item.config.getini("figures_store").format(notebook=notebook)
        if lines := changed_lines(item):
            report.sections.append((f"cell {item.cell.id}", lines))
        report.sections.append(("if it is right now, store it", store))
    return report


def changed_lines(item: IPyNbCell) -> str:
    """The lines of a cell's texts that are stored, and those that are new."""
    texts = []
    for outputs in (item.cell.outputs, item.test_outputs or ()):
        shown = [
            each.get("text") or each.get("data", {}).get("text/plain", "")
            for each in outputs
        ]
        texts.append(item.sanitize("\n".join(shown)).splitlines())
    names = {"- ": "stored: ", "+ ": "new:    "}
    return "\n".join(
        names[line[:2]] + line[2:]
        for line in ndiff(*texts)
        if line[:2] in names
    )


def compare_figures(item: IPyNbCell) -> None:
    """Fail if a cell's figures are not those that are stored."""
    if not item.options["check"]:  # as nbval's own tags and options say
        return
    stored, new = pictures(item.cell.outputs), pictures(item.test_outputs)
    if len(stored) != len(new):
        fail(item, f"{len(new)} pictures are drawn, {len(stored)} stored")
    for before, now in zip(stored, new, strict=True):
        was, alt = alt_text(before), alt_text(now)
        if was != alt:
            fail(item, f"new alt text: {alt}\nstored: {was}")
        if COMPARE and not varies(item):
            problem = difference(picture(before), picture(now))
            if problem:
                fail(item, f"{problem}\n{keep(item, before, now)}")


def varies(item: IPyNbCell) -> bool:
    """Whether a tag says that a cell's results differ between machines."""
    tags = item.cell.metadata.get("tags", ())
    return bool(set(tags) & set(item.config.getini("figures_vary")))


def without_numbers(text: str) -> str:
    return NUMBER.sub(" # ", text)


def fail(item: IPyNbCell, problem: str) -> None:
    item.raise_cell_error(
        f"The figure of {item.cell.id} differs from the stored one", problem
    )


def pictures(outputs: list[dict]) -> list[dict]:
    """Those of a cell's outputs that have a picture."""
    return [each for each in outputs if "image/png" in each.get("data", {})]


def alt_text(output: dict) -> str:
    return output["metadata"].get("image/png", {}).get("alt", "")


def png(output: dict) -> bytes:
    return b64decode(output["data"]["image/png"])


def picture(output: dict) -> Image.Image:
    return Image.open(io.BytesIO(png(output))).convert("RGB")


def keep(item: IPyNbCell, before: dict, now: dict) -> str:
    """Write both pictures to look at, and say where they are."""
    folder = item.config.rootpath / "artifacts"
    folder.mkdir(exist_ok=True)
    name = f"{item.path.stem}-{item.cell.id}"
    (folder / f"{name}-stored.png").write_bytes(png(before))
    (folder / f"{name}-now.png").write_bytes(png(now))
    return f"Look at artifacts/{name}-stored.png and {name}-now.png."


def difference(stored: Image.Image, new: Image.Image) -> str:
    """In words, how pictures differ to the eye; empty if they do not."""
    if stored.size != new.size:
        return "{} x {} pixels, stored {} x {}".format(*new.size, *stored.size)
    # The mean colors of boxes: `[boxes down, boxes across, RGB]`.
    before, now = (np.asarray(p.reduce(BOX), float) for p in (stored, new))
    apart = np.abs(before - now).max(axis=2)
    y, x = np.unravel_index(apart.argmax(), apart.shape)
    if apart[y, x] <= APART:
        return ""
    return (
        f"near pixel ({x * BOX}, {y * BOX}) the colors are"
        f" {apart[y, x]:.0f} of 255 apart; {APART} would pass"
    )
