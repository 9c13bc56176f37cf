"""From Redis words to a request: finds the command, checks the number of words, and parses the rest.

Owns the look-up; names, arity and parsers are in `core.command_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.command_table import ACCESS, SYNTAXES
from tailrace.core.command_table.descriptor import Parser
from tailrace.core.commands import Access
from tailrace.core.grammar.refusals import limit_exceeded, unknown_command, unknown_subcommand, wrong_arity
from tailrace.core.grammar.request import Request
from tailrace.core.grammar.words import Words
from tailrace.core.limits import COMMAND_ARGUMENTS_MAX

_Found = tuple[int, Parser, Access]

_ALL: Final[dict[str, _Found]] = {
    name: (syntax.arity, syntax.parse, ACCESS[name]) for name, syntax in SYNTAXES.items()
}
_COMMANDS: Final = {name: found for name, found in _ALL.items() if "|" not in name}
_SUBCOMMANDS: Final = {name: found for name, found in _ALL.items() if "|" in name}
_CONTAINERS: Final = frozenset(name.partition("|")[0] for name in _SUBCOMMANDS)
"""Commands that take a subcommand."""


def parse_request(words: Sequence[bytes]) -> Request:
    """The request that `words` spell, its name in any case. O(bytes).

    Raises `StreamError` with the line that Redis answers.
    """
    if len(words) > COMMAND_ARGUMENTS_MAX:
        raise limit_exceeded(f"a command may have {COMMAND_ARGUMENTS_MAX} words at most")
    name = _lower(words[0]) if words else ""
    if name in _CONTAINERS:
        return _parse_subcommand(name, words)
    if name not in _COMMANDS:
        raise unknown_command(words)
    arity, parse, access = _COMMANDS[name]
    _check_arity(name, arity, len(words))
    return Request(name, access, *parse(Words(name, words[0], words[1:])))


def _parse_subcommand(container: str, words: Sequence[bytes]) -> Request:
    if len(words) == 1:
        raise wrong_arity(container)
    name = f"{container}|{_lower(words[1])}"
    if name not in _SUBCOMMANDS:
        raise unknown_subcommand(container, words[1])
    arity, parse, access = _SUBCOMMANDS[name]
    _check_arity(name, arity, len(words))
    return Request(name, access, *parse(Words(name, words[1], words[2:])))


def _lower(word: bytes) -> str:
    """ASCII lower case, any other byte as it is: a name that is no ASCII matches nothing."""
    return word.lower().decode("latin-1")


def _check_arity(name: str, arity: int, count: int) -> None:
    if count < abs(arity) or 0 < arity < count:
        raise wrong_arity(name)
