"""Confirmed writes: a group of writes is followed by one WAIT, and answered when replicas have confirmed it.

The next group is written when the WAIT of the previous one has its reply, so groups grow with the load. WAIT
blocks a connection, therefore these writes have a connection of their own. It never reports an executed write
as not written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.connection import Answered, Connection
from tailrace.app.remote.link.exchange import Exchange, packed
from tailrace.app.remote.link.port import LinkDown


class ConfirmedChannel(Channel):
    """A channel whose exchanges are answered after `min_replicas` replicas have them."""

    _group: Group | None = None

    def _may_write(self, connection: Connection) -> bool:
        return self._group is None and super()._may_write(connection)

    def _write_some(self, connection: Connection) -> None:
        payload, exchanges = self._next_payload()
        if not exchanges:
            return
        timeout_ms = int(self.timing.confirm_s * 1000)
        self._group = group = Group(self.name, timeout_ms, self._confirmed)
        held = [Held(exchange, group) for exchange in exchanges]
        needed = max(exchange.min_replicas for exchange in exchanges)
        wait = packed([b"WAIT", b"%d" % needed, b"%d" % timeout_ms])
        connection.write(payload + wait, [*held, group])

    def _confirmed(self) -> None:
        self._group = None
        self._flush()


class Held:
    """An exchange whose reply is kept until its group is confirmed."""

    def __init__(self, exchange: Exchange, group: Group) -> None:
        self._exchange = exchange
        self._group = group
        self.wants = exchange.wants

    def done(self, reply: Any) -> None:
        """Keep the reply; an error is passed on at once."""
        if self._exchange.min_replicas and self._exchange.wrote(reply):
            self._group.held.append((self._exchange, reply))
        else:
            self._exchange.done(reply)

    def lost(self, reason: str) -> None:
        """The connection was lost."""
        self._exchange.lost(reason)


class Group(Answered):
    """The writes before one WAIT, and the taker of its reply."""

    wants = 1

    def __init__(self, name: str, timeout_ms: int, on_end: Callable[[], None]) -> None:
        self.held: list[tuple[Exchange, Any]] = []
        self._name = name
        self._timeout_ms = timeout_ms
        self._on_end = on_end

    def done(self, reply: Any) -> None:
        """Answer each write: with its reply if enough replicas have it, else with the truth."""
        for exchange, kept in self.held:
            if isinstance(reply, int) and reply >= exchange.min_replicas:
                exchange.done(kept)
            else:
                exchange.fail(self._unconfirmed(exchange, reply))
        self._on_end()

    def _unconfirmed(self, exchange: Exchange, reply: Any) -> LinkDown:
        if not isinstance(reply, int):
            return LinkDown(
                f"{self._name} wrote it, but cannot say who has it: {reply}", outcome_unknown=True
            )
        return LinkDown(
            f"{self._name} wrote it, but {reply} of {exchange.min_replicas} replicas confirmed it within"
            f" {self._timeout_ms} ms",
            outcome_unknown=True,
        )

    def lost(self, reason: str) -> None:
        """The connection was lost after the writes had their replies, before they were confirmed."""
        for exchange, _ in self.held:
            exchange.lost(reason)
        self._on_end()
