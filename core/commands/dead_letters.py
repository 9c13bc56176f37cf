"""The commands on the settings of a group, on its dead letters and on its leases.

This module holds data only.
"""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from tailrace.core.commands.arguments import Command
from tailrace.core.stream_id import ZERO_ID, StreamId


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
