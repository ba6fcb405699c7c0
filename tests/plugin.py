"""How pytest runs the notebooks and tests of this project.

Named in pyproject.toml, and not a conftest.py, so that it is there as well
when somebody tests one notebook alone. What compares figures is
compare_figures.py.
"""

import os
import re
from pathlib import Path

import matplotlib
import pytest
from nbval.plugin import IPyNbCell
from posenc_series import listing
from xdist.scheduler import LoadFileScheduling

# What imports TensorFlow, which takes five seconds: one process runs it all.
NUMBERS = [each.number for each in listing.NOTEBOOKS if each.tensorflow]
FILES = "|".join([*NUMBERS, "layers", "letters", "published", "tools"])
TENSORFLOW = re.compile(f"tests/test_({FILES})")
SANITIZE = Path(__file__).with_name("sanitize.cfg")


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Give each core a worker, and one more.

    Workers wait while kernels start, so that a core would often idle: two
    cores took 258 seconds with three workers, and 285 with two.
    """
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0)) + 1
    return (os.cpu_count() or 1) + 1


class Scheduling(LoadFileScheduling):
    """Files that import TensorFlow in one process; each other by itself."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "TensorFlow" if TENSORFLOW.match(file) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: object
) -> Scheduling | None:
    """Replace what `--dist=loadfile` names."""
    if config.getoption("dist") == "loadfile":
        return Scheduling(config, log)
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Set what TensorFlow and the notebooks' kernels read as they start."""
    if config.option.nbval_sanitize_with is None:
        config.option.nbval_sanitize_with = str(SANITIZE)
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
    # The tests run side by side, one process a core: one thread for each.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
    os.environ["TF_NUM_INTEROP_THREADS"] = "1"
    matplotlib.use("agg")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that no core ends alone.

    Of these, notebook 13 takes longest: from the last one to the first.
    """
    long = {item.path for item in items if takes_long(item)}
    items.sort(key=lambda item: item.path.name, reverse=True)
    items.sort(
        key=lambda item: (item.path not in long, item.path.suffix != ".ipynb")
    )


def takes_long(item: pytest.Item) -> bool:
    """Whether a test opens a browser, imports TensorFlow or is a slow cell."""
    if TENSORFLOW.match(item.nodeid):
        return True
    if isinstance(item, IPyNbCell):
        tags = item.cell.metadata.get("tags", ())
        return bool(set(tags) & set(item.config.getini("figures_vary")))
    return "browser" in getattr(item, "fixturenames", ())
