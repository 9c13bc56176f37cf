"""What a request asks of the store, and how its answer is written: one small function for each op.

It owns the way from requests to commands and from replies to the members of `ok`. When a plan is carried
out, and in which order, is the session's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from tailrace.api.access.permissions import is_administrative
from tailrace.api.access.security import Guard, admitted
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import TokenScope
from tailrace.api.problems.table import CommandRefused, RequestRefused
from tailrace.api.schemas.texts import shown, suggestion
from tailrace.api.websocket import frames
from tailrace.api.websocket.codecs import Codec, Envelope, NewEntry, name_of, octets_of
from tailrace.api.websocket.consumption import new_entries_of
from tailrace.api.websocket.credit import CreditBalance
from tailrace.api.websocket.pushes import filter_of
from tailrace.api.websocket.request import RequestId
from tailrace.api.websocket.requests import REQUESTS, AckRequest, ClaimRequest, NackRequest, PingRequest
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.subscription_requests import (
    ConsumeRequest,
    Credit,
    CreditRequest,
    SubscribeRequest,
    UnsubscribeRequest,
)
from tailrace.api.websocket.unsettled import Owner, Unsettled
from tailrace.api.wire.parameters import ids_of, optional_id_of, position_of, references_of, requested_id_of
from tailrace.api.wire.replies import deletions_json, formatted
from tailrace.core.commands import (
    Acknowledge,
    AcknowledgeAndDelete,
    Append,
    Claim,
    ClaimOptions,
    Command,
    NackMode,
    NegativeAcknowledge,
    PendingSummary,
    Read,
    ReadFrom,
    ReadGroup,
    ReadLimits,
    Special,
)
from tailrace.core.errors import ErrorCode, StreamError, no_such_key
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.parser import parse_request
from tailrace.core.replies import AppendReply, ClaimReply, DeleteResult, ReadReply, Reply
from tailrace.core.stream_id import StreamId, format_id

Content: TypeAlias = Mapping[str, object]
Answers: TypeAlias = Sequence[Reply | StreamError]


def _unrecorded(_answers: Answers | StoreUnavailable) -> None:
    """What every request is but some commands: no administrative act."""


class Plan(NamedTuple):
    """`commands` are carried out first, in order; `finish` then gets their answers, does what the request
    means for this connection, and gives the members of `ok`. It may raise `StreamError` or
    `RequestRefused`, and then has changed nothing. `record` is called first, with the outcome of the
    commands, for the record of administrative acts."""

    commands: tuple[Command, ...]
    finish: Callable[[Answers], Content]
    record: Callable[[Answers | StoreUnavailable], None] = _unrecorded


def _done(answers: Answers) -> Any:
    """The answer of a plan's one command, or the error that it was refused with."""
    answer = answers[0]
    if isinstance(answer, StreamError):
        raise answer
    return answer


class Planner:
    """Plans for the requests of one connection; only what `guard` allows becomes one."""

    def __init__(self, codec: Codec, book: SubscriptionBook, unsettled: Unsettled, guard: Guard) -> None:
        self._guard = guard
        self._codec = codec
        self._book = book
        self._unsettled = unsettled

    def plan(self, envelope: Envelope, raw: bytes) -> Plan:
        """The plan of one request. Raises `StreamError` or `RequestRefused`."""
        op = envelope.op
        make = _PLANS.get(op) if isinstance(op, str) else None
        if make is None:
            detail = f"unknown `op`: {shown(op)}; {suggestion(str(op), [*REQUESTS])}"
            raise RequestRefused(ErrorCode.UNKNOWN_COMMAND, detail)
        return make(self, raw)

    def plan_read(self, content: frames.Content) -> Plan:
        """The plan of an append or a command that was read before. Raises as `plan`."""
        if isinstance(content, Exception):
            raise content
        return self._append(content) if isinstance(content, NewEntry) else self._command(content)

    # --- commands and entries ------------------------------------------------------------------

    def command(self, raw: bytes) -> Plan:
        """A Redis command; its problem also has the exact Redis error line."""
        try:
            parsed = parse_request(self._codec.words(raw))
        except StreamError as error:
            raise CommandRefused(error) from None
        return self._command(parsed)

    def _command(self, parsed: RedisRequest) -> Plan:
        try:
            parsed = admitted(self._guard, parsed)
        except StreamError as error:
            raise CommandRefused(error) from None
        if parsed.command is None:
            return Plan((), lambda _: {"result": self._codec.result(parsed.to_resp(None))})
        record = partial(self._record, parsed.access, parsed.command, parsed.name)
        return Plan((parsed.command,), partial(self._command_done, parsed), record)

    def _allowed(
        self, scope: TokenScope, command: Command, op: str
    ) -> Callable[[Answers | StoreUnavailable], None]:
        """What records the outcome of `command`. Raises `StreamError` where the token does not allow it."""
        self._guard.allow(scope, command, op)
        return partial(self._record, scope, command, op) if is_administrative(scope, command) else _unrecorded

    def _record(
        self, scope: TokenScope, command: Command, name: str, answers: Answers | StoreUnavailable
    ) -> None:
        answer = answers if isinstance(answers, StoreUnavailable) else answers[0]
        self._guard.done(scope, command, name, answer)

    def _command_done(self, parsed: RedisRequest, answers: Answers) -> Content:
        try:
            return {"result": self._codec.result(parsed.to_resp(_done(answers)))}
        except StreamError as error:
            raise CommandRefused(error) from None

    def append(self, raw: bytes) -> Plan:
        """XADD."""
        return self._append(self._codec.new_entry(raw))

    def _append(self, new: NewEntry) -> Plan:
        requested = requested_id_of(new.entry_id)
        command = Append(
            new.key,
            (new.fragment,),
            None if requested is None else (requested,),
            new.trim,
            create=not new.nomkstream,
            if_last_id=optional_id_of(new.if_last_id, "if_last_id"),
        )
        record = self._allowed("append", command, "append")
        return Plan((command,), partial(_appended, new.key), record)

    # --- pending entries -----------------------------------------------------------------------

    def ack(self, raw: bytes) -> Plan:
        """XACK, and XACKDEL with `delete`."""
        request = self._codec.request(raw, AckRequest)
        key, group = self._stream_and_group(request)
        ids = ids_of(request.ids)
        if request.delete:
            policy = references_of(request.references)
            deletion = AcknowledgeAndDelete(key, group, ids, len(ids), policy, require_group=True)
            record = self._allowed("consume", deletion, "ack")
            return Plan((deletion,), partial(self._acknowledged_and_deleted, deletion, ids), record)
        acknowledgment = Acknowledge(key, group, ids, require_group=True)
        self._guard.allow("consume", acknowledgment, "ack")
        return Plan((acknowledgment,), partial(self._settled, "acknowledged", key, group, ids))

    def nack(self, raw: bytes) -> Plan:
        """XNACK."""
        request = self._codec.request(raw, NackRequest)
        key, group = self._stream_and_group(request)
        ids, mode = ids_of(request.ids), NackMode(request.mode)
        command = NegativeAcknowledge(key, group, mode, ids, request.retry_count, request.force)
        record = self._allowed("consume", command, "nack")
        return Plan((command,), partial(self._settled, "nacked", key, group, ids), record)

    def _settled(
        self, told_as: str, key: bytes, group: bytes, ids: Sequence[StreamId], answers: Answers
    ) -> Content:
        count = _done(answers)
        self._unsettled.settled(key, group, ids)
        return {told_as: count}

    def _acknowledged_and_deleted(
        self, command: AcknowledgeAndDelete, ids: Sequence[StreamId], answers: Answers
    ) -> Content:
        results = _done(answers)
        self._unsettled.settled(command.key, command.group, ids)
        acknowledged = sum(result is not DeleteResult.NOT_FOUND for result in results)
        return {"acknowledged": acknowledged, "results": deletions_json(ids, results)}

    def claim(self, raw: bytes) -> Plan:
        """XCLAIM."""
        request = self._codec.request(raw, ClaimRequest)
        key, group = self._stream_and_group(request)
        consumer = name_of(request.consumer, request.encoding, "consumer")
        options = ClaimOptions(request.min_idle_ms, ids_of(request.ids), just_id=request.just_id)
        command = Claim(key, group, consumer, options)
        self._guard.allow("consume", command, "claim")
        return Plan((command,), partial(self._claimed, Owner(key, group, consumer)))

    def _claimed(self, owner: Owner, answers: Answers) -> Content:
        reply: ClaimReply = _done(answers)
        self._unsettled.delivered(owner, reply.entries.ids)
        if reply.just_id:
            return {"ids": formatted(reply.entries.ids)}
        return {"entries": self._codec.entries(reply.entries)}

    def _stream_and_group(self, request: AckRequest | NackRequest | ClaimRequest) -> tuple[bytes, bytes]:
        encoding = request.encoding
        return name_of(request.key, encoding, "key"), name_of(request.group, encoding, "group")

    # --- subscriptions -------------------------------------------------------------------------

    def subscribe(self, raw: bytes) -> Plan:
        """Entries of streams, from positions that are resolved now."""
        request = self._codec.request(raw, SubscribeRequest)
        sources = [
            ReadFrom(name_of(stream.key, stream.encoding, "key"), position_of(stream.after))
            for stream in request.streams
        ]
        self._guard.allow("read", Read(tuple(sources)), "subscribe")
        unresolved = tuple(
            Read((source,), ReadLimits(count=1)) for source in sources if isinstance(source.after, Special)
        )
        return Plan(unresolved, partial(self._subscribed, request, sources))

    def _subscribed(
        self, request: SubscribeRequest, sources: Sequence[ReadFrom], answers: Answers
    ) -> Content:
        positions = _resolved(sources, answers)
        wanted = None if request.filter is None else filter_of(_wanted_values(request))
        self._book.subscribe(request.id, positions, wanted, _balance(request.credit))
        places = [{**self._codec.names(key=key), "after": format_id(after)} for key, after in positions]
        return {"streams": places}

    def consume(self, raw: bytes) -> Plan:
        """Entries of a group; refused where one of the streams does not have it."""
        request = self._codec.request(raw, ConsumeRequest)
        group = name_of(request.group, request.encoding, "group")
        keys = [name_of(stream.key, stream.encoding, "key") for stream in request.streams]
        command = ReadGroup(
            group,
            name_of(request.consumer, request.encoding, "consumer"),
            new_entries_of(keys),
            claim_min_idle_ms=request.claim_min_idle_ms,
            noack=request.noack,
        )
        self._guard.allow("consume", command, "consume")
        checks = tuple(PendingSummary(key, group) for key in keys)
        return Plan(checks, partial(self._consumed, request, command))

    def _consumed(self, request: ConsumeRequest, command: ReadGroup, answers: Answers) -> Content:
        for answer in answers:
            if isinstance(answer, StreamError):
                raise answer
        self._book.consume(request.id, command, _balance(request.credit))
        if request.on_close == "nack":
            for stream in command.streams:
                self._unsettled.track(Owner(stream.key, command.group, command.consumer))
        return {}

    def credit(self, raw: bytes) -> Plan:
        """More may be pushed."""
        request = self._codec.request(raw, CreditRequest)
        return Plan((), lambda _: self._credited(request))

    def _credited(self, request: CreditRequest) -> Content:
        balance = self._book.add_credit(request.sub, request.entries, request.bytes)
        return {"entries": balance.entries, "bytes": balance.bytes}

    def unsubscribe(self, raw: bytes) -> Plan:
        """Nothing more is pushed."""
        request = self._codec.request(raw, UnsubscribeRequest)
        return Plan((), lambda _: self._unsubscribed(request.sub))

    def _unsubscribed(self, sub: RequestId) -> Content:
        self._book.unsubscribe(sub)
        return {}

    def ping(self, raw: bytes) -> Plan:
        """Nothing, answered in turn."""
        self._codec.request(raw, PingRequest)
        return Plan((), lambda _: {})


_PLANS: Final[Mapping[str, Callable[[Planner, bytes], Plan]]] = {op: getattr(Planner, op) for op in REQUESTS}


def _appended(key: bytes, answers: Answers) -> Content:
    reply: AppendReply | None = _done(answers)
    if reply is None:
        raise no_such_key(key)
    return {"id": format_id(reply.ids[0])}


def _resolved(sources: Sequence[ReadFrom], answers: Answers) -> list[tuple[bytes, StreamId]]:
    """Each stream's position as an id: as given, or just before what a first look found."""
    looks = iter(answers)
    return [
        (source.key, _position_in(next(looks)) if isinstance(source.after, Special) else _id(source.after))
        for source in sources
    ]


def _position_in(answer: Reply | StreamError) -> StreamId:
    reply: ReadReply = _done([answer])
    read = reply.streams[0]
    return read.entries.ids[0] - 1 if read.entries.ids else read.next


def _id(after: object) -> StreamId:
    assert isinstance(after, int)
    return after


def _wanted_values(request: SubscribeRequest) -> dict[bytes, frozenset[bytes]]:
    wanted = {}
    for name, values in (request.filter or {}).items():
        several = values if isinstance(values, list) else [values]
        wanted[name_of(name, request.encoding, "filter")] = frozenset(
            octets_of(value, request.encoding) for value in several
        )
    return wanted


def _balance(credit: int | Credit) -> CreditBalance:
    if isinstance(credit, int):
        return CreditBalance(credit, None)
    return CreditBalance(credit.entries, credit.bytes)
