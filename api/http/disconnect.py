"""Ends the work of a request when its client disconnects: a waiting read stops at once.

It does not depend on the kind of work. Entries that were delivered to a group before the client disconnected
stay pending; other consumers can claim them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tailrace.api.ports import StreamStore
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.replies import Reply

T = TypeVar("T")


async def execute_while_connected(request: Request, store: StreamStore, command: Command) -> Reply:
    """Return the store's reply to `command`. A waiting read stops if the client disconnects, and takes no
    entries.

    The request's body must already be read. Raises `ClientDisconnect`, and the errors of
    `StreamStore.execute`. A command that does not wait has no extra cost.
    """
    if isinstance(command, Read | ReadGroup) and command.block_ms is not None:
        return await while_connected(request.receive, store.execute(command))
    return await store.execute(command)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. Raises `ClientDisconnect` if the client disconnects first.

    In that case, and if this call is cancelled, `work` is cancelled and has ended when this function returns.
    """
    working = asyncio.ensure_future(work)
    going = asyncio.ensure_future(disconnected(receive))
    try:
        await asyncio.wait((working, going), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        await _ended(working, going)


async def disconnected(receive: Receive) -> None:
    """Return when the client has disconnected. Parts of a body that still arrive are ignored."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class NoAnswer(Response):
    """A response that sends nothing, for a client that has disconnected."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send nothing."""


async def client_gone(_request: Request, _error: Exception) -> Response:
    """Handle `ClientDisconnect`: a client that disconnects is not an error of the server."""
    return NoAnswer()
