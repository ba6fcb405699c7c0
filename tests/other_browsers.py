"""Firefox and WebKit, as far as the tests need them.

Playwright drives browsers of its own, which cannot be had everywhere. These
two are the system's: any Firefox that speaks WebDriver BiDi, and WebKitGTK's
MiniBrowser by its own WebDriver. Both take JavaScript, mouse and keys.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

import websocket
from in_browser import free_port, running

MINIBROWSER = "usr/lib/*/webkit2gtk-4.1/MiniBrowser"
PATIENCE = 600  # seconds; Python in WebKit, on a busy machine, needs 200
KEYS = {
    "Enter": "\ue007",
    "Home": "\ue011",
    "ArrowRight": "\ue014",
}


class Browser:
    """What both have in common; places are in pixels of the window.

    Each of them knows how to `goto` an address and wait until it has loaded;
    to `run` a JavaScript expression, whose value is awaited if it is a
    promise; to `resize` the room of the page; and to `act`: to perform the
    actions of one input device, as WebDriver has them.
    """

    def call(self, function: str, *arguments: Any) -> Any:
        """The value of a JavaScript function for what JSON can hold."""
        given = ", ".join(map(json.dumps, arguments))
        return self.run(f"({function})({given})")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.2)

    def drag(self, start: list[float], by: tuple[float, float]) -> None:
        """Press the mouse at a place, move it in steps, and let it go."""
        first, *moves = [
            {
                "type": "pointerMove",
                "x": round(start[0] + by[0] * step / 4),
                "y": round(start[1] + by[1] * step / 4),
            }
            for step in range(5)
        ]
        press = {"type": "pointerDown", "button": 0}
        actions = [first, press, *moves, {"type": "pointerUp", "button": 0}]
        self.act({"type": "pointer", "id": "mouse", "actions": actions})

    def press(self, key: str) -> None:
        """Press a key, named as in KEYS, or a character."""
        value = KEYS.get(key, key)
        ways = [{"type": way, "value": value} for way in ("keyDown", "keyUp")]
        self.act({"type": "key", "id": "keyboard", "actions": ways})


class Firefox(Browser):
    """Firefox, by WebDriver BiDi."""

    def __init__(self, port: int) -> None:
        self.number = 0
        address = f"ws://127.0.0.1:{port}/session"
        self.socket = websocket.create_connection(
            address, timeout=PATIENCE, suppress_origin=True
        )
        self.ask("session.new", capabilities={})
        # The first tab never has the focus where no window is shown, so that
        # keys press no button and JupyterLab has no current notebook.
        tab = self.ask("browsingContext.create", type="tab")
        self.tab = {"context": tab["context"]}

    def ask(self, method: str, **given: Any) -> dict:
        """Send a command and wait for its answer; events are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": given}
        self.socket.send(json.dumps(message))
        answer: dict = {}
        while answer.get("id") != self.number:
            answer = json.loads(self.socket.recv())
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]

    def goto(self, address: str) -> None:
        go = {"url": address, "wait": "complete"}
        self.ask("browsingContext.navigate", **self.tab, **go)

    def run(self, script: str) -> Any:
        text = f"(async () => JSON.stringify(await ({script})) ?? '')()"
        how = {"expression": text, "awaitPromise": True, "target": self.tab}
        answer = self.ask("script.evaluate", **how)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        value = answer["result"]["value"]
        return json.loads(value) if value else None

    def resize(self, width: int, height: int) -> None:
        room = {"width": width, "height": height}
        self.ask("browsingContext.setViewport", **self.tab, viewport=room)

    def act(self, source: dict) -> None:
        self.ask("input.performActions", **self.tab, actions=[source])


class WebKit(Browser):
    """WebKitGTK's MiniBrowser, by WebDriver."""

    def __init__(self, port: int, minibrowser: Path) -> None:
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"binary": str(minibrowser), "args": ["--automation"]}
        wanted = {"webkitgtk:browserOptions": options}
        answer = self.ask("", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/{answer['sessionId']}"
        timeouts = {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE}
        self.ask("/timeouts", timeouts)

    def ask(self, path: str, given: dict | None, method: str = "POST") -> Any:
        """Send a command and return the value of its answer."""
        data = None if given is None else json.dumps(given).encode()
        head = {"Content-Type": "application/json"}
        request = Request(self.address + path, data, head, method=method)
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def goto(self, address: str) -> None:
        self.ask("/url", {"url": address})

    def run(self, script: str) -> Any:
        text = (
            "const done = arguments[arguments.length - 1];"
            f"(async () => JSON.stringify(await ({script})) ?? '')().then("
            "done, error => done('!' + error));"
        )
        value = self.ask("/execute/async", {"script": text, "args": []})
        if value.startswith("!"):
            raise RuntimeError(value[1:])
        return json.loads(value) if value else None

    def resize(self, width: int, height: int) -> None:
        """Give the page this room, or what the window's frame allows."""
        shown = self.run("[innerWidth, innerHeight]")
        window = self.ask("/window/rect", None, "GET")
        wide = window["width"] + width - shown[0]
        high = window["height"] + height - shown[1]
        self.ask("/window/rect", {"width": wide, "height": high})

    def act(self, source: dict) -> None:
        self.ask("/actions", {"actions": [source]})


QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@contextmanager
def open_firefox() -> Iterator[Browser]:
    """Start Firefox without a window.

    Raises:
        FileNotFoundError: If there is none.
    """
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if not program:
        raise FileNotFoundError("no Firefox: apt-get install firefox-esr")
    port = free_port()
    with TemporaryDirectory() as profile:
        command = [program, "--headless", "--no-remote", "--profile", profile]
        command += ["--remote-debugging-port", str(port)]
        with running(command, **QUIET):
            yield _connected(lambda: Firefox(port))


@contextmanager
def open_webkit() -> Iterator[Browser]:
    """Start WebKitGTK on a virtual screen.

    Raises:
        FileNotFoundError: If it, or the screen, is not installed.
    """
    found = list(Path("/").glob(MINIBROWSER))
    driver = shutil.which("WebKitWebDriver")
    if not found or not driver or not shutil.which("xvfb-run"):
        raise FileNotFoundError(
            "no WebKit: apt-get install webkit2gtk-driver xvfb xauth"
        )
    port = free_port()
    screen = ["xvfb-run", "-a", "-s", "-screen 0 1400x1200x24"]
    with running([*screen, driver, "-p", str(port)], **QUIET):
        browser = _connected(lambda: WebKit(port, found[0]))
        yield browser
        with suppress(OSError):
            browser.ask("", None, "DELETE")


def _connected(connect: Callable[[], Browser]) -> Browser:
    """Connect as soon as the program answers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return connect()
        except (OSError, websocket.WebSocketException):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
