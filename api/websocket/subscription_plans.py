"""The plans of the requests that start and end subscriptions, and that add credit."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from tailrace.api.websocket.codecs import name_of, octets_of
from tailrace.api.websocket.consumption import new_entries_of
from tailrace.api.websocket.credit import CreditBalance
from tailrace.api.websocket.plan import Answers, Content, Plan, PlanContext, result_of
from tailrace.api.websocket.pushes import FieldFilter, filter_of
from tailrace.api.websocket.request import RequestId
from tailrace.api.websocket.subscription_requests import (
    ConsumeRequest,
    Credit,
    CreditRequest,
    StreamPosition,
    SubscribeRequest,
    UnsubscribeRequest,
)
from tailrace.api.websocket.subscriptions import Reached
from tailrace.api.websocket.unsettled import Owner
from tailrace.api.websocket_limits import FILTER_CHARACTER_BYTES
from tailrace.api.wire.parameters import position_of
from tailrace.core.commands import SOME_INCARNATION, PendingSummary, Read, ReadFrom, ReadGroup, ReadLimits
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.filters import compile_filter
from tailrace.core.replies import ReadReply, Reply
from tailrace.core.stream_id import format_id


def subscribe(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of a subscription to streams. Its commands resolve `$` and `+` to ids, and tell
    the incarnations of the streams."""
    request = context.codec.request(raw, SubscribeRequest)
    sources = [_source(stream) for stream in request.streams]
    context.guard.allow("read", Read(tuple(sources)), "subscribe")
    looks = tuple(Read((_compared(source),), ReadLimits(count=1)) for source in sources)
    filter_length = len(request.filter) if isinstance(request.filter, str) else 0
    work_bytes = FILTER_CHARACTER_BYTES * filter_length
    return Plan(looks, partial(_subscribed, context, request, sources), work_bytes=work_bytes)


def _subscribed(
    context: PlanContext, request: SubscribeRequest, sources: Sequence[ReadFrom], answers: Answers
) -> Content:
    positions = _resolved(sources, answers)
    wanted = compile_filter(request.filter) if isinstance(request.filter, str) else _field_filter(request)
    context.book.subscribe(request.id, positions, wanted, _balance(request.credit))
    return {"streams": [_place(context, reached) for reached in positions]}


def _place(context: PlanContext, reached: Reached) -> Content:
    place = {**context.codec.names(key=reached.key), "after": format_id(reached.after)}
    return {**place, "incarnation": reached.incarnation} if reached.incarnation else place


def _source(stream: StreamPosition) -> ReadFrom:
    after = position_of(stream.after)
    incarnation = stream.incarnation if isinstance(after, int) else None
    return ReadFrom(name_of(stream.key, stream.encoding, "key"), after, incarnation)


def consume(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of a subscription to a group. `finish` raises an error if one of the streams lacks the
    group."""
    request = context.codec.request(raw, ConsumeRequest)
    group = name_of(request.group, request.encoding, "group")
    keys = [name_of(stream.key, stream.encoding, "key") for stream in request.streams]
    command = ReadGroup(
        group,
        name_of(request.consumer, request.encoding, "consumer"),
        new_entries_of(keys),
        claim_min_idle_ms=request.claim_min_idle_ms,
        noack=request.noack,
    )
    context.guard.allow("consume", command, "consume")
    checks = tuple(PendingSummary(key, group, consumers_max=0) for key in keys)
    return Plan(checks, partial(_consumed, context, request, command))


def _consumed(context: PlanContext, request: ConsumeRequest, command: ReadGroup, answers: Answers) -> Content:
    for answer in answers:
        if isinstance(answer, StreamError):
            raise answer
    context.book.consume(request.id, command, _balance(request.credit))
    if request.on_close == "nack":
        for stream in command.streams:
            context.unsettled.track(Owner(stream.key, command.group, command.consumer))
    return {}


def credit(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan that adds credit to a subscription."""
    request = context.codec.request(raw, CreditRequest)
    return Plan((), lambda _: _credited(context, request))


def _credited(context: PlanContext, request: CreditRequest) -> Content:
    balance = context.book.add_credit(request.sub, request.entries, request.bytes)
    return {"entries": balance.entries, "bytes": balance.bytes}


def unsubscribe(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan that ends a subscription."""
    request = context.codec.request(raw, UnsubscribeRequest)
    return Plan((), lambda _: _unsubscribed(context, request.sub))


def _unsubscribed(context: PlanContext, sub: RequestId) -> Content:
    context.book.unsubscribe(sub)
    return {}


def _resolved(sources: Sequence[ReadFrom], answers: Answers) -> list[Reached]:
    """Return the position of each stream as an id: the given id, or the id that resolves `$` or `+`."""
    return [_reached(source, answer) for source, answer in zip(sources, answers, strict=True)]


def _compared(source: ReadFrom) -> ReadFrom:
    """Return a position that the store compares with the last id of its stream, at least."""
    incarnation = SOME_INCARNATION if source.incarnation is None else source.incarnation
    return replace(source, incarnation=incarnation) if isinstance(source.after, int) else source


def _reached(source: ReadFrom, answer: Reply | StreamError) -> Reached:
    """Return where a subscription begins. A position of another stream is kept: the first read reports the
    gap. So is a position that the client chose and that the stream has not reached, but without a gap."""
    if isinstance(answer, StreamError) and answer.code is ErrorCode.POSITION_TRIMMED:
        assert isinstance(source.after, int)
        chosen = source.incarnation is None
        return Reached(
            source.key, source.after, answer.details.get("incarnation") if chosen else source.incarnation
        )
    reply: ReadReply = result_of([answer])
    read = reply.streams[0]
    incarnation = read.incarnation or source.incarnation or SOME_INCARNATION
    if isinstance(source.after, int):
        return Reached(source.key, source.after, incarnation)
    after = read.entries.ids[0] - 1 if read.entries.ids else read.next
    return Reached(source.key, after, incarnation)


def _field_filter(request: SubscribeRequest) -> FieldFilter | None:
    if request.filter is None:
        return None
    assert isinstance(request.filter, dict)
    wanted = {}
    for name, values in request.filter.items():
        several = values if isinstance(values, list) else [values]
        wanted[name_of(name, request.encoding, "filter")] = frozenset(
            octets_of(value, request.encoding) for value in several
        )
    return filter_of(wanted)


def _balance(credit: int | Credit) -> CreditBalance:
    if isinstance(credit, int):
        return CreditBalance(credit, None)
    return CreditBalance(credit.entries, credit.bytes)
