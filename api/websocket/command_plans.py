"""The plans of the requests that run a Redis command or append an entry."""

from __future__ import annotations

from functools import partial

from tailrace.api.access.guard import admitted
from tailrace.api.problems.table import CommandRefused
from tailrace.api.websocket.plan import Answers, Content, Plan, PlanContext, allowed, recorder, result_of
from tailrace.api.wire.scheduling import scheduled_json
from tailrace.core.commands import Append, ScheduleEntries
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
