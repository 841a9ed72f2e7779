"""A real headless Chromium over its debugging pipe: pages, keys, and the tree that a screen reader is given.

Only what the tests of pages need, without another package. The browser, its profile and its pipe end with the block.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60.0
Json = dict[str, object]
# Code and key of what is typed by name; everything else is text.
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "ArrowDown": (40, ""), "Escape": (27, "")}

# The browser wants the pipe as descriptors 3 and 4; copies first, so that neither end overwrites the other.
_STARTER = """
import os, sys
ends = [os.dup(os.dup(os.dup(int(end)))) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """Return the program, or None where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Node(NamedTuple):
    """What a screen reader is told of one element."""

    role: str
    name: str
    properties: Mapping[str, object]


class Browser:
    """The pipe to a running browser."""

    def __init__(self, process: "subprocess.Popen[bytes]", reading: int, writing: int) -> None:
        self._process = process
        self._reading = reading
        self._writing = writing
        self._next = 0
        self._rest = b""
        self.events: list[Json] = []

    def call(self, method: str, session: str = "", **params: object) -> Json:
        """Call a method and wait for its answer; what happens meanwhile is kept in `events`."""
        self._next += 1
        number = self._next
        message: Json = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(end)
            if answer.get("id") != number:
                self.events.append(answer)
                continue
            assert "error" not in answer, (method, answer)
            result = answer["result"]
            assert isinstance(result, dict)
            return result

    def wait_for(self, method: str) -> Json:
        """Return the first event of a kind, and forget it."""
        end = time.monotonic() + PATIENCE
        while True:
            for number, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(number)
            self.events.append(self._receive(end))

    def _receive(self, end: float) -> Json:
        while b"\0" not in self._rest:
            left = end - time.monotonic()
            assert left > 0 and self._process.poll() is None, "the browser does not answer"
            if select.select([self._reading], [], [], min(left, 0.5))[0]:
                data = os.read(self._reading, 1 << 20)
                assert data, "the browser has gone"
                self._rest += data
        raw, self._rest = self._rest.split(b"\0", 1)
        found: Json = json.loads(raw)
        return found

    def open(self, url: str, *, has_script: bool = True, width: int = 1000) -> "Page":
        """Open a page of its own and wait until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = str(self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "DOM"):
            page.call(f"{domain}.enable")
        if not has_script:
            page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.events.clear()
        page.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")
        page.call("Page.bringToFront")
        return page


class Page:
    """One page."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    def call(self, method: str, **params: object) -> Json:
        return self._browser.call(method, self._session, **params)

    def value(self, expression: str) -> object:
        """Return what an expression gives inside the page; works without the page's own scripts too."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        found = result["result"]
        assert isinstance(found, dict)
        return found.get("value")

    def press(self, *keys: str) -> None:
        """Press keys by name, or type text."""
        for key in keys:
            if key in _KEYS:
                code, text = _KEYS[key]
                event: Json = {"key": key, "code": key, "windowsVirtualKeyCode": code}
                down: Json = {"type": "keyDown" if text else "rawKeyDown", **({"text": text} if text else {})}
                self.call("Input.dispatchKeyEvent", **{**event, **down})
                self.call("Input.dispatchKeyEvent", **{**event, "type": "keyUp"})
                continue
            for letter in key:
                self.call("Input.dispatchKeyEvent", type="char", text=letter)

    def follow(self) -> None:
        """Press Enter on what has the focus, and wait for the page it leads to."""
        self._browser.events.clear()
        self.press("Enter")
        self._browser.wait_for("Page.loadEventFired")

    def tree(self) -> list[Node]:
        """Return the accessibility tree in reading order, without what is hidden from it."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        assert isinstance(nodes, list)
        found = []
        for node in nodes:
            if node.get("ignored"):
                continue
            properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
            role, name = node["role"].get("value", ""), node.get("name", {}).get("value", "")
            found.append(Node(role, name, properties))
        return found

    def named(self, *roles: str) -> list[tuple[str, str]]:
        """Return role and name of the nodes of some roles."""
        return [(node.role, node.name) for node in self.tree() if node.role in roles]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the page was opened."""
        found = []
        for event in self._browser.events:
            params = event.get("params")
            if event.get("method") == "Network.requestWillBeSent" and isinstance(params, dict):
                found.append(str(params["request"]["url"]))
        return found

    def complaints(self) -> list[object]:
        """Return errors of scripts, of the console and of the page's policy."""
        kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [event.get("params") for event in self._browser.events if event.get("method") in kinds]


@contextmanager
def chromium(program: str, profile: Path) -> Iterator[Browser]:
    """Run a browser with a profile of its own."""
    to_browser, from_browser = os.pipe(), os.pipe()
    options = [
        "--headless=new",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
        "--no-first-run",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-extensions",
        "--force-renderer-accessibility",
        # Tests often run as root in a container, where the sandbox cannot be set up; only pages of ours are opened.
        "--no-sandbox",
        "about:blank",
    ]
    ends = (str(to_browser[0]), str(from_browser[1]))
    command = [sys.executable, "-c", _STARTER, *ends, program, *options]
    process = subprocess.Popen(
        command,
        pass_fds=(to_browser[0], from_browser[1]),
        # What it writes besides its profile lies there too.
        env={**os.environ, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile), "XDG_CACHE_HOME": str(profile)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    browser = Browser(process, from_browser[0], to_browser[1])
    try:
        yield browser
    finally:
        _end(process, browser)
        os.close(to_browser[1])
        os.close(from_browser[0])


def _end(process: "subprocess.Popen[bytes]", browser: Browser) -> None:
    try:
        browser.call("Browser.close")
        process.wait(10)
    except (AssertionError, OSError, subprocess.TimeoutExpired):
        pass
    try:
        # Renderers and helpers are children in the same session.
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.wait(PATIENCE)
