# `make sdk-python` writes this module from `asynchronous/following.py`. Do not edit it.

"""Iterations over tails and exports that resume after a broken connection. `tail` and `lines` have the state.

A tail is open once the server has fixed its position: every entry that is appended after that is returned.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Generic, Self, TypeVar

from tailrace_client.errors import TailraceError
from tailrace_client.lines import Export
from tailrace_client.session import Session
from tailrace_client.tail import SILENCE_MAX_S, AnyTail
from tailrace_client.threads import sleep

T = TypeVar("T")


class Following(Iterator[T], Generic[T]):
    """The entries of a tail, without end. `with` closes the connection at the end; so does `close`."""

    def __init__(self, session: Session, tail: AnyTail[T]) -> None:
        items = _follow(session, tail)
        self._items = items
        self._first: T | None = None
        self._is_open = False

    def __enter__(self) -> Self:
        if not self._is_open:
            self._is_open = True
            self._first = next(self._items)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __next__(self) -> T:
        item, self._first = self._first, None
        while item is None:
            item = next(self._items)
        return item

    def close(self) -> None:
        """End the tail and close its connection."""
        self._items.close()


def _follow(session: Session, tail: AnyTail[T]) -> Generator[T | None, None]:
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
        sleep(delay_s)


def exported(session: Session, export: Export) -> Iterator[bytes]:
    """Yield the blocks of lines of an export."""
    attempts = session.attempts(is_idempotent=True)
    while True:
        try:
            with session.stream(export.request, session.settings.timeout(0)) as chunks:
                for chunk in chunks:
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
        sleep(delay_s)
