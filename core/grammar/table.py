"""Every command by name, with its arity and its parser, and how a request is looked up.

Arity counts the name itself, for a subcommand both words; negative means at least so many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from tailrace.core.grammar import (
    append,
    claims,
    config,
    deletion,
    groups,
    info,
    keys,
    ranges,
    reads,
    server,
    trimming,
)
from tailrace.core.grammar.help_texts import parse_help
from tailrace.core.grammar.refusals import limit_exceeded, unknown_command, unknown_subcommand, wrong_arity
from tailrace.core.grammar.request import Request
from tailrace.core.grammar.words import Words
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX

Parser: TypeAlias = Callable[[Words], Request]
Rows: TypeAlias = Mapping[str, tuple[int, Parser]]

COMMANDS: Final[Rows] = {
    "xadd": (-5, append.parse_xadd),
    "xsetid": (-3, append.parse_xsetid),
    "xcfgset": (-2, append.parse_xcfgset),
    "xidmprecord": (5, append.parse_xidmprecord),
    "xtrim": (-4, trimming.parse_xtrim),
    "xdel": (-3, deletion.parse_xdel),
    "xdelex": (-5, deletion.parse_xdelex),
    "xack": (-4, deletion.parse_xack),
    "xackdel": (-6, deletion.parse_xackdel),
    "xnack": (-7, deletion.parse_xnack),
    "xlen": (2, ranges.parse_xlen),
    "xrange": (-4, ranges.parse_xrange),
    "xrevrange": (-4, ranges.parse_xrevrange),
    "xread": (-4, reads.parse_xread),
    "xreadgroup": (-7, reads.parse_xreadgroup),
    "xpending": (-3, claims.parse_xpending),
    "xclaim": (-6, claims.parse_xclaim),
    "xautoclaim": (-6, claims.parse_xautoclaim),
    "del": (-2, keys.parse_del),
    "exists": (-2, keys.parse_exists),
    "type": (2, keys.parse_type),
    "rename": (3, keys.parse_rename),
    "copy": (-3, keys.parse_copy),
    "dbsize": (1, keys.parse_dbsize),
    "keys": (2, keys.parse_keys),
    "scan": (-2, keys.parse_scan),
    "flushdb": (-1, keys.parse_flush),
    "flushall": (-1, keys.parse_flush),
    "ping": (-1, server.parse_ping),
    "echo": (2, server.parse_echo),
    "time": (1, server.parse_time),
    "info": (-1, server.parse_info),
}

SUBCOMMANDS: Final[Mapping[str, Rows]] = {
    "xgroup": {
        "create": (-5, groups.parse_create),
        "setid": (-5, groups.parse_setid),
        "destroy": (4, groups.parse_destroy),
        "createconsumer": (5, groups.parse_createconsumer),
        "delconsumer": (5, groups.parse_delconsumer),
        "help": (2, parse_help),
    },
    "xinfo": {
        "stream": (-3, info.parse_stream),
        "groups": (3, info.parse_groups),
        "consumers": (4, info.parse_consumers),
        "help": (2, parse_help),
    },
    "config": {
        "get": (-3, config.parse_get),
        "set": (-4, config.parse_set),
        "help": (2, parse_help),
    },
}


def parse_request(words: Sequence[bytes]) -> Request:
    """The request that `words` spell, its name in any case. O(bytes).

    Raises `StreamError` with the line that Redis answers.
    """
    if len(words) > COMMAND_ARGUMENTS_MAX:
        raise limit_exceeded(f"a command may have {COMMAND_ARGUMENTS_MAX} words at most")
    name = _lower(words[0]) if words else ""
    if name in SUBCOMMANDS:
        return _parse_subcommand(name, words)
    if name not in COMMANDS:
        raise unknown_command(words)
    arity, parse = COMMANDS[name]
    _check_arity(name, arity, len(words))
    return parse(Words(name, words[0], words[1:]))


def _parse_subcommand(container: str, words: Sequence[bytes]) -> Request:
    if len(words) == 1:
        raise wrong_arity(container)
    subcommand = _lower(words[1])
    if subcommand not in SUBCOMMANDS[container]:
        raise unknown_subcommand(container, words[1])
    arity, parse = SUBCOMMANDS[container][subcommand]
    name = f"{container}|{subcommand}"
    _check_arity(name, arity, len(words))
    return parse(Words(name, words[1], words[2:]))


def _lower(word: bytes) -> str:
    """ASCII lower case, any other byte as it is: a name that is no ASCII matches nothing."""
    return word.lower().decode("latin-1")


def _check_arity(name: str, arity: int, count: int) -> None:
    if count < abs(arity) or 0 < arity < count:
        raise wrong_arity(name)
