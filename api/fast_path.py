"""Which requests may go below the framework: the plain case of the hot routes, recognised from the head.

A request is plain where its method, target and headers leave nothing to decide: no query, no header
that could change the answer but those of a producer, a declared length. Whatever else it is, and whatever
turns out not to be plain later (a body that is refused, a command that is refused, a read that would wait),
is left to the documented route, which answers it from the start: until then nothing was changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final, NamedTuple

from starlette.datastructures import Headers

from tailrace.api import hot
from tailrace.api.access.operation_scopes import scope_of
from tailrace.api.principals import TokenScope
from tailrace.api.problems.table import RequestRefused
from tailrace.api.wire.idempotency import PRODUCER_HEADER_NAMES, idempotency_of
from tailrace.api.wire.imports import LARGE_BYTES
from tailrace.api.wire.names import name_from_path
from tailrace.api.wire.negotiation import JSON, NDJSON
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX
from tailrace.core.commands import Append, Command, ReadGroup
from tailrace.core.errors import StreamError
from tailrace.core.replies import AppendReply, ReadReply, Reply

BODY_BYTES_MAX: Final = LARGE_BYTES
"""Larger bodies gain nothing here. The documented route bounds them while they arrive, and decodes a large
import in slices."""

_PLAIN_HEADERS: Final = frozenset(
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
_NONE: Final = frozenset[bytes]()
_PLAIN_VALUES: Final = {
    b"accept": frozenset({b"*/*", JSON.encode()}),
    b"connection": frozenset({b"keep-alive", b"Keep-Alive"}),
}

REPLAYED_STATUS: Final = 200
REPLAYED_LINE: Final = b"idempotent-replayed: true\r\n"
"""How an append that was made earlier, under the same key, is answered in place of its route's status."""

CommandOf = Callable[..., Command | None]
AnswerOf = Callable[[Reply], bytes | None]


class FastRoute(NamedTuple):
    """What to do with a plain request: None from either function leaves it to the documented route.
    `operation`: that route's id. `scope`: what a token needs for it."""

    command_of: CommandOf
    answer_of: AnswerOf
    status: int
    operation: str
    scope: TokenScope


class _Match(NamedTuple):
    """`appends`: a producer's headers mean something there; elsewhere the documented route has them."""

    media_type: bytes
    make: Callable[..., FastRoute]
    appends: bool = False


def plain_route(method: bytes, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> FastRoute | None:
    """The route of a plain request for a hot one, or None. Names of headers are in lower case."""
    if method != b"POST":
        return None
    found = _TARGET.fullmatch(target)
    if found is None:
        return None
    match = _MATCHES[found[3] or found[1]]
    names = _are_plain(headers, match.media_type)
    if not names:
        return None
    try:
        route = match.make(*(name_from_path(name.decode("latin-1")) for name in (found[2], found[4]) if name))
    except RequestRefused:
        return None
    if names.isdisjoint(PRODUCER_HEADER_NAMES):
        return route
    return _with_producer(route, headers) if match.appends else None


def _with_producer(route: FastRoute, headers: Sequence[tuple[bytes, bytes]]) -> FastRoute:
    given = Headers(raw=list(headers))

    def command_of(raw: bytes) -> Command | None:
        return route.command_of(raw, partial(idempotency_of, given, raw))

    return route._replace(command_of=command_of)


def _are_plain(headers: Sequence[tuple[bytes, bytes]], media_type: bytes) -> AbstractSet[bytes]:
    """The names of `headers` where all are plain, else none."""
    seen: set[bytes] = set()
    for name, value in headers:
        if name not in _PLAIN_HEADERS or name in seen:
            return _NONE
        seen.add(name)
        if name in _PLAIN_VALUES and value not in _PLAIN_VALUES[name]:
            return _NONE
        if name == b"content-type" and value != media_type:
            return _NONE
        if name == b"content-length" and not (value.isdigit() and int(value) <= BODY_BYTES_MAX):
            return _NONE
    return seen if b"content-length" in seen and b"content-type" in seen else _NONE


# --- the routes --------------------------------------------------------------------------------------


def plain_command(route: FastRoute, raw: bytes) -> Command | None:
    """The command that a body asks for, None where that is not plain."""
    try:
        return route.command_of(raw)
    except (RequestRefused, StreamError):
        return None


def _xadd(key: bytes) -> FastRoute:
    return _route(partial(_xadd_command, key), _xadd_answer, 201, "xadd")


def _xadd_command(key: bytes, raw: bytes, *idempotency: hot.IdempotencyOf) -> Append | None:
    """None of a large one: the documented route decodes it in a thread."""
    return None if len(raw) > AT_ONCE_BYTES_MAX else hot.xadd_command(key, raw, *idempotency)


def _batch(key: bytes) -> FastRoute:
    return _route(partial(_batch_command, key), _batch_answer, 201, "xadd_batch")


def _batch_command(key: bytes, raw: bytes, *idempotency: hot.IdempotencyOf) -> Append | None:
    """None of a large one: the documented route decodes it in slices."""
    return None if len(raw) > AT_ONCE_BYTES_MAX else hot.batch_command(key, raw, *idempotency)


def _import(key: bytes) -> FastRoute:
    return _route(partial(hot.import_command, key), _batch_answer, 201, "import_entries")


def _route(command_of: CommandOf, answer_of: AnswerOf, status: int, operation: str) -> FastRoute:
    scope = scope_of(operation)
    assert scope is not None, "hot routes need one"
    return FastRoute(command_of, answer_of, status, operation, scope)


def _xadd_answer(reply: Reply) -> bytes | None:
    """An append that made nothing is the documented route's to explain."""
    return hot.xadd_bytes(reply) if isinstance(reply, AppendReply) else None


def _batch_answer(reply: Reply) -> bytes | None:
    return hot.batch_bytes(reply) if isinstance(reply, AppendReply) else None


def _group_read() -> FastRoute:
    return _route(_group_read_command, _group_read_answer, 200, "xreadgroup")


def _group_read_command(raw: bytes) -> ReadGroup | None:
    body = hot.parse_group_read(raw)
    return None if body.wait_ms else hot.group_read_command(body, None)


def _group_read_answer(reply: Reply) -> bytes | None:
    assert isinstance(reply, ReadReply)
    return hot.slices_bytes(reply, deliveries=True)


def _ack(key: bytes, group: bytes) -> FastRoute:
    return _route(partial(_ack_command, key, group), hot.ack_bytes, 200, "xack")


def _ack_command(key: bytes, group: bytes, raw: bytes) -> Command | None:
    ids = hot.plain_ack_ids(raw)
    return None if ids is None else hot.ack_command(key, group, ids)


_TARGET: Final = re.compile(
    rb"/v1/(?:(read-group)|streams/([^/?]+)/(?:(entries(?::batch|:import)?)|groups/([^/?]+?)(?P<ack>:ack)))"
)
_MATCHES: Final = {
    b"entries": _Match(JSON.encode(), _xadd, appends=True),
    b"entries:batch": _Match(JSON.encode(), _batch, appends=True),
    b"entries:import": _Match(NDJSON.encode(), _import, appends=True),
    b"read-group": _Match(JSON.encode(), _group_read),
    None: _Match(JSON.encode(), _ack),
}
