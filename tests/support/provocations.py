"""Requests that fail: one for each problem code that the document lists for an operation.

Owns a request for every code that can be provoked in this process, derived from the operation's example
request and the example state of `tests.support.api_client`. Codes of a server at its limits are provoked
elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import httpx

from tailrace.api.schemas.scheduled import SCHEDULED_ID_EXAMPLE
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_BYTES_MAX,
    BODY_ELEMENTS_MAX,
    DELAY_MS_MAX,
    ENTRY_BYTES_MAX,
    PIPELINE_COMMANDS_MAX,
    TRANSACTION_COMMANDS_MAX,
)
from tailrace.core.stream_id import MAX_ID, format_id
from tests.support.api_client import FIRST, ApiClient
from tests.support.documented import Operation
from tests.support.preparations import (
    begin_epoch,
    bury_entry_and_exhaust_ids,
    close_store,
    crowd_pending,
    fill_epoch,
    remove_keyspace,
    trim_race,
)

ELSEWHERE: Final = frozenset(
    {
        *("HEAD_TOO_LARGE", "MEMORY_LIMIT", "RATE_LIMITED", "REQUEST_TIMEOUT", "TOO_MANY_OPEN"),
        *("REPLY_TOO_LARGE", "TOO_MANY_READERS", "URL_TOO_LONG"),
        *("CROSSSLOT", "ENGINE_LACKS_FEATURE", "WRONGTYPE"),
        *("HOST_NOT_ALLOWED", "NOPERM", "ORIGIN_NOT_ALLOWED", "UNAUTHENTICATED"),
    }
)
"""Codes of a server at its limits, with tokens, or in front of Redis; the tests of these codes start a
server."""

WITHOUT_ENGINE: Final = frozenset(
    {
        "clear_slow_log",
        "create_ticket",
        "get_limits",
        "healthz",
        "problem_page",
        "readyz",
        "show_access",
        "show_server",
        "slow_log",
    }
)
"""Operations without arguments that a test could make invalid."""


class Provocation(NamedTuple):
    """The difference between the request and the operation's example, and the requests before it."""

    body: Any = None
    """Replaces the example's body; bytes are sent unchanged, any other value as JSON."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    path: tuple[str, str] = ("", "")
    """A part of the example's path, and its replacement."""
    prepare: Callable[[ApiClient], object] = lambda _: None
    before: tuple[Provocation, ...] = ()
    """Requests to the same operation that succeed first."""

    def sent(self, api: ApiClient, operation: Operation) -> httpx.Response:
        """Send the request, and return the response."""
        self.prepare(api)
        for earlier in self.before:
            assert earlier.sent(api, operation).is_success
        request = operation.example_request(self.query)
        assert self.path[0] in request.path
        changed = request._replace(
            path=request.path.replace(*self.path) if self.path[0] else request.path,
            headers={**request.headers, **self.headers},
            content=request.content if self.body is None else _encoded(self.body),
        )
        return api.request(changed.method, changed.path, **changed.options)


def refused(api: ApiClient, operation: Operation, code: str) -> httpx.Response:
    """Return the response to the request that provokes `code`."""
    return SPECIAL.get((operation.name, code), GENERAL.get(code, Provocation())).sent(api, operation)


def _encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


BAD_ID: Final = "1-2-3"
LAST_POSSIBLE_ID: Final = format_id(MAX_ID)
ABOVE_ALL: Final = f"({LAST_POSSIBLE_ID}"
ANOTHER: Final = {"rider": "Wood"}
TOO_LARGE: Final = {"speed": "9" * ENTRY_BYTES_MAX}

GENERAL: Final = {
    "BODY_MISMATCH": Provocation(body={"speed": 30.2}),
    "BODY_TOO_LARGE": Provocation(headers={"Content-Length": str(BODY_BYTES_MAX + 1)}),
    "INTERNAL": Provocation(prepare=remove_keyspace),
    "INVALID_ARGUMENT": Provocation(query={"start": ABOVE_ALL}),
    "INVALID_FILTER": Provocation(query={"filter": 'fields.status = "failed"'}),
    "INVALID_ID": Provocation(query={"start": BAD_ID}),
    "INVALID_NAME": Provocation(path=("race%3Afrance", "x" * 513)),
    "INVALID_PARAMETER": Provocation(query={"cuont": "10"}),
    "LIMIT_EXCEEDED": Provocation(body=b'{"many":[' + b"0," * BODY_ELEMENTS_MAX + b"0]}"),
    "MALFORMED_BODY": Provocation(body=b'{"fields": '),
    "NOGROUP": Provocation(path=("judges", "nobody")),
    "NOT_ACCEPTABLE": Provocation(headers={"Accept": "image/png"}),
    "NOT_ACCEPTING": Provocation(prepare=close_store),
    "NOT_FOUND": Provocation(path=("id-not-greater", "nothing")),
    "NO_SUCH_ENTRY": Provocation(path=(FIRST, "1-0")),
    "NO_SUCH_STREAM": Provocation(path=("race%3Afrance", "race:spain")),
    "TOKEN_IN_URL": Provocation(query={"token": "tlr_secret"}),
    "UNSUPPORTED_MEDIA_TYPE": Provocation(headers={"Content-Type": "text/plain"}),
}
"""Requests that are the same for all operations. The unchanged example provokes each code that is missing
here.
"""


def _keyed(key: str, **producer: str) -> dict[str, str]:
    named = {f"Producer-{name.title()}": value for name, value in producer.items()}
    return {"Idempotency-Key": key, "Producer-Id": "timing-gate-1", **named}


def _appends(body_of: Callable[[dict[str, Any]], Any], query: Mapping[str, str]) -> dict[str, Provocation]:
    """Return the provocations that all appends share; `body_of` makes the body that holds one entry."""
    own_id = body_of({"fields": ANOTHER, "id": LAST_POSSIBLE_ID})
    other = body_of({"fields": ANOTHER})
    return {
        "ENTRY_TOO_LARGE": Provocation(body_of({"fields": TOO_LARGE}), query),
        "IDEMPOTENCY_MISMATCH": Provocation(
            other,
            query,
            _keyed("1"),
            before=(Provocation(body_of({"fields": {"a": "b"}}), query, _keyed("1")),),
        ),
        "ID_EXHAUSTED": Provocation(other, query, before=(Provocation(own_id, query),)),
        "ID_NOT_GREATER": Provocation(body_of({"fields": ANOTHER, "id": FIRST}), query),
        "INVALID_ARGUMENT": Provocation(own_id, query, _keyed("1")),
        "INVALID_ID": Provocation(body_of({"fields": ANOTHER, "id": BAD_ID}), query),
        "LAYOUT_CHANGED": Provocation(
            headers=_keyed("2", epoch="1", layout="8 partitions"),
            before=(Provocation(headers=_keyed("1", epoch="1", layout="4 partitions")),),
        ),
        "STALE_EPOCH": Provocation(
            headers=_keyed("2", epoch="1"), before=(Provocation(headers=_keyed("1", epoch="2")),)
        ),
    }


def _checks() -> dict[str, Provocation]:
    """Checks of an import that fail, of a producer whose epoch has begun."""
    entry, own_id = {"shape": "entry"}, _alone({"fields": ANOTHER, "id": LAST_POSSIBLE_ID})
    return {
        "ENTRY_TOO_LARGE": Provocation(_alone({"fields": TOO_LARGE}), entry),
        "IDEMPOTENCY_MISMATCH": Provocation(headers=_keyed("1", epoch="1"), prepare=begin_epoch),
        "INVALID_ARGUMENT": Provocation(own_id, entry, _keyed("1")),
        "INVALID_ID": Provocation(_alone({"fields": ANOTHER, "id": BAD_ID}), entry),
        "LAYOUT_CHANGED": Provocation(headers=_keyed("2", epoch="1", layout="8"), prepare=begin_epoch),
        "LIMIT_EXCEEDED": Provocation(b'{"a":"b"}\n' * (BATCH_ENTRIES_MAX + 1)),
        "STALE_EPOCH": Provocation(headers=_keyed("2", epoch="0"), prepare=begin_epoch),
    }


_OLD_EPOCH: Final = {"epoch": 0, "replaces": "4 partitions", "layout": "8 partitions", "keys": 1}


def _of(operation: str, provocations: Mapping[str, Provocation]) -> dict[tuple[str, str], Provocation]:
    return {(operation, code): provocation for code, provocation in provocations.items()}


def _alone(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as a whole body, which is also one line of NDJSON."""
    return entry


def _in_a_batch(*entries: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"entries": entries, **members}


def _claim(**members: Any) -> Provocation:
    return Provocation({"consumer": "bob", "min_idle_ms": 0, **members})


def _commands(**words: list[Any]) -> dict[str, Provocation]:
    return {code: Provocation(body=command) for code, command in words.items()}


_BAD_IDS: Final[Mapping[str, Any]] = {
    "xack": {"ids": [BAD_ID]},
    "xautoclaim": {"consumer": "bob", "min_idle_ms": 0, "start": BAD_ID},
    "xclaim": {"consumer": "bob", "min_idle_ms": 0, "ids": [BAD_ID]},
    "xdel": {"ids": [BAD_ID]},
    "xgroup_create": {"after": BAD_ID},
    "xgroup_setid": {"after": BAD_ID},
    "xnack": {"ids": [BAD_ID]},
    "xread": {"streams": [{"key": "race:france", "after": BAD_ID}]},
    "xreadgroup": {"group": "judges", "consumer": "bob", "streams": [{"key": "race:france", "id": BAD_ID}]},
    "xsetid": {"last_id": BAD_ID},
    "xtrim": {"min_id": BAD_ID},
}

SPECIAL: Final[dict[tuple[str, str], Provocation]] = {
    **_of("xadd", _appends(_alone, {})),
    ("xadd", "NO_SUCH_STREAM"): Provocation(
        {"fields": ANOTHER, "nomkstream": True}, path=("race%3Afrance", "race:spain")
    ),
    ("xadd", "LIMIT_EXCEEDED"): Provocation(headers=_keyed("one more", epoch="1"), prepare=fill_epoch),
    ("xadd", "PRECONDITION_FAILED"): Provocation({"fields": ANOTHER, "if_last_id": "0-0"}),
    **_of("xadd_batch", _appends(_in_a_batch, {})),
    ("xadd_batch", "LIMIT_EXCEEDED"): Provocation(
        _in_a_batch(*[{"fields": ANOTHER}] * (BATCH_ENTRIES_MAX + 1))
    ),
    ("xadd_batch", "PRECONDITION_FAILED"): Provocation(_in_a_batch({"fields": ANOTHER}, if_last_id="0-0")),
    **_of("import_entries", _appends(_alone, {"shape": "entry"})),
    ("import_entries", "LIMIT_EXCEEDED"): Provocation(b'{"a":"b"}\n' * (BATCH_ENTRIES_MAX + 1)),
    **{(name, "INVALID_ID"): Provocation(body) for name, body in _BAD_IDS.items()},
    **{(name, "INVALID_ID"): Provocation(path=(FIRST, BAD_ID)) for name in ("get_entry", "delete_entry")},
    **{(name, "INVALID_ID"): Provocation(query={"after": BAD_ID}) for name in ("tail", "tail_streams")},
    **_of("check_import", _checks()),
    ("take_over_epoch", "LAYOUT_CHANGED"): Provocation(),
    ("take_over_epoch", "STALE_EPOCH"): Provocation(_OLD_EPOCH, prepare=begin_epoch),
    ("xautoclaim", "INVALID_ARGUMENT"): _claim(start=ABOVE_ALL),
    ("xsetid", "INVALID_ARGUMENT"): Provocation({"last_id": FIRST}),
    ("xcfgset", "INVALID_ARGUMENT"): Provocation({}),
    ("configure_group", "INVALID_ARGUMENT"): Provocation({"max_deliveries": 5}),
    ("configure_group", "INVALID_FILTER"): Provocation({"filter": "fields.rider = 1"}),
    ("redrive", "INVALID_ARGUMENT"): Provocation({}),
    ("redrive", "ID_EXHAUSTED"): Provocation(prepare=bury_entry_and_exhaust_ids),
    ("redrive", "INVALID_ID"): Provocation({"start": BAD_ID}),
    ("list_scheduled", "INVALID_ID"): Provocation(query={"after": BAD_ID}),
    ("cancel_scheduled", "INVALID_ID"): Provocation(path=(SCHEDULED_ID_EXAMPLE, BAD_ID)),
    ("cancel_scheduled", "NO_SUCH_ENTRY"): Provocation(),
    ("xnack", "INVALID_ARGUMENT"): Provocation({"ids": [FIRST], "delay_ms": DELAY_MS_MAX + 1}),
    ("extend", "INVALID_ID"): Provocation({"consumer": "alice", "ids": [BAD_ID]}),
    ("xread", "INVALID_NAME"): Provocation({"streams": [{"key": "", "after": "$"}]}),
    ("xreadgroup", "INVALID_NAME"): Provocation({"group": "", "consumer": "bob", "streams": [{"key": "a"}]}),
    ("tail_streams", "INVALID_NAME"): Provocation(query={"stream": ""}),
    ("xreadgroup", "NOGROUP"): Provocation(
        {"group": "nobody", "consumer": "bob", "streams": [{"key": "race:france"}]}
    ),
    **{
        (name, "NOGROUP"): Provocation(query={"group": "nobody", "consumer": "bob"})
        for name in ("tail", "tail_streams")
    },
    ("xgroup_delconsumer", "NO_SUCH_CONSUMER"): Provocation(path=("alice", "nobody")),
    ("xrange", "POSITION_TRIMMED"): Provocation(query={"start": FIRST, "strict": "true"}, prepare=trim_race),
    ("xread", "POSITION_TRIMMED"): Provocation(
        {"streams": [{"key": "race:france", "after": FIRST}], "strict": True}, prepare=trim_race
    ),
    ("xpending", "LIMIT_EXCEEDED"): Provocation(
        query={"min_idle_ms": "1", "count": "1000"}, prepare=crowd_pending
    ),
    ("pipeline", "LIMIT_EXCEEDED"): Provocation([["PING"]] * (PIPELINE_COMMANDS_MAX + 1)),
    ("transaction", "LIMIT_EXCEEDED"): Provocation([["PING"]] * (TRANSACTION_COMMANDS_MAX + 1)),
    ("transaction", "TRANSACTION_ABORTED"): Provocation([["XLEN", "race:france"], ["XLEN"]]),
    **_of(
        "command",
        _commands(
            BUSYGROUP=["XGROUP", "CREATE", "race:france", "judges", "$"],
            ENTRY_TOO_LARGE=["XADD", "race:france", "*", "speed", TOO_LARGE["speed"]],
            ID_NOT_GREATER=["XADD", "race:france", FIRST, "rider", "Wood"],
            INVALID_ARGUMENT=["XRANGE", "race:france", ABOVE_ALL, "+"],
            INVALID_ID=["XDEL", "race:france", BAD_ID],
            LIMIT_EXCEEDED=["XAUTOCLAIM", "race:france", "judges", "bob", 0, "0-0", "COUNT", 1 << 33],
            NOGROUP=["XPENDING", "race:france", "nobody"],
            NOT_AN_INTEGER=["XRANGE", "race:france", "-", "+", "COUNT", "many"],
            NO_SUCH_STREAM=["XINFO", "STREAM", "race:spain"],
            SYNTAX=["XRANGE", "race:france", "-", "+", "MOST", 2],
            UNKNOWN_COMMAND=["GET", "race:france"],
            WRONG_ARITY=["XLEN"],
        ),
    ),
    ("command", "ID_EXHAUSTED"): Provocation(
        ["XADD", "race:france", "*", "rider", "Wood"],
        before=(Provocation(["XADD", "race:france", LAST_POSSIBLE_ID, "rider", "Wood"]),),
    ),
}
