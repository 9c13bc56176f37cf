"""Answers HEAD on every path that has GET: the request runs as GET, and only the response's head is sent.

A route whose GET waits, stays open or changes something calls `is_head`, and then answers at once without
doing so. Other routes see a GET. A route that is declared for HEAD keeps its own handler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_STATE: Final = "is_head"
_ROUTING: Final = ("route", "endpoint", "path_params")
"""Members that the router adds to a scope, and that outer layers read."""


def is_head(request: Request) -> bool:
    """Return whether the request is a HEAD; then a handler must not wait or take entries."""
    return bool(request.scope["state"].get(_STATE))


class _Answered(Exception):
    """The head of the response is sent, so the rest of the work can stop."""


class HeadAsGet:
    """ASGI middleware, inside of the layers that provide the raw path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run HEAD as GET; pass other requests on."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or _has_own_route(scope):
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})[_STATE] = True

        async def send_head(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                raise _Answered

        # The inner scope is a copy, because the server reads the method of its own scope to decide about a
        # body.
        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, send_head)
        except _Answered:
            pass
        finally:
            scope.update({name: inner[name] for name in _ROUTING if name in inner})


def _has_own_route(scope: Scope) -> bool:
    """Return whether a route on this path is declared for HEAD. O(routes)."""
    routes: Sequence[Route] = scope["app"].state.routes
    return any("HEAD" in (route.methods or ()) and route.path_regex.match(scope["path"]) for route in routes)
