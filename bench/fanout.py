"""Fan-out: many WebSocket subscribers of one stream, appends at a steady rate (figure 10 of the goals).

Every subscriber must get every entry; the latency is from the send of the append to its receipt by a
subscriber. Server and subscribers are two processes on one machine, over loopback, durability none.
Run it with ``python -m bench.fanout``.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

import msgspec
import uvloop
from websockets.asyncio.client import connect

from bench.latencies import Latencies
from bench.server import server_at

SUBPROTOCOL = "tailrace.v1.json"
GOAL_P99_MS = 100
CREDIT = 1_000_000_000
SETTLE_S = 10
LONG_LENGTH = 126

HANDSHAKE = (
    "GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
)


_SENT_NS = re.compile(rb'"sent_ns":"([0-9]+)"')
_REPLY = b'"ok"'


class Subscriber(asyncio.Protocol):
    """One subscriber, as cheap as can be: a thousand of them share a core, and must not be what is measured.

    It looks for the times in what arrives; servers send frames unmasked and, here, never fragmented.
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
        """Ask for a WebSocket."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(HANDSHAKE.format(host=self._host).encode())

    def data_received(self, data: bytes) -> None:
        """Note when entries arrive."""
        now_ns = time.monotonic_ns()
        if self._rest:
            data = self._rest + data
        end = 0
        for found in _SENT_NS.finditer(data):
            self._latencies_ns.append(now_ns - int(found[1]))
            end = found.end()
        # What may be the beginning of a push that is cut is short; the rest of a push is passed over.
        self._rest = data[end:]
        if not self._is_ready:
            self._go_on()

    def _go_on(self) -> None:
        """Subscribe once the connection is open, and tell when that is confirmed."""
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
        # A mask of zeros is a mask, and leaves the payload as it is.
        self._transport.write(bytes([0x81, 0x80 | len(payload)]) + bytes(4) + payload)


async def measure(url: str, subscribers: int, appends: int, rate: float) -> list[int]:
    """The latencies of all receipts, in nanoseconds."""
    host = urlsplit(url).netloc
    address, _, port = host.rpartition(":")
    key = f"bench:fanout:{time.time_ns()}"
    latencies_ns: list[int] = []
    ready = asyncio.Semaphore(0)
    loop = asyncio.get_running_loop()
    transports = []
    for _ in range(subscribers):
        transport, _ = await loop.create_connection(
            lambda: Subscriber(host, key, ready.release, latencies_ns), address, int(port)
        )
        transports.append(transport)
    for _ in range(subscribers):
        await ready.acquire()
    await _append(f"ws://{host}/v1/ws", key, appends, rate)
    await _settled(latencies_ns, subscribers * appends)
    for transport in transports:
        transport.close()
    return latencies_ns


async def _append(url: str, key: str, appends: int, rate: float) -> None:
    async with connect(url, subprotocols=[SUBPROTOCOL], compression=None) as socket:  # type: ignore[list-item]
        await socket.recv()
        start = time.monotonic()
        for number in range(appends):
            await asyncio.sleep(max(start + number / rate - time.monotonic(), 0))
            fields = {"sent_ns": str(time.monotonic_ns()), "rider": "Castilla", "speed": "30.2"}
            request = {"id": number, "op": "append", "key": key, "fields": fields}
            await socket.send(msgspec.json.encode(request).decode())
        for _ in range(appends):
            await socket.recv()


async def _settled(latencies_ns: list[int], expected: int) -> None:
    deadline = time.monotonic() + SETTLE_S
    # Looked at now and then: an event would have to be thought of at each of the receipts.
    while len(latencies_ns) < expected and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


def main() -> int:
    """Measure, print, and say whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a running server; one is started where it is not given")
    parser.add_argument("--subscribers", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=50, help="appends a second")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    appends = round(options.rate * options.seconds)
    with server_at(options.url) as url:
        samples = uvloop.run(measure(url, options.subscribers, appends, options.rate))
    expected = options.subscribers * appends
    print(
        f"{options.subscribers} subscribers, {options.rate:g} appends/s for {options.seconds:g} s, loopback"
    )
    print(f"received {len(samples)} of {expected}")
    if not samples:
        return 1
    latencies = Latencies(samples)
    print(latencies.summary())
    print(latencies.histogram())
    met = len(samples) == expected and latencies.percentile_ms(99) < GOAL_P99_MS
    print(f"goal: every entry to every subscriber, p99 under {GOAL_P99_MS} ms: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
