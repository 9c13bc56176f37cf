"""Writes Server-Sent Events, and the ids with which a client resumes a tail.

It owns the wire format of `text/event-stream` and the limits of a tail. `api.follow.tails` decides what to
send.

A tail begins with an ``entries`` event without entries. It has ``retry:`` and, if the position is known,
``id:``, so that a client that loses the connection before the first entry resumes at the same position.

Every block has data, and a comment is one line without a blank line after it: many clients take any block
for a message, and parse its data as JSON. Events:

====================  ===================================================================
``entries``           new entries: an array, or with several streams ``{"key", "entries", "next"}``; without
                      entries, the event only tells the position
``gap``               ``{"key", "from", "to"}``: entries after `from` and before `to` were trimmed
``end``               a problem: the tail has ended; the connection closes
``problem``           a problem: the server failed; the connection closes
====================  ===================================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes
from zlib import crc32

import msgspec

from tailrace.core.one_line import one_line
from tailrace.core.stream_id import StreamId, format_id, invalid_id, parse_id

EVENT_STREAM: Final = "text/event-stream"

HEADERS: Final[Mapping[str, str]] = {"X-Accel-Buffering": "no"}
"""Proxies must not buffer the events (nginx reads this header)."""

RETRY_MS: Final = 2_000
"""Milliseconds that a client waits before it connects again after a lost connection."""

HEARTBEAT_MS: Final = 15_000
"""Milliseconds without an event after which a comment is sent. Common proxies close idle connections after
60 s."""

STALL_S: Final = 30
"""Seconds that a client may read nothing before the server closes its connection. The client can resume
later."""

PREFETCH_DEFAULT: Final = 100
PREFETCH_MAX: Final = 10_000
"""How many entries of one tail can be unacknowledged: the default, and the greatest value."""

OUTPUT_EXTENSION: Final = "tailrace.output"
"""An ASGI extension of the server: `api.follow.tails.OpenOutput` of the request's connection."""

COMMENT: Final = b":\n"
"""A comment, which shows that the connection is alive. Clients ignore it. The next event begins after it."""

_MARK: Final = re.compile("[0-9a-f]{8}")

_encode: Final = msgspec.json.Encoder().encode


def opening(nothing: object, last_event_id: str) -> bytes:
    """Return the first bytes of a tail: an event with `nothing`, which is data without entries.

    `last_event_id` is empty if there is no position to resume from yet.
    """
    return f"retry: {RETRY_MS}\n".encode() + event("entries", nothing, last_event_id)


def event(name: str, content: object, last_event_id: str = "", incarnation: str | None = None) -> bytes:
    """Return one event. `content` is encoded as JSON; parts of type `msgspec.Raw` are inserted unchanged.
    `incarnation`: a line of its own, which clients of the standard ignore.

    The data is one line, also for clients for which more characters than CR and LF end a line. O(bytes).
    """
    data = one_line(_encode(content))
    known = f"id: {last_event_id}\n" if last_event_id else ""
    told = f"incarnation: {incarnation}\n" if incarnation else ""
    return f"event: {name}\n{known}{told}data: ".encode() + data + b"\n\n"


def failure(name: str, problem: Mapping[str, Any]) -> bytes:
    """Return the last event of a tail, `end` or `problem`. It has no id, so the client resumes after its last
    event."""
    return event(name, problem)


# --- ids -------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """A position in a composite id, and the mark of the stream's incarnation; empty if it was not known."""

    at: StreamId
    incarnation: str


def mark_of(incarnation: str | None) -> str:
    """Return the checksum of an incarnation, which a composite id has instead: it is shorter, and differs
    between two streams of one store. Empty if there is no incarnation."""
    return f"{crc32(incarnation.encode()):08x}" if incarnation else ""


def composite_id(positions: Mapping[bytes, StreamId], incarnations: Mapping[bytes, str | None]) -> str:
    """Return the id of an event of several streams: ``key=id~mark&key=id``, with percent-encoded keys. A
    stream whose incarnation is not known has no mark."""
    return "&".join(
        f"{quote_from_bytes(key, safe='')}={format_id(at)}{'~' if known else ''}{known}"
        for key, at in positions.items()
        for known in [mark_of(incarnations.get(key))]
    )


def parse_composite_id(text: str) -> dict[bytes, Mark]:
    """Return the positions in an id that `composite_id` wrote. Raises `StreamError` INVALID_ID."""
    positions = {}
    for part in text.split("&"):
        key, equals, place = part.partition("=")
        position, tilde, known = place.partition("~")
        if not equals or (tilde and not _MARK.fullmatch(known)):
            raise invalid_id(text)
        positions[unquote_to_bytes(key)] = Mark(parse_id(position.encode()), known)
    return positions
