"""Pushes: an append and its push, where each stream has a reader of its own (row 24 of docs/performance.md).

Chats, jobs and agents have many streams with one reader each, so no read is shared. The readers of all
streams stay connected. The bench appends at a steady rate, in turn to streams without a reader and to the
streams with one, and compares the processor time of the server. Every entry must arrive. Run it with
``python -m bench.pushes``.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

import uvloop

from bench.fanout import Subscriber
from bench.latencies import Latencies, settled
from bench.rows import Effort, Row, command, medians_in_turns, spaced
from bench.server import Started, started

READERS: Final = 1_000
RATE_PER_S: Final = 300
SECONDS: Final = 2.0
ROUNDS: Final = 3
"""A subscriber answers no pings, so the server would disconnect it after 40 s."""

SETTLE_S: Final = 5
GOAL_RATIO: Final = 4.0
GOAL_P99_MS: Final = 5.0

READ: Final = "bench:read:"
UNREAD: Final = "bench:unread:"
"""The prefixes of the streams with a reader and without one."""

_SENT_NS: Final = re.compile(rb'"sent_ns":"([0-9]+)"')


class TailReader(asyncio.Protocol):
    """One reader over Server-Sent Events, with as little work as possible. It is ready at its first event."""

    def __init__(self, host: str, key: str, on_ready: Callable[[], None], latencies_ns: list[int]) -> None:
        self._host = host
        self._key = key
        self._on_ready = on_ready
        self._latencies_ns = latencies_ns
        self._rest = b""
        self._is_ready = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Request the tail."""
        head = f"GET /v1/streams/{self._key}/entries:tail HTTP/1.1\r\nHost: {self._host}\r\n\r\n"
        cast("asyncio.Transport", transport).write(head.encode())

    def data_received(self, data: bytes) -> None:
        """Record the receipt time of the entries in `data`. A push may be split between two reads."""
        now_ns = time.monotonic_ns()
        data = self._rest + data
        end = 0
        for found in _SENT_NS.finditer(data):
            self._latencies_ns.append(now_ns - int(found[1]))
            end = found.end()
        self._rest = data[end:]
        if not self._is_ready and b"event: entries\n" in data:
            assert b" 200 " in data, data
            self._is_ready = True
            self._on_ready()


class Appender(asyncio.Protocol):
    """Appends over HTTP on one connection, each after the response to the last one."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._response = b""
        self._answered: asyncio.Future[None]
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take the response: the id, which is its end, comes in the same read as its head or later."""
        self._response += data
        if self._response.endswith(b"}"):
            assert b" 201 " in self._response, self._response
            self._response = b""
            self._answered.set_result(None)

    async def append(self, key: str) -> None:
        """Append one entry, which has the time of the append."""
        body = f'{{"fields":{{"sent_ns":"{time.monotonic_ns()}","rider":"Castilla","speed":"30.2"}}}}'
        head = f"POST /v1/streams/{key}/entries HTTP/1.1\r\nHost: {self._host}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write((head + body).encode())
        await self._answered


Reader = Callable[[str, str, Callable[[], None], list[int]], asyncio.Protocol]
READERS_OF: Final[Mapping[str, Reader]] = {"WebSocket": Subscriber, "SSE": TailReader}


class Pushed(NamedTuple):
    """The figures of one output: the processor time of an append, and of an append with its push."""

    append_us: float
    pushed_us: float
    latencies: Latencies
    expected: int


def measure(effort: Effort) -> Iterator[Row]:
    """Yield the rows 24."""
    for name in READERS_OF:
        yield _row(name, effort)


def _row(name: str, effort: Effort) -> Row:
    readers = effort.count(READERS)
    with started("none") as server:
        pushed = _measured(server, READERS_OF[name], readers, effort)
    ratio = pushed.pushed_us / pushed.append_us
    p99_ms = pushed.latencies.percentile_ms(99)
    is_met = ratio <= GOAL_RATIO and p99_ms <= GOAL_P99_MS and len(pushed.latencies) == pushed.expected
    return Row(
        24,
        f"an append and its push over {name}, {spaced(readers)} streams with a reader each, "
        f"{RATE_PER_S} appends/s",
        "none",
        f"{pushed.pushed_us:.0f} us ({pushed.latencies.summary()})",
        f"an append alone: {pushed.append_us:.0f} us",
        ratio,
        f"<= {GOAL_RATIO:g} x, p99 <= {GOAL_P99_MS:g} ms",
        is_met,
    )


def _measured(server: Started, reader: Reader, readers: int, effort: Effort) -> Pushed:
    appends = max(round(RATE_PER_S * effort.seconds(SECONDS)), 1)
    rounds = effort.rounds(ROUNDS)
    latencies_ns: list[int] = []
    host = urlsplit(server.url).netloc
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        appender = runner.run(_opened(host, reader, readers, latencies_ns))

        def us(prefix: str, expected: int) -> tuple[float]:
            before_s, before = server.busy_s(), len(latencies_ns)
            runner.run(_append(appender, prefix, readers, appends))
            runner.run(settled(latencies_ns, before + expected, SETTLE_S))
            return ((server.busy_s() - before_s) * 1e6 / appends,)

        us(UNREAD, 0)
        us(READ, appends)
        latencies_ns.clear()
        (append_us,), (pushed_us,) = medians_in_turns(
            rounds, lambda: us(UNREAD, 0), lambda: us(READ, appends)
        )
    return Pushed(append_us, pushed_us, Latencies(latencies_ns), rounds * appends)


async def _opened(host: str, reader: Reader, readers: int, latencies_ns: list[int]) -> Appender:
    """Open a reader for each stream, and return the connection for appends."""
    address, _, port = host.rpartition(":")
    loop = asyncio.get_running_loop()
    _, appender = await loop.create_connection(lambda: Appender(host), address, int(port))
    ready = asyncio.Semaphore(0)
    for number in range(readers):
        key = f"{READ}{number}"
        await appender.append(key)
        await loop.create_connection(
            lambda key=key: reader(host, key, ready.release, latencies_ns),  # type: ignore[misc]
            address,
            int(port),
        )
        await ready.acquire()
    return appender


async def _append(appender: Appender, prefix: str, streams: int, appends: int) -> None:
    start = time.monotonic()
    for number in range(appends):
        await asyncio.sleep(max(start + number / RATE_PER_S - time.monotonic(), 0))
        await appender.append(f"{prefix}{number % streams}")


if __name__ == "__main__":
    command(measure, __doc__)
