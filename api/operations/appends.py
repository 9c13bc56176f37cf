"""Appends: the command of a body, and the answer to its reply.

It owns the most frequent body, ``{"fields":{...}}``, which it reads with half the work of any other.
The bodies of one producer mostly have the same names. A regular expression for these names proves in one step
that the fields of a body are their own fragment, without decoding them. `api.wire.appends` decodes all other
bodies.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from tailrace.api.wire.appends import (
    BatchOptions,
    NewEntries,
    decode_batch,
    decode_xadd,
    is_delayed,
    no_idempotency,
    schedule_command,
    scheduled_batch_json,
    scheduled_json,
    trimming_of,
)
from tailrace.api.wire.ndjson import FIELDS_LINES, decode_lines
from tailrace.api.wire.parameters import optional_id_of
from tailrace.api.wire.replies import appended_json
from tailrace.core.commands import Append, Command, Idempotency, ScheduleEntries
from tailrace.core.errors import no_such_key
from tailrace.core.log.entry import BadEntry, fragment_from_fields
from tailrace.core.log.entry_lines import expression_like
from tailrace.core.replies import AppendReply, Reply, ScheduleReply
from tailrace.core.stream_id import SEQ_BITS, U64_MAX, StreamId

IdempotencyOf = Callable[[bool], Idempotency | None]
"""The idempotency that a request asks for; the argument says whether the server chooses all ids."""

_encode: Final = msgspec.json.Encoder().encode

PLAIN_BYTES_MAX: Final = 65_536
"""The largest body that `plain_fragment` tries, in bytes. For larger bodies the shortcut saves no time."""

UNLIKE_MAX: Final = 256
"""After this many bodies that the expression does not match, the last of them gives the names for a new one.
Making an expression takes as long as reading a hundred bodies."""

EXPRESSION_BYTES_MAX: Final = 1024
"""A longer expression is not used: each connection may have one. This allows about twenty names."""

_BEGIN: Final = b'{"fields":'
_END: Final = b'"}}'
_BEGIN_SLICE: Final = slice(len(_BEGIN))
_END_SLICE: Final = slice(-len(_END), None)
_FIELDS: Final = slice(len(_BEGIN), -1)


# --- commands --------------------------------------------------------------------------------------


def xadd_command(
    key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency
) -> Append | ScheduleEntries:
    """Return the command that appends one entry, or stores it until its time. Raises `RequestRefused`."""
    fragment = plain_fragment(raw)
    if fragment is None:
        body, new = decode_xadd(raw)
        return append_command(key, body, new, idempotency, create=not body.nomkstream)
    if idempotency is no_idempotency:
        return Append(key, (fragment,))
    return Append(key, (fragment,), idempotency=idempotency(True))  # noqa: FBT003 - the server chooses


def batch_command(
    key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency
) -> Append | ScheduleEntries:
    """Return the command that appends several entries, or stores them until their time."""
    return append_command(key, *decode_batch(raw), idempotency)


def append_command(
    key: bytes,
    options: BatchOptions,
    new: NewEntries,
    idempotency: IdempotencyOf = no_idempotency,
    *,
    create: bool = True,
) -> Append | ScheduleEntries:
    """Return the command that appends decoded entries, or stores them until their time."""
    if is_delayed(options):
        return schedule_command(key, options, new, idempotency, create=create)
    return Append(
        key,
        new.fragments,
        new.ids,
        trimming_of(options.trim),
        create=create,
        if_last_id=optional_id_of(options.if_last_id, "if_last_id"),
        idempotency=idempotency(new.ids is None),
    )


def import_command(key: bytes, raw: bytes, idempotency: IdempotencyOf = no_idempotency) -> Append:
    """Return the command that appends the lines of a body. Each line is an object of fields."""
    return lines_command(key, decode_lines(raw, FIELDS_LINES), idempotency)


def lines_command(key: bytes, new: NewEntries, idempotency: IdempotencyOf) -> Append:
    """Return the command that appends entries decoded from lines."""
    return Append(key, new.fragments, new.ids, idempotency=idempotency(new.ids is None))


# --- the most frequent body ------------------------------------------------------------------------


def plain_fragment(raw: bytes) -> bytes | None:
    """Return the fragment of the entry in a body of the form ``{"fields":{...}}``, which ends with a value
    without spaces after it. Return None for any other body.

    Without decoding the outer object, the work is half. O(bytes).
    """
    # Slices: the methods of bytes that compare with a begin and an end take twice as long.
    if raw[_BEGIN_SLICE] != _BEGIN or raw[_END_SLICE] != _END or len(raw) > PLAIN_BYTES_MAX:
        return None
    try:
        return fragment_from_fields(raw[_FIELDS])
    except (BadEntry, RecursionError):
        return None


class PlainBodies:
    """The bodies of appends on one connection, which probably have the same names."""

    __slots__ = ("_match", "_unlike_count")

    def __init__(self) -> None:
        self._match: Callable[[bytes], object] | None = None
        self._unlike_count = 0

    def fragment_of(self, raw: bytes) -> bytes | None:
        """Return the same as `plain_fragment`, in less than half the time for a body with the usual names."""
        match = self._match
        if match is not None and match(raw) is not None and len(raw) <= PLAIN_BYTES_MAX:
            return raw[_FIELDS]
        fragment = plain_fragment(raw)
        if fragment is not None:
            self._unlike_count += 1
            if self._unlike_count >= UNLIKE_MAX:
                self._unlike_count = 0
                self._match = _expression_for(raw, fragment)
        return fragment


def _expression_for(raw: bytes, fragment: bytes) -> Callable[[bytes], object] | None:
    """Return what matches bodies with the names of `fragment`.

    None if it does not match `raw`, which has this fragment: then the client writes JSON with spaces, or
    values that are not ASCII, so trying would not pay.
    """
    fields = expression_like(fragment)
    if fields is None or len(fields) > EXPRESSION_BYTES_MAX:
        return None
    match = re.compile(b"%b%b%b" % (re.escape(_BEGIN), fields, rb"\}")).fullmatch
    return None if match(raw) is None else match


# --- answers ---------------------------------------------------------------------------------------

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


def xadd_bytes(value: StreamId) -> bytes:
    """Return the answer of `xadd` with this id. Half the work if the last answer has an id of the same
    millisecond."""
    first, begin = _last_ms.value
    end = _ENDS.get(value - first)
    if end is None:
        begin = b'{"id":"%d-' % (value >> SEQ_BITS)
        end = b'%d"}' % (value & U64_MAX)
        _last_ms.value = (value - (value & U64_MAX), begin)
    return begin + end


def xadd_answer(reply: Reply, command: Command) -> bytes:
    """Return the answer of `xadd`. Raises NO_SUCH_STREAM if it must not create the stream."""
    if isinstance(reply, AppendReply):
        return xadd_bytes(reply.ids[0])
    if reply is None:
        assert isinstance(command, Append | ScheduleEntries)
        raise no_such_key(command.key)
    assert isinstance(reply, ScheduleReply)
    return _encode(scheduled_json(reply))


def batch_answer(reply: Reply, _: Command) -> bytes:
    """Return the answer of `xadd_batch` and `import_entries`."""
    if isinstance(reply, ScheduleReply):
        return _encode(scheduled_batch_json(reply))
    assert isinstance(reply, AppendReply)
    return _encode(appended_json(reply))
