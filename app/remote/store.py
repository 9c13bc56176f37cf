"""The store in front of Redis or Valkey: implements `api.ports.TurnStore` and `HotStore` over a link.

The engine keeps all data and decides every command, so any number of these stores work side by side. The
store owns the answers to clients: errors of the engine and of the link become those of the API. Its
collaborators: `words` spells commands, `running` and `hot` send them, `readers` waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from tailrace.api.ports import Answer, BeginWait, EngineFeature, StoreUnavailable, Watch
from tailrace.api.server_limits import DEFAULT_LIMITS
from tailrace.app.observability.counters import CommandFigures
from tailrace.app.observability.slow_log import SlowLog
from tailrace.app.observability.timing import WAIT, note_commands, note_phase
from tailrace.app.remote.answers import Answers, required, settle, told
from tailrace.app.remote.figures import outcome_of
from tailrace.app.remote.hot import HotCommands
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.readers.parts import AnyRead, Looks
from tailrace.app.remote.readers.waiting import WaitingReads
from tailrace.app.remote.readiness import why_not_ready
from tailrace.app.remote.replies.refusals import RETRY_AFTER_S
from tailrace.app.remote.rooms import fitted
from tailrace.app.remote.running import Runner
from tailrace.app.remote.words.engine import Engine
from tailrace.core.bounds.reply_room import ReplyRoom
from tailrace.core.commands import Command, Read, ReadGroup
from tailrace.core.errors import StreamError
from tailrace.core.limits import TURN_COMMANDS_MAX
from tailrace.core.replies import ReadReply, Reply

Receive = Callable[[Answer], None]

_DRAINING: Final = "the server is shutting down"
_RETRY_AFTER_DRAINING_S: Final = 1


class RemoteStore:
    """One store. Use it from one event loop only, and call `use` before the first command. `readers_max`: how
    many reads may wait."""

    link: Link
    engine: Engine
    joining: Final = None
    """The link sends the commands of a turn together, so no append waits for others."""

    def __init__(
        self, slow_log: SlowLog | None = None, readers_max: int = DEFAULT_LIMITS.waiting_readers_max
    ) -> None:
        self.figures = CommandFigures()
        self.slow_log = slow_log or SlowLog()
        self._readers_max = readers_max
        self._answers = Answers(self.figures, lambda: self.waiting_count)
        self._refusal: StoreUnavailable | None = None

    def use(self, link: Link, engine: Engine) -> None:
        """Run commands on `engine`, over `link`."""
        self.link = link
        self.engine = engine
        self._answers.link = link
        looks = Looks(link, engine)
        self._runner = Runner(link, engine, looks)
        self._readers = WaitingReads(link, engine, looks, self._answers.failure, self._readers_max)
        self._hot = HotCommands(
            link, engine, self._answers, self._measured, self.watch, self._readers.give_back
        )

    @property
    def not_ready(self) -> StoreUnavailable | None:
        """Return which node, slots or rights are missing, or that the server shuts down; else None."""
        if self._refusal is not None:
            return self._refusal
        reason = why_not_ready(self.link) or self.engine.inspection.why_not_ready()
        return None if reason is None else StoreUnavailable(reason, retry_after_s=RETRY_AFTER_S)

    @property
    def is_ready(self) -> bool:
        """Return whether all masters can be used."""
        return self.not_ready is None

    @property
    def waiting_count(self) -> int:
        """Return the number of waiting reads."""
        return len(self._readers)

    def features(self) -> Sequence[EngineFeature]:
        """Return what the engine has itself, and what is emulated or refused."""
        return [
            EngineFeature(each.name, each.support.value, each.reason)
            for each in self.engine.capabilities.features()
        ]

    # --- commands ------------------------------------------------------------------------------

    async def execute(self, command: Command) -> Reply:
        """Run one command; a read may block: see the port."""
        self._require_open(command)
        if isinstance(command, Read | ReadGroup) and command.block_ms is not None:
            return await self._wait(command)
        if isinstance(command, ReadGroup):
            return await self._read_for_client(command)
        return await self._measured(command)

    async def _measured(self, command: Command) -> Reply:
        begin_ns = time.perf_counter_ns()
        try:
            reply = await self._runner.run(command)
        except (EngineError, LinkDown, StreamError) as error:
            refusal = await self._answers.failure(error, command)
            self._answers.refused(command, refusal)
            raise refusal from None
        engine_ns = time.perf_counter_ns() - begin_ns
        self.figures.ran(command, outcome_of(command, reply), engine_ns)
        note_commands((command,), engine_ns)
        return self._answers.completed(reply)

    async def _wait(self, command: AnyRead) -> Reply:
        """Wait for the reply to a read. If this is cancelled, the read takes no entries."""
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        watch = self.watch(command, partial(settle, answered))
        begin_ns = time.perf_counter_ns()
        try:
            answer = await answered
        finally:
            watch.cancel()
            note_phase(WAIT, begin_ns)
        if isinstance(answer, StreamError | StoreUnavailable):
            raise answer
        note_commands((command,), 0)
        return answer

    async def _read_for_client(self, command: ReadGroup) -> Reply:
        """Read a group. If the client leaves meanwhile, the entries go back when they arrive."""
        reading = asyncio.ensure_future(self._measured(command))
        try:
            return await asyncio.shield(reading)
        except asyncio.CancelledError:
            reading.add_done_callback(partial(self._give_back, command))
            raise

    def _give_back(self, command: ReadGroup, reading: asyncio.Future[Reply]) -> None:
        if not reading.cancelled() and reading.exception() is None:
            reply = reading.result()
            assert isinstance(reply, ReadReply)
            self._readers.give_back(command, reply)

    def watch(self, command: AnyRead, receive: Receive) -> Watch:
        """Run a read that may block, and pass its answer to `receive` on a later turn of the loop."""
        if self._refusal is not None:
            return told(receive, self._refusal)

        def note(answer: Answer) -> None:
            if isinstance(answer, StreamError | StoreUnavailable):
                self._answers.refused(command, answer)
            else:
                self.figures.ran(command, outcome_of(command, answer), 0)
            receive(answer)

        return self._readers.add(command, note)

    def submit(self, command: Command, receive: Receive, wait: BeginWait | None = None) -> Answer:
        """Run one command: see the port. The engine has not answered on return."""
        if self._refusal is not None:
            self._answers.refused(command, self._refusal)
            told(receive, self._refusal)
        elif wait is not None and isinstance(command, Read | ReadGroup) and command.block_ms == 0:
            # A follower waits again after each answer: it needs no look of its own before the wait.
            wait(self.watch(command, receive))
        else:
            self._hot.submit(command, receive, wait)
        return None

    # --- several commands ----------------------------------------------------------------------

    async def execute_all(self, commands: Sequence[Command]) -> Sequence[Reply | StreamError]:
        """Run commands as one step: see the port. All keys must be in one slot."""
        self._require_all_open(commands)
        begin_ns = time.perf_counter_ns()
        try:
            found = await self._runner.run_together(commands)
        except (EngineError, LinkDown, StreamError) as error:
            raise await self._answers.failure(error, commands[0]) from None
        answers = [
            await self._answers.of(each, command) for each, command in zip(found, commands, strict=True)
        ]
        replies = list(map(required, answers))
        self._answers.note(commands, replies, time.perf_counter_ns() - begin_ns)
        return replies

    async def execute_each(
        self, commands: Sequence[Command], room: ReplyRoom, take: Callable[[Answer], Awaitable[None]]
    ) -> None:
        """Run commands one after another, some at a time: see the port."""
        self._require_all_open(commands)
        for start in range(0, len(commands), TURN_COMMANDS_MAX):
            some = commands[start : start + TURN_COMMANDS_MAX]
            if not room.has_any:
                for _ in some:
                    await take(room.refusal())
                continue
            for command, answer in zip(some, await self._run_each(some), strict=True):
                await take(await fitted(room, command, answer, self._readers.take_back))

    async def _run_each(self, commands: Sequence[Command]) -> list[Answer]:
        begin_ns = time.perf_counter_ns()
        found = await self._runner.run_each(commands)
        answers = [
            await self._answers.of(each, command) for each, command in zip(found, commands, strict=True)
        ]
        self._answers.note(commands, answers, time.perf_counter_ns() - begin_ns)
        return answers

    async def execute_turn(
        self, requests: Sequence[Sequence[Command]], rooms: Sequence[ReplyRoom]
    ) -> Sequence[Reply | StreamError]:
        """Run the commands of the first requests: see the port. Each request is one after another, not one
        step."""
        some: list[Command] = []
        room_of: list[ReplyRoom] = []
        for commands, room in zip(requests, rooms, strict=True):
            if some and len(some) + len(commands) > TURN_COMMANDS_MAX:
                break
            some += commands
            room_of += [room] * len(commands)
        self._require_all_open(some)
        triples = zip(room_of, some, await self._run_each(some), strict=True)
        return [required(await fitted(*each, self._readers.take_back)) for each in triples]

    # --- the end -------------------------------------------------------------------------------

    def drain(self) -> None:
        """Reject all commands from now on, because the server shuts down. Waiting reads get this error."""
        self._refusal = StoreUnavailable(_DRAINING, retry_after_s=_RETRY_AFTER_DRAINING_S)
        self._readers.close(self._refusal)

    def _require_open(self, command: Command) -> None:
        if self._refusal is not None:
            self._answers.refused(command, self._refusal)
            raise StoreUnavailable(_DRAINING, retry_after_s=_RETRY_AFTER_DRAINING_S)

    def _require_all_open(self, commands: Sequence[Command]) -> None:
        if self._refusal is not None:
            for command in commands:
                self._require_open(command)
