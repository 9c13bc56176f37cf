"""HEAD wherever GET is: the request runs as the GET of its path, and only the head of the answer is sent.

It owns that rule, so that no route needs to repeat it. A route whose GET waits, stays open or has an effect
asks `is_head` and then answers at once without one; other routes see a GET. A route declared for HEAD keeps
its own handler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_STATE: Final = "is_head"
_ROUTING: Final = ("route", "endpoint", "path_params")
"""What the router adds to a scope, and layers outside of it read there."""


def is_head(request: Request) -> bool:
    """Whether only the head of the answer is sent: then a handler does not wait, and takes nothing."""
    return bool(request.scope["state"].get(_STATE))


class _Answered(Exception):
    """The head is sent; the rest of the work would be for nothing."""


class HeadAsGet:
    """Pure ASGI, below the layers that know the path as it was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass other requests on, and HEAD as GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or _has_own_route(scope):
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})[_STATE] = True

        async def send_head(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                raise _Answered

        # A copy: the server decides by the method of its own scope whether the answer has a body.
        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, send_head)
        except _Answered:
            pass
        finally:
            scope.update({name: inner[name] for name in _ROUTING if name in inner})


def _has_own_route(scope: Scope) -> bool:
    """Whether a route on this path is declared for HEAD. O(routes)."""
    routes: Sequence[Route] = scope["app"].state.routes
    return any("HEAD" in (route.methods or ()) and route.path_regex.match(scope["path"]) for route in routes)
