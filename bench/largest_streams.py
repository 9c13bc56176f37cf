"""The streams that the largest requests need, and how a request is written down.

It owns bytes and paths. Every size is a share of the largest one, so that a test can send the same in small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    IDS_PER_REQUEST_MAX,
    KEYS_PER_REQUEST_MAX,
    PIPELINE_COMMANDS_MAX,
)

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
MIB: Final = 1 << 20
STREAM_ENTRIES: Final = 1_000_000
STREAMS: Final = 100_000
PAGE: Final = 100_000
"""What a read asks for at once: more than it is given is no harm."""


class Request(NamedTuple):
    """One HTTP request."""

    method: str
    path: str
    body: bytes | None = None
    media_type: str = JSON
    encoding: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that the body needs."""
        headers = {"content-type": self.media_type} if self.body is not None else {}
        return headers | ({"content-encoding": self.encoding} if self.encoding else {})


class State:
    """How large the streams are, and names that no other case has used."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self._made: set[str] = set()

    def count(self, full: int) -> int:
        """So many, at this scale."""
        return max(int(full * self.scale), 1)

    def text(self, full: int, unit: str = "x") -> str:
        """A value of so many characters, at this scale."""
        return unit * self.count(full)

    def is_first(self, name: str) -> bool:
        """Whether nobody has asked this of `name` before."""
        is_first = name not in self._made
        self._made.add(name)
        return is_first


Make = Callable[[State], Iterable[Request]]


class Case(NamedTuple):
    """`operation`: whose case it is. `prepare`: requests that are not measured."""

    operation: str
    title: str
    requests: Make
    prepare: Make = lambda _state: ()

    @property
    def name(self) -> str:
        """The operation, and what is large."""
        return f"{self.operation}: {self.title}"


def post(path: str, content: Any) -> Request:
    """A JSON body."""
    return Request("POST", path, json.dumps(content, separators=(",", ":")).encode())


def command(*words: str) -> Request:
    """One Redis command."""
    return post("/v1/command", words)


# --- streams -------------------------------------------------------------------------------------------


def line_of(number: int) -> bytes:
    """One small entry."""
    return b'{"rider":"Castilla","speed":"%d"}\n' % number


def filled(key: str, entries: int) -> Iterator[Request]:
    """Imports that give a stream so many small entries."""
    for first in range(0, entries, BATCH_ENTRIES_MAX):
        lines = b"".join(map(line_of, range(min(entries - first, BATCH_ENTRIES_MAX))))
        yield Request("POST", f"/v1/streams/{key}/entries:import", lines, NDJSON)


def delivered(key: str, group: str, entries: int) -> Iterator[Request]:
    """A group to which all entries of a stream are delivered, and none acknowledged."""
    yield Request("PUT", f"/v1/streams/{key}/groups/{group}", b'{"after":"0"}')
    for _ in range(0, entries, 10_000):
        yield read_group(key, group, count=10_000)


def read_group(key: str, group: str, **options: Any) -> Request:
    """One read of a group."""
    body = {"group": group, "consumer": "alice", "count": PAGE, "streams": [{"key": key}], **options}
    return post("/v1/read-group", body)


def large(name: str, *groups: str) -> Make:
    """A stream of many entries, all of them pending in each of the groups."""

    def requests(state: State) -> Iterator[Request]:
        if state.is_first(name):
            entries = state.count(STREAM_ENTRIES)
            yield from filled(name, entries)
            for group in groups:
                yield from delivered(name, group, entries)

    return requests


def wide(state: State) -> Iterator[Request]:
    """A stream of entries that are as large as an entry may be."""
    if state.is_first("wide"):
        for _ in range(40):
            yield post("/v1/streams/wide/entries", {"fields": {"v": state.text(15 * MIB)}})


def escaped(state: State) -> Iterator[Request]:
    """A stream of values that JSON writes six times as long."""
    if state.is_first("escaped"):
        for _ in range(40):
            yield post("/v1/streams/escaped/entries", {"fields": {"v": state.text(2 * MIB, "\0")}})


def many_streams(state: State) -> Iterator[Request]:
    """Many streams of one entry."""
    if state.is_first("many streams"):
        count = state.count(STREAMS)
        for first in range(0, count, PIPELINE_COMMANDS_MAX):
            names = range(first, min(first + PIPELINE_COMMANDS_MAX, count))
            yield post("/v1/command/pipeline", [["XADD", f"s:{name:08}", "*", "f", "v"] for name in names])


def named_streams(state: State) -> list[str]:
    """As many of these streams as a command may name."""
    return [f"s:{name:08}" for name in range(state.count(KEYS_PER_REQUEST_MAX))]


def numbered(name: str, *groups: str) -> Make:
    """A stream whose ids are 1-0, 2-0 and so on, all of them pending in each of the groups."""

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        count = state.count(IDS_PER_REQUEST_MAX)
        entries = [{"id": f"{number}-0", "fields": {"f": "v"}} for number in range(1, count + 1)]
        yield post(f"/v1/streams/{name}/entries:batch", {"entries": entries})
        for group in groups:
            yield from delivered(name, group, count)

    return requests


def scattered(state: State) -> list[str]:
    """The ids of such a stream, in an order that visits every block again and again."""
    count = state.count(IDS_PER_REQUEST_MAX)
    step = 7_919
    return [f"{number * step % count + 1}-0" for number in range(count)]


def one_large_entry(state: State) -> Iterator[Request]:
    """A stream whose one entry, 1-0, is as large as an entry may be."""
    yield post("/v1/streams/one/entries", {"id": "1-0", "fields": {"v": state.text(15 * MIB)}})
