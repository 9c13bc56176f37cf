"""The streams that the largest requests need, and the types of requests and cases.

Owns bytes and paths. Every size is scaled, so that a test can send the same requests in small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    DEAD_LETTERS_MAX,
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
"""The number of entries that a read asks for at once, which may be more than it gets."""


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
    """The scale of the streams, and the names that earlier cases have used."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self._made: set[str] = set()

    def count(self, full: int) -> int:
        """Return `full` at this scale."""
        return max(int(full * self.scale), 1)

    def text(self, full: int, unit: str = "x") -> str:
        """Return a text of `full` units at this scale."""
        return unit * self.count(full)

    def is_first(self, name: str) -> bool:
        """Return whether this is the first call with `name`."""
        is_first = name not in self._made
        self._made.add(name)
        return is_first


Make = Callable[[State], Iterable[Request]]


class Case(NamedTuple):
    """`operation`: the operation that it measures. `prepare`: requests before the measured ones.
    `is_refused`: whether the case measures a refusal."""

    operation: str
    title: str
    requests: Make
    prepare: Make = lambda _state: ()
    is_refused: bool = False

    @property
    def name(self) -> str:
        """The operation, and what is large in the request."""
        return f"{self.operation}: {self.title}"


def post(path: str, content: Any) -> Request:
    """Return a POST request with a JSON body."""
    return Request("POST", path, json.dumps(content, separators=(",", ":")).encode())


def command(*words: str) -> Request:
    """Return one Redis command."""
    return post("/v1/command", words)


# --- streams -------------------------------------------------------------------------------------------


def line_of(number: int) -> bytes:
    """Return one small entry as a line of NDJSON."""
    return b'{"rider":"Castilla","speed":"%d"}\n' % number


def filled(key: str, entries: int) -> Iterator[Request]:
    """Imports of this many small entries into a stream."""
    for first in range(0, entries, BATCH_ENTRIES_MAX):
        lines = b"".join(map(line_of, range(min(entries - first, BATCH_ENTRIES_MAX))))
        yield Request("POST", f"/v1/streams/{key}/entries:import", lines, NDJSON)


def delivered(key: str, group: str, entries: int) -> Iterator[Request]:
    """Requests that create a group and deliver all entries of a stream to it, without acknowledgments."""
    yield Request("PUT", f"/v1/streams/{key}/groups/{group}", b'{"after":"0"}')
    for _ in range(0, entries, 10_000):
        yield read_group(key, group, count=10_000)


def read_group(key: str, group: str, **options: Any) -> Request:
    """Return one group read."""
    body = {"group": group, "consumer": "alice", "count": PAGE, "streams": [{"key": key}], **options}
    return post("/v1/read-group", body)


def large(name: str, *groups: str) -> Make:
    """Yield a stream of many entries that are all pending in each of the groups."""

    def requests(state: State) -> Iterator[Request]:
        if state.is_first(name):
            entries = state.count(STREAM_ENTRIES)
            yield from filled(name, entries)
            for group in groups:
                yield from delivered(name, group, entries)

    return requests


def alone(name: str, *, deleted: bool = False) -> Make:
    """A stream whose entries the group `g` received one at a time. `deleted`: all but the last one were
    deleted afterwards."""

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        path, count = f"/v1/streams/{name}", state.count(STREAMS)
        portions = [
            range(at, min(at + IDS_PER_REQUEST_MAX, count)) for at in range(0, count, IDS_PER_REQUEST_MAX)
        ]
        for portion in portions:
            entries = [{"id": f"{number + 1}-0", "fields": {"f": "v"}} for number in portion]
            yield post(f"{path}/entries:batch", {"entries": entries})
        yield Request("PUT", f"{path}/groups/g", b'{"after":"0"}')
        read = ["XREADGROUP", "GROUP", "g", "alice", "COUNT", "1", "STREAMS", name, ">"]
        for portion in portions:
            yield post("/v1/command/pipeline", [read] * len(portion))
        for portion in portions if deleted else ():
            ids = [f"{number + 1}-0" for number in portion if number + 1 < count]
            yield post(f"{path}/entries:delete", {"ids": ids})

    return requests


def wide(state: State) -> Iterator[Request]:
    """Yield a stream of entries of the greatest allowed size."""
    if state.is_first("wide"):
        for _ in range(40):
            yield post("/v1/streams/wide/entries", {"fields": {"v": state.text(15 * MIB)}})


def escaped(state: State) -> Iterator[Request]:
    """Yield a stream of values whose JSON text is six times as long as the value."""
    if state.is_first("escaped"):
        for _ in range(40):
            yield post("/v1/streams/escaped/entries", {"fields": {"v": state.text(2 * MIB, "\0")}})


def many_streams(state: State) -> Iterator[Request]:
    """Many streams of one entry each."""
    if state.is_first("many streams"):
        count = state.count(STREAMS)
        for first in range(0, count, PIPELINE_COMMANDS_MAX):
            names = range(first, min(first + PIPELINE_COMMANDS_MAX, count))
            yield post("/v1/command/pipeline", [["XADD", f"s:{name:08}", "*", "f", "v"] for name in names])


def named_streams(state: State) -> list[str]:
    """Return as many names of these streams as a command may have."""
    return [f"s:{name:08}" for name in range(state.count(KEYS_PER_REQUEST_MAX))]


def numbered(name: str, *groups: str) -> Make:
    """Yield a stream with the ids 1-0, 2-0 and so on, which are all pending in each of the groups."""

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        count = state.count(IDS_PER_REQUEST_MAX)
        entries = [{"id": f"{number}-0", "fields": {"f": "v"}} for number in range(1, count + 1)]
        yield post(f"/v1/streams/{name}/entries:batch", {"entries": entries})
        for group in groups:
            yield from delivered(name, group, count)

    return requests


def perforated(name: str, groups: int) -> Make:
    """A stream that is pending in many groups, and of which every other entry was deleted afterwards."""

    def requests(state: State) -> Iterator[Request]:
        if not state.is_first(name):
            return
        part, parts = state.count(IDS_PER_REQUEST_MAX), 4
        numbers = range(1, parts * part + 1)
        for first in range(0, len(numbers), part):
            entries = [{"id": f"{each}-0", "fields": {"f": "v"}} for each in numbers[first : first + part]]
            yield post(f"/v1/streams/{name}/entries:batch", {"entries": entries})
        for group in range(groups):
            yield from delivered(name, f"g{group}", len(numbers))
        for first in range(0, len(numbers), part):
            ids = [f"{each}-0" for each in numbers[first : first + part : 2]]
            yield post(f"/v1/streams/{name}/entries:delete", {"ids": ids})

    return requests


def buried(name: str) -> Make:
    """A stream with as many dead letters of its group `g` as one redrive sends back."""

    def requests(state: State) -> Iterator[Request]:
        if state.is_first(name):
            entries, path = state.count(DEAD_LETTERS_MAX), f"/v1/streams/{name}/groups/g"
            yield from filled(name, entries)
            yield from delivered(name, "g", entries)
            yield post(f"{path}:configure", {"max_deliveries": 1, "dead_letter_stream": f"{name}:dead"})
            yield read_group(name, "g", claim_min_idle_ms=0)

    return requests


def scattered(state: State) -> list[str]:
    """Return the ids of such a stream, in an order that visits every block repeatedly."""
    count = state.count(IDS_PER_REQUEST_MAX)
    step = 7_919
    return [f"{number * step % count + 1}-0" for number in range(count)]


def one_large_entry(state: State) -> Iterator[Request]:
    """Yield a stream with the single entry 1-0 of the greatest allowed size."""
    yield post("/v1/streams/one/entries", {"id": "1-0", "fields": {"v": state.text(15 * MIB)}})
