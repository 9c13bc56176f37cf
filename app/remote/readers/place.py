"""Where readers wait: one place for each stream (plain readers) or each group of a stream, with its wake-ups.

A place is armed before its first look, so a change after the look wakes it. It looks in one task at a time: a
wake-up during a look starts another one. Plain readers of a stream share the looks after their first one; the
readers of a group look one after another in the order of their arrival, until one finds nothing.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable

from tailrace.api.ports import Answer
from tailrace.app.remote.functions.reads import Available
from tailrace.app.remote.link.port import Link
from tailrace.app.remote.readers.gathering import Gathering
from tailrace.app.remote.readers.parts import AnyRead
from tailrace.app.remote.readers.waiter import Receive, Waiter
from tailrace.core.commands import Read, ReadGroup
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
