"""Releases results: each reply, error or pushed entry waits until everything that it reveals is durable.

It owns the log of the store and the order "durable, then visible", and what a waiting read is for its reader.
It never runs a command and never looks for entries.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tailrace.api.ports import Answer, StoreUnavailable
from tailrace.app.observability.timing import COMMIT, note_phase
from tailrace.app.store.log import Log, NoLog
from tailrace.core.commands import Command

Receive = Callable[[Answer], None]


@dataclass(slots=True, eq=False)
class WaitingRead:
    """One waiting read. `discard` removes it from the queue. `command`: that of a retry. `until_ms`: its
    monotonic deadline, or None."""

    discard: Callable[[WaitingRead], bool]
    command: Command
    receive: Receive
    until_ms: int | None

    def cancel(self) -> bool:
        """Stop waiting: see `api.ports.Watch`."""
        return self.discard(self)


class Publisher:
    """The results of one store. `log`: where its effects are recorded; set it before the first command."""

    def __init__(self) -> None:
        self.log: Log = NoLog()
        self._failure: str | None = None

    def fail(self, reason: str) -> None:
        """Stop waiting for the disk: results that are not durable yet become errors with `reason`."""
        self.log = NoLog()
        self._failure = reason

    async def durable(self) -> None:
        """Return when all recorded effects are durable. Raises `StoreUnavailable` if storage fails first."""
        if self.log.is_behind:
            reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.log.when_durable(lambda: _release(reached))
            begin_ns = time.perf_counter_ns()
            await reached
            note_phase(COMMIT, begin_ns)
            self.require_storage()

    def require_storage(self) -> None:
        """Raise `StoreUnavailable` if the storage failed after a command ran: its outcome is unknown."""
        refusal = self._refusal_after_failure()
        if refusal is not None:
            raise refusal

    def hand_over(self, receive: Receive, answer: Answer) -> None:
        """Call `receive` with `answer` as soon as all recorded effects are durable, or with an error."""
        if self.log.is_behind:
            self.log.when_durable(partial(self._give_durable, receive, answer))
        else:
            give(receive, answer)

    def _give_durable(self, receive: Receive, answer: Answer) -> None:
        """Call `receive` after the wait for the disk: with an error, if the storage failed."""
        give(receive, answer if self._failure is None else self._refusal_after_failure())

    def _refusal_after_failure(self) -> StoreUnavailable | None:
        """Return the error for a command that ran before the storage failed; None without a failure."""
        return None if self._failure is None else StoreUnavailable(self._failure, is_outcome_unknown=True)


def _release(reached: asyncio.Future[None]) -> None:
    if not reached.done():
        reached.set_result(None)


def give(receive: Receive, answer: Answer) -> None:
    """Call `receive`. The loop's exception handler reports its errors, which do not affect other readers."""
    try:
        receive(answer)
    except Exception as error:  # noqa: BLE001 - report any error and continue with the other readers
        context = {"message": "a reader failed to receive its answer", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
