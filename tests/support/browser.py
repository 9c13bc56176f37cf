"""Debian's chromium, headless, controlled over its DevTools protocol: tests load pages, run scripts and type.

Owns the browser's processes, and ends them by their process group. It contains nothing about a particular
page.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest
from websockets.sync.client import ClientConnection, connect

WITHIN_S: Final = 60
OPTIONS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--remote-debugging-port=0", "--window-size=1280,900"),
)
_DEVTOOLS: Final = re.compile(rb"DevTools listening on ws://([^/]+)/")
_KEYS: Final = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}


class Page:
    """One page of a browser, controlled by scripts and key presses."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._last_id = 0
        self.complaints: list[str] = []
        """What the browser reported: uncaught errors, violations of the policy, errors that scripts log."""

    def load(self, url: str) -> None:
        """Navigate to a page, and wait until it is loaded."""
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable", {})
        self._call("Page.navigate", {"url": url})
        while self._received().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, or the result of a promise."""
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
        answer = self._call("Runtime.evaluate", asked)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> Any:
        """Return the value of an expression as soon as it is truthy; the expression is evaluated
        repeatedly."""
        return self.evaluate(
            "new Promise((resolve) => { const look = () => { const found = (() => { try { return "
            f"({condition}); }} catch {{ return null; }} }})(); "
            "if (found) resolve(found); else setTimeout(look, 20); }; look(); })"
        )

    def press(self, key: str) -> None:
        """Press one key."""
        text = {"Enter": "\r"}.get(key)
        code = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        self._call("Input.dispatchKeyEvent", {"type": "keyDown", **code, **({"text": text} if text else {})})
        self._call("Input.dispatchKeyEvent", {"type": "keyUp", **code})

    def write(self, text: str) -> None:
        """Type text into the focused element."""
        self._call("Input.insertText", {"text": text})

    def emulate_dark(self) -> None:
        """Emulate a user who prefers a dark color scheme."""
        self.emulate_scheme("dark")

    def emulate_scheme(self, scheme: str) -> None:
        """Emulate a user who prefers a color scheme, `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._call("Emulation.setEmulatedMedia", {"features": features})

    def resize(self, width: int, height: int, *, is_phone: bool = False) -> None:
        """Give the page another size, in CSS pixels. A phone draws its scroll bars over the page."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone}
        self._call("Emulation.setDeviceMetricsOverride", metrics)

    def hide_scrollbars(self) -> None:
        """Draw no scroll bars from now on, as on a screen that is touched."""
        self._call("Emulation.setScrollbarsHidden", {"hidden": True})

    def screenshot(self) -> bytes:
        """Return the visible part of the page as a PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", {"format": "png"})["data"])

    def _call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._last_id += 1
        self._socket.send(
            msgspec.json.encode({"id": self._last_id, "method": method, "params": parameters}), text=True
        )
        while (message := self._received()).get("id") != self._last_id:
            pass
        assert "error" not in message, message["error"]
        result: dict[str, Any] = message["result"]
        return result

    def _received(self) -> dict[str, Any]:
        message: dict[str, Any] = msgspec.json.decode(self._socket.recv(WITHIN_S))
        if complaint := _complaint_of(message.get("method", ""), message.get("params", {})):
            self.complaints.append(complaint)
        return message


def _complaint_of(event: str, content: dict[str, Any]) -> str | None:
    """Return the text of an event that reports an error, None for all others."""
    if event == "Runtime.exceptionThrown":
        details = content["exceptionDetails"]
        return str(details.get("exception", {}).get("description") or details["text"])
    if event == "Runtime.consoleAPICalled" and content["type"] in {"error", "warning", "assert"}:
        return " ".join(str(each.get("value", each.get("description"))) for each in content["args"])
    if event == "Log.entryAdded" and content["entry"]["level"] == "error":
        return f"{content['entry']['text']} {content['entry'].get('url', '')}"
    return None


@contextmanager
def browsing(url: str, profile: Path, launcher: Sequence[str] = ()) -> Iterator[Page]:
    """Yield a browser at `url`. On exit all of its processes end. `launcher` is a command that starts it,
    for example ``nice``."""
    command = [*launcher, chromium(), *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
    browser = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        with connect(_page_address(browser), max_size=None, proxy=None) as socket:
            page = Page(socket)
            page.load(url)
            yield page
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait(WITHIN_S)


def _page_address(browser: subprocess.Popen[bytes]) -> str:
    assert browser.stderr
    for line in browser.stderr:
        if found := _DEVTOOLS.search(line):
            targets = httpx.get(f"http://{found[1].decode()}/json/list", trust_env=False).json()
            address: str = next(each["webSocketDebuggerUrl"] for each in targets if each["type"] == "page")
            return address
    raise AssertionError("the browser ended before it could be asked")


def chromium() -> str:
    """Return the path of the browser. If it is missing, the test is skipped, or fails under CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is not None:
        return found
    message = "there is no chromium on this machine: apt-get install chromium"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
