"""The single writer: the one object through which anything reaches the engine, one command at a time.

It gives the engine the time, hands back replies, and has waiting readers look again after a command
that wakes them. There is no lock, because nothing here awaits between the first look at the keyspace
and the last change to it: one event loop, one writer. It never decides what a command does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from api.ports import Answer, NotAccepting, Watch
from app.clock import Clock, monotonic_clock_ms, system_clock_ms
from app.readers import Receive, WaitingReaders
from core.commands import Command, ExpireIdempotencyKeys, Read, ReadGroup
from core.engine import Engine
from core.errors import StreamError
from core.outcome import Outcome
from core.replies import Reply, ServerStats

_DRAINING: Final = "the server is shutting down"
_RETRY_AFTER_DRAINING_S: Final = 1


class EngineStore:
    """`api.ports.StreamStore` over one engine in this process. Use it from one event loop only."""

    def __init__(
        self, engine: Engine, clock: Clock = system_clock_ms, monotonic_clock: Clock = monotonic_clock_ms
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._readers = WaitingReaders(self._run, _hand_over, clock, monotonic_clock)
        self._not_ready_reason: str | None = None

    @property
    def not_ready_reason(self) -> str | None:
        """Why no command is taken, or None where they are."""
        return self._not_ready_reason

    async def execute(self, command: Command) -> Reply:
        """Carry out one command at the present time; a read that blocks waits here.

        Raises `StreamError` where the command is refused, `NotAccepting` once the store drains; nothing
        was changed then. Cancelled while it waits, it has taken nothing.
        """
        self._require_accepting()
        outcome = self._run(command)
        self._readers.wake(outcome.wake_ups)
        if outcome.wait is not None:
            return await self._wait(outcome)
        if isinstance(outcome.reply, ServerStats):
            return replace(outcome.reply, blocked_clients=len(self._readers))
        return outcome.reply

    async def _wait(self, outcome: Outcome) -> Reply:
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        reader = self._readers.add(outcome, lambda answer: _answer(answered, answer))
        try:
            answer = await answered
        finally:
            reader.cancel()
        if isinstance(answer, StreamError | NotAccepting):
            raise answer
        return answer

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Carry out `commands` at one instant with nothing between them; a refused one stops none.

        Readers look again once, when all is done (rule 44).
        """
        self._require_accepting()
        replies, outcome = self._engine.execute_all(commands, self._clock())
        self._readers.wake(outcome.wake_ups)
        return replies

    def watch(self, command: Read | ReadGroup, receive: Receive) -> Watch:
        """Run a read, waiting where it blocks, and hand its answer to `receive`: see the port."""
        try:
            self._require_accepting()
            outcome = self._run(command)
        except (StreamError, NotAccepting) as refusal:
            return _Answered(receive, refusal)
        if outcome.wait is not None:
            return self._readers.add(outcome, receive)
        return _Answered(receive, outcome.reply)

    def drain(self) -> None:
        """Take no more commands from now on: the server is about to end. Commands done stay done.

        Readers that wait are told so.
        """
        self._not_ready_reason = _DRAINING
        self._readers.close(self._not_accepting(_DRAINING))

    def tick(self) -> None:
        """What is due once a second: forget idempotency keys that are too old."""
        self._engine.execute(ExpireIdempotencyKeys(), self._clock())

    def _run(self, command: Command) -> Outcome:
        return self._engine.execute(command, self._clock())

    def _require_accepting(self) -> None:
        if self._not_ready_reason is not None:
            raise self._not_accepting(self._not_ready_reason)

    def _not_accepting(self, reason: str) -> NotAccepting:
        return NotAccepting(reason, retry_after_s=_RETRY_AFTER_DRAINING_S)


class _Answered:
    """A watch that need not wait; its answer follows on the next turn of the loop."""

    def __init__(self, receive: Receive, answer: Answer) -> None:
        asyncio.get_running_loop().call_soon(_hand_over, receive, answer)

    def cancel(self) -> bool:
        """False: the answer is on its way."""
        return False


def _answer(answered: asyncio.Future[Answer], answer: Answer) -> None:
    if not answered.done():
        answered.set_result(answer)


def _hand_over(receive: Callable[[Answer], None], answer: Answer) -> None:
    """Give a reader its answer; a reader that fails at it is its own trouble, not the writer's."""
    try:
        receive(answer)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported, and the others are served
        context = {"message": "a reader failed to take its answer", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
