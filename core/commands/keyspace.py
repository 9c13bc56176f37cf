"""The commands that work on keys as a whole (delete, rename, copy, list, configure), and those that show the
state of streams, groups and the server without changing it.

This module holds data only.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.commands.arguments import Command, Malformed
from tailrace.core.stream_id import MAX_ID, ZERO_ID, StreamId


class DeleteKeys(Command, frozen=True):
    """DEL. The reply is the number of streams that were deleted."""

    keys: tuple[bytes, ...]
    """The keys to delete; missing keys are ignored."""


class CountKeys(Command, frozen=True):
    """EXISTS. The reply is the number of existing keys."""

    keys: tuple[bytes, ...]
    """The keys to count; a key that is named twice counts twice."""


class RenameKey(Command, frozen=True):
    """RENAME. The reply is None."""

    key: bytes
    """The stream's key."""
    new_key: bytes
    """The stream's new key; a stream with that key is deleted."""


class CopyKey(Command, frozen=True):
    """COPY. The reply is 1, or 0 if nothing was copied."""

    key: bytes
    """The key of the stream to copy."""
    new_key: bytes
    """The key of the copy."""
    replace: bool = False
    """Delete an existing stream under `new_key`; False: copy nothing in that case."""


class Listing(Command, frozen=True, kw_only=True):
    """The base class of commands that go over all keys."""

    visible: tuple[bytes, ...] | None = None
    """Globs of the keys that the client may see; the command ignores all others. None: the client may see
    every key."""


class ListStreams(Listing, frozen=True):
    """List streams in byte order of their keys. The reply is a `StreamList`. Redis has no such command."""

    prefix: bytes = b""
    """List only keys that begin with these bytes."""
    start_after: bytes | None = None
    """List only keys after this one; None: from the first key on."""
    limit: int | None = None
    """The maximum number of streams; None: no limit."""


class KeyspaceSize(Listing, frozen=True):
    """DBSIZE. The reply is the number of keys."""


class Flush(Command, frozen=True):
    """FLUSHDB and FLUSHALL: delete all streams. The reply is None."""


class GetConfig(Command, frozen=True):
    """CONFIG GET. The reply maps each setting whose name matches a pattern to its value."""

    patterns: tuple[bytes, ...]
    """Glob patterns over the names of settings."""


class SetConfig(Command, frozen=True):
    """CONFIG SET: change all of the settings or none. The reply is None."""

    values: tuple[tuple[str, int], ...]
    """Names and new values. The grammar has checked names and ranges."""


class ExpireIdempotencyKeys(Command, frozen=True):
    """Forget expired idempotency keys. The server runs this command once a second (rule 61). The reply is the
    number of streams that were examined, at most `core.limits.EXPIRING_STREAMS_PER_STEP`: then others may be
    due."""


class SweepRetention(Command, frozen=True):
    """Apply the retention of some streams. The reply is the serial to continue with, 0 after the last stream.
    The server runs this command once a second until it replies 0."""

    start_serial: int = 0
    """The serial of the first stream to examine."""


class MatchKeys(Listing, frozen=True):
    """KEYS. The reply has the matching keys in byte order. O(number of streams)."""

    pattern: bytes
    """The glob pattern."""


class ScanKeys(Listing, frozen=True):
    """SCAN. The reply is a `KeyScan`. A key that exists during the whole scan is returned exactly once."""

    cursor: int
    """The cursor of the last reply; 0 starts a scan."""
    count: int = 10
    """The number of keys to examine in this step."""
    pattern: bytes | None = None
    """Return only keys that this glob matches; None: all keys."""


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
