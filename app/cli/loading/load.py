"""The load: one stream, its connections, the tests that run on them one after another, and their figures.

It owns what each test sends. It creates no stream but its own, and the caller removes that one. It prints
nothing."""

from __future__ import annotations

import asyncio
import math
import random
import time
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from tailrace.app.cli.loading.connections import Connection, Target, opened
from tailrace.app.cli.server import ServerProblem, stream_path

# --- results ------------------------------------------------------------------------------------


_NS_PER_MS: Final = 1_000_000
_NS_PER_S: Final = 1_000_000_000
PERCENTILES: Final[Mapping[str, float]] = {
    "p50_ms": 0.5,
    "p95_ms": 0.95,
    "p99_ms": 0.99,
    "p999_ms": 0.999,
}


class Tally:
    """Counts the operations of one test, and keeps the duration of each."""

    def __init__(self) -> None:
        self.durations_ns = array("Q")
        self.entries = 0

    def add(self, duration_ns: int, entries: int) -> None:
        """Count one operation."""
        self.durations_ns.append(duration_ns)
        self.entries += entries


def result(name: str, what: str, tally: Tally, took_ns: int) -> dict[str, Any]:
    """Return the figures of one test. `what`: what one operation is."""
    durations = sorted(tally.durations_ns)
    seconds = max(took_ns, 1) / _NS_PER_S
    return {
        "test": name,
        "operation": what,
        "operations": len(durations),
        "entries": tally.entries,
        "seconds": round(seconds, 3),
        "operations_per_s": round(len(durations) / seconds, 1),
        "entries_per_s": round(tally.entries / seconds, 1),
        **{member: _ms(percentile(durations, share)) for member, share in PERCENTILES.items()},
        "max_ms": _ms(durations[-1] if durations else None),
    }


def percentile(ordered: Sequence[int], share: float) -> int | None:
    """Return the smallest value that `share` of the values do not exceed; None without values."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


def _ms(value_ns: int | None) -> float | None:
    return None if value_ns is None else round(value_ns / _NS_PER_MS, 3)


# --- the load -----------------------------------------------------------------------------------


READ_COUNT: Final = 100
"""How many entries one read returns."""

_GROUP: Final = "bench"
STORED_AT_LEAST: Final = 10_000
"""Random reads find at least so many entries."""
_STORED_AT_ONCE: Final = 1_000
_WAKEUPS_MAX: Final = 1_000
_WAIT_MS: Final = 30_000
_SETTLED_WITHIN_S: Final = 30
_HEAD_START_S: Final = 0.002
"""Time for a reader to arrive at the server before the append that wakes it up."""

Progress: TypeAlias = Callable[[int], None]
"""Is called with the number of operations that have just ended."""

_object: Final = msgspec.json.Decoder(dict[str, Any]).decode


class Size(NamedTuple):
    """How large a load is. `value_bytes`: the size of the value of each entry; `batch`: entries a batch."""

    connections: int
    operations: int
    value_bytes: int
    batch: int


class Load:
    """A load on the stream `key`. Raises `RefusedByServer` or `Unreachable`."""

    def __init__(self, target: Target, key: str, size: Size) -> None:
        self._target = target
        self._key = key
        self._path = stream_path(key.encode())
        self._size = size
        self._fields = {"value": "x" * size.value_bytes}
        self._connections: Sequence[Connection] = ()
        self._ids: list[str] = []
        self._tally = Tally()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the connections for the duration of the context."""
        # A wake-up needs a connection that waits and one that appends.
        self._connections = await opened(self._target, max(self._size.connections, 2))
        try:
            yield
        finally:
            await self._close()

    async def _close(self) -> None:
        """Close the connections after the last answer: a later append would create the stream again."""
        try:
            async with asyncio.timeout(_SETTLED_WITHIN_S):
                for connection in self._connections:
                    await connection.settled()
        except TimeoutError:
            pass
        finally:
            for connection in self._connections:
                connection.close()

    def operations_of(self, test: str) -> int:
        """Return how many operations a test has."""
        count = self._size.operations
        if test in {"batch", "group"}:
            return max(count // self._size.batch, 1)
        return min(count, _WAKEUPS_MAX) if test == "wakeup" else count

    async def run(self, test: str, progress: Progress) -> dict[str, Any]:
        """Run one test and return its figures."""
        operation, run = TESTS[test]
        count = self.operations_of(test)
        await self._store({"read": STORED_AT_LEAST, "group": count * self._size.batch}.get(test, 0))
        self._tally = Tally()
        began_ns = time.perf_counter_ns()
        await run(self, count, progress)
        took_ns = time.perf_counter_ns() - began_ns
        return result(test, operation.format(batch=self._size.batch), self._tally, took_ns)

    # --- tests -------------------------------------------------------------------------------------

    async def append(self, count: int, progress: Progress) -> None:
        """Append one entry a request."""
        request = self._target.request("POST", f"{self._path}/entries", {"fields": self._fields})

        async def one(connection: Connection) -> int:
            await connection.send(request)
            return 1

        await self._each(count, one, progress)

    async def batch(self, count: int, progress: Progress) -> None:
        """Append several entries a request, all or none."""
        body = {"entries": [{"fields": self._fields}] * self._size.batch}
        request = self._target.request("POST", f"{self._path}/entries:batch", body)

        async def one(connection: Connection) -> int:
            await connection.send(request)
            return self._size.batch

        await self._each(count, one, progress)

    async def read(self, count: int, progress: Progress) -> None:
        """Read a range from a random entry on."""
        requests = [
            self._target.request("GET", f"{self._path}/entries?start={entry_id}&count={READ_COUNT}")
            for entry_id in self._ids
        ]

        async def one(connection: Connection) -> int:
            body = await connection.send(random.choice(requests))  # noqa: S311 - spreads the load only
            return len(msgspec.json.decode(body)["entries"])

        await self._each(count, one, progress)

    async def wakeup(self, count: int, progress: Progress) -> None:
        """Append an entry for which a reader waits; the duration ends with the reader's response."""
        reader, writer = self._connections[0], self._connections[-1]
        append = self._target.request("POST", f"{self._path}/entries", {"fields": self._fields})
        after = _object(await writer.send(append))["id"]
        for _ in range(count):
            body = {"streams": [{"key": self._key, "after": after}], "wait_ms": _WAIT_MS}
            waiting = asyncio.ensure_future(
                self._woken(reader, self._target.request("POST", "/v1/read", body))
            )
            await asyncio.sleep(_HEAD_START_S)
            began_ns = time.perf_counter_ns()
            await writer.send(append)
            ended_ns, after = await waiting
            self._tally.add(ended_ns - began_ns, 1)
            progress(1)

    async def group(self, count: int, progress: Progress) -> None:
        """Read new entries as a consumer of a group, and acknowledge them."""
        create = self._target.request("PUT", f"{self._path}/groups/{_GROUP}", {"after": "0"})
        await self._connections[0].send(create)
        ack_path = f"{self._path}/groups/{_GROUP}:ack"
        numbers = {connection: number for number, connection in enumerate(self._connections)}

        async def one(connection: Connection) -> int:
            body = {
                "group": _GROUP,
                "consumer": f"consumer-{numbers[connection]}",
                "count": self._size.batch,
                "streams": [{"key": self._key, "id": ">"}],
            }
            answer = _object(await connection.send(self._target.request("POST", "/v1/read-group", body)))
            ids = [entry["id"] for entry in answer["streams"][0]["entries"]]
            if ids:
                await connection.send(self._target.request("POST", ack_path, {"ids": ids}))
            return len(ids)

        await self._each(count, one, progress)

    # --- how ---------------------------------------------------------------------------------------

    async def _each(
        self, count: int, one: Callable[[Connection], Awaitable[int]], progress: Progress
    ) -> None:
        """Run `count` operations, each connection one at a time."""
        left = iter(range(count))

        async def work(connection: Connection) -> None:
            for _ in left:
                began_ns = time.perf_counter_ns()
                entries = await one(connection)
                self._tally.add(time.perf_counter_ns() - began_ns, entries)
                progress(1)

        try:
            async with asyncio.TaskGroup() as tasks:
                for connection in self._connections[: self._size.connections]:
                    tasks.create_task(work(connection))
        except* ServerProblem as problems:
            # Every connection meets the same problem; one sentence is enough.
            raise problems.exceptions[0] from None

    async def _woken(self, reader: Connection, request: bytes) -> tuple[int, str]:
        """Return when a waiting read ended, and the position after it."""
        body = await reader.send(request, changes=False)
        ended_ns = time.perf_counter_ns()
        return ended_ns, _object(body)["streams"][0]["next"]

    async def _store(self, count: int) -> None:
        """Append entries until `count` of them can be read. The durations do not count."""
        body = {"entries": [{"fields": self._fields}] * _STORED_AT_ONCE}
        request = self._target.request("POST", f"{self._path}/entries:batch", body)
        while len(self._ids) * _STORED_AT_ONCE < count:
            self._ids.append(_object(await self._connections[0].send(request))["first_id"])


_Run: TypeAlias = Callable[[Load, int, Progress], Awaitable[None]]

TESTS: Final[Mapping[str, tuple[str, _Run]]] = {
    "append": ("append 1 entry", Load.append),
    "batch": ("append {batch} entries", Load.batch),
    "read": (f"read {READ_COUNT} entries", Load.read),
    "wakeup": ("append until a waiting reader has the entry", Load.wakeup),
    "group": ("read up to {batch} entries and acknowledge them", Load.group),
}
"""Name of a test, what one operation is, and the method that runs it."""
