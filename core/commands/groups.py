"""The commands that create, move and delete groups and consumers (XGROUP).

This module holds data only.
"""

from __future__ import annotations

from tailrace.core.commands.arguments import Command, Malformed, Special
from tailrace.core.stream_id import StreamId


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
