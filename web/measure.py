# /// script
# requires-python = ">=3.11"
# dependencies = ["playwright", "psutil"]
# ///
"""Measure how the pages of site/ run, in Chromium, on a quiet machine.

Prints, for each page, medians of some visits in seconds: from the click to
the first output that needs NumPy and to the last one, on a first visit and on
a second one, and the MB that the page adds to the memory of the browser.
`--at-once 20` opens the first page so many times instead, all at once.
"""

import argparse
import asyncio
import functools
import threading
import time
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

import psutil
from playwright.async_api import Browser, BrowserContext, async_playwright

SITE = Path(__file__).resolve().parent.parent / "site"
# Click and run all; resolve with the seconds to the first and last output.
RUN = """async () => {
    const begin = performance.now(), pause = () => new Promise(setTimeout);
    const since = () => (performance.now() - begin) / 1000;
    document.querySelector('.run button').click();
    while (!posenc.session) await pause();
    const { session } = posenc;
    let first = 0;
    const output = session.output.bind(session);
    session.output = data => { first ||= since(); output(data); };
    session.runAll();
    while (session.running) await pause();
    const failed = document.querySelectorAll('.output.error').length;
    return { first, last: since(), failed }; }"""


class Quiet(SimpleHTTPRequestHandler):
    """A server that compresses nothing and writes no log."""

    def log_message(self, *_):
        """Write nothing."""


def serve() -> str:
    """Serve the site; its address."""
    handler = functools.partial(Quiet, directory=SITE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def memory() -> float:
    """The MB that all processes of the browser have for themselves."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            total += process.memory_full_info().uss
    return total / 1e6


async def visit(context: BrowserContext, address: str) -> dict:
    """Open a page, run it, and close it; what RUN says, and its memory."""
    page = await context.new_page()
    page.set_default_timeout(0)  # a crowd may take minutes
    await page.goto(address, wait_until="networkidle")
    before = memory()
    said = await page.evaluate(RUN)
    said["MB"] = memory() - before
    await page.close()
    return said


async def measure(browser: Browser, address: str, pages: list, times: int):
    """Print a line for each page, of so many visits."""
    print("| page | first, cold | warm | all, cold | warm | MB |")
    print("|---|---|---|---|---|---|")
    for name in pages:
        visits = {"cold": [], "warm": []}
        for _ in range(times):
            async with await browser.new_context() as context:
                for kind in visits.values():
                    kind.append(await visit(context, f"{address}{name}.html"))
        cells = [
            f"{median(each[what] for each in visits[kind]):.1f}"
            for what in ("first", "last")
            for kind in visits
        ]
        mb = median(each["MB"] for each in visits["cold"])
        failed = sum(
            each["failed"] for kind in visits.values() for each in kind
        )
        print(f"| {name} | {' | '.join(cells)} | {mb:.0f} |", end="")
        print(f" {failed} errors" if failed else "", flush=True)


async def crowd(browser: Browser, address: str, visitors: int) -> None:
    """Print how long a page takes for so many visitors at once."""
    began = time.monotonic()
    contexts = [await browser.new_context() for _ in range(visitors)]
    visits = [visit(context, address) for context in contexts]
    done = await asyncio.gather(*visits, return_exceptions=True)
    right = [each for each in done if isinstance(each, dict)]
    for reason in {str(each) for each in done if each not in right}:
        print(reason)
    for what in ("first", "last"):
        seconds = sorted(each[what] for each in right)
        print(f"{what}: {median(seconds):.1f} s, at most {seconds[-1]:.1f} s")
    print(f"{visitors - len(right)} of {visitors} failed;", end=" ")
    print(f"{time.monotonic() - began:.0f} s for all of them")


async def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5, help="visits a page")
    parser.add_argument("--at-once", type=int, metavar="VISITORS")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("pages", nargs="*", help="such as 07_rotary")
    args = parser.parse_args()
    runs = [p for p in SITE.glob("??_*.html") if "data-run" in p.read_text()]
    pages = args.pages or sorted(path.stem for path in runs)
    address = serve()
    files = [path for path in SITE.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"The site has {len(files)} files and {size:.1f} MB.")
    async with async_playwright() as playwright:
        options = {"executable_path": args.chromium, "args": ["--no-sandbox"]}
        browser = await playwright.chromium.launch(**options)
        if args.at_once:
            await crowd(browser, f"{address}{pages[0]}.html", args.at_once)
        else:
            await measure(browser, address, pages, args.times)
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
