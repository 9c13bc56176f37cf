"""A store whose reads wait without an event loop or a clock: the engine, its queue of readers, and manual
steps.

Owns no semantics: `core.waiters` decides who waits, and the engine decides what each reader gets. Answers are
kept until the test calls `settle`, which delivers them as an event loop does on its next turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from tailrace.api.ports import Answer, BeginWait, StoreUnavailable
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply
from tailrace.core.waiters import WaitQueue
from tests.support.engine_store import START_MS

Receive = Callable[[Answer], None]


class _Reader:
    """One watched read. `taken`: its answer exists, and may be undelivered."""

    def __init__(self, store: WatchingStore, receive: Receive) -> None:
        self.store = store
        self.receive = receive
        self.command: Command | None = None

    def cancel(self) -> bool:
        self.store.cancelled += 1
        return self.store.queue.discard(self)


class WatchingStore:
    """`api.ports.SubmitStore`, implemented synchronously. `watched`: every read that was requested."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.now_ms = START_MS
        self.queue = WaitQueue()
        self.watched: list[Read | ReadGroup] = []
        self.cancelled = 0
        self.closed_by: StoreUnavailable | None = None
        self._answers: deque[tuple[Receive, Answer]] = deque()

    @property
    def not_ready(self) -> StoreUnavailable | None:
        return self.closed_by

    async def execute(self, command: Command) -> Reply:
        return self.run(command)

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        return self.run_all(commands)

    def run(self, command: Command) -> Reply:
        """Execute one command now."""
        outcome = self.engine.execute(command, self.now_ms)
        self._wake(outcome)
        return outcome.reply

    def run_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Execute commands at one instant."""
        if self.closed_by is not None:
            raise self.closed_by
        replies, outcome = self.engine.execute_all(commands, self.now_ms)
        self._wake(outcome)
        return replies

    def run_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Execute the first requests at one instant."""
        if self.closed_by is not None:
            raise self.closed_by
        replies, outcome = self.engine.execute_some(requests, rooms, self.now_ms)
        self._wake(outcome)
        return replies

    def submit(self, command: Command, receive: Receive, wait: BeginWait | None = None) -> Answer:
        if wait is None:
            self._answers.append((receive, self._answer(command)))
            return None
        assert isinstance(command, Read | ReadGroup)
        self.watched.append(command)
        reader = _Reader(self, receive)
        wait(reader)
        self._look(reader, command)
        return None

    def _answer(self, command: Command) -> Answer:
        try:
            return self.run(command)
        except StreamError as error:
            return error

    def settle(self) -> None:
        """Deliver answers until none is left, including answers to reads that are requested meanwhile."""
        while self._answers:
            receive, answer = self._answers.popleft()
            receive(answer)

    def advance(self, ms: int) -> None:
        """Advance the clock, and run the reads whose deadline has passed again."""
        self.now_ms += ms
        self._look_again(cast("list[_Reader]", self.queue.due(self.now_ms)))

    def close(self, reason: StoreUnavailable) -> None:
        """Refuse all requests from now on, and end all waiting reads."""
        self.closed_by = reason
        for reader in cast("list[_Reader]", self.queue.tokens()):
            self.queue.discard(reader)
            self._answers.append((reader.receive, reason))

    def _wake(self, outcome: Outcome) -> None:
        self._look_again(cast("list[_Reader]", self.queue.woken(outcome.wake_ups)))

    def _look_again(self, readers: Iterable[_Reader]) -> None:
        for reader in readers:
            if self.queue.discard(reader):
                assert reader.command is not None
                self._look(reader, reader.command)

    def _look(self, reader: _Reader, command: Command) -> None:
        try:
            outcome = self.engine.execute(command, self.now_ms)
        except StreamError as error:
            self._answers.append((reader.receive, error))
            return
        if outcome.wait is None:
            self._answers.append((reader.receive, outcome.reply))
        else:
            reader.command = outcome.retry
            self.queue.add(reader, outcome.wait)
