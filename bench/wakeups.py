"""Wake-ups: the time from sending an append to its receipt by a waiting reader (row 9 of
docs/performance.md).

One reader at a time waits, over WebSocket, by long-poll and over Server-Sent Events, while another connection
appends entries at a steady rate; once without durability and once with `always`. Every entry must arrive. Run
it with ``python -m bench.wakeups``; ``--plots`` draws the distributions.
"""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.latencies import Latencies
from bench.rows import Effort, Row, command
from bench.server import started

SUBPROTOCOL: Final = Subprotocol("tailrace.v1.json")
RATE_PER_S: Final = 1000
SECONDS: Final = 10.0
GOAL_MS: Final = 2
GOALS_PERCENT: Final = {"none": 99.9, "always": 99.0}
"""For the WebSocket, by durability."""

CREDIT: Final = 1_000_000_000
SETTLE_S: Final = 5
WAIT_MS: Final = 20_000

_SENT_NS = re.compile(rb'"sent_ns":"([0-9]+)"')
_NEXT = re.compile(rb'"next":"([0-9]+-[0-9]+)"')
_LENGTH = re.compile(rb"content-length: ([0-9]+)", re.IGNORECASE)


class Target(NamedTuple):
    """The server, and the stream that is read."""

    host: str
    port: int
    key: str

    @property
    def websocket_url(self) -> str:
        """The URL of the WebSocket."""
        return f"ws://{self.host}:{self.port}/v1/ws"


class Receipts:
    """Latencies in nanoseconds. `ready`: set when the reader waits."""

    def __init__(self) -> None:
        self.latencies_ns: list[int] = []
        self.ready = asyncio.Event()

    def note(self, data: bytes) -> None:
        """Record a receipt now for every append time in `data`."""
        now_ns = time.monotonic_ns()
        self.latencies_ns += [now_ns - int(sent) for sent in _SENT_NS.findall(data)]

    async def settled(self, expected: int) -> None:
        """Wait until all entries have arrived, or the waiting time is over."""
        deadline = time.monotonic() + SETTLE_S
        # Polled, because signalling an event would add work to each receipt.
        while len(self.latencies_ns) < expected and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


Reader = Callable[[Target, Receipts], Awaitable[None]]


async def by_websocket(target: Target, receipts: Receipts) -> None:
    """Receive through a subscription with more credit than it uses."""
    async with _opened(target) as socket:
        source = {"key": target.key, "after": "$"}
        await _send(socket, {"id": 1, "op": "subscribe", "streams": [source], "credit": CREDIT})
        await socket.recv()
        receipts.ready.set()
        async for frame in socket:
            assert isinstance(frame, str)
            receipts.note(frame.encode())


async def by_long_poll(target: Target, receipts: Receipts) -> None:
    """Requests one after another on one connection, each from the end of the last one."""
    reader, writer = await asyncio.open_connection(target.host, target.port)
    after = b"0-0"
    receipts.ready.set()
    while True:
        path = f"/v1/streams/{target.key}/entries?after={after.decode()}&wait_ms={WAIT_MS}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {target.host}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        assert length, head
        body = await reader.readexactly(int(length[1]))
        receipts.note(body)
        position = _NEXT.search(body)
        assert position, body
        after = position[1]


async def by_events(target: Target, receipts: Receipts) -> None:
    """Receive through one response that never ends."""
    reader, writer = await asyncio.open_connection(target.host, target.port)
    path = f"/v1/streams/{target.key}/entries:tail?after=$"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {target.host}\r\nAccept: text/event-stream\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head, head
    receipts.ready.set()
    rest = b""
    while data := await reader.read(1 << 16):
        whole, newline, rest = (rest + data).rpartition(b"\n")
        if newline:
            receipts.note(whole)


READERS: Final[dict[str, Reader]] = {"WebSocket": by_websocket, "long-poll": by_long_poll, "SSE": by_events}


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 9. Only the WebSocket has goals."""
    measured: dict[str, Latencies] = {}
    with _without_collections():
        for durability in ("none", "always"):
            with started(durability) as server:
                for name, read in READERS.items():
                    latencies = uvloop.run(wake_ups(server.url, read, effort.seconds(SECONDS)))
                    measured[f"{name}, {durability}"] = latencies
                    yield _row(name, durability, latencies)
    if effort.plots is not None:
        # matplotlib is installed only where plots are wanted.
        from bench.plots import plot_latencies  # noqa: PLC0415

        title = f"Wake-ups at {RATE_PER_S} appends/s"
        plot_latencies(effort.plots / "wakeups.svg", title, measured, GOAL_MS)


def _row(name: str, durability: str, latencies: Latencies) -> Row:
    within = latencies.within_percent(GOAL_MS)
    goal = GOALS_PERCENT[durability] if name == "WebSocket" else None
    ours = f"{within:.2f} % within {GOAL_MS} ms ({latencies.summary()})"
    what = f"wake-up over {name}, {RATE_PER_S} appends/s"
    if goal is None:
        return Row(9, what, durability, ours, "", None, "", None)
    return Row(9, what, durability, ours, "", None, f">= {goal} %", within >= goal)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Turn off garbage collection, because a collection in this process would appear as a late wake-up."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def wake_ups(url: str, read: Reader, seconds: float, append_url: str | None = None) -> Latencies:
    """Append at the rate for so many seconds, while one reader waits. `append_url`: another server of the
    same data, which gets the appends.
    """
    key = f"bench:wakeups:{time.time_ns()}"
    target, appended = _target(url, key), _target(append_url or url, key)
    receipts = Receipts()
    reading = asyncio.ensure_future(read(target, receipts))
    await asyncio.wait({reading, asyncio.ensure_future(receipts.ready.wait())}, return_when="FIRST_COMPLETED")
    appends = round(RATE_PER_S * seconds)
    await _append(appended, appends)
    await receipts.settled(appends)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert len(receipts.latencies_ns) == appends, f"{len(receipts.latencies_ns)} of {appends} received"
    return Latencies(receipts.latencies_ns)


def _target(url: str, key: str) -> Target:
    address = urlsplit(url)
    assert address.hostname
    assert address.port
    return Target(address.hostname, address.port, key)


async def _append(target: Target, appends: int) -> None:
    async with _opened(target) as socket:
        replies = asyncio.ensure_future(_replies(socket, appends))
        start = time.monotonic()
        for number in range(appends):
            # Timers have a resolution of a millisecond, so all appends of the last millisecond are sent
            # together.
            early_s = start + number / RATE_PER_S - time.monotonic()
            if early_s > 0:
                await asyncio.sleep(early_s)
            fields = {"sent_ns": str(time.monotonic_ns()), "rider": "Castilla", "speed": "30.2"}
            await _send(socket, {"id": number, "op": "append", "key": target.key, "fields": fields})
        await replies


async def _replies(socket: ClientConnection, count: int) -> None:
    for _ in range(count):
        await socket.recv()


@asynccontextmanager
async def _opened(target: Target) -> AsyncIterator[ClientConnection]:
    async with connect(target.websocket_url, subprotocols=[SUBPROTOCOL], compression=None) as socket:
        await socket.recv()
        yield socket


async def _send(socket: ClientConnection, request: dict[str, Any]) -> None:
    await socket.send(msgspec.json.encode(request).decode())


if __name__ == "__main__":
    command(measure, __doc__)
