"""The route that shows what a token may do, for programs that adapt to their rights."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tailrace.api.access.security import principal_of
from tailrace.api.document.operations import operation
from tailrace.api.http.deferred_route import DeferredRoute
from tailrace.api.principals import ANONYMOUS_LOCAL
from tailrace.api.schemas.access import AccessReply
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
