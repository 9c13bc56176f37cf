"""The error lines that several parsers share; a line of one command is in that command's module.

An error line shows words of the client as `core.errors.printable` writes them, without line breaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.errors import ErrorCode, StreamError, printable

QUOTED_BYTES_MAX: Final = 128
"""How many bytes Redis quotes at most of an unknown command, of all its arguments, or of a subcommand."""


def invalid_argument(text: str) -> StreamError:
    """Return INVALID_ARGUMENT, for an argument with a valid form and an invalid value. `text` follows
    ``ERR``."""
    return StreamError(ErrorCode.INVALID_ARGUMENT, f"ERR {text}")


def limit_exceeded(text: str) -> StreamError:
    """Return LIMIT_EXCEEDED, for a request above a limit that only Tailrace has. `text` follows ``ERR``."""
    return StreamError(ErrorCode.LIMIT_EXCEEDED, f"ERR {text}")


def wrong_arity(name: str) -> StreamError:
    """Return the error for too few or too many words. `name`: the full name of the command."""
    return StreamError(ErrorCode.WRONG_ARITY, f"ERR wrong number of arguments for '{name}' command")


def unknown_command(words: Sequence[bytes]) -> StreamError:
    """Return the error for an unknown command. The line quotes the first arguments, if there are any."""
    name = printable(words[0][:QUOTED_BYTES_MAX]) if words else ""
    arguments = f", with args beginning with: {_beginning(words[1:])}" if words[1:] else ""
    return StreamError(ErrorCode.UNKNOWN_COMMAND, f"ERR unknown command '{name}'{arguments}")


def _beginning(words: Sequence[bytes]) -> str:
    """Return the quoted arguments, until they and the quotes and spaces between them reach the bound."""
    shown = ""
    room = QUOTED_BYTES_MAX
    for word in words:
        if room <= 0:
            break
        shown += f"'{printable(word[:room])}' "
        room -= min(len(word), room) + len("'' ")
    return shown


def unknown_subcommand(container: str, word: bytes) -> StreamError:
    """Return the error for an unknown subcommand of a container command (XGROUP, XINFO, CONFIG)."""
    return StreamError(
        ErrorCode.UNKNOWN_COMMAND,
        f"ERR unknown subcommand '{printable(word[:QUOTED_BYTES_MAX])}'. Try {container.upper()} HELP.",
    )


def subcommand_syntax(container: str, typed: bytes) -> StreamError:
    """Return the error for options that the subcommand does not take. `typed`: its name as the client typed
    it."""
    return StreamError(
        ErrorCode.SYNTAX,
        f"ERR unknown subcommand or wrong number of arguments for '{printable(typed[:QUOTED_BYTES_MAX])}'. "
        f"Try {container.upper()} HELP.",
    )
