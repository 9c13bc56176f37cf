"""Writes the frames that the server sends unasked: its first frame, and pushes (entries, gaps and ends).

It owns the members of these frames. A delivery that several subscriptions share is encoded once for all
subscriptions with the same id, filter and count.
"""

from __future__ import annotations

from typing import Final

from tailrace.api import websocket_limits as limits
from tailrace.api.follow.followers import Delivery, Filter
from tailrace.api.problems.table import Refusal, problem_of
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.requests import RequestId
from tailrace.core.replies import Entries, StreamRead
from tailrace.core.stream_id import StreamId, format_id

SHOWN_LIMITS: Final = (
    "frame_bytes_max",
    "requests_per_frame_max",
    "subscriptions_max",
    "watched_streams_max",
    "filter_fields_max",
    "filter_values_max",
    "credit_max",
    "push_entries_max",
    "push_bytes_max",
    "output_bytes_max",
    "reply_bytes_max",
)
"""The members of `api.websocket_limits` that the server's first frame shows."""


def greeting(codec: Codec, version: str) -> bytes:
    """Return the server's first frame."""
    shown = {name: getattr(limits, name.upper()) for name in SHOWN_LIMITS}
    return codec.encode({"hello": {"version": version, "subprotocol": codec.subprotocol, "limits": shown}})


# --- frames ------------------------------------------------------------------------------------------


def entries_push(
    codec: Codec,
    sub: RequestId,
    read: StreamRead,
    entries: Entries,
    following: StreamId,
    incarnation: str | None = None,
) -> bytes:
    """Return a push of entries. Entries of a group also have idle time and delivery count. `incarnation`:
    that of the stream, if the client does not know it yet. O(bytes)."""
    push = {
        "sub": sub,
        **codec.names(key=read.key),
        "entries": codec.entries(entries, deliveries=read.new),
        "next": format_id(following),
    }
    return codec.encode({**push, "incarnation": incarnation} if incarnation else push)


def shared_push(
    delivery: Delivery,
    codec: Codec,
    sub: RequestId,
    wanted: Filter | None,
    count: int,
    incarnation: str | None,
) -> bytes:
    """Return the push of the first `count` matching entries; encoded once for equal arguments."""
    known_as = (codec.is_text, sub, wanted, count, incarnation)
    frame = delivery.frames.get(known_as)
    if frame is None:
        entries = delivery.selection(wanted)
        if count < len(entries.ids):
            entries = Entries(entries.ids[:count], entries.fragments[:count])
        following = delivery.next_after(wanted, count)
        frame = entries_push(codec, sub, delivery.read, entries, following, incarnation)
        delivery.frames[known_as] = frame
    return frame


def gap_push(
    codec: Codec, sub: RequestId, key: bytes, after: StreamId, before: StreamId, **more: str | None
) -> bytes:
    """Return a push that reports that the entries after `after` and before `before` were trimmed. `more` has
    the incarnation of a stream that was created again."""
    gap = {"from": format_id(after), "to": format_id(before), **more}
    return codec.encode({"sub": sub, **codec.names(key=key), "gap": gap})


def end_push(codec: Codec, sub: RequestId, failure: Refusal) -> bytes:
    """Return the last push of a subscription, with the reason for its end."""
    return codec.encode({"sub": sub, "end": problem_of(failure, None)})
