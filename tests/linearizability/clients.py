"""Clients that work on one stream at once, each on its own connection, and record every operation.

The clients choose at random, from a seed. What they choose depends on what they were answered, so a seed does
not repeat a run. They never judge: `history` does.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from bench.connection import Connection
from tests.linearizability.history import (
    Acknowledged,
    Appended,
    GroupRead,
    History,
    SawNewest,
    SawPending,
)

CLIENTS: Final = 12
GROUP: Final = "judges"
CONSUMERS: Final = ("alice", "bob", "carol")
NEWEST_MAX: Final = 30
READ_MAX: Final = 8
PENDING_MAX: Final = 10_000
RECENT: Final = 60
"""How many of the entries that the group was given last a client chooses from when it acknowledges."""

WEIGHTS: Final = {"append": 40, "newest": 14, "group_read": 20, "acknowledge": 25, "pending": 1}


class Recorder:
    """The history, and the ids that the group was given: every client acknowledges any of them."""

    def __init__(self, key: str, operations: int) -> None:
        self.key = key
        self.history = History()
        self.given: list[str] = []
        self.left = operations


class Client:
    """One client. `chance`: its own source of choices."""

    def __init__(self, connection: Connection, recorder: Recorder, chance: random.Random) -> None:
        self._connection = connection
        self._recorder = recorder
        self._history = recorder.history
        self._chance = chance
        self._path = f"/v1/streams/{recorder.key}"

    async def work(self) -> None:
        """Do operations until all clients together have done enough."""
        names, weights = tuple(WEIGHTS), tuple(WEIGHTS.values())
        while self._recorder.left > 0:
            self._recorder.left -= 1
            [name] = self._chance.choices(names, weights)
            operation: Callable[[], Coroutine[Any, Any, None]] = getattr(self, f"_{name}")
            await operation()

    async def _append(self) -> None:
        start_ns = time.monotonic_ns()
        answer = await self._post("/entries", {"fields": {"number": str(self._recorder.left)}})
        self._history.appends.append(Appended(start_ns, time.monotonic_ns(), answer["id"]))

    async def _newest(self) -> None:
        asked = self._chance.randint(1, NEWEST_MAX)
        start_ns = time.monotonic_ns()
        body = await self._connection.ask("GET", f"{self._path}/entries?order=desc&count={asked}")
        end_ns = time.monotonic_ns()
        ids = [entry["id"] for entry in json.loads(body)["entries"]]
        self._history.newest.append(SawNewest(start_ns, end_ns, ids[::-1], asked))

    async def _group_read(self) -> None:
        asked, consumer = self._chance.randint(1, READ_MAX), self._chance.choice(CONSUMERS)
        start_ns = time.monotonic_ns()
        wanted = {
            "group": GROUP,
            "consumer": consumer,
            "count": asked,
            "streams": [{"key": self._recorder.key}],
        }
        answer = json.loads(await self._connection.ask("POST", "/v1/read-group", json.dumps(wanted).encode()))
        end_ns = time.monotonic_ns()
        ids = [entry["id"] for stream in answer["streams"] for entry in stream["entries"]]
        self._history.group_reads.append(GroupRead(start_ns, end_ns, consumer, ids, asked))
        self._recorder.given += ids

    async def _acknowledge(self) -> None:
        """Acknowledge one of the entries given last, perhaps together with another client."""
        recent = self._recorder.given[-RECENT:]
        if not recent:
            return
        entry_id = self._chance.choice(recent)
        start_ns = time.monotonic_ns()
        answer = await self._post(f"/groups/{GROUP}:ack", {"ids": [entry_id]})
        done = Acknowledged(start_ns, time.monotonic_ns(), entry_id, answer["acknowledged"])
        self._history.acknowledged.append(done)

    async def _pending(self) -> None:
        consumer = self._chance.choice(CONSUMERS)
        start_ns = time.monotonic_ns()
        path = f"{self._path}/groups/{GROUP}/pending?consumer={consumer}&count={PENDING_MAX}"
        answer = json.loads(await self._connection.ask("GET", path))
        end_ns = time.monotonic_ns()
        assert answer["next"] is None, "one page does not hold all pending entries"
        ids = frozenset(entry["id"] for entry in answer["pending"])
        self._history.pending.append(SawPending(start_ns, end_ns, consumer, ids))

    async def _post(self, path: str, body: object) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            await self._connection.ask("POST", self._path + path, json.dumps(body).encode())
        )
        return answer


async def recorded(urls: Sequence[str], key: str, operations: int, seed: int) -> History:
    """Return the history of `operations` operations on the new stream `key`, by clients of all `urls`."""
    recorder = Recorder(key, operations)
    connections = [await Connection.opened(urls[number % len(urls)]) for number in range(CLIENTS)]
    await connections[0].ask(
        "PUT", f"/v1/streams/{key}/groups/{GROUP}", b'{"after":"0","create_stream":true}'
    )
    clients = [
        Client(connection, recorder, random.Random(f"{seed} {number}"))
        for number, connection in enumerate(connections)
    ]
    async with asyncio.TaskGroup() as tasks:
        for client in clients:
            tasks.create_task(client.work())
    for connection in connections:
        connection.close()
    return recorder.history
