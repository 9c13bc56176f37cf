"""The commands for the bodies of the hot operations, for the documented routes and the hot way.

It owns the step from a body to a command, and never writes a response. A body in an uncommon form raises an
error; the documented route then describes the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final

import msgspec

from tailrace.api.schemas.reads import GroupReadBody, GroupReadPosition, ReadBounds
from tailrace.api.wire.appends import (
    UNREADABLE,
    BatchOptions,
    NewEntries,
    decode_batch,
    decode_xadd,
    plain_fragment,
    trimming_of,
)
from tailrace.api.wire.bodies import parse_body, require_few_elements
from tailrace.api.wire.entry_lines import FIELDS_LINES, decode_lines
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.parameters import group_read_position_of, ids_of, optional_id_of
from tailrace.core.commands import Acknowledge, Append, Idempotency, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.limits import IDS_PER_REQUEST_MAX, PAGE_BYTES_MAX, READ_ENTRIES_MAX, REQUEST_ELEMENTS_MAX

IdempotencyOf = Callable[[bool], Idempotency | None]
"""The idempotency that a request asks for; the argument says whether the server chooses all ids."""


def no_idempotency(_chosen: bool) -> None:  # noqa: FBT001 - an `IdempotencyOf`
    """Return None: the request has no such headers."""


# --- appending -------------------------------------------------------------------------------------


def xadd_command(key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency) -> Append:
    """Return the command that appends one entry."""
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
    """Return the command that appends several entries."""
    return decoded_batch_command(key, *decode_batch(raw), idempotency)


def decoded_batch_command(
    key: bytes, options: BatchOptions, new: NewEntries, idempotency: IdempotencyOf
) -> Append:
    """Return the command that appends the entries of a decoded batch."""
    return Append(
        key,
        new.fragments,
        new.ids,
        trimming_of(options.trim),
        if_last_id=optional_id_of(options.if_last_id, "if_last_id"),
        idempotency=idempotency(new.ids is None),
    )


def import_command(key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency) -> Append:
    """Return the command that appends the lines of a body. Each line is an object of fields."""
    return lines_command(key, decode_lines(raw, FIELDS_LINES), idempotency)


def lines_command(key: bytes, new: NewEntries, idempotency: IdempotencyOf) -> Append:
    """Return the command that appends entries decoded from lines."""
    return Append(key, new.fragments, new.ids, idempotency=idempotency(new.ids is None))


# --- reading as a group ----------------------------------------------------------------------------


def parse_group_read(raw: bytes) -> GroupReadBody:
    """Return the decoded body of `xreadgroup`."""
    return parse_body(raw, GroupReadBody)


def group_read_command(body: GroupReadBody, block_ms: int | None) -> ReadGroup:
    """Return the command that reads as a consumer of a group."""
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
    """Return the requested bounds, or by default those of a page."""
    return ReadLimits(
        count=bounds.count,
        max_count=min(bounds.max_count or READ_ENTRIES_MAX, READ_ENTRIES_MAX),
        max_bytes=bounds.max_bytes,
        page_bytes=PAGE_BYTES_MAX,
    )


# --- acknowledging ---------------------------------------------------------------------------------


class _HotAck(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The common form of the body of `xack`. The documented model, `AckBody`, has more members."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=IDS_PER_REQUEST_MAX)]


_decode_hot_ack: Final = msgspec.json.Decoder(_HotAck).decode


def hot_ack_ids(raw: bytes) -> list[str] | None:
    """Return the ids in the body of `xack` if it has no other member, else None: the model then decodes it.

    Raises `RequestRefused` 413.
    """
    require_few_elements(raw, REQUEST_ELEMENTS_MAX)
    try:
        return _decode_hot_ack(raw).ids
    except UNREADABLE:
        return None


def ack_command(key: bytes, group: bytes, ids: Sequence[str]) -> Acknowledge:
    """Return the command that acknowledges entries."""
    return Acknowledge(key, group, ids_of(ids), require_group=True)
