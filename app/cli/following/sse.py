"""Parses Server-Sent Events from lines. It owns no connection and does not interpret the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class ServerSentEvent(NamedTuple):
    """One event. An empty `name` is a comment, which the server sends as a heartbeat. `last_id` is the last
    id that any event has set.

    `retry_ms`: how long to wait before reconnecting; None if the event does not set it.
    """

    name: str
    data: str
    last_id: str
    retry_ms: int | None = None


def events(lines: Iterable[str]) -> Iterator[ServerSentEvent]:
    """Yield the events in `lines`, which have no line ends."""
    name, data, last_id, retry_ms = "", list[str](), "", None
    for line in lines:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield ServerSentEvent(name, "\n".join(data), last_id, retry_ms)
            name, data, retry_ms = "", [], None
        elif not field:
            yield ServerSentEvent("", "", last_id)
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            last_id = value
        elif field == "retry" and value.isdigit():
            retry_ms = int(value)
