"""The table of the hot operations: the properties that the documented route and the hot way share.

It owns method, path, media type, parameters and status of each operation. `api.routes` declares the
documented routes with these rows, and `api.hot.requests` recognises hot requests by them. What a token needs
comes from `api.access.operation_scopes`.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tailrace.api.access.operation_scopes import scope_of
from tailrace.api.principals import TokenScope
from tailrace.api.wire.negotiation import JSON, NDJSON


class HotOperation(Struct, frozen=True):
    """One row of the table. Every answer is JSON.

    `name`: the operation's id in the OpenAPI document. `path`: its route, with names of parameters in braces.
    `media_type`: the type of the request's body; None for a GET, which has no body. `status`: the status of
    an answer without an error. `is_append`: the headers of a producer apply. `parameters`: the query
    parameters that a hot request may have, each once.
    """

    name: str
    path: str
    media_type: str | None = JSON
    status: int = 200
    is_append: bool = False
    parameters: frozenset[str] = frozenset()

    @property
    def method(self) -> bytes:
        """The method of its requests."""
        return b"GET" if self.media_type is None else b"POST"

    @property
    def scope(self) -> TokenScope:
        """The scope that a token needs."""
        scope = scope_of(self.name)
        assert scope is not None, "every hot operation needs one"
        assert scope != "admin", "the hot way records no act in the audit log"
        return scope

    @property
    def pattern(self) -> str:
        """The pattern of its requests' paths: one group for each parameter of the path."""
        parts = re.split(r"\{\w+\}", self.path)
        return "([^/?]+)".join(re.escape(part) for part in parts)


_STREAM: Final = "/v1/streams/{key}"
_GROUP: Final = "/v1/streams/{key}/groups/{group}"

XADD: Final = HotOperation("xadd", f"{_STREAM}/entries", status=201, is_append=True)
XADD_BATCH: Final = HotOperation("xadd_batch", f"{_STREAM}/entries:batch", status=201, is_append=True)
IMPORT_ENTRIES: Final = HotOperation(
    "import_entries", f"{_STREAM}/entries:import", NDJSON, status=201, is_append=True
)
XREAD: Final = HotOperation("xread", "/v1/read")
XREADGROUP: Final = HotOperation("xreadgroup", "/v1/read-group")
XACK: Final = HotOperation("xack", f"{_GROUP}:ack")
XNACK: Final = HotOperation("xnack", f"{_GROUP}:nack")
XCLAIM: Final = HotOperation("xclaim", f"{_GROUP}:claim")
XAUTOCLAIM: Final = HotOperation("xautoclaim", f"{_GROUP}:autoclaim")
EXTEND: Final = HotOperation("extend", f"{_GROUP}:extend")

XRANGE: Final = HotOperation(
    "xrange",
    f"{_STREAM}/entries",
    None,
    parameters=frozenset({"start", "end", "order", "after", "wait_ms", "count", "strict"}),
)
GET_ENTRY: Final = HotOperation("get_entry", f"{_STREAM}/entries/{{id}}", None)
XLEN: Final = HotOperation("xlen", f"{_STREAM}/length", None)
XINFO_STREAM: Final = HotOperation("xinfo_stream", _STREAM, None)
XINFO_GROUP: Final = HotOperation("xinfo_group", _GROUP, None)
XPENDING: Final = HotOperation(
    "xpending",
    f"{_GROUP}/pending",
    None,
    parameters=frozenset({"start", "end", "count", "consumer", "min_idle_ms"}),
)
XPENDING_SUMMARY: Final = HotOperation("xpending_summary", f"{_GROUP}/pending:summary", None)

HOT_OPERATIONS: Final = (
    XADD,
    XADD_BATCH,
    IMPORT_ENTRIES,
    XREAD,
    XREADGROUP,
    XACK,
    XNACK,
    XCLAIM,
    XAUTOCLAIM,
    EXTEND,
    XRANGE,
    GET_ENTRY,
    XLEN,
    XINFO_STREAM,
    XINFO_GROUP,
    XPENDING,
    XPENDING_SUMMARY,
)
