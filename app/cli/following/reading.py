"""Reads stored entries: the last entries of streams or all from a start id, and the streams of a pattern.

It owns the position from which following begins. Its requests never wait for new entries.
"""

from __future__ import annotations

import heapq
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from tailrace.app.cli.following.entries import Line
from tailrace.app.cli.redis.replies import run
from tailrace.app.cli.server import Server, stream_path
from tailrace.core.limits import PAGE_ENTRIES_MAX
from tailrace.core.stream_id import StreamId, format_id, parse_id

PAGE_ENTRIES: Final = 1_000
"""How many entries one request reads."""
_GLOB: Final = frozenset(b"*?[")


class Wanted(NamedTuple):
    """Selects stored entries: the last `most` (None: all) of those that are at or after `start` (None: the
    first) and match `filter` (None: all)."""

    most: int | None
    start: StreamId | None
    filter: str | None = None

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The parameter `filter` of requests."""
        return [] if self.filter is None else [("filter", self.filter)]


def is_pattern(key: bytes) -> bool:
    """Return whether `key` is a glob pattern."""
    return not _GLOB.isdisjoint(key)


def matching_streams(server: Server, pattern: bytes) -> list[bytes]:
    """Return the keys that match `pattern`, sorted. O(keys of the server)."""
    keys: set[bytes] = set()
    cursor = b"0"
    while True:
        reply = run(server, [b"SCAN", cursor, b"MATCH", pattern, b"COUNT", b"1000"])
        assert isinstance(reply, list)
        following, found = reply
        assert isinstance(following, bytes)
        assert isinstance(found, list)
        cursor = following
        keys.update(key for key in found if isinstance(key, bytes))
        if cursor == b"0":
            return sorted(keys)


def stored_entries(server: Server, keys: Sequence[bytes], wanted: Wanted) -> Iterator[Line]:
    """Yield the wanted entries of all streams in the order of their ids."""
    of_each = [_of_stream(server, key, wanted) for key in keys]
    return heapq.merge(*of_each, key=lambda line: parse_id(line.id.encode()))


def _of_stream(server: Server, key: bytes, wanted: Wanted) -> Iterator[Line]:
    start = "-" if wanted.start is None else format_id(wanted.start)
    if wanted.most is None:
        return _all_from(server, key, start, wanted)
    return iter(_last(server, key, start, wanted.most, wanted))


def _last(server: Server, key: bytes, start: str, most: int, wanted: Wanted) -> list[Line]:
    """Return the last entries in the order of their ids."""
    found: list[Line] = []
    end: str | None = "+"
    while end is not None and len(found) < most:
        count = min(most - len(found), PAGE_ENTRIES_MAX)
        bounds = [("order", "desc"), ("start", start), ("end", end), ("count", str(count))]
        page = page_of(server, key, bounds + wanted.parameters)
        found += [Line(key, entry) for entry in page["entries"]]
        end = None if page["next"] is None else f"({page['next']}"
    return found[::-1]


def _all_from(server: Server, key: bytes, start: str, wanted: Wanted) -> Iterator[Line]:
    position: str | None = start
    while position is not None:
        bounds = [("start", position), ("count", str(PAGE_ENTRIES))]
        page = page_of(server, key, bounds + wanted.parameters)
        for entry in page["entries"]:
            yield Line(key, entry)
        position = None if page["next"] is None else f"({page['next']}"


def page_of(server: Server, key: bytes, parameters: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Request one page of entries."""
    page: dict[str, Any] = server.request("GET", stream_path(key, "/entries"), parameters=parameters).json()
    return page


def position_before(wanted: Wanted) -> str:
    """Return the position from which to follow a stream that has none of the wanted entries."""
    if wanted.most == 0:
        return "$"
    return format_id(max(0, (wanted.start or 0) - 1))


def read_group(server: Server, keys: Sequence[bytes], group: bytes, consumer: bytes, most: int) -> list[Line]:
    """Read up to `most` new entries per stream as a consumer. They become pending for this consumer."""
    names = {"group": group, "consumer": consumer}
    body = {**_named(names), "count": most, "streams": [_named({"key": key}) for key in keys]}
    answered = server.request("POST", "/v1/read-group", body=body).json()["streams"]
    return [Line(key, entry) for key, read in zip(keys, answered, strict=True) for entry in read["entries"]]


def _named(names: dict[str, bytes]) -> dict[str, str]:
    """Return names as JSON members: as text, or all in base64 if one of them is not UTF-8."""
    try:
        return {member: name.decode() for member, name in names.items()}
    except UnicodeDecodeError:
        encoded = {member: b64encode(name).decode() for member, name in names.items()}
        return {**encoded, "encoding": "base64"}
