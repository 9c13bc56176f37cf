"""Which requests may go below the framework: the plain case of the hot routes, recognised from the head.

A request is plain where its method, target and headers leave nothing to decide: no query, no header
that could change the answer, a declared length. Whatever else it is, and whatever turns out not to be
plain later (a body that is refused, a command that is refused, a read that would wait), is left to the
documented route, which answers it from the start: until then nothing was changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from api import hot
from api.names import name_from_path
from api.negotiation import JSON, NDJSON
from api.problems import RequestRefused
from core.commands import Command, ReadGroup
from core.errors import StreamError
from core.replies import AppendReply, ReadReply, Reply

BODY_BYTES_MAX: Final = 8 * 1024 * 1024
"""Larger bodies gain nothing here, and the documented route bounds them while they arrive."""

_PLAIN_HEADERS: Final = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"accept-language",
        b"connection",
        b"content-length",
        b"content-type",
        b"host",
        b"user-agent",
        b"x-request-id",
    }
)
_PLAIN_VALUES: Final = {
    b"accept": frozenset({b"*/*", JSON.encode()}),
    b"connection": frozenset({b"keep-alive", b"Keep-Alive"}),
}

CommandOf = Callable[[bytes], Command | None]
AnswerOf = Callable[[Reply], bytes | None]


class FastRoute(NamedTuple):
    """What to do with a plain request: None from either function leaves it to the documented route."""

    command_of: CommandOf
    answer_of: AnswerOf
    status: int


class _Match(NamedTuple):
    media_type: bytes
    make: Callable[..., FastRoute]


def plain_route(method: bytes, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> FastRoute | None:
    """The route of a plain request for a hot one, or None. Names of headers are in lower case."""
    if method != b"POST":
        return None
    found = _TARGET.fullmatch(target)
    if found is None:
        return None
    media_type, make = _MATCHES[found[3] or found[1]]
    if not _are_plain(headers, media_type):
        return None
    try:
        return make(*(name_from_path(name.decode("latin-1")) for name in (found[2], found[4]) if name))
    except RequestRefused:
        return None


def _are_plain(headers: Sequence[tuple[bytes, bytes]], media_type: bytes) -> bool:
    seen: set[bytes] = set()
    for name, value in headers:
        if name not in _PLAIN_HEADERS or name in seen:
            return False
        seen.add(name)
        if name in _PLAIN_VALUES and value not in _PLAIN_VALUES[name]:
            return False
        if name == b"content-type" and value != media_type:
            return False
        if name == b"content-length" and not (value.isdigit() and int(value) <= BODY_BYTES_MAX):
            return False
    return b"content-length" in seen and b"content-type" in seen


# --- the routes --------------------------------------------------------------------------------------


def plain_command(route: FastRoute, raw: bytes) -> Command | None:
    """The command that a body asks for, None where that is not plain."""
    try:
        return route.command_of(raw)
    except (RequestRefused, StreamError):
        return None


def _xadd(key: bytes) -> FastRoute:
    return FastRoute(partial(hot.xadd_command, key), partial(_new_only, hot.xadd_bytes), 201)


def _batch(key: bytes) -> FastRoute:
    return FastRoute(partial(hot.batch_command, key), partial(_new_only, hot.batch_bytes), 201)


def _import(key: bytes) -> FastRoute:
    return FastRoute(partial(hot.import_command, key), partial(_new_only, hot.batch_bytes), 201)


def _new_only(answer_of: Callable[[Reply], bytes], reply: Reply) -> bytes | None:
    """An append that made nothing is the documented route's to explain."""
    return answer_of(reply) if isinstance(reply, AppendReply) else None


def _group_read() -> FastRoute:
    return FastRoute(_group_read_command, _group_read_answer, 200)


def _group_read_command(raw: bytes) -> ReadGroup | None:
    body = hot.parse_group_read(raw)
    return None if body.wait_ms else hot.group_read_command(body, None)


def _group_read_answer(reply: Reply) -> bytes | None:
    assert isinstance(reply, ReadReply)
    return hot.slices_bytes(reply, deliveries=True)


def _ack(key: bytes, group: bytes) -> FastRoute:
    return FastRoute(partial(_ack_command, key, group), hot.ack_bytes, 200)


def _ack_command(key: bytes, group: bytes, raw: bytes) -> Command | None:
    body = hot.parse_ack(raw)
    return None if body.delete else hot.ack_command(key, group, body)


_TARGET: Final = re.compile(
    rb"/v1/(?:(read-group)|streams/([^/?]+)/(?:(entries(?::batch|:import)?)|groups/([^/?]+?)(?P<ack>:ack)))"
)
_MATCHES: Final = {
    b"entries": _Match(JSON.encode(), _xadd),
    b"entries:batch": _Match(JSON.encode(), _batch),
    b"entries:import": _Match(NDJSON.encode(), _import),
    b"read-group": _Match(JSON.encode(), _group_read),
    None: _Match(JSON.encode(), _ack),
}
