"""Find the stretch of each stream that no batch contains yet, and check that no entries before it were lost.

What can go wrong, and what happens then:

* The stream was deleted, or deleted and created again: this is an error, unless `failOnDataLoss` is false.
  Then the query reads the new stream from its beginning.
* The stream ends below the position of the query: the same applies.

This module plans no batch and sends no requests about entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from tailrace_spark.entry_ids import earlier, later
from tailrace_spark.source.checkpoint import Position, Positions
from tailrace_spark.source.looks import Looks, Selection
from tailrace_spark.source.offsets import Bound
from tailrace_spark.source.requests import no_such_stream
from tailrace_spark.source.stream_requests import RECREATED, Look, SourceStream


@dataclass(frozen=True, slots=True)
class Stretch:
    """The ids of a stream from after one id up to and including another one."""

    after: str
    end: str
    incarnation: str | None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no id in the stretch."""
        return self.reach == self.after

    @property
    def reach(self) -> str:
        """Return the greatest id that was seen. New entries come after it."""
        return later(self.after, self.end)


Stretches: TypeAlias = Mapping[str, Stretch]


def stretches_after(
    selection: Selection, known: Positions | None, looks: Looks, targets: Looks | None
) -> Stretches:
    """Return the stretch of each stream that can be read. `known`: the positions of the query; None before
    its first batch. `targets`: the streams as they were when a run with the trigger AvailableNow began.

    Raises `DataLoss`, and `SourceError` for a stream that never existed.
    """
    found = {name: _stretch(selection, name, known, look) for name, look in looks.items()}
    stretches = {name: stretch for name, stretch in found.items() if stretch is not None}
    if targets is None:
        return stretches
    return {
        name: replace(stretch, end=earlier(stretch.end, target.last_id))
        for name, stretch in stretches.items()
        if (target := targets.get(name)) is not None and _is_reached(selection.stream(name), stretch, target)
    }


def _stretch(selection: Selection, name: str, known: Positions | None, look: Look | None) -> Stretch | None:
    stream = selection.stream(name)
    if known is not None and name in known:
        return _continued(stream, known[name], look)
    if look is None:
        if selection.options.pattern is not None:
            return None
        raise no_such_stream(stream.where)
    after = (
        look.start
        if known is not None
        else _start_of_query(stream, look, selection.options.starting.of(name))
    )
    return Stretch(after, look.last_id, look.incarnation)


def _start_of_query(stream: SourceStream, look: Look, bound: Bound) -> str:
    """Return the id just below the first entry that the query reads."""
    if bound.kind == "latest":
        return look.last_id
    if bound.kind == "id" and later(bound.id, look.last_id) != bound.id:
        stream.check_whole(bound.id, look.incarnation)
    return later(look.start, bound.id)


def _continued(stream: SourceStream, position: Position, look: Look | None) -> Stretch | None:
    if look is None:
        stream.lose("the stream was deleted")
        return None
    if position.incarnation not in (None, look.incarnation):
        stream.lose(RECREATED)
        return Stretch(look.start, look.last_id, look.incarnation)
    if position.is_start or later(look.last_id, position.id) == look.last_id:
        return Stretch(position.id, look.last_id, look.incarnation)
    stream.check_not_recreated(look.last_id, position.id)
    return Stretch(look.start, look.last_id, look.incarnation)


def _is_reached(stream: SourceStream, stretch: Stretch, target: Look) -> bool:
    """Return whether the stream is still the one that the run is to read."""
    if stretch.incarnation != target.incarnation:
        stream.lose(RECREATED)
    return stretch.incarnation == target.incarnation
