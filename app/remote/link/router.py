"""The router: sends each command to the node that serves its key, and follows redirections of the engine.

It owns the table of slots, the nodes, and the lanes that keep the order of commands. Until a deadline, it
sends a command again if the engine has certainly not executed it. It never sends a write again that may have
been executed. It never reads what a command means.

A lane opens when a command is refused, or when slots change their node. Commands that were sent before and
come back wait first, those that are new wait after them, so each key keeps its order.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.discovery import SLOTS, Layout
from tailrace.app.remote.link.exchange import Exchange, Failure, Way
from tailrace.app.remote.link.node import Node, NodeContext
from tailrace.app.remote.link.port import EngineError, LinkDown
from tailrace.app.remote.link.timing import Timing, spread
from tailrace.app.remote.link.url import Address, address_of


class Lane:
    """Waiting commands of `slots`. `on_open` gets the lane once nothing in flight can overtake, and pauses
    are over."""

    def __init__(self, slots: Iterable[int], on_end: Callable[[Lane], None]) -> None:
        self.slots = list(slots)
        self.returned: list[Exchange] = []
        self.fresh: list[Exchange] = []
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._holds = 0

    def hold_until_answered(self, channel: Channel) -> None:
        """Wait until everything that was sent on a channel has been answered."""
        if channel.is_busy:
            self._holds += 1
            channel.when_idle(self._let_go)

    def hold_for(self, pause_s: float) -> None:
        """Wait at least this long. Also ends a lane without any other hold, on the next turn of the loop."""
        self._holds += 1
        self._loop.call_later(pause_s, self._let_go)

    def _let_go(self) -> None:
        self._holds -= 1
        if not self._holds:
            self._on_end(self)


REDIRECTS_AT_ONCE: Final = 3
"""Redirections of one command that are followed without a pause; more of them mean that nodes disagree."""


class Router:
    """Sends exchanges. `ask_refresh` is called when the layout may have changed."""

    def __init__(self, context: NodeContext, ask_refresh: Callable[[], None]) -> None:
        self.timing: Timing = context.timing
        self.nodes: dict[Address, Node] = {}
        self.masters: list[Node] = []
        self.on_moved: Callable[[Iterable[int]], None] = lambda _slots: None
        self._context = context
        self._ask_refresh = ask_refresh
        self._loop = asyncio.get_running_loop()
        self._table: list[Node | None] = [None] * SLOTS
        self._lanes: dict[int, Lane] = {}
        self._closed = False

    # --- sending ---------------------------------------------------------------------------------

    async def enter(self, exchange: Exchange) -> None:
        """Send an exchange; wait before while its node has no room."""
        channel = self.channel_for(exchange)
        if channel is not None and not channel.has_room:
            await channel.room(exchange.size)
        self.send(exchange)

    def send(self, exchange: Exchange) -> None:
        """Send an exchange, or add it to the lane of its slot."""
        lane = self._lanes.get(exchange.slot) if self._lanes and exchange.slot is not None else None
        if lane is not None:
            lane.fresh.append(exchange)
        else:
            self._send_now(exchange)

    def _send_now(self, exchange: Exchange) -> None:
        channel = self.channel_for(exchange)
        if channel is None:
            self.retry(exchange, LinkDown(self._why_no_node(exchange), outcome_unknown=False))
        else:
            exchange.channel = channel
            channel.send(exchange)

    def channel_for(self, exchange: Exchange) -> Channel | None:
        """Return the channel of the node that gets an exchange; None if no node is known for it."""
        node = self._node_for(exchange)
        if node is None:
            return None
        way = exchange.way
        if way is Way.EVENTUAL:
            replicas = [replica for replica in node.replicas if not replica.channel(way).why_down]
            if not replicas or exchange.tries > REDIRECTS_AT_ONCE:
                way = Way.PLAIN
            else:
                node = random.choice(replicas)  # noqa: S311 - it spreads load and is no secret
        return node.channel(way)

    def _node_for(self, exchange: Exchange) -> Node | None:
        if exchange.address is not None:
            return self.nodes.get(address_of(exchange.address))
        if exchange.slot is not None:
            return self._table[exchange.slot]
        up = [node for node in self.masters if node.is_up] or self.masters
        return up[0] if up else None

    def _why_no_node(self, exchange: Exchange) -> str:
        if exchange.address is not None:
            return f"{exchange.address} is not one of the nodes"
        return "no master is known" if exchange.slot is None else f"no node serves the slot {exchange.slot}"

    def node_of_slot(self, slot: int) -> Node | None:
        """Return the master of a slot, if one is known."""
        return self._table[slot]

    # --- sending again ---------------------------------------------------------------------------

    def retry(self, exchange: Exchange, failure: Failure) -> None:
        """Send a command again that was certainly not executed, to the node in `failure` or after a pause."""
        if exchange.future.done():
            return  # its caller has gone
        now = self._loop.time()
        exchange.until = exchange.until or now + self.timing.retry_for_s
        if self._closed or now >= exchange.until:
            exchange.fail(self._given_up(exchange, failure))
            return
        exchange.tries += 1
        exchange.asking = False
        code = failure.code if isinstance(failure, EngineError) else b""
        is_at_once = exchange.tries <= REDIRECTS_AT_ONCE and exchange.address is None
        if code == b"ASK" and is_at_once:
            self._follow_ask(exchange, failure)
        elif code == b"MOVED" and is_at_once:
            self._note_moved(exchange, failure)
            self._park(exchange, 0)
        else:
            self._ask_refresh()
            self._park(exchange, self._pause_s(exchange.tries))

    def _given_up(self, exchange: Exchange, failure: Failure) -> LinkDown:
        if isinstance(failure, LinkDown):
            return failure
        name = exchange.channel.name if exchange.channel is not None else "the engine"
        return LinkDown(f"{name} answers {failure}", outcome_unknown=False)

    def _pause_s(self, tries: int) -> float:
        return spread(min(self.timing.backoff_most_s, self.timing.backoff_least_s * 2 ** min(tries, 10)))

    def _follow_ask(self, exchange: Exchange, failure: Failure) -> None:
        """Send to the node that imports the slot. Replies come in order, so these keep theirs."""
        node = self._target(exchange, failure)
        exchange.asking = True
        exchange.channel = channel = node.channel(exchange.way)
        channel.send(exchange)

    def _note_moved(self, exchange: Exchange, failure: Failure) -> None:
        node = self._target(exchange, failure)
        slot = exchange.slot
        if slot is not None and self._table[slot] is not node:
            self._table[slot] = node
            self.on_moved([slot])
        self._ask_refresh()

    def _target(self, exchange: Exchange, failure: Failure) -> Node:
        """Return the node that a redirection names. Without a host it is on the host that sent it."""
        address = address_of(str(failure).split()[2])
        if not address.host:
            address = Address(address_of(exchange.channel.name).host, address.port)
        return self.node_at(address)

    def _park(self, exchange: Exchange, pause_s: float) -> None:
        """Send an exchange that came back, after a pause and after all that may overtake it."""
        if exchange.slot is None:
            self._loop.call_later(pause_s, self._send_now, exchange)
            return
        lane = self._lanes.get(exchange.slot)
        if lane is None:
            lane = self._open_lane([exchange.slot])
            if exchange.channel is not None:
                lane.hold_until_answered(exchange.channel)
            lane.hold_for(pause_s)
        elif pause_s:
            lane.hold_for(pause_s)
        lane.returned.append(exchange)

    def _open_lane(self, slots: Iterable[int]) -> Lane:
        lane = Lane(slots, self._end_lane)
        self._lanes.update(dict.fromkeys(lane.slots, lane))
        return lane

    def _end_lane(self, lane: Lane) -> None:
        for slot in lane.slots:
            self._lanes.pop(slot, None)
        for exchange in (*lane.returned, *lane.fresh):
            self.send(exchange)

    # --- the layout ------------------------------------------------------------------------------

    def node_at(self, address: Address) -> Node:
        """Return the node at an address; a new one if it is not known."""
        node = self.nodes.get(address)
        if node is None:
            node = self.nodes[address] = Node(address, self._context)
        return node

    def adopt(self, layout: Layout) -> None:
        """Use a layout from now on. Commands for slots that changed their node keep their order."""
        table: list[Node | None] = [None] * SLOTS
        masters = []
        for shard in layout.shards:
            node = self.node_at(shard.master)
            node.is_master = True
            node.slots = shard.slots
            node.replicas = [self.node_at(address) for address in shard.replicas]
            masters.append(node)
            for replica in node.replicas:
                replica.is_master, replica.slots, replica.replicas = False, 0, []
            for first, last in shard.ranges:
                table[first : last + 1] = [node] * (last - first + 1)
        self.masters = masters
        self._change_table(table)
        self._forget_nodes()

    def _change_table(self, table: list[Node | None]) -> None:
        moved: dict[Node, list[int]] = {}
        for slot, (before, after) in enumerate(zip(self._table, table, strict=True)):
            if before is not after and before is not None:
                moved.setdefault(before, []).append(slot)
        self._table = table
        for before, slots in moved.items():
            self._hold_order(before, slots)
            self.on_moved(slots)

    def _hold_order(self, before: Node, slots: Sequence[int]) -> None:
        """Let new commands for these slots wait for those that are still at their previous node."""
        free = [slot for slot in slots if slot not in self._lanes]
        busy = before.busy_channels()
        if not free or not busy:
            return
        lane = self._open_lane(free)
        for channel in busy:
            lane.hold_until_answered(channel)

    def _forget_nodes(self) -> None:
        """Close nodes that the layout no longer has, once they wait for nothing."""
        kept = {*self.masters, *(replica for node in self.masters for replica in node.replicas)}
        for address, node in list(self.nodes.items()):
            if node in kept:
                node.keep_connected()
            elif not node.busy_channels():
                del self.nodes[address]
                node.close()

    def close(self) -> None:
        """Close all nodes for good; what waits fails."""
        self._closed = True
        for node in self.nodes.values():
            node.close()
        lanes = {id(lane): lane for lane in self._lanes.values()}
        self._lanes.clear()
        for lane in lanes.values():
            for exchange in (*lane.returned, *lane.fresh):
                exchange.fail(LinkDown("the link is closed", outcome_unknown=False))
            lane.returned, lane.fresh = [], []
