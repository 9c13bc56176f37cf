"""The commands that acknowledge, return and claim pending entries.

This module holds data only.
"""

from __future__ import annotations

from msgspec import Struct

from tailrace.core.commands.arguments import Command, Malformed, NackMode, References
from tailrace.core.stream_id import StreamId


class Acknowledge(Command, frozen=True):
    """XACK. The reply is the number of ids that were pending."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: tuple[StreamId, ...] | range | Malformed
    """The ids to acknowledge; an id may repeat."""
    require_group: bool = False
    """Refuse the command with NOGROUP if the stream or the group is missing; Redis replies 0."""


class AcknowledgeAndDelete(Command, frozen=True):
    """XACKDEL. The reply has a `DeleteResult` for each id."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    ids: tuple[StreamId, ...] | range | Malformed
    """The ids to acknowledge and delete; an id may repeat."""
    ids_count: int
    """How many ids the client named, as in `DeleteEntriesByPolicy`."""
    references: References = References.KEEP
    """What happens to pending entries in other groups."""
    require_group: bool = False
    """As in `Acknowledge`."""


class NegativeAcknowledge(Command, frozen=True):
    """XNACK: remove the owner of pending entries, so that CLAIM takes them before all others (rule 54). The
    reply is the number of entries that lost their owner."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    mode: NackMode
    """How the delivery count changes, unless `retry_count` is set."""
    ids: tuple[StreamId, ...] | range | Malformed
    """The ids to return. Carries the error of any argument after the group."""
    retry_count: int | None = None
    """The new delivery count of each entry; None: by `mode`."""
    force: bool = False
    """Make live entries of the stream pending without an owner, if they are not pending (FORCE)."""
    delay_ms: int | None = None
    """Nothing claims the entries before this time has passed; 0: claimable at once. None: the group's
    backoff, or at once. Redis does not have it."""


class ClaimOptions(Struct, frozen=True):
    """The arguments of XCLAIM after the consumer's name. At most one of `idle_ms` and `delivered_at_ms` is
    set: the last one that the client gave."""

    min_idle_ms: int
    """Claim only entries that were delivered at least this many milliseconds ago."""
    ids: tuple[StreamId, ...] | range
    """The ids to claim, in the order of the reply; an id may repeat."""
    idle_ms: int | None = None
    """The idle time of the claimed entries after the claim (IDLE)."""
    delivered_at_ms: int | None = None
    """The Unix time of delivery of the claimed entries after the claim (TIME)."""
    retry_count: int | None = None
    """The delivery count of the claimed entries after the claim; None: by rule 49."""
    force: bool = False
    """Claim live entries of the stream that are not pending, too (FORCE)."""
    just_id: bool = False
    """Return ids only, and do not increment the delivery count (JUSTID)."""
    last_id: StreamId | None = None
    """Move the group's last delivered id up to this one (LASTID); None, or a lower id: unchanged."""


class Claim(Command, frozen=True):
    """XCLAIM. The reply is a `ClaimReply`."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The new owner's name; a missing consumer is created."""
    options: ClaimOptions | Malformed
    """What to claim, and how."""


class AutoClaim(Command, frozen=True):
    """XAUTOCLAIM: claim idle entries, examined in id order. The reply is a `ClaimReply` with a cursor."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The new owner's name; a missing consumer is created."""
    min_idle_ms: int
    """Claim only entries that were delivered at least this many milliseconds ago."""
    start: StreamId
    """The id to start from, included."""
    count: int = 100
    """The maximum number of entries to claim, deleted ones included."""
    just_id: bool = False
    """Return ids only, and do not increment the delivery count."""
