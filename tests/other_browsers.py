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
# A promise is awaited, and its value handed over as JSON.
AWAITED = """const done = arguments[arguments.length - 1];
    ({})().then(value => done(JSON.stringify(value)),
        error => done(JSON.stringify({{ failed: `${{error}}` }})));"""


def value_of(script: Callable[[str], str], function: str) -> Any:
    """The value of an asynchronous JavaScript function.

    Args:
        script: Runs the body of a function that calls its last argument.
        function: The function, as an expression.
    """
    value = json.loads(script(AWAITED.format(function)))
    assert "failed" not in value, value
    return value


@contextmanager
def open_firefox() -> Iterator[tuple[Callable, Callable]]:
    """Start Firefox without a window; what opens a page, and `value_of`."""
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
            script = partial(firefox.execute_async_script, sandbox=None)
            yield firefox.navigate, partial(value_of, script)


@contextmanager
def open_webkit() -> Iterator[tuple[Callable, Callable]]:
    """Start WebKitGTK on a screen that nobody sees; as `open_firefox`."""
    webdriver = pytest.importorskip("selenium.webdriver")
    programs = list(Path("/").glob(MINIBROWSER))
    driver = shutil.which("WebKitWebDriver")
    if not programs or not driver or not shutil.which("Xvfb"):
        pytest.skip("no WebKit: apt-get install webkit2gtk-driver xvfb xauth")
    options = webdriver.WebKitGTKOptions()
    options.binary_location = str(programs[0])
    options.add_argument("--automation")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write)]
    with running(command, pass_fds=[write], **QUIET), open(read) as display:
        env = os.environ | {"DISPLAY": f":{display.readline().strip()}"}
        service = webdriver.WebKitGTKService(driver, env=env)
        with webdriver.WebKitGTK(options, service) as webkit:
            webkit.set_script_timeout(PATIENCE)
            webkit.set_page_load_timeout(PATIENCE)
            yield webkit.get, partial(value_of, webkit.execute_async_script)
