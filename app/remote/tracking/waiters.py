"""Who waits for which key, and when each key is read again although no change was reported.

It owns the waiters of this process and one timer. It knows no connection.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Final

from tailrace.app.remote.link.timing import Timing

_log: Final = logging.getLogger(__name__)


class Waiter:
    """One waiter of a key: see `port.Armed`."""

    __slots__ = ("_waiters", "key", "wake")

    def __init__(self, waiters: Waiters, key: bytes, wake: Callable[[], None]) -> None:
        self._waiters = waiters
        self.key = key
        self.wake = wake

    def cancel(self) -> None:
        """Stop waking. Cost: O(1)."""
        self._waiters.discard(self)


class Waiters:
    """All waiters. Each key with waiters is woken again within `reread_most_s`, also if nothing changes."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._loop = asyncio.get_running_loop()
        self._by_key: dict[bytes, dict[Waiter, None]] = {}
        self._due: list[tuple[float, bytes]] = []
        self._scheduled: set[bytes] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, key: bytes, wake: Callable[[], None]) -> Waiter:
        """Add a waiter. Cost: O(log keys) for the first one of a key, else O(1)."""
        waiter = Waiter(self, key, wake)
        self._by_key.setdefault(key, {})[waiter] = None
        if key not in self._scheduled:
            self._scheduled.add(key)
            self._schedule(key)
        return waiter

    def discard(self, waiter: Waiter) -> None:
        """Forget a waiter; one that was forgotten before is ignored."""
        waiters = self._by_key.get(waiter.key)
        if waiters is not None and waiters.pop(waiter, False) is None and not waiters:
            del self._by_key[waiter.key]

    def waited(self) -> list[bytes]:
        """Return all keys with waiters."""
        return list(self._by_key)

    def wake(self, key: bytes) -> None:
        """Wake all waiters of a key. One that is cancelled meanwhile is left out."""
        for waiter in list(self._by_key.get(key, ())):
            if waiter in self._by_key.get(key, ()):
                self._wake_one(waiter)

    @staticmethod
    def _wake_one(waiter: Waiter) -> None:
        try:
            waiter.wake()
        except Exception:  # noqa: BLE001 - one waiter must not keep the others asleep
            _log.exception("a waiter of %r failed", waiter.key)

    def wake_all(self, keys: Iterable[bytes] | None = None) -> None:
        """Wake all waiters of some keys, or of all."""
        for key in self.waited() if keys is None else list(keys):
            self.wake(key)

    # --- reading again ---------------------------------------------------------------------------

    def _schedule(self, key: bytes) -> None:
        least_s, most_s = self._timing.reread_least_s, self._timing.reread_most_s
        due = self._loop.time() + random.uniform(least_s, most_s)  # noqa: S311 - it spreads load, no secret
        heappush(self._due, (due, key))
        if self._timer is None:
            self._timer = self._loop.call_at(due, self._reread)

    def _reread(self) -> None:
        """Wake the keys that are due. Keys without a waiter are forgotten here."""
        now = self._loop.time()
        while self._due and self._due[0][0] <= now:
            _, key = heappop(self._due)
            if key in self._by_key:
                self._schedule(key)
                self.wake(key)
            else:
                self._scheduled.discard(key)
        self._timer = self._loop.call_at(self._due[0][0], self._reread) if self._due else None

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
