"""Work that ends with its client: who goes away while a read waits stops waiting at once.

It owns the race between a request's work and its connection. It never decides what the work is, and
what was already taken when the client went stays taken: a group's entries are pending then, and are
claimed like any others.
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
    """The store's reply to `command`; a read that waits stops when the client goes, and takes nothing.

    The request's body must have been read. Raises `ClientDisconnect`, and what `StreamStore.execute`
    raises. A command that does not wait costs nothing beside its execution.
    """
    if isinstance(command, Read | ReadGroup) and command.block_ms is not None:
        return await while_connected(request.receive, store.execute(command))
    return await store.execute(command)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, or raises. Raises `ClientDisconnect` where the client goes first.

    `work` is cancelled then, and has ended when this returns; likewise where this is cancelled.
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
    """Returns when the connection is gone; a body that is still on its way is passed over."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class NoAnswer(Response):
    """What is answered where nobody is left to hear it: nothing is sent."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send nothing."""


async def client_gone(_request: Request, _error: Exception) -> Response:
    """The handler of `ClientDisconnect`: a client that left is no failure of the server."""
    return NoAnswer()
