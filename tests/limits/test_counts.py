"""Limits on the number of open objects. Each test exceeds one limit on a server of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Answer, Wire, request, wired


@contextmanager
def bounded(directory: Path, *options: str) -> Iterator[ServerProcess]:
    with running_server(directory, "--durability", "none", *options) as process:
        yield process


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    options = (
        *("--event-streams-max", "2"),
        *("--websockets-max", "2"),
        *("--subscriptions-max", "3"),
        *("--waiting-readers-max", "4"),
    )
    with bounded(tmp_path_factory.mktemp("few"), *options) as process:
        yield process


def assert_full(answer: Answer, code: str = "TOO_MANY_OPEN") -> None:
    assert (answer.status, answer.problem["code"]) == (503, code)
    assert answer.problem["retryable"]
    assert answer.problem["side_effects"] == "none"


@contextmanager
def websocket(server: ServerProcess) -> Iterator[ClientConnection]:
    url, protocols = f"ws://127.0.0.1:{server.port}/v1/ws", [Subprotocol("tailrace.v1.json")]
    with connect(url, subprotocols=protocols, compression=None) as socket:
        socket.recv()
        yield socket


def said(socket: ClientConnection, **content: Any) -> Any:
    socket.send(json.dumps({"id": 1, **content}))
    return json.loads(socket.recv())


# --- connections ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--connections-max", "--connections-per-peer-max"])
def test_a_connection_too_many_is_told_503_and_closed_until_one_leaves(tmp_path: Path, option: str) -> None:
    with bounded(tmp_path, option, "3") as server, ExitStack() as stack:
        first, *_ = kept = [stack.enter_context(wired(server.port)) for _ in range(3)]
        for wire in kept:
            assert wire.ask(request("GET", "/healthz")).status == 200
        with wired(server.port) as late:
            answer = late.receive()
            assert_full(answer)
            assert answer.headers["connection"] == "close"
            assert late.read_to_end() == b""
        first.close()
        assert _is_served_in_the_end(server)


def _is_served_in_the_end(server: ServerProcess) -> bool:
    """The server hears of a close in its own time."""
    for _ in range(1_000):
        with wired(server.port) as wire:
            wire.send_while_taken(request("GET", "/healthz"), 1)
            if wire.read_answer_or_end().startswith(b"HTTP/1.1 200"):
                return True
    return False


def test_a_websocket_is_a_connection_and_leaves_its_place(tmp_path: Path) -> None:
    with bounded(tmp_path, "--connections-max", "1") as server:
        with websocket(server) as socket:
            with wired(server.port) as late:
                assert_full(late.receive())
            assert said(socket, op="ping") == {"id": 1, "ok": {}}
        assert _is_served_in_the_end(server)


def test_a_flood_of_connections_leaves_those_that_are_there_in_peace(tmp_path: Path) -> None:
    with bounded(tmp_path, "--connections-max", "2") as server, ExitStack() as stack:
        staying = stack.enter_context(wired(server.port))
        assert staying.ask(request("GET", "/healthz")).status == 200
        allowed = stack.enter_context(wired(server.port))
        flood = [wire for _ in range(300) if (wire := _connected(server.port, stack)) is not None]
        assert staying.ask(request("GET", "/healthz")).status == 200
        for wire in flood:
            wire.read_to_end()
        assert allowed.ask(request("GET", "/healthz")).status == 200
        assert staying.ask(request("GET", "/healthz")).status == 200


def _connected(port: int, stack: ExitStack) -> Wire | None:
    """Return a connection, or None if the server cut it before the system reported it as made."""
    try:
        return stack.enter_context(wired(port))
    except ConnectionResetError:
        return None


# --- readers, tails, sockets, subscriptions ------------------------------------------------------------


def tail(port: int, stack: ExitStack) -> Wire:
    wire = stack.enter_context(wired(port))
    return wire.send(request("GET", "/v1/streams/x/entries:tail"))


def test_a_tail_too_many_is_a_503_until_one_ends(few: ServerProcess) -> None:
    with ExitStack() as stack:
        tails = [tail(few.port, stack) for _ in range(2)]
        for wire in tails:
            assert wire.receive().status == 200
        refused = tail(few.port, stack).receive()
        assert_full(refused)
        assert refused.headers["retry-after"] == "1"
        tails[0].close()
        while (answer := tail(few.port, stack).receive()).status == 503:
            assert_full(answer)
        assert answer.status == 200


def test_a_websocket_too_many_is_a_503_before_the_handshake(few: ServerProcess) -> None:
    with ExitStack() as stack:
        sockets = [stack.enter_context(websocket(few)) for _ in range(2)]
        with pytest.raises(InvalidStatus) as refused:
            stack.enter_context(websocket(few))
        response = refused.value.response
        assert (response.status_code, response.headers["retry-after"]) == (503, "1")
        assert json.loads(response.body or b"")["code"] == "TOO_MANY_OPEN"
        assert said(sockets[0], op="ping") == {"id": 1, "ok": {}}


def test_subscriptions_of_all_sockets_are_counted_until_they_end(few: ServerProcess) -> None:
    def subscribed(socket: ClientConnection, sub: int) -> Any:
        return said(socket, id=sub, op="subscribe", streams=[{"key": "x", "after": "$"}])

    with ExitStack() as stack:
        one, other = (stack.enter_context(websocket(few)) for _ in range(2))
        assert "ok" in subscribed(one, 1)
        assert "ok" in subscribed(one, 2)
        assert "ok" in subscribed(other, 1)
        refused = subscribed(other, 2)["error"]
        assert (refused["code"], refused["status"], refused["retryable"]) == ("TOO_MANY_OPEN", 503, True)
        assert "ok" in said(one, op="unsubscribe", sub=1)
        assert "ok" in subscribed(other, 3)
        one.close()
    with websocket(few) as last:
        while "error" in (answer := subscribed(last, 1)):
            assert answer["error"]["code"] == "TOO_MANY_OPEN"


def waiting(port: int, stack: ExitStack, key: str = "w") -> Wire:
    body = json.dumps({"streams": [{"key": key, "after": "$"}], "wait_ms": 20_000}).encode()
    return stack.enter_context(wired(port)).send(request("POST", "/v1/read", body))


def test_a_reader_too_many_is_a_503_and_the_others_are_served(few: ServerProcess) -> None:
    with ExitStack() as stack:
        readers = [waiting(few.port, stack) for _ in range(4)]
        while _blocked_clients(few) < 4:
            pass
        assert_full(waiting(few.port, stack).receive(), "TOO_MANY_READERS")
        block = b'["XREAD","BLOCK","1000","STREAMS","w","$"]'
        with wired(few.port) as wire:
            refused = wire.ask(request("POST", "/v1/command", block))
            assert_full(refused, "TOO_MANY_READERS")
            assert refused.problem["error"].startswith("ERR ")
            ready = b'["XREAD","STREAMS","w","0"]'
            assert wire.ask(request("POST", "/v1/command", ready)).status == 200
            assert wire.ask(request("POST", "/v1/streams/w/entries", b'{"fields":{"a":"b"}}')).status == 201
        for reader in readers:
            assert reader.receive().status == 200


def _blocked_clients(server: ServerProcess) -> int:
    with wired(server.port) as wire:
        info = json.loads(wire.ask(request("POST", "/v1/command", b'["INFO"]')).body)["result"]
    return int(info.partition("blocked_clients:")[2].split()[0])


def test_a_subscription_too_many_readers_ends_with_the_reason(few: ServerProcess) -> None:
    with ExitStack() as stack:
        readers = [waiting(few.port, stack, "full") for _ in range(4)]
        while _blocked_clients(few) < 4:
            pass
        socket = stack.enter_context(websocket(few))
        streams = [{"key": "x", "after": "$"}]
        assert "ok" in said(socket, id=1, op="subscribe", streams=streams, credit=1)
        ended = json.loads(socket.recv())
        assert (ended["sub"], ended["end"]["code"]) == (1, "TOO_MANY_READERS")
        assert len(readers) == 4


# --- what all bodies take ------------------------------------------------------------------------------


def test_bodies_beyond_what_all_may_take_are_503_and_messages_close_their_socket(tmp_path: Path) -> None:
    body = b'{"fields":{"a":"' + b"x" * 15_000_000 + b'"}}'
    raw = request("POST", "/v1/streams/held/entries", body)
    with bounded(tmp_path, "--bodies-mb", "64") as server, ExitStack() as stack:
        held = [stack.enter_context(wired(server.port)).send(raw[:-10]) for _ in range(4)]
        late = stack.enter_context(wired(server.port))
        late.send_while_taken(raw, 1)
        assert_full(late.receive())
        for wire in held:
            assert wire.send(raw[-10:]).receive().status == 201
        # What was held is held no more.
        again = stack.enter_context(wired(server.port))
        assert again.ask(raw).status == 201


# --- what is shown -------------------------------------------------------------------------------------


def test_the_limits_that_were_set_are_shown(few: ServerProcess) -> None:
    with wired(few.port) as wire:
        shown = json.loads(wire.ask(request("GET", "/v1/limits")).body)
    assert (shown["event_streams_max"], shown["websockets_max"], shown["subscriptions_max"]) == (2, 2, 3)
    assert (shown["waiting_readers_max"], shown["header_timeout_s"], shown["requests_per_s"]) == (4, 6, 0)
