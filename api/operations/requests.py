"""Decides which requests take the hot way, from the head of a request, and finds the command of such a
request.

A request is hot if it is for an operation of the table, has only plain parameters of that operation, and
declares the length of its body (a GET has none). Which headers a hot request may have is the concern of
`api.operations.headers`. The documented route serves every other request. It also serves a hot request with a
form that only the route reads, or with a reply that it writes in slices. Until then the hot way has changed
nothing but what the same command changes again (a group read creates its consumer), so the documented route
handles the request from its start.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from tailrace.api.operations.headers import HotClient, UsedHeaders
from tailrace.api.operations.queries import NotPlain, Query, plain_query
from tailrace.api.operations.table import OPERATIONS, XADD, Operation
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.idempotency import PRODUCER_HEADER_NAMES, idempotency_of
from tailrace.api.wire.names import name_from_path
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import Reply

_NATURAL: Final = Shape.NATURAL
"""The form of entries in hot answers."""


class HotRoute(Struct, frozen=True, gc=False):
    """How to serve a hot request: the command of its body, and the answer for the reply.

    `names`: those in the path. `query`: the parameters of a GET; None for a POST. `producer`: the
    headers of an append with an idempotency key. `joins`: the stream of an append that may run together with
    others, if its body has no options; None for other requests.
    """

    operation: Operation
    names: Sequence[bytes]
    query: Query | None
    producer: UsedHeaders | None
    joins: bytes | None

    def command_of(self, body: bytes) -> Command | None:
        """Return the command of a body, None if the documented route must serve the request.

        Raises `RequestRefused`.
        """
        if self.producer is not None:
            given = (body, partial(idempotency_of, self.producer.items(), body))
            return self.operation.command_of(*self.names, *given)
        try:
            command = self.operation.command_of(*self.names, body if self.query is None else self.query)
        except NotPlain:
            return None
        if isinstance(command, (Read, ReadGroup)) and command.batch is not None:
            return None  # the route waits while the read gathers entries
        return command

    def answer_of(self, reply: Reply, command: Command) -> bytes | None:
        """Return the body of the answer, None if the documented route must serve the request.

        Raises `StreamError` or `RequestRefused`.
        """
        return self.operation.answer_of(reply, command, self.names, _NATURAL)


def hot_route(method: bytes, target: bytes, headers: UsedHeaders, client: HotClient) -> HotRoute | None:
    """Return the route of a hot request, None for every other request. O(target)."""
    path, mark, raw_query = target.partition(b"?")
    targets = _TARGETS.get(method)
    found = None if targets is None else targets.fullmatch(path)
    if found is None:
        return None
    operation, groups = _FOUND[found.lastgroup or ""]
    if not _has_body_of(operation, headers, client):
        return None
    query = None
    if operation.media_type is None:
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
    return HotRoute(operation, names, query, producer, joins)


def _name(segment: bytes) -> bytes:
    """Return the name that a segment of a path encodes. Raises `RequestRefused`."""
    if b"%" in segment or len(segment) > NAME_BYTES_MAX:
        return name_from_path(segment.decode("latin-1"))
    return segment


def _has_body_of(operation: Operation, headers: UsedHeaders, client: HotClient) -> bool:
    """Return whether the request has a body of the operation's media type, and says its length."""
    length = headers.get(b"content-length")
    if operation.media_type is None:
        return length is None or length == b"0"
    if length is None or client.media_type != operation.media_type:
        return False
    return length.isdigit() and int(length) <= operation.body_bytes_max


def _targets_of(method: bytes) -> re.Pattern[bytes]:
    """Return the pattern of all paths. The matching outer group names the operation; its inner groups are the
    parameters of the path."""
    own = (operation for operation in OPERATIONS if operation.method == method)
    return re.compile("|".join(f"(?P<{operation.name}>{operation.pattern})" for operation in own).encode())


_TARGETS: Final = {method: _targets_of(method) for method in (b"GET", b"POST")}

_FOUND: Final = {
    operation.name: (operation, tuple(range(first + 1, first + 1 + operation.path.count("{"))))
    for pattern in _TARGETS.values()
    for operation in OPERATIONS
    if (first := pattern.groupindex.get(operation.name)) is not None
}
"""Each operation, and the groups of the names in its path."""
