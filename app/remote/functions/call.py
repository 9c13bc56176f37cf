"""A call of the function library: its function, its keys, its arguments, and the parser of its answer.

A call is data. `Library.words` spells it for the engine; a store sends the words alone or in a
transaction, and gives the answer to `read`, which checks the types that the library returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from tailrace.app.remote.link.port import EngineError, Resp
from tailrace.core.commands import AutoSeq, IdRequest
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId, parse_id

T = TypeVar("T")

Access: TypeAlias = Literal["read", "change", "grow"]
"""What a call does to the data: "read" nothing; "change" may also run when the engine is out of memory;
"grow" adds data, so an engine above its `maxmemory` refuses it before it starts."""


class Call(Struct, Generic[T], frozen=True):
    """One call of the library."""

    operation: bytes
    """The name of the operation, the last argument of the function."""
    keys: tuple[bytes, ...]
    """All keys that the call may touch, the stream first; all in one slot."""
    arguments: Sequence[bytes]
    """The other arguments."""
    access: Access
    """What the call does to the data."""
    read: Callable[[Resp], T]
    """Makes the reply of the answer: in most calls the reply of `core` to the command. Raises
    `StreamError` if the library refused the command; then nothing has changed. An error of the engine
    itself is an `EngineError` and not passed to it."""

    @property
    def key(self) -> bytes:
        """The key whose slot has all keys of the call."""
        return self.keys[0]

    @property
    def is_write(self) -> bool:
        """Whether the call may change something."""
        return self.access != "read"


def items(value: Resp | EngineError) -> list[Resp]:
    """Return the items of an array. Raises an error among them."""
    assert isinstance(value, list)
    for item in value:
        if isinstance(item, EngineError):
            raise item
    return value  # type: ignore[return-value] # no item is an error


def number(value: Resp) -> int:
    """Return an integer, also one that the library wrote as text because Lua cannot hold it."""
    assert isinstance(value, int | bytes)
    return int(value)


def text(value: Resp) -> bytes:
    """Return a string."""
    assert isinstance(value, bytes)
    return value


def stream_id(value: Resp) -> StreamId:
    """Return an id."""
    return parse_id(text(value))


def fragment(value: Resp) -> bytes | None:
    """Return the stored form of ``[name, value, ...]``; None for a deleted entry."""
    return None if value is None else fragment_from_flat([text(item) for item in items(value)])


def id_word(value: StreamId) -> bytes:
    """Return an id as a word."""
    return b"%d-%d" % (value >> SEQ_BITS, value & U64_MAX)


def id_words(ids: Iterable[StreamId]) -> list[bytes]:
    """Return ids as words."""
    return [b"%d-%d" % (value >> SEQ_BITS, value & U64_MAX) for value in ids]


def requested_id_word(request: IdRequest) -> bytes:
    """Return the id argument of XADD."""
    if request is None:
        return b"*"
    return b"%d-*" % request.ms if isinstance(request, AutoSeq) else id_word(request)


def optional(value: int | None) -> bytes:
    """Return an integer as a word; the empty word for None."""
    return b"" if value is None else b"%d" % value


def flag(value: object) -> bytes:
    """Return 1 or 0."""
    return b"1" if value else b"0"
