"""Ends the work of a request when its client disconnects: a waiting read stops at once.

A client that closes a connection first ends its side, and so does a client that sends no further request but
reads on: the server cannot distinguish the two. Work that may wait ends in both cases, also if the engine has
delivered entries and their commit is not synced yet. All other requests are answered (`app.protocols`).

This module never decides what the work is. Entries that were delivered to a group before the client
disconnected stay pending; other consumers can claim them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tailrace.api.ports import StreamStore
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.replies import Reply

CLIENT_SIDE_EXTENSION: Final = "tailrace.client_side"
"""An ASGI extension of the server: the `ClientSide` of the request's connection."""

T = TypeVar("T")


class ClientSide(NamedTuple):
    """The client's side of a connection. `ended`: returns when the client has ended it. `leave`: ends the
    connection after what is written, without an answer to this request."""

    ended: Callable[[], Coroutine[Any, Any, object]]
    leave: Callable[[], None]


async def execute_while_connected(request: Request, store: StreamStore, command: Command) -> Reply:
    """Return the store's reply to `command`. A waiting read stops if the client disconnects, and takes no
    entries.

    The request's body must already be read. Raises `ClientDisconnect`, and the errors of
    `StreamStore.execute`. A command that does not wait has no extra cost.
    """
    if isinstance(command, Read | ReadGroup) and command.block_ms is not None:
        return await while_connected(request.scope, request.receive, store.execute(command))
    return await store.execute(command)


async def while_connected(scope: Scope, receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. Raises `ClientDisconnect` if the client disconnects first, or ends its
    side.

    In that case, and if this call is cancelled, `work` is cancelled and has ended when this function returns.
    """
    working = asyncio.ensure_future(work)
    going: list[asyncio.Future[Any]] = [asyncio.ensure_future(disconnected(receive))]
    side = _client_side_of(scope)
    if side is not None:
        going.append(asyncio.ensure_future(side.ended()))
    try:
        await asyncio.wait((working, *going), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        await _ended(working, *going)


async def disconnected(receive: Receive) -> None:
    """Return when the client has disconnected. Parts of a body that still arrive are ignored."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def leave(scope: Scope, receive: Receive) -> None:
    """End the connection after a `ClientDisconnect`: the request gets no answer. Return when it is gone."""
    side = _client_side_of(scope)
    if side is not None:
        side.leave()
    await disconnected(receive)


def _client_side_of(scope: Scope) -> ClientSide | None:
    found: ClientSide | None = scope.get("extensions", {}).get(CLIENT_SIDE_EXTENSION)
    return found


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class NoAnswer(Response):
    """A response that sends nothing, for a client that has disconnected."""

    async def __call__(self, scope: Scope, receive: Receive, _send: Send) -> None:
        """Send nothing, and end the connection."""
        await leave(scope, receive)


async def client_gone(_request: Request, _error: Exception) -> Response:
    """Handle `ClientDisconnect`: a client that disconnects is not an error of the server."""
    return NoAnswer()
