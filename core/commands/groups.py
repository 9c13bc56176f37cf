"""The commands on groups and consumers: create, move and delete them (XGROUP), change their settings,
acknowledge, return and claim pending entries, extend leases, and send dead letters back.

This module holds data only.
"""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from tailrace.core.commands.arguments import Command, Malformed, NackMode, References, Special
from tailrace.core.stream_id import ZERO_ID, StreamId


class CreateGroup(Command, frozen=True):
    """XGROUP CREATE. The reply is None; an existing group is BUSYGROUP."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The new group's name."""
    after: StreamId | Special | Malformed
    """The group's position: it delivers the entries after this id."""
    create_stream: bool = False
    """Whether to create a missing stream (MKSTREAM)."""
    entries_read: int | None = None
    """How many of all entries ever added the group counts as read; None: unknown (rule 56)."""


class SetGroupPosition(Command, frozen=True):
    """XGROUP SETID. The reply is None. Pending entries stay pending."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    after: StreamId | Special | Malformed
    """The group's new position."""
    entries_read: int | None = None
    """As in `CreateGroup`."""


class DestroyGroup(Command, frozen=True):
    """XGROUP DESTROY. The reply is 1 if the group existed, else 0."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""


class CreateConsumer(Command, frozen=True):
    """XGROUP CREATECONSUMER. The reply is 1 if the consumer is new, else 0."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The consumer's name."""


class DeleteConsumer(Command, frozen=True):
    """XGROUP DELCONSUMER. The reply is the number of pending entries that were dropped, None for a missing
    consumer. Without an option, all of its pending entries are dropped."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The name of the consumer to delete."""
    transfer_to: bytes | None = None
    """The consumer that receives the pending entries, with counts and times unchanged. The name of the
    consumer itself transfers nothing. Redis has no such option."""
    refuse_pending: bool = False
    """Refuse the command with CONSUMER_HAS_PENDING instead of dropping an entry. Redis has no such option."""


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


class ConfigureGroup(Command, frozen=True):
    """Change settings of a group. The reply is None. Redis has no such command.

    None removes a setting, and UNSET leaves it as it is.
    """

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    max_deliveries: int | UnsetType | None = UNSET
    """As `GroupSettings.max_deliveries`; at least 1."""
    dead_letter_stream: bytes | UnsetType | None = UNSET
    """As `GroupSettings.dead_letter_stream`."""
    filter: str | UnsetType | None = UNSET
    """As `GroupSettings.filter`."""
    claim_min_idle_ms: int | UnsetType | None = UNSET
    """As `GroupSettings.claim_min_idle_ms`; at least 1."""
    consumer_expiry_ms: int | UnsetType | None = UNSET
    """As `GroupSettings.consumer_expiry_ms`; at least `core.limits.CONSUMER_EXPIRY_MS_MIN`."""
    max_lag_ms: int | UnsetType | None = UNSET
    """As `GroupSettings.max_lag_ms`; at least 1."""
    backoff_initial_ms: int | UnsetType | None = UNSET
    """As `GroupSettings.backoff_initial_ms`; at least 1."""
    backoff_factor: float | UnsetType | None = UNSET
    """As `GroupSettings.backoff_factor`; at least 1."""
    backoff_max_ms: int | UnsetType | None = UNSET
    """As `GroupSettings.backoff_max_ms`; at least `backoff_initial_ms`."""
    order_by: str | UnsetType | None = UNSET
    """As `GroupSettings.order_by`; not empty."""


class Redrive(Command, frozen=True):
    """Send dead letters of a group back to its stream. The reply is a `RedriveReply`. Redis has no such
    command."""

    key: bytes
    """The key of the group's stream."""
    group: bytes
    """The group's name."""
    limit: int
    """How many dead letters to examine at most; at least 1."""
    ids: tuple[StreamId, ...] | range | None = None
    """The ids in the dead-letter stream; an id may repeat. None: all from `start` on."""
    start: StreamId = ZERO_ID
    """The first id to examine, without `ids`."""
    dead_letter_stream: bytes | UnsetType | None = UNSET
    """The dead-letter stream on which the client has rights: the command fails if the group has another one.
    UNSET: whichever the group has."""


class ExtendLeases(Command, frozen=True):
    """Begin the idle time of a consumer's own pending entries again, without a delivery. The reply is an
    `ExtendReply`. Redis has no such command: XCLAIM JUSTID also takes entries of other consumers."""

    key: bytes
    """The stream's key."""
    group: bytes
    """The group's name."""
    consumer: bytes
    """The consumer's name; a missing consumer owns nothing and is not created."""
    ids: tuple[StreamId, ...] | range
    """The ids of the entries; an id may repeat."""


class ExpireConsumers(Command, frozen=True):
    """Take entries from consumers that were not seen for too long, and delete them. The reply is an
    `ExpiryReply`. The server runs it; clients cannot."""

    since_ms: int
    """Unix time: consumers count as seen then. Later than the last start of the server, the last pause and
    the last step of the clock, so that none of them expires a consumer."""
    waiting: tuple[tuple[bytes, bytes, bytes], ...] = ()
    """Key, group and consumer of each waiting read: such a consumer counts as seen now."""
    after: tuple[int, bytes, bytes] | None = None
    """Where to continue: `ExpiryReply.next` of the previous step. None: begin with the first group."""
