"""Firefox and WebKit, as far as the tests need them.

Playwright drives browsers of its own, which cannot be had everywhere. These
two are the system's: any Firefox that speaks WebDriver BiDi, and WebKitGTK's
MiniBrowser by its own WebDriver. Both take JavaScript, mouse and keys.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

import websocket

FIREFOX, WEBKIT = "firefox-esr", "WebKitWebDriver"
MINIBROWSER = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"
PATIENCE = 600  # seconds; Python in WebKit, on a busy machine, needs 200
KEYS = {
    "Enter": "\ue007",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowRight": "\ue014",
}


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Browser:
    """What both have in common; places are in pixels of the window."""

    def goto(self, address: str) -> None:
        """Open a page, and wait until it has loaded."""
        raise NotImplementedError

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        raise NotImplementedError

    def resize(self, width: int, height: int) -> None:
        """Give the page this room."""
        raise NotImplementedError

    def act(self, source: dict) -> None:
        """Perform the actions of one input device, as WebDriver has them."""
        raise NotImplementedError

    def wait_for(self, condition: str, seconds: float = PATIENCE) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.2)

    def drag(self, start: list[float], by: tuple[float, float]) -> None:
        """Press the mouse at a place, move it in steps, and let it go."""
        x, y = start
        moves = [(x + by[0] * k / 4, y + by[1] * k / 4) for k in range(1, 5)]
        actions = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            *(
                {"type": "pointerMove", "x": round(a), "y": round(b)}
                for a, b in moves
            ),
            {"type": "pointerUp", "button": 0},
        ]
        self.act({"type": "pointer", "id": "mouse", "actions": actions})

    def press(self, key: str) -> None:
        """Press a key, named as in KEYS, or a character."""
        value = KEYS.get(key, key)
        actions = [
            {"type": "keyDown", "value": value},
            {"type": "keyUp", "value": value},
        ]
        self.act({"type": "key", "id": "keyboard", "actions": actions})


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
        self.context = self.ask("browsingContext.create", type="tab")[
            "context"
        ]

    def ask(self, method: str, **given: Any) -> dict:
        """Send a command and wait for its answer; events are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": given}
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]

    def goto(self, address: str) -> None:
        """Open a page, and wait until it has loaded."""
        self.ask(
            "browsingContext.navigate",
            context=self.context,
            url=address,
            wait="complete",
        )

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        text = f"(async () => JSON.stringify(await ({script})) ?? '')()"
        answer = self.ask(
            "script.evaluate",
            expression=text,
            target={"context": self.context},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        value = answer["result"]["value"]
        return json.loads(value) if value else None

    def resize(self, width: int, height: int) -> None:
        """Give the page this room."""
        self.ask(
            "browsingContext.setViewport",
            context=self.context,
            viewport={"width": width, "height": height},
        )

    def act(self, source: dict) -> None:
        """Perform the actions of one input device."""
        self.ask(
            "input.performActions", context=self.context, actions=[source]
        )


class WebKit(Browser):
    """WebKitGTK's MiniBrowser, by WebDriver."""

    def __init__(self, port: int, minibrowser: str) -> None:
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"binary": minibrowser, "args": ["--automation"]}
        wanted = {"webkitgtk:browserOptions": options}
        answer = self.ask("", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/{answer['sessionId']}"
        timeouts = {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE}
        self.ask("/timeouts", timeouts)

    def ask(self, path: str, given: dict, method: str = "POST") -> Any:
        """Send a command and return the value of its answer."""
        data = json.dumps(given).encode() if method == "POST" else None
        head = {"Content-Type": "application/json"}
        request = Request(self.address + path, data, head, method=method)
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def goto(self, address: str) -> None:
        """Open a page, and wait until it has loaded."""
        self.ask("/url", {"url": address})

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
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
        rect = self.ask("/window/rect", {}, "GET")
        self.ask(
            "/window/rect",
            {
                "width": rect["width"] + width - shown[0],
                "height": rect["height"] + height - shown[1],
            },
        )

    def act(self, source: dict) -> None:
        """Perform the actions of one input device."""
        self.ask("/actions", {"actions": [source]})


@contextmanager
def open_firefox() -> Iterator[Browser]:
    """Start Firefox without a window.

    Raises:
        FileNotFoundError: If there is none.
    """
    program = shutil.which(FIREFOX) or shutil.which("firefox")
    if not program:
        raise FileNotFoundError("no Firefox: apt-get install firefox-esr")
    port = free_port()
    with TemporaryDirectory() as profile:
        command = [program, "--headless", "--no-remote", "--profile", profile]
        with _running([*command, "--remote-debugging-port", str(port)]):
            yield _connected(lambda: Firefox(port))


@contextmanager
def open_webkit() -> Iterator[Browser]:
    """Start WebKitGTK on a virtual screen.

    Raises:
        FileNotFoundError: If it, or the screen, is not installed.
    """
    found = [str(path) for path in Path("/").glob(MINIBROWSER[1:])]
    driver = shutil.which(WEBKIT)
    if not found or not driver or not shutil.which("xvfb-run"):
        raise FileNotFoundError(
            "no WebKit: apt-get install webkit2gtk-driver xvfb xauth"
        )
    port = free_port()
    command = ["xvfb-run", "-a", "-s", "-screen 0 1400x1200x24"]
    with _running([*command, driver, "-p", str(port)]):
        browser = _connected(lambda: WebKit(port, found[0]))
        yield browser
        with suppress(OSError):
            browser.ask("", {}, "DELETE")


@contextmanager
def _running(command: list[str]) -> Iterator[None]:
    """Start a program, and end it with all that it has started."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet, start_new_session=True) as program:
        try:
            yield
        finally:
            for how in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, how)
                with suppress(subprocess.TimeoutExpired):
                    program.wait(10)


def _connected(connect: Any) -> Browser:
    """Connect as soon as the program answers."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return connect()
        except (OSError, websocket.WebSocketException):
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
