"""Cut the entries to append into requests, and give each request an idempotency key, so that it can be sent
twice.

Each `append_many` uses a producer name of its own unless it gets one, and its keys count its chunks. Only one
chunk is in flight at a time, so the server's limit on the keys of a producer never removes a key that is
still needed. Its time limit never does either, as long as the retry policy gives up earlier.

While the server processes a chunk, the client encodes the next one and makes its call: see `Ahead`. This
module sends nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count, islice
from typing import Generic, TypeVar
from uuid import uuid4
from weakref import ref

from tailrace_client.encoding import Lines, lines_of
from tailrace_client.fields import FieldsToAppend
from tailrace_client.stream_calls import Producer

T = TypeVar("T")


class Ahead(Generic[T]):
    """An iterator that makes the next item before it is requested.

    If the source raises an error or ends, `Ahead` keeps the error or the end until the item is requested, so
    that it does not disturb the request that is being sent at that time.
    """

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._items: list[T] = []
        self._error: Exception | None = None

    def prepare(self) -> None:
        """Make the next item now, unless it is already there."""
        if self._items or self._error is not None:
            return
        try:
            self._items.append(next(self._source))
        except Exception as error:  # noqa: BLE001 - the error is raised when the item is requested
            self._error = error

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        self.prepare()
        if self._error is not None:
            raise self._error
        return self._items.pop()


class _Body:
    """The body of a request, and work to do after it is sent."""

    def __init__(self, body: bytes, work: Callable[[], None]) -> None:
        self._body = body
        self._work = work

    def __len__(self) -> int:
        return len(self._body)


class BodyThen(_Body):
    """A request body for the blocking client, followed by work: once the body is sent, the server is busy and
    the client is free.

    The body can be iterated again when the request is sent again, so the work must be idempotent.
    """

    def __iter__(self) -> Iterator[bytes]:
        yield self._body
        self._work()


class AsyncBodyThen(_Body):
    """The same for the asyncio client, whose requests need an asynchronous iterator."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body
        self._work()


def calls_of(
    entries: Iterable[FieldsToAppend],
    size: int,
    call_of: Callable[[Lines, Producer, Callable[[], None]], T],
    producer_id: str | None = None,
    key_prefix: str = "",
    epoch: int | None = None,
    layout: str | None = None,
) -> Iterator[T]:
    """Return the calls of the requests. `call_of` makes a call from a body, an idempotency key and a
    function. The call must call that function when its body is sent: the function prepares the next call.

    Without a `producer_id`, the producer has a name that is used only here.
    """
    if size < 1:
        raise ValueError(f"chunk={size} is too small; it must be at least 1")
    if producer_id is None and (key_prefix or epoch is not None or layout is not None):
        raise ValueError("key_prefix, producer_epoch and producer_layout need a producer_id; pass one")
    producer = Producer(producer_id or uuid4().hex, key_prefix, epoch, layout)

    def make_next() -> None:
        # A call is part of what it prepares. Without this reference, the iterator of the entries would stay
        # open after an error, until the garbage collector runs.
        if (ahead := reference()) is not None:
            ahead.prepare()

    chunks = _chunks(iter(entries), size, producer)
    calls = Ahead(call_of(lines, chunk_producer, make_next) for lines, chunk_producer in chunks)
    reference = ref(calls)
    return calls


def _chunks(
    entries: Iterator[FieldsToAppend], size: int, producer: Producer
) -> Iterator[tuple[Lines, Producer]]:
    for number in count():
        chunk = list(islice(entries, size))
        if not chunk:
            return
        yield lines_of(chunk), replace(producer, key=f"{producer.key}{number}")


def producer_of(
    client_id: str,
    producer_id: str | None,
    key: str | None,
    epoch: int | None = None,
    layout: str | None = None,
) -> Producer | None:
    """Return the producer that the arguments of a method describe; None without a key. If they name no
    producer, the client itself is the producer."""
    if key is None:
        if producer_id is not None or epoch is not None or layout is not None:
            raise ValueError(
                "producer_id, producer_epoch and producer_layout need an idempotency_key; pass one"
            )
        return None
    return Producer(producer_id or client_id, key, epoch, layout)
