"""Fan-out: many WebSocket subscribers of one stream, with appends at a steady rate (row 10 of
docs/performance.md).

Every subscriber must receive every entry. The latency of an entry is the time from sending the append to the
receipt by a subscriber. Server and subscribers are two processes on one machine, over loopback, without
durability. Run it with ``python -m bench.fanout``.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec
import uvloop
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from bench.latencies import Latencies, settled
from bench.rows import Effort, Row, command, spaced
from bench.server import started

SUBPROTOCOL: Final = Subprotocol("tailrace.v1.json")
SECONDS: Final = 10.0
CREDIT: Final = 1_000_000_000
SETTLE_S: Final = 10
SPARE_CONNECTIONS: Final = 64
LONG_LENGTH: Final = 126

HANDSHAKE: Final = (
    "GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
)

_SENT_NS: Final = re.compile(rb'"sent_ns":"([0-9]+)"')
_REPLY: Final = b'"ok"'


class Load(NamedTuple):
    """How many subscribers there are, how often an entry is appended, and the goal."""

    subscribers: int
    rate_per_s: int
    goal_p99_ms: int


LOADS: Final = (Load(1_000, 50, 100), Load(10_000, 5, 200))
"""Both loads push as many entries a second."""


class Subscriber(asyncio.Protocol):
    """One subscriber with as little work as possible, because thousands of them share one core.

    It searches the received bytes for the append times; servers send frames unmasked, and here without
    fragmentation.
    """

    def __init__(self, host: str, key: str, on_ready: Callable[[], None], latencies_ns: list[int]) -> None:
        self._host = host
        self._key = key
        self._on_ready = on_ready
        self._latencies_ns = latencies_ns
        self._rest = b""
        self._is_open = False
        self._is_ready = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Request a WebSocket."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(HANDSHAKE.format(host=self._host).encode())

    def data_received(self, data: bytes) -> None:
        """Record the receipt time of the entries in `data`."""
        now_ns = time.monotonic_ns()
        if self._rest:
            data = self._rest + data
        end = 0
        for found in _SENT_NS.finditer(data):
            self._latencies_ns.append(now_ns - int(found[1]))
            end = found.end()
        # A push may be split between two reads, so the bytes after the last time are kept for the next read.
        self._rest = data[end:]
        if not self._is_ready:
            self._go_on()

    def _go_on(self) -> None:
        """Subscribe when the connection is open, and signal when the server confirms the subscription."""
        if not self._is_open and b"\r\n\r\n" in self._rest:
            assert b" 101 " in self._rest, self._rest
            self._is_open = True
            source = {"key": self._key, "after": "$"}
            self._send({"id": 1, "op": "subscribe", "streams": [source], "credit": CREDIT})
        elif self._is_open and _REPLY in self._rest:
            self._is_ready = True
            self._on_ready()

    def _send(self, request: object) -> None:
        payload = msgspec.json.encode(request)
        assert len(payload) < LONG_LENGTH
        assert self._transport
        # A mask of zeros is valid, and leaves the payload unchanged.
        self._transport.write(bytes([0x81, 0x80 | len(payload)]) + bytes(4) + payload)


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 10."""
    for load in LOADS:
        yield _row(load._replace(subscribers=effort.count(load.subscribers)), effort.seconds(SECONDS))


def _row(load: Load, seconds: float) -> Row:
    appends = round(load.rate_per_s * seconds) or 1
    open_max = str(load.subscribers + SPARE_CONNECTIONS)
    with started("none", "--connections-max", open_max, "--websockets-max", open_max) as server:
        samples = uvloop.run(fan_out(server.url, load, appends))
    assert samples, "the subscribers received nothing"
    latencies = Latencies(samples)
    expected = load.subscribers * appends
    is_met = len(samples) == expected and latencies.percentile_ms(99) < load.goal_p99_ms
    what = f"fan-out to {spaced(load.subscribers)} WebSocket subscribers, {load.rate_per_s} appends/s"
    ours = f"{spaced(len(samples))} of {spaced(expected)} received ({latencies.summary()})"
    return Row(10, what, "none", ours, "", None, f"all, p99 < {load.goal_p99_ms} ms", is_met)


async def fan_out(url: str, load: Load, appends: int) -> list[int]:
    """Return the latencies of all receipts, in nanoseconds."""
    host = urlsplit(url).netloc
    address, _, port = host.rpartition(":")
    key = f"bench:fanout:{time.time_ns()}"
    latencies_ns: list[int] = []
    ready = asyncio.Semaphore(0)
    loop = asyncio.get_running_loop()
    transports = []
    for _ in range(load.subscribers):
        transport, _ = await loop.create_connection(
            lambda: Subscriber(host, key, ready.release, latencies_ns), address, int(port)
        )
        transports.append(transport)
    for _ in range(load.subscribers):
        await ready.acquire()
    await _append(f"ws://{host}/v1/ws", key, appends, load.rate_per_s)
    await settled(latencies_ns, load.subscribers * appends, SETTLE_S)
    for transport in transports:
        transport.close()
    return latencies_ns


async def _append(url: str, key: str, appends: int, rate_per_s: int) -> None:
    async with connect(url, subprotocols=[SUBPROTOCOL], compression=None) as socket:
        await socket.recv()
        start = time.monotonic()
        for number in range(appends):
            await asyncio.sleep(max(start + number / rate_per_s - time.monotonic(), 0))
            fields = {"sent_ns": str(time.monotonic_ns()), "rider": "Castilla", "speed": "30.2"}
            request = {"id": number, "op": "append", "key": key, "fields": fields}
            await socket.send(msgspec.json.encode(request).decode())
        for _ in range(appends):
            await socket.recv()


if __name__ == "__main__":
    command(measure, __doc__)
