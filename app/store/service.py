"""The single writer: all commands reach the engine through the `EngineStore`, one at a time.

The store passes the time to the engine, records the effects in the log, and wakes waiting readers. It
releases a reply, an error or a pushed entry only after everything that it reveals is durable. It needs no
lock: each command reads and changes the keyspace without an `await` in between, on one event loop.

Its collaborators: `admission` accepts or rejects commands, `recorder` runs them and records their effects,
`readers` keeps blocking reads, `batches` and `joined_appends` run several commands, `publishing` releases
results, and `upkeep` does what becomes due. The store never decides what a command does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from tailrace.api.ports import Answer, BeginWait, StoreUnavailable
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.app.clock import Clock, monotonic_clock_ms, system_clock_ms
from tailrace.app.observability.counters import CommandFigures
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.observability.timing import note_commands
from tailrace.app.store.admission import Admission
from tailrace.app.store.batches import Batches
from tailrace.app.store.joined_appends import JoinedAppends
from tailrace.app.store.lag_alerts import LagAlerts
from tailrace.app.store.log import Log
from tailrace.app.store.measured_engine import TICK, MeasuredEngine
from tailrace.app.store.publishing import Publisher
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.recorder import Recorder
from tailrace.app.store.upkeep import Upkeep
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command
from tailrace.core.engine import Engine
from tailrace.core.errors import StreamError, kept
from tailrace.core.keyspace import Keyspace
from tailrace.core.replies import Reply


class EngineStore:
    """Implements `api.ports.TurnStore` with an engine in this process. Use it from one event loop only."""

    def __init__(
        self,
        engine: Engine,
        clock: Clock = system_clock_ms,
        monotonic_clock: Clock = monotonic_clock_ms,
        slow_log: SlowLog | None = None,
        readers_max: int = DEFAULT_LIMITS.waiting_readers_max,
    ) -> None:
        self._engine = MeasuredEngine(engine, slow_log or SlowLog())
        self._admission = Admission()
        self._publisher = Publisher()
        self._recorder = Recorder(self._engine, self._publisher, clock)
        self._readers = WaitingReaders(
            partial(self._recorder.run, execute=self._engine.look_again),
            self._publisher.hand_over,
            lambda: self._recorder.ran_at_ms,
            monotonic_clock,
            readers_max,
        )
        self._upkeep = Upkeep(
            partial(self._recorder.run, execute=partial(self._engine.execute_for, TICK)),
            self._readers,
            lambda: self.keyspace,
            lambda: self.is_ready,
            (clock, monotonic_clock),
        )
        self._batches = Batches(self._recorder, self._admission, self._readers, self._publisher)
        self.joining = JoinedAppends(self._recorder, self._readers, self._admission, self._publisher)
        self._committed: Callable[[], Keyspace | None] = lambda: None

    def use_log(self, log: Log, committed: Callable[[], Keyspace | None]) -> None:
        """Record effects in `log`; call this before the first command. `committed` reads the durable keyspace
        after a failure; it returns None if that is impossible."""
        self._publisher.log = log
        self._committed = committed

    @property
    def not_ready(self) -> StoreUnavailable | None:
        """Return why the store rejects writes; None while it accepts them."""
        return self._admission.refusal

    @property
    def is_ready(self) -> bool:
        """Return whether the store accepts writes."""
        return self.not_ready is None

    @property
    def figures(self) -> CommandFigures:
        """Return the counters of all commands."""
        return self._engine.figures

    @property
    def slow_log(self) -> SlowLog:
        """Return the slow log. The observers of requests add slow requests to it."""
        return self._engine.slow_log

    @property
    def keyspace(self) -> Keyspace:
        """Return the keyspace for reading."""
        return self._engine.engine.keyspace

    @property
    def refuses_growth(self) -> bool:
        """Return whether the store rejects commands that add data, because the memory limit is reached."""
        return self._admission.refuses_growth

    @property
    def waiting_count(self) -> int:
        """Return the number of waiting reads."""
        return len(self._readers)

    @property
    def lag_alerts(self) -> LagAlerts:
        """Return the groups whose lag is above their `max_lag_ms`."""
        return self._upkeep.lag_alerts

    def now_ms(self) -> int:
        """Return the time from which idle times are measured, in Unix milliseconds."""
        return self._recorder.clock()

    # --- commands ------------------------------------------------------------------------------

    async def execute(self, command: Command) -> Reply:
        """Run one command at the current time and return its reply when it is durable; a read may block.

        Raises `StreamError` if the command is rejected, and `StoreUnavailable` during shutdown or after a
        storage failure. If it is cancelled while it blocks, it has read no entries.
        """
        try:
            self._admission.require(command)
            outcome = self._recorder.run(command)
            note_commands((command,), self.figures.last_engine_ns)
            # Before the read may be refused: it may have moved entries for which others wait.
            self._readers.wake(outcome.wake_ups)
            if outcome.wait is not None:
                self._readers.require_room()
        except StoreUnavailable as refusal:
            self._engine.note_refusal(command, refusal)
            raise
        except StreamError as refusal:
            self._engine.note_refusal(command, refusal)
            await self._publisher.durable()
            raise
        if outcome.wait is not None:
            return await self._readers.answer_of(outcome)
        await self._publisher.durable()
        return self._readers.completed(outcome.reply)

    def execute_all(self, commands: Sequence[Command]) -> Coroutine[Any, Any, Sequence[Reply | StreamError]]:
        """Run `commands` at one instant: see the port."""
        return self._batches.execute_all(commands)

    def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> Coroutine[Any, Any, None]:
        """Run `commands` in turns, with other requests in between: see the port."""
        return self._batches.execute_each(commands, room, take)

    def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Coroutine[Any, Any, Sequence[Reply | StreamError]]:
        """Run the first of `requests`, as many as one turn allows: see the port."""
        return self._batches.execute_turn(requests, rooms)

    def submit(
        self, command: Command, receive: Callable[[Any], None], wait: BeginWait | None = None
    ) -> Answer:
        """Run one command without a task: see the port."""
        answer: Answer
        admission = self._admission
        if self.joining.count:
            self.joining.run()  # they came before
        try:
            if admission.refusal is not None or admission.refuses_growth:
                admission.require(command)
            outcome = self._recorder.run(command)
            if wait is not None:
                self._engine.note_read(command)
            self._readers.wake(outcome.wake_ups)
            if outcome.wait is not None:
                self._readers.begin(outcome, receive, wait)
                return None
            answer = outcome.reply
        except (StreamError, StoreUnavailable) as refusal:
            self._engine.note_refusal(command, refusal)
            answer = kept(refusal)
        if self._publisher.log.is_behind:
            self._publisher.hand_over(receive, answer)
        else:
            receive(answer)
        return answer

    def tick(self) -> None:
        """Do the upkeep that is due: see `upkeep`. Call it once a second."""
        self._upkeep.tick()

    def serve_due(self) -> None:
        """Do what is due after both clocks were moved forward: the upkeep, and retry and end waits."""
        self._upkeep.clocks_moved()
        self._readers.serve_due()

    # --- rejecting -----------------------------------------------------------------------------

    def refuse_growth(self, *, while_true: bool) -> None:
        """Reject commands that add data while `while_true`; all other commands continue to run."""
        self._admission.refuses_growth = while_true

    def drain(self) -> None:
        """Reject all commands from now on, because the server shuts down. Waiting reads get this error."""
        self._readers.close(self._admission.drain())

    def fail(self, reason: str) -> None:
        """Reject writes until a restart, because a commit failed or the data on disk is damaged.

        The store continues with the committed keyspace and serves reads from it; no client has seen a later
        state. If that keyspace cannot be read, the store rejects all commands.
        """
        committed = self._committed()
        if committed is not None:
            self._recorder.replace(committed)
        failure = f"storage failed: {reason}"
        self._publisher.fail(failure)
        self._readers.close(self._admission.fail(failure, can_read=committed is not None))
