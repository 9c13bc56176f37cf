"""Every bound of one WebSocket connection, with its reason, and the codes with which one is closed."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from tailrace.core.limits import ENTRY_BYTES_MAX, KIB, MIB, PIPELINE_COMMANDS_MAX, READ_STREAMS_MAX

FRAME_BYTES_MAX: Final = ENTRY_BYTES_MAX + MIB
"""One message from a client: the largest entry, and the request around it. Larger ones close with 1009."""

REQUESTS_PER_FRAME_MAX: Final = PIPELINE_COMMANDS_MAX
"""Requests in one array: as many as one pipeline over HTTP."""

TURN_REQUESTS_MAX: Final = 1_000
"""Requests carried out in one go: bounds how long one connection holds the writer."""

TURN_BYTES_MAX: Final = 128 * KIB
"""Bytes of requests that one turn decodes on the event loop: about 20 ms of work. The request that reaches
the limit is the last of its turn. Appends and commands that a thread has decoded do not count."""

MISTAKE_BYTES: Final = 512
"""Bytes that an invalid request, and each mistake in it, adds to those of its turn: to describe a mistake
takes as long as to decode many bytes."""

FRAME_MISTAKES_LISTED_MAX: Final = 1_000
"""Mistakes that the replies to one message list. Later invalid requests of the message get a short error. A
list is much longer than the request, and takes more work than to decode it."""

BACKLOG_MAX: Final = 4 * TURN_REQUESTS_MAX
"""Requests that wait for their turn before no more is taken from the connection: pipelining needs a few
turns in stock, and a client that sends without end must be slowed, not stored."""

SUBSCRIPTIONS_MAX: Final = 100
"""Subscriptions of one connection; one of them takes many streams."""

WATCHED_STREAMS_MAX: Final = READ_STREAMS_MAX
"""Streams over all subscriptions of one connection: as many as one read may name."""

FILTER_FIELDS_MAX: Final = 16
FILTER_VALUES_MAX: Final = 1_000
"""A filter is looked at for every entry that passes by."""

CREDIT_MAX: Final = (1 << 53) - 1
"""The greatest integer that every JSON client writes exactly; more credit than anyone uses up."""

PUSH_ENTRIES_MAX: Final = 1_000
"""Entries in one push: bounds what is held for a client while it takes the push."""

PUSH_BYTES_MAX: Final = MIB
"""Bytes of entries in one push, about: the last entry may overshoot, and a larger one goes alone."""

OUTPUT_PAUSE_BYTES: Final = 256 * 1024
"""Output that waits for the client above which nothing more is read for its subscriptions and none of its
requests are carried out: enough to keep a fast link busy, small enough to have ten thousand of."""

OUTPUT_BYTES_MAX: Final = 16 * MIB
"""Output that waits for the client above which it is closed (4008). What was under way when the pause
began may still come: a push for each subscription."""

REPLY_BYTES_MAX: Final = OUTPUT_BYTES_MAX
"""The replies to one message together, counted as those of an HTTP request are (`core.limits`), of which a
message gets a third: a frame exists more often while it is sent, and a client holds it whole, too."""

STALL_S: Final = 4
"""How long a client may take nothing of what waits for it. One that never reads is cut within twice this
and the grace below, thus within 10 s."""

CLOSE_GRACE_S: Final = 1
"""How long a client that is closed for not reading gets to read that before the connection is cut."""

RELEASED_IDS_MAX: Final = 100_000
"""Deliveries that are given back when a connection with `on_close: "nack"` ends: the latest ones. Older
ones stay pending and are claimed by their idle time."""


class CloseCode(IntEnum):
    """Why a connection is closed. 1xxx: RFC 6455. 4000 to 4499: come back, after a while; 4500 to 4999: do
    not, the same will happen."""

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
    """What arrived cannot be answered: the connection must be closed."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
