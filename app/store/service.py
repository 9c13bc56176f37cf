"""The single writer: the one object through which anything reaches the engine, one command at a time.

It gives the engine the time, hands what changed to the log, and has waiting readers look again after a
command that wakes them. Nothing leaves it, be it a reply, a refusal or a pushed entry, before the log
says that everything it reveals is durable. There is no lock, because nothing here awaits between the
first look at the keyspace and the last change to it: one event loop, one writer. It never decides what
a command does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from typing import Final, TypeAlias

from msgspec.structs import replace

from tailrace.api.ports import Answer, StoreUnavailable, Watch
from tailrace.api.problems.table import HttpCode
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.app.clock import Clock, monotonic_clock_ms, system_clock_ms
from tailrace.app.observability.counters.commands import CommandFigures
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.observability.timing import COMMIT, WAIT, note_commands, note_phase
from tailrace.app.store.commit import Log, NoLog
from tailrace.app.store.measured_engine import SUBSCRIPTION, TICK, Execute, MeasuredEngine
from tailrace.app.store.readers import Receive, WaitingReaders
from tailrace.app.store.reclaim import Reclaimer
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.command_table import GROWING, READ_ONLY
from tailrace.core.commands import Command, ExpireIdempotencyKeys, Read, ReadGroup
from tailrace.core.engine import Engine
from tailrace.core.errors import ErrorCode, StreamError, kept, out_of_memory, too_many_readers
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import TURN_COMMANDS_MAX
from tailrace.core.outcome import Outcome
from tailrace.core.replies import Reply, ServerStats
from tailrace.core.storage.damage import Damage

ExecuteTogether: TypeAlias = Callable[[], tuple[Sequence[Reply | StreamError], Outcome]]
"""Carries out commands at one instant: the replies of all of them, or of the first."""

_NO_REPLY: Final = StreamError(ErrorCode.REPLY_TOO_LARGE, "")

_DRAINING: Final = "the server is shutting down"
_RETRY_AFTER_DRAINING_S: Final = 1


class EngineStore:
    """`api.ports.TurnStore` over one engine in this process. Use it from one event loop only."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock = system_clock_ms,
        monotonic_clock: Clock = monotonic_clock_ms,
        slow_log: SlowLog | None = None,
        readers_max: int = DEFAULT_LIMITS.waiting_readers_max,
    ) -> None:
        self._engine = MeasuredEngine(engine, slow_log or SlowLog())
        self._clock = clock
        self._ran_at_ms = 0
        self._log: Log = NoLog()
        look_again = partial(self._run, execute=self._engine.look_again)
        self._readers = WaitingReaders(look_again, self._hand_over, lambda: self._ran_at_ms, monotonic_clock)
        self._reclaimer = Reclaimer(engine.keyspace.garbage)
        self._refusal: StoreUnavailable | None = None
        self._failure: str | None = None
        self._is_draining = False
        self._refuses_growth = False
        self._is_sealing = False
        self._readers_max = readers_max
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

    @property
    def figures(self) -> CommandFigures:
        """What was asked of the engine, and what came of it."""
        return self._engine.figures

    @property
    def slow_log(self) -> SlowLog:
        """The last slow operations; those of requests are noted by who answers them."""
        return self._engine.slow_log

    @property
    def keyspace(self) -> Keyspace:
        """All streams, to look at."""
        return self._engine.engine.keyspace

    @property
    def refuses_growth(self) -> bool:
        """Whether the memory is at its limit: nothing is appended."""
        return self._refuses_growth

    @property
    def waiting_count(self) -> int:
        """How many reads wait."""
        return len(self._readers)

    def now_ms(self) -> int:
        """The time by which idle times are counted."""
        return self._clock()

    # --- commands ------------------------------------------------------------------------------

    async def execute(self, command: Command) -> Reply:
        """Carry out one command at the present time; a read that blocks waits here.

        Raises `StreamError` where the command is refused, `StoreUnavailable` where the store drains or its
        storage failed. Cancelled while it waits, it has taken nothing.
        """
        try:
            self._require_accepting(command)
            self._require_memory(command)
            outcome = self._run(command)
            self._require_room(outcome)
        except StoreUnavailable as refusal:
            self._note_refusal(command, refusal)
            raise
        except StreamError as refusal:
            self._note_refusal(command, refusal)
            await self._durable()
            raise
        note_commands((command,), self.figures.last_engine_ns)
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
        begin_ns = time.perf_counter_ns()
        try:
            answer = await answered
        finally:
            reader.cancel()
            note_phase(WAIT, begin_ns)
        if isinstance(answer, StreamError | StoreUnavailable):
            raise answer
        return answer

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Carry out `commands` at one instant with nothing between them; a refused one stops none.

        Readers look again once, when all is done (rule 44). Raises REPLY_TOO_LARGE before anything is done.
        """
        replies = self._run_together(commands, partial(self._execute_allowed, commands))
        await self._durable()
        return replies

    async def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Carry out `commands` in turns, with other requests between them: see the port."""
        log = self._log
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
        if log is not self._log:
            # It failed between two turns, and what the turns before did, or saw, was lost with it.
            self._require_storage()
        await self._durable()

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Carry out the first of `requests`, as many as one turn allows: see the port."""
        replies = self._run_some(requests, rooms)
        await self._durable()
        return replies

    def _run_some(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> list[Reply | StreamError]:
        execute = partial(self._execute_some_allowed, requests, rooms)
        return self._run_together(list(chain.from_iterable(requests)), execute)

    def _run_together(
        self, commands: Sequence[Command], execute: ExecuteTogether
    ) -> list[Reply | StreamError]:
        """What `execute` makes of `commands`, or of the first of them; their effects are recorded."""
        for command in commands:
            self._require_accepting(command)
        try:
            replies, outcome = execute()
        except Damage as damage:
            raise self._damaged(commands, damage) from damage
        for command, reply in zip(commands, replies, strict=False):
            if isinstance(reply, StreamError):
                self._note_refusal(command, reply)
        self._record(outcome)
        self._readers.wake(outcome.wake_ups)
        return [each if isinstance(each, StreamError) else self._completed(each) for each in replies]

    def submit(self, command: Command, receive: Receive) -> None:
        """Carry out one command that does not block, without a task: see the port."""
        answer: Answer
        try:
            self._require_accepting(command)
            self._require_memory(command)
            outcome = self._run(command)
        except (StreamError, StoreUnavailable) as refusal:
            answer = kept(refusal)
        else:
            self._readers.wake(outcome.wake_ups)
            answer = outcome.reply
        self._hand_over(receive, answer)

    def watch(self, command: Read | ReadGroup, receive: Receive) -> Watch:
        """Run a read, waiting where it blocks, and hand its answer to `receive`: see the port."""
        try:
            self._require_accepting(command)
            outcome = self._run(command, partial(self._engine.execute_for, SUBSCRIPTION))
            self._require_room(outcome)
        except (StreamError, StoreUnavailable) as refusal:
            self._note_refusal(command, refusal)
            return self._answered(receive, kept(refusal))
        if outcome.wait is not None:
            return self._readers.add(outcome, receive)
        return self._answered(receive, outcome.reply)

    def tick(self) -> None:
        """What is due once a second: forget old idempotency keys, and notice a clock that was set."""
        if self._refusal is None:
            self._run(ExpireIdempotencyKeys(), partial(self._engine.execute_for, TICK))
            self._readers.compare_clocks()

    def _run(self, command: Command, execute: Execute | None = None) -> Outcome:
        """`execute`: the engine's way in; that for requests, where none is given."""
        self._ran_at_ms = self._clock()
        try:
            outcome = (execute or self._engine.execute)(command, self._ran_at_ms)
        except Damage as damage:
            raise self._damaged((command,), damage) from damage
        self._record(outcome)
        return outcome

    def _note_refusal(self, command: Command, refusal: StreamError | StoreUnavailable) -> None:
        """For the figures. Not for `submit`: what is refused there is asked again, by `execute`."""
        code = refusal.code if isinstance(refusal, StreamError) else HttpCode.NOT_ACCEPTING
        self.figures.refused(command, code)

    def _damaged(self, commands: Sequence[Command], damage: Damage) -> StoreUnavailable:
        """A block on disk is not what was written. A read is refused; a command that may have changed
        something on its way there cannot be trusted to have changed all, so it is the last one."""
        if any(type(command) not in READ_ONLY for command in commands):
            # By way of the log, which then writes no more of what is half done, not even when it closes.
            self._log.fail(damage)
        return StoreUnavailable(f"storage is damaged: {damage}")

    def _record(self, outcome: Outcome) -> None:
        if outcome.effects:
            self._log.record(outcome.effects)
            if self._reclaimer.garbage.part_count:
                self._reclaimer.arrange()
            if self.keyspace.sealing.waiting and not self._is_sealing:
                self._is_sealing = True
                asyncio.get_running_loop().call_soon(self._seal_some)

    def _seal_some(self) -> None:
        """Seal some of the blocks that a large append filled, and the others on later turns of the loop."""
        sealing = self.keyspace.sealing
        sealing.step()
        self._is_sealing = bool(sealing.waiting)
        if self._is_sealing:
            asyncio.get_running_loop().call_soon(self._seal_some)

    # --- what leaves ---------------------------------------------------------------------------

    async def _durable(self) -> None:
        """Return when all that happened so far is durable. Raises `StoreUnavailable` if it never can be."""
        if self._log.is_behind:
            reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._log.when_durable(lambda: _settle(reached, None))
            begin_ns = time.perf_counter_ns()
            await reached
            note_phase(COMMIT, begin_ns)
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

    def refuse_growth(self, *, while_true: bool) -> None:
        """Whether to refuse from now on what makes the data grow; all else goes on."""
        self._refuses_growth = while_true

    def drain(self) -> None:
        """Take no more commands from now on: the server is about to end. Commands done stay done.

        Readers that wait are told so.
        """
        self._is_draining = True
        self._refuse(StoreUnavailable(_DRAINING, retry_after_s=_RETRY_AFTER_DRAINING_S))

    def fail(self, reason: str) -> None:
        """The disk refused a commit, or holds something else than was written: take no writes until a
        restart, and forget what was shown to nobody. What is on disk is read on; where even that cannot
        be read, nothing is answered any more.
        """
        committed = self._committed()
        if committed is not None:
            self._engine.replace(Engine(committed))
            self._reclaimer = Reclaimer(committed.garbage)
        self._is_draining = self._is_draining or committed is None
        self._log = NoLog()
        self._failure = f"storage failed: {reason}"
        self._refuse(StoreUnavailable(self._failure))

    def _refuse(self, refusal: StoreUnavailable) -> None:
        self._refusal = refusal
        self._readers.close(refusal)

    def _require_accepting(self, command: Command) -> None:
        if self._refusal is not None and (self._is_draining or type(command) not in READ_ONLY):
            raise StoreUnavailable(self._refusal.reason, retry_after_s=self._refusal.retry_after_s)

    def _require_memory(self, command: Command) -> None:
        if self._refuses_growth and type(command) in GROWING:
            raise out_of_memory()

    def _execute_allowed(self, commands: Sequence[Command]) -> tuple[Sequence[Reply | StreamError], Outcome]:
        """All of `commands`, but for those that would make the data grow while that is refused."""
        replies, outcome = self._engine.execute_all(self._allowed(commands), self._clock())
        return self._with_refusals(commands, replies), outcome

    def _execute_some_allowed(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> tuple[Sequence[Reply | StreamError], Outcome]:
        """The same of the first of `requests`."""
        allowed = [self._allowed(commands) for commands in requests]
        replies, outcome = self._engine.execute_some(allowed, rooms, self._clock())
        return self._with_refusals(list(chain.from_iterable(requests)), replies), outcome

    def _allowed(self, commands: Sequence[Command]) -> Sequence[Command]:
        if not self._refuses_growth:
            return commands
        return [command for command in commands if type(command) not in GROWING]

    def _with_refusals(
        self, commands: Sequence[Command], replies: Sequence[Reply | StreamError]
    ) -> Sequence[Reply | StreamError]:
        """The replies with refusals between them; they end where there is no reply for an allowed command."""
        if not self._refuses_growth:
            return replies
        filled: list[Reply | StreamError] = []
        given = iter(replies)
        for command in commands:
            reply = out_of_memory() if type(command) in GROWING else next(given, _NO_REPLY)
            if reply is _NO_REPLY:
                break
            filled.append(reply)
        return filled

    def _require_room(self, outcome: Outcome) -> None:
        """Raises where `outcome` would wait, and as many reads wait as may."""
        if outcome.wait is not None and len(self._readers) >= self._readers_max:
            raise too_many_readers(self._readers_max)

    def _refusal_after_failure(self) -> StoreUnavailable | None:
        """What to tell those whose command was carried out before the storage failed."""
        return None if self._failure is None else StoreUnavailable(self._failure, is_outcome_unknown=True)

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
