"""Iterations over a tail that resume it after a broken connection. `tail` has the state of a tail.

A tail is open once the server has fixed its position: every entry that is appended after that is returned. A
blocking tail is open when it is created. An asyncio tail is open in `async with`, or after its first entry.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Generic, Self, TypeVar

from tailrace_client.errors import TailraceError
from tailrace_client.session import AsyncSession, Session
from tailrace_client.tail import SILENCE_MAX_S, AnyTail

T = TypeVar("T")


class Following(Iterator[T], Generic[T]):
    """The entries of a tail, without end. `with` closes the connection at the end; so does `close`."""

    def __init__(self, session: Session, tail: AnyTail[T]) -> None:
        items = _follow(session, tail)
        self._items = items
        self._first = next(items)

    def __next__(self) -> T:
        item, self._first = self._first, None
        while item is None:
            item = next(self._items)
        return item

    def close(self) -> None:
        """End the tail and close its connection."""
        self._items.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncFollowing(AsyncIterator[T], Generic[T]):
    """The entries of a tail, like `Following`. `async with` opens the tail, and closes the connection at the
    end."""

    def __init__(self, session: AsyncSession, tail: AnyTail[T]) -> None:
        items = _follow_async(session, tail)
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


def _follow(session: Session, tail: AnyTail[T]) -> Generator[T | None, None, None]:
    """Yield the entries of a tail, and None after the first event, which has no entries."""
    attempts = session.attempts(is_idempotent=True)
    is_open = False
    while True:
        try:
            with session.stream(tail.request, session.settings.silence(SILENCE_MAX_S), tail.opened) as chunks:
                for chunk in chunks:
                    attempts = session.attempts(is_idempotent=True)
                    yield from tail.take(chunk)
                    if not is_open and tail.is_open:
                        is_open = True
                        yield None
            raise tail.over()
        except TailraceError as error:
            delay_s = attempts.delay_after(error)
        time.sleep(delay_s)


async def _follow_async(session: AsyncSession, tail: AnyTail[T]) -> AsyncGenerator[T | None, None]:
    """Yield the entries of a tail, like `_follow`."""
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
        await asyncio.sleep(delay_s)
