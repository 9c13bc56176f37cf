"""Long-polls that wait at a running server, started one after another so that their order is known.

Owns their threads. It reads from the server's count of blocked clients whether a reader waits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, Self

import httpx

WITHIN_S: Final = 10
_BLOCKED: Final = re.compile(r"blocked_clients:(\d+)")


def until(holds: Callable[[], bool], within_s: float = WITHIN_S) -> None:
    """Wait until `holds` returns true; raise if the time is over first."""
    deadline_s = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline_s, "the condition did not become true in time"
        time.sleep(0.005)


class Server:
    """A server under test, which takes HTTP requests and Redis commands."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._client = httpx.Client(base_url=base_url, timeout=WITHIN_S)
        self._threads = ThreadPoolExecutor(max_workers=32)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()
        self._client.close()

    def post(self, url: str, body: Any) -> httpx.Response:
        return self._client.post(url, json=body)

    def command(self, *words: str | int) -> Any:
        """Return the result of a Redis command, which must succeed."""
        response = self.post("/v1/command", [str(word) for word in words])
        assert response.status_code == 200, response.text
        return response.json()["result"]

    def transaction(self, *commands: str) -> list[Any]:
        """Return the results of commands that run in one transaction."""
        response = self.post("/v1/command/multi-exec", [command.split() for command in commands])
        return [outcome["result"] for outcome in response.json()]

    def blocked(self) -> int:
        """Return how many readers wait."""
        found = _BLOCKED.search(self.command("INFO"))
        assert found
        return int(found[1])

    def waiting(self, url: str, body: Any) -> Future[httpx.Response]:
        """Send a POST that waits, and wait until the server counts one more reader."""
        return self.waiting_call(lambda: httpx.post(self.base_url + url, json=body, timeout=2 * WITHIN_S))

    def waiting_get(self, url: str, **headers: str) -> Future[httpx.Response]:
        """Send a GET that waits, as `waiting` does for a POST."""
        return self.waiting_call(
            lambda: httpx.get(self.base_url + url, headers=headers, timeout=2 * WITHIN_S)
        )

    def waiting_command(self, line: str) -> Future[httpx.Response]:
        """Send a Redis command that waits, as `waiting` does for a POST."""
        return self.waiting("/v1/command", line.split())

    def waiting_call(self, call: Callable[[], httpx.Response]) -> Future[httpx.Response]:
        before = self.blocked()
        future = self._threads.submit(call)
        until(lambda: self.blocked() > before)
        return future
