"""A store for tests: the real engine in this process, with a clock that the test sets.

Owns no semantics. A read that would wait calls `while_waiting` once and then runs again, so that a test
decides what happens in the meantime and never sleeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tailrace.api.ports import Answer, BeginWait, StoreUnavailable
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.keyspace import Keyspace
from tailrace.core.outcome import Wait
from tailrace.core.replies import Reply

START_MS = 1_692_632_147_973
IDENTITY = "9f86d081884c7d65"
"""Of the keyspace: that of the documented examples."""


class EngineStore:
    """`api.ports.TurnStore` over one engine.

    `waits`: the waits of all reads that would have waited. `closed_by`: if set, every method raises it.
    """

    def __init__(self, now_ms: int = START_MS) -> None:
        self.engine = Engine(Keyspace(identity=IDENTITY))
        self.now_ms = now_ms
        self.waits: list[Wait] = []
        self.while_waiting: Callable[[], object] = lambda: None
        self.closed_by: StoreUnavailable | None = None

    async def execute(self, command: Command) -> Reply:
        """Execute one command at the clock's time."""
        self._check_open()
        outcome = self.engine.execute(command, self.now_ms)
        if outcome.wait is None:
            return outcome.reply
        self.waits.append(outcome.wait)
        self.while_waiting()
        assert isinstance(outcome.retry, Command)
        return self.engine.execute(outcome.retry, self.now_ms).reply

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Execute all commands at the clock's time."""
        self._check_open()
        replies, _ = self.engine.execute_all(commands, self.now_ms)
        return replies

    async def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Execute the commands one after another at the clock's time."""
        self._check_open()
        for command in commands:
            await take(self.engine.execute_some([[command]], [room], self.now_ms)[0][0])

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Execute the first requests at the clock's time."""
        self._check_open()
        return self.engine.execute_some(requests, rooms, self.now_ms)[0]

    def submit(
        self, command: Command, receive: Callable[[Any], None], wait: BeginWait | None = None
    ) -> Answer:
        """Deliver the answer on the next turn of the event loop."""
        watch = _Watch(asyncio.ensure_future(self._hand_over(command, receive)))
        if wait is not None:
            wait(watch)
        return None

    async def _hand_over(self, command: Command, receive: Callable[[Answer], None]) -> None:
        try:
            receive(await self.execute(command))
        except (StreamError, StoreUnavailable) as refusal:
            receive(refusal)

    @property
    def not_ready(self) -> StoreUnavailable | None:
        """What `closed_by` is."""
        return self.closed_by

    def _check_open(self) -> None:
        if self.closed_by is not None:
            raise self.closed_by


class _Watch:
    """A watch whose answer is scheduled."""

    def __init__(self, task: asyncio.Task[None]) -> None:
        self._task = task

    def cancel(self) -> bool:
        return self._task.cancel()
