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
from msgspec.structs import replace

from tailrace.api.operations.headers import HotHeaders, UsedHeaders
from tailrace.api.operations.queries import NotPlain, Query, plain_query
from tailrace.api.operations.table import OPERATIONS, XADD, Operation
from tailrace.api.principals import TokenScope
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.idempotency import idempotency_of
from tailrace.api.wire.names import name_from_path
from tailrace.core.commands import Command, Idempotency, Read, ReadGroup
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.limits import NAME_BYTES_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import Reply

_NATURAL: Final = Shape.NATURAL
"""The form of entries in hot answers."""


class HotRoute(Struct, frozen=True, gc=False):
    """How to serve a hot request: the command of its body, and the answer for the reply.

    `names`: those in the path. `query`: the parameters of a GET; None for a POST. `producer`: the
    headers of an append with an idempotency key. `joins`: the stream of an append that may run together with
    others, if its body has no options; None for other requests. `words`: the request in Redis's words, once
    its body was read; None for all other operations.
    """

    operation: Operation
    names: Sequence[bytes]
    query: Query | None
    producer: UsedHeaders | None
    joins: bytes | None
    words: RedisRequest | None = None

    @property
    def scope(self) -> TokenScope:
        """The scope that a token needs for the command."""
        scope = self.operation.scope if self.words is None else self.words.access
        assert scope is not None, "only an operation in words has no scope of its own"
        return scope

    def read(self, body: bytes) -> tuple[HotRoute, Command | None]:
        """Return the route of the request with this body, and its command; None if the documented route must
        serve the request.

        Raises `RequestRefused`, and `StreamError` for wrong words.
        """
        found: Command | RedisRequest
        if self.producer is not None:
            idempotency = partial(idempotency_of, self.producer.items(), body)
            return self, self.operation.command_of(*self.names, body, idempotency)
        try:
            found = self.operation.command_of(*self.names, body if self.query is None else self.query)
        except NotPlain:
            return self, None
        if isinstance(found, RedisRequest):
            return replace(self, words=found), found.command
        if isinstance(found, (Read, ReadGroup)) and found.batch is not None:
            return self, None  # the route waits while the read gathers entries
        return self, found

    def idempotency(self, body: bytes) -> Idempotency | None:
        """Return the idempotency of an append whose id the server chooses. Raises `RequestRefused`."""
        return None if self.producer is None else idempotency_of(self.producer.items(), body, True)  # noqa: FBT003 - the server chooses

    def answer_of(self, reply: Reply, command: Command) -> bytes | None:
        """Return the body of the answer, None if the documented route must serve the request.

        Raises `StreamError` or `RequestRefused`.
        """
        return self.operation.answer_of(reply, self.words or command, self.names, _NATURAL)


def hot_route(line: bytes, headers: HotHeaders) -> HotRoute | None:
    """Return the route of a hot request with this request line, None for every other request. O(line)."""
    found = _LINES.fullmatch(line)
    if found is None:
        return None
    operation, media_type, groups, query_group = _FOUND[found.lastgroup or ""]
    length = headers.length
    query = None
    if media_type is None:
        query = plain_query(found[query_group] or b"", operation.parameters)
        if query is None or length or (length is None and b"content-length" in headers.used):
            return None
    elif length is None or length > operation.body_bytes_max or headers.client.media_type != media_type:
        return None
    names = [found[group] for group in groups]
    if line.find(_PERCENT) >= 0 or len(line) > NAME_BYTES_MAX:
        try:
            names = [name_from_path(name.decode("latin-1")) for name in names]
        except RequestRefused:
            return None
    producer = headers.used if operation.is_append and headers.names_producer else None
    return HotRoute(operation, names, query, producer, names[0] if operation is XADD else None)


def _pattern_of(operation: Operation) -> str:
    """Return the pattern of the operation's request lines: a group for each name in the path, one for the
    query of a GET, and an empty group at the end, which has the name of the operation."""
    path = _NAME.join(re.escape(part) for part in operation.path_parts)
    query = _QUERY if operation.media_type is None else ""
    return f"{operation.method.decode()} {path}{query} HTTP/1\\.1(?P<{operation.name}>)"


_PERCENT: Final = ord("%")

_NAME: Final = r"""([!"$-.0->@-~]+)"""
_QUERY: Final = r"""(?:\?([!"$-~]+))?"""
_LINES: Final = re.compile("|".join(map(_pattern_of, OPERATIONS)).encode())
"""The request lines of all operations, with visible characters only."""


def _found(operation: Operation) -> tuple[Operation, str | None, Sequence[int], int]:
    """Return the operation, its media type, the groups of the names in its path, and that of the query."""
    end = _LINES.groupindex[operation.name] - (operation.media_type is None)
    return operation, operation.media_type, tuple(range(end - len(operation.path_parts) + 1, end)), end


_FOUND: Final = {operation.name: _found(operation) for operation in OPERATIONS}
