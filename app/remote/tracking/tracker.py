"""The tracker: reads keys with client tracking, and wakes waiters when the engine reports a change.

Rules, each measured: a waiter is armed before its read is sent; EXISTS comes before XREADGROUP, which alone
registers nothing; never NOLOOP. Some changes are not reported: a slot that moves while its key is absent, a
node that hangs. PING with a deadline, changes of the layout, and reading again every 5 to 10 seconds cover
these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.exchange import TogetherExchange, Way, packed
from tailrace.app.remote.link.names import exact
from tailrace.app.remote.link.node import Node
from tailrace.app.remote.link.port import EngineError, Resp, Words
from tailrace.app.remote.link.router import Router
from tailrace.app.remote.link.slots import slot_of
from tailrace.app.remote.tracking.replies import as_resp2
from tailrace.app.remote.tracking.waiters import Waiter, Waiters

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
