"""The commands on the settings of a group and on its dead letters.

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
