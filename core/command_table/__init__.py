"""All commands: one descriptor for each, and the tables that the rest of the program reads.

Owns the list of commands; never executes or parses one. A new command gets a row in one of the modules of
this package, and all tables below then contain it. CONTRIBUTING.md lists the other places that a new command
needs, and `tests/unit/test_every_command.py` finds the missing ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tailrace.core.command_table import entries, groups, keys
from tailrace.core.command_table.descriptor import Descriptor, Handler, KeysOf, Reach, Row, Syntax
from tailrace.core.commands import Access, Command

__all__ = [
    "ACCESS",
    "DESCRIPTORS",
    "GROWING",
    "HANDLERS",
    "KEYS_OF",
    "NAMES",
    "READ_ONLY",
    "ROWS",
    "SYNTAXES",
    "Descriptor",
    "Reach",
    "Syntax",
    "keys_of",
]

ROWS: Final[Sequence[Row]] = (*entries.ROWS, *groups.ROWS, *keys.ROWS)
"""In the order of `help`."""

DESCRIPTORS: Final[Mapping[type[Command], Descriptor]] = {
    row.command: row for row in ROWS if isinstance(row, Descriptor)
}
"""The commands of the engine."""

HANDLERS: Final[Mapping[type[Command], Handler]] = {kind: row.handler for kind, row in DESCRIPTORS.items()}

NAMES: Final[Mapping[type[Command], str]] = {kind: row.name for kind, row in DESCRIPTORS.items()}
"""The names of commands in metrics and in the slow log."""


def spelled(kind: type[Command]) -> str:
    """Return the name of a command for an error text, such as ``XGROUP CREATE``."""
    return NAMES[kind].upper().replace("_", " ")


KEYS_OF: Final[Mapping[type[Command], KeysOf]] = {
    kind: row.keys_of for kind, row in DESCRIPTORS.items() if row.reach is Reach.KEYS
}
"""The function that returns the keys of a command, for each command that names keys."""

READ_ONLY: Final = frozenset(kind for kind, row in DESCRIPTORS.items() if row.is_read_only)
"""The commands that never have an effect."""

GROWING: Final = frozenset(kind for kind, row in DESCRIPTORS.items() if row.grows)
"""The commands that the server refuses at the memory limit."""


def _forms(row: Row) -> Sequence[tuple[Syntax, Access]]:
    """Return the forms of a command in Redis's words, each with the scope that it needs."""
    return [(each, row.access) for each in row.redis] if isinstance(row, Descriptor) else [(row, "read")]


_FORMS: Final = [form for row in ROWS for form in _forms(row)]

SYNTAXES: Final[Mapping[str, Syntax]] = {syntax.name: syntax for syntax, _ in _FORMS}
"""The commands of Redis, by name."""

ACCESS: Final[Mapping[str, Access]] = {syntax.name: access for syntax, access in _FORMS}
"""The scope that each command of Redis needs, by name."""


def keys_of(command: Command) -> Sequence[bytes]:
    """Every key that `command` names. O(keys)."""
    found = KEYS_OF.get(type(command))
    return () if found is None else found(command)
