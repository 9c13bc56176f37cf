"""The commands that show the state of streams, groups and the server without changing it.

This module holds data only.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.commands.arguments import Command, Malformed
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId

FULL_COUNT_DEFAULT: Final = 10
"""Entries, and pending entries of each list, that XINFO STREAM FULL shows without COUNT."""


class PendingSummary(Command, frozen=True):
    """XPENDING key group. The reply is a `PendingSummaryReply`."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumers_max: int | None = None
    """If the group has more consumers, the reply has only the count; None: it has everything in any case."""


class PendingRange(Command, frozen=True):
    """XPENDING key group [IDLE ms] start end count [consumer]. The reply is a list of `PendingEntry`."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    start: StreamId = ZERO_ID
    """The lowest id, included."""
    end: StreamId = MAX_ID
    """The highest id, included."""
    count: int = 100
    """The maximum number of entries; 0 or less: none."""
    min_idle_ms: int = 0
    """Show only entries that were delivered at least this many milliseconds ago; unowned ones always."""
    consumer: bytes | None = None
    """Show only entries of this consumer; None: of all, and unowned ones."""


class InfoStream(Command, frozen=True):
    """XINFO STREAM. The reply is a `StreamInfo`, or a `StreamFullInfo` with `full_count`."""

    key: bytes
    """The stream's key."""
    full_count: int | Malformed | None = None
    """None: the short form; 0: the full form with all entries; n: the full form with n entries, and n of each
    pending entries list."""


class InfoGroups(Command, frozen=True):
    """XINFO GROUPS. The reply is a list of `GroupInfo`."""

    key: bytes
    """The stream's key."""


class InfoConsumers(Command, frozen=True):
    """XINFO CONSUMERS. The reply is a list of `ConsumerInfo`."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""


class ServerTime(Command, frozen=True):
    """TIME. The reply is the instant at which the command runs, in Unix milliseconds."""


class ServerInfo(Command, frozen=True):
    """INFO. The reply is a `ServerStats`."""
