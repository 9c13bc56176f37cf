"""Options that need `admin` in addition to the scope of their command.

It owns the list of these options, how each is recognised in a command, and what a token without `admin` may
do instead. `api.access.permissions` applies it; `docs/security.md` shows it. An option belongs here if its
effect otherwise needs `admin`: it deletes entries, or moves a group past entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tailrace.core import commands as c


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
