"""Operations on pending entries: the commands, and the answers to their replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from tailrace.api.operations.queries import Query, number_of, text_of
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.schemas.pending import AckBody, AutoClaimBody, ClaimBody, ExtendBody, NackBody
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import parse_body, require_few_elements
from tailrace.api.wire.group_replies import (
    autoclaim_json,
    claim_json,
    extend_json,
    overview_json,
    owner_json,
    pending_json,
    pending_page,
)
from tailrace.api.wire.id_lists import consecutive_ids
from tailrace.api.wire.names import checked_name, name_from_body
from tailrace.api.wire.parameters import end_of, ids_of, optional_id_of, references_of, start_of
from tailrace.api.wire.replies import Json, deletions_json
from tailrace.api.wire.turns import ROWS_PER_PIECE
from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    AutoClaim,
    Claim,
    ClaimOptions,
    Command,
    ExtendLeases,
    Malformed,
    NackMode,
    NegativeAcknowledge,
    PendingRange,
    PendingSummary,
)
from tailrace.core.limits import IDS_PER_REQUEST_MAX, READ_ENTRIES_MAX, REQUEST_ELEMENTS_MAX
from tailrace.core.log.entry_json import Shape
from tailrace.core.replies import ClaimReply, DeleteResult, ExtendReply, PendingSummaryReply, Reply

PENDING_PAGE_DEFAULT: Final = 100
"""How many pending entries a page has at most, if the request names no count."""

PENDING_ROWS_MAX: Final = 2 * ROWS_PER_PIECE
"""The documented route writes more rows in slices."""


class _PlainAck(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The common form of the body of `xack`. The documented model, `AckBody`, has more members."""

    ids: Annotated[list[str], msgspec.Meta(min_length=1, max_length=IDS_PER_REQUEST_MAX)]


_IDS_ONLY: Final = b'{"ids":'

_decode_plain_ack: Final = msgspec.json.Decoder(_PlainAck).decode
_encode: Final = msgspec.json.Encoder().encode


# --- commands of bodies ----------------------------------------------------------------------------


def ack_command(key: bytes, group: bytes, raw: bytes) -> Acknowledge | AcknowledgeAndDelete:
    """Return the command for a body of `xack`. Raises `RequestRefused`. O(bytes).

    Most bodies have ids only, and need no model.
    """
    if raw.startswith(_IDS_ONLY):
        ids = consecutive_ids(raw[len(_IDS_ONLY) : -1])
        if ids is not None and raw.endswith(b"}"):
            return Acknowledge(key, group, ids, require_group=True)
    require_few_elements(raw, REQUEST_ELEMENTS_MAX)
    if raw.count(b":") == 1:
        try:
            texts = _decode_plain_ack(raw).ids
        except UNREADABLE:
            pass
        else:
            return Acknowledge(key, group, ids_of(texts), require_group=True)
    return ack_of(key, group, parse_body(raw, AckBody))


def ack_of(key: bytes, group: bytes, body: AckBody) -> Acknowledge | AcknowledgeAndDelete:
    """Return the command that acknowledges entries, and also deletes them with `delete`."""
    ids = ids_of(body.ids)
    if not body.delete:
        return Acknowledge(key, group, ids, require_group=True)
    return AcknowledgeAndDelete(key, group, ids, len(ids), references_of(body.references), require_group=True)


def nack_command(key: bytes, group: bytes, raw: bytes) -> NegativeAcknowledge:
    """Return the command for a body of `xnack`."""
    return nack_of(key, group, parse_body(raw, NackBody))


def nack_of(key: bytes, group: bytes, body: NackBody) -> NegativeAcknowledge:
    """Return the command that returns entries to the group."""
    mode, ids = NackMode(body.mode), ids_of(body.ids)
    return NegativeAcknowledge(key, group, mode, ids, body.retry_count, body.force, body.delay_ms)


def claim_command(key: bytes, group: bytes, raw: bytes) -> Claim:
    """Return the command that claims entries by id."""
    body = parse_body(raw, ClaimBody)
    options = ClaimOptions(
        min_idle_ms=body.min_idle_ms,
        ids=ids_of(body.ids),
        idle_ms=body.idle_ms,
        delivered_at_ms=body.delivered_at_ms,
        retry_count=body.retry_count,
        force=body.force,
        just_id=body.just_id,
        last_id=optional_id_of(body.last_id, "last_id"),
    )
    return Claim(key, group, name_from_body(body.consumer, body.encoding, "consumer"), options)


def extend_command(key: bytes, group: bytes, raw: bytes) -> ExtendLeases:
    """Return the command that begins the idle time of a consumer's entries again."""
    body = parse_body(raw, ExtendBody)
    return ExtendLeases(
        key, group, name_from_body(body.consumer, body.encoding, "consumer"), ids_of(body.ids)
    )


def autoclaim_command(key: bytes, group: bytes, raw: bytes) -> AutoClaim:
    """Return the command that claims idle entries by a scan."""
    body = parse_body(raw, AutoClaimBody)
    return AutoClaim(
        key,
        group,
        name_from_body(body.consumer, body.encoding, "consumer"),
        body.min_idle_ms,
        start_of(body.start),
        body.count,
        body.just_id,
    )


# --- commands of queries ---------------------------------------------------------------------------


def pending_command(
    key: bytes, group: bytes, start: str, end: str, count: int, min_idle_ms: int, consumer: bytes | None
) -> PendingRange:
    """Return the command that lists pending entries."""
    most = min(count, READ_ENTRIES_MAX)
    return PendingRange(key, group, start_of(start), end_of(end), most, min_idle_ms, consumer)


def plain_pending_command(key: bytes, group: bytes, query: Query) -> PendingRange:
    """Return the command of a page of pending entries. Raises `NotPlain`."""
    count = number_of(query, "count", PENDING_PAGE_DEFAULT, 1, PENDING_ROWS_MAX)
    return pending_command(
        key,
        group,
        text_of(query, "start", "-"),
        text_of(query, "end", "+"),
        count,
        number_of(query, "min_idle_ms", 0, 0, I64_MAX),
        checked_name(query["consumer"], "consumer") if "consumer" in query else None,
    )


def summary_command(key: bytes, group: bytes, _: Query) -> PendingSummary:
    """Return the command that summarises pending entries. The reply leaves out consumers after the first
    ones, which the documented route writes in slices."""
    return PendingSummary(key, group, ROWS_PER_PIECE)


# --- answers ---------------------------------------------------------------------------------------


def ack_answer(reply: Reply, command: Command) -> bytes:
    """Return the answer of `xack`."""
    if isinstance(command, AcknowledgeAndDelete):
        return _encode(acknowledged_json(reply, command))
    assert isinstance(reply, int)
    return b'{"acknowledged":%d}' % reply


def acknowledged_json(reply: Reply, command: AcknowledgeAndDelete) -> Json:
    """Return the result of acknowledging and deleting entries."""
    assert isinstance(reply, list)
    assert not isinstance(command.ids, Malformed), "`ids_of` refuses such ids"
    acknowledged = sum(result is not DeleteResult.NOT_FOUND for result in reply)
    return {"acknowledged": acknowledged, "results": deletions_json(command.ids, reply)}


def nack_answer(reply: Reply) -> bytes:
    """Return the answer of `xnack`."""
    assert isinstance(reply, int)
    return b'{"nacked":%d}' % reply


def claim_answer(reply: Reply, _command: Command, _names: Sequence[bytes], shape: Shape) -> bytes:
    """Return the answer of `xclaim`."""
    assert isinstance(reply, ClaimReply)
    return _encode(claim_json(reply, shape))


def autoclaim_answer(reply: Reply, _command: Command, _names: Sequence[bytes], shape: Shape) -> bytes:
    """Return the answer of `xautoclaim`."""
    assert isinstance(reply, ClaimReply)
    return _encode(autoclaim_json(reply, shape))


def extend_answer(reply: Reply) -> bytes:
    """Return the answer of `extend`."""
    assert isinstance(reply, ExtendReply)
    return _encode(extend_json(reply))


def pending_answer(reply: Reply, command: Command) -> bytes:
    """Return the answer of `xpending`."""
    assert isinstance(reply, list)
    assert isinstance(command, PendingRange)
    return _encode(pending_page(reply, command.count, list(map(pending_json, reply))))


def summary_answer(reply: Reply) -> bytes | None:
    """Return the answer of `xpending_summary`; None if the consumers are many, or left out because they are:
    the documented route writes them in slices."""
    assert isinstance(reply, PendingSummaryReply)
    if reply.is_short or len(reply.consumers) > ROWS_PER_PIECE:
        return None
    return _encode(overview_json(reply, list(map(owner_json, reply.consumers))))
