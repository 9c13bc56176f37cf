"""The output of a WebSocket: frames that are written together, their order, and their limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from tailrace.api.websocket_limits import OUTPUT_BYTES_MAX, OUTPUT_PAUSE_BYTES
from tailrace.app.protocols.output import EventOutput
from tailrace.app.protocols.websocket_output import HELD_BYTES_MAX, WebSocketOutput
from tests.unit.test_websocket_ends import Served, serve


class Written:
    """A transport that keeps what is written. `unread_bytes`: what the client has not read of it."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.unread_bytes = 0

    def set_write_buffer_limits(self, high: int) -> None:
        assert high == OUTPUT_PAUSE_BYTES

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        self.unread_bytes += len(data)

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def is_closing(self) -> bool:
        return False


class Events:
    """An event loop whose calls wait for the test."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.later: Callable[[], None] = lambda: None

    def call_soon(self, call: Callable[[], None]) -> None:
        self.soon.append(call)

    def call_later(self, _delay_s: float, call: Callable[[], None]) -> None:
        self.later = call

    def pass_time(self) -> None:
        self.later()


class Output:
    """An output, its transport, and what it reports."""

    def __init__(self) -> None:
        self.transport, self.loop = Written(), Events()
        self.relieved = 0
        self.refusals: list[str] = []
        self.output = WebSocketOutput(
            cast("asyncio.Transport", self.transport),
            cast("asyncio.AbstractEventLoop", self.loop),
            self._relieve,
            self.refusals.append,
        )

    def _relieve(self) -> None:
        self.relieved += 1


@pytest.fixture
def o() -> Output:
    return Output()


def test_held_frames_are_written_with_one_write(o: Output) -> None:
    o.output.hold(b"1", is_text=True)
    o.output.hold(b"2", is_text=False)
    assert o.transport.writes == []
    o.output.flush()
    o.output.flush()
    assert o.transport.writes == [b"\x81\x011\x82\x012"]


def test_a_frame_that_is_sent_comes_after_those_that_are_held(o: Output) -> None:
    o.output.hold(b"1", is_text=True)
    o.output.send(b"2", is_text=True)
    assert o.transport.writes == [b"\x81\x011\x81\x012"]


def test_many_held_bytes_are_written_before_the_flush(o: Output) -> None:
    half = bytes(HELD_BYTES_MAX // 2)
    for _ in range(2):
        o.output.hold(half, is_text=False)
    assert len(o.transport.writes) == 1
    o.output.hold(b"1", is_text=True)
    assert len(o.transport.writes) == 1


def test_much_waiting_data_makes_the_output_full_until_the_loop_has_sent_it(o: Output) -> None:
    o.output.send(bytes(OUTPUT_PAUSE_BYTES), is_text=False)
    assert o.output.is_full
    [look] = o.loop.soon
    o.transport.unread_bytes = 0
    look()
    assert (o.output.is_full, o.relieved, o.refusals) == (False, 1, [])


def test_a_client_is_refused_when_too_much_waited_before_the_last_write(o: Output) -> None:
    o.output.send(bytes(OUTPUT_BYTES_MAX), is_text=False)
    assert o.refusals == []
    o.output.hold(b"1", is_text=True)
    o.output.flush()
    assert o.refusals == ["more data waits for this client than the server keeps"]


@pytest.mark.parametrize(("is_chunked", "written"), [(True, b"5\r\ndata\n\r\n"), (False, b"data\n")])
def test_an_event_is_a_chunk_unless_the_client_knows_no_chunks(*, is_chunked: bool, written: bytes) -> None:
    transport, loop = Written(), Events()
    output = EventOutput(cast("Any", transport), cast("Any", loop), print, 30, is_chunked=is_chunked)
    output.send(b"data\n")
    assert transport.writes == [written]


def test_a_client_that_reads_nothing_of_its_events_is_refused_and_one_that_reads_slowly_is_not() -> None:
    transport, loop, refusals = Written(), Events(), list[str]()
    output = EventOutput(cast("Any", transport), cast("Any", loop), refusals.append, 30, is_chunked=True)
    output.send(bytes(OUTPUT_PAUSE_BYTES))
    output.pause()
    assert not output.can_push
    transport.unread_bytes -= 1
    loop.pass_time()
    assert refusals == []
    loop.pass_time()
    assert refusals == ["nothing was read for 30 s"]


def test_the_replies_to_requests_that_wait_together_are_written_together() -> None:
    async def script(served: Served) -> None:
        say: Any = served.peer.say
        for number in range(20):
            say({"id": number, "op": "append", "key": "s", "fields": {"a": "1"}})
        say({"id": 20, "op": "subscribe", "streams": [{"key": "s", "after": "0"}], "credit": 100})
        say({"id": 21, "op": "ping"})
        served.store.may_go_on.set()
        for _ in range(24):
            await served.peer.sent.get()
        served.peer.leave()

    served = serve(script)
    # The greeting; 21 replies and the first push; the last reply.
    assert [count for count in served.peer.writes if count] == [1, 22, 1]
