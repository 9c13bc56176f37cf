"""The commands on scheduled entries, and the one that does what is due. This module holds data only."""

from __future__ import annotations

from tailrace.core.commands.arguments import Command, Idempotency
from tailrace.core.schedule import ScheduledId


class ScheduleEntries(Command, frozen=True):
    """Store entries that are appended later, all or none. The reply is a `ScheduleReply`, or None if `create`
    is False and the stream does not exist. Redis has no such command. One of `deliver_at_ms` and `delay_ms`
    is set."""

    key: bytes
    """The stream's key."""
    fragments: tuple[bytes, ...] | list[bytes]
    """The entries in their stored form (`core.log.entry`); at least one."""
    deliver_at_ms: int | None = None
    """The Unix time of the append, in milliseconds. A time in the past is due at once."""
    delay_ms: int | None = None
    """How long after now the entries are appended; 0 or more."""
    create: bool = True
    """Whether to create a missing stream, at once."""
    idempotency: Idempotency | None = None
    """The idempotency key of the whole request, without an epoch. Its fingerprint begins with
    `idempotency.memory.SCHEDULED`."""


class ListScheduled(Command, frozen=True):
    """List scheduled entries in the order of publication. The reply is a `ScheduledPage`."""

    key: bytes
    """The stream's key."""
    after: ScheduledId | None = None
    """List only entries after this one; it need not exist. None: from the first one on."""
    count: int = 100
    """The maximum number of entries."""


class CancelScheduled(Command, frozen=True):
    """Remove scheduled entries before their time. The reply is the number of entries that were removed."""

    key: bytes
    """The stream's key."""
    scheduled_ids: tuple[ScheduledId, ...]
    """The ids; those that do not exist are ignored."""


class DoDue(Command, frozen=True):
    """Publish scheduled entries whose time has come, and end the delay of retries. The reply is 1 if more is
    due now, else 0. The server runs it; clients cannot."""
