"""The single writer: the one object through which anything reaches the engine, one command at a time.

It gives the engine the time, hands what changed to the log, and has waiting readers look again after a
command that wakes them. Nothing leaves it, be it a reply, a refusal or a pushed entry, before the log
says that everything it reveals is durable. There is no lock, because nothing here awaits between the
first look at the keyspace and the last change to it: one event loop, one writer. It never decides what
a command does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from api.ports import Answer, NotAccepting, Watch
from app.clock import Clock, monotonic_clock_ms, system_clock_ms
from app.commit import Log, NoLog
from app.readers import Receive, WaitingReaders
from core.commands import READ_ONLY, Command, ExpireIdempotencyKeys, Read, ReadGroup, ServerInfo
from core.engine import Engine
from core.errors import StreamError
from core.keyspace import Keyspace
from core.outcome import Outcome
from core.replies import Reply, ServerStats
from core.storage.damage import Damage

_DRAINING: Final = "the server is shutting down"
_RETRY_AFTER_DRAINING_S: Final = 1


class EngineStore:
    """`api.ports.StreamStore` over one engine in this process. Use it from one event loop only."""

    def __init__(
        self, engine: Engine, clock: Clock = system_clock_ms, monotonic_clock: Clock = monotonic_clock_ms
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._log: Log = NoLog()
        self._readers = WaitingReaders(self._run, self._hand_over, clock, monotonic_clock)
        self._refusal: NotAccepting | None = None
        self._is_draining = False
        self._committed: Callable[[], Keyspace | None] = lambda: None

    def use_log(self, log: Log, committed: Callable[[], Keyspace | None]) -> None:
        """Keep what happens from now on; before the first command. `committed` reads it back."""
        self._log = log
        self._committed = committed

    @property
    def not_ready_reason(self) -> str | None:
        """Why no writes are taken, or None where they are."""
        return None if self._refusal is None else self._refusal.reason

    @property
    def is_ready(self) -> bool:
        """Whether writes are taken."""
        return self._refusal is None

    def stats(self) -> ServerStats:
        """What the keyspace holds and who waits. O(streams + groups)."""
        stats = self._completed(self._engine.execute(ServerInfo(), self._clock()).reply)
        assert isinstance(stats, ServerStats)
        return stats

    # --- commands ------------------------------------------------------------------------------

    async def execute(self, command: Command) -> Reply:
        """Carry out one command at the present time; a read that blocks waits here.

        Raises `StreamError` where the command is refused, `NotAccepting` where the store drains or its
        storage failed. Cancelled while it waits, it has taken nothing.
        """
        self._require_accepting(command)
        try:
            outcome = self._run(command)
        except StreamError:
            await self._durable()
            raise
        self._readers.wake(outcome.wake_ups)
        if outcome.wait is not None:
            return await self._wait(outcome)
        await self._durable()
        return self._completed(outcome.reply)

    def _completed(self, reply: Reply) -> Reply:
        """The reply with what only this object knows."""
        if isinstance(reply, ServerStats):
            return replace(reply, blocked_clients=len(self._readers))
        return reply

    async def _wait(self, outcome: Outcome) -> Reply:
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        reader = self._readers.add(outcome, lambda answer: _settle(answered, answer))
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
        for command in commands:
            self._require_accepting(command)
        try:
            replies, outcome = self._engine.execute_all(commands, self._clock())
        except Damage as damage:
            raise self._damaged(commands, damage) from damage
        self._record(outcome)
        self._readers.wake(outcome.wake_ups)
        await self._durable()
        return [each if isinstance(each, StreamError) else self._completed(each) for each in replies]

    def submit(self, command: Command, receive: Receive) -> None:
        """Carry out one command that does not block, without a task: see the port."""
        answer: Answer
        try:
            self._require_accepting(command)
            outcome = self._run(command)
        except (StreamError, NotAccepting) as refusal:
            answer = refusal
        else:
            self._readers.wake(outcome.wake_ups)
            answer = outcome.reply
        self._hand_over(receive, answer)

    def watch(self, command: Read | ReadGroup, receive: Receive) -> Watch:
        """Run a read, waiting where it blocks, and hand its answer to `receive`: see the port."""
        try:
            self._require_accepting(command)
            outcome = self._run(command)
        except (StreamError, NotAccepting) as refusal:
            return self._answered(receive, refusal)
        if outcome.wait is not None:
            return self._readers.add(outcome, receive)
        return self._answered(receive, outcome.reply)

    def tick(self) -> None:
        """What is due once a second: forget idempotency keys that are too old."""
        if self._refusal is None:
            self._run(ExpireIdempotencyKeys())

    def _run(self, command: Command) -> Outcome:
        try:
            outcome = self._engine.execute(command, self._clock())
        except Damage as damage:
            raise self._damaged((command,), damage) from damage
        self._record(outcome)
        return outcome

    def _damaged(self, commands: Sequence[Command], damage: Damage) -> NotAccepting:
        """A block on disk is not what was written. A read is refused; a command that may have changed
        something on its way there cannot be trusted to have changed all, so it is the last one."""
        if any(type(command) not in READ_ONLY for command in commands):
            # By way of the log, which then writes no more of what is half done, not even when it closes.
            self._log.fail(damage)
        return NotAccepting(f"storage is damaged: {damage}")

    def _record(self, outcome: Outcome) -> None:
        if outcome.effects:
            self._log.record(outcome.effects)

    # --- what leaves ---------------------------------------------------------------------------

    async def _durable(self) -> None:
        """Come back when all that happened so far is durable; raises `NotAccepting` if it never can be."""
        if self._log.is_behind:
            reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._log.when_durable(lambda: _settle(reached, None))
            await reached
            self._require_storage()

    def _hand_over(self, receive: Receive, answer: Answer) -> None:
        """Give a reader its answer, as soon as everything the answer reveals is durable."""
        if self._log.is_behind:
            self._log.when_durable(lambda: _give(receive, self._refusal_after_failure() or answer))
        else:
            _give(receive, answer)

    def _answered(self, receive: Receive, answer: Answer) -> Watch:
        asyncio.get_running_loop().call_soon(self._hand_over, receive, answer)
        return _Answered()

    # --- refusing ------------------------------------------------------------------------------

    def drain(self) -> None:
        """Take no more commands from now on: the server is about to end. Commands done stay done.

        Readers that wait are told so.
        """
        self._is_draining = True
        self._refuse(NotAccepting(_DRAINING, retry_after_s=_RETRY_AFTER_DRAINING_S))

    def fail(self, reason: str) -> None:
        """The disk refused a commit, or holds something else than was written: take no writes until a
        restart, and forget what was shown to nobody. What is on disk is read on; where even that cannot
        be read, nothing is answered any more.
        """
        committed = self._committed()
        if committed is not None:
            self._engine = Engine(committed)
        self._is_draining = self._is_draining or committed is None
        self._log = NoLog()
        self._refuse(NotAccepting(f"storage failed: {reason}"))

    def _refuse(self, refusal: NotAccepting) -> None:
        self._refusal = refusal
        self._readers.close(refusal)

    def _require_accepting(self, command: Command) -> None:
        if self._refusal is not None and (self._is_draining or type(command) not in READ_ONLY):
            raise NotAccepting(self._refusal.reason, retry_after_s=self._refusal.retry_after_s)

    def _refusal_after_failure(self) -> NotAccepting | None:
        """What to tell those whose command was carried out before the storage failed."""
        refusal = self._refusal
        if refusal is None or refusal.retry_after_s is not None:
            return None
        return NotAccepting(refusal.reason, is_outcome_unknown=True)

    def _require_storage(self) -> None:
        refusal = self._refusal_after_failure()
        if refusal is not None:
            raise refusal


class _Answered:
    """A watch that need not wait: its answer follows on a later turn of the loop."""

    def cancel(self) -> bool:
        """False: the answer is on its way."""
        return False


def _settle(future: asyncio.Future[Answer] | asyncio.Future[None], answer: Answer) -> None:
    if not future.done():
        future.set_result(answer)  # type: ignore[arg-type] # each future is settled with its own kind


def _give(receive: Receive, answer: Answer) -> None:
    """A reader that fails to take its answer is its own trouble, not the writer's."""
    try:
        receive(answer)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported, and the others are served
        context = {"message": "a reader failed to take its answer", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
