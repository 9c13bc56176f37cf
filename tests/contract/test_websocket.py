"""The WebSocket through a real connection: handshake, closes, slow readers, shutdown."""

from __future__ import annotations

import socket
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tailrace.api.websocket_limits import FRAME_BYTES_MAX
from tailrace.app.protocols import websocket, websocket_output
from tailrace.core.commands import (
    Append,
    CreateGroup,
    PendingRange,
    PendingSummary,
    ServerInfo,
    StreamLength,
)
from tailrace.core.log.entry import fragment_from_flat
from tests.support.live_server import LiveServer, live_server

JSON = Subprotocol("tailrace.v1.json")
MSGPACK = Subprotocol("tailrace.v1.msgpack")


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server() as running:
        yield running


@pytest.fixture
def key(request: pytest.FixtureRequest) -> str:
    """A stream of the test's own."""
    return f"{request.node.name}:{time.monotonic_ns()}"


@contextmanager
def opened(server: LiveServer, **options: Any) -> Iterator[ClientConnection]:
    """A connection that was greeted."""
    with connect(server.websocket_url, **{"subprotocols": [JSON], "max_size": None, **options}) as connection:
        connection.recv(timeout=5)
        yield connection


def say(connection: ClientConnection, request: Any) -> Any:
    connection.send(msgspec.json.encode(request).decode())
    return hear(connection)


def hear(connection: ClientConnection) -> Any:
    return msgspec.json.decode(connection.recv(timeout=5))


def closed_after(connection: ClientConnection, frame: str | bytes | None = None) -> ConnectionClosed:
    """How the server closed the connection, after `frame` if one is given."""
    try:
        if frame is not None:
            connection.send(frame)
        connection.recv(timeout=5)
    except ConnectionClosed as closed:
        return closed
    raise AssertionError("the connection lives")


def append(server: LiveServer, key: str, *values: bytes) -> None:
    for value in values:
        server.run(Append(key.encode(), (fragment_from_flat([b"n", value]),)))


def eventually(holds: Callable[[], bool], within_s: float = 5) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it does not come to hold"
        time.sleep(0.02)


def waiting(server: LiveServer) -> int:
    """How many reads wait in the store."""
    return int(server.run(ServerInfo()).blocked_clients)


# --- the handshake -----------------------------------------------------------------------------------


@pytest.mark.parametrize("offered", [[JSON], [MSGPACK], [Subprotocol("other"), MSGPACK, JSON]])
def test_the_first_known_subprotocol_offered_is_spoken(
    server: LiveServer, offered: list[Subprotocol]
) -> None:
    known = next(name for name in offered if name.startswith("tailrace."))
    with connect(server.websocket_url, subprotocols=offered) as connection:
        assert connection.subprotocol == known
        greeting = connection.recv(timeout=5)
        codec: Any = msgspec.msgpack if isinstance(greeting, bytes) else msgspec.json
        hello = codec.decode(greeting)["hello"]
        assert (hello["subprotocol"], hello["version"]) == (known, "1.2.3")


def test_a_client_that_names_no_subprotocol_speaks_json(server: LiveServer) -> None:
    with opened(server, subprotocols=None) as connection:
        assert connection.subprotocol is None
        assert say(connection, {"id": 1, "op": "ping"}) == {"id": 1, "ok": {}}


@pytest.mark.parametrize(
    ("options", "status"),
    [({"subprotocols": [Subprotocol("other")]}, 400), ({"origin": "http://elsewhere.example"}, 403)],
)
def test_unknown_subprotocols_and_pages_of_other_origins_are_refused_with_a_problem(
    server: LiveServer, options: dict[str, Any], status: int
) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        connect(server.websocket_url, **options)
    response = refusal.value.response
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"


def test_a_page_of_the_servers_own_origin_is_served(server: LiveServer) -> None:
    with opened(server, origin=server.url) as connection:
        assert say(connection, {"id": 1, "op": "ping"}) == {"id": 1, "ok": {}}


# --- conversation ------------------------------------------------------------------------------------


def test_an_append_over_http_is_pushed_to_a_subscriber(server: LiveServer, key: str) -> None:
    with opened(server) as connection:
        say(connection, {"id": 3, "op": "subscribe", "streams": [{"key": key, "after": "$"}], "credit": 9})
        append(server, key, b"1")
        push = hear(connection)
        assert (push["sub"], push["entries"][0]["fields"]) == (3, {"n": "1"})


def test_many_requests_sent_at_once_are_answered_in_order(server: LiveServer, key: str) -> None:
    with opened(server) as connection:
        for number in range(500):
            request = {"id": number, "op": "append", "key": key, "fields": {"n": str(number)}}
            connection.send(msgspec.json.encode(request).decode())
        assert [hear(connection)["id"] for _ in range(500)] == list(range(500))
    assert server.run(StreamLength(key.encode())) == 500


def test_a_message_sent_in_fragments_is_one_request(server: LiveServer) -> None:
    with opened(server) as connection:
        connection.send(iter(['{"id":1,', '"op":', '"ping"}']))
        assert hear(connection) == {"id": 1, "ok": {}}


def test_a_large_entry_comes_through(server: LiveServer, key: str) -> None:
    value = "v" * (2 << 20)
    with opened(server) as connection:
        say(connection, {"id": 1, "op": "subscribe", "streams": [{"key": key, "after": "0"}], "credit": 1})
        connection.send(
            msgspec.json.encode({"id": 2, "op": "append", "key": key, "fields": {"n": value}}).decode()
        )
        frames = [hear(connection), hear(connection)]
        assert [frame["entries"][0]["fields"]["n"] for frame in frames if "sub" in frame] == [value]


def test_messagepack_is_carried_in_binary_frames(server: LiveServer, key: str) -> None:
    with opened(server, subprotocols=[MSGPACK]) as connection:
        request = {"id": 1, "op": "append", "key": key, "fields": {b"\xff": b"\xfe"}}
        connection.send(msgspec.msgpack.encode(request))
        reply = connection.recv(timeout=5)
        assert isinstance(reply, bytes)
        assert "ok" in msgspec.msgpack.decode(reply)


@pytest.mark.parametrize("form", ["%s", "[%s]"])
@pytest.mark.parametrize(
    "members",
    [
        '"op":"append","key":"%s","fields":{"a":"1"},"fields":{"a":"2"}',
        '"op":"append","op":"append","key":"%s","fields":{"a":"1"},"entry_id":"*"',
        '"op":"ack","key":"%s","group":"g","ids":["1-1"],"ids":["1-2"]',
        '"op":"nack","key":"%s","group":"g","group":"h","ids":["1-1"]',
        '"op":"command","command":["XLEN","%s"],"command":["PING"]',
        '"op":"subscribe","streams":[{"key":"%s","after":"0","after":"$"}]',
    ],
)
def test_a_request_that_repeats_a_member_is_malformed(server: LiveServer, members: str, form: str) -> None:
    key = "repeated:member"
    with opened(server) as connection:
        connection.send(form % ('{"id":7,' + members % key + "}"))
        reply = hear(connection)
        [answer] = reply if isinstance(reply, list) else [reply]
        assert (answer["id"], answer["error"]["code"]) == (7, "MALFORMED_BODY")
        assert say(connection, {"id": 8, "op": "command", "command": ["EXISTS", key]})["ok"]["result"] == 0


@pytest.mark.parametrize(
    "raw",
    [
        b"\x83\xa2id\x07\xa2op\xa4ping\xa2op\xa4ping",
        b"\x83\xa2id\x07\xa2op\xa9subscribe\xa7streams\x91\x82\xa3key\xa1k\xa3key\xa1l",
        b"\x85\xa2id\x07\xa2op\xa6append\xa3key\xa1k\xa3key\xa1k\xa6fields\x81\xa1a\xa1b",
    ],
)
def test_a_map_of_messagepack_that_repeats_a_member_is_malformed(server: LiveServer, raw: bytes) -> None:
    with opened(server, subprotocols=[MSGPACK]) as connection:
        connection.send(raw)
        answer = msgspec.msgpack.decode(connection.recv(timeout=5))  # type: ignore[arg-type] # a binary frame
        assert (answer["id"], answer["error"]["code"]) == (7, "MALFORMED_BODY")


def test_large_frames_are_answered_in_their_order(server: LiveServer, key: str) -> None:
    large: dict[str, Any] = {
        "op": "append",
        "key": key,
        "pairs": [["Zg==", "/w=="]] * 65_536,
        "encoding": "base64",
    }
    length: dict[str, Any] = {"op": "command", "command": ["XLEN", key]}
    with opened(server, subprotocols=[JSON]) as connection:
        key_in_base64 = {**large, "key": b64encode(key.encode()).decode()}
        frames = [[length], [key_in_base64], [length], [key_in_base64, length]]
        for number, several in enumerate(frames):
            numbered = [{**each, "id": number} for each in several]
            connection.send(msgspec.json.encode(numbered).decode())
        replies = [msgspec.json.decode(connection.recv(timeout=30)) for _ in range(4)]
    assert [[each["id"] for each in reply] for reply in replies] == [[0], [1], [2], [3, 3]]
    lengths = [reply[-1]["ok"].get("result") for reply in replies]
    assert lengths == [0, None, 1, 2]


# --- the end of a connection -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "code"), [("{nope", 1007), (b"{}", 1003), ("x" * (FRAME_BYTES_MAX + 1), 1009)]
)
def test_what_cannot_be_answered_closes_with_the_right_code(
    server: LiveServer, frame: str | bytes, code: int
) -> None:
    with opened(server) as connection:
        closed = closed_after(connection, frame)
    assert closed.rcvd is not None
    assert closed.rcvd.code == code


def test_a_client_that_goes_stops_waiting_at_once_and_takes_nothing(server: LiveServer, key: str) -> None:
    server.run(CreateGroup(key.encode(), b"g", 0, create_stream=True))
    before = waiting(server)
    consume = {"id": 1, "op": "consume", "group": "g", "consumer": "c", "streams": [{"key": key}]}
    with opened(server) as connection:
        say(connection, {**consume, "credit": 9})
        eventually(lambda: waiting(server) == before + 1)
    eventually(lambda: waiting(server) == before)
    append(server, key, b"1")
    assert server.run(PendingRange(key.encode(), b"g")) == []


def test_with_nack_on_close_a_lost_connection_gives_its_entries_back(server: LiveServer, key: str) -> None:
    server.run(CreateGroup(key.encode(), b"g", 0, create_stream=True))
    append(server, key, b"1", b"2")
    consume = {"id": 1, "op": "consume", "group": "g", "consumer": "c", "streams": [{"key": key}]}
    with opened(server) as connection:
        say(connection, {**consume, "credit": 9, "on_close": "nack"})
        hear(connection)
        connection.socket.shutdown(socket.SHUT_RDWR)

    def all_given_back() -> bool:
        found = server.run(PendingRange(key.encode(), b"g"))
        return [(entry.consumer, entry.deliveries) for entry in found] == [(None, 0), (None, 0)]

    eventually(all_given_back)


# --- clients that do not read ------------------------------------------------------------------------


def subscribe(key: str) -> Any:
    """Everything, with more credit than is ever used."""
    source = {"key": key, "after": "0"}
    return {"id": 1, "op": "subscribe", "streams": [source], "credit": 1 << 40}


def consume(key: str, group: str) -> Any:
    """The same as a group's consumer."""
    streams = [{"key": key}]
    return {
        "id": group,
        "op": "consume",
        "group": group,
        "consumer": "c",
        "streams": streams,
        "credit": 1 << 40,
    }


class RawSubscriber:
    """A client by hand, because every library reads by itself."""

    REQUEST = (
        "GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )

    def __init__(self, server: LiveServer, requests: Any) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.socket.sendall(self.REQUEST.format(host=f"127.0.0.1:{server.port}").encode())
        assert b" 101 " in self.socket.recv(1024)
        payload = msgspec.json.encode(requests)
        header = bytes([0x81, 0x80 | 126]) + len(payload).to_bytes(2) + bytes(4)
        self.socket.sendall(header + payload)

    def all_that_comes(self) -> bytes:
        """All bytes that the server sends until the connection ends."""
        self.socket.settimeout(10)
        parts = []
        try:
            while part := self.socket.recv(1 << 20):
                parts.append(part)
        except ConnectionResetError:
            parts.append(b"reset")
        return b"".join(parts)


def test_a_hundred_clients_that_never_read_are_cut_while_others_are_served(
    server: LiveServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_output, "STALL_S", 0.3)
    append(server, key, *[b"v" * 100_000] * 60)
    before = waiting(server)
    with ExitStack() as clients:
        slow = [RawSubscriber(server, [subscribe(key)]) for _ in range(100)]
        for client in slow:
            clients.callback(client.socket.close)
        reader = clients.enter_context(opened(server))
        for number in range(20):
            assert say(reader, {"id": number, "op": "ping"}) == {"id": number, "ok": {}}
        eventually(lambda: all(is_cut(client.socket) for client in slow))
    eventually(lambda: waiting(server) <= before)


def is_cut(connection: socket.socket) -> bool:
    """Whether the server ended the connection, even if the client's buffer has unread data."""
    try:
        connection.send(b"\x89\x80" + bytes(4))
        time.sleep(0.01)
        connection.send(b"\x89\x80" + bytes(4))
    except OSError:
        return True
    return False


def test_a_client_for_which_too_much_waits_is_cut_at_once(
    server: LiveServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_output, "OUTPUT_BYTES_MAX", 1 << 20)
    append(server, key, *[b"v" * 1_000_000] * 10)
    for number in range(20):
        server.run(CreateGroup(key.encode(), f"g{number}".encode(), 0))
    client = RawSubscriber(server, [consume(key, f"g{number}") for number in range(20)])
    with client.socket:
        eventually(lambda: is_cut(client.socket))


def test_a_client_that_reads_again_in_time_finds_code_4008(
    server: LiveServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_output, "STALL_S", 0.3)
    monkeypatch.setattr(websocket, "CLOSE_GRACE_S", 2)
    append(server, key, *[b"v" * 100_000] * 100)
    client = RawSubscriber(server, [subscribe(key)])
    time.sleep(1)
    with client.socket:
        received = client.all_that_comes()
    assert (4008).to_bytes(2) + b"nothing was read" in received[-100:]


def test_a_client_that_reads_slowly_gets_everything(server: LiveServer, key: str) -> None:
    append(server, key, *[b"v" * 50_000] * 100)
    with opened(server) as connection:
        request = {"id": 1, "op": "subscribe", "streams": [{"key": key, "after": "0"}], "credit": 1000}
        say(connection, request)
        received = 0
        while received < 100:
            received += len(hear(connection)["entries"])
            time.sleep(0.02)
        assert received == 100


# --- shutdown ----------------------------------------------------------------------------------------


def test_at_shutdown_every_subscriber_is_told_why_and_closed_with_1012() -> None:
    with live_server() as server, ExitStack() as clients:
        connections = [clients.enter_context(opened(server)) for _ in range(20)]
        for connection in connections:
            request = {"id": 1, "op": "subscribe", "streams": [{"key": "s", "after": "$"}], "credit": 1}
            say(connection, request)
        server.drain()
        for connection in connections:
            assert hear(connection)["end"]["code"] == "NOT_ACCEPTING"
            closed = closed_after(connection)
            assert closed.rcvd is not None
            assert closed.rcvd.code == 1012


def test_what_a_client_asked_for_before_it_closed_is_carried_out_and_nothing_more_is_taken(
    server: LiveServer, key: str
) -> None:
    append(server, key, b"1", b"2", b"3")
    server.run(CreateGroup(key.encode(), b"g", 0))
    with opened(server) as socket:
        say(socket, {**consume(key, "g"), "credit": 1})
        (first,) = hear(socket)["entries"]
        ack = {"id": 8, "op": "ack", "key": key, "group": "g", "ids": [first["id"]]}
        credit = {"id": 9, "op": "credit", "sub": "g", "entries": 5}
        say_and_close(socket, [ack, credit])
    eventually(lambda: pending_count(server, key) == 0)


def say_and_close(connection: ClientConnection, request: Any) -> None:
    """Both in one write: the server has the close in its hands before it begins with the request."""
    protocol = connection.protocol
    protocol.send_text(msgspec.json.encode(request))
    protocol.send_close(1000)
    connection.socket.sendall(b"".join(protocol.data_to_send()))


def pending_count(server: LiveServer, key: str) -> int:
    return int(server.run(PendingSummary(key.encode(), b"g")).count)
