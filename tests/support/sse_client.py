"""A reader of Server-Sent Events for tests: parses text into events, as the HTML standard defines.

A block that it cannot parse, or that has no data, is an error, so a malformed stream fails a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec

READ_WITHIN_S = 10


@dataclass
class Event:
    """One block of the stream, or a comment between two blocks, which has no `name`."""

    name: str = ""
    id: str | None = None
    data: Any = None
    retry_ms: int | None = None
    incarnation: str | None = field(default=None, compare=False)
    comments: list[str] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The ids of the entries in the event."""
        entries = self.data["entries"] if isinstance(self.data, dict) else self.data
        return [entry["id"] for entry in entries]

    @property
    def tells_only_a_position(self) -> bool:
        """Whether it has no entries, such as the first event of a tail."""
        return self.name == "entries" and not self.ids


def parse_events(text: str) -> list[Event]:
    """Return all blocks of a text that ends after a complete block, and the comments between them."""
    assert text.endswith(("\n\n", ":\n")), text[-80:]
    return list(events_of(text.removesuffix("\n").split("\n")))


def events_of(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the blocks and comments of a stream of lines, each as soon as it is complete."""
    event = Event()
    for line in lines:
        if line.startswith(":"):
            assert event == Event(), "the server writes comments between blocks"
            yield Event(comments=[line[1:].removeprefix(" ")])
        elif line:
            _take(line, event)
        else:
            assert event.data is not None, "every block has data"
            yield event
            event = Event()


def _take(line: str, event: Event) -> None:
    name, _, value = line.partition(":")
    value = value.removeprefix(" ")
    if name == "event":
        event.name = value
    elif name == "id":
        event.id = value
    elif name == "incarnation":
        event.incarnation = value
    elif name == "retry":
        event.retry_ms = int(value)
    else:
        assert name == "data", line
        assert event.data is None, "the server writes data in one line"
        event.data = msgspec.json.decode(value)


class Tail:
    """An open tail. `next` waits for the next event and skips comments and events without entries."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._events = events_of(response.iter_lines())
        self.opening = next(self._events)

    def next(self) -> Event:
        return next(event for event in self._events if event.name and not event.tells_only_a_position)

    def next_block(self) -> Event:
        """Return the next block or comment, also an event without entries."""
        return next(self._events)

    def named(self, name: str) -> Event:
        """Return the next event, which must have that name."""
        event = self.next()
        assert event.name == name, event
        return event

    def is_over(self) -> bool:
        """Return whether the server ended the stream. It waits for the end, and raises if the stream
        continues."""
        return next(self._events, None) is None


@contextmanager
def open_tail(url: str, **headers: str) -> Iterator[Tail]:
    """Yield a tail whose first bytes have arrived; closed on exit."""
    with httpx.stream("GET", url, headers=headers, timeout=READ_WITHIN_S) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].partition(";")[0] == "text/event-stream"
        tail = Tail(response)  # keeps the iterator alive: httpx closes a response whose iterator is collected
        yield tail
