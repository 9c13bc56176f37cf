"""The tracker: reads keys with client tracking, and wakes waiters when the engine reports a change.

Rules, each measured: a waiter is armed before its read is sent; EXISTS comes before XREADGROUP, which alone
registers nothing; never NOLOOP. Some changes are not reported: a slot that moves while its key is absent, a
node that hangs. PING with a deadline, changes of the layout, and reading again every 5 to 10 seconds cover
these.

Replies of RESP3 are brought into the shape of RESP2, which the rest of the program reads: commands of streams
return maps in RESP3, XREAD and XREADGROUP of keys, XINFO of names.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.discovery import slot_of
from tailrace.app.remote.link.exchange import TogetherExchange, Way, exact, packed
from tailrace.app.remote.link.node import Node
from tailrace.app.remote.link.port import EngineError, Resp, Words
from tailrace.app.remote.link.router import Router
from tailrace.app.remote.link.timing import Timing

READS: Final = frozenset({b"XREAD", b"XREADGROUP"})


def as_resp2(reply: Any, words: Words) -> Resp | EngineError:
    """Return the reply to a command as RESP2 has it. Cost: the size of maps only, for reads of streams."""
    if isinstance(reply, dict) and words[0].upper() in READS:
        # The entries of a stream are arrays in both protocols.
        return [[key, entries] for key, entries in reply.items()]
    return _flat(reply)


def _flat(reply: Any) -> Resp | EngineError:
    if isinstance(reply, dict):
        return [_flat(each) for pair in reply.items() for each in pair]
    if isinstance(reply, list):
        return [_flat(each) for each in reply]
    if isinstance(reply, bool):
        return int(reply)
    if isinstance(reply, float):
        return f"{reply:.17g}".encode()
    return reply  # type: ignore[no-any-return]


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


INVALIDATE: Final = b"invalidate"


class Tracker:
    """Waiting readers of one router. It listens to each tracking channel that `listen` gets."""

    def __init__(self, router: Router) -> None:
        self.waiters = Waiters(router.timing)
        self._router = router
        # Keys that were read at a node that imports their slot: the table does not show it.
        self._imported: set[bytes] = set()
        self._loop = asyncio.get_running_loop()
        router.on_moved = self._moved

    def listen(self, node: Node, channel: Channel) -> None:
        """Wake waiters at what this tracking channel reports, and when it is lost."""
        channel.on_push = self._pushed
        channel.on_down = lambda _reason: self._lost(node)

    def arm(self, key: bytes, wake: Callable[[], None]) -> Waiter:
        """See `port.Link`."""
        return self.waiters.add(key, wake)

    async def read(
        self, commands: Sequence[Words], *, key: bytes, is_write: bool
    ) -> list[Resp | EngineError]:
        """See `port.Link.read_armed`."""
        future = self._loop.create_future()
        exchange = TogetherExchange(
            [packed([b"EXISTS", key]), *(packed(words) for words in commands)],
            slot=slot_of(key),
            is_write=is_write,
            retry=self._router.retry,
            future=future,
            way=Way.TRACKING,
        )
        await self._router.enter(exchange)
        replies = (await future)[1:]
        if exchange.asking:
            self._imported.add(key)
        return [
            exact(reply, commands) if type(reply) is EngineError else as_resp2(reply, words)
            for reply, words in zip(replies, commands, strict=True)
        ]

    # --- what happens at the engine --------------------------------------------------------------

    def _pushed(self, push: list[Any]) -> None:
        if push[0] != INVALIDATE:
            return
        if push[1] is None:  # FLUSHALL, or the engine forgot what it tracked
            self.waiters.wake_all()
        else:
            self.waiters.wake_all(push[1])

    def _lost(self, node: Node) -> None:
        """Wake all keys that the node may have tracked. Changes meanwhile were not reported."""
        table = self._router.node_of_slot
        imported, self._imported = self._imported, set()
        self.waiters.wake_all(
            [key for key in self.waiters.waited() if table(slot_of(key)) is node or key in imported]
        )

    def _moved(self, slots: Iterable[int]) -> None:
        moved = set(slots)
        self.waiters.wake_all([key for key in self.waiters.waited() if slot_of(key) in moved])

    def close(self) -> None:
        """Stop the timer."""
        self.waiters.close()
