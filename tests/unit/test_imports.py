"""Large import bodies are decoded in slices, a few bodies at a time, with the same results as at once. The
event loop serves other requests between slices."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request

from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire import ndjson
from tailrace.api.wire.appends import NewEntries
from tailrace.api.wire.compression import Unpacking
from tailrace.api.wire.ndjson import (
    ENTRY_LINES,
    FIELDS_LINES,
    Imports,
    LineShape,
    decode_in_slices,
    decode_lines,
)
from tailrace.core.limits import BATCH_ENTRIES_MAX, LARGE_IMPORTS_MAX

LINE = b'{"rider":"Castilla","speed":"29.9"}\n'
LARGE = LINE * 40_000
LARGE_PACKED = gzip.compress(bytes(number * number % 251 for number in range(2_000_000)) * 2)
"""More than is unpacked on the event loop."""


def outcome(work: Callable[[], NewEntries]) -> object:
    try:
        return work()
    except RequestRefused as refused:
        return refused.code, refused.detail, refused.errors


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ndjson, "SLICE_BYTES", 10)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("shape", [FIELDS_LINES, ENTRY_LINES], ids=["fields", "entries"])
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\n\n" * 20,
        LINE * 300,
        LINE * 300 + b"\r\n\n" * 30 + LINE,
        b"\n" * 30 + LINE * 3,
        LINE * 300 + b'{"rider":1}\n' + LINE,
        LINE * 300 + b"{\n" + LINE,
        LINE * 300 + b'{"a":"1"}{"b":"2"}',
        b'{"a":\n"1"}',
        b'{"fields":{"a":"b"}}\n' * 50,
        b'{"fields":{"a":"b"},"id":"1-1"}\n{"fields":{"a":"b"}}\n{"pairs":[["a","b"]],"id":"9-*"}\n',
        b'{"fields":{"a":"b"}}\n' * 50 + b'{"fields":{}}\n',
        b"\xff\n" * 40,
        b'{"a":"\xc5\xbb"}\n' * 40,
    ],
)
def test_slices_give_the_same_entries_and_refusals_as_the_whole(raw: bytes, shape: LineShape) -> None:
    sliced = outcome(lambda: asyncio.run(decode_in_slices(raw, shape)))
    assert sliced == outcome(lambda: decode_lines(raw, shape))


@pytest.mark.parametrize(
    "raw", [b"\n" * 300_000, b'{"a":"b"}\n' * (BATCH_ENTRIES_MAX + 1), b'{"a":[' + b"0," * 2_000_000]
)
def test_too_many_lines_entries_or_elements_are_a_413(raw: bytes) -> None:
    with pytest.raises(RequestRefused) as refused:
        asyncio.run(decode_in_slices(raw, FIELDS_LINES))
    assert refused.value.code == "LIMIT_EXCEEDED"


def test_commas_in_strings_are_no_elements() -> None:
    raw = (b'{"a":"' + b"," * 1_000 + b'"}\n') * 2_100
    assert len(asyncio.run(decode_in_slices(raw, FIELDS_LINES)).fragments) == 2_100


def test_others_are_served_between_slices() -> None:
    async def turns() -> int:
        turns, reading = 0, asyncio.ensure_future(decode_in_slices(LARGE, FIELDS_LINES))
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(turns()) >= len(LARGE) // (ndjson.SLICE_BYTES + len(LINE))


# --- requests ------------------------------------------------------------------------------------------


class Client:
    """A request whose body has arrived; its client disconnects when `gone` is set."""

    def __init__(self, body: bytes, encoding: str | None = None) -> None:
        self.gone = asyncio.Event()
        self._messages: list[dict[str, Any]] = [{"type": "http.request", "body": body}]
        headers = [] if encoding is None else [(b"content-encoding", encoding.encode())]
        self.request = Request({"type": "http", "headers": headers}, self._receive)

    async def _receive(self) -> dict[str, Any]:
        if self._messages:
            return self._messages.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}


class Stopping:
    """Unpacking that stops in its thread until it is let go, or abandoned. Counts how many are in it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lock = threading.Condition()
        self.inside = self.inside_max = 0
        self.is_open = False
        self._arrivals = threading.Semaphore(0)
        run = Unpacking.run

        def stopping(unpacking: Unpacking, **bounds: Any) -> None:
            if bounds:
                run(unpacking, **bounds)
                return
            with self.lock:
                self._arrivals.release()
                self.inside += 1
                self.inside_max = max(self.inside, self.inside_max)
                while not (self.is_open or unpacking.is_abandoned):
                    self.lock.wait(0.01)
                self.inside -= 1
            run(unpacking)

        monkeypatch.setattr(Unpacking, "run", stopping)

    async def arrived(self, count: int) -> None:
        """The number of requests that have arrived."""
        for _ in range(count):
            assert await asyncio.get_running_loop().run_in_executor(None, self._arrivals.acquire)

    def open(self) -> None:
        with self.lock:
            self.is_open = True
            self.lock.notify_all()


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work(), 30)

    asyncio.run(bounded())


def test_a_large_compressed_body_is_unpacked_in_a_thread_and_no_more_than_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopping = Stopping(monkeypatch)

    async def work() -> None:
        reader = Imports()
        clients = [Client(LARGE_PACKED, "gzip") for _ in range(3 * LARGE_IMPORTS_MAX)]
        reads = [asyncio.ensure_future(reader.read(each.request, FIELDS_LINES)) for each in clients]
        await stopping.arrived(LARGE_IMPORTS_MAX)
        # The loop runs, and small bodies are not held up.
        assert len((await reader.read(Client(LINE).request, FIELDS_LINES)).fragments) == 1
        packed = Client(gzip.compress(LINE * 100), "gzip")
        assert len((await reader.read(packed.request, FIELDS_LINES)).fragments) == 100
        stopping.open()
        outcomes = await asyncio.gather(*reads, return_exceptions=True)
        assert {type(each) for each in outcomes} == {RequestRefused}

    run(work)
    assert stopping.inside_max == LARGE_IMPORTS_MAX
    assert stopping.inside == 0


def test_work_ends_with_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = Stopping(monkeypatch)

    async def work() -> None:
        reader = Imports()
        clients = [Client(LARGE_PACKED, "gzip") for _ in range(3 * LARGE_IMPORTS_MAX)]
        reads = [asyncio.ensure_future(reader.read(each.request, FIELDS_LINES)) for each in clients]
        await stopping.arrived(LARGE_IMPORTS_MAX)
        # Those that wait for room never begin.
        for client in reversed(clients):
            client.gone.set()
        outcomes = await asyncio.gather(*reads, return_exceptions=True)
        assert {type(each) for each in outcomes} == {ClientDisconnect}
        assert stopping.inside == 0
        assert len((await reader.read(Client(LARGE).request, FIELDS_LINES)).fragments) == 40_000

    run(work)


def test_work_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    stopping = Stopping(monkeypatch)

    async def work() -> None:
        reading = asyncio.ensure_future(Imports().read(Client(LARGE_PACKED, "gzip").request, FIELDS_LINES))
        await stopping.arrived(1)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert stopping.inside == 0

    run(work)


def test_a_large_body_that_unpacks_to_lines_is_read() -> None:
    async def work() -> None:
        client = Client(gzip.compress(LARGE), "gzip")
        assert len((await Imports().read(client.request, FIELDS_LINES)).fragments) == 40_000

    run(work)
