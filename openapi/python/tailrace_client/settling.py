"""Settle items for blocking programs: send acknowledgments, return entries to the group, store dead letters.

`consumer_state` makes the requests; this module sends them and decides when. It reads no entries.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from tailrace_client import dead_letters
from tailrace_client.consumer_state import ConsumerState, Read, is_group_missing
from tailrace_client.errors import TailraceError
from tailrace_client.items import Item, Settlement
from tailrace_client.session import Session

ACKS_WAIT_S: Final = 0.05
"""The least time between two requests with acknowledgments while there is more work. Acknowledgments of fast
handlers share a request; those of slow handlers are sent at once."""

_log: Final = logging.getLogger("tailrace_client")


class Settling:
    """Settles the items of one consumer."""

    def __init__(self, session: Session, state: ConsumerState[Item]) -> None:
        self._session = session
        self._state = state
        self._done: deque[Item] = deque()
        self._flushed_at = 0.0

    def settle_now(self, read: Read, how: Settlement) -> None:
        """Send the settlement of `Item.ack` or `Item.nack`. Raises `TailraceError`; the item is released even
        then.

        With `create_group`, a missing group is no error: the next read creates it again.
        """
        self._state.let_go(read)
        calls = self._state.ack_calls([read]) if how == "ack" else self._state.nack_calls([read], "fail")
        for call in calls:
            try:
                self._session.send(call)
            except TailraceError as error:
                if not (self._state.options.create_group and is_group_missing(error)):
                    raise
                _log.warning("%s was not settled: %s", read.id, error)

    def acknowledge_soon(self, item: Item) -> None:
        """Queue an acknowledgment, and send the queued ones if the last request was long enough ago."""
        self._done.append(item)
        if time.monotonic() - self._flushed_at >= ACKS_WAIT_S:
            self.flush()

    def flush(self) -> None:
        """Send all queued acknowledgments. Threads can call this at the same time: each item is taken by one
        of them."""
        done = []
        with suppress(IndexError):
            while True:
                done.append(self._done.popleft())
        self._flushed_at = time.monotonic()
        self.send_all(self._state.ack_calls(done))
        for item in done:
            self._state.let_go(item)

    def failed(self, item: Item, error: Exception) -> None:
        """Release an item whose handler failed, or store it as a dead letter after its last delivery."""
        if self._state.holds(item) and self._state.is_dead(item.deliveries + 1):
            self.bury(item.read, item.deliveries + 1, f"{type(error).__name__}: {error}")
        self._state.let_go(item)

    def bury(self, read: Read, deliveries: int, error: str) -> None:
        """Store an entry as a dead letter and log it. `deliveries`: how often it was delivered."""
        _log.error("dead letter: %s %s, last error: %s", read.stream, read.id, error or "unknown")
        options = self._state.options
        try:
            self._session.send(dead_letters.append(options, read, deliveries, error))
            self._session.send(dead_letters.acknowledge(options, read))
        except TailraceError as failure:
            _log.warning("%s %s stays pending: %s", read.stream, read.id, failure)

    def send_all(self, calls: Iterable[Any]) -> None:
        """Send the calls. If one fails permanently, its entries stay pending and are delivered again, and the
        loop continues."""
        for call in calls:
            try:
                self._session.send(call)
            except TailraceError as error:
                _log.warning("entries stay pending: %s", error)
