"""Clients of a gateway whose connections to the engine are cut: they pipeline, wait for entries, and leave.

This module cuts no connection to the engine. What must hold in the end is in `outcome`.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager, suppress
from random import Random
from typing import Final

from tests.fuzz.http_bytes import request_bytes
from tests.fuzz.http_client import Ended, HttpClient
from tests.remote.lost_connections.outcome import Outcome, require_documented, require_right, stored_of
from tests.remote.lost_connections.requests import LONG_MS, Requests

CLIENTS: Final = 6
FOLLOWERS: Final = 2
VISITORS: Final = 2
BURSTS: Final = 6
BURST_REQUESTS: Final = (1, 2, 4, 8, 24)
LEAVES_SHARE: Final = 0.15
END: Final = "end"
"""The value of the last entry of the shared stream."""


class Follower:
    """Reads the shared stream from its beginning with long waits, until an entry says that it ends. A reader
    without a group misses no entry and sees none twice, whatever happens to its gateway's connections."""

    def __init__(self, port: int, token: str, key: str) -> None:
        self.entries: list[tuple[str, str]] = []
        self.port = port
        self._token = token
        self._key = key

    async def run(self) -> None:
        """Read on until the last entry."""
        client, after = await HttpClient.open(self.port), "0"
        while not self.entries or self.entries[-1][1] != END:
            path = f"/v1/streams/{self._key}/entries?after={after}&wait_ms={LONG_MS}"
            answer = await client.ask(request_bytes(self._token, "GET", path))
            if answer.status == 200:
                page = json.loads(answer.body)
                self.entries += [(entry["id"], entry["fields"]["v"]) for entry in page["entries"]]
                after = page["next"]
            else:
                require_documented(answer)
        await client.close()


class Client:
    """One client, which pipelines on one connection after another."""

    def __init__(self, port: int, requests: Requests, chance: Random, outcome: Outcome) -> None:
        self.requests = requests
        self._port = port
        self._chance = chance
        self._outcome = outcome

    async def prepare(self) -> None:
        """Create the streams and groups of the client."""
        connection, requests = await HttpClient.open(self._port), self.requests
        for raw in (*requests.fixed_entries(), requests.group(requests.own), requests.group(requests.shared)):
            answer = await connection.ask(raw)
            assert answer.status in {201, 409}, answer  # 409: another client has created the shared group
        await connection.close()

    async def run(self) -> None:
        """Send all bursts. Sometimes leave in the middle of one."""
        connection = await HttpClient.open(self._port)
        for _ in range(BURSTS):
            count = self._chance.choice(BURST_REQUESTS)
            burst = self.requests.some(count)
            leaves_after = self._chance.randrange(count) if self._chance.random() < LEAVES_SHARE else count
            connection.write(b"".join(sent.raw for sent in burst))
            for sent in burst[:leaves_after]:
                answer = await connection.answer()
                self._outcome.statuses[str(answer.status)] += 1
                sent.take(answer)
            if leaves_after < count:
                await asyncio.sleep(self._chance.choice((0, 0.001, 0.003)))
                connection.reset()
                for sent in burst[leaves_after:]:
                    sent.leave()
                connection = await HttpClient.open(self._port)
        await connection.close()

    async def visit(self) -> None:
        """Begin long reads of the shared group, and leave each of them soon, until this is cancelled."""
        while True:
            connection = await HttpClient.open(self._port)
            sent = self.requests.wait_for_shared()
            connection.write(sent.raw)
            await asyncio.sleep(self._chance.choice((0, 0.001, 0.005, 0.02)))
            if self._chance.random() < 0.5:
                connection.reset()
                continue
            connection.end()
            with suppress(Ended):
                sent.take(await connection.answer())
            assert not await connection.rest(), "bytes after the last answer"
            await connection.close()


async def run_round(port: int, token: str, seed: str, cutting: AbstractAsyncContextManager[None]) -> Outcome:
    """Let clients work while `cutting` cuts connections. Fail unless everything is right in the end."""
    chance, outcome, name = Random(f"lost {seed}"), Outcome(), f"lost{seed}"
    clients = [
        Client(port, Requests(token, name, number, chance, outcome), chance, outcome)
        for number in range(CLIENTS)
    ]
    for client in clients:
        await client.prepare()
    shared = clients[0].requests.shared
    followers = [Follower(port, token, shared) for _ in range(FOLLOWERS)]
    following = [asyncio.ensure_future(each.run()) for each in followers]
    async with cutting:
        visiting = [asyncio.ensure_future(each.visit()) for each in clients[:VISITORS]]
        await asyncio.gather(*(each.run() for each in clients))
        for visit in visiting:
            visit.cancel()
        for end in await asyncio.gather(*visiting, return_exceptions=True):
            assert isinstance(end, asyncio.CancelledError), end
    outcome.acknowledged[shared, END] = await _end(port, token, shared)
    await asyncio.gather(*following)
    keys = [shared, *(each.requests.own for each in clients)]
    stored = {key: await stored_of(port, token, key) for key in keys}
    for follower in followers:
        seen = stored[shared].entries[: len(follower.entries)]
        assert follower.entries == seen, "a reader sees each entry once, in order"
    require_right(outcome, stored)
    return outcome


async def _end(port: int, token: str, key: str) -> str:
    """Append the last entry of the shared stream; return its id."""
    connection = await HttpClient.open(port)
    # The gateway connects again for the first request, so that the append is certain.
    for raw, status in (
        (request_bytes(token, "GET", f"/v1/streams/{key}/length"), 200),
        (request_bytes(token, "POST", f"/v1/streams/{key}/entries", {"fields": {"v": END}}), 201),
    ):
        answer = await connection.ask(raw)
        assert answer.status == status, answer
    await connection.close()
    entry_id: str = json.loads(answer.body)["id"]
    return entry_id
