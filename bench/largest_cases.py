"""The largest request of each operation.

It knows the limits of `core.limits` and no answer. `CHEAP` names the operations whose cost depends neither on
the request nor on the size of what they touch.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from typing import Any, Final

from bench.largest_streams import (
    MIB,
    NDJSON,
    Case,
    Make,
    Request,
    State,
    command,
    escaped,
    large,
    line_of,
    many_streams,
    named_streams,
    numbered,
    one_large_entry,
    post,
    read_group,
    scattered,
    wide,
)
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_BYTES_MAX,
    COMMAND_ARGUMENTS_MAX,
    ENTRY_BYTES_MAX,
    FIELDS_PER_ENTRY_MAX,
    KIB,
    PIPELINE_COMMANDS_MAX,
    READ_STREAMS_MAX,
    TRANSACTION_COMMANDS_MAX,
)

CHEAP: Final = frozenset(
    {
        *("create_stream", "head_stream", "xlen", "xsetid", "xcfgset", "delete_entry"),
        *("xinfo_group", "xgroup_create", "xgroup_setid", "xgroup_createconsumer"),
        *("create_ticket", "get_limits", "slow_log", "clear_slow_log", "healthz", "readyz", "problem_page"),
    }
)
"""Operations on one name each. Tails send a page at a time, as `xread` does."""

Body = Callable[[State], Any]


def _append(title: str, entry: Body) -> Case:
    return Case("xadd", title, lambda state: [post("/v1/streams/x/entries", entry(state))])


def _batch(title: str, entries: Callable[[State], list[dict[str, Any]]]) -> Case:
    path = "/v1/streams/batch/entries:batch"
    return Case("xadd_batch", title, lambda state: [post(path, {"entries": entries(state)})])


def _import(title: str, body: Callable[[State], bytes], encoding: str | None = None) -> Case:
    path = "/v1/streams/import/entries:import"
    return Case("import_entries", title, lambda state: [Request("POST", path, body(state), NDJSON, encoding)])


def _get(operation: str, title: str, path: str, prepare: Make) -> Case:
    return Case(operation, title, lambda _: [Request("GET", path)], prepare)


def _post(operation: str, title: str, path: str, body: Body, prepare: Make) -> Case:
    return Case(operation, title, lambda state: [post(path, body(state))], prepare)


def _command(title: str, prepare: Make, line: str) -> Case:
    return Case("command", title, lambda _: [command(*line.split())], prepare)


def _commands(operation: str, title: str, count: int, line: str, prepare: Make) -> Case:
    path = "/v1/command/pipeline" if operation == "pipeline" else "/v1/command/multi-exec"
    return Case(operation, title, lambda state: [post(path, [line.split()] * state.count(count))], prepare)


def _lines(state: State, most: int = BATCH_ENTRIES_MAX) -> bytes:
    return b"".join(map(line_of, range(state.count(most))))


def _other_names(state: State) -> bytes:
    return b"".join(b'{"f%d":"v","g%d":"w"}\n' % (n, n) for n in range(state.count(BATCH_ENTRIES_MAX)))


def _many_members(state: State) -> bytes:
    line = b"{" + b",".join(b'"f%d":"v"' % n for n in range(18)) + b"}\n"
    return line * state.count(99_000)


def _large_adds(state: State, count: int, size_bytes: int) -> list[list[str]]:
    return [["XADD", "large", "*", "v", "x" * size_bytes]] * state.count(count)


def _acks(state: State, count: int) -> list[list[str]]:
    return [["XACK", "many", "g", *scattered(state)]] * count


def _with_group(prepare: Make, key: str, group: str) -> Make:
    def requests(state: State) -> Iterator[Request]:
        yield from prepare(state)
        yield Request("PUT", f"/v1/streams/{key}/groups/{group}", b'{"after":"0"}')

    return requests


_MANY: Final = large("many", "g")
_NOTHING: Final[Make] = lambda _state: ()  # noqa: E731 - a value like the others
_ENTRIES: Final = "/v1/streams/many/entries"
_PENDING: Final = "/v1/streams/many/groups/g/pending?count=100000"
_SAME: Final = {"streams": [{"key": "many", "after": "0"}] * READ_STREAMS_MAX}

APPENDS: Final = (
    _append("one value of 15 MiB", lambda s: {"fields": {"v": s.text(15 * MIB)}}),
    _append("escapes", lambda s: {"fields": {"v": s.text(ENTRY_BYTES_MAX // 6 - 9, "\0")}}),
    _append("fields", lambda s: {"fields": {f"f{n}": "v" for n in range(s.count(FIELDS_PER_ENTRY_MAX - 1))}}),
    _append(
        "pairs in base64",
        lambda s: {"pairs": [["Zg==", "/w=="]] * s.count(FIELDS_PER_ENTRY_MAX - 1), "encoding": "base64"},
    ),
    _append("a body of 64 MiB, refused", lambda s: {"fields": {"v": s.text(BODY_BYTES_MAX - 32)}}),
    _batch(
        "entries",
        lambda s: [{"fields": {"rider": "Castilla", "n": str(n)}} for n in range(s.count(BATCH_ENTRIES_MAX))],
    ),
    _batch(
        "entries with ids and other names",
        lambda s: [{"id": f"{n + 1}-1", "fields": {f"f{n}": "v"}} for n in range(s.count(BATCH_ENTRIES_MAX))],
    ),
    _batch("60 MiB in 100 entries", lambda s: [{"fields": {"v": s.text(600_000)}}] * 100),
    _batch("members", lambda s: [{"fields": {f"f{n}": "v" for n in range(17)}}] * s.count(99_000)),
    _batch(
        "pairs in base64",
        lambda s: [{"pairs": [["Zg==", "/w=="]], "encoding": "base64"}] * s.count(BATCH_ENTRIES_MAX),
    ),
    _import("entries", _lines),
    _import("64 MiB", lambda s: (b'{"f":"' + b"x" * 650 + b'"}\n') * s.count(99_000)),
    _import("64 MiB, entries of 4 KiB", lambda s: (b'{"f":"' + b"x" * 4_080 + b'"}\n') * s.count(16_000)),
    _import("other names", _other_names),
    _import("members", _many_members),
    _import("the last line malformed", lambda s: _lines(s, BATCH_ENTRIES_MAX - 1) + b'{"f":}\n'),
    _import("zeros in gzip", lambda s: gzip.compress(b"\0" * s.count(BODY_BYTES_MAX)), "gzip"),
    _import("entries in gzip", lambda s: gzip.compress(_lines(s)), "gzip"),
    _import("empty members of gzip", lambda s: gzip.compress(b"") * s.count(200_000), "gzip"),
    _import("commas", lambda s: b'{"f":' + b"," * s.count(BODY_BYTES_MAX - 64) + b"}"),
)

READS: Final = (
    _get("xrange", "100 000 entries", f"{_ENTRIES}?count=100000", _MANY),
    _get(
        "xrange",
        "backwards, as pairs, in base64",
        f"{_ENTRIES}?count=100000&order=desc&shape=pairs&encoding=base64",
        _MANY,
    ),
    _get("xrange", "entries of 15 MiB", "/v1/streams/wide/entries", wide),
    _get("xrange", "escapes", "/v1/streams/escaped/entries", escaped),
    _get("export_entries", "1 000 000 entries", f"{_ENTRIES}:export", _MANY),
    _get("export_entries", "entries of 15 MiB", "/v1/streams/wide/entries:export", wide),
    _get("get_entry", "one value of 15 MiB", "/v1/streams/one/entries/1-0", one_large_entry),
    _get("split_entries", "most parts", f"{_ENTRIES}:split?parts=10000", _MANY),
    _get("seek_entries", "far", f"{_ENTRIES}:seek?count=999999", _MANY),
    _post("xread", "1 000 times the same stream", "/v1/read", lambda _: _SAME, _MANY),
    _post(
        "xread",
        "entries of 15 MiB, 1 000 times",
        "/v1/read",
        lambda _: {"streams": [{"key": "wide", "after": "0"}] * READ_STREAMS_MAX},
        wide,
    ),
    _get("list_streams", "10 000 of 100 000", "/v1/streams?limit=10000", many_streams),
    _get("xinfo_stream", "full", "/v1/streams/many?full=true&count=1000", _MANY),
    _get("metrics", "100 000 streams", "/metrics", many_streams),
    _get("openapi", "the document", "/openapi.json", _NOTHING),
)


def _ids(operation: str, name: str, path: str, **options: Any) -> Case:
    """As many ids as a request may name, in an order that visits every block again and again."""
    return _post(
        operation,
        f"scattered ids, {name}",
        path.format(key=name),
        lambda s: {"ids": scattered(s), **options},
        numbered(name, "g", "h"),
    )


DELETIONS: Final = (
    _ids("xdel", "del", "/v1/streams/{key}/entries:delete"),
    _ids("xdelex", "delex", "/v1/streams/{key}/entries:delete", references="delete"),
    _post("xtrim", "all", "/v1/streams/trim/entries:trim", lambda _: {"max_length": 0}, large("trim")),
    _post(
        "xtrim",
        "all, pending, by policy delete",
        "/v1/streams/trim-d/entries:trim",
        lambda _: {"max_length": 0, "references": "delete"},
        large("trim-d", "g"),
    ),
    _post(
        "xtrim",
        "none is acknowledged",
        "/v1/streams/trim-a/entries:trim",
        lambda _: {"max_length": 0, "references": "acknowledged"},
        large("trim-a", "g"),
    ),
    Case(
        "delete_stream",
        "all pending",
        lambda _: [Request("DELETE", "/v1/streams/deleted")],
        large("deleted", "g"),
    ),
)

GROUPS: Final = (
    Case(
        "xreadgroup",
        "new entries",
        lambda _: [read_group("many", "fresh")],
        _with_group(_MANY, "many", "fresh"),
    ),
    Case("xreadgroup", "claimed", lambda _: [read_group("many", "g", claim_min_idle_ms=0)], _MANY),
    Case(
        "xreadgroup",
        "history",
        lambda _: [read_group("many", "g", streams=[{"key": "many", "id": "0"}])],
        _MANY,
    ),
    Case(
        "xreadgroup",
        "history of 1 000 times the same stream",
        lambda _: [read_group("many", "g", streams=[{"key": "many", "id": "0"}] * READ_STREAMS_MAX)],
        _MANY,
    ),
    _ids("xack", "ack", "/v1/streams/{key}/groups/g:ack"),
    _ids("xackdel", "ackdel", "/v1/streams/{key}/groups/g:ack", delete=True, references="delete"),
    _ids("xnack", "nack", "/v1/streams/{key}/groups/g:nack", mode="silent"),
    _ids("xclaim", "claim", "/v1/streams/{key}/groups/g:claim", consumer="bob", min_idle_ms=0),
    _post(
        "xautoclaim",
        "as many as it gives",
        "/v1/streams/many/groups/g:autoclaim",
        lambda _: {"consumer": "bob", "min_idle_ms": 0, "start": "0", "count": 100_000},
        _MANY,
    ),
    _post(
        "xautoclaim",
        "none idle",
        "/v1/streams/many/groups/g:autoclaim",
        lambda _: {"consumer": "bob", "min_idle_ms": 10**9, "start": "0", "count": 100_000},
        _MANY,
    ),
    _get("xpending", "rows", _PENDING, _MANY),
    _get("xpending", "none idle", f"{_PENDING}&min_idle_ms=1000000000", _MANY),
    _get("xpending", "of another consumer", f"{_PENDING}&consumer=bob", _MANY),
    _get("xpending_summary", "all pending", "/v1/streams/many/groups/g/pending:summary", _MANY),
    _get("xinfo_groups", "all pending", "/v1/streams/many/groups", _MANY),
    _get("xinfo_consumers", "all pending", "/v1/streams/many/groups/g/consumers", _MANY),
    Case(
        "xgroup_delconsumer",
        "all pending",
        lambda _: [Request("DELETE", "/v1/streams/dc/groups/g/consumers/alice?force=true")],
        large("dc", "g"),
    ),
    Case(
        "xgroup_delconsumer",
        "transferred",
        lambda _: [Request("DELETE", "/v1/streams/dt/groups/g/consumers/alice?transfer_to=bob")],
        large("dt", "g"),
    ),
    Case(
        "xgroup_destroy",
        "all pending",
        lambda _: [Request("DELETE", "/v1/streams/gd/groups/g")],
        large("gd", "g"),
    ),
)

COMMANDS: Final = (
    _command("KEYS that match none", many_streams, "KEYS *a*a*a*b"),
    _command("KEYS *", many_streams, "KEYS *"),
    _command("SCAN 0 COUNT 1000000", many_streams, "SCAN 0 COUNT 1000000"),
    _command("XRANGE of all", _MANY, "XRANGE many - +"),
    _command("XREAD of all", _MANY, "XREAD STREAMS many 0"),
    _command("XRANGE of entries of 15 MiB", wide, "XRANGE wide - +"),
    _command("XREADGROUP of all", _with_group(_MANY, "many", "cg"), "XREADGROUP GROUP cg c STREAMS many >"),
    _command("XAUTOCLAIM COUNT 1000000", _MANY, "XAUTOCLAIM many g c 0 0 COUNT 1000000"),
    _command("XAUTOCLAIM JUSTID", _MANY, "XAUTOCLAIM many g c 0 0 COUNT 1000000 JUSTID"),
    _command("XPENDING of all", _MANY, "XPENDING many g - + 1000000"),
    _command("XINFO STREAM FULL COUNT 0", _MANY, "XINFO STREAM many FULL COUNT 0"),
    _command("COPY of all", _MANY, "COPY many copied"),
    Case("command", "XADD, fields", lambda s: [command("XADD", "cx", "*", *["f", "v"] * s.count(65_000))]),
    Case("command", "XDEL, ids", lambda s: [command("XDEL", "cdel", *scattered(s))], numbered("cdel", "g")),
    _command("XTRIM ~ LIMIT 0", large("ctrim", "g"), "XTRIM ctrim MAXLEN ~ 0 LIMIT 0"),
    Case("command", "words", lambda s: [command("WHAT", *["x"] * s.count(COMMAND_ARGUMENTS_MAX - 2))]),
    Case("command", "XADD, 15 MiB", lambda s: [command("XADD", "cv", "*", "v", s.text(15 * MIB))]),
    _commands("pipeline", "XADD", PIPELINE_COMMANDS_MAX, "XADD p * f v", _NOTHING),
    Case("pipeline", "XADD of 1 MiB", lambda s: [post("/v1/command/pipeline", _large_adds(s, 60, MIB))]),
    _commands("pipeline", "XRANGE of 15 MiB entries", 40, "XRANGE wide - +", wide),
    _commands("pipeline", "XRANGE", PIPELINE_COMMANDS_MAX, "XRANGE many - + COUNT 100", _MANY),
    _commands("pipeline", "XINFO FULL", PIPELINE_COMMANDS_MAX, "XINFO STREAM many FULL", _MANY),
    _commands("transaction", "XADD", TRANSACTION_COMMANDS_MAX, "XADD p * f v", _NOTHING),
    Case(
        "transaction",
        "XADD of 30 KiB",
        lambda s: [post("/v1/command/multi-exec", _large_adds(s, TRANSACTION_COMMANDS_MAX, 30 * KIB))],
    ),
    _commands("transaction", "XRANGE of 15 MiB entries", 40, "XRANGE wide - +", wide),
    _commands("transaction", "XRANGE", TRANSACTION_COMMANDS_MAX, "XRANGE many - + COUNT 100", _MANY),
    Case("pipeline", "XACK of ids", lambda s: [post("/v1/command/pipeline", _acks(s, 20))], _MANY),
    Case("transaction", "XACK of ids", lambda s: [post("/v1/command/multi-exec", _acks(s, 1))], _MANY),
    Case(
        "transaction", "XACK of ids, refused", lambda s: [post("/v1/command/multi-exec", _acks(s, 20))], _MANY
    ),
    Case("command", "EXISTS", lambda s: [command("EXISTS", *named_streams(s))], many_streams),
    Case("command", "DEL", lambda s: [command("DEL", *named_streams(s))], many_streams),
    _command("FLUSHALL", many_streams, "FLUSHALL"),
)

CASES: Final = (*APPENDS, *READS, *DELETIONS, *GROUPS, *COMMANDS)
