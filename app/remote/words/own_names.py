"""The names that clients may not use, because the gateway keeps them for itself.

It owns that refusal, for every command with a key, a group or a consumer. Lists leave such keys out: see
`app.remote.keys.listing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from tailrace.app.remote.functions.names import is_reserved
from tailrace.core.commands import Command
from tailrace.core.errors import ErrorCode, StreamError, printable

_KINDS: Final = {
    "key": "key",
    "new_key": "key",
    "group": "group",
    "consumer": "consumer",
    "transfer_to": "consumer",
    "dead_letter_stream": "key",
}
"""The members of commands that are one name, and what they name."""


@cache
def _members(kind: type[Command]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name in _KINDS)


def require_free_names(command: Command) -> None:
    """Raise INVALID_ARGUMENT for the first name that belongs to the gateway. O(names)."""
    for kind, name in _names(command):
        if is_reserved(name):
            raise _refusal(kind, name)


def _names(command: Any) -> Iterator[tuple[str, bytes]]:
    for member in _members(command.__class__):
        name = getattr(command, member)
        if isinstance(name, bytes):
            yield _KINDS[member], name
    for key in getattr(command, "keys", ()):
        yield "key", key
    for source in getattr(command, "streams", ()):
        yield "key", source.key


def _refusal(kind: str, name: bytes) -> StreamError:
    shown = printable(name).replace("\0", "\\0")
    return StreamError(
        ErrorCode.INVALID_ARGUMENT,
        f"ERR the {kind} name '{shown}' belongs to the gateway: choose a name that does not begin with "
        "a zero byte and 'tailrace:'",
        {kind: name},
    )
