"""The permissions of commands: which rights a token needs for a command.

This module owns the rule; `core.command_table` owns which keys a command concerns. Every request is checked
by `allowed`: HTTP requests and hot requests, pipelines, transactions, WebSocket messages and tails. The check
is before the execution, so a refusal reveals no stored data and changes nothing.

===================  ==============================================================================
`Reach.KEYS`         the scope, on every key that the command names
`Reach.LIST`         `read` or `admin`; the reply has the keys that the token's patterns match
`Reach.ALL_KEYS`     the scope, and the pattern `*`
`Reach.NO_KEY`       the scope
`Reach.INTERNAL`     always refused
===================  ==============================================================================

A group can name a further key: its dead-letter stream. A request that acts on this stream names it in its
command (`core.commands.Redrive`), so the rule above covers it. `shown` removes the name from a reply if the
token's patterns do not match it.

Some options need `admin` in addition to the scope of their command: `api.access.option_scopes` lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar, cast

from msgspec.structs import replace

from tailrace.api.access.option_scopes import option_needing_admin
from tailrace.api.principals import ANONYMOUS_LOCAL, Principal, TokenScope
from tailrace.core.command_table import DESCRIPTORS, KEYS_OF, READ_ONLY, Reach
from tailrace.core.commands import Command, InfoGroups, Listing
from tailrace.core.errors import ErrorCode, StreamError, printable
from tailrace.core.replies import GroupInfo

AnswerT = TypeVar("AnswerT")

LISTING_SCOPES: Final[frozenset[TokenScope]] = frozenset({"read", "admin"})


def allowed(principal: Principal, scope: TokenScope, command: Command) -> Command:
    """Return the command to execute when `principal` requests `command` under `scope`. This is `command`
    itself, or for a listing a copy that shows only the keys that the principal may see. Raises `StreamError`
    NOPERM. O(keys x patterns)."""
    if principal is ANONYMOUS_LOCAL:
        return command
    find_keys = KEYS_OF.get(type(command))
    if find_keys is not None:
        keys = find_keys(command)
        _require_keys(principal, scope, keys)
        option = option_needing_admin(command)
        if option is not None:
            _require_keys(principal, "admin", keys, option.instead)
        return command
    if isinstance(command, Listing):
        return _narrowed(principal, scope, command)
    reach = DESCRIPTORS[type(command)].reach
    if reach is Reach.NO_KEY:
        require_scope(principal, scope)
    elif reach is Reach.ALL_KEYS:
        require_whole_keyspace(principal, scope)
    else:
        raise denied(principal, scope)
    return command


def shown(principal: Principal, command: Command, reply: AnswerT) -> AnswerT:
    """Return the reply to `command` without the names of keys that `principal` may not see."""
    if shows_all(principal, command) or not isinstance(reply, list):
        return reply
    return cast(
        "AnswerT",
        [_shown_group(principal, each) if isinstance(each, GroupInfo) else each for each in reply],
    )


def shows_all(principal: Principal, command: Command) -> bool:
    """Return whether `shown` certainly returns the reply to `command` as it is."""
    return not isinstance(command, InfoGroups) or principal is ANONYMOUS_LOCAL or principal.reaches_all_keys


def _shown_group(principal: Principal, group: GroupInfo) -> GroupInfo:
    stream = group.settings.dead_letter_stream
    if stream is None or principal.may_see(stream):
        return group
    return replace(group, settings=replace(group.settings, dead_letter_stream=None))


def require_dead_letter_stream(principal: Principal, scope: TokenScope, group: GroupInfo) -> None:
    """Raise `StreamError` NOPERM if `shown` has removed the dead-letter stream of `group`: it is set whenever
    `max_deliveries` is."""
    if group.settings.max_deliveries is not None and group.settings.dead_letter_stream is None:
        raise denied(principal, scope, where=" on the dead-letter stream of the group")


def _require_keys(
    principal: Principal, scope: TokenScope, keys: Sequence[bytes], instead: str | None = None
) -> None:
    for key in keys:
        if not principal.may(scope, key):
            raise denied(principal, scope, key, instead=instead)


def is_administrative(scope: TokenScope, command: Command) -> bool:
    """Return whether `command`, requested under `scope`, uses `admin` rights to change something."""
    if scope == "admin":
        return type(command) not in READ_ONLY
    return option_needing_admin(command) is not None


def _narrowed(principal: Principal, scope: TokenScope, command: Listing) -> Listing:
    if not principal.scopes & LISTING_SCOPES:
        raise denied(principal, scope)
    return command if principal.reaches_all_keys else replace(command, visible=principal.key_patterns)


def require_scope(principal: Principal, scope: TokenScope) -> None:
    """Raise `StreamError` NOPERM if the token does not have `scope` on any key."""
    if scope not in principal.scopes:
        raise denied(principal, scope)


def require_whole_keyspace(principal: Principal, scope: TokenScope) -> None:
    """Raise `StreamError` NOPERM if the token does not have `scope` on all keys."""
    if scope not in principal.scopes or not principal.reaches_all_keys:
        raise denied(principal, scope, where=" on all keys ('*')")


def denied(
    principal: Principal,
    scope: TokenScope,
    key: bytes | None = None,
    *,
    where: str = "",
    instead: str | None = None,
) -> StreamError:
    """Return the refusal. It names the missing scope and no stored data. `where`: what the scope is for, if
    it is no key that the request names. `instead`: what is allowed."""
    needs = f"NOPERM the token '{principal.name}' does not allow '{scope}'"
    if key is not None:
        told = printable(key)
        line = f"{needs} on '{told}'" + (f": {instead}" if instead else "")
        return StreamError(ErrorCode.NOPERM, line, required_scope=scope, key=told)
    return StreamError(ErrorCode.NOPERM, f"{needs}{where}", required_scope=scope)
