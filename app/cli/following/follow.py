"""Reads stored entries of streams, and follows streams over `GET /v1/tail`, also after a lost connection.

Stored entries are the last ones of some streams, or all from a start id; these requests never wait. While it
follows, the tail of the SDK has the position from which it resumes, and reads the events. This module adds
what only the command has: groups, new streams that match a pattern, keys of any bytes, and notices for the
user."""

from __future__ import annotations

import heapq
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tailrace.app.cli.following.entries import Line
from tailrace.app.cli.redis.replies import run
from tailrace.app.cli.server import (
    RefusedByServer,
    Server,
    ServerProblem,
    Unreachable,
    escaped,
    request_of,
    stream_path,
)
from tailrace.core.limits import PAGE_ENTRIES_MAX
from tailrace.core.stream_id import StreamId, format_id, parse_id
from tailrace_client.generated.types import Unset
from tailrace_client.tail import SILENCE_MAX_S, AnyTail, log_gap

# --- stored entries -----------------------------------------------------------------------------


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
        return pages(server, key, (start, "+"), None, parameters=wanted.parameters)
    newest = pages(server, key, (start, "+"), wanted.most, reverse=True, parameters=wanted.parameters)
    return iter(list(newest)[::-1])


def pages(
    server: Server,
    key: bytes,
    bounds: tuple[str, str],
    most: int | None,
    *,
    reverse: bool = False,
    parameters: Sequence[tuple[str, str]] = (),
) -> Iterator[Line]:
    """Yield at most `most` entries within the bounds (None: all), page by page; the newest first if
    `reverse`."""
    start, end = bounds
    left = most
    while left is None or left > 0:
        size = PAGE_ENTRIES if left is None else min(left, PAGE_ENTRIES_MAX)
        order = [("order", "desc")] if reverse else []
        asked = [*order, ("start", start), ("end", end), ("count", str(size)), *parameters]
        page = server.request("GET", stream_path(key, "/entries"), parameters=asked).json()
        for entry in page["entries"]:
            yield Line(key, entry)
        if page["next"] is None:
            return
        start, end = (start, f"({page['next']}") if reverse else (f"({page['next']}", end)
        left = None if left is None else left - len(page["entries"])


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


# --- following ----------------------------------------------------------------------------------


PREFETCH: Final = 1_000
"""How many unacknowledged entries the server sends ahead to a consumer."""
PAUSE_S: Final = 2.0
PAUSE_S_MAX: Final = 30.0

_BEGINNING: Final = "0-0"


class GroupMember(NamedTuple):
    """The consumer that a tail reads as. `acknowledges`: it acknowledges entries after printing them."""

    group: bytes
    consumer: bytes
    acknowledges: bool


class _Tail(AnyTail[list[Line]]):
    """A tail of some streams, that yields the entries of each event. `positions`: the id after which each
    stream is read."""

    def __init__(
        self,
        positions: Mapping[bytes, str],
        reader: GroupMember | None,
        on_notice: Callable[[str], None],
        parameters: Sequence[tuple[str, str]],
    ) -> None:
        super().__init__("streams", log_gap)
        self._positions = positions
        self._reader = reader
        self._on_notice = on_notice
        self._more_parameters = parameters

    def _request(self, position: str | Unset) -> Mapping[str, Any]:
        headers = {"Accept": "text/event-stream"}
        parameters = [("stream", os.fsdecode(key)) for key in self._positions]
        parameters += self._more_parameters
        if self._reader is None:
            parameters += [("after", after) for after in self._positions.values()]
            if isinstance(position, str):
                headers["Last-Event-ID"] = position
        else:
            parameters += _of_group(self._reader)
        return request_of("GET", "/v1/tail", parameters, headers)

    def _entries(self, data: Any) -> list[list[Line]]:
        key = _key_of(data)
        return [[Line(key, entry) for entry in data["entries"]]]

    def _gap(self, data: Any) -> None:
        self._on_notice(f"{_key_of(data).decode('utf-8', 'backslashreplace')}: {_gap_text(data)}")


def _of_group(reader: GroupMember) -> list[tuple[str, str]]:
    # A reader that acknowledges first reads its pending entries: it may not have printed them yet.
    history = [("after", _BEGINNING)] if reader.acknowledges else []
    names = [("group", os.fsdecode(reader.group)), ("consumer", os.fsdecode(reader.consumer))]
    return [*history, *names, ("prefetch", str(PREFETCH))]


class Follower:
    """A tail of the streams in `positions`; each value is the id after which that stream is read.

    `find_more`, if given, returns the keys of all streams to follow. It is called whenever the server sends
    no entries, at least every 15 s of silence, and new streams are read from their beginning. `on_notice`
    gets sentences for the user. `parameters`: further parameters of the requests.
    """

    def __init__(
        self,
        server: Server,
        positions: Mapping[bytes, str],
        reader: GroupMember | None,
        find_more: Callable[[], Sequence[bytes]] | None,
        on_notice: Callable[[str], None],
        parameters: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._server = server
        self._positions = dict(positions)
        self._reader = reader
        self._find_more = find_more
        self._on_notice = on_notice
        self._tail = _Tail(self._positions, reader, on_notice, parameters)
        self._failures = 0
        self._was_connected = False

    def entries(self) -> Iterator[list[Line]]:
        """Yield the entries of each event as it arrives, without end.

        A heartbeat yields an empty list, so that the caller notices when the reader of its output has exited.
        If the reader acknowledges, it acknowledges a list when the caller requests the next one. Raises
        `ServerProblem` if the first connection fails or if the server ends the tail with an error that a
        retry cannot solve.
        """
        while True:
            try:
                yield from self._connection()
            except ServerProblem as problem:
                self._wait_after(problem)

    def _wait_after(self, problem: ServerProblem) -> None:
        passes = isinstance(problem, Unreachable) or (
            isinstance(problem, RefusedByServer) and problem.is_worth_repeating
        )
        if not self._was_connected or not passes:
            raise problem
        if self._failures == 0:
            self._on_notice(f"{problem}; trying again")
        self._failures += 1
        time.sleep(min(PAUSE_S * self._failures, PAUSE_S_MAX))

    # --- one connection ----------------------------------------------------------------------------

    def _connection(self) -> Iterator[list[Line]]:
        while not self._positions:
            # No stream matches the pattern yet.
            self._was_connected = True
            time.sleep(PAUSE_S)
            self._take_new_streams()
        session = self._server.session
        silence = session.settings.silence(SILENCE_MAX_S)
        with self._server.problems(), session.stream(self._tail.request, silence) as chunks:
            self._back()
            for chunk in chunks:
                is_silent = True
                for lines in self._tail.take(chunk):
                    is_silent = False
                    yield lines
                    if lines:
                        acknowledge(self._server, self._reader, lines)
                if is_silent:
                    yield []
                    if self._take_new_streams():
                        return
            raise self._tail.over()

    def _back(self) -> None:
        if self._failures:
            self._on_notice("connected again")
        self._was_connected, self._failures = True, 0

    def _take_new_streams(self) -> bool:
        if self._find_more is None:
            return False
        new = [key for key in self._find_more() if key not in self._positions]
        self._positions |= dict.fromkeys(new, _BEGINNING)
        return bool(new)


def _gap_text(gap: Mapping[str, Any]) -> str:
    if "incarnation" in gap:
        return f"the stream was deleted after {gap['from']}; following the next one from {gap['to']}"
    return f"entries after {gap['from']} and before {gap['to']} were trimmed before they could be read"


def acknowledge(server: Server, reader: GroupMember | None, lines: Sequence[Line]) -> None:
    """Acknowledge `lines`, all of one stream, if `reader` acknowledges. Raises `ServerProblem`."""
    if reader is not None and reader.acknowledges:
        path = stream_path(lines[0].key, f"/groups/{escaped(reader.group)}:ack")
        server.request("POST", path, body={"ids": [line.id for line in lines]})


def _key_of(content: Mapping[str, Any]) -> bytes:
    key = str(content["key"])
    return b64decode(key) if content.get("encoding") == "base64" else key.encode()
