"""A tail without a connection: its output, and what it sent.

Owns no semantics: the store is the test's, and the tail is the real one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Final, ParamSpec

from tailrace.api.follow.tails import Tail
from tests.support.sse_client import Event, parse_events
from tests.support.watching_store import WatchingStore

Parameters = ParamSpec("Parameters")

QUIET_TURNS: Final = 8
"""After so many turns of the loop without an event, none follows: a read that finds nothing takes two."""


def in_loop(test: Callable[Parameters, Coroutine[Any, Any, None]]) -> Callable[Parameters, None]:
    """Run a test in an event loop."""

    @wraps(test)
    def run(*arguments: Parameters.args, **named: Parameters.kwargs) -> None:
        asyncio.run(test(*arguments, **named))

    return run


class Tailing:
    """An `api.follow.tails.Output` and the tail that writes to it. `can_push`: set by a test."""

    def __init__(self, store: WatchingStore, tail: Tail) -> None:
        self.store = store
        self.tail = tail
        self.can_push = True
        self.on_relief: Callable[[], None] = lambda: None
        self._sent: list[bytes] = []
        tail.begin(self)
        self._sent.pop(0)

    def send(self, event: bytes) -> None:
        self._sent.append(event)

    def relieve(self) -> None:
        """Let the client read again."""
        self.can_push = True
        self.on_relief()

    async def blocks(self) -> list[Event]:
        """Return the parts that were sent since the last call, after all reads that find something."""
        quiet_turns = 0
        while quiet_turns < QUIET_TURNS:
            count = len(self._sent)
            self.store.settle()
            await asyncio.sleep(0)
            quiet_turns = quiet_turns + 1 if len(self._sent) == count else 0
        sent, self._sent = self._sent, []
        return parse_events(b"".join(sent).decode()) if sent else []

    async def ids(self) -> list[str]:
        """Return the ids of the entries of these blocks."""
        return ids_of(await self.blocks())


def ids_of(events: list[Event]) -> list[str]:
    return [each for event in events if event.name == "entries" for each in event.ids]
