"""The base of all commands, and the argument types that several commands share.

Redis checks some arguments only after it has looked for the key or the group. So the engine may report an
invalid argument late, or never. A field of type ``X | Malformed`` carries such an error to the place where
Redis detects it. This module parses nothing.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, TypeAlias

from msgspec import Struct

from tailrace.core.errors import StreamError
from tailrace.core.stream_id import StreamId


class Command(Struct, frozen=True, gc=False):
    """The base class of everything that `Engine.execute` accepts."""


Access: TypeAlias = Literal["read", "append", "consume", "admin"]
"""The access that a command needs: "read" reads entries and state; "append" appends; "consume" works in a
group; "admin" changes or deletes anything else."""


class Malformed(Struct, frozen=True):
    """An argument that could not be parsed."""

    error: StreamError
    """The error that the handler raises at the place where Redis detects it."""


class Special(Enum):
    """Positions that depend on the current state of the stream or the group."""

    LAST_ID = "$"
    """The last id that the stream generated."""
    LAST_ENTRY = "+"
    """The position just before the last live entry: a read returns exactly that entry (rule 22)."""
    NEW = ">"
    """The group's last delivered id: a read returns entries that the group never delivered."""


class References(Enum):
    """What happens to pending entries when their entry is deleted (Redis 8.2)."""

    KEEP = "keep"
    """They stay pending: a later read of the history shows the entry as deleted."""
    DELETE = "delete"
    """They are removed from every pending entries list."""
    ACKNOWLEDGED = "acknowledged"
    """Only entries that every group has read and acknowledged are deleted."""


class NackMode(Enum):
    """How a negative acknowledgment changes the delivery count (Redis 8.8)."""

    SILENT = "silent"
    """Decrement the count: the delivery does not count."""
    FAIL = "fail"
    """Keep the count: the delivery counts."""
    FATAL = "fatal"
    """Set the count to its maximum, so that consumers can tell that the entry cannot be processed."""


class AutoSeq(Struct, frozen=True):
    """The id argument ``ms-*``: the engine chooses the sequence part."""

    ms: int
    """The time part of the id, in milliseconds."""


IdRequest: TypeAlias = StreamId | AutoSeq | None
"""The id requested for a new entry: explicit, ``ms-*``, or None for ``*``."""


class Trim(Struct, frozen=True):
    """A trimming rule. Exactly one of `max_length` and `min_id` is set."""

    max_length: int | None = None
    """Remove the oldest entries until the stream has at most this many (MAXLEN)."""
    min_id: StreamId | None = None
    """Remove all entries below this id (MINID)."""
    approximate: bool = False
    """Remove whole blocks only (``~``): some entries that the rule covers may stay."""
    limit: int | None = None
    """The maximum number of entries that an approximate trim removes; None: the default of rule 12; 0: no
    limit."""
    references: References = References.KEEP
    """What happens to pending entries of the removed entries."""


class Idempotency(Struct, frozen=True):
    """A producer's key for one append. A second append with the same key adds nothing and returns the ids of
    the first one."""

    producer: bytes
    """The producer's name; keys of different producers are independent."""
    key: bytes
    """The key of this append."""
    fingerprint: bytes | None = None
    """A hash of the body: the same key with another hash is refused. None accepts any body, as in Redis."""
    epoch: int | None = None
    """The number of the batch, for producers that replay whole batches (`core.idempotency.epochs`); None: the
    key expires by time and count."""
    layout: bytes | None = None
    """How the batch of `epoch` is split into requests: another layout for the same epoch is refused. None:
    not checked."""
