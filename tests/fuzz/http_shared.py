"""The stream that all connections of a program share: those who read it, and what it has to contain.

Two readers and two consumers of a group wait for entries while the connections append. When these have ended,
entries that say so end the readers. So no reader waits for a time. Only the plain reads here wait long.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Iterable
from typing import Any, Final, TypeAlias

from tests.fuzz.http_bytes import request_bytes
from tests.fuzz.http_client import HttpClient
from tests.fuzz.programs import PATIENCE_S

READERS: Final = 2
CONSUMERS: Final = 2
WAIT_MS: Final = 60_000
END: Final = "end"
"""The value of the entries that end the readers."""

Entry: TypeAlias = tuple[str, str]
"""An id and a value."""

Entries: TypeAlias = list[Entry]


class SharedStream:
    """The shared stream of one program, on the server under test."""

    def __init__(self, port: int, key: str, token: str) -> None:
        self._port = port
        self._key = key
        self._token = token
        self._tasks: list[asyncio.Task[Entries]] = []

    async def begin(self) -> None:
        """Create the stream with its group, and start the readers."""
        client = await HttpClient.open(self._port)
        body = {"after": "0", "create_stream": True}
        await self._asked(client, "PUT", f"/v1/streams/{self._key}/groups/g", body, status=201)
        await client.close()
        readers = [self._read() for _ in range(READERS)] + [self._consume(each) for each in range(CONSUMERS)]
        self._tasks = [asyncio.ensure_future(each) for each in readers]

    async def end(self) -> tuple[Entries, list[Entries], list[Entries]]:
        """End the readers. Return the entries, those that each reader saw, and those of each consumer."""
        client = await HttpClient.open(self._port)
        path, waiting = f"/v1/streams/{self._key}/entries", set(self._tasks[READERS:])
        while waiting:  # one entry ends all readers, and one consumer
            await self._asked(client, "POST", path, {"fields": {"v": END}}, status=201)
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        page = await self._asked(client, "GET", f"{path}?count=1000")
        await client.close()
        seen = await asyncio.gather(*self._tasks)
        return entries_of(page), seen[:READERS], seen[READERS:]

    def cancel(self) -> None:
        """Stop the readers, after a failure."""
        for task in self._tasks:
            task.cancel()

    async def _read(self) -> Entries:
        client, found, after = await HttpClient.open(self._port), Entries(), "0"
        while all(value != END for _, value in found):
            path = f"/v1/streams/{self._key}/entries?after={after}&wait_ms={WAIT_MS}"
            page = await self._asked(client, "GET", path)
            found += entries_of(page)
            after = page["next"]
        await client.close()
        return found

    async def _consume(self, number: int) -> Entries:
        """Read one entry at a time. Acknowledge it in the same write as the next read."""
        client, found, ack = await HttpClient.open(self._port), Entries(), b""
        streams = [{"key": self._key}]
        body = {"group": "g", "consumer": f"c{number}", "streams": streams, "count": 1, "wait_ms": WAIT_MS}
        read = self._raw("POST", "/v1/read-group", body)
        while not found or found[-1][1] != END:
            answer = await client.ask(ack + read)
            if ack:
                assert json.loads(answer.body) == {"acknowledged": 1}, answer
                answer = await client.answer()
            [stream] = json.loads(answer.body)["streams"]
            found += entries_of(stream)
            ack = self._raw("POST", f"/v1/streams/{self._key}/groups/g:ack", {"ids": [found[-1][0]]})
        await client.close()
        return found

    async def _asked(
        self, client: HttpClient, method: str, path: str, body: object = None, status: int = 200
    ) -> Any:
        answer = await client.ask(self._raw(method, path, body))
        assert answer.status == status, answer
        return json.loads(answer.body)

    def _raw(self, method: str, path: str, body: object = None) -> bytes:
        return request_bytes(self._token, method, path, body)


def entries_of(page: Any) -> Entries:
    """Return the entries of a page."""
    return [(entry["id"], entry["fields"]["v"]) for entry in page["entries"]]


def require_shared(
    entries: Entries,
    acknowledged: list[Entries],
    unknown: set[str],
    read: list[Entries],
    consumed: list[Entries],
) -> None:
    """Fail unless the entries are those that the connections appended, and each reader saw all of them.

    `acknowledged`: for each connection, in the order of its answers. `unknown`: the values without an answer.
    """
    ids = [number_of(each) for each, _ in entries]
    assert ids == sorted(set(ids)), "the ids rise"
    for own in acknowledged:
        numbers = [number_of(each) for each, _ in own]
        assert numbers == sorted(set(numbers)), f"the ids of one connection rise: {own}"
    known = [entry for own in acknowledged for entry in own]
    assert set(known) <= set(entries), f"lost: {set(known) - set(entries)}"
    others = Counter(value for each, value in set(entries) - set(known) if value != END)
    assert others.keys() <= unknown, f"entries of no request: {others.keys() - unknown}"
    assert not [value for value, count in others.items() if count > 1], f"doubled: {others}"
    end = [value for _, value in entries].index(END) + 1
    for own in read:
        assert own[:end] == entries[:end], "a reader sees each entry once, in order"
    delivered = [entry for own in consumed for entry in own]
    assert len(delivered) == len(set(delivered)), "no entry is delivered twice"
    assert set(entries[:end]) <= set(delivered), "a group delivers each entry"


def number_of(text: str) -> tuple[int, int]:
    """Return an id as numbers that can be compared."""
    time_ms, _, sequence = text.partition("-")
    return int(time_ms), int(sequence)


async def run_beside(
    shared: SharedStream, connections: Iterable[Awaitable[tuple[Entries, set[str]]]]
) -> None:
    """Run the connections of a program while others read its shared stream, and fail unless the stream is as
    expected. Each connection returns what it appended, and the values that it may have appended."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            await shared.begin()
            done = await asyncio.gather(*connections)
            entries, read, consumed = await shared.end()
        unknown = set[str]().union(*(each for _, each in done))
        require_shared(entries, [appended for appended, _ in done], unknown, read, consumed)
    finally:
        shared.cancel()
