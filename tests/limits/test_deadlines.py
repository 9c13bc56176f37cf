"""Slow clients: the server ends their connections, after an answer if that is possible.

Nothing here asserts a time. What is awaited is the end of a connection, and it comes or the test fails.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tailrace.app.protocols.deadlines import BODY_WINDOW_S
from tests.support.server_process import ServerProcess, running_server
from tests.support.wire import Wire, request, wired

ENTRY = b'{"fields":{"rider":"Castilla"}}'


def append(key: str, body: bytes = ENTRY) -> bytes:
    return request("POST", f"/v1/streams/{key}/entries", body)


def dripping(wire: Wire, raw: bytes) -> threading.Event:
    """Send `raw` byte by byte for as long as the connection lasts; set the event to stop."""
    over = threading.Event()

    def drip() -> None:
        for number in range(len(raw)):
            if over.wait(0.1) or not wire.send_while_taken(raw[number : number + 1], 1):
                return

    threading.Thread(target=drip, daemon=True).start()
    return over


def test_a_connection_on_which_nothing_comes_is_closed_without_a_word(impatient: ServerProcess) -> None:
    with wired(impatient.port) as wire:
        assert wire.read_to_end() == b""


@pytest.mark.parametrize("again", [1, 2], ids=["parsed", "a cached head"])
@pytest.mark.parametrize("asked", [append("idle"), request("GET", "/healthz")], ids=["hot", "documented"])
def test_a_connection_on_which_nothing_more_comes_is_closed_without_a_word(
    tmp_path: Path, asked: bytes, again: int
) -> None:
    options = ("--keep-alive-timeout-s", "1", "--header-timeout-s", "60")
    with running_server(tmp_path, *options) as server, wired(server.port) as wire:
        for _ in range(again):
            assert wire.ask(asked).status in (200, 201)
        assert wire.read_to_end() == b""


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_head_that_drips_is_a_408(impatient: ServerProcess, method: str) -> None:
    with wired(impatient.port) as wire:
        over = dripping(wire, request(method, "/v1/streams/drip/entries", b"", f"x-long: {'x' * 10_000}"))
        answer = wire.receive()
        over.set()
        assert answer.status == 408
        assert answer.headers["connection"] == "close"
        assert (answer.problem["code"], answer.problem["retryable"]) == ("REQUEST_TIMEOUT", True)
        assert wire.read_to_end() == b""


def test_a_handshake_whose_head_drips_is_a_408(impatient: ServerProcess) -> None:
    upgrade = ("connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13")
    raw = request("GET", "/v1/ws", b"", *upgrade, f"x-long: {'x' * 10_000}", content_type=None)
    begin = raw.index(b"x-long")
    with wired(impatient.port) as wire:
        wire.send(raw[:begin])
        over = dripping(wire, raw[begin:])
        answer = wire.receive()
        over.set()
        assert (answer.status, answer.problem["code"]) == (408, "REQUEST_TIMEOUT")
        assert wire.read_to_end() == b""


def test_line_ends_before_a_request_keep_no_connection(impatient: ServerProcess) -> None:
    with wired(impatient.port) as wire:
        over = dripping(wire, b"\r\n" * 10_000)
        assert b"408" in wire.read_to_end()
        over.set()


def test_a_second_head_gets_its_own_time_and_no_more(impatient: ServerProcess) -> None:
    with wired(impatient.port) as wire:
        for _ in range(3):
            assert wire.ask(append("second")).status == 201
        assert wire.ask(append("second")[:-40]).status == 408


def test_requests_one_after_another_may_go_on_for_longer_than_a_head_may_take(
    impatient: ServerProcess,
) -> None:
    """The connection has made progress at each check, so the client is never idle for long."""
    with wired(impatient.port) as wire, wired(impatient.port) as silent:
        ended = threading.Thread(target=silent.read_to_end)
        ended.start()
        while ended.is_alive():
            assert wire.ask(append("steady")).status == 201
        assert wire.ask(append("steady")).status == 201


def test_an_idle_connection_is_kept_beyond_the_deadline_of_a_head(impatient: ServerProcess) -> None:
    with wired(impatient.port) as idle, wired(impatient.port) as silent:
        assert idle.ask(append("idle")).status == 201
        assert silent.read_to_end() == b""
        assert idle.ask(append("idle")).status == 201


def test_a_request_that_waits_for_data_is_not_taken_for_a_slow_one(impatient: ServerProcess) -> None:
    read = b'{"streams":[{"key":"waits","after":"$"}],"wait_ms":6000}'
    with wired(impatient.port) as wire, wired(impatient.port) as silent:
        wire.send(request("POST", "/v1/read", read))
        silent.read_to_end()
        assert wire.receive().status == 200


BODIES_THAT_STOP = {
    "hot": append("body", b"x" * 100_000).partition(b"\r\n\r\n")[0] + b"\r\n\r\n",
    "documented": request(
        "POST", "/v1/streams/body/entries", b"", "prefer: nothing", "content-length: 100000"
    ),
    "chunked": request("POST", "/v1/streams/body/entries", b"", "transfer-encoding: chunked") + b"10000\r\n",
}


def test_a_body_that_does_not_move_is_a_408_and_changes_nothing(impatient: ServerProcess) -> None:
    with ExitStack() as stack:
        wires = {
            name: stack.enter_context(wired(impatient.port)).send(head + b'{"fields":{"a":"')
            for name, head in BODIES_THAT_STOP.items()
        }
        for name, wire in wires.items():
            answer = wire.receive()
            assert answer.status == 408, name
            assert str(BODY_WINDOW_S) in answer.problem["detail"]
            assert wire.read_to_end() == b""
        last = stack.enter_context(wired(impatient.port))
        assert last.ask(request("GET", "/v1/streams/body")).status == 404


def test_a_body_that_keeps_moving_may_take_longer_than_any_deadline(impatient: ServerProcess) -> None:
    """Four KiB a second, half a minute's worth in short: the rate is what counts."""
    body = b'{"fields":{"a":"' + b"x" * 60_000 + b'"}}'
    with wired(impatient.port) as slow, wired(impatient.port) as stuck:
        stuck.send(append("moving", body)[:200])
        ended = threading.Thread(target=stuck.read_to_end)
        ended.start()
        raw = append("moving", body)
        at = 0
        while ended.is_alive():
            slow.send(raw[at : at + 500])
            at += 500
            ended.join(0.1)
        assert slow.send(raw[at:]).receive().status == 201


def test_a_client_that_takes_nothing_of_its_answer_is_cut(impatient: ServerProcess) -> None:
    with wired(impatient.port) as wire:
        large = b'{"fields":{"a":"' + b"x" * 8_000_000 + b'"}}'
        assert wire.ask(append("unread", large)).status == 201
    reads = request("GET", "/v1/streams/unread/entries")
    with ThreadPoolExecutor(8) as pool:
        wires = [Wire(impatient.port, received_bytes=4_096) for _ in range(8)]
        for wire in wires:
            wire.send(reads)
        # Each gets what the system had for it, and not the whole: our side cut it.
        for rest in pool.map(_after_the_server_let_go, wires):
            assert len(rest) < 8_000_000
    with wired(impatient.port) as wire:
        assert wire.ask(reads).status == 200


def _after_the_server_let_go(wire: Wire) -> bytes:
    """Return the data that is readable after the server has cut a connection with unsent data."""
    assert wire.send_until_cut(b"\r\n")
    rest = wire.read_to_end()
    wire.close()
    return rest
