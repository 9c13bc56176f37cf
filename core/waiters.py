"""Waiting readers: blocked reads by key, in order of arrival, and their deadlines (rules 41 to 46).

The engine returns what a read waits for (`Outcome.wait`) and which keys became ready (`Outcome.wake_ups`);
this queue matches the two. The caller takes the readers that `woken` or `due` return, one after another, runs
the command of each one again, and calls `add` for those that still found nothing.

* A key wakes its readers in the order in which they began to wait, and each signal wakes every reader that
  waits at that moment once (rule 43), or the first ones if it is meant for so many.
* One heap has all deadlines, of timeouts and of claims; the owner sleeps until `next_deadline_ms`.
* Adding and removing a reader cost O(keys + log n), and a wake-up O(readers of its key). A wake-up of every
  key (a flush) costs O(all readers).

The queue has no clock, and never runs a command.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from msgspec import Struct

from tailrace.core.commands import Command, ReadGroup
from tailrace.core.outcome import Signal, Wait, WakeUp

HEAP_SLACK: Final = 64
"""The heap is rebuilt when it has more than this many deadlines plus four for each reader."""


class _Waiting(Struct, eq=False):
    """One waiting reader."""

    token: Hashable
    """The caller's name for the reader."""
    wait: Wait
    """What the reader waits for."""
    serial: int
    """The order of arrival. A reader that wakes, finds nothing and waits again gets a new serial (rule
    43)."""


class WaitQueue:
    """The waiting readers, by tokens that the caller chooses. n: readers."""

    def __init__(self) -> None:
        # The readers in order of arrival; callers may only look whether there are any.
        self.readers: dict[Hashable, _Waiting] = {}
        # The readers of each key by serial; a key without readers is not kept. Callers may only look whether
        # there are any.
        self.by_key: dict[bytes, dict[int, _Waiting]] = {}
        # A heap of deadlines: Unix time in milliseconds, serial and token of the reader. A deadline is stale
        # if its reader has left, or has another serial.
        self._deadlines: list[tuple[int, int, Hashable]] = []
        self._last_serial = 0

    def __len__(self) -> int:
        return len(self.readers)

    def __contains__(self, token: Hashable) -> bool:
        return token in self.readers

    def tokens(self) -> list[Hashable]:
        """Return all readers in order of arrival. O(n)."""
        return list(self.readers)

    def add(self, token: Hashable, wait: Wait) -> None:
        """Add a reader after all others; `token` must not be in the queue. O(keys + log n)."""
        assert token not in self.readers, "a reader waits once"
        self._last_serial += 1
        waiting = _Waiting(token, wait, self._last_serial)
        self.readers[token] = waiting
        for key in wait.keys:
            self.by_key.setdefault(key, {})[waiting.serial] = waiting
        for deadline_ms in (wait.until_ms, wait.claim_at_ms):
            if deadline_ms is not None:
                heappush(self._deadlines, (deadline_ms, waiting.serial, token))
        self._rebuild_heap_if_stale()

    def discard(self, token: Hashable) -> bool:
        """Remove a reader that was served, timed out or disconnected. Return whether it was in the queue.
        O(keys)."""
        waiting = self.readers.pop(token, None)
        if waiting is None:
            return False
        for key in set(waiting.wait.keys):
            readers = self.by_key[key]
            del readers[waiting.serial]
            if not readers:
                del self.by_key[key]
        return True

    def claiming(self) -> list[Hashable]:
        """Return the readers that wait for a claim, in order of arrival. O(n)."""
        return [token for token, each in self.readers.items() if each.wait.claim_at_ms is not None]

    def woken(self, wake_ups: Iterable[WakeUp]) -> list[Hashable]:
        """Return the readers that should run their command again, each once, in order of arrival."""
        found: dict[int, Hashable] = {}
        for wake_up in wake_ups:
            key = wake_up.key
            readers = self.readers.values() if key is None else self.by_key.get(key, _NOBODY).values()
            if readers:
                found.update({each.serial: each.token for each in _woken_by(wake_up, readers)})
        return list(found.values()) if len(found) <= 1 else [found[serial] for serial in sorted(found)]

    def due(self, now_ms: int) -> list[Hashable]:
        """Return the readers whose timeout or claim time has come, earliest first, and forget those
        deadlines."""
        found: dict[Hashable, None] = {}
        while self._deadlines and self._deadlines[0][0] <= now_ms:
            _, serial, token = heappop(self._deadlines)
            if self._is_current(token, serial):
                found[token] = None
        return list(found)

    def next_deadline_ms(self) -> int | None:
        """Return the time of the next deadline in Unix milliseconds, None if no reader has one."""
        while self._deadlines and not self._is_current(*self._deadlines[0][:0:-1]):
            heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def _is_current(self, token: Hashable, serial: int) -> bool:
        waiting = self.readers.get(token)
        return waiting is not None and waiting.serial == serial

    def _rebuild_heap_if_stale(self) -> None:
        """Drop stale deadlines when most of the heap is stale: readers that leave early do not remove their
        deadlines."""
        if len(self._deadlines) > 4 * len(self.readers) + HEAP_SLACK:
            current = [entry for entry in self._deadlines if self._is_current(entry[2], entry[1])]
            heapify(current)
            self._deadlines = current


def missed(command: Command) -> list[WakeUp]:
    """Return the wake-ups that replace one for a reader with this command that has left: perhaps no other
    reader was woken for an entry that it would have read."""
    if not isinstance(command, ReadGroup):
        return []
    return [WakeUp(source.key, Signal.DATA, command.group) for source in command.streams]


_NOBODY: Final[dict[int, _Waiting]] = {}


def _woken_by(wake_up: WakeUp, readers: Iterable[_Waiting]) -> Sequence[_Waiting]:
    """Return those of `readers` that the wake-up wakes."""
    waiting = [each for each in readers if _concerns(wake_up, each.wait)]
    if wake_up.most is None:
        return waiting
    others = [each for each in waiting if not each.wait.is_gathering]
    return [*others[: wake_up.most], *(each for each in waiting if each.wait.is_gathering)]


def _concerns(wake_up: WakeUp, wait: Wait) -> bool:
    """Return whether the wake-up concerns the reader. New data concerns all readers; a deletion, and data of
    one group, concern the readers of that group, or of all groups (rule 45)."""
    if wake_up.signal is Signal.DATA and wake_up.group is None:
        return True
    return wait.group is not None and wake_up.group in (None, wait.group)
