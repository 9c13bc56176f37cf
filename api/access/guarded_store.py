"""The store with the rights of one request: it checks each command before execution, and ends a waiting read
when the token ends.

`GuardedStore` is a `StreamStore` itself, so handlers use it like any store, and every command is checked.
This module never decides which rights a command needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from tailrace.api.access.guard import Guard, admitted
from tailrace.api.ports import Answer, StoreUnavailable, SubmitStore, TurnStore
from tailrace.api.principals import TokenScope, Unauthenticated
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, Read, ReadGroup, Redrive
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.replies import GroupInfo, Reply


class _Part(NamedTuple):
    """An allowed command with its scope and operation."""

    scope: TokenScope
    command: Command
    operation: str


class GuardedStore:
    """A wrapper of `store` that checks the rights of `guard` under `scope`. `operation` is a name for the
    audit log. If `scope` is None, the operation has no scope of its own: only the methods whose requests have
    a scope can be called."""

    def __init__(self, store: TurnStore, guard: Guard, scope: TokenScope | None, operation: str) -> None:
        self._store = store
        self._scope: TokenScope | None = scope
        self._operation = operation
        self.guard = guard

    def under(self, scope: TokenScope, operation: str | None = None) -> GuardedStore:
        """Return the same store with another scope, and with another operation if one is given."""
        return GuardedStore(self._store, self.guard, scope, operation or self._operation)

    @property
    def not_ready(self) -> StoreUnavailable | None:
        """Why the wrapped store accepts no writes; None if it accepts them."""
        return self._store.not_ready

    async def execute(self, command: Command) -> Reply:
        """Run one command: see `StreamStore.execute`. Also raises `Unauthenticated`, at once or while a read
        waits."""
        part = self._part(command)
        if isinstance(part.command, Read | ReadGroup) and part.command.block_ms is not None:
            return await self._wait(part.command)
        try:
            reply = await self._store.execute(part.command)
        except (StreamError, StoreUnavailable) as refusal:
            self.guard.done(*part, refusal)
            raise
        self.guard.done(*part, reply)
        return self.guard.shown(part.command, reply)

    @property
    def followed(self) -> SubmitStore:
        """The wrapped store, for the next reads of a follower whose first read was checked. The caller has to
        watch the token."""
        return self._store

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Run all commands: see `StreamStore.execute_all`. If one of them is not allowed, none is run."""
        return await self._execute_parts([self._part(command) for command in commands])

    async def _execute_parts(self, parts: Sequence[_Part]) -> Sequence[Reply | StreamError]:
        try:
            replies = await self._store.execute_all([part.command for part in parts])
        except (StreamError, StoreUnavailable) as refusal:
            for part in parts:
                self.guard.done(*part, refusal)
            raise
        for part, reply in zip(parts, replies, strict=True):
            self.guard.done(*part, reply)
        return [self.guard.shown(part.command, reply) for part, reply in zip(parts, replies, strict=True)]

    def _part(self, command: Command) -> _Part:
        """Return the allowed form of the command, under the operation's scope."""
        assert self._scope is not None, "an operation without a scope uses only requests with a scope"
        allowed = self.guard.allow(self._scope, command, self._operation)
        return _Part(self._scope, allowed, self._operation)

    def require_dead_letter_stream(self, command: Redrive, group: GroupInfo) -> None:
        """Raise `StreamError` NOPERM if `command` acts on the dead-letter stream of `group`, whose name the
        token may not see."""
        assert self._scope is not None
        self.guard.require_dead_letter_stream(self._scope, command, self._operation, group)

    async def _wait(self, command: Read | ReadGroup) -> Reply:
        """Return the reply to a blocking read. If the token ends first, cancel the read, which then takes no
        entries, and raise `Unauthenticated`."""
        waiting = asyncio.current_task()
        assert waiting is not None
        ends: list[Unauthenticated] = []

        def ended(error: Unauthenticated) -> None:
            ends.append(error)
            waiting.cancel()

        forget = self.guard.watch(ended)
        try:
            return await self._store.execute(command)
        except asyncio.CancelledError:
            # As in `asyncio.timeout`: a cancellation by other code takes precedence.
            if ends and waiting.uncancel() == 0:
                raise ends[0] from None
            raise
        finally:
            forget()

    # --- commands in Redis's words -------------------------------------------------------------------

    def admit(self, request: RedisRequest) -> RedisRequest:
        """Return the allowed form of the request, under its own scope. Raises as `Guard.allow` does."""
        return admitted(self.guard, request)

    async def execute_admitted_each(
        self, requests: Sequence[RedisRequest], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Run the commands of requests that `admit` returned: see `TurnStore.execute_each`."""
        parts = _parts(requests)
        following = iter(parts)

        async def taken(answer: Answer) -> None:
            self.guard.done(*next(following), answer)
            await take(answer)

        try:
            await self._store.execute_each([part.command for part in parts], room, taken)
        except StoreUnavailable as refusal:
            for part in following:
                self.guard.done(*part, refusal)
            raise

    async def execute_admitted(self, requests: Sequence[RedisRequest]) -> Sequence[Reply | StreamError]:
        """Run the commands of requests that `admit` returned, in one atomic step."""
        return await self._execute_parts(_parts(requests))


def _parts(requests: Sequence[RedisRequest]) -> list[_Part]:
    """Return the commands of those requests that have one, each with its scope and operation."""
    return [
        _Part(request.access, request.command, request.name)
        for request in requests
        if request.command is not None
    ]
