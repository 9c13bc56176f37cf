"""The loops that follow a tail and resume it after a broken connection. `tail` has the state of a tail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

from tailrace_client.errors import TailraceError
from tailrace_client.session import AsyncSession, Session
from tailrace_client.tail import SILENCE_MAX_S, AnyTail

T = TypeVar("T")


def follow(session: Session, tail: AnyTail[T]) -> Iterator[T]:
    """Yield the entries of a tail, without end."""
    attempts = session.attempts(is_idempotent=True)
    while True:
        try:
            with session.stream(tail.request, session.settings.silence(SILENCE_MAX_S)) as chunks:
                for chunk in chunks:
                    attempts = session.attempts(is_idempotent=True)
                    yield from tail.take(chunk)
            raise tail.over()
        except TailraceError as error:
            delay_s = attempts.delay_after(error)
        time.sleep(delay_s)


async def follow_async(session: AsyncSession, tail: AnyTail[T]) -> AsyncIterator[T]:
    """Yield the entries of a tail, like `follow`."""
    attempts = session.attempts(is_idempotent=True)
    while True:
        try:
            async with session.stream(tail.request, session.settings.silence(SILENCE_MAX_S)) as chunks:
                async for chunk in chunks:
                    attempts = session.attempts(is_idempotent=True)
                    for entry in tail.take(chunk):
                        yield entry
            raise tail.over()
        except TailraceError as error:
            delay_s = attempts.delay_after(error)
        await asyncio.sleep(delay_s)
