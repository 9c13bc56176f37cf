"""The largest request of each operation, and the streams that it needs.

It owns bytes and paths. It knows the limits of `core.limits` and no answer. `OPERATIONS_OF_CONSTANT_COST` names
the operations whose cost does not depend on the request or on the size of what they touch.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_BYTES_MAX,
    ENTRY_BYTES_MAX,
    FIELDS_PER_ENTRY_MAX,
    IDS_PER_REQUEST_MAX,
    PIPELINE_COMMANDS_MAX,
    READ_ENTRIES_MAX,
    READ_STREAMS_MAX,
)

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
MIB: Final = 1 << 20
STREAM_ENTRIES: Final = 1_000_000


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
    body = b"".join(map(line_of, range(BATCH_ENTRIES_MAX)))
    for first in range(0, entries, BATCH_ENTRIES_MAX):
        left = min(entries - first, BATCH_ENTRIES_MAX)
        lines = body if left == BATCH_ENTRIES_MAX else b"".join(map(line_of, range(left)))
        yield Request("POST", f"/v1/streams/{key}/entries:import", lines, NDJSON)


def delivered(key: str, group: str, entries: int) -> Iterator[Request]:
    """A group to which all entries of a stream are delivered, and none acknowledged."""
    yield Request("PUT", f"/v1/streams/{key}/groups/{group}", b'{"after":"0"}')
    for _ in range(0, entries, READ_ENTRIES_MAX):
        yield read_group(key, group)


def read_group(key: str, group: str, **options: Any) -> Request:
    """One read of a group."""
    body = {"group": group, "consumer": "alice", "count": 100_000, "streams": [{"key": key}], **options}
    return post("/v1/read-group", body)


def large(name: str, *groups: str) -> Make:
    """A stream of a million entries, all of them pending in each of the groups."""

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
            yield post("/v1/streams/wide/entries", {"fields": {"v": "x" * (15 * MIB)}})


def escaped(state: State) -> Iterator[Request]:
    """A stream of values that JSON writes six times as long."""
    if state.is_first("escaped"):
        for _ in range(40):
            yield post("/v1/streams/escaped/entries", {"fields": {"v": "\0" * (2 * MIB)}})


def many_streams(state: State) -> Iterator[Request]:
    """A hundred thousand streams."""
    if state.is_first("many streams"):
        for first in range(0, state.count(100_000), PIPELINE_COMMANDS_MAX):
            names = range(first, first + PIPELINE_COMMANDS_MAX)
            yield post("/v1/command/pipeline", [["XADD", f"s:{name:08}", "*", "f", "v"] for name in names])


def numbered(name: str, *groups: str) -> Make:
    """A stream whose ids are 1-0 to 100000-0, all of them pending in each of the groups."""

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


# --- cases ---------------------------------------------------------------------------------------------


def _one(make: Callable[[State], Request]) -> Make:
    return lambda state: (make(state),)


def _whole(*requests: Request) -> Make:
    return lambda _state: requests


def _batch(entries: list[dict[str, Any]]) -> Request:
    return post("/v1/streams/batch/entries:batch", {"entries": entries})


def _import(body: bytes, encoding: str | None = None) -> Request:
    return Request("POST", "/v1/streams/import/entries:import", body, NDJSON, encoding)


def _group(name: str, verb: str, content: Any) -> Request:
    return post(f"/v1/streams/{name}/groups/g:{verb}", content)


_READ_SAME = {"streams": [{"key": "many", "after": "0"}] * READ_STREAMS_MAX}

CASES: Final[tuple[Case, ...]] = (
    # appends
    Case(
        "xadd",
        "one value of 15 MiB",
        _one(lambda _: post("/v1/streams/x/entries", {"fields": {"v": "x" * (15 * MIB)}})),
    ),
    Case(
        "xadd",
        "15 MiB of escapes",
        _one(lambda _: post("/v1/streams/x/entries", {"fields": {"v": "\0" * (ENTRY_BYTES_MAX // 6 - 9)}})),
    ),
    Case(
        "xadd",
        "65 536 fields",
        _one(
            lambda _: post(
                "/v1/streams/x/entries", {"fields": {f"f{n}": "v" for n in range(FIELDS_PER_ENTRY_MAX - 1)}}
            )
        ),
    ),
    Case(
        "xadd",
        "65 536 pairs in base64",
        _one(
            lambda _: post(
                "/v1/streams/x/entries",
                {"pairs": [["Zg==", "/w=="]] * (FIELDS_PER_ENTRY_MAX - 1), "encoding": "base64"},
            )
        ),
    ),
    Case(
        "xadd",
        "a body of 64 MiB",
        _one(
            lambda _: Request(
                "POST", "/v1/streams/x/entries", b'{"fields":{"v":"' + b"x" * (BODY_BYTES_MAX - 32) + b'"}}'
            )
        ),
    ),
    Case(
        "xadd_batch",
        "100 000 entries",
        _one(
            lambda _: _batch(
                [{"fields": {"rider": "Castilla", "speed": str(n)}} for n in range(BATCH_ENTRIES_MAX)]
            )
        ),
    ),
    Case(
        "xadd_batch",
        "100 000 entries with ids and other names",
        _one(
            lambda _: _batch(
                [{"id": f"{n + 1}-1", "fields": {f"rider{n}": "Castilla"}} for n in range(BATCH_ENTRIES_MAX)]
            )
        ),
    ),
    Case(
        "xadd_batch",
        "60 MiB in 100 entries",
        _one(lambda _: _batch([{"fields": {"v": "x" * 600_000}}] * 100)),
    ),
    Case(
        "xadd_batch",
        "2 000 000 members",
        _one(lambda _: _batch([{"fields": {f"f{n}": "v" for n in range(17)}}] * 99_000)),
    ),
    Case(
        "xadd_batch",
        "100 000 pairs in base64",
        _one(lambda _: _batch([{"pairs": [["Zg==", "/w=="]], "encoding": "base64"}] * BATCH_ENTRIES_MAX)),
    ),
    Case(
        "import_entries",
        "100 000 entries",
        _one(lambda _: _import(b"".join(map(line_of, range(BATCH_ENTRIES_MAX))))),
    ),
    Case(
        "import_entries",
        "64 MiB in 100 000 entries",
        _one(lambda _: _import((b'{"f":"' + b"x" * 650 + b'"}\n') * 99_000)),
    ),
    Case(
        "import_entries",
        "100 000 entries with other names",
        _one(
            lambda _: _import(b"".join(b'{"f%d":"v","g%d":"w"}\n' % (n, n) for n in range(BATCH_ENTRIES_MAX)))
        ),
    ),
    Case(
        "import_entries",
        "2 000 000 members",
        _one(lambda _: _import((b"{" + b",".join(b'"f%d":"v"' % n for n in range(18)) + b"}\n") * 99_000)),
    ),
    Case(
        "import_entries",
        "100 000 lines, the last one malformed",
        _one(lambda _: _import(b"".join(map(line_of, range(BATCH_ENTRIES_MAX - 1))) + b'{"f":}\n')),
    ),
    Case(
        "import_entries",
        "64 MiB of zeros in gzip",
        _one(lambda _: _import(gzip.compress(b"\0" * BODY_BYTES_MAX), "gzip")),
    ),
    Case(
        "import_entries",
        "100 000 entries in gzip",
        _one(lambda _: _import(gzip.compress(b"".join(map(line_of, range(BATCH_ENTRIES_MAX)))), "gzip")),
    ),
    Case(
        "import_entries",
        "200 000 empty members of gzip",
        _one(lambda _: _import(gzip.compress(b"") * 200_000, "gzip")),
    ),
    Case(
        "import_entries",
        "64 MiB of commas",
        _one(lambda _: _import(b'{"f":' + b"," * (BODY_BYTES_MAX - 64) + b"}")),
    ),
    # ranges
    Case(
        "xrange",
        "100 000 entries",
        _whole(Request("GET", "/v1/streams/many/entries?count=100000")),
        large("many", "g"),
    ),
    Case(
        "xrange",
        "100 000 entries backwards, as pairs, in base64",
        _whole(
            Request("GET", "/v1/streams/many/entries?count=100000&order=desc&shape=pairs&encoding=base64")
        ),
        large("many", "g"),
    ),
    Case("xrange", "entries of 15 MiB", _whole(Request("GET", "/v1/streams/wide/entries")), wide),
    Case("xrange", "escapes", _whole(Request("GET", "/v1/streams/escaped/entries")), escaped),
    Case(
        "export_entries",
        "1 000 000 entries",
        _whole(Request("GET", "/v1/streams/many/entries:export")),
        large("many", "g"),
    ),
    Case(
        "export_entries", "entries of 15 MiB", _whole(Request("GET", "/v1/streams/wide/entries:export")), wide
    ),
    Case("get_entry", "an entry of 15 MiB", _whole(Request("GET", "/v1/streams/wide/entries/%2B")), wide),
    Case(
        "split_entries",
        "10 000 parts",
        _whole(Request("GET", "/v1/streams/many/entries:split?parts=10000")),
        large("many", "g"),
    ),
    Case(
        "seek_entries",
        "far",
        _whole(Request("GET", "/v1/streams/many/entries:seek?count=999999")),
        large("many", "g"),
    ),
    Case("xread", "1 000 times the same stream", _whole(post("/v1/read", _READ_SAME)), large("many", "g")),
    Case(
        "xread",
        "entries of 15 MiB, 1 000 times",
        _whole(post("/v1/read", {"streams": [{"key": "wide", "after": "0"}] * 1000})),
        wide,
    ),
    # deletions
    Case(
        "xdel",
        "100 000 scattered ids",
        _one(lambda s: post("/v1/streams/del/entries:delete", {"ids": scattered(s)})),
        numbered("del", "g", "h"),
    ),
    Case(
        "xdelex",
        "100 000 ids out of two groups",
        _one(
            lambda s: post("/v1/streams/delex/entries:delete", {"ids": scattered(s), "references": "delete"})
        ),
        numbered("delex", "g", "h"),
    ),
    Case(
        "xtrim",
        "1 000 000 entries",
        _whole(post("/v1/streams/trim/entries:trim", {"max_length": 0})),
        large("trim"),
    ),
    Case(
        "xtrim",
        "1 000 000 entries pending in a group, by policy delete",
        _whole(post("/v1/streams/trim-d/entries:trim", {"max_length": 0, "references": "delete"})),
        large("trim-d", "g"),
    ),
    Case(
        "xtrim",
        "1 000 000 entries, acknowledged, none is",
        _whole(post("/v1/streams/trim-a/entries:trim", {"max_length": 0, "references": "acknowledged"})),
        large("trim-a", "g"),
    ),
    Case(
        "delete_stream",
        "1 000 000 entries, all pending",
        _whole(Request("DELETE", "/v1/streams/deleted")),
        large("deleted", "g"),
    ),
    # groups
    Case(
        "xreadgroup",
        "100 000 new entries",
        _whole(read_group("many", "fresh")),
        lambda s: [*large("many", "g")(s), Request("PUT", "/v1/streams/many/groups/fresh", b'{"after":"0"}')],
    ),
    Case(
        "xreadgroup",
        "100 000 claimed",
        _whole(read_group("many", "g", claim_min_idle_ms=0)),
        large("many", "g"),
    ),
    Case(
        "xreadgroup",
        "100 000 of the history",
        _whole(read_group("many", "g", streams=[{"key": "many", "id": "0"}])),
        large("many", "g"),
    ),
    Case(
        "xreadgroup",
        "history of 1 000 times the same stream",
        _whole(read_group("many", "g", streams=[{"key": "many", "id": "0"}] * 1000)),
        large("many", "g"),
    ),
    Case(
        "xack",
        "100 000 scattered ids",
        _one(lambda s: _group("ack", "ack", {"ids": scattered(s)})),
        numbered("ack", "g"),
    ),
    Case(
        "xackdel",
        "100 000 scattered ids",
        _one(lambda s: _group("ackdel", "ack", {"ids": scattered(s), "delete": "delete"})),
        numbered("ackdel", "g", "h"),
    ),
    Case(
        "xnack",
        "100 000 scattered ids",
        _one(lambda s: _group("nack", "nack", {"ids": scattered(s), "mode": "silent"})),
        numbered("nack", "g"),
    ),
    Case(
        "xclaim",
        "100 000 scattered ids",
        _one(lambda s: _group("claim", "claim", {"ids": scattered(s), "consumer": "bob", "min_idle_ms": 0})),
        numbered("claim", "g"),
    ),
    Case(
        "xautoclaim",
        "as many as it gives",
        _whole(
            _group("many", "autoclaim", {"consumer": "bob", "min_idle_ms": 0, "start": "0", "count": 100_000})
        ),
        large("many", "g"),
    ),
    Case(
        "xautoclaim",
        "none idle",
        _whole(
            _group(
                "many", "autoclaim", {"consumer": "bob", "min_idle_ms": 10**9, "start": "0", "count": 100_000}
            )
        ),
        large("many", "g"),
    ),
    Case(
        "xpending",
        "100 000 rows",
        _whole(Request("GET", "/v1/streams/many/groups/g/pending?count=100000")),
        large("many", "g"),
    ),
    Case(
        "xpending",
        "none idle of 1 000 000",
        _whole(Request("GET", "/v1/streams/many/groups/g/pending?count=100000&min_idle_ms=1000000000")),
        large("many", "g"),
    ),
    Case(
        "xpending",
        "of another consumer",
        _whole(Request("GET", "/v1/streams/many/groups/g/pending?count=100000&consumer=bob")),
        large("many", "g"),
    ),
    Case(
        "xpending_summary",
        "1 000 000 pending",
        _whole(Request("GET", "/v1/streams/many/groups/g/pending:summary")),
        large("many", "g"),
    ),
    Case(
        "xinfo_stream",
        "full, everything",
        _whole(Request("GET", "/v1/streams/many?full=true&count=0")),
        large("many", "g"),
    ),
    Case(
        "xgroup_delconsumer",
        "1 000 000 pending",
        _whole(Request("DELETE", "/v1/streams/dc/groups/g/consumers/alice?force=true")),
        large("dc", "g"),
    ),
    Case(
        "xgroup_delconsumer",
        "1 000 000 pending, transferred",
        _whole(Request("DELETE", "/v1/streams/dt/groups/g/consumers/alice?transfer_to=bob")),
        large("dt", "g"),
    ),
    Case(
        "xgroup_destroy",
        "1 000 000 pending",
        _whole(Request("DELETE", "/v1/streams/gd/groups/g")),
        large("gd", "g"),
    ),
    # commands
    Case("command", "KEYS over 100 000 streams", _whole(command("KEYS", "*a*a*a*b")), many_streams),
    Case("command", "KEYS, all of 100 000 streams", _whole(command("KEYS", "*")), many_streams),
    Case("command", "SCAN 0 COUNT 1000000", _whole(command("SCAN", "0", "COUNT", "1000000")), many_streams),
    Case(
        "command",
        "XRANGE of 1 000 000 entries",
        _whole(command("XRANGE", "many", "-", "+")),
        large("many", "g"),
    ),
    Case(
        "command",
        "XREAD of 1 000 000 entries",
        _whole(command("XREAD", "STREAMS", "many", "0")),
        large("many", "g"),
    ),
    Case("command", "XRANGE of entries of 15 MiB", _whole(command("XRANGE", "wide", "-", "+")), wide),
    Case(
        "command",
        "XREADGROUP of 1 000 000 entries",
        _whole(command("XREADGROUP", "GROUP", "cg", "c", "STREAMS", "many", ">")),
        lambda s: [*large("many", "g")(s), Request("PUT", "/v1/streams/many/groups/cg", b'{"after":"0"}')],
    ),
    Case(
        "command",
        "XAUTOCLAIM COUNT 1000000",
        _whole(command("XAUTOCLAIM", "many", "g", "c", "0", "0", "COUNT", "1000000")),
        large("many", "g"),
    ),
    Case(
        "command",
        "XAUTOCLAIM COUNT 1000000 JUSTID",
        _whole(command("XAUTOCLAIM", "many", "g", "c", "0", "0", "COUNT", "1000000", "JUSTID")),
        large("many", "g"),
    ),
    Case(
        "command",
        "XPENDING of 1 000 000 entries",
        _whole(command("XPENDING", "many", "g", "-", "+", "1000000")),
        large("many", "g"),
    ),
    Case(
        "command",
        "XINFO STREAM FULL COUNT 0",
        _whole(command("XINFO", "STREAM", "many", "FULL", "COUNT", "0")),
        large("many", "g"),
    ),
    Case("command", "XADD with 65 000 fields", _whole(command("XADD", "cx", "*", *["f", "v"] * 65_000))),
    Case(
        "command",
        "XDEL with 262 000 ids",
        _one(lambda s: command("XDEL", "cdel", *scattered(s))),
        numbered("cdel", "g"),
    ),
    Case(
        "command",
        "XTRIM ~ LIMIT 0 of 1 000 000",
        _whole(command("XTRIM", "ctrim", "MAXLEN", "~", "0", "LIMIT", "0")),
        large("ctrim", "g"),
    ),
    Case(
        "command",
        "RENAME over 1 000 000 entries",
        _whole(command("RENAME", "crs", "crd")),
        lambda s: [*large("crd", "g")(s), *filled("crs", 10)],
    ),
    Case("command", "an unknown command of 262 000 words", _whole(command("WHAT", *["x"] * 262_000))),
    Case(
        "pipeline",
        "10 000 XADD",
        _whole(post("/v1/command/pipeline", [["XADD", "p", "*", "f", "v"]] * PIPELINE_COMMANDS_MAX)),
    ),
    Case(
        "pipeline",
        "40 XRANGE of entries of 15 MiB",
        _whole(post("/v1/command/pipeline", [["XRANGE", "wide", "-", "+"]] * 40)),
        wide,
    ),
    Case(
        "pipeline",
        "10 000 XRANGE COUNT 100",
        _whole(
            post(
                "/v1/command/pipeline", [["XRANGE", "many", "-", "+", "COUNT", "100"]] * PIPELINE_COMMANDS_MAX
            )
        ),
        large("many", "g"),
    ),
    Case(
        "pipeline",
        "10 000 XINFO STREAM FULL",
        _whole(post("/v1/command/pipeline", [["XINFO", "STREAM", "many", "FULL"]] * PIPELINE_COMMANDS_MAX)),
        large("many", "g"),
    ),
    Case(
        "pipeline",
        "10 000 XPENDING that find none",
        _whole(
            post(
                "/v1/command/pipeline",
                [["XPENDING", "many", "g", "IDLE", "1000000000", "-", "+", "10"]] * 100,
            )
        ),
        large("many", "g"),
    ),
    Case(
        "transaction",
        "10 000 XADD",
        _whole(post("/v1/command/multi-exec", [["XADD", "p", "*", "f", "v"]] * PIPELINE_COMMANDS_MAX)),
    ),
    Case(
        "transaction",
        "40 XRANGE of entries of 15 MiB",
        _whole(post("/v1/command/multi-exec", [["XRANGE", "wide", "-", "+"]] * 40)),
        wide,
    ),
    Case(
        "transaction",
        "10 000 XRANGE COUNT 100",
        _whole(
            post(
                "/v1/command/multi-exec",
                [["XRANGE", "many", "-", "+", "COUNT", "100"]] * PIPELINE_COMMANDS_MAX,
            )
        ),
        large("many", "g"),
    ),
    # service
    Case(
        "list_streams", "10 000 of 100 000", _whole(Request("GET", "/v1/streams?limit=10000")), many_streams
    ),
    Case("metrics", "100 000 streams", _whole(Request("GET", "/metrics")), many_streams),
    Case("openapi", "the document", _whole(Request("GET", "/openapi.json"))),
    Case("command", "FLUSHALL", _whole(command("FLUSHALL")), many_streams),
)
