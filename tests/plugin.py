"""What this project adds to pytest and nbval.

Named in pyproject.toml, and not a conftest.py, so that it is there as well
when somebody tests one notebook alone.
"""

import io
import os
import platform
import re
from base64 import b64decode
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile
from PIL import Image
from posenc_series.cells import IGNORED, PLAY_SCRIPT, VARIES, tags

# Pixels are compared on the system that the pictures are made on: elsewhere
# another last digit can move one.
COMPARE = (platform.system(), platform.machine()) == ("Linux", "x86_64")
BOX = 8  # pixels, a millimeter: less than that is averaged away
APART = 40  # of 255, in the mean color of any box


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Give each core a worker, and one more.

    Workers wait while kernels start, so that a core would often idle: two
    cores took 258 seconds with three workers, and 285 with two.
    """
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0)) + 1
    return (os.cpu_count() or 1) + 1


def pytest_configure() -> None:
    """Set what TensorFlow and the notebooks' kernels read as they start."""
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
    # The tests run side by side, one process a core: one thread for each.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
    os.environ["TF_NUM_INTEROP_THREADS"] = "1"
    matplotlib.use("agg")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that no core ends alone."""
    long = {item.path for item in items if takes_long(item)}
    items.sort(
        key=lambda item: (item.path not in long, item.path.suffix != ".ipynb")
    )


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Leave out what no notebook stores."""
    if isinstance(collector, IPyNbFile):
        collector.sanitize_patterns[PLAY_SCRIPT.pattern] = ""


def takes_long(item: pytest.Item) -> bool:
    """Whether a test opens a browser, or a cell trains or is timed."""
    if isinstance(item, IPyNbCell):
        return not VARIES.isdisjoint(tags(item.cell))
    return "browser" in getattr(item, "fixturenames", ())


def pytest_itemcollected(item: pytest.Item) -> None:
    """Compare the words of what a trained model is measured by, no digits.

    Other processors round otherwise, and training makes much of it. What
    counts is asserted beside the digits, and asserts are tested.
    """
    if isinstance(item, IPyNbCell) and "trained" in tags(item.cell):
        item.sanitize = without_digits


def without_digits(text: str) -> str:
    """Text with # for each number, whatever the space around it."""
    numbers = re.sub(r"-?\d+(\.\d*)?|\.\d+", "#", str(text))
    return re.sub(r"\s*(#)\s*|\s+", r" \1", numbers)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Compare the figures too, which nbval has made but does not look at."""
    result = yield
    if isinstance(item, IPyNbCell) and IGNORED not in tags(item.cell):
        compare_figures(item)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Name the command that stores a notebook whose outputs differ."""
    report = yield
    if isinstance(item, IPyNbCell) and report.failed:
        command = f"uv run tools/store_notebooks.py notebooks/{item.path.name}"
        report.sections.append(("if it is right now, store it", command))
    return report


def compare_figures(item: IPyNbCell) -> None:
    """Fail if a cell's figures are not those that are stored."""
    stored, made = pictures(item.cell.outputs), pictures(item.test_outputs)
    if len(stored) != len(made):
        fail(item, f"{len(made)} pictures are drawn, {len(stored)} stored")
    for before, now in zip(stored, made, strict=True):
        was, alt = alt_text(before), alt_text(now)
        if was != alt:
            fail(item, f"alt text: {alt}\nstored: {was}")
        if COMPARE and VARIES.isdisjoint(tags(item.cell)):
            problem = difference(picture(before), picture(now))
            if problem:
                fail(item, f"{problem}\n{keep(item, before, now)}")


def fail(item: IPyNbCell, problem: str) -> None:
    item.raise_cell_error(
        f"The figure of {item.cell.id} differs from the stored one",
        problem,
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


def difference(stored: Image.Image, made: Image.Image) -> str:
    """In words, how pictures differ to the eye; empty if they do not."""
    if stored.size != made.size:
        return "{} x {} pixels, stored {} x {}".format(
            *made.size, *stored.size
        )
    # The mean colors of boxes: `[boxes down, boxes across, RGB]`.
    before, now = (np.asarray(p.reduce(BOX), float) for p in (stored, made))
    apart = np.abs(before - now).max(axis=2)
    y, x = np.unravel_index(apart.argmax(), apart.shape)
    if apart[y, x] <= APART:
        return ""
    return (
        f"near pixel ({x * BOX}, {y * BOX}) the colors are"
        f" {apart[y, x]:.0f} of 255 apart; {APART} would pass"
    )
