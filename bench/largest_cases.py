"""The largest request of each operation.

Owns the requests. `CHEAP`: the operations whose cost does not grow with the request or the data.
"""

from __future__ import annotations

from typing import Final

from bench.largest_appends import APPENDS
from bench.largest_claims import CLAIMS
from bench.largest_commands import COMMANDS
from bench.largest_forms import (
    get_case,
    ids_case,
    post_case,
    with_group,
)
from bench.largest_hashes import HASHES
from bench.largest_options import OPTIONS
from bench.largest_streams import (
    Case,
    Make,
    Request,
    alone,
    buried,
    escaped,
    large,
    many_streams,
    one_large_entry,
    perforated,
    read_group,
    wide,
)
from tailrace.core.limits import (
    DEAD_LETTERS_MAX,
    READ_STREAMS_MAX,
)

CHEAP: Final = frozenset(
    {
        *("create_stream", "head_stream", "get_producer", "take_over_epoch", "check_import"),
        *("xlen", "xsetid", "xcfgset", "delete_entry", "list_scheduled", "cancel_scheduled"),
        *("xinfo_group", "xgroup_create", "xgroup_setid", "xgroup_createconsumer"),
        "configure_group",
        *("create_ticket", "show_access", "get_limits", "show_server", "slow_log", "clear_slow_log"),
        *("healthz", "readyz", "problem_page"),
    }
)
"""Operations on one name each. A tail sends one page at a time, as `xread` does, and a check reads its body
as an import does."""


_MANY: Final = large("many", "g")
_NOTHING: Final[Make] = lambda _state: ()  # noqa: E731 - a value like the others
_ENTRIES: Final = "/v1/streams/many/entries"
_PENDING: Final = "/v1/streams/many/groups/g/pending?count=100000"
_SAME: Final = {"streams": [{"key": "many", "after": "0"}] * READ_STREAMS_MAX}

READS: Final = (
    get_case("xrange", "100 000 entries", f"{_ENTRIES}?count=100000", _MANY),
    get_case(
        "xrange",
        "backwards, as pairs, in base64",
        f"{_ENTRIES}?count=100000&order=desc&shape=pairs&encoding=base64",
        _MANY,
    ),
    get_case("xrange", "entries of 15 MiB", "/v1/streams/wide/entries", wide),
    get_case("xrange", "escapes", "/v1/streams/escaped/entries", escaped),
    get_case("export_entries", "1 000 000 entries", f"{_ENTRIES}:export", _MANY),
    get_case("export_entries", "entries of 15 MiB", "/v1/streams/wide/entries:export", wide),
    get_case("get_entry", "one value of 15 MiB", "/v1/streams/one/entries/1-0", one_large_entry),
    get_case("split_entries", "most parts", f"{_ENTRIES}:split?parts=10000", _MANY),
    get_case("seek_entries", "far", f"{_ENTRIES}:seek?count=999999", _MANY),
    post_case("xread", "1 000 times the same stream", "/v1/read", lambda _: _SAME, _MANY),
    post_case(
        "xread",
        "entries of 15 MiB, 1 000 times",
        "/v1/read",
        lambda _: {"streams": [{"key": "wide", "after": "0"}] * READ_STREAMS_MAX},
        wide,
    ),
    get_case("list_streams", "10 000 of 100 000", "/v1/streams?limit=10000", many_streams),
    get_case("xinfo_stream", "full", "/v1/streams/many?full=true&count=1000", _MANY),
    get_case("metrics", "100 000 streams", "/metrics", many_streams),
    get_case("openapi", "the document", "/openapi.json", _NOTHING),
)


DELETIONS: Final = (
    ids_case("xdel", "del", "/v1/streams/{key}/entries:delete"),
    ids_case("xdelex", "delex", "/v1/streams/{key}/entries:delete", references="delete"),
    post_case("xtrim", "all", "/v1/streams/trim/entries:trim", lambda _: {"max_length": 0}, large("trim")),
    post_case(
        "xtrim",
        "all, pending, by policy delete",
        "/v1/streams/trim-d/entries:trim",
        lambda _: {"max_length": 0, "references": "delete"},
        large("trim-d", "g"),
    ),
    post_case(
        "xtrim",
        "between deleted entries, 20 groups, by policy delete",
        "/v1/streams/trim-h/entries:trim",
        lambda _: {"max_length": 0, "references": "delete"},
        perforated("trim-h", 20),
    ),
    post_case(
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
        with_group(_MANY, "many", "fresh"),
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
    ids_case("xack", "ack", "/v1/streams/{key}/groups/g:ack"),
    ids_case("xackdel", "ackdel", "/v1/streams/{key}/groups/g:ack", delete=True, references="delete"),
    ids_case("xnack", "nack", "/v1/streams/{key}/groups/g:nack", mode="silent"),
    ids_case("xclaim", "claim", "/v1/streams/{key}/groups/g:claim", consumer="bob", min_idle_ms=0),
    ids_case("extend", "extend", "/v1/streams/{key}/groups/g:extend", consumer="alice"),
    post_case(
        "xautoclaim",
        "as many as it gives",
        "/v1/streams/many/groups/g:autoclaim",
        lambda _: {"consumer": "bob", "min_idle_ms": 0, "start": "0", "count": 100_000},
        _MANY,
    ),
    post_case(
        "xautoclaim",
        "none idle",
        "/v1/streams/many/groups/g:autoclaim",
        lambda _: {"consumer": "bob", "min_idle_ms": 10**9, "start": "0", "count": 100_000},
        _MANY,
    ),
    get_case("xpending", "rows", _PENDING, _MANY),
    get_case("xpending", "none idle", f"{_PENDING}&min_idle_ms=1000000000", _MANY),
    get_case(
        "xpending",
        "none idle, delivered alone",
        "/v1/streams/alone/groups/g/pending?count=100000&min_idle_ms=1000000000",
        alone("alone"),
    ),
    get_case("xpending", "of another consumer", f"{_PENDING}&consumer=bob", _MANY),
    get_case("xpending_summary", "all pending", "/v1/streams/many/groups/g/pending:summary", _MANY),
    get_case("xinfo_groups", "all pending", "/v1/streams/many/groups", _MANY),
    get_case("xinfo_consumers", "all pending", "/v1/streams/many/groups/g/consumers", _MANY),
    Case(
        "xgroup_delconsumer",
        "all pending",
        lambda _: [Request("DELETE", "/v1/streams/dc/groups/g/consumers/alice?force=true")],
        large("dc", "g"),
    ),
    Case(
        "xreadgroup",
        "claimed among deleted entries, delivered alone",
        lambda _: [read_group("alone-d", "g", claim_min_idle_ms=0)],
        alone("alone-d", deleted=True),
    ),
    Case(
        "xgroup_delconsumer",
        "delivered alone",
        lambda _: [Request("DELETE", "/v1/streams/alone/groups/g/consumers/alice?force=true")],
        alone("alone"),
    ),
    Case(
        "xgroup_delconsumer",
        "transferred",
        lambda _: [Request("DELETE", "/v1/streams/dt/groups/g/consumers/alice?transfer_to=bob")],
        large("dt", "g"),
    ),
    post_case(
        "redrive",
        "most dead letters",
        "/v1/streams/rd/groups/g:redrive",
        lambda _: {"limit": DEAD_LETTERS_MAX},
        buried("rd"),
    ),
    Case(
        "xgroup_destroy",
        "all pending",
        lambda _: [Request("DELETE", "/v1/streams/gd/groups/g")],
        large("gd", "g"),
    ),
)

CASES: Final = (*APPENDS, *READS, *OPTIONS, *DELETIONS, *GROUPS, *CLAIMS, *COMMANDS, *HASHES)
