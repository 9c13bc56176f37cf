"""Checks the opening handshake of a WebSocket: the page's origin, the subprotocol, and the token or ticket.

It owns the checks before a connection is accepted, and the response if it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
from starlette.datastructures import Headers
from starlette.types import Scope, Send

from tailrace.api.access.origins import FOREIGN
from tailrace.api.access.security import (
    Security,
    authorization_of,
    has_token_in_url,
    host_header_of,
    token_in_url_refusal,
)
from tailrace.api.access.tickets import TICKET_SUBPROTOCOL
from tailrace.api.principals import Principal, Unauthenticated
from tailrace.api.problems.table import (
    NO_STORE,
    PROBLEM_MEDIA_TYPE,
    HttpCode,
    RequestRefused,
    headers_of,
    problem_of,
)
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.json_codec import JsonCodec
from tailrace.api.websocket.msgpack_codec import MsgpackCodec
from tailrace.api.websocket.route import SOCKET_EXTENSION

DEFAULT_CODEC: Final[Codec] = JsonCodec()
"""The subprotocol for clients that offer none."""

CODECS: Final[dict[str, Codec]] = {codec.subprotocol: codec for codec in (DEFAULT_CODEC, MsgpackCodec())}


class Handshake(NamedTuple):
    """An accepted handshake: the principal of the connection, and the subprotocol to select."""

    principal: Principal
    subprotocol: str | None


def shake_hands(scope: Scope, security: Security) -> Handshake:
    """Check an opening handshake. A ticket can be used once.

    Raises `RequestRefused` or `Unauthenticated` if the connection is refused.
    """
    headers = Headers(scope=scope)
    if has_token_in_url(scope):
        raise token_in_url_refusal()
    if not security.origins.admits_headers(headers):
        raise RequestRefused(HttpCode.ORIGIN_NOT_ALLOWED, FOREIGN)
    offered: Sequence[str] = scope["subprotocols"]
    subprotocol = next((name for name in offered if name in CODECS), None)
    if offered and subprotocol is None:
        detail = f"none of the offered subprotocols is supported; offer one of {', '.join(CODECS)}"
        raise RequestRefused(HttpCode.BAD_REQUEST, detail)
    if SOCKET_EXTENSION not in scope.get("extensions", {}):
        raise RequestRefused(HttpCode.INTERNAL, "the server was started without its WebSocket protocol")
    return Handshake(_principal(scope, security, offered), subprotocol)


def _principal(scope: Scope, security: Security, offered: Sequence[str]) -> Principal:
    tickets = [name for name in offered if name.startswith(TICKET_SUBPROTOCOL)]
    if not tickets:
        return security.authenticate(authorization_of(scope), host_header_of(scope))
    if len(tickets) > 1:
        raise Unauthenticated("the handshake has more than one ticket; send one")
    principal = security.tickets.redeem(tickets[0].removeprefix(TICKET_SUBPROTOCOL))
    security.authenticator.require_standing(principal)
    return principal


async def refuse(scope: Scope, send: Send, error: RequestRefused | Unauthenticated) -> None:
    """Answer the handshake with a problem, or close the connection if the server does not support that."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})
        return
    content = problem_of(error, None)
    named = {"content-type": PROBLEM_MEDIA_TYPE, **NO_STORE, **headers_of(error)}
    headers = [(name.lower().encode(), value.encode()) for name, value in named.items()]
    start = {"type": "websocket.http.response.start", "status": content["status"], "headers": headers}
    await send(start)
    await send({"type": "websocket.http.response.body", "body": msgspec.json.encode(content)})
