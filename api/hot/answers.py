"""The response bodies of the hot operations, for the documented routes and the hot way.

It owns the JSON of a reply, and the response to an append that was made earlier. It never writes a status
line or a header.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from tailrace.api.wire.group_replies import (
    autoclaim_json,
    claim_json,
    extend_json,
    overview_json,
    owner_json,
)
from tailrace.api.wire.replies import appended_json, slice_json
from tailrace.api.wire.turns import ROWS_PER_PIECE
from tailrace.core.errors import no_such_key
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import (
    AppendReply,
    ClaimReply,
    ExtendReply,
    PendingSummaryReply,
    ReadReply,
    Reply,
)
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId

REPLAYED_STATUS: Final = 200
REPLAYED_HEADERS: Final[Mapping[str, str]] = {"Idempotent-Replayed": "true"}
"""The status of a response to an append that was made earlier under the same key. It replaces the operation's
status."""

encode: Final = msgspec.json.Encoder().encode


def appended(reply: Reply, key: bytes) -> AppendReply:
    """Return the reply of an append to `key`. Raises NO_SUCH_STREAM if it must not create the stream."""
    if reply is None:
        raise no_such_key(key)
    assert isinstance(reply, AppendReply)
    return reply


_ENDS: Final = {seq: b'%d"}' % seq for seq in range(1000)}
"""The ends of answers of `xadd`, by the sequence number of the id."""


class _LastMs:
    """The millisecond of the last answer of `xadd`: its first id, and the begin of answers with its ids. Most
    appends to a busy server follow another one within a millisecond.

    Both are one object, because the event loops of several servers may run in one process.
    """

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: tuple[StreamId, bytes] = (0, b'{"id":"0-')


_last_ms: Final = _LastMs()


def xadd_bytes(reply: AppendReply) -> bytes:
    """Return the answer of `xadd`. Half the work if the last answer has an id of the same millisecond."""
    value = reply.ids[0]
    first, begin = _last_ms.value
    end = _ENDS.get(value - first)
    if end is None:
        begin = b'{"id":"%d-' % (value >> SEQ_BITS)
        end = b'%d"}' % (value & U64_MAX)
        _last_ms.value = (value - (value & U64_MAX), begin)
    return begin + end


def batch_bytes(reply: AppendReply, *, with_ids: bool = False) -> bytes:
    """Return the answer of `xadd_batch` and `import_entries`."""
    return encode(appended_json(reply, with_ids=with_ids))


def slices_bytes(reply: Reply, shape: Shape = Shape.NATURAL, *, deliveries: bool) -> bytes:
    """Return the answer of `xread` and `xreadgroup`."""
    assert isinstance(reply, ReadReply)
    return encode({"streams": [slice_json(read, shape, deliveries=deliveries) for read in reply.streams]})


def ack_bytes(reply: Reply) -> bytes:
    """Return the answer of `xack`."""
    assert isinstance(reply, int)
    return b'{"acknowledged":%d}' % reply


def nack_bytes(reply: Reply) -> bytes:
    """Return the answer of `xnack`."""
    assert isinstance(reply, int)
    return b'{"nacked":%d}' % reply


def claim_bytes(reply: Reply, shape: Shape = Shape.NATURAL) -> bytes:
    """Return the answer of `xclaim`."""
    assert isinstance(reply, ClaimReply)
    return encode(claim_json(reply, shape))


def autoclaim_bytes(reply: Reply, shape: Shape = Shape.NATURAL) -> bytes:
    """Return the answer of `xautoclaim`."""
    assert isinstance(reply, ClaimReply)
    return encode(autoclaim_json(reply, shape))


def extend_bytes(reply: Reply) -> bytes:
    """Return the answer of `extend`."""
    assert isinstance(reply, ExtendReply)
    return encode(extend_json(reply))


def length_bytes(reply: Reply) -> bytes:
    """Return the answer of `xlen`."""
    assert isinstance(reply, int)
    return b'{"length":%d}' % reply


def overview_bytes(reply: Reply) -> bytes | None:
    """Return the answer of `xpending_summary`; None if the consumers are many, or left out because they are:
    the documented route writes them in slices."""
    assert isinstance(reply, PendingSummaryReply)
    if reply.is_short or len(reply.consumers) > ROWS_PER_PIECE:
        return None
    return encode(overview_json(reply, list(map(owner_json, reply.consumers))))
