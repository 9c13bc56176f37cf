"""Warns in the log when a group falls behind its `max_lag_ms`, and again when it has caught up.

It owns which groups are behind. A group is behind from the moment when its oldest unread entry is as old as
`max_lag_ms`, until that age is at most half of it, so a group near the limit does not fill the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import islice
from typing import Final

from tailrace.core.deliveries import idle_since
from tailrace.core.group import Group
from tailrace.core.keyspace import Keyspace
from tailrace.core.lag import unread_since_ms
from tailrace.core.stream import Stream

LOOKS_MAX: Final = 1_000
"""Groups that one tick examines: about 0.005 s. The next tick continues, so 10 000 groups take 10 s."""

LINES_MAX: Final = 20
"""Lines that one tick writes. Groups beyond that wait for the next tick."""

_logger: Final = logging.getLogger("tailrace.lag")

Place = tuple[int, bytes]
"""The stream's serial, and the group's name."""


class LagAlerts:
    """The groups of one store that are behind. `keyspace` returns the current one."""

    def __init__(self, keyspace: Callable[[], Keyspace]) -> None:
        self._keyspace = keyspace
        self._behind: set[Place] = set()
        self._watched: object = None
        self._after: Place | None = None

    def is_behind(self, serial: int, group: bytes) -> bool:
        """Return whether the group is behind. O(1)."""
        return (serial, group) in self._behind

    @property
    def count(self) -> int:
        """How many groups are behind."""
        return len(self._behind)

    def tick(self, now_ms: int) -> None:
        """Examine the next groups. O(1) if no group has a `max_lag_ms`."""
        watched = self._keyspace().watched
        if watched is not self._watched:
            # A flush, or the committed state after a failure of the disk.
            self._watched = watched
            self._behind.clear()
        if not watched:
            return
        lines = 0
        places = list(islice(watched.irange(self._after, inclusive=(False, True)), LOOKS_MAX))
        self._after = places[-1] if len(places) == LOOKS_MAX else None
        for place in places:
            lines += self._examine(place, now_ms)
            if lines == LINES_MAX:
                self._after = place
                break

    def _examine(self, place: Place, now_ms: int) -> bool:
        """Return whether a line was written."""
        keyspace = self._keyspace()
        serial, name = place
        key = keyspace.keys_by_serial.get(serial)
        stream: Stream | None = None if key is None else keyspace.streams[key]
        group: Group | None = None if stream is None else stream.groups.get(name)
        most_ms = None if group is None or group.settings is None else group.settings.max_lag_ms
        if key is None or stream is None or group is None or most_ms is None:
            keyspace.watched.discard(place)
            self._behind.discard(place)
            return False
        since_ms = unread_since_ms(stream, group)
        lag_ms = 0 if since_ms is None else idle_since(since_ms, now_ms)
        fields = {"key": _text(key), "group": _text(name), "lag_ms": lag_ms, "max_lag_ms": most_ms}
        if place not in self._behind and lag_ms >= most_ms:
            self._behind.add(place)
            _logger.warning("group behind", extra={"fields": fields})
        elif place in self._behind and lag_ms <= most_ms // 2:
            self._behind.remove(place)
            _logger.info("group caught up", extra={"fields": fields})
        else:
            return False
        return True


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
