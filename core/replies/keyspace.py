"""The replies to commands that list keys. This module holds data only."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tailrace.core.stream_id import StreamId


class StreamSummary(Struct, frozen=True, gc=False):
    """One stream in a list of streams."""

    key: bytes
    """The stream's key."""
    length: int
    """The number of entries."""
    last_id: StreamId
    """The greatest id ever generated or set."""
    entries_added: int
    """The number of entries ever added, or as set by XSETID."""
    group_count: int
    """The number of groups."""


class StreamList(Struct, frozen=True, gc=False):
    """One page of streams."""

    streams: Sequence[StreamSummary]
    """The streams in byte order of their keys."""
    more: bool = False
    """Whether further streams follow the last one."""


class KeyScan(Struct, frozen=True, gc=False):
    """One step of SCAN."""

    cursor: int
    """The cursor of the next step; 0: the scan is complete."""
    keys: Sequence[bytes]
    """The keys found in this step; may be empty before the end."""
