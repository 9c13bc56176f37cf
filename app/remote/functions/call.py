"""A call of the function library: its function, its keys, its arguments, and the parser of its answer.

A call is data. `Library.words` spells it for the engine; a store sends the words alone or in a
transaction, and gives the answer to `read`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from tailrace.app.remote.link.port import Resp

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
