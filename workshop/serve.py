"""Serve the web edition to a room, from one laptop and without the internet.

Build it first: `uv run web/build.py`. The command says the address for the
room, and has a page to project, with a QR code if it is called as
`uv run --with segno workshop/serve.py`. Ctrl+C stops it.
"""

import gzip
import io
import socket
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from posenc_series.commands import CommandError, parser, run
from posenc_series.listing import ROOT, TITLE

SITE = ROOT / "site"
# What browsers unpack, and what is not packed already.
PACKED = {".css", ".html", ".js", ".json", ".mjs", ".py", ".svg", ".wasm"}
PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8">
<title>{title}</title>
<body style="font: 6vmin sans-serif; margin: 3vmin; text-align: center">
{title}<p style="font-size: 8vmin; margin: 3vmin"><b>{address}</b></p>
<div style="margin: auto; width: 70vmin">{code}</div></html>
"""


def address_in_the_room(port: int) -> str:
    """This computer's address in its network, found without a message."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # an address for examples
            return f"http://{asked.getsockname()[0]}:{port}/"
        except OSError:
            return f"http://127.0.0.1:{port}/"


def page_to_project(address: str) -> bytes:
    """The address in large letters, with a QR code if segno is there."""
    try:
        from segno import make
    except ImportError:
        code = ""
    else:
        code = make(address).svg_inline(omitsize=True)
    return PAGE.format(title=TITLE, address=address, code=code).encode()


class Handler(SimpleHTTPRequestHandler):
    """Files as they are, or compressed for browsers that ask for that."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> io.BytesIO | None:
        """Send the headers, and return what follows them."""
        path = self.translate_path(self.path)
        if path.endswith("/"):
            path += "index.html"
        takes = self.headers.get("Accept-Encoding", "")
        body = self.server.packed.get(path)
        if body is None or "gzip" not in takes:
            return super().send_head()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of each file."""


class Room(ThreadingHTTPServer):
    """A server for many at once, which compresses all pages as it starts."""

    daemon_threads = True
    request_queue_size = 64  # a class opens the page at the same moment

    def __init__(self, folder: Path, port: int):
        """Bind to all addresses of this computer; 0 is any free port."""
        folder = folder.resolve()
        super().__init__(("", port), partial(Handler, directory=folder))
        self.address = address_in_the_room(self.server_port)
        pages = {
            path: path.read_bytes()
            for path in folder.rglob("*")
            if path.suffix in PACKED
        }
        pages[folder / "room.html"] = page_to_project(self.address)
        self.packed = {str(p): gzip.compress(pages[p], 6) for p in pages}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until Ctrl+C."""
    parser(__doc__).parse_args(arguments)
    if not (SITE / "index.html").is_file():
        raise CommandError(f"no {SITE}; build it: uv run web/build.py")
    with Room(SITE, 8000) as room:
        print(f"For the room: {room.address}")
        print(f"To project:   {room.address}room.html", flush=True)
        try:
            room.serve_forever()
        except KeyboardInterrupt:
            print("Stopped.")


if __name__ == "__main__":
    run(main)
