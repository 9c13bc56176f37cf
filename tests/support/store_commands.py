"""Runs words of Redis on a remote store, as a gateway does, and answers in RESP2 in the types of `hiredis`.

Owns the store and its loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

import hiredis

from tailrace.app.remote.opening import opened
from tailrace.app.remote.store import RemoteStore
from tailrace.app.settings import Settings
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Rows, SimpleString
from tailrace.core.parser import parse_request


class StoreCommands:
    """A remote store in front of the engine at `url`, from entering the context to its end."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._store = RemoteStore()

    def __enter__(self) -> Self:
        self._runner.run(self._open())
        return self

    async def _open(self) -> None:
        link, engine = await self._stack.enter_async_context(opened(Settings(store=self._url)))
        self._store.use(link, engine)

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._stack.aclose())
        self._runner.close()

    def run(self, words: Sequence[bytes]) -> Any:
        """Return the reply to one command; an error is a `hiredis.ReplyError`."""
        try:
            reply = self._runner.run(self._reply(words))
        except StreamError as error:
            return hiredis.ReplyError(error.line)
        return plain(reply)

    async def _reply(self, words: Sequence[bytes]) -> Any:
        request = parse_request(words)
        if request.command is None:
            return request.to_resp(None)
        return request.to_resp(await self._store.execute(request.command))


def plain(reply: Any) -> Any:
    if isinstance(reply, SimpleString):
        return reply.encode()
    return [plain(item) for item in reply] if isinstance(reply, list | Rows) else reply
