"""The two kinds of places: one that plain readers of a stream share, and one whose readers look in turn.

It owns which readers of a place look after a wake-up. See `place` for the wake-ups themselves.
"""

from __future__ import annotations

import asyncio
from typing import Final

from tailrace.app.remote.readers.cutting import after, cut_to
from tailrace.app.remote.readers.place import WaitingPlace
from tailrace.app.remote.readers.waiter import Waiter, claim_ms
from tailrace.core.commands import Read, ReadFrom, ReadLimits
from tailrace.core.limits import READ_ENTRIES_MAX, REPLY_BYTES_MAX
from tailrace.core.replies import ReadReply

LATER_S: Final = 0.05
"""The least time between two looks of a claim: an entry that is idle enough and is not claimed was
deleted."""


class SharedPlace(WaitingPlace):
    """The place of all plain readers of one stream."""

    async def round(self, *, is_woken: bool) -> None:
        """Look for each new reader at its own position; then once for all that wait."""
        now_s = asyncio.get_running_loop().time()
        waiting = [each for each in self.waiters if each.has_looked] if is_woken else []
        due = [each for each in self.waiters if each.due_s is not None and each.due_s <= now_s]
        new = [each for each in self.waiters if not each.has_looked]
        alone = [each for each in waiting if _is_alone(each)]
        for waiter in dict.fromkeys([*new, *due, *alone]):
            if not waiter.is_done and not await self.gathers(waiter):
                await self.look_for(waiter)
        shared = [each for each in waiting if not _is_alone(each) and not each.is_done]
        if shared:
            await self._look_once(shared)
        self.set_timer()

    async def _look_once(self, waiters: list[Waiter]) -> None:
        key = waiters[0].command.streams[0].key
        start = min(map(_position, waiters))
        command = Read((ReadFrom(key, start),), ReadLimits(READ_ENTRIES_MAX, page_bytes=REPLY_BYTES_MAX))
        answer = await self._services.look(command)
        if not isinstance(answer, ReadReply):
            for waiter in waiters:
                waiter.answer(answer)
            return
        found = answer.streams[0]
        for waiter in waiters:
            own = after(found, _position(waiter))
            if own.entries.ids:
                waiter.answer(cut_to(ReadReply([own]), waiter.command.limits))
        if found.entries.ids and any(not each.is_done and _position(each) >= found.next for each in waiters):
            # The reply may have been cut before the entries of a reader that is ahead of the others.
            self.wake()


def _is_alone(waiter: Waiter) -> bool:
    """Return whether the looks of the reader are its own: it is strict, its position belongs to one stream,
    or it gathers entries."""
    if waiter.gathering is not None:
        return True
    command = waiter.command
    return isinstance(command, Read) and (command.strict or command.streams[0].incarnation is not None)


def _position(waiter: Waiter) -> int:
    position = waiter.command.streams[0].after
    assert isinstance(position, int)
    return position


class TurnPlace(WaitingPlace):
    """The place of the readers of one group of one stream, or of one read of several streams."""

    async def round(self, *, is_woken: bool) -> None:
        """Let the readers look in the order of their arrival. After one of them found nothing, only those
        look that must: new ones, and those that claim entries after a shorter time."""
        now_s = asyncio.get_running_loop().time()
        has_nothing = False
        emptied_ms: int | None = None
        for waiter in list(self.waiters):
            if waiter.is_done:
                continue
            idle_ms = claim_ms(waiter)
            is_due = waiter.due_s is not None and waiter.due_s <= now_s
            is_hopeless = has_nothing and (
                idle_ms is None or (emptied_ms is not None and idle_ms >= emptied_ms)
            )
            if waiter.has_looked and not is_due and (not is_woken or is_hopeless):
                continue
            if await self.gathers(waiter):
                continue
            if not await self.look_for(waiter):
                has_nothing = True
                if idle_ms is not None:
                    emptied_ms = idle_ms if emptied_ms is None else min(idle_ms, emptied_ms)
                if not waiter.is_done:
                    await self._set_due(waiter)
        self.set_timer()

    async def _set_due(self, waiter: Waiter) -> None:
        """Set when the next entry can be claimed, by the read's own idle time or by that of its group."""
        wait_s = await self._services.due_s(waiter.command)
        now_s = asyncio.get_running_loop().time()
        waiter.due_s = None if wait_s is None else now_s + max(wait_s, LATER_S)
