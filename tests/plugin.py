"""What this project adds to pytest and nbval.

Named in pyproject.toml, and not a conftest.py, so that it is there as well
when somebody tests one notebook alone.
"""

import io
import os
import platform
from base64 import b64decode
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from nbval.plugin import IPyNbCell
from PIL import Image

# These train models or open a browser: first, so that no core ends alone.
LONGEST_FIRST = ("test_handouts", "08_", "test_browser", "06_", "09_", "10_")
# Pixels are compared on the system that the pictures are made on: elsewhere
# another last digit can move one.
COMPARE = (platform.system(), platform.machine()) == ("Linux", "x86_64")
BOX = 8  # pixels, a millimeter: less than that is averaged away
# Tags of figures that differ from run to run, and of what nbval skips.
VARIES = {"timed", "trained", "nbval-ignore-output"}
APART = 40  # of 255, in the mean color of any box


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
    def turn(item: pytest.Item) -> int:
        starts = map(item.path.name.startswith, LONGEST_FIRST)
        return next((n for n, yes in enumerate(starts) if yes), 99)

    items.sort(key=turn)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Compare the figures too, which nbval has made but does not look at."""
    result = yield
    if COMPARE and isinstance(item, IPyNbCell) and is_compared(item.cell):
        made = pictures(item.test_outputs or [])
        if problem := difference(pictures(item.cell.outputs), made):
            item.raise_cell_error("A figure differs", problem)
    return result


def is_compared(cell: dict) -> bool:
    """Whether a cell draws the same each time; timings and training vary."""
    return VARIES.isdisjoint(cell.metadata.get("tags", ()))


def pictures(outputs: list[dict]) -> list[str]:
    """The PNG pictures among a cell's outputs, as base64 text."""
    data = [output.get("data", {}) for output in outputs]
    return [each["image/png"] for each in data if "image/png" in each]


def difference(stored: list[str], made: list[str]) -> str:
    """In words, how the pictures differ to the eye; empty if they do not."""
    if len(stored) != len(made):
        return f"{len(made)} pictures where {len(stored)} are stored"
    for left, right in zip(map(boxes, stored), map(boxes, made), strict=True):
        if left.shape != right.shape:
            return f"{right.shape} boxes of pixels, stored {left.shape}"
        apart = np.abs(left - right).max(axis=2)
        y, x = np.unravel_index(apart.argmax(), apart.shape)
        if apart[y, x] > APART:
            return (
                f"near pixel ({x * BOX}, {y * BOX}) the colors are"
                f" {apart[y, x]:.0f} of 255 apart; {APART} would pass"
            )
    return ""


def boxes(png: str) -> np.ndarray:
    """A picture's mean colors: [boxes down, boxes across, RGB]."""
    picture = Image.open(io.BytesIO(b64decode(png))).convert("RGB")
    return np.asarray(picture.reduce(BOX), float)
