"""The commands for the bodies of hot appends and reads, for the documented routes and the hot way.

It owns the step from a body to a command, and never writes a response. A body in an uncommon form raises an
error; the documented route then describes the error.
"""

from __future__ import annotations

from collections.abc import Callable

from tailrace.api.hot.plain_appends import plain_fragment
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPosition, ReadBody, ReadBounds, ReadPosition
from tailrace.api.wire.appends import (
    BatchOptions,
    NewEntries,
    decode_batch,
    decode_xadd,
    trimming_of,
)
from tailrace.api.wire.bodies import parse_body
from tailrace.api.wire.entry_lines import FIELDS_LINES, decode_lines
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.parameters import group_read_position_of, optional_id_of, position_of
from tailrace.api.wire.scheduling import is_delayed, no_idempotency, schedule_command
from tailrace.core.commands import (
    Append,
    Batch,
    Idempotency,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    ScheduleEntries,
)
from tailrace.core.limits import PAGE_BYTES_MAX, READ_ENTRIES_MAX

IdempotencyOf = Callable[[bool], Idempotency | None]
"""The idempotency that a request asks for; the argument says whether the server chooses all ids."""


# --- appending -------------------------------------------------------------------------------------


def xadd_command(
    key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency
) -> Append | ScheduleEntries:
    """Return the command that appends one entry, or stores it until its time."""
    return plain_xadd_command(key, raw, idempotency) or decoded_xadd_command(key, raw, idempotency)


def plain_xadd_command(key: bytes, raw: bytes, idempotency: IdempotencyOf) -> Append | None:
    """Return the command that appends the one entry of a short body without options, as most bodies are;
    None for any other body."""
    fragment = plain_fragment(raw)
    if fragment is None:
        return None
    if idempotency is no_idempotency:
        return Append(key, (fragment,))
    return Append(key, (fragment,), idempotency=idempotency(True))  # noqa: FBT003 - the server chooses


def decoded_xadd_command(key: bytes, raw: bytes, idempotency: IdempotencyOf) -> Append | ScheduleEntries:
    """Return the command for any body of `xadd`. Raises `RequestRefused`."""
    body, new = decode_xadd(raw)
    if is_delayed(body):
        return schedule_command(key, body, new, idempotency, create=not body.nomkstream)
    return Append(
        key,
        new.fragments,
        new.ids,
        trimming_of(body.trim),
        create=not body.nomkstream,
        if_last_id=optional_id_of(body.if_last_id, "if_last_id"),
        idempotency=idempotency(new.ids is None),
    )


def batch_command(
    key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency
) -> Append | ScheduleEntries:
    """Return the command that appends several entries, or stores them until their time."""
    return decoded_batch_command(key, *decode_batch(raw), idempotency)


def decoded_batch_command(
    key: bytes, options: BatchOptions, new: NewEntries, idempotency: IdempotencyOf
) -> Append | ScheduleEntries:
    """Return the command that appends the entries of a decoded batch, or stores them until their time."""
    if is_delayed(options):
        return schedule_command(key, options, new, idempotency)
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


# --- reading ---------------------------------------------------------------------------------------


def parse_read(raw: bytes) -> ReadBody:
    """Return the decoded body of `xread`."""
    return parse_body(raw, ReadBody)


def read_command(body: ReadBody, block_ms: int | None) -> Read:
    """Return the command that reads several streams."""
    return Read(
        tuple([_read_from(position) for position in body.streams]),
        read_limits(body),
        block_ms,
        body.strict,
        batch=batch_of(body),
    )


def _read_from(position: ReadPosition) -> ReadFrom:
    key = name_from_body(position.key, position.encoding, "key")
    return ReadFrom(key, position_of(position.after), position.incarnation)


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
        batch=batch_of(body),
    )


def _group_read_from(position: GroupReadPosition) -> ReadFrom:
    key = name_from_body(position.key, position.encoding, "key")
    return ReadFrom(key, group_read_position_of(position.id))


def batch_of(bounds: ReadBounds) -> Batch | None:
    """Return how the read gathers entries, None if it returns the first ones. It never waits for more than
    `count` of all streams together."""
    if bounds.min_count is None:
        return None
    return Batch(min(bounds.min_count, bounds.count or bounds.min_count), bounds.linger_ms)


def read_limits(bounds: ReadBounds) -> ReadLimits:
    """Return the requested bounds, or by default those of a page."""
    return ReadLimits(
        count=bounds.count,
        max_count=min(bounds.max_count or READ_ENTRIES_MAX, READ_ENTRIES_MAX),
        max_bytes=bounds.max_bytes,
        page_bytes=PAGE_BYTES_MAX,
    )
