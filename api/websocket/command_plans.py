"""The plans of the requests that run a Redis command or append an entry."""

from __future__ import annotations

from functools import partial

from tailrace.api.access.guard import admitted
from tailrace.api.problems.table import CommandRefused
from tailrace.api.websocket.codecs import NewEntry
from tailrace.api.websocket.plan import Answers, Content, Plan, PlanContext, allowed, recorder, result_of
from tailrace.api.wire.appends import NewEntries
from tailrace.api.wire.parameters import optional_id_of, requested_id_of
from tailrace.api.wire.scheduling import is_delayed, no_idempotency, schedule_command, scheduled_json
from tailrace.core.commands import Append
from tailrace.core.errors import StreamError, no_such_key
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.parser import parse_request
from tailrace.core.replies import AppendReply, ScheduleReply
from tailrace.core.stream_id import format_id


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
    return plan_entry(context, context.codec.new_entry(raw))


def plan_entry(context: PlanContext, new: NewEntry) -> Plan:
    """Return the plan of a decoded entry."""
    requested = requested_id_of(new.entry_id)
    if is_delayed(new):
        return _plan_later(
            context, new, NewEntries([new.fragment], None if requested is None else [requested])
        )
    command = Append(
        new.key,
        (new.fragment,),
        None if requested is None else (requested,),
        new.trim,
        create=not new.nomkstream,
        if_last_id=optional_id_of(new.if_last_id, "if_last_id"),
    )
    record = allowed(context.guard, "append", command, "append")
    return Plan((command,), partial(_appended, new.key), record)


def _plan_later(context: PlanContext, new: NewEntry, entries: NewEntries) -> Plan:
    """Return the plan of an entry with a delay."""
    command = schedule_command(new.key, new, entries, no_idempotency, create=not new.nomkstream)
    record = allowed(context.guard, "append", command, "append")
    return Plan((command,), partial(_scheduled, new.key), record)


def _scheduled(key: bytes, answers: Answers) -> Content:
    reply: ScheduleReply | None = result_of(answers)
    if reply is None:
        raise no_such_key(key)
    return scheduled_json(reply)


def _appended(key: bytes, answers: Answers) -> Content:
    reply: AppendReply | None = result_of(answers)
    if reply is None:
        raise no_such_key(key)
    return {"id": format_id(reply.ids[0])}
