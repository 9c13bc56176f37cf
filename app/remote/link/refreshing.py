"""Refreshing: reads the layout again when something points to a change, and from time to time.

It owns one task. It never sends commands of users.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

from tailrace.app.remote.link.addresses import Address
from tailrace.app.remote.link.discovery import Discovery, Layout
from tailrace.app.remote.link.port import LinkDown
from tailrace.app.remote.link.timing import Timing, spread

_log: Final = logging.getLogger(__name__)


class Refreshing:
    """Passes each layout to `adopt`. `why_unknown`: why the last try failed; empty if it did not.

    `known` returns the nodes to ask, and `is_whole` whether all masters are connected.
    """

    def __init__(
        self,
        discovery: Discovery,
        timing: Timing,
        adopt: Callable[[Layout], None],
        known: Callable[[], Iterable[Address]],
        is_whole: Callable[[], bool],
    ) -> None:
        self.why_unknown = ""
        self._discovery = discovery
        self._timing = timing
        self._adopt = adopt
        self._known = known
        self._is_whole = is_whole
        self._asked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Refresh from now on, until `close`."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def ask(self) -> None:
        """Refresh soon."""
        self._asked.set()

    async def _run(self) -> None:
        while True:
            await self._pause()
            self._asked.clear()
            await self._once()

    async def _pause(self) -> None:
        """Wait until a refresh is asked for or due; never less than a moment."""
        most_s = self._timing.backoff_most_s
        await asyncio.sleep(spread(0.2 * most_s))
        is_calm = not self.why_unknown and self._is_whole()
        try:
            async with asyncio.timeout(self._timing.refresh_every_s if is_calm else most_s):
                await self._asked.wait()
        except TimeoutError:
            pass

    async def _once(self) -> None:
        try:
            layout = await self._discovery.find(self._known())
        except LinkDown as down:
            self.why_unknown = down.reason
            return
        except Exception as error:  # noqa: BLE001 - an answer that cannot be read must not end the refreshing
            self.why_unknown = f"the list of nodes cannot be read: {error}"
            _log.exception("the list of nodes cannot be read")
            return
        self.why_unknown = ""
        self._adopt(layout)

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
