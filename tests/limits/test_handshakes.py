"""Invalid opening handshakes: the server answers with a 4xx and ends the connection."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.seeds import some_each_day
from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import TIMEOUT_S, Answer, Wire, request, wired

CONNECTIONS_MAX = 20
LINES = {
    "host": b"host: localhost",
    "connection": b"connection: Upgrade",
    "upgrade": b"upgrade: websocket",
    "version": b"sec-websocket-version: 13",
    "key": b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with running_server(tmp_path_factory.mktemp("handshakes"), "--durability", "none") as process:
        yield process
        assert "Traceback" not in process.log_text


@pytest.fixture
def wire(target: ServerProcess) -> Iterator[Wire]:
    with wired(target.port) as connection:
        yield connection


def handshake(*more: bytes, line: bytes = b"GET /v1/ws HTTP/1.1", body: bytes = b"", **lines: bytes) -> bytes:
    """An opening handshake; `lines` replace its own, an empty one leaves the header out."""
    all_lines = (line, *(value for value in {**LINES, **lines}.values() if value), *more)
    return b"\r\n".join(all_lines) + b"\r\n\r\n" + body


def assert_refused(wire: Wire, answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.problem["code"]) == (status, code), answer
    assert answer.headers["connection"] == "close"
    assert wire.read_to_end() == b""


UNREADABLE = {
    "body": (handshake(b"content-length: 5", body=b"hello"), 400, "BAD_REQUEST"),
    "body that never comes": (handshake(b"content-length: 5"), 400, "BAD_REQUEST"),
    "chunked body": (handshake(b"transfer-encoding: chunked", body=b"0\r\n\r\n"), 400, "BAD_REQUEST"),
    "chunks that never come": (handshake(b"transfer-encoding: chunked"), 400, "BAD_REQUEST"),
    "long header": (handshake(b"x-long: " + b"x" * 9_000), 431, "HEAD_TOO_LARGE"),
    "long target": (handshake(line=b"GET /v1/ws?" + b"x" * 9_000 + b" HTTP/1.1"), 414, "URL_TOO_LONG"),
}
"""Handshakes that the WebSocket library cannot read."""


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        *UNREADABLE.values(),
        (handshake(version=b"sec-websocket-version: 8"), 426, "UPGRADE_REQUIRED"),
        (handshake(version=b""), 426, "UPGRADE_REQUIRED"),
        (handshake(b"sec-websocket-version: 13"), 426, "UPGRADE_REQUIRED"),
        (handshake(key=b""), 400, "BAD_REQUEST"),
        (handshake(key=b"sec-websocket-key: %%%"), 400, "BAD_REQUEST"),
        (handshake(key=b"sec-websocket-key: c2hvcnQ="), 400, "BAD_REQUEST"),
        (handshake(key=b"sec-websocket-key: \xff\xfe"), 400, "BAD_REQUEST"),
        (handshake(LINES["key"]), 400, "BAD_REQUEST"),
        (handshake(b"sec-websocket-protocol: other"), 400, "BAD_REQUEST"),
        (handshake(b"sec-websocket-protocol: ,;"), 400, "BAD_REQUEST"),
        (handshake(b"origin: http://localhost", b"origin: http://localhost"), 400, "BAD_REQUEST"),
        (handshake(b"origin: http://["), 403, "ORIGIN_NOT_ALLOWED"),
        (handshake(host=b"host: ["), 400, "BAD_REQUEST"),
        (handshake(host=b""), 400, "BAD_REQUEST"),
        (handshake(LINES["host"]), 400, "BAD_REQUEST"),
        (handshake(connection=b'connection: upgrade, "'), 400, "BAD_REQUEST"),
    ],
)
def test_a_handshake_that_is_not_valid_is_a_problem_and_ends_the_connection(
    wire: Wire, raw: bytes, status: int, code: str
) -> None:
    assert_refused(wire, wire.ask(raw), status, code)


def test_the_answer_to_another_version_names_the_one_that_is_spoken(wire: Wire) -> None:
    answer = wire.ask(handshake(version=b"sec-websocket-version: 25"))
    assert (answer.headers["sec-websocket-version"], answer.headers["upgrade"]) == ("13", "websocket")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_without_a_handshake_is_told_to_upgrade(wire: Wire, method: str) -> None:
    wire.send(request(method, "/v1/ws", content_type=None))
    answer = wire.receive() if method == "GET" else head_answer(wire)
    assert (answer.status, answer.headers["upgrade"]) == (426, "websocket")
    assert answer.headers["content-type"] == "application/problem+json"
    assert wire.ask(request("GET", "/healthz")).status == 200


def head_answer(wire: Wire) -> Answer:
    """An answer whose length is that of a body which is not sent."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += wire.socket.recv(65_536)
    status, *lines = head.decode().removesuffix("\r\n\r\n").split("\r\n")
    return Answer(int(status.split()[1]), dict(line.split(": ", 1) for line in lines), b"")


@pytest.mark.parametrize(
    "raw",
    [
        handshake(line=b"GET /v1/ws HTTP/1.0"),
        handshake(upgrade=b"upgrade: h2c"),
        handshake(upgrade=b"upgrade: h2c, websocket"),
        handshake(b"upgrade: h2c"),
        handshake(upgrade=b""),
        handshake(connection=b""),
    ],
)
def test_a_handshake_for_another_protocol_is_told_to_upgrade(wire: Wire, raw: bytes) -> None:
    assert wire.ask(raw).problem["code"] == "UPGRADE_REQUIRED"


def test_another_method_with_a_handshake_is_a_405(wire: Wire) -> None:
    answer = wire.ask(handshake(line=b"POST /v1/ws HTTP/1.1"))
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_handshake_elsewhere_is_an_ordinary_request(wire: Wire) -> None:
    assert wire.ask(handshake(line=b"GET /v1/elsewhere HTTP/1.1")).problem["code"] == "NOT_FOUND"
    assert wire.ask(handshake(line=b"GET /healthz HTTP/1.1")).status == 200


def test_the_protocol_does_not_change_while_an_earlier_request_is_answered(wire: Wire) -> None:
    waiting = b'{"streams":[{"key":"x","after":"$"}],"wait_ms":100}'
    wire.send(request("POST", "/v1/read", waiting, "prefer: nothing") + handshake())
    assert [wire.receive().status for _ in range(2)] == [200, 426]


def test_a_handshake_after_a_hot_request_is_read_after_its_answer(wire: Wire) -> None:
    waiting = b'{"streams":[{"key":"x","after":"$"}],"wait_ms":100}'
    wire.send(request("POST", "/v1/read", waiting) + handshake())
    assert [wire.receive().status for _ in range(2)] == [200, 101]


def test_a_handshake_by_its_absolute_target_is_accepted(wire: Wire) -> None:
    assert wire.ask(handshake(line=b"GET http://localhost/v1/ws HTTP/1.1")).status == 101


def masked(opcode: int, payload: bytes) -> bytes:
    """A final frame of a client, its mask zero."""
    return bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        (masked(1, b'"\xff"'), 1007),
        (bytes([1, 0x81]) + bytes(4) + b"\xc3" + masked(0, b"("), 1007),
        (masked(8, b"\x03\xe8\xff"), 1007),
        (masked(8, b"\x03"), 1002),
        (masked(3, b""), 1002),
        (bytes([0x81, 1]) + b"x", 1002),
    ],
    ids=["text", "text in fragments", "close reason", "close code", "opcode", "no mask"],
)
def test_a_frame_that_is_not_valid_ends_the_connection_with_its_code(
    wire: Wire, frames: bytes, code: int
) -> None:
    assert wire.ask(handshake()).status == 101
    wire.send(frames)
    rest = wire.read_to_end()
    assert bytes([0x88]) in rest
    assert code.to_bytes(2, "big") in rest[rest.rindex(0x88) :]


def test_a_text_message_that_is_not_utf_8_ends_the_connection_with_1007_and_is_not_executed(
    wire: Wire,
) -> None:
    assert wire.ask(handshake()).status == 101
    wire.send(masked(1, b'{"id":1,"op":"append","key":"utf8","fields":{"a":"\xff"}}'))
    received = wire.read_to_end()
    hello_bytes = int.from_bytes(received[2:4], "big")
    close = received[4 + hello_bytes :]
    assert (close[:1], int.from_bytes(close[2:4], "big")) == (b"\x88", 1007)
    assert close[4:] == b"a text message must be UTF-8"


def test_a_text_that_is_not_valid_in_one_read_with_a_close_frame_ends_the_connection(wire: Wire) -> None:
    assert wire.ask(handshake()).status == 101
    wire.send(masked(1, b"\xff") + masked(8, b"\x03\xe8"))
    assert b"\x88\x02\x03\xe8" in wire.read_to_end()


@pytest.mark.parametrize("case", some_each_day(UNREADABLE, 3))
def test_handshakes_that_cannot_be_read_take_no_connection_for_good(tmp_path: Path, case: str) -> None:
    """As many as the limit of connections: the server still serves the next client."""
    raw, status, _ = UNREADABLE[case]
    options = ("--durability", "none", "--connections-max", str(CONNECTIONS_MAX), "--header-timeout-s", "2")
    with running_server(tmp_path, *options) as server, ExitStack() as stack:
        wires = [stack.enter_context(wired(server.port)) for _ in range(CONNECTIONS_MAX)]
        for wire in wires:
            assert wire.ask(raw).status == status
            assert wire.read_to_end() == b""
        for _ in range(CONNECTIONS_MAX // 2):
            stack.enter_context(opened(server.port))


@contextmanager
def opened(port: int) -> Iterator[Wire]:
    """A WebSocket, as soon as the server has room for one."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        with wired(port) as wire:
            if b" 101 " in wire.send(handshake()).read_answer_or_end():
                yield wire
                return
    raise AssertionError("the server has no room for another connection")
