"""The link as the store uses it: commands by `link`, waiting readers by `tracking`.

It owns their composition, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tailrace.app.remote.link.caller import Caller
from tailrace.app.remote.link.channel import Channel
from tailrace.app.remote.link.exchange import Way
from tailrace.app.remote.link.node import Node
from tailrace.app.remote.link.port import Armed, EngineError, Resp, Words
from tailrace.app.remote.link.timing import Timing
from tailrace.app.remote.link.url import parse_store_url
from tailrace.app.remote.tracking.tracker import Tracker
from tailrace.app.remote.tracking.wakes import Wakes


class EngineLink(Caller):
    """Implements `port.Link`. Make it with `open_link`."""

    async def open(self) -> None:
        """Find the nodes, connect to them, and listen to other gateways. Raises `LinkDown`."""
        await super().open()
        self._tracker = Tracker(self.router)
        waiters = self._tracker.waiters
        self._wakes = Wakes(self.router, self.url.database, waiters.wake, waiters.wake_all)
        self.on_channel = self._listen
        self._wakes.listen()

    def _listen(self, node: Node, way: Way, channel: Channel) -> None:
        if way is Way.TRACKING:
            self._tracker.listen(node, channel)

    def arm(self, key: bytes, wake: Callable[[], None]) -> Armed:
        """See `port.Link`."""
        return self._tracker.arm(key, wake)

    async def read_armed(
        self, commands: Sequence[Words], *, key: bytes, is_write: bool = False
    ) -> list[Resp | EngineError]:
        """See `port.Link`."""
        return await self._tracker.read(commands, key=key, is_write=is_write)

    def wake(self, key: bytes) -> None:
        """See `port.Link`."""
        self._tracker.waiters.wake(key)
        self._wakes.tell(key)

    async def close(self) -> None:
        """See `port.Link`."""
        self._wakes.close()
        self._tracker.close()
        await super().close()


async def open_link(url: str, *, min_replicas: int = 0, timing: Timing | None = None) -> EngineLink:
    """Return a link to the engine at `url`. Raises `BadStoreUrl`, and `LinkDown` if it cannot be reached."""
    link = EngineLink(parse_store_url(url), timing or Timing(), min_replicas)
    await link.open()
    return link
