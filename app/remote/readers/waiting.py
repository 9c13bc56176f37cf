"""All waiting reads of one store: finds or makes the place of each, and runs their looks.

It owns the number of waiting reads, the time of the next claim, and entries that go back to their group
because their reader has left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.remote.functions.reads import Available, oldest_delivery
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.readers.parts import AnyRead, Looks
from tailrace.app.remote.readers.place import Services, SharedPlace, TurnPlace, WaitingPlace
from tailrace.app.remote.readers.waiter import Receive, Waiter
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.plan import text, value, values
from tailrace.app.remote.words.table import plan_of
from tailrace.core.commands import NackMode, NegativeAcknowledge, Read, ReadGroup
from tailrace.core.errors import StreamError, too_many_readers
from tailrace.core.replies import ReadReply

POLL_S: Final = 1.0
"""How often a claim looks on an engine that cannot tell when the next entry can be claimed."""

Failure = Callable[[Exception, AnyRead], Coroutine[Any, Any, StreamError | StoreUnavailable]]
"""Returns what a client gets for an error of the engine or of the link."""


class WaitingReads:
    """The waiting reads. `readers_max`: how many may wait."""

    def __init__(self, link: Link, engine: Engine, looks: Looks, failure: Failure, readers_max: int) -> None:
        self._link = link
        self._engine = engine
        self._looks = looks
        self._failure = failure
        self._readers_max = readers_max
        self._places: dict[object, WaitingPlace] = {}
        self._names: dict[WaitingPlace, object] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._services = Services(
            link, self.look, self.give_back, self.available, self._due_s, self._refusal_if_full, self._forget
        )

    def __len__(self) -> int:
        return sum(waiter.has_looked for place in self._places.values() for waiter in place.waiters)

    def add(self, command: AnyRead, receive: Receive) -> Waiter:
        """Add a read: `receive` gets its answer, on a later turn of the loop."""
        name, is_shared = _place_of(command)
        place = self._places.get(name)
        if place is None:
            keys = [source.key for source in command.streams]
            place = SharedPlace(self._services, keys) if is_shared else TurnPlace(self._services, keys)
            self._places[name] = place
            self._names[place] = name
        return place.add(command, receive)

    def close(self, reason: StoreUnavailable) -> None:
        """End every wait with an error."""
        for place in list(self._places.values()):
            place.end(reason)

    def _forget(self, place: WaitingPlace) -> None:
        name = self._names.pop(place, None)
        if name is not None:
            del self._places[name]

    def _refusal_if_full(self) -> Answer:
        return too_many_readers(self._readers_max) if len(self) > self._readers_max else None

    async def look(self, command: AnyRead) -> Answer:
        """Run a read once on the tracking connection; return its reply or its error."""
        try:
            return await self._looks.look(command, is_armed=True)
        except (EngineError, LinkDown, StreamError) as error:
            return await self._failure(error, command)

    async def available(self, command: ReadGroup, most: int) -> Available | Answer:
        """Count what a read of a group could return, on the tracking connection; return an error instead."""
        try:
            return await self._looks.available(command, most)
        except (EngineError, LinkDown, StreamError) as error:
            return await self._failure(error, command)

    async def _due_s(self, command: AnyRead) -> float | None:
        """Return how many seconds from now the next entry can be claimed: never more than its idle time,
        because deliveries to other consumers are not reported. None if the read claims none."""
        if not isinstance(command, ReadGroup):
            return None
        own_s = None if command.claim_min_idle_ms is None else command.claim_min_idle_ms / 1000
        if own_s is not None and self._engine.library is None:
            return min(own_s, POLL_S)
        waits = [
            await self._due_in_s(source.key, command.group, own_s)
            for source in command.streams
            if own_s is not None or (self._engine.has_settings(source.key) and not command.noack)
        ]
        return min([each for each in waits if each is not None], default=None)

    async def _due_in_s(self, key: bytes, group: bytes, own_s: float | None) -> float | None:
        """`own_s`: the idle time of the read; None: that of the group counts, if it is set."""
        assert self._engine.library is not None
        call = oldest_delivery(key, group, has_settings=own_s is None)
        words = [[b"TIME"], self._engine.library.words(call)]
        try:
            now, answer = await self._link.call_together(words, key=key, is_write=False)
            oldest = call.read(value(answer))
        except (EngineError, LinkDown):
            return min(own_s or POLL_S, POLL_S)
        group_ms, at_ms = oldest.claim_min_idle_ms, oldest.at_ms
        idle_s = own_s if own_s is not None else group_ms / 1000 if group_ms is not None else None
        if idle_s is None or at_ms is None:
            return idle_s
        seconds, microseconds = map(text, values(now))
        left_s = idle_s - (int(seconds) + int(microseconds) / 1_000_000 - at_ms / 1000)
        # An entry that is idle enough and was not claimed is deleted, or another reader claims it now.
        return min(left_s, idle_s) if left_s > 0 else min(idle_s, POLL_S)

    def give_back(self, command: AnyRead, reply: ReadReply) -> None:
        """Start `take_back` for a read whose reader has left."""
        if not isinstance(command, ReadGroup):
            return
        task = asyncio.get_running_loop().create_task(self.take_back(command, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def take_back(self, command: ReadGroup, reply: ReadReply) -> None:
        """Return the entries that no reader got to their group, as if they had not been delivered. Entries of
        a read with NOACK are lost: they are pending nowhere."""
        if command.noack:
            return
        for read in reply.streams:
            if read.new and read.entries.ids:
                ids = tuple(read.entries.ids)
                await self._nack(NegativeAcknowledge(read.key, command.group, NackMode.SILENT, ids))

    async def _nack(self, command: NegativeAcknowledge) -> None:
        plan = plan_of(self._engine, command)
        assert plan is not None
        try:
            await self._link.call_together(plan.commands, key=command.key, is_write=True)
        except LinkDown:
            # The entries stay pending with their consumer, as after the crash of a consumer.
            return
        self._link.wake(command.key)


def _place_of(command: AnyRead) -> tuple[object, bool]:
    """Return the name of the read's place, and whether its plain readers share looks."""
    if len(command.streams) > 1:
        return object(), False
    key = command.streams[0].key
    return (key, True) if isinstance(command, Read) else ((key, command.group), False)
