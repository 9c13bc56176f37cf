"""Cuts the connections of a gateway to its engine: a TCP proxy that cuts at any byte, and CLIENT KILL.

The proxy also delays data. It cuts a connection after some bytes of the commands, or of the replies. So the
engine has executed a part of the commands, and the gateway has seen a part of the replies. This module never
parses the bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Final, Protocol

CHUNK_BYTES: Final = 1 << 16
BUDGETS_BYTES: Final = (300, 1_000, 5_000, 20_000, 60_000)
DELAYS_S: Final = (0, 0, 0.001, 0.005, 0.02)
DELAYED_SHARE: Final = 0.1
PAUSES_S: Final = (0.001, 0.01, 0.03, 0.1)


class Node(Protocol):
    """A server of Redis that a test runs."""

    def run(self, *words: str) -> object:
        """Run one command."""
        ...


class FaultyLink:
    """The proxy at `port`. `is_faulty`: whether it delays and cuts. `cuts`: how many connections it cut."""

    def __init__(self, engine_port: int, chance: Random) -> None:
        self.is_faulty = False
        self.cuts = 0
        self.port = 0
        self._engine_port = engine_port
        self._chance = chance
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    def connected(self, gateway: asyncio.StreamReader, to_gateway: asyncio.StreamWriter) -> None:
        """Forward one connection."""
        task = asyncio.ensure_future(self._connect(gateway, to_gateway))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, gateway: asyncio.StreamReader, to_gateway: asyncio.StreamWriter) -> None:
        """Forward one connection until one side ends, or it is cut."""
        engine, to_engine = await asyncio.open_connection("127.0.0.1", self._engine_port)
        writers = {to_gateway, to_engine}
        self._writers |= writers
        pumps = [
            asyncio.ensure_future(
                self._forward(*way, self._chance.randrange(self._chance.choice(BUDGETS_BYTES)))
            )
            for way in ((gateway, to_engine), (engine, to_gateway))
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        self._writers -= writers
        for writer in writers:
            if self._chance.random() < 0.5:
                writer.transport.abort()
            else:
                writer.close()
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)

    @asynccontextmanager
    async def faults(self) -> AsyncIterator[None]:
        """Delay and cut. Connections that are open in the end stay open."""
        self.is_faulty = True
        try:
            yield
        finally:
            self.is_faulty = False

    async def close(self) -> None:
        """Cut all connections."""
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: int) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(CHUNK_BYTES):
                if self.is_faulty and self._chance.random() < DELAYED_SHARE:
                    await asyncio.sleep(self._chance.choice(DELAYS_S))
                if self.is_faulty and budget < len(data):
                    self.cuts += 1
                    writer.write(data[: max(budget, 0)])
                    return
                budget -= len(data)
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def faulty_link(engine_port: int, chance: Random) -> AsyncIterator[FaultyLink]:
    """Start a proxy, which is not faulty yet."""
    link = FaultyLink(engine_port, chance)
    server = await asyncio.start_server(link.connected, "127.0.0.1", 0)
    link.port = server.sockets[0].getsockname()[1]
    try:
        yield link
    finally:
        server.close()
        await link.close()


@asynccontextmanager
async def killed_clients(nodes: Sequence[Node], chance: Random) -> AsyncIterator[None]:
    """Close the connections of all clients of random nodes, again and again."""
    is_over = asyncio.Event()

    async def kill() -> None:
        while not is_over.is_set():
            await asyncio.to_thread(chance.choice(nodes).run, "CLIENT", "KILL", "TYPE", "normal")
            await asyncio.sleep(chance.choice(PAUSES_S))

    killing = asyncio.ensure_future(kill())
    try:
        yield
    finally:
        is_over.set()
        await killing
