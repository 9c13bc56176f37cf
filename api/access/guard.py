"""The rights of one request or of one connection: checks each command, and records administrative acts.

`api.access.permissions` owns which rights a command needs.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from starlette.requests import Request

from tailrace.api.access.permissions import (
    AnswerT,
    allowed,
    is_administrative,
    require_dead_letter_stream,
    require_scope,
    require_whole_keyspace,
    shown,
)
from tailrace.api.access.security import Security, principal_of
from tailrace.api.ports import StoreUnavailable
from tailrace.api.principals import Act, Principal, TokenScope, Unauthenticated
from tailrace.api.problems.table import request_id_of
from tailrace.core.command_table import keys_of
from tailrace.core.commands import Command
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request as RedisRequest
from tailrace.core.replies import GroupInfo


class Guard:
    """The rights of one request or of one connection. It lives as long as the request or the connection."""

    __slots__ = ("_audit", "_authenticator", "_request_id", "principal")

    def __init__(self, security: Security, principal: Principal, request_id: str | None = None) -> None:
        self._authenticator = security.authenticator
        self._audit = security.audit
        self._request_id = request_id
        self.principal = principal

    def allow(self, scope: TokenScope, command: Command, operation: str) -> Command:
        """Return the command to execute: see `api.access.permissions.allowed`.

        Raises `StreamError` NOPERM if the token does not allow it, and `Unauthenticated` if the token is no
        longer valid.
        """
        self._authenticator.require_standing(self.principal)
        try:
            return allowed(self.principal, scope, command)
        except StreamError:
            self._record(scope, command, operation, "denied")
            raise

    def require_dead_letter_stream(
        self, scope: TokenScope, command: Command, operation: str, group: GroupInfo
    ) -> None:
        """Raise `StreamError` NOPERM if the token may not see the dead-letter stream of `group`."""
        try:
            require_dead_letter_stream(self.principal, scope, group)
        except StreamError:
            self._record(scope, command, operation, "denied")
            raise

    def shown(self, command: Command, reply: AnswerT) -> AnswerT:
        """Return the reply without names that the token may not see: see `api.access.permissions.shown`."""
        return shown(self.principal, command, reply)

    def require(self, scope: TokenScope, *, everywhere: bool = False) -> None:
        """Check a scope for an operation without a command. `everywhere`: on all keys. Raises as `allow`
        does."""
        self._authenticator.require_standing(self.principal)
        check = require_whole_keyspace if everywhere else require_scope
        check(self.principal, scope)

    def done(self, scope: TokenScope, command: Command, operation: str, answer: object) -> None:
        """Record `command` with `answer`, its reply or refusal, if it is an administrative act."""
        self._record(scope, command, operation, _outcome_of(answer))

    def _record(self, scope: TokenScope, command: Command, operation: str, outcome: str) -> None:
        if is_administrative(scope, command):
            self._audit(Act(self.principal, operation, keys_of(command), outcome, self._request_id))

    def watch(self, on_end: Callable[[Unauthenticated], None]) -> Callable[[], None]:
        """Call `on_end` when the rights end: see `Authenticator.watch`."""
        return self._authenticator.watch(self.principal, on_end)


def admitted(guard: Guard, request: RedisRequest) -> RedisRequest:
    """Return the allowed form of a request in Redis's words, under its own scope. Raises as `allow` does."""
    if request.command is None:
        guard.require(request.access)
        return request
    command = guard.allow(request.access, request.command, request.name)
    return request if command is request.command else replace(request, command=command)


def _outcome_of(answer: object) -> str:
    if isinstance(answer, StreamError):
        return str(answer.code)
    if isinstance(answer, StoreUnavailable):
        return "unknown" if answer.is_outcome_unknown else "not accepted"
    return "done"


def guard_of(request: Request) -> Guard:
    """Return the rights of this request."""
    security: Security = request.app.state.security
    return Guard(security, principal_of(request.scope), request_id_of(request.scope))
