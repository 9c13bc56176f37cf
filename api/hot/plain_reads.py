"""Hot reads of one stream without a body: the commands of their queries, and the answers to their replies.

If a function returns None, the documented route serves the request. This module owns which queries are hot,
and never looks at a head.
"""

from __future__ import annotations

from typing import Final

from tailrace.api.hot import answers, read_commands
from tailrace.api.hot.queries import NotPlain, Query, choice_of, number_of, text_of
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.wire.group_replies import group_json, group_named, pending_json, pending_page
from tailrace.api.wire.names import checked_name
from tailrace.api.wire.replies import SLICE_ENTRIES, entries_json, first_entry_json, page_json, tail_json
from tailrace.api.wire.stream_replies import stream_json
from tailrace.api.wire.turns import ROWS_PER_PIECE
from tailrace.core.commands import Command, InfoStream, PendingRange, Range, Read
from tailrace.core.errors import StreamError
from tailrace.core.limits import PAGE_ENTRIES_MAX, WAIT_MS_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import RangeReply, ReadReply, Reply, StreamInfo

PENDING_ROWS_MAX: Final = 2 * ROWS_PER_PIECE
"""The documented route writes more rows in slices."""

_RANGE: Final = frozenset({"start", "end", "order"})


# --- commands --------------------------------------------------------------------------------------


def range_command(key: bytes, query: Query, _body: bytes) -> Range | Read | None:
    """Return the command of a page. The documented route writes a long page in slices."""
    count = number_of(query, "count", PAGE_ENTRIES_MAX, 1, PAGE_ENTRIES_MAX)
    strict = choice_of(query, "strict", b"false", b"true")
    wait_ms = number_of(query, "wait_ms", 0, 0, WAIT_MS_MAX)
    if "after" in query:
        if not _RANGE.isdisjoint(query):
            return None
        after = text_of(query, "after", "")
        return read_commands.after_command(key, after, count, wait_ms or None, strict=strict)
    if wait_ms or count > SLICE_ENTRIES:
        return None
    start, end = text_of(query, "start", "-"), text_of(query, "end", "+")
    reverse = choice_of(query, "order", b"asc", b"desc")
    return read_commands.range_command(key, start, end, count, reverse=reverse, strict=strict)


def entry_command(key: bytes, entry_id: bytes, _body: bytes) -> Range:
    """Return the command of one entry. Raises `NotPlain`."""
    if not entry_id.isascii():
        raise NotPlain
    return read_commands.entry_command(key, entry_id.decode())


def pending_command(key: bytes, group: bytes, query: Query, _body: bytes) -> PendingRange | None:
    """Return the command of a page of pending entries."""
    count = number_of(query, "count", read_commands.PENDING_PAGE_DEFAULT, 1, PENDING_ROWS_MAX)
    return read_commands.pending_command(
        key,
        group,
        text_of(query, "start", "-"),
        text_of(query, "end", "+"),
        count,
        number_of(query, "min_idle_ms", 0, 0, I64_MAX),
        checked_name(query["consumer"], "consumer") if "consumer" in query else None,
    )


# --- answers ---------------------------------------------------------------------------------------


def range_answer(reply: Reply, command: Command) -> bytes | None:
    """Return a page; None if there is nothing to read and the client waits."""
    if isinstance(command, Read):
        assert isinstance(reply, ReadReply)
        if command.block_ms is not None and reply.is_empty:
            return None
        return answers.encode(tail_json(reply.streams[0], Shape.NATURAL))
    assert isinstance(reply, RangeReply)
    return answers.encode(page_json(reply, entries_json(reply.entries, Shape.NATURAL)))


def entry_answer(reply: Reply, _: Command) -> bytes | None:
    """Return the entry; None if it is missing: the documented route says what is."""
    assert isinstance(reply, RangeReply)
    return answers.encode(first_entry_json(reply.entries)) if reply.entries.ids else None


def stream_answer(reply: Reply, command: Command) -> bytes:
    """Return the answer of `xinfo_stream`."""
    assert isinstance(reply, StreamInfo)
    assert isinstance(command, InfoStream)
    return answers.encode(stream_json(command.key, reply))


def group_answer(key: bytes, group: bytes, reply: Reply, _: Command) -> bytes | None:
    """Return the answer of `xinfo_group`; None if the stream has no such group."""
    try:
        return answers.encode(group_json(group_named(reply, key, group)))
    except StreamError:
        return None


def pending_answer(reply: Reply, command: Command) -> bytes:
    """Return the answer of `xpending`."""
    assert isinstance(reply, list)
    assert isinstance(command, PendingRange)
    return answers.encode(pending_page(reply, command.count, list(map(pending_json, reply))))
