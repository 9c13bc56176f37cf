"""Writes the frames that the server sends unasked: its first frame, and pushes (entries, gaps and ends).

It owns the members of these frames, and applies filters to entries. A delivery that several subscriptions
share is encoded once for all subscriptions with the same id, filter and count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from tailrace.api import websocket_limits as limits
from tailrace.api.problems.table import Refusal, problem_of
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.requests import RequestId
from tailrace.core.filters import Filter as EntryCondition
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries, StreamRead
from tailrace.core.stream_id import StreamId, format_id

SHOWN_LIMITS: Final = (
    "frame_bytes_max",
    "requests_per_frame_max",
    "subscriptions_max",
    "watched_streams_max",
    "filter_fields_max",
    "filter_values_max",
    "credit_max",
    "push_entries_max",
    "push_bytes_max",
    "output_bytes_max",
    "reply_bytes_max",
)
"""The members of `api.websocket_limits` that the server's first frame shows."""


def greeting(codec: Codec, version: str) -> bytes:
    """Return the server's first frame."""
    shown = {name: getattr(limits, name.upper()) for name in SHOWN_LIMITS}
    return codec.encode({"hello": {"version": version, "subprotocol": codec.subprotocol, "limits": shown}})


# --- frames ------------------------------------------------------------------------------------------


def entries_push(
    codec: Codec,
    sub: RequestId,
    read: StreamRead,
    entries: Entries,
    following: StreamId,
    incarnation: str | None = None,
) -> bytes:
    """Return a push of entries. Entries of a group also have idle time and delivery count. `incarnation`:
    that of the stream, if the client does not know it yet. O(bytes)."""
    push = {
        "sub": sub,
        **codec.names(key=read.key),
        "entries": codec.entries(entries, deliveries=read.new),
        "next": format_id(following),
    }
    return codec.encode({**push, "incarnation": incarnation} if incarnation else push)


def gap_push(
    codec: Codec, sub: RequestId, key: bytes, after: StreamId, before: StreamId, **more: str | None
) -> bytes:
    """Return a push that reports that the entries after `after` and before `before` were trimmed. `more` has
    the incarnation of a stream that was created again."""
    gap = {"from": format_id(after), "to": format_id(before), **more}
    return codec.encode({"sub": sub, **codec.names(key=key), "gap": gap})


def end_push(codec: Codec, sub: RequestId, failure: Refusal) -> bytes:
    """Return the last push of a subscription, with the reason for its end."""
    return codec.encode({"sub": sub, "end": problem_of(failure, None)})


# --- filters -----------------------------------------------------------------------------------------


class FieldFilter(NamedTuple):
    """Selects entries in which each of these fields has one of its values. Equal filters share their
    results."""

    fields: tuple[tuple[bytes, frozenset[bytes]], ...]

    def lets_through(self, fragment: bytes) -> bool:
        """Return whether an entry matches. If a name repeats, one matching value is enough. O(bytes)."""
        flat = flat_of(fragment)
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return all(
            any(has == name and value in values for has, value in pairs) for name, values in self.fields
        )

    def select(self, entries: Entries) -> Entries:
        """Return the entries that match. O(bytes)."""
        found = [
            (value, fragment)
            for value, fragment in zip(entries.ids, entries.fragments, strict=True)
            if fragment is not None and self.lets_through(fragment)
        ]
        return Entries([value for value, _ in found], [fragment for _, fragment in found])


Filter: TypeAlias = FieldFilter | EntryCondition
"""What a subscription selects: fields with given values, or a condition."""


def filter_of(fields: Mapping[bytes, frozenset[bytes]]) -> FieldFilter:
    """Return the filter for these fields and values."""
    return FieldFilter(tuple(sorted(fields.items(), key=lambda item: item[0])))


class Delivery:
    """The result of one read of a stream, for all subscriptions that share the read."""

    __slots__ = ("_pushes", "_selections", "read")

    def __init__(self, read: StreamRead) -> None:
        self.read = read
        self._selections: dict[Filter, Entries] = {}
        self._pushes: dict[tuple[object, ...], bytes] = {}

    def selection(self, wanted: Filter | None) -> Entries:
        """Return the entries that match the filter; computed once for each filter."""
        if wanted is None:
            return self.read.entries
        found = self._selections.get(wanted)
        if found is None:
            found = self._selections[wanted] = wanted.select(self.read.entries)
        return found

    def push(
        self, codec: Codec, sub: RequestId, wanted: Filter | None, count: int, incarnation: str | None
    ) -> bytes:
        """Return the push of the first `count` matching entries; encoded once for equal arguments."""
        known_as = (codec.is_text, sub, wanted, count, incarnation)
        frame = self._pushes.get(known_as)
        if frame is None:
            frame = self._pushes[known_as] = self._encoded(codec, sub, wanted, count, incarnation)
        return frame

    def _encoded(
        self, codec: Codec, sub: RequestId, wanted: Filter | None, count: int, incarnation: str | None
    ) -> bytes:
        entries = self.selection(wanted)
        if count < len(entries):
            entries = Entries(entries.ids[:count], entries.fragments[:count])
        return entries_push(codec, sub, self.read, entries, self.next_after(wanted, count), incarnation)

    def next_after(self, wanted: Filter | None, count: int) -> StreamId:
        """Return the position after the first `count` matching entries."""
        entries = self.selection(wanted)
        return self.read.next if count == len(entries) else entries.ids[count - 1]
