"""Iterations over tails and exports that resume after a broken connection. `tail` and `lines` have the state.

A tail is open once the server has fixed its position: every entry that is appended after that is returned.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Generic, Self, TypeVar

from tailrace_client.errors import TailraceError
from tailrace_client.lines import Export
from tailrace_client.session import AsyncSession
from tailrace_client.tail import SILENCE_MAX_S, AnyTail
from tailrace_client.tasks import sleep

T = TypeVar("T")


class AsyncFollowing(AsyncIterator[T], Generic[T]):
    """The entries of a tail, without end. `async with` closes the connection at the end; so does `aclose`."""

    def __init__(self, session: AsyncSession, tail: AnyTail[T]) -> None:
        items = _follow(session, tail)
        self._items = items
        self._first: T | None = None
        self._is_open = False

    async def __aenter__(self) -> Self:
        if not self._is_open:
            self._is_open = True
            self._first = await anext(self._items)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def __anext__(self) -> T:
        item, self._first = self._first, None
        while item is None:
            item = await anext(self._items)
        return item

    async def aclose(self) -> None:
        """End the tail and close its connection."""
        await self._items.aclose()


async def _follow(session: AsyncSession, tail: AnyTail[T]) -> AsyncGenerator[T | None, None]:
    """Yield the entries of a tail, and None after the first event, which has no entries."""
    attempts = session.attempts(is_idempotent=True)
    is_open = False
    while True:
        try:
            async with session.stream(
                tail.request, session.settings.silence(SILENCE_MAX_S), tail.opened
            ) as chunks:
                async for chunk in chunks:
                    attempts = session.attempts(is_idempotent=True)
                    for entry in tail.take(chunk):
                        yield entry
                    if not is_open and tail.is_open:
                        is_open = True
                        yield None
            raise tail.over()
        except TailraceError as error:
            delay_s = attempts.delay_after(error)
        await sleep(delay_s)


async def exported(session: AsyncSession, export: Export) -> AsyncIterator[bytes]:
    """Yield the blocks of lines of an export."""
    attempts = session.attempts(is_idempotent=True)
    while True:
        try:
            async with session.stream(export.request, session.settings.timeout(0)) as chunks:
                async for chunk in chunks:
                    if block := export.take(chunk):
                        yield block
                        attempts = session.attempts(is_idempotent=True)
            if block := export.end():
                yield block
        except TailraceError as error:
            if not export.can_resume:
                raise
            delay_s = attempts.delay_after(error)
        else:
            return
        await sleep(delay_s)
