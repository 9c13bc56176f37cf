"""Offsets as Spark stores them in the checkpoint of a query: for each stream, where the last batch ended and
how that batch was cut into parts.

    {"streams": {"readings": {"id": "9-0", "incarnation": "9f86-17", "from": "2-0", "parts": ["5-0", "9-0"]}}}

`id`: the end of the last batch. `incarnation`: the stream that the id belongs to; a stream that is deleted
and created again has another one. `from`, `parts`: the last batch has the entries after `from`, in parts that
end at these ids. So a replayed batch has the same parts as before, even if entries were deleted in between.
Both are left out if the batch has no entries of the stream. `pack`: the streams with the same number have
one part each, and one task reads them all. `"start": true`: no batch has reached the id yet.

Earlier releases stored the offset of the only stream: `{"id": end}`, in the first batch with `"from"`. These
offsets are still read. This module sends no requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tailrace_spark.entry_ids import ZERO_ID, later
from tailrace_spark.errors import SourceError

UNPINNED: Final = {"position": "start"}
"""The offset before the first batch. Spark asks for the initial offset again after a restart while the first
batch is not committed, so a start that was resolved there could skip entries that arrived in between."""

Offset: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Position:
    """Where the last batch of a query ended in one stream.

    `is_start`: no batch has reached the id; the query begins after it, and the stream may end below it.
    `after`, `ends`: the id after which that batch began, and the last id of each of its parts. No `ends`: the
    batch has no entries of the stream. `ends` is None if an earlier release planned the batch. `pack`: the
    number that the stream shares with others whose only part the same task reads; None if there are none.
    """

    id: str
    incarnation: str | None = None
    after: str | None = None
    ends: tuple[str, ...] | None = ()
    is_start: bool = False
    pack: int | None = None

    def reached(self) -> Position:
        """Return the position without the batch that ended there."""
        return Position(self.id, self.incarnation, is_start=self.is_start)

    def begun(self, before: Position | None) -> str:
        """Return the id after which the batch began. `before`: the position where the batch before it ended.

        In an offset of an earlier release, an end below the start means that the stream was created again.
        """
        if self.after is not None:
            return self.after
        if before is None or later(before.id, self.id) != self.id:
            return ZERO_ID
        return before.id


Positions: TypeAlias = Mapping[str, Position]


def offset_of(positions: Positions) -> Offset:
    """Return the offset that Spark stores."""
    return {"streams": {name: _stored(positions[name]) for name in sorted(positions)}}


def positions_of(offset: Offset, streams: tuple[str, ...]) -> Positions | None:
    """Return the positions that an offset contains; None before the first batch. `streams`: the streams that
    the options name. Raises `SourceError`."""
    if "streams" in offset:
        return {name: _position(stored) for name, stored in offset["streams"].items()}
    if "id" not in offset:
        return None
    if len(streams) != 1:
        raise SourceError(
            f"the checkpoint has the offset {offset['id']} of one stream, because an earlier release wrote "
            "it; start the query once with the option 'stream', or use a new checkpoint"
        )
    return {streams[0]: Position(offset["id"], after=offset.get("from"), ends=None)}


def _stored(position: Position) -> dict[str, Any]:
    stored: dict[str, Any] = {"id": position.id}
    if position.incarnation is not None:
        stored["incarnation"] = position.incarnation
    if position.is_start:
        stored["start"] = True
    if position.ends:
        stored |= {"from": position.after, "parts": list(position.ends)}
    if position.pack is not None:
        stored["pack"] = position.pack
    return stored


def _position(stored: Mapping[str, Any]) -> Position:
    return Position(
        stored["id"],
        stored.get("incarnation"),
        stored.get("from"),
        tuple(stored.get("parts", ())),
        is_start=stored.get("start", False),
        pack=stored.get("pack"),
    )
