"""The state of a tail over Server-Sent Events: it takes bytes, returns entries, and provides the next
request. It sends nothing.

The server sends the position of the tail with every event, and once before the first event. The next request
contains that position as Last-Event-ID, so after a broken connection no entry is lost or repeated: an event
is processed completely or not at all, and its entries are returned only once it is complete.
"""

from __future__ import annotations

import json
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from tailrace_client.call import given
from tailrace_client.entries import Entry, entry_of
from tailrace_client.errors import ANSWER_LOST, TailraceError, error_of_problem
from tailrace_client.fields import Fields
from tailrace_client.generated.api import reads as reads_api
from tailrace_client.generated.types import UNSET, Unset

SILENCE_MAX_S: Final = 45.0
"""The server sends a comment every 15 s. After three missing comments the connection counts as dead."""

_NO_GROUP: Final = {"prefetch": UNSET, "noack": UNSET, "shape": UNSET}
"""The first two parameters are for groups only. The server sends the default shape unless told otherwise."""

T = TypeVar("T")

_log: Final = logging.getLogger("tailrace_client")


class Gap(NamedTuple):
    """Entries after `after` and before `before` that were trimmed before the tail could read them.

    If the stream was deleted and created again, the tail continues with the first entry of the new stream:
    `before` is that entry, whose id can be less than `after`.
    """

    key: str
    after: str
    before: str


def log_gap(gap: Gap) -> None:
    """Log a gap; this is the default of `on_gap`."""
    _log.warning("stream %s: entries after %s and before %s were trimmed before they could be read", *gap)


class StreamEntry(NamedTuple):
    """An entry of one of several streams. `key`: the stream."""

    key: str
    id: str
    fields: Fields


class AnyTail(Generic[T]):
    """One tail. `request` is the next request to send; `take` yields the entries that received bytes
    complete. `name`: what the tail follows, for errors."""

    def __init__(self, name: str, on_gap: Callable[[Gap], None]) -> None:
        self._name = name
        self._on_gap = on_gap
        self._position: str | None = None
        self._incarnation: str | None = None
        self.is_open = False
        """Whether the server has fixed the position: its first event says so."""
        self._received = bytearray()

    @property
    def request(self) -> Mapping[str, Any]:
        """Return the request that continues the tail. Discards an incomplete event, because the server sends
        it again."""
        self._received.clear()
        return self._request(given(self._position))

    def opened(self, headers: Mapping[str, str]) -> None:
        """Note the incarnation of the stream: the position belongs to it from now on."""
        self._incarnation = headers.get("x-incarnation")

    @abstractmethod
    def _request(self, position: str | Unset) -> Mapping[str, Any]:
        """Return the request that continues after `position`."""

    @abstractmethod
    def _entries(self, data: Any) -> list[T]:
        """Return the entries of one event."""

    def _gap(self, data: Any) -> None:
        """Report one gap."""
        self._on_gap(Gap(data["key"], data["from"], data["to"]))

    def over(self) -> TailraceError:
        """Return the error for the end of a connection: a tail has no end of its own."""
        return TailraceError(
            ANSWER_LOST, f"the connection of the tail of {self._name} was closed", retryable=True
        )

    def take(self, chunk: bytes) -> Iterator[T]:
        """Add received bytes and yield the entries that they complete. Raises `TailraceError` if the server
        ends the tail."""
        self._received += chunk
        while (end := self._received.find(b"\n\n")) >= 0:
            block = bytes(self._received[:end])
            del self._received[: end + 2]
            yield from self._event(_lines_of(block))

    def _event(self, lines: Mapping[bytes, bytes]) -> list[T]:
        self.is_open = True
        name, data = lines.get(b"event"), lines.get(b"data", b"")
        entries = self._entries(json.loads(data)) if name == b"entries" else []
        if name == b"gap":
            gap = json.loads(data)
            self._incarnation = gap.get("incarnation", self._incarnation)
            self._gap(gap)
        elif name in {b"end", b"problem"}:
            raise _end_of(data)
        if position := lines.get(b"id"):
            self._position = position.decode()
        if incarnation := lines.get(b"incarnation"):
            self._incarnation = incarnation.decode()
        return entries


class Tail(AnyTail[Entry]):
    """The tail of one stream."""

    def __init__(
        self, key: str, after: str, on_gap: Callable[[Gap], None], condition: str | None = None
    ) -> None:
        super().__init__(key, on_gap)
        self._after = after
        self._condition = given(condition)

    def _request(self, position: str | Unset) -> Mapping[str, Any]:
        return reads_api.tail._get_kwargs(
            self._name,
            after=self._after,
            last_event_id=position,
            incarnation=given(self._incarnation),
            filter_=self._condition,
            **_NO_GROUP,
        )

    def _entries(self, data: Any) -> list[Entry]:
        return [entry_of(each) for each in data]


class StreamsTail(AnyTail[StreamEntry]):
    """The tail of several streams."""

    def __init__(
        self, positions: Mapping[str, str], on_gap: Callable[[Gap], None], condition: str | None = None
    ) -> None:
        if not positions:
            raise ValueError("streams is empty; pass at least one key")
        super().__init__(", ".join(positions), on_gap)
        self._positions = positions
        self._condition = given(condition)

    def _request(self, position: str | Unset) -> Mapping[str, Any]:
        return reads_api.tail_streams._get_kwargs(
            stream=list(self._positions),
            after=list(self._positions.values()),
            last_event_id=position,
            filter_=self._condition,
            **_NO_GROUP,
        )

    def _entries(self, data: Any) -> list[StreamEntry]:
        return [StreamEntry(data["key"], *entry_of(each)) for each in data["entries"]]


def positions_of(streams: str | Iterable[str] | Mapping[str, str], after: str) -> dict[str, str]:
    """Return the position of each stream: `after`, unless `streams` has the positions itself."""
    if isinstance(streams, Mapping):
        return dict(streams)
    return dict.fromkeys([streams] if isinstance(streams, str) else streams, after)


def _lines_of(block: bytes) -> dict[bytes, bytes]:
    """Return the lines of an event by their names; the server writes each name once. Comments have the empty
    name."""
    parts = (line.partition(b":") for line in block.split(b"\n"))
    return {name: value.removeprefix(b" ") for name, _, value in parts}


def _end_of(data: bytes) -> TailraceError:
    """Return the error with which the server ended the tail. A tail changes nothing, so it has no side
    effects."""
    error = error_of_problem(json.loads(data))
    error.side_effects = "none"
    return error
