"""What a query shows of its progress: how far it is behind each stream, and the group that it moves.

Spark calls `commit` of a source only after it planned the next batch, and never calls `stop`, so neither of
them moves the group. Spark asks for the next batch when all earlier batches are done: then the group moves.
This module never acknowledges an entry.
"""

from __future__ import annotations

import logging
import time
from typing import Any, Final

from tailrace_spark.entry_ids import later, parsed
from tailrace_spark.errors import SourceError
from tailrace_spark.source.checkpoint import Position, Positions
from tailrace_spark.source.looks import Looks, Selection
from tailrace_spark.source.options import MS_PER_S
from tailrace_spark.source.stream_requests import Look

log: Final = logging.getLogger(__name__)


class GroupMover:
    """Moves the group of the options in each stream. `_moved_to`: the current position of the group."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._moved_to: dict[str, str] = {}

    def move(self, done: Positions, looks: Looks) -> None:
        """Move the group to the positions that are `done`, in each stream that is still the same.

        If the first attempt in a stream fails, for example because the token lacks the scope, the error ends
        the query. Later failures are only logged, since they affect only the displayed lag.
        """
        group = self._selection.options.group
        if group is None:
            return
        for name, position in done.items():
            if _is_same(position, looks.get(name)) and self._moved_to.get(name) != position.id:
                self._move(group, name, position.id)

    def _move(self, group: str, name: str, done: str) -> None:
        try:
            self._selection.stream(name).move_group(group, done)
        except SourceError as error:
            if name not in self._moved_to:
                raise
            log.warning("the group %r of %r was not moved to %s: %s", group, name, done, error)
        self._moved_to[name] = done


def progress(selection: Selection, planned: Positions, looks: Looks) -> dict[str, Any]:
    """Return the end of each stream, how many entries are in no batch yet, and for how many seconds the
    oldest of them has been waiting, by the driver's clock."""
    streams = {
        name: _progress_of(selection, name, planned[name], look)
        for name, look in looks.items()
        if look is not None and name in planned
    }
    return {
        "entries_behind": sum(stream["entries_behind"] for stream in streams.values()),
        "lag_seconds": max((stream["lag_seconds"] for stream in streams.values()), default=0.0),
        "streams": streams,
    }


def _progress_of(selection: Selection, name: str, position: Position, look: Look) -> dict[str, Any]:
    behind, lag_s = 0, 0.0
    if later(look.last_id, position.id) != position.id:
        stream = selection.stream(name)
        behind = stream.count(position.id)
        oldest = stream.page_end(position.id, 1)
        lag_s = 0.0 if oldest is None else max(time.time() - parsed(oldest)[0] / MS_PER_S, 0.0)
    return {"id": look.last_id, "entries_behind": behind, "lag_seconds": round(lag_s, 3)}


def _is_same(position: Position, look: Look | None) -> bool:
    return look is not None and position.incarnation in (None, look.incarnation)
