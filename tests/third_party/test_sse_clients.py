"""Usual clients of Server-Sent Events, from npm and PyPI, take a tail as it is.

They hand every block to the program, also one without data, and programs parse each as JSON.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final

import httpx
import pytest
from httpx_sse import connect_sse
from sseclient import SSEClient

from tailrace.api.follow import sse
from tests.support.typescript import node

HERE: Final = Path(__file__).parent
INSTALLED: Final = HERE.parents[1] / "build/third-party/package.json"
WITHIN_S: Final = 60

ENTRIES: Final = [{"id": "1-0", "fields": {"a": "1"}}]
GAP: Final = {"key": "s", "from": "1-0", "to": "5-0"}
EVENTS: Final[list[list[Any]]] = [
    ["entries", "0-0", []],
    ["entries", "1-0", ENTRIES],
    ["gap", "4-0", GAP],
    ["end", "4-0", {}],
]
"""Name, last id and data of each event."""

TAIL: Final = b"".join(
    (
        sse.opening([], "0-0"),
        sse.COMMENT,
        sse.COMMENT,
        sse.event("entries", ENTRIES, "1-0"),
        sse.COMMENT,
        sse.event("gap", GAP, "4-0"),
        sse.COMMENT,
        sse.failure("end", {}),
    )
)
"""What the server writes for these events, with heartbeats between them."""


BEGINNING: Final = sse.opening([], "0-0").replace(b"2000", b"1") + sse.event("entries", ENTRIES, "1-0")


class Answer(BaseHTTPRequestHandler):
    """Sends the tail and ends the connection. On the path `/breaking`, it first sends half of the tail, then
    the error of a proxy."""

    asked: ClassVar[list[str]] = []
    """The requests for `/breaking`, each as the query and the header `Last-Event-ID`."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/breaking":
            self.asked.append(f"{query} {self.headers['Last-Event-ID']}")
            if len(self.asked) == 2:
                self.send_error(503)
                return
        self.send_response(200)
        self.send_header("Content-Type", sse.EVENT_STREAM)
        self.end_headers()
        self.wfile.write(TAIL if len(self.asked) != 1 else BEGINNING)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def through_node(client: str, *arguments: str) -> Callable[[str], Any]:
    def seen(address: str) -> Any:
        assert INSTALLED.exists(), "it is not installed: make build/third-party/.installed"
        command = [node(), str(HERE / "sse.mjs"), client, address, str(INSTALLED), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return seen


def through_httpx_sse(address: str) -> list[list[Any]]:
    with httpx.Client() as client, connect_sse(client, "GET", address) as source:
        return [[event.event, event.id, event.json()] for event in source.iter_sse()]


def through_sseclient(address: str) -> list[list[Any]]:
    seen = []
    for message in SSEClient(address):
        seen.append([message.event, message.id, json.loads(message.data)])
        if message.event == "end":
            break
    return seen


CLIENTS: Final = {
    "eventsource": through_node("eventsource"),
    "fetch-event-source": through_node("fetch-event-source"),
    "httpx-sse": through_httpx_sse,
    "sseclient": through_sseclient,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_message_of_a_tail_has_data_and_heartbeats_are_none(client: str, address: str) -> None:
    seen = CLIENTS[client](address)
    names = [event[0] for event in EVENTS]
    assert [event[0] for event in seen] == names
    assert [event[2] for event in seen] == [event[2] for event in EVENTS]
    assert [event[1] or "4-0" for event in seen] == [event[1] for event in EVENTS]


def test_the_function_of_the_page_comes_back_after_an_error_of_a_proxy(address: str) -> None:
    page = (HERE.parents[1] / "docs/consuming.md").read_text()
    function = page[page.index("function follow(") : page.index("\nfollow(")]
    seen = through_node("page", function)(f"{address}breaking")
    assert [event[1] for event in seen] == ["0-0", "1-0", "0-0", "1-0"]
    assert Answer.asked == ["after=0-0 None", "after=0-0 1-0", "after=1-0 None"]
