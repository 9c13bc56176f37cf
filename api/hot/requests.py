"""Decides which requests may use the hot way, from the head of a request, and finds the command of such a
request.

A request is hot if it is for a hot operation, has only plain parameters of that operation, and declares the
length of its body (a GET has none). Which headers a hot request may have is the concern of `api.hot.headers`.
The documented route serves every other request. It also serves a hot request that the hot way
cannot finish, because the body or the command is refused. Until then the hot way has changed nothing but what
the same command changes again (a group read creates its consumer), so the documented route handles the
request from its start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from tailrace.api.hot.headers import HotClient, UsedHeaders
from tailrace.api.hot.operations import HOT_OPERATIONS, XADD, HotOperation
from tailrace.api.hot.queries import NotPlain, Query, plain_query
from tailrace.api.hot.rows import HOT_ROWS, HotRow
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.idempotency import PRODUCER_HEADER_NAMES, idempotency_of
from tailrace.api.wire.imports import LARGE_BYTES
from tailrace.api.wire.names import name_from_path
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.errors import StreamError
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.replies import Reply

BODY_BYTES_MAX: Final = LARGE_BYTES
"""Larger bodies are not faster on the hot way. The documented route limits them while they arrive, and
decodes a large import in slices."""


class HotRoute(Struct, frozen=True, gc=False):
    """How to serve a hot request: the command of its body, and the answer for the reply.

    `names`: those in the path. `query`: the parameters; None if the operation has none. `producer`: the
    headers of an append with an idempotency key. `joins`: the stream of an append that may run together with
    others, if its body has no options; None for other requests.
    """

    operation: HotOperation
    row: HotRow
    names: Sequence[bytes]
    query: Query | None
    producer: UsedHeaders | None
    joins: bytes | None

    def command_of(self, body: bytes) -> Command | None:
        """Return the command of a body, None if the documented route must answer the request."""
        given: tuple[Any, ...] = (body,) if self.query is None else (self.query, body)
        if self.producer is not None:
            given += (partial(idempotency_of, self.producer.items(), body),)
        try:
            return self.row.command_of(*self.names, *given)
        except (RequestRefused, StreamError, NotPlain):
            return None

    def answer_of(self, reply: Reply, command: Command) -> bytes | None:
        """Return the body of the answer, None if the documented route must answer the request."""
        if self.row.answers_by_name:
            return self.row.answer_of(*self.names, reply, command)
        return self.row.answer_of(reply, command)


def hot_route(method: bytes, target: bytes, headers: UsedHeaders, client: HotClient) -> HotRoute | None:
    """Return the route of a hot request, None for every other request. O(target)."""
    path, mark, raw_query = target.partition(b"?")
    targets = _TARGETS.get(method)
    found = None if targets is None else targets.fullmatch(path)
    if found is None:
        return None
    operation, row, groups = _FOUND[found.lastgroup or ""]
    if not _has_body_of(row, headers, client):
        return None
    query = None
    if operation.parameters:
        query = plain_query(raw_query, operation.parameters)
        if query is None:
            return None
    if mark and not query:
        return None
    try:
        names = [_name(found[group]) for group in groups]
    except RequestRefused:
        return None
    is_of_producer = operation.is_append and not PRODUCER_HEADER_NAMES.isdisjoint(headers)
    producer = headers if is_of_producer else None
    joins = names[0] if operation is XADD and not is_of_producer else None
    return HotRoute(operation, row, names, query, producer, joins)


def _name(segment: bytes) -> bytes:
    """Return the name that a segment of a path encodes. Raises `RequestRefused`."""
    if b"%" in segment or len(segment) > NAME_BYTES_MAX:
        return name_from_path(segment.decode("latin-1"))
    return segment


def _has_body_of(row: HotRow, headers: UsedHeaders, client: HotClient) -> bool:
    """Return whether the request has a body of the operation's media type, and says its length."""
    length = headers.get(b"content-length")
    if row.media_type is None:
        return length is None or length == b"0"
    if length is None or client.media_type != row.media_type:
        return False
    return length.isdigit() and int(length) <= BODY_BYTES_MAX


def at_once(command: Command) -> Command:
    """Return the command without its wait."""
    if isinstance(command, (Read, ReadGroup)) and command.block_ms is not None:
        return replace(command, block_ms=None)
    return command


def _targets_of(method: bytes) -> re.Pattern[bytes]:
    """Return the pattern of all paths. The matching outer group names the operation; its inner groups are the
    parameters of the path."""
    own = (operation for operation in HOT_OPERATIONS if operation.method == method)
    return re.compile("|".join(f"(?P<{operation.name}>{operation.pattern})" for operation in own).encode())


_TARGETS: Final = {method: _targets_of(method) for method in (b"GET", b"POST")}

_FOUND: Final = {
    name: (row.operation, row, tuple(range(first + 1, first + 1 + row.operation.path.count("{"))))
    for pattern in _TARGETS.values()
    for name, first in pattern.groupindex.items()
    for row in (HOT_ROWS[name],)
}
"""Each operation with its row, and the groups of the names in its path."""
