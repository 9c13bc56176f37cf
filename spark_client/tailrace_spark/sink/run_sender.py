"""Send the chunks of a writer that cannot know the number of partitions: append them, or check them.

The layout that such a writer sends names its run. So the server refuses its chunks if an earlier run began
the batch. The number of partitions may be another one now: then a chunk that is new may have rows that the
earlier run appended under other keys. A task cannot detect this, because it does not see the other
partitions. So the task appends nothing: it asks the server which of its chunks it has, and returns the others
to the driver. The driver sees all partitions and decides (`replayed_batch`).

A server of an earlier release cannot check a chunk. There, a replayed batch is appended under the layout of
the earlier run, and must have the same partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import pyarrow as pa

from tailrace_client import TailraceError
from tailrace_spark.endpoint import Endpoint
from tailrace_spark.sink.batch_requests import Batch, Body, is_known
from tailrace_spark.sink.layout import without_run
from tailrace_spark.sink.options import SinkOptions
from tailrace_spark.sink.sender import REFUSES_THE_KEY, Replay, Sender, Sent, Shape

LAYOUT_CHANGED: Final = "LAYOUT_CHANGED"
_CANNOT_CHECK: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
_CODEC: Final = "zstd"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the keys of a batch are: a producer of a stream."""

    stream: str
    producer_id: str


@dataclass(slots=True)
class Earlier:
    """The traces of an earlier run at one place. `layout`: the layout that the server pinned. `known`: how
    many chunks of this run the server has, with the same rows."""

    layout: str
    known: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """A chunk that no earlier run appended, compressed for the way to the driver. `size`: without that."""

    place: Place
    key: str
    body: Body
    size: int

    def unpacked(self) -> Body:
        """Return the body as it is sent."""
        content = pa.Codec(_CODEC).decompress(self.body.content, self.size, asbytes=True)
        return Body(content, self.body.shape, self.body.encoding)


@dataclass(slots=True)
class Checked:
    """What one partition found of earlier runs. Empty if no earlier run began the batch."""

    earlier: dict[Place, Earlier] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)


class _Refused(Exception):
    """The server refused a chunk for its layout or its key, or cannot check a chunk."""

    def __init__(self, error: TailraceError, where: str) -> None:
        super().__init__(error.code)
        self.error = error
        self.where = where


class RunSender(Sender):
    """A `Sender` that checks chunks instead of appending them if an earlier run began the batch.

    `checked`: what it found; all senders of a partition share it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        replay: Replay,
        options: SinkOptions,
        sent: Sent,
        turn: int,
        checked: Checked,
    ) -> None:
        super().__init__(endpoint, replay, options, sent, turn)
        self._checked = checked
        self._appended_to: set[str] = set()
        # The layouts of earlier runs at places whose server cannot check a chunk.
        self._uncheckable: dict[Place, str] = {}

    def send(self, stream: str, body: bytes, key: str, shape: Shape) -> None:
        """Append the lines of `body` once, or check them. Raises as `Sender.send` does."""
        place, packed = Place(stream, self._replay.producer_id), self.packed(body, shape)
        earlier = self._checked.earlier.get(place)
        if place in self._uncheckable:
            self._append(stream, packed, key, self._uncheckable[place])
            return
        if earlier is None:
            earlier = self._appended(place, packed, key)
        if earlier is not None:
            self._check(place, packed, key, earlier)

    def _appended(self, place: Place, body: Body, key: str) -> Earlier | None:
        """Append the chunk. If an earlier run began the batch, append nothing and return its traces."""
        try:
            self.send_packed(place.stream, body, key)
        except _Refused as refusal:
            layout = str(refusal.error.problem.get("layout"))
            is_replay = (
                refusal.error.code == LAYOUT_CHANGED
                and place.stream not in self._appended_to
                and without_run(layout) == self._replay.layout
            )
            if not is_replay:
                raise super()._failure(refusal.error, refusal.where) from refusal.error
            return self._checked.earlier.setdefault(place, Earlier(layout))
        self._appended_to.add(place.stream)
        return None

    def _check(self, place: Place, body: Body, key: str, earlier: Earlier) -> None:
        try:
            is_appended = self._is_appended(place, body, key, earlier.layout)
        except _Refused as refusal:
            if refusal.error.code == REFUSES_THE_KEY:
                return  # The driver finds that the server has a key that this run does not know.
            if refusal.error.status not in _CANNOT_CHECK:
                raise super()._failure(refusal.error, refusal.where) from refusal.error
            del self._checked.earlier[place]
            self._uncheckable[place] = earlier.layout
            self._append(place.stream, body, key, earlier.layout)
            return
        if is_appended:
            earlier.known += 1
        else:
            packed = Body(pa.Codec(_CODEC).compress(body.content, asbytes=True), body.shape, body.encoding)
            self._checked.missing.append(Missing(place, key, packed, len(body.content)))

    def _is_appended(self, place: Place, body: Body, key: str, layout: str) -> bool:
        batch = Batch(self._replay.producer_id, self._replay.batch_id, layout)
        found = self.repeat(
            place.stream,
            key,
            lambda client: is_known(client, place.stream, key, body, batch),
        )
        self._sent.requests += found
        self._sent.replayed += found
        return found

    def _failure(self, error: TailraceError, where: str) -> Exception:
        if error.code in (LAYOUT_CHANGED, REFUSES_THE_KEY) or error.status in _CANNOT_CHECK:
            return _Refused(error, where)
        return super()._failure(error, where)
