"""One node: its address, its role, and its channels, which are made when they are first used.

It owns the channels. It never chooses which node gets a command.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.confirmed import ConfirmedChannel
from tailrace.app.remote.link.connection import Connection, Push
from tailrace.app.remote.link.exchange import Way
from tailrace.app.remote.link.handshake import Greeting, open_connection
from tailrace.app.remote.link.port import NodeState, Resp
from tailrace.app.remote.link.timing import Timing, spread
from tailrace.app.remote.link.url import Address

ONLINE_FOR_S: Final = 0.25
"""How long the number of replicas that a master shows is believed."""


@dataclass(frozen=True)
class NodeContext:
    """What all nodes of a link share. `on_channel` is called for each new channel."""

    greeting: Greeting
    timing: Timing
    on_channel: Callable[[Node, Way, Channel], None]


class Node:
    """A node. `is_master`, `slots` and `replicas` are as the last layout says."""

    def __init__(self, address: Address, context: NodeContext) -> None:
        self.address = address
        self.is_master = True
        self.slots = 0
        self.replicas: list[Node] = []
        self._context = context
        self._channels: dict[Way, Channel] = {}
        self._again: asyncio.TimerHandle | None = None
        self._failures = 0
        self._is_closed = False
        self.online_replicas = 0
        self._asked_at = -ONLINE_FOR_S

    def __repr__(self) -> str:
        return f"<Node {self.address}>"

    def channel(self, way: Way) -> Channel:
        """Return the channel of this way; a new one connects when something is sent."""
        channel = self._channels.get(way)
        if channel is None:
            channel = self._channels[way] = self._make(way)
            self._context.on_channel(self, way, channel)
        return channel

    def _make(self, way: Way) -> Channel:
        context = self._context

        def open_(on_lost: Callable[[str], None], on_push: Push) -> Awaitable[Connection]:
            return open_connection(
                self.address, way, context.greeting, context.timing.connect_s, on_lost, on_push
            )

        if way is Way.CONFIRMED:
            # Its connection is silent while replicas confirm.
            least_s = context.timing.confirm_s + context.timing.answer_s / 2
            timing = replace(context.timing, answer_s=max(context.timing.answer_s, least_s))
            return ConfirmedChannel(str(self.address), open_, timing)
        return Channel(str(self.address), open_, context.timing)

    def knows_online(self, now: float) -> bool:
        """Return whether `online_replicas` is recent."""
        return now - self._asked_at < ONLINE_FOR_S

    def note_online(self, now: float, info: Resp) -> None:
        """Keep how many replicas receive what is written, as INFO says."""
        self._asked_at = now
        self.online_replicas = info.count(b"state=online") if isinstance(info, bytes) else 0

    def busy_channels(self) -> list[Channel]:
        """Return the channels that wait for replies."""
        return [channel for channel in self._channels.values() if channel.is_busy]

    @property
    def is_up(self) -> bool:
        """Whether the node answers, as far as its plain connection shows."""
        return self.channel(Way.PLAIN).is_up

    def keep_connected(self) -> None:
        """Connect now, and again whenever the plain connection is lost, with growing pauses."""
        channel = self.channel(Way.PLAIN)
        channel.on_up = self._went_up
        channel.on_down = self._went_down
        channel.connect()

    def _went_up(self) -> None:
        self._failures = 0

    def _went_down(self, _reason: str) -> None:
        if self._is_closed:
            return
        timing = self._context.timing
        bound_s = min(timing.backoff_most_s, timing.backoff_least_s * 2**self._failures)
        self._failures = min(self._failures + 1, 10)
        if self._again is not None:
            self._again.cancel()
        connect = self.channel(Way.PLAIN).connect
        self._again = asyncio.get_running_loop().call_later(spread(bound_s), connect)

    def state(self) -> NodeState:
        """Return what an operator sees."""
        channel = self.channel(Way.PLAIN)
        return NodeState(
            address=str(self.address),
            role="master" if self.is_master else "replica",
            slots=self.slots,
            is_up=channel.is_up,
            why_down="" if channel.is_up else channel.why_down or "not yet connected",
        )

    def close(self) -> None:
        """Close all channels for good."""
        if self._again is not None:
            self._again.cancel()
        self._is_closed = True
        for channel in self._channels.values():
            channel.close()
