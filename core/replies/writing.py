"""The replies to commands that append and delete entries. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from msgspec import Struct

from tailrace.core.stream_id import StreamId


class AppendReply(Struct, frozen=True, gc=False):
    """What an append returned."""

    ids: Sequence[StreamId]
    """The ids of the entries, in the order of the request."""
    replayed: bool = False
    """Whether an earlier append with the same idempotency key made these entries, and this one added
    nothing."""


class DeleteResult(IntEnum):
    """What a deletion did with one id. The values are those of Redis."""

    NOT_FOUND = -1
    """There is no such entry; for XACKDEL, the id is not pending in the group."""
    DELETED = 1
    """The entry was deleted."""
    REFERENCED = 2
    """The entry was kept, because a group still refers to it (`References.ACKNOWLEDGED`)."""
