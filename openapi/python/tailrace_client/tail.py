"""A tail over Server-Sent Events, as a state: bytes go in, entries come out, the next request is known.

It sends nothing. The server says with every event, and before the first, where the tail then stands. That
position goes into the next request as Last-Event-ID, so that after a cut nothing is lost and nothing comes
twice: an event is taken whole or not at all, and entries are handed on only once their event is whole.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tailrace_client.call import given
from tailrace_client.entries import Entry, entry_of
from tailrace_client.errors import ANSWER_LOST, TailraceError, error_of_problem
from tailrace_client.generated.api.reads import tail
from tailrace_client.generated.types import UNSET

SILENCE_MAX_S: Final = 45.0
"""The server writes a comment every 15 s: after three that did not come the connection is taken for dead."""

_log: Final = logging.getLogger("tailrace_client")


class Gap(NamedTuple):
    """Entries after `after` and before `before` that were trimmed away before the tail came by."""

    key: str
    after: str
    before: str


def log_gap(gap: Gap) -> None:
    """What becomes of a gap unless the program says otherwise."""
    _log.warning("stream %s: entries after %s and before %s were trimmed away", *gap)


class Tail:
    """One tail. `request` is the next one to send; `take` gives the entries that bytes complete."""

    def __init__(self, key: str, after: str, on_gap: Callable[[Gap], None]) -> None:
        self._key = key
        self._after = after
        self._on_gap = on_gap
        self._position: str | None = None
        self._received = bytearray()

    @property
    def request(self) -> Mapping[str, Any]:
        """What opens the tail where it stands. What was received of an event is forgotten: it comes again."""
        self._received.clear()
        return tail._get_kwargs(
            self._key,
            after=self._after,
            last_event_id=given(self._position),
            prefetch=UNSET,  # a group's, as the next
            noack=UNSET,
            shape=UNSET,
        )

    def over(self) -> TailraceError:
        """A tail has no end: one whose bytes end was cut off."""
        return TailraceError(ANSWER_LOST, f"the tail of {self._key} was cut off", retryable=True)

    def take(self, chunk: bytes) -> Iterator[Entry]:
        """Bytes that were received. Raises `TailraceError` where the server ends the tail."""
        self._received += chunk
        while (end := self._received.find(b"\n\n")) >= 0:
            block = bytes(self._received[:end])
            del self._received[: end + 2]
            yield from self._event(_lines_of(block))

    def _event(self, lines: Mapping[bytes, bytes]) -> list[Entry]:
        name, data = lines.get(b"event"), lines.get(b"data", b"")
        entries = [entry_of(each) for each in json.loads(data)] if name == b"entries" else []
        if name == b"gap":
            told = json.loads(data)
            self._on_gap(Gap(told["key"], told["from"], told["to"]))
        elif name in {b"end", b"error"}:
            raise _end_of(data)
        if position := lines.get(b"id"):
            self._position = position.decode()
        return entries


def _lines_of(block: bytes) -> dict[bytes, bytes]:
    """An event's lines by their names; the server writes each name once. Comments have the empty name."""
    parts = (line.partition(b":") for line in block.split(b"\n"))
    return {name: value.removeprefix(b" ") for name, _, value in parts}


def _end_of(data: bytes) -> TailraceError:
    """A tail changes nothing, so that the server's end is never in doubt."""
    error = error_of_problem(json.loads(data))
    error.side_effects = "none"
    return error
