"""The last operations that took the server long, as Redis's SLOWLOG: what was asked, how large, and where
the time went. Kept in memory, bounded, and lost with the process.

An operation's time begins when all of the request is there and ends with its answer. What counts against
the threshold is the server's own time: the engine's part, and the rest (parsing, waiting for its turn
behind other requests, writing the answer). Waiting for data as asked counts as nothing. The disk's part is
shown and does not count: on a slow disk every write would be slow, and push out what else was; commits
have a histogram of their own. It never keeps a value, an id, a header or a token: names of keys and
groups, and sizes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any, Final

from tailrace.api.ports import SlowOperation
from tailrace.core.command_table import NAMES, keys_of
from tailrace.core.commands import Command
from tailrace.core.errors import printable

CAPACITY: Final = 128
"""Redis keeps as many by default."""

OFF: Final = -1

SHOWN_COMMANDS_MAX: Final = 8
SHOWN_KEYS_MAX: Final = 8
"""An entry stays small whatever was asked."""


class SlowLog:
    """`api.ports.SlowLog`. `threshold_ms`: 0 notes everything, -1 nothing."""

    def __init__(self, threshold_ms: int = OFF) -> None:
        self.threshold_ms = threshold_ms
        self.threshold_ns: float = threshold_ms * 1_000_000 if threshold_ms >= 0 else float("inf")
        """To compare with on the way of a request."""
        self.noted = 0
        """How many since the start."""
        self._numbers = count(1)
        self._entries: deque[SlowOperation] = deque(maxlen=CAPACITY)

    @property
    def capacity(self) -> int:
        """How many are kept."""
        return CAPACITY

    def latest(self, limit: int) -> Sequence[SlowOperation]:
        """Up to `limit` of them, the newest first."""
        return list(islice(reversed(self._entries), limit))

    def clear(self) -> None:
        """Forget all; numbers go on."""
        self._entries.clear()

    def note(
        self,
        operation: str,
        request_id: str | None,
        commands: Sequence[Command],
        *,
        engine_ns: int,
        commit_ns: int = 0,
        other_ns: int = 0,
    ) -> None:
        """Keep one; the oldest goes. Whether it is slow was decided by the caller, with `threshold_ns`."""
        self.noted += 1
        self._entries.append(
            SlowOperation(
                id=next(self._numbers),
                at_ms=time.time_ns() // 1_000_000,
                operation=operation,
                request_id=request_id,
                engine_ms=_ms(engine_ns),
                commit_ms=_ms(commit_ns),
                other_ms=_ms(other_ns),
                command_count=len(commands),
                commands=[shape_of(command) for command in commands[:SHOWN_COMMANDS_MAX]],
            )
        )


def _ms(duration_ns: int) -> float:
    return round(duration_ns / 1e6, 3)


# --- what is kept of a command -----------------------------------------------------------------------


def shape_of(command: Command) -> dict[str, Any]:
    """The command's name, the keys and the group that it names, and how large it is; no value, no id."""
    keys = keys_of(command)
    shape: dict[str, Any] = {"command": NAMES[type(command)]}
    if keys:
        shape["keys"] = [printable(key) for key in keys[:SHOWN_KEYS_MAX]]
    group = getattr(command, "group", None)
    if group is not None:
        shape["group"] = printable(group)
    sizes = dict(_sizes_of(command, len(keys)))
    return {**shape, "sizes": sizes} if sizes else shape


def _sizes_of(command: Command, key_count: int) -> Iterator[tuple[str, int]]:
    if key_count > 1:
        yield "keys", key_count
    fragments = getattr(command, "fragments", None)
    if fragments is not None:
        yield "entries", len(fragments)
        yield "bytes", sum(map(len, fragments))
    ids = getattr(command, "ids", None) or getattr(getattr(command, "options", None), "ids", None)
    if isinstance(ids, tuple | range):
        yield "ids", len(ids)
    bound = getattr(command, "count", None) or getattr(getattr(command, "limits", None), "count", None)
    if isinstance(bound, int):
        yield "count", bound
