"""The plans of the requests that acknowledge, return and claim pending entries."""

from __future__ import annotations

from functools import partial

from tailrace.api.operations.pending import ack_of, acknowledged_json, nack_of
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
from tailrace.api.wire.parameters import ids_of
from tailrace.api.wire.replies import formatted
from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    Claim,
    ClaimOptions,
    ExtendLeases,
    Malformed,
    NegativeAcknowledge,
)
from tailrace.core.replies import ClaimReply


def ack(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of XACK, or of XACKDEL with `delete`."""
    plain = context.codec.plain_ack(raw)
    if plain is not None:
        return _ack(context, Acknowledge(*plain, require_group=True))
    request = context.codec.request(raw, AckRequest)
    command = ack_of(*_stream_and_group(request), request)
    if isinstance(command, Acknowledge):
        return _ack(context, command)
    record = allowed(context.guard, "consume", command, "ack")
    mark = context.unsettled.next_mark()
    return Plan((command,), partial(_acknowledged_and_deleted, context, command, mark), record)


def _ack(context: PlanContext, command: Acknowledge) -> Plan:
    context.guard.allow("consume", command, "ack")
    mark = context.unsettled.next_mark()
    return Plan((command,), partial(_settled, context, "acknowledged", command, mark))


def nack(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of XNACK."""
    request = context.codec.request(raw, NackRequest)
    command = nack_of(*_stream_and_group(request), request)
    record = allowed(context.guard, "consume", command, "nack")
    mark = context.unsettled.next_mark()
    return Plan((command,), partial(_settled, context, "nacked", command, mark), record)


def _settled(
    context: PlanContext,
    told_as: str,
    command: Acknowledge | NegativeAcknowledge,
    mark: int,
    answers: Answers,
) -> Content:
    count = result_of(answers)
    _settle(context, command, mark)
    return {told_as: count}


def _acknowledged_and_deleted(
    context: PlanContext, command: AcknowledgeAndDelete, mark: int, answers: Answers
) -> Content:
    content = acknowledged_json(result_of(answers), command)
    _settle(context, command, mark)
    return content


def _settle(
    context: PlanContext, command: Acknowledge | AcknowledgeAndDelete | NegativeAcknowledge, mark: int
) -> None:
    assert not isinstance(command.ids, Malformed), "`ids_of` refuses such ids"
    context.unsettled.settled(command.key, command.group, command.ids, mark)


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
