"""Reads of streams: the commands of bodies and queries, and the answers to their replies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from tailrace.api.name_members import named
from tailrace.api.operations.queries import NotPlain, Query, choice_of, number_of, text_of
from tailrace.api.problems.refusal_texts import quoted
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.reads import GroupReadBody, GroupReadPosition, ReadBody, ReadBounds, ReadPosition
from tailrace.api.wire.bodies import parse_body
from tailrace.api.wire.group_replies import group_json, group_named
from tailrace.api.wire.names import name_from_body
from tailrace.api.wire.parameters import (
    end_of,
    group_read_position_of,
    id_of,
    position_of,
    start_of,
)
from tailrace.api.wire.replies import (
    SLICE_ENTRIES,
    Json,
    entries_json,
    first_entry_json,
    page_json,
    slice_json,
    tail_json,
)
from tailrace.api.wire.stream_replies import stream_json
from tailrace.core.commands import (
    Batch,
    Command,
    InfoGroups,
    InfoStream,
    Range,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    StreamLength,
)
from tailrace.core.errors import no_such_key
from tailrace.core.limits import PAGE_BYTES_MAX, PAGE_ENTRIES_MAX, READ_ENTRIES_MAX, WAIT_MS_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import RangeReply, ReadReply, Reply, StreamInfo, StreamRead

_BOUNDS: Final = frozenset({"start", "end", "order"})

REPEATED_MAX: Final = 1_024
REPEATED_BYTES_MAX: Final = 512
"""The bodies of reads whose commands are remembered, and the longest of them: consumers repeat their read."""

_encode: Final = msgspec.json.Encoder().encode


# --- several streams -------------------------------------------------------------------------------


def read_command(raw: bytes) -> Read:
    """Return the command for a body of `xread`. Raises `RequestRefused`."""
    return _repeated_read(raw) if len(raw) <= REPEATED_BYTES_MAX else _read_command(raw)


def _read_command(raw: bytes) -> Read:
    body = parse_body(raw, ReadBody)
    return read_of(body, body.wait_ms or None)


_repeated_read: Final = lru_cache(REPEATED_MAX)(_read_command)


def read_of(body: ReadBody, block_ms: int | None) -> Read:
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


def group_read_command(raw: bytes) -> ReadGroup:
    """Return the command for a body of `xreadgroup`. Raises `RequestRefused`."""
    return _repeated_group_read(raw) if len(raw) <= REPEATED_BYTES_MAX else _group_read_command(raw)


def _group_read_command(raw: bytes) -> ReadGroup:
    body = parse_body(raw, GroupReadBody)
    return group_read_of(body, body.wait_ms or None)


_repeated_group_read: Final = lru_cache(REPEATED_MAX)(_group_read_command)


def group_read_of(body: GroupReadBody, block_ms: int | None) -> ReadGroup:
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


def read_answer(reply: Reply, command: Command, _names: Sequence[bytes], shape: Shape) -> bytes:
    """Return the answer of `xread`: with the incarnation of each stream for which the request has one."""
    assert isinstance(reply, ReadReply)
    assert isinstance(command, Read)
    pairs = zip(command.streams, reply.streams, strict=True)
    return _encode({"streams": [_slice_json(source, read, shape) for source, read in pairs]})


def _slice_json(source: ReadFrom, read: StreamRead, shape: Shape) -> Json:
    content = slice_json(read, shape, deliveries=False)
    if source.incarnation is None or read.incarnation is None:
        return content
    return {**content, "incarnation": read.incarnation}


def group_read_answer(reply: Reply, _command: Command, _names: Sequence[bytes], shape: Shape) -> bytes:
    """Return the answer of `xreadgroup`."""
    assert isinstance(reply, ReadReply)
    return _encode({"streams": [slice_json(read, shape, deliveries=True) for read in reply.streams]})


# --- one stream ------------------------------------------------------------------------------------


def range_command(key: bytes, start: str, end: str, count: int, *, reverse: bool, strict: bool) -> Range:
    """Return the command that reads a page of a range."""
    return Range(
        key, start_of(start), end_of(end), count, reverse=reverse, max_bytes=PAGE_BYTES_MAX, strict=strict
    )


def after_command(
    key: bytes, after: str, count: int, block_ms: int | None, *, strict: bool, incarnation: str | None = None
) -> Read:
    """Return the command that reads the entries after a position."""
    limits = ReadLimits(count=min(count, READ_ENTRIES_MAX), page_bytes=PAGE_BYTES_MAX)
    return Read((ReadFrom(key, position_of(after), incarnation),), limits, block_ms, strict)


def plain_range_command(key: bytes, query: Query) -> Range | Read:
    """Return the command of a page. Raises `NotPlain`, also for a long page, which the documented route
    writes in slices."""
    count = number_of(query, "count", PAGE_ENTRIES_MAX, 1, PAGE_ENTRIES_MAX)
    strict = choice_of(query, "strict", b"false", b"true")
    wait_ms = number_of(query, "wait_ms", 0, 0, WAIT_MS_MAX)
    if "after" in query:
        if not _BOUNDS.isdisjoint(query):
            raise NotPlain
        return after_command(key, text_of(query, "after", ""), count, wait_ms or None, strict=strict)
    if wait_ms or count > SLICE_ENTRIES:
        raise NotPlain
    start, end = text_of(query, "start", "-"), text_of(query, "end", "+")
    return range_command(
        key, start, end, count, reverse=choice_of(query, "order", b"asc", b"desc"), strict=strict
    )


def range_answer(reply: Reply, _command: Command, _names: Sequence[bytes], shape: Shape) -> bytes:
    """Return a page."""
    if isinstance(reply, ReadReply):
        return _encode(tail_json(reply.streams[0], shape))
    assert isinstance(reply, RangeReply)
    return _encode(page_json(reply, entries_json(reply.entries, shape)))


def entry_command(key: bytes, entry_id: str) -> Range:
    """Return the command that reads one entry."""
    value = id_of(entry_id)
    return Range(key, value, value, count=1)


def plain_entry_command(key: bytes, entry_id: bytes, _: Query) -> Range:
    """Return the command that reads one entry. Raises `NotPlain`."""
    if not entry_id.isascii():
        raise NotPlain
    return entry_command(key, entry_id.decode())


def entry_answer(reply: Reply, command: Command, names: Sequence[bytes], shape: Shape) -> bytes:
    """Return the entry. Raises NO_SUCH_STREAM or NO_SUCH_ENTRY."""
    assert isinstance(reply, RangeReply)
    assert isinstance(command, Range)
    if not reply.exists:
        raise no_such_key(command.key)
    if not reply.entries.ids:
        raise no_such_entry(command.key, names[1].decode())
    return _encode(first_entry_json(reply.entries, shape))


def no_such_entry(key: bytes, entry_id: str) -> RequestRefused:
    """Return the error for an id that the existing stream `key` has no entry for (404)."""
    return RequestRefused(
        HttpCode.NO_SUCH_ENTRY,
        f"the stream {quoted(key)} has no entry {entry_id}",
        members={**named(key=key), "id": entry_id},
    )


def length_command(key: bytes, _: Query) -> StreamLength:
    """Return the command of `xlen`."""
    return StreamLength(key)


def length_answer(reply: Reply) -> bytes:
    """Return the answer of `xlen`."""
    assert isinstance(reply, int)
    return b'{"length":%d}' % reply


def stream_command(key: bytes, _: Query) -> InfoStream:
    """Return the command of `xinfo_stream`."""
    return InfoStream(key)


def stream_answer(reply: Reply, command: Command) -> bytes:
    """Return the answer of `xinfo_stream`."""
    assert isinstance(reply, StreamInfo)
    assert isinstance(command, InfoStream)
    return _encode(stream_json(command.key, reply))


def group_command(key: bytes, _group: bytes, _: Query) -> InfoGroups:
    """Return the command of `xinfo_group`."""
    return InfoGroups(key)


def group_answer(reply: Reply, _command: Command, names: Sequence[bytes], _shape: Shape) -> bytes:
    """Return the answer of `xinfo_group`. Raises NOGROUP."""
    key, group = names
    return _encode(group_json(group_named(reply, key, group)))
