"""A SCAN of many keys: one request that examines them in steps, with a pause after each step.

It owns the steps of one request. `core.handlers.key_lists` owns which keys a step examines, and a cursor
between two steps is an ordinary cursor. So a key that exists during the whole scan is found once, whatever
happens in the pauses.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec.structs import replace

from tailrace.api.ports import StreamStore
from tailrace.api.wire.turns import PART_BYTES
from tailrace.core.commands import ScanKeys
from tailrace.core.limits import SCAN_COUNT_MAX, SCAN_REQUEST_KEYS_MAX, TURN_REPLY_BYTES_MAX
from tailrace.core.replies import KeyScan

PAUSE_S: Final = 0.001
"""The pause after a step, about five times as long as the step. A turn of the event loop without a pause
would let the requests of others run, but not their commits: the writer thread gets the interpreter at once
only while the loop waits."""


async def scanned_keys(store: StreamStore, command: ScanKeys) -> KeyScan:
    """Return the keys that `command` finds. It examines `SCAN_REQUEST_KEYS_MAX` at most, and fewer if those
    that it finds are long. Raises as `StreamStore.execute` does. O(count)."""
    found: list[bytes] = []
    left = min(command.count, SCAN_REQUEST_KEYS_MAX)
    left_bytes = TURN_REPLY_BYTES_MAX
    while True:
        step = await store.execute(replace(command, count=min(left, SCAN_COUNT_MAX)))
        assert isinstance(step, KeyScan)
        found += step.keys
        left -= SCAN_COUNT_MAX
        left_bytes -= sum(map(len, step.keys)) + PART_BYTES * len(step.keys)
        if not step.cursor or left <= 0 or left_bytes <= 0:
            return KeyScan(step.cursor, found)
        command = replace(command, cursor=step.cursor)
        await asyncio.sleep(PAUSE_S)
