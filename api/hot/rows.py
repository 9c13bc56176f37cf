"""What each hot operation does: the command of a body, and the body of the response to a reply.

If either function returns None, the documented route serves the request. This module owns which bodies and
replies the hot way serves. It never looks at a head.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from tailrace.api.hot import answers, commands, pending_commands, plain_reads
from tailrace.api.hot.operations import (
    EXTEND,
    GET_ENTRY,
    IMPORT_ENTRIES,
    XACK,
    XADD,
    XADD_BATCH,
    XAUTOCLAIM,
    XCLAIM,
    XINFO_GROUP,
    XINFO_STREAM,
    XLEN,
    XNACK,
    XPENDING,
    XPENDING_SUMMARY,
    XRANGE,
    XREAD,
    XREADGROUP,
    HotOperation,
)
from tailrace.api.principals import TokenScope
from tailrace.api.schemas.claims import AutoClaimBody, ClaimBody, ExtendBody
from tailrace.api.schemas.pending import NackBody
from tailrace.api.wire.bodies import parse_body
from tailrace.api.wire.scheduling import no_idempotency
from tailrace.api.wire.turns import AT_ONCE_BYTES_MAX, ROWS_PER_PIECE
from tailrace.core.commands import (
    Append,
    Command,
    InfoGroups,
    InfoStream,
    PendingSummary,
    Read,
    ReadGroup,
    StreamLength,
)
from tailrace.core.replies import AppendReply, ReadReply, Reply

CommandOf = Callable[..., Command | None]
AnswerOf = Callable[[Reply, Command], bytes | None]


class HotRow(NamedTuple):
    """One operation. `command_of` takes the names in the path, the query if the operation has parameters, the
    body, and optionally the idempotency. `answer_of` takes the reply and the command; before them the names
    in the path, if `answers_by_name`."""

    operation: HotOperation
    media_type: str | None
    scope: TokenScope
    command_of: CommandOf
    answer_of: Callable[..., bytes | None]
    answers_by_name: bool = False


def _row(
    operation: HotOperation,
    command_of: CommandOf,
    answer_of: Callable[..., bytes | None],
    *,
    answers_by_name: bool = False,
) -> HotRow:
    return HotRow(operation, operation.media_type, operation.scope, command_of, answer_of, answers_by_name)


# --- commands --------------------------------------------------------------------------------------


def _xadd_command(
    key: bytes, body: bytes, idempotency: commands.IdempotencyOf = no_idempotency
) -> Append | None:
    """Return the command, or None for the documented route: it decodes a large entry in a thread, and has the
    response to an append with a delay."""
    plain = commands.plain_xadd_command(key, body, idempotency)
    return plain or _decoded_xadd_command(key, body, idempotency)


def _decoded_xadd_command(key: bytes, body: bytes, idempotency: commands.IdempotencyOf) -> Append | None:
    if len(body) > AT_ONCE_BYTES_MAX:
        return None
    command = commands.decoded_xadd_command(key, body, idempotency)
    return command if isinstance(command, Append) else None


def _batch_command(key: bytes, body: bytes, *idempotency: commands.IdempotencyOf) -> Append | None:
    """As `_xadd_command`; the documented route decodes a large batch in slices."""
    command = None if len(body) > AT_ONCE_BYTES_MAX else commands.batch_command(key, body, *idempotency)
    return command if isinstance(command, Append) else None


def _read_command(body: bytes) -> Read | None:
    """Return the command. None if the read gathers entries, which the documented route waits for, or if a
    position has an incarnation, which the documented route names in the answer."""
    asked = commands.parse_read(body)
    if asked.min_count or any(position.incarnation is not None for position in asked.streams):
        return None
    return commands.read_command(asked, asked.wait_ms or None)


def _group_read_command(body: bytes) -> ReadGroup | None:
    """As `_read_command`, for a read as a consumer."""
    asked = commands.parse_group_read(body)
    return None if asked.min_count else commands.group_read_command(asked, asked.wait_ms or None)


def _nack_command(key: bytes, group: bytes, body: bytes) -> Command:
    return pending_commands.nack_command(key, group, parse_body(body, NackBody))


def _claim_command(key: bytes, group: bytes, body: bytes) -> Command:
    return pending_commands.claim_command(key, group, parse_body(body, ClaimBody))


def _extend_command(key: bytes, group: bytes, body: bytes) -> Command:
    return pending_commands.extend_command(key, group, parse_body(body, ExtendBody))


def _autoclaim_command(key: bytes, group: bytes, body: bytes) -> Command:
    return pending_commands.autoclaim_command(key, group, parse_body(body, AutoClaimBody))


# --- answers ---------------------------------------------------------------------------------------


def _xadd_answer(reply: Reply, _: Command) -> bytes | None:
    """Return the response, or None for an append that appended nothing: the documented route explains why."""
    return answers.xadd_bytes(reply) if isinstance(reply, AppendReply) else None


def _batch_answer(reply: Reply, _: Command) -> bytes | None:
    return answers.batch_bytes(reply) if isinstance(reply, AppendReply) else None


def _read_answer(reply: Reply, command: Command, *, deliveries: bool) -> bytes | None:
    """Return the response, or None if there is nothing to read and the read must wait: the documented route
    waits."""
    assert isinstance(reply, ReadReply)
    assert isinstance(command, Read | ReadGroup)
    if command.block_ms is not None and reply.is_empty:
        return None
    return answers.slices_bytes(reply, deliveries=deliveries)


def _always(bytes_of: Callable[[Reply], bytes]) -> AnswerOf:
    """Return the function for an operation whose every reply has a response."""
    return lambda reply, _: bytes_of(reply)


HOT_ROWS: Final = {
    row.operation.name: row
    for row in (
        _row(XADD, _xadd_command, _xadd_answer),
        _row(XADD_BATCH, _batch_command, _batch_answer),
        _row(IMPORT_ENTRIES, commands.import_command, _batch_answer),
        _row(XREAD, _read_command, partial(_read_answer, deliveries=False)),
        _row(XREADGROUP, _group_read_command, partial(_read_answer, deliveries=True)),
        _row(XACK, pending_commands.hot_ack_command, _always(answers.ack_bytes)),
        _row(XNACK, _nack_command, _always(answers.nack_bytes)),
        _row(XCLAIM, _claim_command, _always(answers.claim_bytes)),
        _row(XAUTOCLAIM, _autoclaim_command, _always(answers.autoclaim_bytes)),
        _row(EXTEND, _extend_command, _always(answers.extend_bytes)),
        _row(XRANGE, plain_reads.range_command, plain_reads.range_answer),
        _row(GET_ENTRY, plain_reads.entry_command, plain_reads.entry_answer),
        _row(XLEN, lambda key, _: StreamLength(key), _always(answers.length_bytes)),
        _row(XINFO_STREAM, lambda key, _: InfoStream(key), plain_reads.stream_answer),
        _row(
            XINFO_GROUP,
            lambda key, _group, _: InfoGroups(key),
            plain_reads.group_answer,
            answers_by_name=True,
        ),
        _row(XPENDING, plain_reads.pending_command, plain_reads.pending_answer),
        _row(
            XPENDING_SUMMARY,
            lambda key, group, _: PendingSummary(key, group, ROWS_PER_PIECE),
            lambda reply, _: answers.overview_bytes(reply),
        ),
    )
}
