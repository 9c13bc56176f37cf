"""Server-Sent Events, read: from lines to events. It knows no connection and no content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Event(NamedTuple):
    """What an empty line ended. `last_id` holds on from event to event; `name` empty: a sign of life.

    `retry_ms`: how long to wait before coming back, where the event says so.
    """

    name: str
    data: str
    last_id: str
    retry_ms: int | None = None


def events(lines: Iterable[str]) -> Iterator[Event]:
    """The events that `lines`, without their ends, spell."""
    name, data, last_id, retry_ms = "", list[str](), "", None
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield Event(name, "\n".join(data), last_id, retry_ms)
            name, data, retry_ms = "", [], None
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            last_id = value
        elif field == "retry" and value.isdigit():
            retry_ms = int(value)
