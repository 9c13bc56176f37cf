"""Routes for clients with tokens: what a token may do, and tickets, which pages send in place of tokens."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.security import Security, principal_of
from tailrace.api.access.tickets import EXPIRES_IN_S
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.principals import ANONYMOUS_LOCAL
from tailrace.api.problems.table import HttpCode
from tailrace.api.schemas.access import AccessReply, Ticket
from tailrace.api.wire.replies import json_response

router = APIRouter(tags=["service"], route_class=DeferredRoute)


@router.get(
    "/v1/access",
    **operation("show_access", "Show what the token may do", reply=AccessReply, asks_store=False),
)
async def show_access(request: Request) -> Response:
    """Return the scopes, key patterns and expiry of the request's token. Any token may ask. O(1)."""
    principal = principal_of(request.scope)
    has_token = principal is not ANONYMOUS_LOCAL
    content = {
        "token": principal.name if has_token else None,
        "token_id": principal.token_id if has_token else None,
        "scopes": sorted(principal.scopes),
        "key_patterns": [pattern.decode() for pattern in principal.key_patterns],
        "expires_at_ms": principal.expires_at_ms,
    }
    return json_response(content)


@router.post(
    "/v1/tickets",
    **operation(
        "create_ticket",
        "Get a ticket for a WebSocket",
        reply=Ticket,
        errors=(HttpCode.TOO_MANY_OPEN,),
        asks_store=False,
    ),
)
async def create_ticket(request: Request) -> Response:
    """Return a ticket for one WebSocket handshake within a minute, with the rights of the request's token.

    Web pages cannot set the headers of a WebSocket, and tokens are not accepted in URLs. A page offers the
    subprotocols `tailrace.v1.json` and `tailrace.ticket.<ticket>` in this order; the server selects the
    first. The WebSocket closes when the token is revoked or expires.
    """
    security: Security = request.app.state.security
    ticket = security.tickets.issue(principal_of(request.scope))
    content = {"ticket": ticket, "expires_in_s": EXPIRES_IN_S}
    return json_response(content)
