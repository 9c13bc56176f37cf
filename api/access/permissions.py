"""The rights that a request needs: the scope of each operation, the options that need `admin`, and the
permissions of each command.

The token must have the scope on every key that the operation touches. The module never decides who a
client is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from tailrace.api.principals import ANONYMOUS_LOCAL, Principal, TokenScope
from tailrace.core import commands as c
from tailrace.core.command_table import ACCESS, DESCRIPTORS, KEYS_OF, READ_ONLY, Reach
from tailrace.core.commands import Command, InfoGroups, Listing
from tailrace.core.errors import ErrorCode, StreamError, printable
from tailrace.core.replies import GroupInfo

Need: TypeAlias = TokenScope | Literal["any", "open"]

_OWN_NEEDS: Final[Mapping[str, Need]] = {
    # streams
    "list_streams": "read",  # or `admin`; it shows what the token's patterns allow
    "create_stream": "admin",
    "head_stream": "read",
    "get_producer": "read",
    "take_over_epoch": "append",
    "delete_stream": "admin",
    # entries
    "xadd_batch": "append",
    "import_entries": "append",
    "check_import": "append",
    "get_entry": "read",
    "export_entries": "read",
    "split_entries": "read",
    "seek_entries": "read",
    "delete_entry": "admin",
    "list_scheduled": "read",
    "cancel_scheduled": "append",  # no reader has seen the entry: who may schedule may cancel
    # reads
    "tail": "read",  # `consume` with `group`
    "tail_streams": "read",  # `consume` with `group`
    # groups
    "xinfo_group": "read",
    "configure_group": "admin",  # on the dead-letter stream as well
    "redrive": "admin",
    # pending
    "xpending_summary": "read",
    "extend": "consume",
    # commands: each command has its own scope
    "command": "any",
    "pipeline": "any",
    "transaction": "any",
    # service
    "create_ticket": "any",
    "show_access": "any",
    "get_limits": "any",
    "show_server": "admin",  # on every key, as the slow log
    "slow_log": "admin",  # on every key: it names those of all tokens
    "clear_slow_log": "admin",
    "healthz": "open",
    "readyz": "open",
    "problem_page": "open",
}

_NEEDS: Final[Mapping[str, Need]] = {
    **{name.replace("|", "_"): access for name, access in ACCESS.items()},
    **_OWN_NEEDS,
}


def need_of(operation: str) -> Need:
    """Return the scope that an operation needs. Raises `KeyError` for an operation without a row."""
    return _NEEDS[operation]


def scope_of(operation: str) -> TokenScope | None:
    """Return the scope that an operation needs, None if it needs none of its own."""
    need = _NEEDS[operation]
    return None if need == "any" or need == "open" else need  # noqa: PLR1714 - so that the type narrows


class Option(NamedTuple):
    """An option that needs `admin` in addition to the scope of its command.

    `redis` and `rest`: how the option is written in Redis's words and in a JSON body. `is_asked_by`: whether
    a command uses it. `instead`: the allowed alternative, which the refusal names.
    """

    command: type[c.Command]
    redis: str
    rest: str
    is_asked_by: Callable[[Any], bool]
    instead: str


def _deletes_what_others_need(command: c.AcknowledgeAndDelete) -> bool:
    return command.references is not c.References.ACKNOWLEDGED


def _keeps_nothing(command: c.Append) -> bool:
    return command.trim is not None and command.trim.max_length == 0


def _trims_pending_lists(command: c.Append) -> bool:
    return command.trim is not None and command.trim.references is c.References.DELETE


def _forces_a_claim(command: c.Claim) -> bool:
    return isinstance(command.options, c.ClaimOptions) and command.options.force


def _moves_the_group(command: c.Claim) -> bool:
    return isinstance(command.options, c.ClaimOptions) and command.options.last_id is not None


def _forces_a_nack(command: c.NegativeAcknowledge) -> bool:
    return command.force


_FORCE: Final = (
    "FORCE (`force`) makes entries pending that the group was not given; without it the scope 'consume' is "
    "enough"
)

OPTIONS: Final = (
    Option(
        c.AcknowledgeAndDelete,
        "XACKDEL with KEEPREF (the default) or DELREF",
        "`delete` without `references: acknowledged`",
        _deletes_what_others_need,
        "KEEPREF (the default) and DELREF delete entries that other groups may still need; with the scope "
        "'consume' alone the policy ACKED (`references`: `acknowledged`) is allowed",
    ),
    Option(
        c.Append,
        "XADD with MAXLEN 0",
        "`trim.max_length: 0`",
        _keeps_nothing,
        "a trim to length 0 deletes the whole stream; with the scope 'append' alone a length of 1 or more is "
        "allowed",
    ),
    Option(
        c.Append,
        "XADD with DELREF",
        "`trim.references: delete`",
        _trims_pending_lists,
        "DELREF removes entries from the pending lists of all groups; with the scope 'append' alone the "
        "policies KEEPREF (`references`: `keep`) and ACKED (`acknowledged`) are allowed",
    ),
    Option(c.Claim, "XCLAIM with FORCE", "`force`", _forces_a_claim, _FORCE),
    Option(
        c.Claim,
        "XCLAIM with LASTID",
        "`last_id`",
        _moves_the_group,
        "LASTID (`last_id`) moves the group's position, as XGROUP SETID does; without it the scope 'consume' "
        "is enough",
    ),
    Option(c.NegativeAcknowledge, "XNACK with FORCE", "`force`", _forces_a_nack, _FORCE),
)
"""Every option that needs `admin` in addition to the scope of its command."""

_BY_COMMAND: Final = {
    kind: tuple(option for option in OPTIONS if option.command is kind)
    for kind in {option.command for option in OPTIONS}
}


def option_needing_admin(command: c.Command) -> Option | None:
    """Return the first option of `command` that needs `admin`, None if there is none. O(1)."""
    if isinstance(command, c.Append) and command.trim is None:
        return None  # at once: most commands are such appends
    for option in _BY_COMMAND.get(type(command), ()):
        if option.is_asked_by(command):
            return option
    return None


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
