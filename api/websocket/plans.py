"""Finds the function that plans a request, by the request's op.

It never runs a plan: the session decides when a plan runs, and in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tailrace.api.access.guard import Guard
from tailrace.api.principals import Unauthenticated
from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.texts import shown, suggestion
from tailrace.api.websocket import command_plans, frames, pending_plans, subscription_plans
from tailrace.api.websocket.codecs import AppendRun, Codec, Envelope
from tailrace.api.websocket.plan import Answers, Plan, PlanContext
from tailrace.api.websocket.requests import REQUESTS, PingRequest
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.core.commands import Append, ScheduleEntries
from tailrace.core.errors import ErrorCode, StreamError

__all__ = ["Answers", "Plan", "Planner"]


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
            return command_plans.plan_append(self._context, content)
        return command_plans.plan_words(self._context, content)


def _ping(context: PlanContext, raw: bytes) -> Plan:
    """Return the plan of a ping, which runs no command and is answered in order."""
    context.codec.request(raw, PingRequest)
    return Plan((), lambda _: {})


_PLANS: Final[Mapping[str, Callable[[PlanContext, bytes], Plan]]] = {
    "command": command_plans.command,
    "append": command_plans.append,
    "subscribe": subscription_plans.subscribe,
    "consume": subscription_plans.consume,
    "credit": subscription_plans.credit,
    "ack": pending_plans.ack,
    "nack": pending_plans.nack,
    "claim": pending_plans.claim,
    "extend": pending_plans.extend,
    "unsubscribe": subscription_plans.unsubscribe,
    "ping": _ping,
}
"""The function that plans each op."""

assert _PLANS.keys() == REQUESTS.keys()
