"""Cutting what is to be appended into requests, and naming each so that it can be sent twice. Sends nothing.

A producer's name is made for each `append_many`, and its keys count its chunks. One chunk is on its way at a
time, so the server's bound on the keys of a producer never forgets one that is still in doubt; its bound by
time does not either, as long as the retry policy gives up before.

While the server works on a chunk the next one is encoded: see `Ahead`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import count, islice
from typing import Generic, TypeVar
from uuid import uuid4

from tailrace_client.encoding import Lines, lines_of
from tailrace_client.fields import FieldsToAppend
from tailrace_client.stream_calls import Producer

T = TypeVar("T")


class Ahead(Generic[T]):
    """Items of an iterator, the next one made before it is asked for.

    An error of the iterator, its end too, is kept until then: it must not disturb the request in whose time
    it happened.
    """

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._items: list[T] = []
        self._error: Exception | None = None

    def prepare(self) -> None:
        """Make the next item now; does nothing where that was done."""
        if self._items or self._error is not None:
            return
        try:
            self._items.append(next(self._source))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the item is asked for
            self._error = error

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        self.prepare()
        if self._error is not None:
            raise self._error
        return self._items.pop()


class _Body:
    """See `BodyThen`."""

    def __init__(self, body: bytes, work: Callable[[], None]) -> None:
        self._body = body
        self._work = work

    def __len__(self) -> int:
        return len(self._body)


class BodyThen(_Body):
    """A request's body, and work to be done once it is handed over: then the server is busy, and we are not.

    It can be iterated again, where the request is sent again; the work must bear that.
    """

    def __iter__(self) -> Iterator[bytes]:
        yield self._body
        self._work()


class AsyncBodyThen(_Body):
    """The same for the async client, whose requests take no body that is iterated otherwise."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body
        self._work()


def chunks_of(entries: Iterable[FieldsToAppend], size: int) -> Ahead[tuple[Lines, Producer]]:
    """The bodies of the requests, each under a key of its own."""
    if size < 1:
        raise ValueError(f"chunk={size}: at least 1 is needed")
    return Ahead(_chunks(iter(entries), size, uuid4().hex))


def _chunks(
    entries: Iterator[FieldsToAppend], size: int, producer_id: str
) -> Iterator[tuple[Lines, Producer]]:
    for number in count():
        chunk = list(islice(entries, size))
        if not chunk:
            return
        yield lines_of(chunk), Producer(producer_id, str(number))


def producer_of(
    client_id: str,
    producer_id: str | None,
    key: str | None,
    epoch: int | None = None,
    layout: str | None = None,
) -> Producer | None:
    """Who appends, as the arguments of a method say it; the client itself where they name nobody."""
    if key is None:
        if producer_id is not None or epoch is not None or layout is not None:
            raise ValueError("producer_id, producer_epoch and producer_layout need an idempotency_key")
        return None
    return Producer(producer_id or client_id, key, epoch, layout)
