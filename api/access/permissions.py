"""What a command needs of a token: one table from commands to the keys they touch, and one check.

It owns the rule; every way to the store goes through `allowed`: HTTP with its hot requests,
pipelines, transactions, WebSocket messages, tails. A command is allowed before it is carried out, so a
refusal says nothing of what is there, and changes nothing. What is not in the table is refused.

===========================  ==========================================================================
commands on keys             the scope, on every key that is named
lists of keys (`Listing`)    `read` or `admin`; shown are the keys that the token's patterns match
the whole keyspace           the scope, and the pattern `*`
neither                      the scope
===========================  ==========================================================================

Some options reach further than their command: `api.access.option_scopes` lists them, and they need `admin` too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from tailrace.api.access.option_scopes import option_needing_admin
from tailrace.api.ports import ANONYMOUS_LOCAL, Principal
from tailrace.core import commands as c
from tailrace.core.errors import ErrorCode, StreamError, printable
from tailrace.core.grammar import Scope

KeysOf = Callable[[Any], Sequence[bytes]]


def _key(command: Any) -> Sequence[bytes]:
    return (command.key,)


def _keys(command: Any) -> Sequence[bytes]:
    keys: Sequence[bytes] = command.keys
    return keys


def _keys_of_streams(command: c.Read | c.ReadGroup) -> Sequence[bytes]:
    return [source.key for source in command.streams]


def _both_keys(command: c.RenameKey | c.CopyKey) -> Sequence[bytes]:
    return (command.key, command.new_key)


KEYS_OF: Final[Mapping[type[c.Command], KeysOf]] = {
    c.Append: _key,
    c.TrimStream: _key,
    c.DeleteEntries: _key,
    c.DeleteEntriesByPolicy: _key,
    c.SetStreamPosition: _key,
    c.ConfigureStream: _key,
    c.RecordIdempotencyKey: _key,
    c.CreateStream: _key,
    c.Range: _key,
    c.StreamLength: _key,
    c.SplitRange: _key,
    c.SeekRange: _key,
    c.Read: _keys_of_streams,
    c.ReadGroup: _keys_of_streams,
    c.CreateGroup: _key,
    c.SetGroupPosition: _key,
    c.DestroyGroup: _key,
    c.CreateConsumer: _key,
    c.DeleteConsumer: _key,
    c.Acknowledge: _key,
    c.AcknowledgeAndDelete: _key,
    c.NegativeAcknowledge: _key,
    c.Claim: _key,
    c.AutoClaim: _key,
    c.PendingSummary: _key,
    c.PendingRange: _key,
    c.InfoStream: _key,
    c.InfoGroups: _key,
    c.InfoConsumers: _key,
    c.DeleteKeys: _keys,
    c.CountKeys: _keys,
    c.RenameKey: _both_keys,
    c.CopyKey: _both_keys,
}
"""Commands on keys that they name."""

WHOLE_KEYSPACE: Final[frozenset[type[c.Command]]] = frozenset(
    {c.Flush, c.GetConfig, c.SetConfig, c.ServerInfo}
)
"""Commands that change, or tell of, all streams together."""

KEYLESS: Final[frozenset[type[c.Command]]] = frozenset({c.ServerTime})
"""Commands that concern no stream."""

LISTING_SCOPES: Final[frozenset[Scope]] = frozenset({"read", "admin"})


def keys_of(command: c.Command) -> Sequence[bytes]:
    """Every key that `command` names."""
    found = KEYS_OF.get(type(command))
    return () if found is None else found(command)


def allowed(principal: Principal, scope: Scope, command: c.Command) -> c.Command:
    """The command to carry out where `principal` asks for `command` under `scope`: the same one, or a list
    narrowed to what may be seen. Raises `StreamError` NOPERM. O(keys x patterns)."""
    if principal is ANONYMOUS_LOCAL:
        return command
    found = KEYS_OF.get(type(command))
    if found is not None:
        keys = found(command)
        _require_keys(principal, scope, keys)
        option = option_needing_admin(command)
        if option is not None:
            _require_keys(principal, "admin", keys, option.instead)
        return command
    if isinstance(command, c.Listing):
        return _narrowed(principal, scope, command)
    if type(command) in KEYLESS:
        require_scope(principal, scope)
    elif type(command) in WHOLE_KEYSPACE:
        require_whole_keyspace(principal, scope)
    else:
        raise denied(principal, scope)
    return command


def _require_keys(
    principal: Principal, scope: Scope, keys: Sequence[bytes], instead: str | None = None
) -> None:
    for key in keys:
        if not principal.may(scope, key):
            raise denied(principal, scope, key, instead=instead)


def is_administrative(scope: Scope, command: c.Command) -> bool:
    """Whether `command`, asked for under `scope`, uses the rights of an administrator to change something."""
    return option_needing_admin(command) is not None if scope != "admin" else type(command) not in c.READ_ONLY


def _narrowed(principal: Principal, scope: Scope, command: c.Listing) -> c.Listing:
    if not principal.scopes & LISTING_SCOPES:
        raise denied(principal, scope)
    return command if principal.reaches_all_keys else replace(command, visible=principal.key_patterns)


def require_scope(principal: Principal, scope: Scope) -> None:
    """Raises `StreamError` NOPERM where the token does not have `scope` at all."""
    if scope not in principal.scopes:
        raise denied(principal, scope)


def require_whole_keyspace(principal: Principal, scope: Scope) -> None:
    """Raises `StreamError` NOPERM where the token does not have `scope` on all keys."""
    if scope not in principal.scopes or not principal.reaches_all_keys:
        raise denied(principal, scope, on_all_keys=True)


def denied(
    principal: Principal,
    scope: Scope,
    key: bytes | None = None,
    *,
    on_all_keys: bool = False,
    instead: str | None = None,
) -> StreamError:
    """The refusal, which names what is missing and nothing of what is there. `instead`: what is allowed."""
    needs = f"NOPERM the token '{principal.name}' does not allow '{scope}'"
    if key is not None:
        told = printable(key)
        line = f"{needs} on '{told}'" + (f": {instead}" if instead else "")
        return StreamError(ErrorCode.NOPERM, line, required_scope=scope, key=told)
    where = " on all keys ('*')" if on_all_keys else ""
    return StreamError(ErrorCode.NOPERM, f"{needs}{where}", required_scope=scope)
