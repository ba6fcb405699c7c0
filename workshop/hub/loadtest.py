# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "jupyter-kernel-client==1.0.2",
#   "nbformat==5.11.1",
#   "psutil==7.2.2",
#   "requests==2.34.2",
# ]
# ///
"""Rehearse a class: many learners on this machine, each with a notebook.

    sudo uv run workshop/hub/loadtest.py 20 02_encoding_matrix

It starts a hub of its own, lets the learners log in and start their
servers all at once, runs the notebook cell by cell for each, with pauses
as people make (but shorter), and prints a table of one line. Nothing
stays. It runs each cell once for each learner, and begins no cell when the
minutes are over. It speaks with this machine alone.
"""

import argparse
import random
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import nbformat
import psutil
from jupyter_kernel_client import JupyterKernelClient
from rehearsal import PROJECT, Hub, Visitor, rehearse

HEADINGS = (
    "notebook",
    "learners",
    "failures",
    "s until all are up",
    "s a cell, median",
    "s a cell, 95 %",
    "server, MiB",
    "kernel, MiB",
    "cores used",
    "GiB left",
)
MEBI = 2**20
GIBI = 2**30


@dataclass
class Learner:
    """One learner: what it ran, how long each cell took, what went wrong."""

    visitor: Visitor
    end: float  # when the rehearsal is over, on the monotonic clock
    seconds: list[float] = field(default_factory=list)
    trouble: str = ""
    kernel: JupyterKernelClient | None = None

    def arrive(self) -> None:
        """Log in, and start the server."""
        if not self.visitor.log_in():
            raise PermissionError("could not log in")
        self.visitor.start_server(self.end - time.monotonic())

    def read(self, cells: Sequence[str], pause: float) -> None:
        """Run the cells, with pauses of so many seconds on average."""
        base = f"{self.visitor.hub}/user/{self.visitor.name}"
        key = {"Authorization": f"token {self.visitor.token()}"}
        self.kernel = JupyterKernelClient(
            server_url=base, token=None, headers=key
        )
        self.kernel.start(path="notebooks/any.ipynb", timeout=120)
        for cell in cells:
            time.sleep(random.expovariate(1 / pause) if pause else 0)
            if time.monotonic() > self.end:
                raise TimeoutError("the minutes were over")
            self.run(cell)

    def run(self, cell: str) -> None:
        """Run one cell, and see how long it took."""
        assert self.kernel
        start = time.monotonic()
        reply = self.kernel.execute(cell, timeout=300)
        self.seconds.append(time.monotonic() - start)
        if reply["status"] != "ok":
            raise RuntimeError(f"{reply['outputs'][-1:]} in {cell[:60]!r}")

    def attempt(self, step: Callable[[], None]) -> None:
        """Do a step, unless one has failed, and keep what went wrong."""
        if self.trouble:
            return
        try:
            step()
        except Exception as error:  # whatever it is, it is a result here
            self.trouble = f"{type(error).__name__}: {error}"[:300]


class Watch:
    """What the machine does in the meantime: cores at work, memory left."""

    def __init__(self) -> None:
        """Begin to watch."""
        self.left = psutil.virtual_memory().available
        self.start, self.busy = time.monotonic(), busy_seconds()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self) -> None:
        """Look once a second how much memory is left."""
        while not self.over.wait(1):
            self.left = min(self.left, psutil.virtual_memory().available)

    def stop(self) -> tuple[float, float]:
        """Give the cores in use on average, and the least GiB left."""
        self.over.set()
        seconds = time.monotonic() - self.start
        return (busy_seconds() - self.busy) / seconds, self.left / GIBI


def busy_seconds() -> float:
    """Give the seconds that all cores together have worked so far."""
    times = psutil.cpu_times()
    return sum(times[:3]) + sum(times[5:8])  # neither idle nor waiting


def memory(names: Sequence[str], word: str) -> float:
    """Give the median memory (PSS, MiB) of the learners' processes.

    Args:
        names: The learners.
        word: What is in the command of the processes meant.
    """
    found = [
        process.memory_full_info().pss / MEBI
        for process in psutil.process_iter(["username", "cmdline"])
        if process.info["username"] in names
        and any(word in part for part in process.info["cmdline"])
    ]
    return statistics.median(found) if found else float("nan")


def at_once(learners: list[Learner], step: Callable[[Learner], None]) -> None:
    """Let all learners do a step at the same time."""
    with ThreadPoolExecutor(len(learners)) as pool:
        for learner in learners:
            pool.submit(learner.attempt, lambda who=learner: step(who))


def measure(hub: Hub, cells: Sequence[str], args: argparse.Namespace) -> str:
    """Let a class arrive and read, and give its line of the table."""
    end = time.monotonic() + 60 * args.minutes
    names = hub.names[1:]
    learners = [Learner(hub.visitor(name), end) for name in names]
    start = time.monotonic()
    at_once(learners, Learner.arrive)
    up = time.monotonic() - start
    watch = Watch()
    at_once(learners, lambda learner: learner.read(cells, args.pause))
    cores, left = watch.stop()
    server, kernel = memory(names, "singleuser"), memory(names, "ipykernel")
    tell_troubles(learners)
    failures = sum(bool(learner.trouble) for learner in learners)
    seconds = [second for learner in learners for second in learner.seconds]
    cuts = statistics.quantiles(seconds, n=20) if len(seconds) > 1 else []
    middle, slow = (cuts[9], cuts[18]) if cuts else (float("nan"),) * 2
    return (
        f"| {args.notebook} | {args.learners} | {failures} | {up:.0f} "
        f"| {middle:.2f} | {slow:.1f} | {server:.0f} | {kernel:.0f} "
        f"| {cores:.1f} | {left:.1f} |"
    )


def tell_troubles(learners: list[Learner]) -> None:
    """Print what went wrong, and for whom."""
    for learner in learners:
        if learner.trouble:
            ran = len(learner.seconds)
            print(f"{learner.visitor.name}, {ran} cells: {learner.trouble}")


def read_cells(name: str) -> list[str]:
    """Read the code of a notebook, cell by cell."""
    path = PROJECT / "notebooks" / f"{name}.ipynb"
    if not path.exists():
        raise SystemExit(f"There is no notebook {path}.")
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def class_size(text: str) -> int:
    """Read how many learners there are to be."""
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError("give a number from 1 to 100")
    return int(text)


def time_span(text: str) -> float:
    """Read seconds or minutes."""
    if not 0 <= (span := float(text)) < float("inf"):
        raise argparse.ArgumentTypeError("give 0 or more")
    return span


def main() -> None:
    """Rehearse what the command line says."""
    about, *_ = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("learners", type=class_size, help="1 to 100")
    parser.add_argument("notebook", help="such as 02_encoding_matrix")
    parser.add_argument(
        "--pause",
        type=time_span,
        default=2,
        help="mean seconds before a cell",
    )
    parser.add_argument(
        "--minutes",
        type=time_span,
        default=15,
        help="after so many, no cell begins",
    )
    args = parser.parse_args()
    cells = read_cells(args.notebook)
    with rehearse(args.learners) as hub:
        line = measure(hub, cells, args)
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}\n{line}")


if __name__ == "__main__":
    main()
