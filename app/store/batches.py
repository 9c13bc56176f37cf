"""Runs several commands: at one instant, or in turns with other requests in between.

It owns the order of commands, replies and wake-ups in a batch. The store runs single commands itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.observability.timing import note_commands
from tailrace.app.store.admission import Admission
from tailrace.app.store.publishing import Publisher
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.recorder import ExecuteTogether, Recorder
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError, kept
from tailrace.core.limits import TURN_COMMANDS_MAX
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply


class Batches:
    """The batches of one store."""

    def __init__(
        self, recorder: Recorder, admission: Admission, readers: WaitingReaders, publisher: Publisher
    ) -> None:
        self._recorder = recorder
        self._admission = admission
        self._readers = readers
        self._publisher = publisher

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Run `commands` at one instant without other commands in between; an error does not stop the rest.

        Readers wake up once, at the end (rule 44). Raises LIMIT_EXCEEDED if they take too much work, and
        MEMORY_LIMIT if the memory limit forbids one of them, before any command runs.
        """
        for command in commands:
            self._admission.require(command)
        replies = self._run_together(commands, partial(self._execute, commands))
        await self._publisher.durable()
        return replies

    async def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Run `commands` in turns, with other requests in between: see `api.ports.TurnStore`."""
        log = self._publisher.log
        done = 0
        while done < len(commands):
            try:
                some = [(command,) for command in commands[done : done + TURN_COMMANDS_MAX]]
                replies = self._run_some(some, [room] * len(some))
            except StoreUnavailable as refusal:
                if not done:
                    raise
                for _ in commands[done:]:
                    await take(kept(refusal))
                break
            for reply in replies:
                await take(reply)
            done += len(replies)
            if done < len(commands):
                await asyncio.sleep(0)
        note_commands(commands, 0)
        if log is not self._publisher.log:
            # The storage failed between two turns: the effects of the earlier turns are lost.
            self._publisher.require_storage()
        await self._publisher.durable()

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Run the first of `requests`, as many as one turn allows: see `api.ports.TurnStore`."""
        replies = self._run_some(requests, rooms)
        await self._publisher.durable()
        return replies

    def _run_some(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> list[Reply | StreamError]:
        execute = partial(self._execute_some_allowed, requests, rooms)
        return self._run_together(list(chain.from_iterable(requests)), execute)

    def _run_together(
        self, commands: Sequence[Command], execute: ExecuteTogether
    ) -> list[Reply | StreamError]:
        """Run `execute` for `commands`, count errors, wake readers, and return the replies."""
        self._admission.require_all_accepting(commands)
        replies, outcome = self._recorder.run_together(commands, execute)
        for command, reply in zip(commands, replies, strict=False):
            if isinstance(reply, StreamError):
                self._recorder.engine.note_refusal(command, reply)
        self._readers.wake(outcome.wake_ups)
        return [each if isinstance(each, StreamError) else self._readers.completed(each) for each in replies]

    def _execute(self, commands: Sequence[Command]) -> tuple[Sequence[Reply | StreamError], Outcome]:
        return self._recorder.engine.execute_all(commands, self._recorder.clock())

    def _execute_some_allowed(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> tuple[Sequence[Reply | StreamError], Outcome]:
        """Run the first of `requests` except those commands that the memory limit forbids."""
        engine, admission, now_ms = self._recorder.engine, self._admission, self._recorder.clock()
        if not admission.refuses_growth:
            return engine.execute_some(requests, rooms, now_ms)
        allowed = [admission.allowed(commands) for commands in requests]
        replies, outcome = engine.execute_some(allowed, rooms, now_ms)
        return admission.with_refusals(list(chain.from_iterable(requests)), replies), outcome
