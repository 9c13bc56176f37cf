"""Wake-ups between gateways: for changes that client tracking does not report, over PUBLISH and SUBSCRIBE.

One connection subscribes at one node, because a Cluster passes PUBLISH to all nodes. After a lost connection
it wakes all waiters, because wake-ups may have been lost. Messages are keys, never entries.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from collections.abc import Callable
from typing import Any, Final

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.discovery import slot_of
from tailrace.app.remote.link.exchange import Exchange, Way, packed
from tailrace.app.remote.link.port import EngineError
from tailrace.app.remote.link.router import Router
from tailrace.app.remote.link.timing import spread

_log: Final = logging.getLogger(__name__)

ORIGIN_BYTES: Final = 8
"""Each message begins with the mark of its sender, which ignores its own."""


class Wakes:
    """Tells other gateways, and listens to them. `database` separates those that use other databases."""

    def __init__(
        self, router: Router, database: int, wake: Callable[[bytes], None], wake_all: Callable[[], None]
    ) -> None:
        self._router = router
        self._channel_name = b"tailrace:wake:%d" % database
        self._origin = secrets.token_bytes(ORIGIN_BYTES)
        self._wake = wake
        self._wake_all = wake_all
        self._loop = asyncio.get_running_loop()
        self._told: dict[bytes, None] = {}
        self._timing = router.timing
        self._pause_s = router.timing.backoff_least_s
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None

    def tell(self, key: bytes) -> None:
        """Tell other gateways, once per turn of the loop for each key."""
        if not self._told:
            self._loop.call_soon(self._publish)
        self._told[key] = None

    def _publish(self) -> None:
        told, self._told = self._told, {}
        for key in told:
            future = self._loop.create_future()
            future.add_done_callback(_ignore)  # waiters read again anyway
            exchange = Exchange(
                packed([b"PUBLISH", self._channel_name, self._origin + key]),
                slot=slot_of(key),
                is_write=False,
                retry=self._router.retry,
                future=future,
            )
            self._router.send(exchange)

    # --- listening -------------------------------------------------------------------------------

    def listen(self) -> None:
        """Subscribe at a master that answers, and again elsewhere when that connection is lost."""
        if self._is_closed:
            return
        masters = self._router.masters
        node = random.choice([node for node in masters if node.is_up] or masters)  # noqa: S311 - no secret
        channel = node.channel(Way.WAKES)
        channel.on_push = self._pushed
        channel.on_up = lambda: self._subscribe(channel)
        channel.on_down = self._lost
        channel.connect()

    def _subscribe(self, channel: Channel) -> None:
        """Subscribe. In RESP3 the confirmation is a push, so a PING shows when it is effective."""
        future = self._loop.create_future()
        future.add_done_callback(self._subscribed)
        exchange = Exchange(
            packed([b"SUBSCRIBE", self._channel_name]) + packed([b"PING"]),
            slot=None,
            is_write=True,
            retry=self._router.retry,
            future=future,
        )
        channel.send(exchange)

    def _subscribed(self, future: asyncio.Future[Any]) -> None:
        if future.cancelled() or future.exception() is not None:
            return  # the connection is lost
        if isinstance(reply := future.result(), EngineError):
            _log.warning("waiting readers do not learn of changes through other gateways: %s", reply)
            return
        self._pause_s = self._timing.backoff_least_s
        self._wake_all()

    def _pushed(self, push: list[Any]) -> None:
        if push[0] == b"message":
            origin, key = push[2][:ORIGIN_BYTES], push[2][ORIGIN_BYTES:]
            if origin != self._origin:
                self._wake(key)

    def _lost(self, _reason: str) -> None:
        if not self._is_closed:
            self._pause_s = min(2 * self._pause_s, self._timing.refresh_every_s)
            self._timer = self._loop.call_later(spread(self._pause_s), self.listen)

    def close(self) -> None:
        """Stop listening; the router closes the connection."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()


def _ignore(future: asyncio.Future[Any]) -> None:
    """Read the result of a future that no task awaits, so asyncio does not report it."""
    if not future.cancelled():
        future.exception()
