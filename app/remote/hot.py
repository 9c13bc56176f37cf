"""Hot commands: sent without a task, and answered from within the reply of the engine.

It owns appends and acknowledgments of the hot way while they are under way. Whatever is not the plain case
(other commands, errors, a full connection, a lost library) runs in a task as any other command. A command is
sent once: a task runs it only if the engine has not run it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from tailrace.api.ports import Answer, BeginWait, StoreFailed, StoreUnavailable, Watch
from tailrace.api.problems.table import DEFECT
from tailrace.app.remote.answers import Answers
from tailrace.app.remote.figures import outcome_of
from tailrace.app.remote.functions.library import is_missing
from tailrace.app.remote.link.port import EngineError, Link, LinkDown
from tailrace.app.remote.readers.parts import AnyRead
from tailrace.app.remote.words.engine import Engine
from tailrace.app.remote.words.own_names import require_free_names
from tailrace.app.remote.words.plan import Plan, Result
from tailrace.app.remote.words.table import plan_of
from tailrace.core.commands import Acknowledge, Append, Command, Read, ReadGroup
from tailrace.core.errors import StreamError, kept
from tailrace.core.replies import ReadReply, Reply

_logger: Final = logging.getLogger("tailrace.http")

Receive = Callable[[Answer], None]
Results: TypeAlias = Sequence[Result] | EngineError | LinkDown

_PLAIN: Final = frozenset({Append, Acknowledge})
"""Commands of the hot way that are one plan. A read of a group can need a second plan."""


class _Found:
    """The wait of a read that has found entries: it ends now. `is_returned`: whether its client has left, so
    that the entries went back."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self._give_back = give_back
        self.is_returned = False

    def cancel(self) -> bool:
        """Return the entries to their group, and return True."""
        self.is_returned = True
        self._give_back()
        return True


class HotCommands:
    """The hot commands of one store. `run`: runs any command, and counts it. `watch`: that of the store.
    `give_back`: returns entries to their group whose reader has left."""

    def __init__(
        self,
        link: Link,
        engine: Engine,
        answers: Answers,
        run: Callable[[Command], Awaitable[Reply]],
        watch: Callable[[AnyRead, Receive], Watch],
        give_back: Callable[[AnyRead, ReadReply], None],
    ) -> None:
        self._link = link
        self._engine = engine
        self._answers = answers
        self._run = run
        self._watch = watch
        self._give_back = give_back
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, command: Command, receive: Receive, wait: BeginWait | None = None) -> None:
        """Run one command, and pass its answer to `receive` later: see the port."""
        if wait is not None and isinstance(command, Read | ReadGroup):
            receive = self._or_wait(command, receive, wait)
            command = replace(command, block_ms=None)
        plan = self._plan_of(command)
        if plan is None or not self._send(plan, partial(self._take, command, plan, receive)):
            self._start(self._answer(command, receive))

    def _or_wait(self, command: AnyRead, receive: Receive, wait: BeginWait) -> Receive:
        """Return what gets the answer to a look for entries: if there are none, the read waits. Readers that
        wait take turns, so a read that finds entries must not be one of them."""

        def looked(answer: Answer) -> None:
            if isinstance(answer, ReadReply):
                if answer.is_empty:
                    wait(self._watch(command, receive))
                    return
                if isinstance(command, ReadGroup) and not command.noack:
                    found = _Found(partial(self._give_back, command, answer))
                    wait(found)  # it stops at once if the client has left during the look
                    if found.is_returned:
                        return
            receive(answer)

        return looked

    def _send(self, plan: Plan, take: Callable[[int, Results], None]) -> bool:
        assert plan.key is not None, "appends and acknowledgments have a key"
        return self._link.submit(
            plan.commands,
            partial(take, time.perf_counter_ns()),
            key=plan.key,
            is_write=plan.is_write,
            atomic=plan.is_atomic,
        )

    def _plan_of(self, command: Command) -> Plan | None:
        if type(command) not in _PLAIN:
            return None
        try:
            require_free_names(command)
            return plan_of(self._engine, command)
        except StreamError:
            return None  # the task is refused in the same way

    def _take(
        self,
        command: Command,
        plan: Plan,
        receive: Receive,
        begin_ns: int,
        results: Results,
    ) -> None:
        try:
            reply = _read(plan, results)
        except (EngineError, LinkDown, StreamError) as error:
            is_lost = isinstance(error, EngineError) and is_missing(error) and self._engine.library
            again = self._answer(command, receive) if is_lost else self._refuse(error, command, receive)
            self._start(again)
            return
        except Exception:  # a defect: its client must not wait forever
            _logger.exception("request_failed")
            receive(StoreFailed(DEFECT))
            return
        if plan.wakes and plan.key is not None:
            self._link.wake(plan.key)
        self._answers.figures.ran(command, outcome_of(command, reply), time.perf_counter_ns() - begin_ns)
        receive(reply)

    async def _answer(self, command: Command, receive: Receive) -> None:
        try:
            answer: Answer = await self._run(command)
        except (StreamError, StoreUnavailable) as refusal:
            answer = kept(refusal)
        except Exception:  # a defect: its client must not wait forever
            _logger.exception("request_failed")
            answer = StoreFailed(DEFECT)
        receive(answer)

    async def _refuse(self, error: Exception, command: Command, receive: Receive) -> None:
        """Pass on an error of the engine, which may have to be asked for details."""
        refusal = await self._answers.failure(error, command)
        self._answers.refused(command, refusal)
        receive(refusal)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _read(plan: Plan, results: Results) -> Reply:
    if isinstance(results, EngineError | LinkDown):
        raise results
    return plan.read(results)
