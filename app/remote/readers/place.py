"""Where readers wait: one place for each stream (plain readers) or each group of a stream, with its wake-ups.

A place is armed before its first look, so a change after the look wakes it. It looks in one task at a time: a
wake-up during a look starts another one. Plain readers of a stream share the looks after their first one; the
readers of a group look one after another in the order of their arrival, until one finds nothing.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from tailrace.api.ports import Answer
from tailrace.app.remote.functions.reads import Available
from tailrace.app.remote.link.port import Link
from tailrace.app.remote.readers.gathering import Gathering
from tailrace.app.remote.readers.parts import AnyRead, after, cut_to
from tailrace.app.remote.readers.waiter import Receive, Waiter, claim_ms
from tailrace.core.commands import Read, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.limits import READ_ENTRIES_MAX, REPLY_BYTES_MAX
from tailrace.core.replies import ReadReply

Look = Callable[[AnyRead], Awaitable[Answer]]
"""Runs a read once on the tracking connection; returns its reply or its error."""


class Services:
    """What every place needs. `look`: runs a read. `available`: counts what a read of a group could return,
    up to a number. `give_back`: returns entries whose reader has left. `due_s`: returns how many seconds from
    now the next entry can be claimed, None if the read claims none. `is_full`: returns the error of a read
    that would wait while too many others do. `forget`: is called with a place that is empty."""

    def __init__(
        self,
        link: Link,
        look: Look,
        give_back: Callable[[AnyRead, ReadReply], None],
        available: Callable[[ReadGroup, int], Awaitable[Available | Answer]],
        due_s: Callable[[AnyRead], Awaitable[float | None]],
        is_full: Callable[[], Answer],
        forget: Callable[[WaitingPlace], None],
    ) -> None:
        self.link = link
        self.look = look
        self.give_back = give_back
        self.available = available
        self.due_s = due_s
        self.is_full = is_full
        self.forget = forget


class WaitingPlace(ABC):
    """A place. `keys`: its streams."""

    def __init__(self, services: Services, keys: Iterable[bytes]) -> None:
        self._services = services
        self.waiters: dict[Waiter, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._must_look = False
        self._is_woken = False
        self._timer: asyncio.TimerHandle | None = None
        self._armed = [services.link.arm(key, self.wake) for key in dict.fromkeys(keys)]

    def add(self, command: AnyRead, receive: Receive) -> Waiter:
        """Add a read, after all others, and look for it."""
        waiter = Waiter(command, receive, self)
        self.waiters[waiter] = None
        self.look()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Forget a reader."""
        self.waiters.pop(waiter, None)
        if not self.waiters and self._task is None:
            self._close()

    def wake(self) -> None:
        """Look again for every reader: a stream has changed. Must not raise."""
        self._is_woken = True
        self.look()

    def look(self) -> None:
        """Look for the readers that are due, and for new ones."""
        self._must_look = True
        if self._task is None and self.waiters:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            while self._must_look and self.waiters:
                self._must_look = False
                is_woken, self._is_woken = self._is_woken, False
                await self.round(is_woken=is_woken)
        finally:
            self._task = None
            if not self.waiters:
                self._close()

    def _close(self) -> None:
        for armed in self._armed:
            armed.cancel()
        self._armed = []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._services.forget(self)

    def end(self, answer: Answer) -> None:
        """Answer every reader with an error."""
        for waiter in list(self.waiters):
            waiter.answer(answer)

    @abstractmethod
    async def round(self, *, is_woken: bool) -> None:
        """Look for the readers that have not looked yet, and if `is_woken` for all."""

    async def look_for(self, waiter: Waiter) -> bool:
        """Run the look of one reader. Return whether it found something, or failed."""
        waiter.is_looking = True
        command = waiter.command
        answer = await self._services.look(command)
        waiter.is_looking = False
        if isinstance(answer, ReadReply) and answer.is_empty and waiter.is_new:
            is_first = not waiter.has_looked
            waiter.note_empty(answer)
            self._refuse_if_full(waiter, is_first=is_first)
            return False
        if not waiter.answer(answer) and isinstance(answer, ReadReply):
            self._services.give_back(command, answer)
        return True

    def _refuse_if_full(self, waiter: Waiter, *, is_first: bool) -> None:
        if is_first and not waiter.is_done:
            refusal = self._services.is_full()
            if refusal is not None:
                waiter.answer(refusal)

    # --- gathering -----------------------------------------------------------------------------

    async def gathers(self, waiter: Waiter) -> bool:
        """Return whether the read continues to gather entries; else it reads what is available, or has its
        answer. Sets when it is due."""
        gathering = waiter.gathering
        if gathering is None:
            return False
        can_claim = await self._count(waiter, gathering)
        if waiter.is_done:
            return True
        due_s = gathering.due_s(is_over=waiter.is_over)
        now_s = asyncio.get_running_loop().time()
        if can_claim or (due_s is not None and due_s <= now_s):
            return False
        is_first, waiter.has_looked = not waiter.has_looked, True
        claim_s = await self._services.due_s(waiter.command)
        claim_at_s = None if claim_s is None else now_s + claim_s
        times = [time for time in (due_s, claim_at_s) if time is not None]
        waiter.due_s = 0 if waiter.is_over else min(times, default=None)
        self._refuse_if_full(waiter, is_first=is_first)
        return True

    async def _count(self, waiter: Waiter, gathering: Gathering) -> bool:
        """Count what is available; return whether an entry can be claimed."""
        command = waiter.command
        if isinstance(command, Read):
            answer = await self._services.look(gathering.look(command))
            if isinstance(answer, ReadReply):
                waiter.command = gathering.count(command, answer)
            else:
                waiter.answer(answer)
            return False
        found = await self._services.available(command, gathering.min_count)
        if not isinstance(found, Available):
            waiter.answer(found)
            return False
        gathering.available = found.count
        return found.can_claim

    # --- the timer -----------------------------------------------------------------------------

    def set_timer(self) -> None:
        """Look again when the first reader is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        times = [each.due_s for each in self.waiters if each.due_s is not None]
        if times:
            self._timer = asyncio.get_running_loop().call_at(min(times), self.look)


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
