"""The hot routes: bytes in, a command; a reply, bytes out. Called by the documented route and by the
path below the framework alike, so that nothing of them is written twice.

It owns what these routes do with a body and a reply. Who called, and how the answer travels, it never
knows. Whatever is not the plain case raises, and the documented route says it well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final

import msgspec

from tailrace.api.schemas.reads import GroupReadBody, GroupReadPosition, ReadBounds
from tailrace.api.wire.appends import (
    FIELDS_LINES,
    UNREADABLE,
    BatchOptions,
    NewEntries,
    decode_batch,
    decode_lines,
    decode_xadd,
    plain_fragment,
    trimming_of,
)
from tailrace.api.wire.bodies import parse_body, require_few_elements
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.parameters import group_read_position_of, ids_of, optional_id_of
from tailrace.api.wire.replies import appended_json, slice_json
from tailrace.core.commands import Acknowledge, Append, Idempotency, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.errors import no_such_key
from tailrace.core.limits import BODY_ELEMENTS_MAX, IDS_PER_REQUEST_MAX, PAGE_BYTES_MAX, READ_ENTRIES_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import AppendReply, ReadReply, Reply
from tailrace.core.stream_id import SEQ_BITS, U64_MAX

IdempotencyOf = Callable[[bool], Idempotency | None]
"""The idempotency that a request asks for; the argument says whether the server chooses all ids."""

encode: Final = msgspec.json.Encoder().encode


def no_idempotency(_chosen: bool) -> None:  # noqa: FBT001 - an `IdempotencyOf`
    """A request without such headers."""


# --- appending -------------------------------------------------------------------------------------


def xadd_command(key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency) -> Append:
    """Append one entry."""
    fragment = plain_fragment(raw)
    if fragment is not None:
        return Append(key, (fragment,), idempotency=idempotency(True))  # noqa: FBT003 - the server chooses
    body, new = decode_xadd(raw)
    return Append(
        key,
        new.fragments,
        new.ids,
        trimming_of(body.trim),
        create=not body.nomkstream,
        if_last_id=optional_id_of(body.if_last_id, "if_last_id"),
        idempotency=idempotency(new.ids is None),
    )


def batch_command(key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency) -> Append:
    """Append several entries."""
    return decoded_batch_command(key, *decode_batch(raw), idempotency)


def decoded_batch_command(
    key: bytes, options: BatchOptions, new: NewEntries, idempotency: IdempotencyOf
) -> Append:
    """Append the entries of a batch that was decoded."""
    return Append(
        key,
        new.fragments,
        new.ids,
        trimming_of(options.trim),
        if_last_id=optional_id_of(options.if_last_id, "if_last_id"),
        idempotency=idempotency(new.ids is None),
    )


def import_command(key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency) -> Append:
    """Append the lines of a body, an object of fields each."""
    return lines_command(key, decode_lines(raw, FIELDS_LINES), idempotency)


def lines_command(key: bytes, new: NewEntries, idempotency: IdempotencyOf) -> Append:
    """Append the entries that were decoded from lines."""
    return Append(key, new.fragments, new.ids, idempotency=idempotency(new.ids is None))


def appended(reply: Reply, key: bytes) -> AppendReply:
    """The reply of an append to `key`; raises NO_SUCH_STREAM where it was not to make one."""
    if reply is None:
        raise no_such_key(key)
    assert isinstance(reply, AppendReply)
    return reply


def xadd_bytes(reply: AppendReply) -> bytes:
    """The answer of `xadd`."""
    value = reply.ids[0]
    return b'{"id":"%d-%d"}' % (value >> SEQ_BITS, value & U64_MAX)


def batch_bytes(reply: AppendReply, *, with_ids: bool = False) -> bytes:
    """The answer of `xadd_batch` and `import_entries`."""
    return encode(appended_json(reply, with_ids=with_ids))


# --- reading as a group ----------------------------------------------------------------------------


def group_read_command(body: GroupReadBody, block_ms: int | None) -> ReadGroup:
    """Read as a consumer of a group."""
    return ReadGroup(
        name_from_body(body.group, body.encoding, "group"),
        name_from_body(body.consumer, body.encoding, "consumer"),
        tuple([_group_read_from(position) for position in body.streams]),
        read_limits(body),
        block_ms,
        body.claim_min_idle_ms,
        body.noack,
    )


def _group_read_from(position: GroupReadPosition) -> ReadFrom:
    key = name_from_body(position.key, position.encoding, "key")
    return ReadFrom(key, group_read_position_of(position.id))


def read_limits(bounds: ReadBounds) -> ReadLimits:
    """The bounds asked for; where none are, those of a page."""
    return ReadLimits(
        count=bounds.count,
        max_count=min(bounds.max_count or READ_ENTRIES_MAX, READ_ENTRIES_MAX),
        max_bytes=bounds.max_bytes,
        page_bytes=PAGE_BYTES_MAX,
    )


def slices_bytes(reply: Reply, shape: Shape = Shape.NATURAL, *, deliveries: bool) -> bytes:
    """The answer of `xread` and `xreadgroup`."""
    assert isinstance(reply, ReadReply)
    return encode({"streams": [slice_json(read, shape, deliveries=deliveries) for read in reply.streams]})


# --- acknowledging ---------------------------------------------------------------------------------


class _PlainAck(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of `xack` as nearly all are. Documented as `AckBody`, which has more."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=IDS_PER_REQUEST_MAX)]


_decode_plain_ack: Final = msgspec.json.Decoder(_PlainAck).decode


def plain_ack_ids(raw: bytes) -> list[str] | None:
    """The ids in the body of `xack` where it has nothing else; None leaves it to its model.

    Raises `RequestRefused` 413.
    """
    require_few_elements(raw, BODY_ELEMENTS_MAX)
    try:
        return _decode_plain_ack(raw).ids
    except UNREADABLE:
        return None


def ack_command(key: bytes, group: bytes, ids: Sequence[str]) -> Acknowledge:
    """Entries are done."""
    return Acknowledge(key, group, ids_of(ids), require_group=True)


def ack_bytes(reply: Reply) -> bytes:
    """The answer of `xack`."""
    assert isinstance(reply, int)
    return b'{"acknowledged":%d}' % reply


def parse_group_read(raw: bytes) -> GroupReadBody:
    """The body of `xreadgroup`."""
    return parse_body(raw, GroupReadBody)
