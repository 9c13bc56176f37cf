"""The error lines that belong to the grammar as a whole; a command's own lines stand beside its parser.

Words of the client stand in them as `core.errors.printable` writes them, on one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.errors import ErrorCode, StreamError, printable

QUOTED_BYTES_MAX: Final = 128
"""Redis quotes no more than this of an unknown command, of its arguments together, or of a subcommand."""


def invalid_argument(text: str) -> StreamError:
    """An argument that is well formed and not allowed; `text` follows ``ERR``."""
    return StreamError(ErrorCode.INVALID_ARGUMENT, f"ERR {text}")


def limit_exceeded(text: str) -> StreamError:
    """A bound of `core.limits` that Redis does not have; `text` follows ``ERR``."""
    return StreamError(ErrorCode.LIMIT_EXCEEDED, f"ERR {text}")


def wrong_arity(name: str) -> StreamError:
    """Too few or too many words; `name` is the command's full name."""
    return StreamError(ErrorCode.WRONG_ARITY, f"ERR wrong number of arguments for '{name}' command")


def unknown_command(words: Sequence[bytes]) -> StreamError:
    """No command has this name; the line shows the beginning of the arguments, where there are any."""
    name = printable(words[0][:QUOTED_BYTES_MAX]) if words else ""
    arguments = f", with args beginning with: {_beginning(words[1:])}" if words[1:] else ""
    return StreamError(ErrorCode.UNKNOWN_COMMAND, f"ERR unknown command '{name}'{arguments}")


def _beginning(words: Sequence[bytes]) -> str:
    """Quoted arguments until they fill the bound; the quotes and spaces between them count."""
    shown = ""
    room = QUOTED_BYTES_MAX
    for word in words:
        if room <= 0:
            break
        shown += f"'{printable(word[:room])}' "
        room -= min(len(word), room) + len("'' ")
    return shown


def unknown_subcommand(container: str, word: bytes) -> StreamError:
    """A container command (XGROUP, XINFO, CONFIG) has no such subcommand."""
    return StreamError(
        ErrorCode.UNKNOWN_COMMAND,
        f"ERR unknown subcommand '{printable(word[:QUOTED_BYTES_MAX])}'. Try {container.upper()} HELP.",
    )


def subcommand_syntax(container: str, typed: bytes) -> StreamError:
    """Options that the subcommand does not take; it is named as it was typed."""
    return StreamError(
        ErrorCode.SYNTAX,
        f"ERR unknown subcommand or wrong number of arguments for '{printable(typed[:QUOTED_BYTES_MAX])}'. "
        f"Try {container.upper()} HELP.",
    )
