"""The slow log: the most recent slow operations with their commands, sizes and times, like Redis's SLOWLOG.

The log is in memory, has a fixed capacity, and is lost when the process ends.

The time of an operation begins when the whole request has arrived and ends with its response. The threshold
applies to the server's own time: the time of the engine, and the rest (parsing, waiting for other requests,
writing the response). Blocking reads do not count while they wait for data. The time of the commit is
recorded but does not count: on a slow disk, each write would be slow and would displace other entries;
commits have their own histogram.

An entry contains names of keys and groups, and sizes. It never contains a value, an id, a header or a token.
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
"""How many entries the log keeps; Redis has the same default."""

OFF: Final = -1
"""The threshold that disables the log."""

SHOWN_COMMANDS_MAX: Final = 8
SHOWN_KEYS_MAX: Final = 8
"""Limits that keep an entry small."""


class SlowLog:
    """Implements `api.ports.SlowLog`. `threshold_ms`: 0 records all operations, -1 none."""

    def __init__(self, threshold_ms: int = OFF) -> None:
        self.threshold_ms = threshold_ms
        self.threshold_ns: float = threshold_ms * 1_000_000 if threshold_ms >= 0 else float("inf")
        """The threshold in nanoseconds, for comparison during a request; infinite if the log is off."""
        self.noted = 0
        """How many operations were recorded since the start."""
        self._numbers = count(1)
        self._entries: deque[SlowOperation] = deque(maxlen=CAPACITY)

    @property
    def capacity(self) -> int:
        """Return how many entries the log keeps."""
        return CAPACITY

    def latest(self, limit: int) -> Sequence[SlowOperation]:
        """Return up to `limit` entries, newest first. O(limit)."""
        return list(islice(reversed(self._entries), limit))

    def clear(self) -> None:
        """Delete all entries. Their ids are not reused."""
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
        """Record an operation; if the log is full, delete the oldest entry.

        The caller compares the duration with `threshold_ns` first. Durations are in nanoseconds.
        """
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


# --- the recorded form of a command ------------------------------------------------------------------


def shape_of(command: Command) -> dict[str, Any]:
    """Return the name, keys, group and sizes of a command, without values and ids."""
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
