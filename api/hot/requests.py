"""Decides which requests may use the hot way, from the head of a request, and finds the command of such a
request.

A request is hot if it is for a hot operation, has only plain parameters of that operation, declares the
length of its body (a GET has none), and has no header that can change the response, except those of a
producer. The documented route serves every other request. It also serves a hot request that the hot way
cannot finish, because the body or the command is refused. Until then the hot way has changed nothing but what
the same command changes again (a group read creates its consumer), so the documented route handles the
request from its start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import Headers

from tailrace.api.hot.operations import HOT_OPERATIONS, XADD, HotOperation
from tailrace.api.hot.plain_appends import PlainAppends
from tailrace.api.hot.queries import NotPlain, plain_query
from tailrace.api.hot.rows import HOT_ROWS, AnswerOf, CommandOf, xadd_command_like
from tailrace.api.principals import TokenScope
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.idempotency import PRODUCER_HEADER_NAMES, idempotency_of
from tailrace.api.wire.imports import LARGE_BYTES
from tailrace.api.wire.names import name_from_path
from tailrace.api.wire.negotiation import JSON
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.errors import StreamError

BODY_BYTES_MAX: Final = LARGE_BYTES
"""Larger bodies are not faster on the hot way. The documented route limits them while they arrive, and
decodes a large import in slices."""

_HEADERS: Final = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"accept-language",
        b"authorization",
        b"connection",
        b"content-length",
        b"content-type",
        b"host",
        b"user-agent",
        b"x-request-id",
        *PRODUCER_HEADER_NAMES,
    }
)
"""The headers that a hot request may have, each once."""

_VALUES: Final = {
    b"accept": frozenset({b"*/*", JSON.encode()}),
    b"connection": frozenset({b"keep-alive", b"Keep-Alive"}),
}
"""The allowed values of some of these headers."""

_NONE: Final = frozenset[bytes]()

_OF_BODIES: Final = frozenset({b"content-length", b"content-type"})
"""The headers that every hot request with a body has, and no other."""

_NO_QUERY: Final[Mapping[str, bytes]] = {}

RawHeaders = Sequence[tuple[bytes, bytes]]


class HotRoute(Struct, frozen=True):
    """How to serve a hot request: the command of its body, and the answer for the reply.

    If either returns None, the documented route serves the request. `scope`: the scope that a token needs.
    `plain`: finds the entry in a body without options, whose append may run together with others; None if
    there is no such body. `of_producer`: returns `command_of` for the headers of a producer; None without
    them.
    """

    operation: HotOperation
    scope: TokenScope
    command_of: CommandOf
    answer_of: AnswerOf
    plain: PlainAppends | None
    of_producer: Callable[[RawHeaders], CommandOf] | None = None


def hot_route(method: bytes, target: bytes, headers: RawHeaders) -> HotRoute | None:
    """Return the route of a hot request, None for every other request. Header names are in lower case."""
    targets = _TARGETS.get(method)
    path, mark, raw_query = target.partition(b"?")
    found = None if targets is None else targets.fullmatch(path)
    if found is None:
        return None
    row = HOT_ROWS[found.lastgroup or ""]
    given = _hot_headers(headers, row.media_type)
    is_of_producer = not given.isdisjoint(PRODUCER_HEADER_NAMES)
    if not given or (is_of_producer and not row.operation.is_append):
        return None
    query = plain_query(raw_query, row.operation.parameters) if mark else _NO_QUERY
    if query is None or (mark and not query):
        return None
    _, *parameters = (group for group in found.groups() if group is not None)
    try:
        names = [name_from_path(parameter.decode("latin-1")) for parameter in parameters]
    except RequestRefused:
        return None
    command_of: CommandOf = partial(row.command_of, *names)
    if row.operation.parameters:
        command_of = partial(command_of, query)
    of_producer = partial(_of_producer, command_of) if is_of_producer else None
    if of_producer is not None:
        command_of = of_producer(headers)
    answer_of = partial(row.answer_of, *names) if row.answers_by_name else row.answer_of
    plain = PlainAppends(names[0]) if row.operation is XADD and not is_of_producer else None
    if plain is not None:
        command_of = partial(xadd_command_like, plain)
    return HotRoute(row.operation, row.scope, command_of, answer_of, plain, of_producer)


def route_with_headers(route: HotRoute, headers: RawHeaders) -> HotRoute:
    """Return the route of a request with the same head, except for the values of the headers of a producer
    and the length of its body, which `hot_route` would allow."""
    assert route.of_producer is not None, "the request has headers of a producer"
    return replace(route, command_of=route.of_producer(headers))


def hot_command(route: HotRoute, body: bytes) -> Command | None:
    """Return the command of a body, None if the documented route must answer the request."""
    command_of = route.command_of  # a call of an attribute that is no method takes longer in one step
    try:
        return command_of(body)
    except (RequestRefused, StreamError, NotPlain):
        return None


def at_once(command: Command) -> Command:
    """Return the command without its wait."""
    if isinstance(command, (Read, ReadGroup)) and command.block_ms is not None:
        return replace(command, block_ms=None)
    return command


def _hot_headers(headers: RawHeaders, media_type: bytes | None) -> AbstractSet[bytes]:
    """Return the names of `headers` if a hot request may have all of them, else none. `media_type`: of its
    body; None if it has no body."""
    seen: set[bytes] = set()
    for name, value in headers:
        if name not in _HEADERS or name in seen:
            return _NONE
        seen.add(name)
        if name in _VALUES and value not in _VALUES[name]:
            return _NONE
        if name == b"content-type" and value != media_type:
            return _NONE
        if name == b"content-length" and not (value.isdigit() and int(value) <= BODY_BYTES_MAX):
            return _NONE
    if media_type is None:
        return seen if seen.isdisjoint(_OF_BODIES) else _NONE
    return seen if seen >= _OF_BODIES else _NONE


def _of_producer(command_of: CommandOf, headers: RawHeaders) -> CommandOf:
    return partial(_command_of_producer, command_of, Headers(raw=list(headers)))


def _command_of_producer(command_of: CommandOf, headers: Headers, body: bytes) -> Command | None:
    return command_of(body, partial(idempotency_of, headers, body))


def _targets_of(method: bytes) -> re.Pattern[bytes]:
    """Return the pattern of all paths. The matching outer group names the operation; its inner groups are the
    parameters of the path."""
    own = (operation for operation in HOT_OPERATIONS if operation.method == method)
    return re.compile("|".join(f"(?P<{operation.name}>{operation.pattern})" for operation in own).encode())


_TARGETS: Final = {method: _targets_of(method) for method in (b"GET", b"POST")}
