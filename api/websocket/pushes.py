"""What is pushed: entries, gaps and ends, as frames; and which entries a filter lets through.

It owns the members of pushes. A delivery that many subscriptions share is encoded once for all of them
that name it alike and take the same of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from tailrace.api.ports import StoreUnavailable, Unauthenticated
from tailrace.api.problems.table import (
    RequestRefused,
    problem,
    problem_of,
    store_unavailable_problem,
    unauthenticated_problem,
)
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.requests import RequestId
from tailrace.core.errors import StreamError
from tailrace.core.log.entry import flat_of
from tailrace.core.replies import Entries, StreamRead
from tailrace.core.stream_id import StreamId, format_id

Failure: TypeAlias = StreamError | RequestRefused | StoreUnavailable | Unauthenticated


def problem_for(failure: Failure) -> dict[str, Any]:
    """The problem that tells of `failure`. Its `request_id` is null: replies carry their own `id`."""
    if isinstance(failure, StreamError):
        return problem_of(failure, None)
    if isinstance(failure, StoreUnavailable):
        return store_unavailable_problem(failure, None)
    if isinstance(failure, Unauthenticated):
        return unauthenticated_problem(failure, None)
    members = dict(failure.members)
    if failure.errors:
        members["errors"] = failure.errors
    return problem(failure.code, failure.detail, None, **members)


# --- frames ------------------------------------------------------------------------------------------


def entries_push(
    codec: Codec, sub: RequestId, read: StreamRead, entries: Entries, following: StreamId
) -> bytes:
    """Entries of one stream; those of a group carry idle time and count of deliveries. O(bytes)."""
    return codec.encode(
        {
            "sub": sub,
            **codec.names(key=read.key),
            "entries": codec.entries(entries, deliveries=read.new),
            "next": format_id(following),
        }
    )


def gap_push(codec: Codec, sub: RequestId, key: bytes, after: StreamId, before: StreamId) -> bytes:
    """Entries after `after` and before `before` were trimmed away."""
    gap = {"from": format_id(after), "to": format_id(before)}
    return codec.encode({"sub": sub, **codec.names(key=key), "gap": gap})


def end_push(codec: Codec, sub: RequestId, failure: Failure) -> bytes:
    """The subscription is over, and why."""
    return codec.encode({"sub": sub, "end": problem_for(failure)})


# --- filters -----------------------------------------------------------------------------------------


class Filter(NamedTuple):
    """Entries in which each of these fields has one of its values; hashable, so that equal ones share."""

    fields: tuple[tuple[bytes, frozenset[bytes]], ...]

    def lets_through(self, fragment: bytes) -> bool:
        """Whether the entry is wanted; of a name that repeats any value will do. O(bytes)."""
        flat = flat_of(fragment)
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return all(
            any(has == name and value in values for has, value in pairs) for name, values in self.fields
        )

    def select(self, entries: Entries) -> Entries:
        """Those of `entries` that are wanted."""
        found = [
            (value, fragment)
            for value, fragment in zip(entries.ids, entries.fragments, strict=True)
            if fragment is not None and self.lets_through(fragment)
        ]
        return Entries([value for value, _ in found], [fragment for _, fragment in found])


def filter_of(fields: Mapping[bytes, frozenset[bytes]]) -> Filter:
    """The filter over `fields`."""
    return Filter(tuple(sorted(fields.items(), key=lambda item: item[0])))


class Delivery:
    """What one read of a stream gave, for all subscriptions that share it."""

    __slots__ = ("_pushes", "_selections", "read")

    def __init__(self, read: StreamRead) -> None:
        self.read = read
        self._selections: dict[Filter, Entries] = {}
        self._pushes: dict[tuple[object, ...], bytes] = {}

    def selection(self, wanted: Filter | None) -> Entries:
        """The entries that the filter lets through; looked for once for each filter."""
        if wanted is None:
            return self.read.entries
        found = self._selections.get(wanted)
        if found is None:
            found = self._selections[wanted] = wanted.select(self.read.entries)
        return found

    def push(self, codec: Codec, sub: RequestId, wanted: Filter | None, count: int) -> bytes:
        """The push of the first `count` of the selection; encoded once for all that ask for the same."""
        known_as = (codec.is_text, sub, wanted, count)
        frame = self._pushes.get(known_as)
        if frame is None:
            frame = self._pushes[known_as] = self._encoded(codec, sub, wanted, count)
        return frame

    def _encoded(self, codec: Codec, sub: RequestId, wanted: Filter | None, count: int) -> bytes:
        entries = self.selection(wanted)
        if count < len(entries):
            entries = Entries(entries.ids[:count], entries.fragments[:count])
        return entries_push(codec, sub, self.read, entries, self.next_after(wanted, count))

    def next_after(self, wanted: Filter | None, count: int) -> StreamId:
        """Where to read on once the first `count` of the selection were taken."""
        entries = self.selection(wanted)
        return self.read.next if count == len(entries) else entries.ids[count - 1]
