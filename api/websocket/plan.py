"""A plan: the commands that a request runs in the store, and the function that makes the reply from their
answers.

This module also owns the state that the plans of a connection share, and the audit record of administrative
commands. It never reads requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from tailrace.api.access.guard import Guard
from tailrace.api.access.permissions import is_administrative
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import TokenScope
from tailrace.api.websocket.codecs import Codec
from tailrace.api.websocket.subscription_book import SubscriptionBook
from tailrace.api.websocket.unsettled import Unsettled
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.replies import Reply

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
