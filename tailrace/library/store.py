"""The store for threads: an `AsyncStore` on an event loop of its own, in a thread of its own.

Any number of threads can use one store: their commands are committed in groups. It never handles a command
itself.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, TypeVar

import uvloop

from tailrace.library.async_store import AsyncStore
from tailrace.library.entries import Entry, FieldsToAppend, Name
from tailrace.library.opening import Directory, Durability, open_async

T = TypeVar("T")


class Store:
    """Streams and groups for threads; `tailrace.open` returns it. Use it in a `with` statement, or close it.

    Its methods are those of `AsyncStore`, with the same errors. A method of a closed store raises
    `ValueError`. In a process that was forked from this one, each method raises `RuntimeError`: the thread of
    the store does not exist there.
    """

    def __init__(self, opening: AbstractAsyncContextManager[AsyncStore]) -> None:
        self._opening = opening
        self._is_closed = False
        self._process_id = os.getpid()
        self._submitting = threading.Lock()
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tailrace.library", daemon=True)
        self._thread.start()
        try:
            self._store = self._wait(opening.__aenter__())
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        """End waiting reads, commit what is left, and release the directory. Further calls do nothing, and so
        does a call in a forked process."""
        if os.getpid() != self._process_id:
            return
        with self._submitting:
            if self._is_closed:
                return
            self._is_closed = True
        try:
            self._wait(self._opening.__aexit__(None, None, None))
        finally:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(self, key: Name, fields: FieldsToAppend, *, id: str = "*") -> str:  # noqa: A002
        """Append one entry and return its id. `id`: `*` for an id of the current time, or a greater one."""
        return self._call(self._store.append(key, fields, id=id))

    def append_many(self, key: Name, entries: Iterable[FieldsToAppend]) -> list[str]:
        """Append all of `entries` or none, and return their ids. All of them are in memory at once."""
        return self._call(self._store.append_many(key, entries))

    def length(self, key: Name) -> int:
        """Return the number of entries; 0 for a missing stream."""
        return self._call(self._store.length(key))

    def range(
        self,
        key: Name,
        start: str = "-",
        end: str = "+",
        *,
        count: int | None = None,
        reverse: bool = False,
    ) -> Iterator[Entry]:
        """Yield the entries from `start` to `end`, both included: see `AsyncStore.range`."""
        return self._each(self._store.range(key, start, end, count=count, reverse=reverse))

    def read(
        self, key: Name, after: str = "0-0", *, count: int | None = None, wait_ms: int = 0
    ) -> list[Entry]:
        """Return the entries after the id `after`, in order; none if there are none after `wait_ms`."""
        return self._call(self._store.read(key, after, count=count, wait_ms=wait_ms))

    def tail(self, key: Name, after: str = "$") -> Iterator[Entry]:
        """Yield the entries after `after`, then each new entry when it is durable. It does not end."""
        return self._each(self._store.tail(key, after))

    def create_group(self, key: Name, group: Name, after: str = "0-0") -> bool:
        """Create a group and its stream if they are missing: see `AsyncStore.create_group`."""
        return self._call(self._store.create_group(key, group, after))

    def read_group(
        self,
        key: Name,
        group: Name,
        consumer: Name,
        *,
        count: int | None = None,
        wait_ms: int = 0,
        claim_min_idle_ms: int | None = None,
    ) -> list[Entry]:
        """Deliver entries to `consumer`, pending until `ack`: see `AsyncStore.read_group`."""
        return self._call(
            self._store.read_group(
                key, group, consumer, count=count, wait_ms=wait_ms, claim_min_idle_ms=claim_min_idle_ms
            )
        )

    def ack(self, key: Name, group: Name, *ids: str) -> int:
        """Acknowledge entries; return how many of them were pending."""
        return self._call(self._store.ack(key, group, *ids))

    def command(self, *words: Name, binary: bool = False) -> Any:
        """Run any command in Redis's words and return its reply as int, str, list or None."""
        return self._call(self._store.command(*words, binary=binary))

    def transaction(self, commands: Iterable[Sequence[Name]], *, binary: bool = False) -> list[Any]:
        """Run commands at one instant and return their replies: see `AsyncStore.transaction`."""
        return self._call(self._store.transaction(commands, binary=binary))

    # --- the thread ----------------------------------------------------------------------------

    def _each(self, entries: AsyncIterator[Entry]) -> Iterator[Entry]:
        while (entry := self._call(_next(entries))) is not None:
            yield entry

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        # Before the lock: another thread may have held the lock when the process was forked.
        if os.getpid() != self._process_id:
            work.close()
            raise RuntimeError(
                f"the store belongs to process {self._process_id}, from which this process was forked; use "
                "the store there, or run the server if several processes need the streams"
            )
        with self._submitting:
            if self._is_closed:
                work.close()
                raise ValueError("the store is closed; open the directory again")
            running = asyncio.run_coroutine_threadsafe(work, self._loop)
        return _result(running)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return _result(asyncio.run_coroutine_threadsafe(work, self._loop))

    def _end(self) -> None:
        """Stop the thread, after the calls of other threads have their results."""
        self._wait(_finished())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _result(running: Future[T]) -> T:
    try:
        return running.result()
    except BaseException:
        # Ctrl-C: a read that waits ends, and has taken no entries.
        running.cancel()
        raise


async def _finished() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


async def _next(entries: AsyncIterator[Entry]) -> Entry | None:
    return await anext(entries, None)


def open(directory: Directory | None = None, *, durability: Durability = "always") -> Store:  # noqa: A001
    """Open `directory` until `close`, or for the duration of a `with` statement: see `open_async`.

    It is created if it is missing. None: the data is in memory only. Raises `CannotOpen`.
    """
    return Store(open_async(directory, durability=durability))
