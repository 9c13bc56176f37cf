"""Wake-ups: from the send of an append to its receipt by a reader that waits (figure 9 of the goals).

One reader at a time, over WebSocket, by long-poll and over Server-Sent Events, while entries are appended
at a steady rate over another connection; once without durability and once with `always`. The histogram
is that of the Streams guide. Run it with ``python -m bench.wakeups``.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.latencies import Latencies
from bench.server import server_at

SUBPROTOCOL = Subprotocol("tailrace.v1.json")
GOAL_MS = 2
GOAL_PERCENT = 99.9
CREDIT = 1_000_000_000
SETTLE_S = 5
WAIT_MS = 20_000
AS_SET = "as that server is set"

_SENT_NS = re.compile(rb'"sent_ns":"([0-9]+)"')
_NEXT = re.compile(rb'"next":"([0-9]+-[0-9]+)"')
_LENGTH = re.compile(rb"content-length: ([0-9]+)", re.IGNORECASE)


class Target(NamedTuple):
    """Where the server is, and the stream that is read."""

    host: str
    port: int
    key: str

    @property
    def websocket_url(self) -> str:
        """Where a WebSocket is opened."""
        return f"ws://{self.host}:{self.port}/v1/ws"


class Receipts:
    """Latencies in nanoseconds; `ready` is set once the reader waits."""

    def __init__(self) -> None:
        self.latencies_ns: list[int] = []
        self.ready = asyncio.Event()

    def note(self, data: bytes) -> None:
        """Take the time of every entry in `data`, received now."""
        now_ns = time.monotonic_ns()
        self.latencies_ns += [now_ns - int(sent) for sent in _SENT_NS.findall(data)]

    async def settled(self, expected: int) -> None:
        """Come back when all has come, or when no more is to be hoped for."""
        deadline = time.monotonic() + SETTLE_S
        # Looked at now and then: an event would have to be thought of at each receipt.
        while len(self.latencies_ns) < expected and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


Reader = Callable[[Target, Receipts], Awaitable[None]]


async def by_websocket(target: Target, receipts: Receipts) -> None:
    """A subscription with more credit than is used."""
    async with _opened(target) as socket:
        source = {"key": target.key, "after": "$"}
        await _send(socket, {"id": 1, "op": "subscribe", "streams": [source], "credit": CREDIT})
        await socket.recv()
        receipts.ready.set()
        async for frame in socket:
            assert isinstance(frame, str)
            receipts.note(frame.encode())


async def by_long_poll(target: Target, receipts: Receipts) -> None:
    """Requests one after another on one connection, each from where the last one ended."""
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
    """One response that does not end."""
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


READERS: dict[str, Reader] = {"WebSocket": by_websocket, "long-poll": by_long_poll, "SSE": by_events}


async def measure(url: str, read: Reader, rate: float, seconds: float) -> Latencies:
    """Append at `rate` for so long, with one reader waiting."""
    address = urlsplit(url)
    assert address.hostname
    assert address.port
    target = Target(address.hostname, address.port, f"bench:wakeups:{time.time_ns()}")
    receipts = Receipts()
    reading = asyncio.ensure_future(read(target, receipts))
    await asyncio.wait({reading, asyncio.ensure_future(receipts.ready.wait())}, return_when="FIRST_COMPLETED")
    appends = round(rate * seconds)
    await _append(target, appends, rate)
    await receipts.settled(appends)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert len(receipts.latencies_ns) == appends, f"{len(receipts.latencies_ns)} of {appends} received"
    return Latencies(receipts.latencies_ns)


async def _append(target: Target, appends: int, rate: float) -> None:
    async with _opened(target) as socket:
        replies = asyncio.ensure_future(_replies(socket, appends))
        start = time.monotonic()
        for number in range(appends):
            # Timers tick in whole milliseconds: what fell due meanwhile is sent together.
            early_s = start + number / rate - time.monotonic()
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


def main() -> int:
    """Measure, print, and say whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running server; one is started for each durability if not given")
    parser.add_argument("--rate", type=float, default=1000, help="appends a second")
    parser.add_argument("--seconds", type=float, default=10, help="for each reader")
    parser.add_argument("--readers", nargs="*", choices=READERS, default=list(READERS))
    parser.add_argument("--plot", type=Path, help="write the distributions to this SVG file")
    options = parser.parse_args()
    # A collection in this process would be measured as a wake-up that comes late.
    gc.disable()
    is_met: bool | None = None
    measured: dict[str, Latencies] = {}
    for durability in ("none", "always") if options.url is None else (AS_SET,):
        with server_at(options.url, durability) as url:
            for name in options.readers:
                latencies = uvloop.run(measure(url, READERS[name], options.rate, options.seconds))
                measured[f"{name}, {durability}"] = latencies
                print(f"\n{name}, durability {durability}, {options.rate:g} appends/s, loopback")
                print(latencies.summary())
                print(latencies.histogram())
                within = latencies.within_percent(GOAL_MS)
                print(f"{within:.2f} % within {GOAL_MS} ms")
                if (name, durability) == ("WebSocket", "none"):
                    is_met = within >= GOAL_PERCENT
    if options.plot is not None:
        # Only here: whoever wants no plot needs no matplotlib.
        from bench.plots import plot_latencies  # noqa: PLC0415

        plot_latencies(options.plot, f"Wake-ups at {options.rate:g} appends/s", measured, GOAL_MS)
    if is_met is not None:
        verdict = "met" if is_met else "missed"
        print(f"\ngoal: {GOAL_PERCENT} % within {GOAL_MS} ms over WebSocket, durability none: {verdict}")
    return 1 if is_met is False else 0


if __name__ == "__main__":
    sys.exit(main())
