"""Server-Sent Events as text: how an event is written, and the ids by which a tail is resumed.

It owns the wire format of `text/event-stream` and the limits of a tail. It knows no connection and
asks nobody: `api.tails.tail` decides what is sent, `api.tails.tail_response` sends it.

A tail begins with ``retry:``, and where its position is known with that position as ``id:``, so that a
client that loses the connection before the first event resumes where it came in. Events:

====================  ===================================================================
``entries``           new entries: an array, or ``{"key", "entries", "next"}`` of several streams
``gap``               ``{"key", "from", "to"}``: entries after `from` and before `to` were trimmed away
``end``               a problem: the tail is over; the connection closes
``error``             a problem: the server failed; the connection closes
====================  ===================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec

from tailrace.core.stream_id import StreamId, format_id, invalid_id, parse_id

EVENT_STREAM: Final = "text/event-stream"

HEADERS: Final[Mapping[str, str]] = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""No cache keeps a tail, and no proxy (nginx reads the second) holds back its events."""

RETRY_MS: Final = 2_000
"""How long a client that lost its connection waits before it comes back."""

HEARTBEAT_MS: Final = 15_000
"""How long a tail is silent at most: well below the idle time after which common proxies cut (60 s)."""

EVENT_ENTRIES_MAX: Final = 1_000
"""Entries of one event: a bound on what is held for a client while it takes the event."""

EVENT_BYTES_MAX: Final = 1 << 20
"""Bytes of entries of one event, about; a larger entry goes alone."""

CHUNK_BYTES: Final = 1 << 16
"""How much is handed to the connection at once, so that a large event shows progress as it is taken."""

STALL_S: Final = 30
"""How long a client may take nothing; then its connection is closed, and what it missed is resumed by
its next one."""

PREFETCH_DEFAULT: Final = 100
PREFETCH_MAX: Final = 10_000
"""Deliveries that a group's consumer may hold unacknowledged on one tail."""

COMMENT: Final = b":\n\n"
"""Shows that the connection lives; clients pass it over."""

_LINE_ENDS_TO_SOME: Final = (
    ("\u2028".encode(), rb"\u2028"),
    ("\u2029".encode(), rb"\u2029"),
    ("\u0085".encode(), rb"\u0085"),
)
"""The standard ends lines at CR and LF only; `str.splitlines`, on which common clients rest, here too."""

_encode: Final = msgspec.json.Encoder().encode


def opening(last_event_id: str) -> bytes:
    """The first bytes of a tail; `last_event_id` empty: there is no position to resume from yet."""
    known = f"id: {last_event_id}\n" if last_event_id else ""
    return f"retry: {RETRY_MS}\n{known}\n".encode()


def event(name: str, content: object, last_event_id: str = "") -> bytes:
    """One event; `content` is JSON to be, `msgspec.Raw` parts go in as they are.

    JSON holds no raw line end, so its data is one line; also for clients to whom more characters end one.
    """
    data = _encode(content)
    for character, escape in _LINE_ENDS_TO_SOME:
        data = data.replace(character, escape)
    known = f"id: {last_event_id}\n" if last_event_id else ""
    return f"event: {name}\n{known}data: ".encode() + data + b"\n\n"


def failure(name: str, problem: Mapping[str, Any]) -> bytes:
    """The last event of a tail, `end` or `error`. It has no id: the client resumes behind what it has."""
    return event(name, problem)


# --- ids -------------------------------------------------------------------------------------------


def composite_id(positions: Mapping[bytes, StreamId]) -> str:
    """The id of an event of a tail over several streams: ``key=id&key=id``, keys percent-encoded."""
    return "&".join(f"{quote_from_bytes(key, safe='')}={format_id(at)}" for key, at in positions.items())


def parse_composite_id(text: str) -> dict[bytes, StreamId]:
    """The positions that `composite_id` wrote. Raises `StreamError` INVALID_ID."""
    positions = {}
    for part in text.split("&"):
        key, equals, position = part.partition("=")
        if not equals:
            raise invalid_id(text)
        positions[unquote_to_bytes(key)] = parse_id(position.encode())
    return positions
