"""The descriptor of a command: everything that the rest of the program uses of the command.

Owns the type of a row, and the arguments that several commands share, as `help` shows them; the other modules
of this package hold the rows. A descriptor names the scope that a command needs; `api` owns tokens and
decides who has the scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

from msgspec import Struct

from tailrace.core.commands import (
    Access,
    Command,
    ConfigureGroup,
    CopyKey,
    Read,
    ReadGroup,
    Redrive,
    RenameKey,
)
from tailrace.core.execution import Execution
from tailrace.core.grammar.request import Parsed
from tailrace.core.grammar.words import Words
from tailrace.core.replies import Reply

Handler: TypeAlias = Callable[[Execution, Any], Reply]
Parser: TypeAlias = Callable[[Words], Parsed]
KeysOf: TypeAlias = Callable[[Any], Sequence[bytes]]


class Syntax(Struct, frozen=True):
    """One command in Redis's words.

    `name`: lower case, with the subcommand (``xadd``, ``xgroup|create``). `arity`: the number of words,
    including both words of the name; -n means n words or more. `parse`: the parser of the words after the
    name. `arguments`: the syntax after the name. `summary`: what the command does. `help` and completion show
    both.
    """

    name: str
    arity: int
    parse: Parser
    arguments: str
    summary: str


class Reach(Enum):
    """Which keys a command concerns."""

    KEYS = "keys"
    """The keys that the command names: see `Descriptor.keys_of`."""
    LIST = "list"
    """All keys; the reply has only the keys that the client may see (`core.commands.Listing`)."""
    ALL_KEYS = "all keys"
    """All keys together, or the settings of the server."""
    NO_KEY = "no key"
    """No key at all."""
    INTERNAL = "internal"
    """The server runs the command; clients cannot request it."""


def _one_key(command: Any) -> Sequence[bytes]:
    return (command.key,)


def named_keys(command: Any) -> Sequence[bytes]:
    """Return the keys of a command that has a list of keys, such as DEL."""
    keys: Sequence[bytes] = command.keys
    return keys


def both_keys(command: RenameKey | CopyKey) -> Sequence[bytes]:
    """Return the keys of a command with an old and a new key: RENAME and COPY."""
    return (command.key, command.new_key)


def source_keys(command: Read | ReadGroup) -> Sequence[bytes]:
    """Return the keys of a read of several streams."""
    return [source.key for source in command.streams]


def dead_letter_keys(command: ConfigureGroup | Redrive) -> Sequence[bytes]:
    """Return the stream of a group and the dead-letter stream that the command names."""
    stream = command.dead_letter_stream
    return (command.key, stream) if isinstance(stream, bytes) else (command.key,)


class Descriptor(Struct, frozen=True):
    """One command of the engine.

    `command`: the type of the command. `name`: its name in metrics and in the slow log. `handler`: the
    function that executes it. `access`: the scope that it needs, on every key that it concerns. `reach`:
    which keys it concerns. `keys_of`: the function that returns the keys that it names. `is_read_only`: it
    never has an effect. `grows`: its purpose is to store more, so the server refuses it at the memory limit,
    as Redis does. A group read also makes entries pending, but `grows` is False for it, because consumers
    must be able to drain the backlog. `redis`: its forms in Redis's words; empty if only a route uses it.
    """

    command: type[Command]
    name: str
    handler: Handler
    access: Access
    reach: Reach = Reach.KEYS
    keys_of: KeysOf = _one_key
    is_read_only: bool = False
    grows: bool = False
    redis: tuple[Syntax, ...] = ()


Row: TypeAlias = Descriptor | Syntax
"""A command of the engine, or a command such as `PING` that needs no engine; the latter needs `read`."""


POLICY: Final = "[KEEPREF|DELREF|ACKED]"
TRIM: Final = "MAXLEN|MINID [=|~] threshold [LIMIT count]"
IDS: Final = "IDS numids id [id ...]"
READ_LIMITS: Final = "[COUNT count] [MAXCOUNT count] [MAXSIZE bytes] [BLOCK milliseconds]"
READ_STREAMS: Final = "STREAMS key [key ...] id [id ...]"
