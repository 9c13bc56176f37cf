"""Who waits for what: blocked readers by key, in the order in which they came, and their deadlines.

The engine says what a read would wait for (`Outcome.wait`) and which keys became ready
(`Outcome.wake_ups`); this queue brings the two together. Looking again is running the command again:
the caller takes the readers that `woken` or `due` name, one after another, runs each one's command, and
puts back with `add` those that found nothing. Rules 41 to 46.

* A key wakes its readers in the order in which they began to wait, and each signal tries those that
  waited when it came, once each (rule 43).
* One heap holds every deadline, of timeouts and of claims; the owner sleeps until `next_deadline_ms`.
* Waiting and leaving cost O(keys + log n), a wake-up O(readers of its key): readers of other keys are
  never looked at. A wake-up of every key, by a flush, looks at all readers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import Final

from msgspec import Struct

from tailrace.core.outcome import Signal, Wait, WakeUp

HEAP_SLACK: Final = 64
"""Stale deadlines that the heap may hold beside as many as there are readers, before it is rebuilt."""


class _Waiting(Struct, eq=False):
    """`serial`: the order of arrival; one that looks in vain and waits again gets a new one (rule 43)."""

    token: Hashable
    wait: Wait
    serial: int


class WaitQueue:
    """Readers by a token of the caller's choice, each waiting once."""

    def __init__(self) -> None:
        self._readers: dict[Hashable, _Waiting] = {}
        self._by_key: dict[bytes, dict[int, _Waiting]] = {}
        self._deadlines: list[tuple[int, int, Hashable]] = []
        self._last_serial = 0

    def __len__(self) -> int:
        return len(self._readers)

    def __contains__(self, token: Hashable) -> bool:
        return token in self._readers

    def tokens(self) -> list[Hashable]:
        """All readers, in the order in which they came."""
        return list(self._readers)

    def add(self, token: Hashable, wait: Wait) -> None:
        """`token` begins to wait, behind all who wait already; it must not be waiting."""
        assert token not in self._readers, "a reader waits once"
        self._last_serial += 1
        waiting = _Waiting(token, wait, self._last_serial)
        self._readers[token] = waiting
        for key in wait.keys:
            self._by_key.setdefault(key, {})[waiting.serial] = waiting
        for deadline_ms in (wait.until_ms, wait.claim_at_ms):
            if deadline_ms is not None:
                heappush(self._deadlines, (deadline_ms, waiting.serial, token))
        self._rebuild_heap_if_stale()

    def discard(self, token: Hashable) -> bool:
        """`token` waits no more: it was served, timed out or disconnected. False: it did not wait."""
        waiting = self._readers.pop(token, None)
        if waiting is None:
            return False
        for key in set(waiting.wait.keys):
            readers = self._by_key[key]
            del readers[waiting.serial]
            if not readers:
                del self._by_key[key]
        return True

    def claiming(self) -> list[Hashable]:
        """The readers that wait for a claim, in the order in which they came. O(readers)."""
        return [token for token, each in self._readers.items() if each.wait.claim_at_ms is not None]

    def woken(self, wake_ups: Iterable[WakeUp]) -> list[Hashable]:
        """The readers that should look again, each once, in the order in which they came to wait."""
        found = {
            waiting.serial: waiting.token
            for wake_up in wake_ups
            for waiting in self._concerned(wake_up.key)
            if _concerns(wake_up, waiting.wait)
        }
        return [found[serial] for serial in sorted(found)]

    def _concerned(self, key: bytes | None) -> Iterable[_Waiting]:
        return self._readers.values() if key is None else self._by_key.get(key, {}).values()

    def due(self, now_ms: int) -> list[Hashable]:
        """The readers whose timeout or claim is due, earliest first; the deadlines are used up."""
        found: dict[Hashable, None] = {}
        while self._deadlines and self._deadlines[0][0] <= now_ms:
            _, serial, token = heappop(self._deadlines)
            if self._is_current(token, serial):
                found[token] = None
        return list(found)

    def next_deadline_ms(self) -> int | None:
        """When `due` will next have somebody, None where no reader has a deadline."""
        while self._deadlines and not self._is_current(*self._deadlines[0][:0:-1]):
            heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def _is_current(self, token: Hashable, serial: int) -> bool:
        waiting = self._readers.get(token)
        return waiting is not None and waiting.serial == serial

    def _rebuild_heap_if_stale(self) -> None:
        """Readers that leave early leave their deadlines behind: keep no more of those than readers."""
        if len(self._deadlines) > 4 * len(self._readers) + HEAP_SLACK:
            current = [entry for entry in self._deadlines if self._is_current(entry[2], entry[1])]
            heapify(current)
            self._deadlines = current


def _concerns(wake_up: WakeUp, wait: Wait) -> bool:
    """Data concerns all; what is gone concerns group readers, of that group or of all (rule 45)."""
    if wake_up.signal is Signal.DATA:
        return True
    return wait.group is not None and wake_up.group in (None, wait.group)
