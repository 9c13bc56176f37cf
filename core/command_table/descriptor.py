"""The descriptor of a command: everything that the rest of the program knows about it, in one place.

It owns the form of a row; the other modules of this package hold the rows. It says what kind of access a
command needs, and never who has it: tokens and HTTP belong to `api`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from tailrace.core.commands import Access, Command, CopyKey, Read, ReadGroup, RenameKey
from tailrace.core.execution import Execution
from tailrace.core.grammar.request import Parsed
from tailrace.core.grammar.words import Words
from tailrace.core.replies import Reply

Handler: TypeAlias = Callable[[Execution, Any], Reply]
Parser: TypeAlias = Callable[[Words], Parsed]
KeysOf: TypeAlias = Callable[[Any], Sequence[bytes]]


class Syntax(Struct, frozen=True):
    """One command in Redis's words.

    `name`: lower case, with its subcommand (``xadd``, ``xgroup|create``). `arity`: how many words it has,
    both words of the name included; negative: at least so many. `arguments` and `summary`: what follows the
    name, and what the command does, for `help` and completion.
    """

    name: str
    arity: int
    parse: Parser
    arguments: str
    summary: str


class Reach(Enum):
    """Which keys a command concerns."""

    KEYS = "keys"
    """The keys that it names: see `Descriptor.keys_of`."""
    LIST = "list"
    """All keys; its reply has only the keys that the client may see (`core.commands.Listing`)."""
    ALL_KEYS = "all keys"
    """All keys together, or the settings of the server."""
    NO_KEY = "no key"
    """No key at all."""
    INTERNAL = "internal"
    """The server runs it; no client may ask for it."""


def _one_key(command: Any) -> Sequence[bytes]:
    return (command.key,)


def named_keys(command: Any) -> Sequence[bytes]:
    """The keys of a command that names any number of them."""
    keys: Sequence[bytes] = command.keys
    return keys


def both_keys(command: RenameKey | CopyKey) -> Sequence[bytes]:
    """The keys of a command that makes one stream from another."""
    return (command.key, command.new_key)


def source_keys(command: Read | ReadGroup) -> Sequence[bytes]:
    """The keys of a read of several streams."""
    return [source.key for source in command.streams]


class Descriptor(Struct, frozen=True):
    """One command of the engine.

    `name`: its name in metrics and in the slow log. `access`: what it needs, on every key that it concerns.
    `is_read_only`: it never has an effect. `grows`: its purpose is to store more, so the server refuses it at
    the memory limit, as Redis does; a group read makes entries pending and does not count, because consumers
    must be able to drain the backlog. `redis`: its forms in Redis's words; empty if only a route makes it.
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
"""A command of the engine, or one that the grammar answers by itself (`PING`), which needs `read`."""
