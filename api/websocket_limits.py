"""The limits of one WebSocket connection, each with its reason, and the close codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from tailrace.core.limits import ENTRY_BYTES_MAX, KIB, MIB, PIPELINE_COMMANDS_MAX, READ_STREAMS_MAX

FRAME_BYTES_MAX: Final = ENTRY_BYTES_MAX + MIB
"""Bytes of one message from a client: the largest entry, and the request around it. A larger message closes
the connection with 1009."""

REQUESTS_PER_FRAME_MAX: Final = PIPELINE_COMMANDS_MAX
"""Requests in one array: as many as commands of one pipeline over HTTP."""

TURN_REQUESTS_MAX: Final = 1_000
"""Requests that run in one turn. This limits how long one connection occupies the writer."""

TURN_BYTES_MAX: Final = 128 * KIB
"""Bytes of requests that one turn decodes on the event loop: about 20 ms of work. The request that reaches
the limit is the last of its turn. Appends and commands that a thread has decoded do not count."""

JOINED_FRAME_BYTES_MAX: Final = 4 * KIB
"""Characters of a message with one append, up to which the server joins it with the appends around it. For
larger ones, the work for each message is a small part."""

MISTAKE_BYTES: Final = 512
"""Bytes that an invalid request, and each mistake in it, add to the bytes of its turn, because describing a
mistake takes as long as decoding this many bytes."""

FILTER_CHARACTER_BYTES: Final = 40
"""Bytes that each character of a filter adds to the bytes of its turn: compiling a character takes up to
7 us, as long as decoding this many bytes."""

FRAME_MISTAKES_LISTED_MAX: Final = 1_000
"""Mistakes that the replies to one message list. Later invalid requests of the message get a short error. A
list is much longer than the request, and takes more work than decoding the request."""

BACKLOG_MAX: Final = 4 * TURN_REQUESTS_MAX
"""Waiting requests of a connection above which the server stops reading from it. Pipelining needs a few turns
of waiting requests, but a client must not fill the memory."""

SUBSCRIPTIONS_MAX: Final = 100
"""Subscriptions of one connection. One subscription can have many streams."""

WATCHED_STREAMS_MAX: Final = READ_STREAMS_MAX
"""Streams of all subscriptions of one connection together: as many as one read may have."""

FILTER_FIELDS_MAX: Final = 16
FILTER_VALUES_MAX: Final = 1_000
"""Fields of a filter, and values of one field. The server applies a filter to every new entry."""

CREDIT_MAX: Final = (1 << 53) - 1
"""The greatest credit: the greatest integer that every JSON client writes exactly."""

PUSH_ENTRIES_MAX: Final = 1_000
"""Entries of one push. This limits the memory for a push while the client reads it."""

PUSH_BYTES_MAX: Final = 256 * KIB
"""Approximate bytes of entries in one push. The last entry may exceed it; a larger entry is pushed alone. For
each client that does not read, the server holds about one push and `OUTPUT_PAUSE_BYTES`."""

OUTPUT_PAUSE_BYTES: Final = 256 * 1024
"""Waiting output, in bytes, above which the server runs no requests of the connection and reads nothing for
its subscriptions. It keeps a fast connection busy, and ten thousand connections fit into memory."""

OUTPUT_BYTES_MAX: Final = 16 * MIB
"""Waiting output, in bytes, above which the server closes the connection (4008). After the pause began, each
subscription may still add one push."""

REPLY_BYTES_MAX: Final = OUTPUT_BYTES_MAX
"""Bytes of all replies to one message, counted like those of an HTTP request (`core.limits`). It is a third
of that limit, because a frame is in memory several times while it is sent, and the client needs it as a
whole."""

STALL_S: Final = 4
"""Seconds that a client may read nothing while output waits. A client that never reads is disconnected within
twice this time plus `CLOSE_GRACE_S`, so within 10 s."""

CLOSE_GRACE_S: Final = 1
"""Seconds that a client has to read the close frame after the server closes the connection, before the server
cuts it."""

RELEASED_IDS_MAX: Final = 100_000
"""How many of its latest deliveries a consumer with `on_close: "nack"` returns when the connection ends.
Older ones stay pending, until another consumer claims them."""


class CloseCode(IntEnum):
    """Why the server closes a connection. Codes below 4000 are those of RFC 6455. After 4000 to 4499, the
    client can connect again later. After 4500 to 4999, a new connection would be closed for the same reason.
    """

    GOING_AWAY = 1001
    UNSUPPORTED_DATA = 1003
    INVALID_PAYLOAD = 1007
    TOO_BIG = 1009
    INTERNAL_ERROR = 1011
    SERVICE_RESTART = 1012
    NOT_READING = 4008
    TOO_SLOW = 4009
    ACCESS_CHANGED = 4010
    TOO_MUCH_HELD = 4013
    ACCESS_ENDED = 4501


class ProtocolViolation(Exception):
    """The client sent something that has no reply; the connection must be closed with `code`."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
