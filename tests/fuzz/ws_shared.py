"""The stream that all connections of a program share, read by subscriptions and consumers of WebSockets."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

from tests.fuzz.http_client import Ended
from tests.fuzz.http_shared import END, Entries, SharedStream, entries_of
from tests.fuzz.ws_bytes import JSON, MSGPACK
from tests.fuzz.ws_client import WsClient

PUSHES_MAX: Final = 5
"""After so many pushes, a subscriber resets its connection, and subscribes again where it was."""


class WsSharedStream(SharedStream):
    """The shared stream of one program, on the server under test."""

    async def _read(self) -> Entries:
        found, after = Entries(), "0"
        while all(value != END for _, value in found):
            client = await WsClient.open(self._port, self._token, MSGPACK if len(found) % 2 else JSON)
            streams = [{"key": self._key, "after": after}]
            opened = await client.ask({"id": 1, "op": "subscribe", "streams": streams, "credit": 2})
            assert "ok" in opened, opened
            with suppress(Ended):
                after = await self._pushed(client, found, after)
            client.reset()
        return found

    async def _pushed(self, client: WsClient, found: Entries, after: str) -> str:
        """Read some pushes. Return the position after them."""
        for _ in range(PUSHES_MAX):
            push = await client.message()
            if "sub" in push:
                found += entries_of(push)
                after = push["next"]
                client.say({"id": 2, "op": "credit", "sub": 1, "entries": len(push["entries"])})
            if found and found[-1][1] == END:
                break
        return after

    async def _consume(self, number: int) -> Entries:
        """Read one entry at a time. Acknowledge it in the same message as the next credit."""
        client, found = await WsClient.open(self._port, self._token), Entries()
        group: dict[str, Any] = {"key": self._key, "group": "g"}
        opened = await client.ask(
            {
                "id": "c",
                "op": "consume",
                "group": "g",
                "consumer": f"c{number}",
                "streams": [{"key": self._key}],
                "credit": 1,
            }
        )
        assert "ok" in opened, opened
        while not found or found[-1][1] != END:
            push = await client.message()
            assert push["sub"] == "c", push
            [entry] = entries_of(push)
            found.append(entry)
            client.say(
                [
                    {"id": 2, "op": "ack", **group, "ids": [entry[0]]},
                    {"id": 3, "op": "credit", "sub": "c", "entries": 0 if entry[1] == END else 1},
                ]
            )
            acked, credited = await client.message()
            assert acked["ok"] == {"acknowledged": 1}, acked
            assert "ok" in credited, credited
        await client.close()
        await asyncio.sleep(0)
        return found
