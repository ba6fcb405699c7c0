"""Firefox and WebKit, as far as the tests need them.

Playwright drives browsers of its own, which cannot be had everywhere. These
two are the system's. Firefox is driven by Mozilla's `marionette-driver`, which
needs no program between; WebKitGTK's MiniBrowser by Selenium and its own
WebDriver. Neither client is locked: the tests skip without them.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from in_browser import free_port, running

MINIBROWSER = "usr/lib/*/webkit2gtk-4.1/MiniBrowser"
PATIENCE = 600  # seconds; Python in WebKit, on a busy machine, needs 200
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
KEYS = {
    "Enter": "\ue007",
    "Home": "\ue011",
    "ArrowRight": "\ue014",
}
# A promise is awaited, and its value handed over as JSON.
AWAITED = """const done = arguments[arguments.length - 1];
    (async () => JSON.stringify(await ({})) ?? 'null')().then(
        done, error => done('!' + error));"""


class Browser:
    """What tests do in both; places are in pixels of the window.

    Attributes:
        goto: Opens an address and waits until it has loaded.
        script: Runs the body of an asynchronous function.
        act: Performs the actions of one input device, as WebDriver has them.
        window: The width and height of the window, or sets them.
    """

    def __init__(
        self, goto: Callable, script: Callable, act: Callable, window: Callable
    ) -> None:
        self.goto, self.script = goto, script
        self.act, self.window = act, window

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, or of its promise."""
        value = self.script(AWAITED.format(expression))
        if value.startswith("!"):
            raise RuntimeError(value[1:])
        return json.loads(value)

    def call(self, function: str, *arguments: Any) -> Any:
        """The value of a JavaScript function for what JSON can hold."""
        return self.run(
            f"({function})({', '.join(map(json.dumps, arguments))})"
        )

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.2)

    def resize(self, width: int, height: int) -> None:
        """Give the page this room, or what the window's frame allows."""
        shown, window = self.run("[innerWidth, innerHeight]"), self.window()
        self.window(
            window[0] + width - shown[0], window[1] + height - shown[1]
        )

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


@contextmanager
def open_firefox() -> Iterator[Browser]:
    """Start Firefox without a window; the test skips where there is none."""
    module = pytest.importorskip("marionette_driver.marionette")
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if not program:
        pytest.skip("no Firefox: apt-get install firefox-esr")
    port = free_port()
    with TemporaryDirectory() as profile:
        setting = f'user_pref("marionette.port", {port});'
        (Path(profile) / "user.js").write_text(setting)
        command = [program, "--headless", "--no-remote", "--marionette"]
        with running([*command, "--profile", profile], **QUIET):
            firefox = module.Marionette(port=port, startup_timeout=PATIENCE)
            firefox.start_session()
            firefox.timeout.script = firefox.timeout.page_load = PATIENCE
            # The first tab never has the focus where no window is shown, so
            # that keys press no button and JupyterLab has no notebook.
            tab = firefox.open(type="tab", focus=True)
            firefox.switch_to_window(tab["handle"])

            def window(*size: int) -> list[int]:
                if size:
                    firefox.set_window_rect(width=size[0], height=size[1])
                rect = firefox.window_rect
                return [rect["width"], rect["height"]]

            def act(source: dict) -> None:
                firefox.actions.perform([source])

            script = partial(firefox.execute_async_script, sandbox=None)
            yield Browser(firefox.navigate, script, act, window)


@contextmanager
def open_webkit() -> Iterator[Browser]:
    """Start WebKitGTK on a virtual screen; the test skips without it."""
    webdriver = pytest.importorskip("selenium.webdriver")
    programs = list(Path("/").glob(MINIBROWSER))
    driver = shutil.which("WebKitWebDriver")
    if not programs or not driver or not shutil.which("Xvfb"):
        pytest.skip("no WebKit: apt-get install webkit2gtk-driver xvfb xauth")
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(programs[0])
    options.add_argument("--automation")
    with virtual_screen() as screen:
        env = os.environ | {"DISPLAY": screen}
        service = webdriver.WebKitGTKService(driver, env=env)
        with webdriver.WebKitGTK(options, service) as webkit:
            webkit.set_script_timeout(PATIENCE)
            webkit.set_page_load_timeout(PATIENCE)

            def window(*size: int) -> list[int]:
                if size:
                    webkit.set_window_size(*size)
                rect = webkit.get_window_size()
                return [rect["width"], rect["height"]]

            def act(source: dict) -> None:
                webkit.execute("actions", {"actions": [source]})

            script = webkit.execute_async_script
            yield Browser(webkit.get, script, act, window)


@contextmanager
def virtual_screen() -> Iterator[str]:
    """Start a screen that nobody sees; the name of its display."""
    read, write = os.pipe()
    size = ["-screen", "0", "1400x1200x24"]
    command = ["Xvfb", "-displayfd", str(write), *size]
    with running(command, pass_fds=[write], **QUIET), open(read) as display:
        yield f":{display.readline().strip()}"
