"""The plans of the requests that acknowledge, return and claim pending entries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tailrace.api.websocket.codecs import name_of
from tailrace.api.websocket.plan import Answers, Content, Plan, PlanContext, allowed, result_of
from tailrace.api.websocket.requests import (
    AckRequest,
    ClaimRequest,
    ExtendRequest,
    GroupRequest,
    NackRequest,
)
from tailrace.api.websocket.unsettled import Owner
from tailrace.api.wire.group_replies import extend_json
from tailrace.api.wire.parameters import ids_of, references_of
from tailrace.api.wire.replies import deletions_json, formatted
from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    Claim,
    ClaimOptions,
    ExtendLeases,
    NackMode,
    NegativeAcknowledge,
)
from tailrace.core.replies import ClaimReply, DeleteResult
from tailrace.core.stream_id import StreamId


def ack(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of XACK, or of XACKDEL with `delete`."""
    plain = context.codec.plain_ack(raw)
    if plain is not None:
        return _ack(context, *plain)
    request = context.codec.request(raw, AckRequest)
    key, group = _stream_and_group(request)
    ids = ids_of(request.ids)
    if request.delete:
        policy = references_of(request.references)
        deletion = AcknowledgeAndDelete(key, group, ids, len(ids), policy, require_group=True)
        record = allowed(context.guard, "consume", deletion, "ack")
        mark = context.unsettled.next_mark()
        return Plan((deletion,), partial(_acknowledged_and_deleted, context, deletion, ids, mark), record)
    return _ack(context, key, group, ids)


def _ack(context: PlanContext, key: bytes, group: bytes, ids: tuple[StreamId, ...] | range) -> Plan:
    acknowledgment = Acknowledge(key, group, ids, require_group=True)
    context.guard.allow("consume", acknowledgment, "ack")
    mark = context.unsettled.next_mark()
    return Plan((acknowledgment,), partial(_settled, context, "acknowledged", key, group, ids, mark))


def nack(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of XNACK."""
    request = context.codec.request(raw, NackRequest)
    key, group = _stream_and_group(request)
    ids, mode = ids_of(request.ids), NackMode(request.mode)
    command = NegativeAcknowledge(key, group, mode, ids, request.retry_count, request.force, request.delay_ms)
    record = allowed(context.guard, "consume", command, "nack")
    mark = context.unsettled.next_mark()
    return Plan((command,), partial(_settled, context, "nacked", key, group, ids, mark), record)


def _settled(
    context: PlanContext,
    told_as: str,
    key: bytes,
    group: bytes,
    ids: Sequence[StreamId],
    mark: int,
    answers: Answers,
) -> Content:
    count = result_of(answers)
    context.unsettled.settled(key, group, ids, mark)
    return {told_as: count}


def _acknowledged_and_deleted(
    context: PlanContext, command: AcknowledgeAndDelete, ids: Sequence[StreamId], mark: int, answers: Answers
) -> Content:
    results = result_of(answers)
    context.unsettled.settled(command.key, command.group, ids, mark)
    acknowledged = sum(result is not DeleteResult.NOT_FOUND for result in results)
    return {"acknowledged": acknowledged, "results": deletions_json(ids, results)}


def claim(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of XCLAIM."""
    request = context.codec.request(raw, ClaimRequest)
    key, group = _stream_and_group(request)
    consumer = name_of(request.consumer, request.encoding, "consumer")
    options = ClaimOptions(request.min_idle_ms, ids_of(request.ids), just_id=request.just_id)
    command = Claim(key, group, consumer, options)
    context.guard.allow("consume", command, "claim")
    mark = context.unsettled.next_mark()
    return Plan((command,), partial(_claimed, context, Owner(key, group, consumer), mark))


def _claimed(context: PlanContext, owner: Owner, mark: int, answers: Answers) -> Content:
    reply: ClaimReply = result_of(answers)
    context.unsettled.delivered(owner, reply.entries.ids, mark)
    if reply.just_id:
        return {"ids": formatted(reply.entries.ids)}
    return {"entries": context.codec.entries(reply.entries)}


def extend(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of a heartbeat."""
    request = context.codec.request(raw, ExtendRequest)
    key, group = _stream_and_group(request)
    consumer = name_of(request.consumer, request.encoding, "consumer")
    command = ExtendLeases(key, group, consumer, ids_of(request.ids))
    context.guard.allow("consume", command, "extend")
    return Plan((command,), _extended)


def _extended(answers: Answers) -> Content:
    return extend_json(result_of(answers))


def _stream_and_group(
    request: GroupRequest,
) -> tuple[bytes, bytes]:
    encoding = request.encoding
    return name_of(request.key, encoding, "key"), name_of(request.group, encoding, "group")
