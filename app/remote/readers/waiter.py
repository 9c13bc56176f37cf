"""One waiting read: its command, its timeout, and whether it still needs an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from msgspec.structs import replace

from tailrace.api.ports import Answer
from tailrace.app.remote.readers.gathering import gathering_of
from tailrace.app.remote.readers.parts import AnyRead
from tailrace.core.commands import Malformed, Read, ReadGroup, Special
from tailrace.core.replies import ReadReply

Receive = Callable[[Answer], None]

TIMEOUT_SLACK_S: Final = 0.001
"""Added to timeouts: clocks have whole milliseconds, so a timeout could end this much early."""


class Place(Protocol):
    """Where a reader waits."""

    def leave(self, waiter: Waiter) -> None:
        """Forget a reader, and look no further for it."""
        ...

    def look(self) -> None:
        """Look for the readers that are due."""
        ...


class Waiter:
    """A waiting read. It is answered once, or cancelled.

    `command`: what the next look runs; after the first look all positions are ids. `has_looked`: whether the
    first look found nothing, so that it waits. `due_s`: the time on the loop's clock at which an entry can be
    claimed, or the read has lingered long enough. `gathering`: how the read gathers entries; None if it
    returns the first one.
    """

    __slots__ = (
        "_receive",
        "_timer",
        "command",
        "due_s",
        "gathering",
        "has_looked",
        "is_done",
        "is_looking",
        "is_over",
        "last",
        "place",
    )

    def __init__(self, command: AnyRead, receive: Receive, place: Place) -> None:
        self.command = command
        self.place = place
        self.has_looked = False
        self.is_looking = False
        self.is_over = False
        self.is_done = False
        self.due_s: float | None = None
        self.gathering = gathering_of(command)
        self.last = ReadReply(())
        self._receive = receive
        self._timer: asyncio.TimerHandle | None = None
        if command.block_ms:
            delay_s = command.block_ms / 1000 + TIMEOUT_SLACK_S
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._expire)

    def cancel(self) -> bool:
        """Stop waiting: see `api.ports.Watch`. A look on its way gives its entries back."""
        if self.is_done:
            return False
        self._end()
        return True

    def answer(self, answer: Answer) -> bool:
        """Pass the answer to the reader; return False if the reader was cancelled and does not get it."""
        if self.is_done:
            return False
        self._end()
        try:
            self._receive(answer)
        except Exception as error:  # noqa: BLE001 - report any error and continue with the other readers
            context = {"message": "a reader failed to receive its answer", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
        return True

    def note_empty(self, reply: ReadReply) -> None:
        """Note a look that found nothing: the next one starts at the same positions. At the timeout,
        answer."""
        self.has_looked = True
        self.last = reply
        if isinstance(self.command, Read):
            sources = zip(self.command.streams, reply.streams, strict=True)
            streams = tuple(replace(source, after=read.next) for source, read in sources)
            self.command = replace(self.command, streams=streams)
        if self.gathering is not None:
            self.gathering.begin_again(self.command)
        if self.is_over:
            self.answer(reply)

    @property
    def is_new(self) -> bool:
        """Whether the read can wait: it is plain, or asks a group for new entries only."""
        if isinstance(self.command, Read):
            return True
        return all(isinstance(source.after, Special | Malformed) for source in self.command.streams)

    def _expire(self) -> None:
        self._timer = None
        self.is_over = True
        if self.gathering is not None:
            self.due_s = 0
            self.place.look()
        elif self.has_looked and not self.is_looking:
            self.answer(self.last)

    def _end(self) -> None:
        self.is_done = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.place.leave(self)


def claim_ms(waiter: Waiter) -> int | None:
    """Return the idle time from which on the reader claims entries; None if it claims none."""
    return waiter.command.claim_min_idle_ms if isinstance(waiter.command, ReadGroup) else None
