"""JSONTestSuite, from npm, judges how the server reads JSON: bodies on the hot and the documented way, and
frames of the WebSocket.

The name of a case begins with `y` if every parser must accept the text, with `n` if every parser must refuse
it, with `i` if a parser may do either. No text is a request: JSON gets an error about its contents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.support.server_process import ServerProcess
from tests.support.third_party import exports_of
from tests.support.wire import Answer, Wire, request, wired

JSON: Final = Subprotocol("tailrace.v1.json")
STREAM: Final = "/v1/streams/json-suite"
PATHS: Final = (f"{STREAM}/entries", f"{STREAM}/entries:trim", "/v1/command")
"""Bodies that a fast decoder reads, that only a model reads, and that are words."""


@pytest.fixture(scope="module")
def cases() -> dict[str, bytes]:
    return {
        case["name"]: case["input"].encode() for case in exports_of("json-test-suite/index.js")["parsing"]
    }


@pytest.fixture
def wire(server: ServerProcess) -> Iterator[Wire]:
    with wired(server.port) as connection:
        yield connection


def posted(wire: Wire, path: str, body: bytes, *extra: str) -> Answer:
    return wire.ask(request("POST", path, body, *extra, *(["content-length: 0"] if not body else [])))


def code_of(answer: Answer) -> str | None:
    content = json.loads(answer.body)
    return content.get("code") if isinstance(content, dict) else None


def is_right(name: str, *, is_malformed: bool) -> bool:
    return name.startswith("i") or is_malformed is name.startswith("n")


def test_every_body_that_is_not_json_is_malformed_and_no_other(wire: Wire, cases: dict[str, bytes]) -> None:
    wrong = []
    for path in PATHS:
        for name, body in cases.items():
            hot, documented = (posted(wire, path, body, *extra) for extra in ((), ("prefer: nothing",)))
            codes = [code_of(answer) for answer in (hot, documented)]
            right = is_right(name, is_malformed=codes[0] == "MALFORMED_BODY")
            if not right or hot.status >= 500 or (hot.status, codes[0]) != (documented.status, codes[1]):
                wrong.append((path, name, hot.status, codes))
    assert wrong == []


def test_strings_arrive_as_they_were_sent(wire: Wire, cases: dict[str, bytes]) -> None:
    wrong, count = [], 0
    for name, body in cases.items():
        values = json.loads(body) if name.startswith("y") else None
        if not (isinstance(values, list) and len(values) == 1 and isinstance(values[0], str)):
            continue
        count += 1
        item = body.strip()[1:-1]
        echoed = json.loads(posted(wire, "/v1/command", b'["ECHO",%b]' % item).body)
        posted(wire, f"{STREAM}/entries", b'{"fields":{"a":%b},"trim":{"max_length":1}}' % item)
        entries = json.loads(wire.ask(request("GET", f"{STREAM}/entries")).body)["entries"]
        if [echoed["result"], entries[-1]["fields"]["a"]] != values * 2:
            wrong.append((name, echoed, entries))
    assert wrong == []
    assert count > 40


def greeted(server: ServerProcess) -> ClientConnection:
    address = f"ws://127.0.0.1:{server.port}/v1/ws"
    connection = connect(address, subprotocols=[JSON], legacy=True)
    connection.recv(timeout=30)
    return connection


def replied(connection: ClientConnection, frame: bytes) -> Any:
    """Return the reply to a frame, or the code of the close."""
    connection.send(frame, text=True)
    try:
        return json.loads(connection.recv(timeout=30))
    except ConnectionClosed as closed:
        return None if closed.rcvd is None else closed.rcvd.code


def test_a_frame_that_is_not_json_ends_the_connection_and_no_other(
    server: ServerProcess, cases: dict[str, bytes]
) -> None:
    wrong = []
    connection = greeted(server)
    for name, frame in cases.items():
        reply = replied(connection, frame)
        is_closed = reply == CloseCode.INVALID_DATA
        if not is_right(name, is_malformed=is_closed) or not (is_closed or isinstance(reply, dict | list)):
            wrong.append((name, reply))
        if not isinstance(reply, dict | list):
            connection.close()
            connection = greeted(server)
    connection.close()
    assert wrong == []
