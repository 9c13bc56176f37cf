"""A waiting reader of one key, as the store has them: armed, reads, sleeps until it is woken, reads again.

Owns the reader. It counts its wakes, and the waits that ended only because the test lost patience.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from tailrace.app.remote.link.port import EngineError, LinkDown
from tailrace.app.remote.opening import EngineLink

PATIENCE_S: Final = 20.0


class WaitingReader:
    """Follows a stream. `last`: the id that it has read. `wakes`: how often it was woken."""

    def __init__(self, link: EngineLink, key: bytes, group: bytes = b"") -> None:
        self.last = b"0-0"
        self.wakes = 0
        self.entries: list[bytes] = []
        self._link = link
        self._key = key
        self._group = group
        self._group_from = b">"
        self._woken = asyncio.Event()
        self._armed = link.arm(key, self._wake)

    def _wake(self) -> None:
        self.wakes += 1
        self._woken.set()

    def close(self) -> None:
        self._armed.cancel()

    async def until(self, last: bytes) -> None:
        """Read on until the entry `last`. Fails if a wake-up is lost."""
        while _number(self.last) < _number(last):
            self._woken.clear()
            if not await self.read():
                async with asyncio.timeout(PATIENCE_S):
                    await self._woken.wait()

    async def woken(self, since: int) -> None:
        """Return when it has been woken more than `since` times. Fails if that takes too long."""
        async with asyncio.timeout(PATIENCE_S):
            while self.wakes <= since:
                self._woken.clear()
                await self._woken.wait()

    async def read(self) -> bool:
        """Read once; return whether there were entries. A read that fails counts as a wake-up."""
        try:
            (reply,) = await self._link.read_armed([self._words()], key=self._key, is_write=bool(self._group))
        except LinkDown:
            self._group_from = b"0"  # the reply that was lost may have had entries
            return True
        was_pending, self._group_from = self._group_from == b"0", b">"
        if isinstance(reply, EngineError):
            raise reply
        entries: Sequence[Any] = reply[0][1] if reply else ()  # type: ignore[index,assignment]
        self.entries += [entry[0] for entry in entries]
        if entries:
            self.last = entries[-1][0]
        return bool(entries) or was_pending

    def _words(self) -> list[bytes]:
        if self._group:
            return [b"XREADGROUP", b"GROUP", self._group, b"c", b"STREAMS", self._key, self._group_from]
        return [b"XREAD", b"STREAMS", self._key, self.last]


def _number(text: bytes) -> tuple[int, int]:
    ms, _, sequence = text.partition(b"-")
    return int(ms), int(sequence)
