"""The table of the hot operations: the properties that the documented route and the hot way share.

It owns path, media type and status of each operation. `api.routes` declares the documented routes with these
rows, and `api.hot.requests` recognises hot requests by them. What a token needs comes from
`api.access.operation_scopes`.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from tailrace.api.access.operation_scopes import scope_of
from tailrace.api.principals import TokenScope
from tailrace.api.wire.negotiation import JSON, NDJSON


class HotOperation(Struct, frozen=True):
    """One row of the table. The method is always POST; every answer is JSON.

    `name`: the operation's id in the OpenAPI document. `path`: its route, with names of parameters in braces.
    `media_type`: the type of the request's body. `status`: the status of an answer without an error.
    `is_append`: the headers of a producer apply.
    """

    name: str
    path: str
    media_type: str
    status: int
    is_append: bool

    @property
    def scope(self) -> TokenScope:
        """The scope that a token needs."""
        scope = scope_of(self.name)
        assert scope is not None, "every hot operation needs one"
        return scope

    @property
    def pattern(self) -> str:
        """The pattern of its requests' targets: one group for each parameter, and no query."""
        parts = re.split(r"\{\w+\}", self.path)
        return "([^/?]+)".join(re.escape(part) for part in parts)


XADD: Final = HotOperation("xadd", "/v1/streams/{key}/entries", JSON, 201, is_append=True)
XADD_BATCH: Final = HotOperation("xadd_batch", "/v1/streams/{key}/entries:batch", JSON, 201, is_append=True)
IMPORT_ENTRIES: Final = HotOperation(
    "import_entries", "/v1/streams/{key}/entries:import", NDJSON, 201, is_append=True
)
XREAD: Final = HotOperation("xread", "/v1/read", JSON, 200, is_append=False)
XREADGROUP: Final = HotOperation("xreadgroup", "/v1/read-group", JSON, 200, is_append=False)
XACK: Final = HotOperation("xack", "/v1/streams/{key}/groups/{group}:ack", JSON, 200, is_append=False)
XNACK: Final = HotOperation("xnack", "/v1/streams/{key}/groups/{group}:nack", JSON, 200, is_append=False)
XCLAIM: Final = HotOperation("xclaim", "/v1/streams/{key}/groups/{group}:claim", JSON, 200, is_append=False)
XAUTOCLAIM: Final = HotOperation(
    "xautoclaim", "/v1/streams/{key}/groups/{group}:autoclaim", JSON, 200, is_append=False
)

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
)
