"""The caller: the part of the link that runs commands, as `port.Link` describes it.

It owns the router and the refreshing of the layout. Waiting readers are served by `tracking`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.discovery import Discovery, Refreshing, slot_of
from tailrace.app.remote.link.exchange import (
    AtomicExchange,
    Exchange,
    Outcome,
    Take,
    Taker,
    TogetherExchange,
    Way,
    exact,
    packed,
)
from tailrace.app.remote.link.handshake import Greeting
from tailrace.app.remote.link.node import Node, NodeContext
from tailrace.app.remote.link.port import Consistency, EngineError, LinkDown, NodeState, Resp, Words
from tailrace.app.remote.link.router import Router
from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.link.url import StoreUrl


class Caller:
    """Runs commands on the engine at `url`.

    `min_replicas`: how many replicas must confirm a write by default. `on_channel` is called for each new
    channel.
    """

    def __init__(self, url: StoreUrl, timing: Timing, min_replicas: int = 0) -> None:
        self.url = url
        self.min_replicas = min_replicas
        greeting = Greeting(url.username, url.password, url.database, url.tls, url.kind == "cluster")
        self.on_channel: Callable[[Node, Way, Channel], None] = lambda _node, _way, _channel: None
        self._loop = asyncio.get_running_loop()
        self._discovery = Discovery(url, greeting, timing)
        self._greeting = greeting
        self._timing = timing

    async def open(self) -> None:
        """Find the nodes and connect to them. Raises `LinkDown` if that fails."""
        layout = await self._discovery.find()
        if layout.node_timeout_s is not None:
            self._timing = self._timing.below(layout.node_timeout_s)
        context = NodeContext(self._greeting, self._timing, self._new_channel)
        self.router = Router(context, self._ask_refresh)
        self.refreshing = Refreshing(
            self._discovery, self._timing, self.router.adopt, lambda: list(self.router.nodes), self._is_whole
        )
        self.router.adopt(layout)
        await asyncio.gather(*(node.channel(Way.PLAIN).tried() for node in self.router.masters))
        self.refreshing.start()

    def _ask_refresh(self) -> None:
        self.refreshing.ask()

    def _new_channel(self, node: Node, way: Way, channel: Channel) -> None:
        self.on_channel(node, way, channel)

    def _is_whole(self) -> bool:
        return all(node.is_up for node in self.router.masters)

    @property
    def timing(self) -> Timing:
        """The times in use."""
        return self._timing

    @property
    def is_cluster(self) -> bool:
        """See `port.Link`."""
        return self.url.kind == "cluster"

    def slot_of(self, key: bytes) -> int:
        """See `port.Link`."""
        return slot_of(key)

    def master_of(self, key: bytes) -> str | None:
        """See `port.Link`."""
        node = self.router.node_of_slot(slot_of(key))
        return None if node is None else str(node.address)

    def masters(self) -> Sequence[NodeState]:
        """See `port.Link`."""
        return [node.state() for node in self.router.masters]

    def nodes(self) -> Sequence[NodeState]:
        """See `port.Link`."""
        replicas = {replica.address: replica for node in self.router.masters for replica in node.replicas}
        return [*self.masters(), *(node.state() for node in replicas.values())]

    # --- running commands ------------------------------------------------------------------------

    async def call(
        self,
        words: Words,
        *,
        key: bytes | None,
        is_write: bool,
        min_replicas: int | None = None,
        consistency: Consistency = "strong",
    ) -> Resp:
        """See `port.Link`."""
        future: asyncio.Future[Resp | EngineError] = self._loop.create_future()
        exchange = self._one(words, key, future, is_write=is_write)
        await self._prepare_way(exchange, min_replicas, consistency)
        await self.router.enter(exchange)
        reply = await future
        if type(reply) is EngineError:
            raise exact(reply, [words])
        return reply  # type: ignore[return-value]

    async def call_together(
        self,
        commands: Sequence[Words],
        *,
        key: bytes | None,
        is_write: bool,
        atomic: bool = False,
        min_replicas: int | None = None,
        consistency: Consistency = "strong",
    ) -> list[Resp | EngineError]:
        """See `port.Link`."""
        if not commands:
            return []
        future: asyncio.Future[list[Resp | EngineError]] = self._loop.create_future()
        exchange = self._together(commands, key, future, is_write=is_write, atomic=atomic)
        await self._prepare_way(exchange, min_replicas, consistency)
        await self.router.enter(exchange)
        try:
            replies = await future
        except EngineError as error:
            raise exact(error, commands) from None
        return [exact(each, commands) if type(each) is EngineError else each for each in replies]

    def _one(self, words: Words, key: bytes | None, future: Outcome, *, is_write: bool) -> Exchange:
        slot = None if key is None else slot_of(key)
        return Exchange(packed(words), slot=slot, is_write=is_write, retry=self.router.retry, future=future)

    def _together(
        self, commands: Sequence[Words], key: bytes | None, future: Outcome, *, is_write: bool, atomic: bool
    ) -> Exchange:
        made = AtomicExchange if atomic else TogetherExchange
        return made(
            [packed(words) for words in commands],
            slot=None if key is None else slot_of(key),
            is_write=is_write,
            retry=self.router.retry,
            future=future,
        )

    def submit(
        self, commands: Sequence[Words], take: Take, *, key: bytes, is_write: bool, atomic: bool = False
    ) -> bool:
        """See `port.Link`."""
        taker = Taker(commands, take)
        if len(commands) == 1:
            exchange = self._one(commands[0], key, taker, is_write=is_write)
        else:
            exchange = self._together(commands, key, taker, is_write=is_write, atomic=atomic)
        if is_write and self.min_replicas:
            if not self._has_replicas(exchange.slot, self.min_replicas):
                return False
            exchange.way = Way.CONFIRMED
            exchange.min_replicas = self.min_replicas
        channel = self.router.channel_for(exchange)
        if channel is not None and not channel.has_room:
            return False
        self.router.send(exchange)
        return True

    async def call_masters(self, words: Words, *, is_write: bool) -> list[Resp]:
        """See `port.Link`."""
        calls = [self.call_node(str(node.address), words, is_write=is_write) for node in self.router.masters]
        replies = await asyncio.gather(*calls, return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply
        return replies  # type: ignore[return-value]

    async def call_node(self, address: str, words: Words, *, is_write: bool) -> Resp:
        """See `port.Link`."""
        future: asyncio.Future[Resp | EngineError] = self._loop.create_future()
        exchange = self._one(words, None, future, is_write=is_write)
        exchange.address = address
        await self.router.enter(exchange)
        reply = await future
        if type(reply) is EngineError:
            raise exact(reply, [words])
        return reply  # type: ignore[return-value]

    async def _prepare_way(
        self, exchange: Exchange, min_replicas: int | None, consistency: Consistency
    ) -> None:
        if exchange.is_write:
            needed = self.min_replicas if min_replicas is None else min_replicas
            if needed:
                exchange.way = Way.CONFIRMED
                exchange.min_replicas = needed
                await self._require_replicas(exchange.slot, needed)
        elif consistency == "eventual":
            exchange.way = Way.EVENTUAL

    def _has_replicas(self, slot: int | None, needed: int) -> bool:
        """Return whether the layout shows enough replicas of a slot's master."""
        node = self.router.node_of_slot(slot or 0)
        return node is not None and len(node.replicas) >= needed

    async def _require_replicas(self, slot: int | None, needed: int) -> None:
        """Raise `LinkDown` if the master has too few replicas: better before the write than after it."""
        node = self.router.node_of_slot(slot or 0)
        if node is None or self._has_replicas(slot, needed):
            return
        # The layout does not show replicas that have just been connected.
        if not node.knows_online(self._loop.time()):
            info = await self.call_node(str(node.address), [b"INFO", b"replication"], is_write=False)
            node.note_online(self._loop.time(), info)
        if node.online_replicas < needed:
            raise LinkDown(
                f"{node.address} has {node.online_replicas} replicas, and {needed} must confirm the write;"
                " it was not sent",
                outcome_unknown=False,
            )

    async def close(self) -> None:
        """See `port.Link`."""
        await self.refreshing.close()
        self.router.close()
