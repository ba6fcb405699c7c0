"""Measure what a reader waits for: from the click to the first output.

usage: uv run web/measure.py [TIMES]

After `uv run web/build.py`. Each time: bare Pyodide, in its own wheels,
imports pyplot and IPython; then notebook 01 is opened twice in a browser
that has seen nothing. Files come compressed and may be kept for ten
minutes, as from GitHub Pages.
"""

import functools
import gzip
import http.server
import io
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WEB = Path(__file__).resolve().parent
sys.path.insert(0, str(WEB.parent / "workshop"))

from handouts import open_browser  # noqa: E402
from lite import ALL_FILES, lock_of  # noqa: E402

COMPRESSED = {".css", ".html", ".ipynb", ".js", ".json", ".mjs", ".wasm"}
MINUTES = 600_000  # milliseconds, as Playwright counts
BARE = """
import { loadPyodide } from "./pyodide.mjs";
const pyodide = await loadPyodide();
await pyodide.loadPackage(PACKAGES);
pyodide.runPython("import matplotlib.pyplot, IPython");
postMessage("done");
"""
PAGE = """<script>
const worker = new Worker("bare.js", { type: "module" });
worker.onmessage = () => { document.title = "done"; };
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves as a static host does, and counts what it sends."""

    protocol_version = "HTTP/1.1"
    sent: list[int]

    def send_head(self):
        """Answer with a file, compressed if that helps."""
        path = Path(self.translate_path(self.path))
        if path.is_dir() or not path.exists():
            return super().send_head()
        body = path.read_bytes()
        self.send_response(200)
        if path.suffix in COMPRESSED:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        kind = "text/javascript" if path.suffix == ".mjs" else None
        self.send_header("Content-Type", kind or self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.sent.append(len(body))
        return io.BytesIO(body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Serve a folder: its address, and the sizes of what was sent."""
    sent: list[int] = []
    kind = type("Counting", (Handler,), {"sent": sent})
    handler = functools.partial(kind, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()


def make_bare(folder: Path) -> None:
    """Lay out Pyodide as it comes, and a page that imports with it."""
    for name in ALL_FILES:
        shutil.copy(WEB / ".cache/pyodide" / name, folder)
    lock = lock_of(folder)
    packages = json.dumps(sorted(lock["packages"].keys() - {"mpmath"}))
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    (folder / "bare.js").write_text(BARE.replace("PACKAGES", packages))
    (folder / "bare.html").write_text(PAGE)


def seconds_of_bare(address: str) -> float:
    """Seconds until bare Pyodide has imported pyplot and IPython."""
    with open_browser() as browser, browser.new_page() as page:
        began = time.perf_counter()
        page.goto(address + "bare.html")
        page.wait_for_function("document.title === 'done'", timeout=MINUTES)
        return time.perf_counter() - began


def seconds_to_output(page, address: str) -> float:
    """Seconds from the click to the first output of notebook 01."""
    page.set_default_timeout(MINUTES)
    page.goto(address + "01_sine_waves.html")
    began = time.perf_counter()
    page.click("p.run a")
    page.locator(".jp-CodeCell .cm-content").first.click()
    for _ in range(4):
        page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".jp-CodeCell .jp-OutputArea-output")
    return time.perf_counter() - began


def main() -> None:
    """Print a line for each time, and the medians."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rows = []
    print("load  bare  first  second  ratios      MB  requests")
    with tempfile.TemporaryDirectory() as temporary:
        make_bare(Path(temporary))
        with (
            served(Path(temporary)) as (bare, _),
            served(WEB.parent / "site") as (site, sent),
        ):
            for _ in range(times):
                row = [seconds_of_bare(bare)]
                with open_browser() as browser:
                    context = browser.new_context()
                    sent.clear()
                    row.append(seconds_to_output(context.new_page(), site))
                    loaded, requests = sum(sent) / 1e6, len(sent)
                    row.append(seconds_to_output(context.new_page(), site))
                rows.append(row)
                load = os.getloadavg()[0]
                print(f"{load:4.1f}  {line(row)}  {loaded:4.1f}  {requests}")
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    print(f"median {line(medians)}")


def line(row: list[float]) -> str:
    """Seconds, and how many times bare Pyodide's they are."""
    bare, first, second = row
    ratios = f"{first / bare:.2f}  {second / bare:.2f}"
    return f"{bare:4.1f}  {first:5.1f}  {second:6.1f}  {ratios}"


if __name__ == "__main__":
    main()
