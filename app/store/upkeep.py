"""The upkeep of a store: the work that becomes due with time, once a second and without a request.

It owns which parts there are: idempotency keys expire, consumers of groups with `consumer_expiry_ms` expire,
retention removes entries, readers notice a step of the clock, and groups above their `max_lag_ms` are logged.
Scheduled entries and delayed retries have a timer of their own. Each part bounds its own work. This module
never decides what a part does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tailrace.app.clock import Clock
from tailrace.app.store.due_timer import DueTimer
from tailrace.app.store.expiry import ConsumerExpiry
from tailrace.app.store.lag_alerts import LagAlerts
from tailrace.app.store.readers import WaitingReaders
from tailrace.app.store.retention_sweep import RetentionSweep
from tailrace.core.commands import Command, DoDue, ExpireConsumers, ExpireIdempotencyKeys, SweepRetention
from tailrace.core.keyspace import Keyspace
from tailrace.core.limits import EXPIRING_STREAMS_PER_STEP
from tailrace.core.outcome import Outcome
from tailrace.core.replies import ExpiryReply


class Upkeep:
    """The upkeep of one store.

    `run` runs a command of the server itself, `keyspace` returns the current keyspace, and `is_ready` whether
    the store accepts writes. `clocks`: the system clock and the monotonic one. `lag_alerts`: the groups that
    are behind.
    """

    def __init__(
        self,
        run: Callable[[Command], Outcome],
        readers: WaitingReaders,
        keyspace: Callable[[], Keyspace],
        is_ready: Callable[[], bool],
        clocks: tuple[Clock, Clock],
    ) -> None:
        self._run_quietly = run
        self._readers = readers
        self._keyspace = keyspace
        self._is_ready = is_ready
        self._clock = clocks[0]
        self._retention = RetentionSweep(self._sweep_retention)
        self._expiry = ConsumerExpiry(
            self._expire_consumers,
            lambda: is_ready() and bool(keyspace().expiring),
            lambda: readers.consumers({name for _, name in keyspace().expiring}),
            clocks,
        )
        self._due = DueTimer(self._do_due, keyspace, is_ready, clocks[0])
        self.lag_alerts = LagAlerts(keyspace)

    def tick(self) -> None:
        """Do what is due. Call it once a second."""
        if self._is_ready():
            self._expire_keys()
            if self._keyspace().retained:
                self._retention.begin()
            self._readers.compare_clocks()
            self._due.tick()
        self._expiry.tick()
        self.lag_alerts.tick(self._clock())

    def clocks_moved(self) -> None:
        """Do what is due after both clocks were moved forward by hand."""
        while self._is_ready() and self._expire_some_keys():
            pass
        self._expiry.look_now()
        self._due.do_now()
        self.tick()

    def _expire_keys(self) -> None:
        """Expire idempotency keys. Many streams with expired keys take several turns of the event loop."""
        if self._is_ready() and self._expire_some_keys():
            asyncio.get_running_loop().call_soon(self._expire_keys)

    def _expire_some_keys(self) -> bool:
        """Expire the keys of some streams. Return whether keys of other streams may have expired, too."""
        return self._run(ExpireIdempotencyKeys()).reply == EXPIRING_STREAMS_PER_STEP

    def _run(self, command: Command) -> Outcome:
        """Run a command, and let the waiting reads continue for which it made entries available."""
        outcome = self._run_quietly(command)
        self._readers.wake(outcome.wake_ups)
        return outcome

    def _sweep_retention(self, start_serial: int) -> int:
        """Carry out one step of the retention sweep. Return where to continue, 0 at the end."""
        if not self._is_ready():
            return 0
        reply = self._run(SweepRetention(start_serial)).reply
        assert isinstance(reply, int)
        return reply

    def _do_due(self) -> bool:
        """Carry out one step of what is due. Return whether more is due now."""
        return self._run(DoDue()).reply == 1

    def _expire_consumers(self, command: ExpireConsumers) -> ExpiryReply:
        reply = self._run(command).reply
        assert isinstance(reply, ExpiryReply)
        return reply
