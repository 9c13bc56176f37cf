"""From Redis words to a request: finds the command, checks the number of words, and parses the rest.

Owns the look-up, and the rule that decides which commands a transaction queues; names, arity and parsers are
in `core.command_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.command_table import ACCESS, SYNTAXES
from tailrace.core.command_table.descriptor import Parser
from tailrace.core.commands import Access
from tailrace.core.errors import StreamError, kept
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
    """Return the request that `words` spell, with its name in any case. O(bytes).

    Raises `StreamError` with Redis's error line.
    """
    name, (_, parse, access) = _look_up(words)
    name_words = 1 + ("|" in name)
    command, to_resp = parse(Words(name, words[name_words - 1], words[name_words:]))
    return Request(name, access, command, to_resp)


def parse_queued(words: Sequence[bytes]) -> Request | StreamError:
    """Return the request of a command in a transaction, or the error that takes the place of its reply.

    Raises `StreamError` if MULTI does not queue the command: it is unknown, or has a wrong number of words.
    Redis reports all other errors when the command runs.
    """
    _look_up(words)
    try:
        return parse_request(words)
    except StreamError as error:
        return kept(error)


def _look_up(words: Sequence[bytes]) -> tuple[str, _Found]:
    if len(words) > COMMAND_ARGUMENTS_MAX:
        raise limit_exceeded(f"a command may have {COMMAND_ARGUMENTS_MAX} words at most")
    name = _lower(words[0]) if words else ""
    found = _COMMANDS.get(name)
    if found is None:
        name, found = _look_up_subcommand(name, words)
    arity, count = found[0], len(words)
    if count < abs(arity) or 0 < arity < count:
        raise wrong_arity(name)
    return name, found


def _look_up_subcommand(container: str, words: Sequence[bytes]) -> tuple[str, _Found]:
    if container not in _CONTAINERS:
        raise unknown_command(words)
    if len(words) == 1:
        raise wrong_arity(container)
    name = f"{container}|{_lower(words[1])}"
    found = _SUBCOMMANDS.get(name)
    if found is None:
        raise unknown_subcommand(container, words[1])
    return name, found


def _lower(word: bytes) -> str:
    """Return the name with ASCII letters in lower case. A name with other bytes matches no command."""
    return word.lower().decode("latin-1")
