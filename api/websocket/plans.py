"""Plans of requests: the commands that a request runs in the store, and the reply from their answers.

This module finds the plan of a request by its op. It owns the state that the plans of a connection share, and
the audit record of administrative commands. It never runs a plan: the session decides when a plan runs, and
in which order. Commands of operations that HTTP has too are made in `api.operations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from tailrace.api.access.guard import Guard, admitted
from tailrace.api.access.permissions import is_administrative
from tailrace.api.follow.followers import FieldFilter, Start, filter_of
from tailrace.api.operations.pending import ack_of, acknowledged_json, nack_of
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import TokenScope, Unauthenticated
from tailrace.api.problems.table import CommandRefused, RequestRefused
from tailrace.api.schemas.texts import shown, suggestion
from tailrace.api.websocket import frames
from tailrace.api.websocket.codecs import AppendRun, Codec, Envelope, name_of, octets_of
from tailrace.api.websocket.requests import (
    REQUESTS,
    AckRequest,
    ClaimRequest,
    ConsumeRequest,
    Credit,
    CreditRequest,
    ExtendRequest,
    GroupRequest,
    NackRequest,
    PingRequest,
    RequestId,
    StreamPosition,
    SubscribeRequest,
    UnsubscribeRequest,
)
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.subscriptions import CreditBalance, new_entries_of
from tailrace.api.websocket.unsettled import Owner, Unsettled
from tailrace.api.websocket_limits import FILTER_CHARACTER_BYTES
from tailrace.api.wire.appends import scheduled_json
from tailrace.api.wire.group_replies import extend_json
from tailrace.api.wire.parameters import ids_of, position_of
from tailrace.api.wire.replies import formatted
from tailrace.core.commands import (
    SOME_INCARNATION,
    Acknowledge,
    AcknowledgeAndDelete,
    Append,
    Claim,
    ClaimOptions,
    Command,
    ExtendLeases,
    Malformed,
    NegativeAcknowledge,
    PendingSummary,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    ScheduleEntries,
)
from tailrace.core.errors import ErrorCode, StreamError, no_such_key
from tailrace.core.filters import compile_filter
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.parser import parse_request
from tailrace.core.replies import AppendReply, ClaimReply, ReadReply, Reply, ScheduleReply
from tailrace.core.stream_id import format_id

Content: TypeAlias = Mapping[str, object]
Answers: TypeAlias = Sequence[Reply | StreamError]
Recorder: TypeAlias = Callable[[Answers | StoreUnavailable], None]


class PlanContext(NamedTuple):
    """The state that the plans of one connection share. A request becomes a plan only if `guard` allows
    it."""

    codec: Codec
    book: SubscriptionBook
    unsettled: Unsettled
    guard: Guard


def unrecorded(_answers: Answers | StoreUnavailable) -> None:
    """Record nothing: the request is not an administrative operation."""


class Plan(NamedTuple):
    """The work of one request. `commands` run first, in order. Then `record` gets their answers and writes
    administrative operations to the audit log. Then `finish` gets the same answers, changes the state of the
    connection, and returns the members of `ok`. If `finish` raises `StreamError` or `RequestRefused`, it has
    changed nothing. `work_bytes`: the work of `finish` that grows with the request, counted as bytes to
    decode."""

    commands: tuple[Command, ...]
    finish: Callable[[Answers], Content]
    record: Recorder = unrecorded
    work_bytes: int = 0


def result_of(answers: Answers) -> Any:
    """Return the answer to a plan's only command. Raises the command's `StreamError` if the store refused
    it."""
    answer = answers[0]
    if isinstance(answer, StreamError):
        raise answer
    return answer


def allowed(guard: Guard, scope: TokenScope, command: Command, op: str) -> Recorder:
    """Return the function that records the outcome of `command`. Raises `StreamError` if the token does not
    allow the command."""
    guard.allow(scope, command, op)
    return recorder(guard, scope, command, op) if is_administrative(scope, command) else unrecorded


def recorder(guard: Guard, scope: TokenScope, command: Command, name: str) -> Recorder:
    """Return the function that passes the outcome of `command` to `guard`."""
    return partial(_record, guard, scope, command, name)


def _record(
    guard: Guard, scope: TokenScope, command: Command, name: str, answers: Answers | StoreUnavailable
) -> None:
    answer = answers if isinstance(answers, StoreUnavailable) else answers[0]
    guard.done(scope, command, name, answer)


# --- commands and appends ---------------------------------------------------------------------------


def command(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of a Redis command. Its problem also has the exact Redis error line."""
    try:
        parsed = parse_request(context.codec.words(raw))
    except StreamError as error:
        raise CommandRefused(error) from None
    return plan_words(context, parsed)


def plan_words(context: PlanContext, parsed: RedisRequest) -> Plan:
    """Return the plan of a parsed Redis command."""
    try:
        parsed = admitted(context.guard, parsed)
    except StreamError as error:
        raise CommandRefused(error) from None
    if parsed.command is None:
        return Plan((), lambda _: {"result": context.codec.result(parsed.to_resp(None))})
    record = recorder(context.guard, parsed.access, parsed.command, parsed.name)
    return Plan((parsed.command,), partial(_command_done, context, parsed), record)


def _command_done(context: PlanContext, parsed: RedisRequest, answers: Answers) -> Content:
    try:
        return {"result": context.codec.result(parsed.to_resp(result_of(answers)))}
    except StreamError as error:
        raise CommandRefused(error) from None


def append(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of XADD."""
    return plan_append(context, context.codec.append(raw))


def plan_append(context: PlanContext, command: Append | ScheduleEntries) -> Plan:
    """Return the plan of a decoded append."""
    record = allowed(context.guard, "append", command, "append")
    return Plan((command,), partial(_appended, command.key), record)


def _appended(key: bytes, answers: Answers) -> Content:
    reply: AppendReply | ScheduleReply | None = result_of(answers)
    if reply is None:
        raise no_such_key(key)
    return {"id": format_id(reply.ids[0])} if isinstance(reply, AppendReply) else scheduled_json(reply)


# --- pending entries --------------------------------------------------------------------------------


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


# --- subscriptions ----------------------------------------------------------------------------------


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


def _place(context: PlanContext, reached: Start) -> Content:
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


def _resolved(sources: Sequence[ReadFrom], answers: Answers) -> list[Start]:
    """Return the position of each stream as an id: the given id, or the id that resolves `$` or `+`."""
    return [_reached(source, answer) for source, answer in zip(sources, answers, strict=True)]


def _compared(source: ReadFrom) -> ReadFrom:
    """Return a position that the store compares with the last id of its stream, at least."""
    incarnation = SOME_INCARNATION if source.incarnation is None else source.incarnation
    return replace(source, incarnation=incarnation) if isinstance(source.after, int) else source


def _reached(source: ReadFrom, answer: Reply | StreamError) -> Start:
    """Return where a subscription begins. A position of another stream is kept: the first read reports the
    gap. So is a position that the client chose and that the stream has not reached, but without a gap."""
    if isinstance(answer, StreamError) and answer.code is ErrorCode.POSITION_TRIMMED:
        assert isinstance(source.after, int)
        chosen = source.incarnation is None
        return Start(
            source.key, source.after, answer.details.get("incarnation") if chosen else source.incarnation
        )
    reply: ReadReply = result_of([answer])
    read = reply.streams[0]
    incarnation = read.incarnation or source.incarnation or SOME_INCARNATION
    if isinstance(source.after, int):
        return Start(source.key, source.after, incarnation)
    after = read.entries.ids[0] - 1 if read.entries.ids else read.next
    return Start(source.key, after, incarnation)


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


# --- all requests -----------------------------------------------------------------------------------


class Planner:
    """Plans the requests of one connection; a request becomes a plan only if `guard` allows it."""

    def __init__(self, codec: Codec, book: SubscriptionBook, unsettled: Unsettled, guard: Guard) -> None:
        self._context = PlanContext(codec, book, unsettled, guard)

    def plan(self, envelope: Envelope, raw: bytes) -> Plan:
        """Return the plan of one request. Raises `StreamError`, `RequestRefused` or `ValidationError`."""
        op = envelope.op
        make = _PLANS.get(op) if isinstance(op, str) else None
        if make is None:
            name = op if isinstance(op, str) else ""
            detail = f"unknown `op`: {shown(op)}; {suggestion(name, [*REQUESTS])}"
            raise RequestRefused(ErrorCode.UNKNOWN_COMMAND, detail)
        return make(self._context, raw)

    def run_command(self, run: AppendRun) -> Append | None:
        """Return the command of adjacent appends, None if the client may not append to the stream."""
        command = Append(run.key, list(run.fragments), each=True)
        try:
            self._context.guard.allow("append", command, "append")
        except (StreamError, Unauthenticated):
            return None
        return command

    def plan_read(self, content: frames.Content) -> Plan:
        """Return the plan of a decoded append or command. Raises as `plan` does."""
        if isinstance(content, Exception):
            raise content
        if isinstance(content, Append | ScheduleEntries):
            return plan_append(self._context, content)
        return plan_words(self._context, content)


def _ping(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of a ping, which runs no command and is answered in order."""
    context.codec.request(raw, PingRequest)
    return Plan((), lambda _: {})


_PLANS: Final[Mapping[str, Callable[[PlanContext, bytes], Plan]]] = {
    "command": command,
    "append": append,
    "subscribe": subscribe,
    "consume": consume,
    "credit": credit,
    "ack": ack,
    "nack": nack,
    "claim": claim,
    "extend": extend,
    "unsubscribe": unsubscribe,
    "ping": _ping,
}
"""The function that plans each op."""

assert _PLANS.keys() == REQUESTS.keys()
