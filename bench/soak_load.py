"""The load of the soak: on each stream a producer, two consumers of a group, a tail, and a trim every second.

A consumer leaves one entry in a hundred unacknowledged, so that the other one claims it. The load counts
what it sends and receives. It never looks at the server's process.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import defaultdict
from typing import Any, Final

from bench.connection import Connection
from bench.rows import SEED

STREAMS: Final = 8
KEPT_ENTRIES: Final = 20_000
CLAIM_MIN_IDLE_MS: Final = 1_000
LEFT_SHARE: Final = 0.01
READ_COUNT: Final = 100
WAIT_MS: Final = 500
TRIM_PERIOD_S: Final = 1.0
SETTLE_S: Final = 60.0
POLL_S: Final = 0.1
FIELDS: Final = {"rider": "Castilla", "speed": "30.2", "position": "1", "location_id": "1"}
POST: Final = "POST"

_TAILED: Final = re.compile(rb'"id":"')


class Counts:
    """What the load has done, and the latencies since they were last taken, in nanoseconds by kind."""

    def __init__(self) -> None:
        self.appended = 0
        self.acknowledged = 0
        self.claimed = 0
        self.tailed = 0
        self.trimmed = 0
        self._latencies_ns: defaultdict[str, list[int]] = defaultdict(list)

    def note(self, kind: str, since_ns: int) -> None:
        """Record that a request of this kind that began at `since_ns` has its response now."""
        self._latencies_ns[kind].append(time.perf_counter_ns() - since_ns)

    def latencies_taken(self) -> dict[str, list[int]]:
        """Return the latencies, and begin a new list."""
        taken, self._latencies_ns = self._latencies_ns, defaultdict(list)
        return taken


class StreamLoad:
    """The load on one stream.

    `per_s`: appends a second, or None for as many as possible. `ends`: set it to end the load.
    """

    def __init__(self, url: str, key: str, counts: Counts) -> None:
        self._url = url
        self._path = f"/v1/streams/{key}"
        self._key = key
        self._counts = counts
        self._chance = random.Random(f"{SEED} {key}")  # noqa: S311 - no secret
        self.per_s: float | None = None
        self.ends = asyncio.Event()
        self._is_read = asyncio.Event()
        self._appended = 0
        self._tailed = 0

    async def run(self) -> None:
        """Work until `ends` is set, then until all is acknowledged and tailed, at most `SETTLE_S`."""
        owner = await Connection.opened(self._url)
        await owner.ask("PUT", f"{self._path}/groups/judges", b'{"after":"0","create_stream":true}')
        async with asyncio.TaskGroup() as tasks:
            endless = [tasks.create_task(self._tail()), tasks.create_task(self._trim(owner))]
            for name in ("alice", "bob"):
                tasks.create_task(self._consume(name))
            await self._produce()
            await self._settle()
            self._is_read.set()
            for task in endless:
                task.cancel()
        owner.close()

    async def _produce(self) -> None:
        connection = await Connection.opened(self._url)
        body = json.dumps({"fields": FIELDS}).encode()
        due_ns = time.perf_counter_ns()
        while not self.ends.is_set():
            if self.per_s is None:
                due_ns = time.perf_counter_ns()
            else:
                due_ns += round(1e9 / self.per_s)
                await asyncio.sleep((due_ns - time.perf_counter_ns()) / 1e9)
            await connection.ask(POST, f"{self._path}/entries", body)
            # From the time when it was due: a server that stalls makes all appends of that time late.
            self._counts.note("append", due_ns)
            self._counts.appended += 1
            self._appended += 1
        connection.close()

    async def _consume(self, consumer: str) -> None:
        connection = await Connection.opened(self._url)
        wanted = {
            "group": "judges",
            "consumer": consumer,
            "count": READ_COUNT,
            "streams": [{"key": self._key}],
            "claim_min_idle_ms": CLAIM_MIN_IDLE_MS,
            "wait_ms": WAIT_MS,
        }
        body = json.dumps(wanted).encode()
        while not self._is_read.is_set():
            answer = json.loads(await connection.ask(POST, "/v1/read-group", body))
            entries = [entry for stream in answer["streams"] for entry in stream["entries"]]
            await self._acknowledge(connection, entries)
        connection.close()

    async def _acknowledge(self, connection: Connection, entries: list[dict[str, Any]]) -> None:
        """Acknowledge all entries that were claimed, and nearly all of the new ones."""
        self._counts.claimed += sum(entry.get("deliveries", 0) > 0 for entry in entries)
        ids = [
            entry["id"]
            for entry in entries
            if entry.get("deliveries", 0) > 0 or self._chance.random() >= LEFT_SHARE
        ]
        if not ids:
            return
        began_ns = time.perf_counter_ns()
        answer = await connection.ask(
            POST, f"{self._path}/groups/judges:ack", json.dumps({"ids": ids}).encode()
        )
        self._counts.note("acknowledge", began_ns)
        self._counts.acknowledged += json.loads(answer)["acknowledged"]

    async def _tail(self) -> None:
        connection = await Connection.opened(self._url)
        events = await connection.events(f"{self._path}/entries:tail?after=0-0")
        rest = b""
        while data := await events.read(1 << 16):
            whole, newline, rest = (rest + data).rpartition(b"\n")
            if newline:
                received = len(_TAILED.findall(whole))
                self._counts.tailed += received
                self._tailed += received

    async def _trim(self, connection: Connection) -> None:
        body = json.dumps({"max_length": KEPT_ENTRIES, "approximate": True}).encode()
        while True:
            await asyncio.sleep(TRIM_PERIOD_S)
            began_ns = time.perf_counter_ns()
            answer = await connection.ask(POST, f"{self._path}/entries:trim", body)
            self._counts.note("trim", began_ns)
            self._counts.trimmed += json.loads(answer)["trimmed"]

    async def _settle(self) -> None:
        watcher = await Connection.opened(self._url)
        until_s = time.monotonic() + SETTLE_S
        while time.monotonic() < until_s:
            group = json.loads(await watcher.ask("GET", f"{self._path}/groups/judges"))
            if group["lag"] == group["pending"] == 0 and self._tailed >= self._appended:
                break
            await asyncio.sleep(POLL_S)
        watcher.close()
