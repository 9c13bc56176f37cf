"""Settling for programs that block: it sends acknowledgments, returns entries and writes dead letters.

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
"""The least time between two requests with acknowledgments, while there is more to do. Acknowledgments of fast
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
        """`Item.ack` and `Item.nack`. Raises `TailraceError`; the item is let go all the same.

        With `create_group` a group that is gone is no error: the next read makes it again.
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
        """x."""
        self._done.append(item)
        if time.monotonic() - self._flushed_at >= ACKS_WAIT_S:
            self.flush()

    def flush(self) -> None:
        """Acknowledge what is done. Threads may do so at a time: each item is taken by one."""
        done = []
        with suppress(IndexError):
            while True:
                done.append(self._done.popleft())
        self._flushed_at = time.monotonic()
        self.send_all(self._state.ack_calls(done))
        for item in done:
            self._state.let_go(item)

    def failed(self, item: Item, error: Exception) -> None:
        """x."""
        if self._state.holds(item) and self._state.is_dead(item.deliveries + 1):
            self.bury(item.read, item.deliveries + 1, f"{type(error).__name__}: {error}")
        self._state.let_go(item)

    def bury(self, read: Read, deliveries: int, error: str) -> None:
        """x."""
        _log.error("dead letter: %s %s, last error: %s", read.stream, read.id, error or "not known")
        self.send_all([dead_letters.set_aside(self._state.options, read, deliveries, error)])

    def send_all(self, calls: Iterable[Any]) -> None:
        """Where one fails for good its entries stay pending, and come back: the loop goes on."""
        for call in calls:
            try:
                self._session.send(call)
            except TailraceError as error:
                _log.warning("entries stay pending: %s", error)
