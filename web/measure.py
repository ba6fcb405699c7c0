# /// script
# requires-python = ">=3.11"
# dependencies = ["playwright", "psutil"]
# ///
"""Measure how the pages of site/ run, in Chromium, on a quiet machine.

Prints, for each page, medians of some visits in seconds: from the click to
the first output that needs NumPy and to the last one, on a first visit and on
a second one, and the MB that the page adds to the memory of the browser. Each
first visit is that of a new browser with an empty folder of its own, because
a private window keeps no compiled code for the second one.
"""

import argparse
import functools
import tempfile
import threading
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import psutil
from playwright.sync_api import BrowserContext, BrowserType, sync_playwright

SITE = Path(__file__).resolve().parent.parent / "site"
# Click and run all; resolve with the seconds to the first and last output.
RUN = """async () => {
    const begin = performance.now();
    const since = () => (performance.now() - begin) / 1000;
    const pause = () => new Promise(soon => setTimeout(soon, 20));
    document.querySelector('.run button').click();
    while (!posenc.session) await pause();
    const { session } = posenc;
    let first = 0;
    const output = session.output.bind(session);
    session.output = data => { first ||= since(); output(data); };
    session.runAll();
    while (session.running) await pause();
    const errors = document.querySelectorAll('.output.error').length;
    return { first, last: since(), errors }; }"""


def memory() -> float:
    """The MB that all processes of the browser have for themselves."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            total += process.memory_full_info().uss
    return total / 1e6


def visit(context: BrowserContext, address: str) -> dict:
    """Open a page, run it, and close it; what RUN says, and its memory."""
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    page.wait_for_selector(".run button")
    before = memory()
    measured = page.evaluate(RUN)
    measured["MB"] = memory() - before
    page.close()
    return measured


def measure(
    chromium: BrowserType, program: str, address: str, times: int
) -> str:
    """The cells of a page's row in the table."""
    cold, warm = [], []
    for _ in range(times):
        with (
            tempfile.TemporaryDirectory() as folder,
            chromium.launch_persistent_context(
                folder, executable_path=program, args=["--no-sandbox"]
            ) as context,
        ):
            cold.append(visit(context, address))
            warm.append(visit(context, address))
    columns = [(each, w) for w in ("first", "last") for each in (cold, warm)]
    cells = [median(v[what] for v in visits) for visits, what in columns]
    errors = sum(v["errors"] for v in cold + warm)
    mb = median(v["MB"] for v in cold)
    return " | ".join([*(f"{s:.1f}" for s in cells), f"{mb:.0f}", f"{errors}"])


def main() -> None:
    """Print the table of the pages that the command line names, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5, help="visits a page")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("pages", nargs="*", help="such as 07_rotary")
    args = parser.parse_args()
    runs = [p for p in SITE.glob("??_*.html") if "data-run" in p.read_text()]
    SimpleHTTPRequestHandler.log_message = lambda *_: None
    handler = functools.partial(SimpleHTTPRequestHandler, directory=SITE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("| page | first, cold | warm | all, cold | warm | MB | errors |")
    print("|---|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        for name in args.pages or sorted(path.stem for path in runs):
            address = f"http://127.0.0.1:{server.server_port}/{name}.html"
            cells = measure(
                playwright.chromium, args.chromium, address, args.times
            )
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
