"""XGROUP HELP, XINFO HELP and CONFIG HELP: replies that need no engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tailrace.core.grammar.request import Parsed, Resp, SimpleString, literal
from tailrace.core.grammar.words import Words

_TEXTS: Final[dict[str, Sequence[tuple[str, str]]]] = {
    "xgroup": (
        ("CREATE <key> <group> <id|$> [MKSTREAM] [ENTRIESREAD <n>]", "Add a group that reads after <id>."),
        ("SETID <key> <group> <id|$> [ENTRIESREAD <n>]", "Move a group: its next entry is after <id>."),
        ("DESTROY <key> <group>", "Remove a group with its consumers and pending entries."),
        ("CREATECONSUMER <key> <group> <consumer>", "Add a consumer without pending entries."),
        ("DELCONSUMER <key> <group> <consumer>", "Remove a consumer with its pending entries."),
    ),
    "xinfo": (
        ("STREAM <key> [FULL [COUNT <n>]]", "Show a stream; FULL adds entries, groups and consumers."),
        ("GROUPS <key>", "Show the groups of a stream."),
        ("CONSUMERS <key> <group>", "Show the consumers of a group."),
    ),
    "config": (
        ("GET <pattern> [<pattern> ...]", "Show the settings whose names match."),
        ("SET <name> <value> [<name> <value> ...]", "Change settings, all or none."),
    ),
}


def parse_help(words: Words) -> Parsed:
    """``XGROUP HELP``, ``XINFO HELP`` or ``CONFIG HELP``."""
    container = words.name.partition("|")[0]
    return literal(_lines(container))


def _lines(container: str) -> list[Resp]:
    subcommands = (*_TEXTS[container], ("HELP", "Print this text."))
    heading = f"{container.upper()} has these subcommands:"
    described = (line for usage, meaning in subcommands for line in (usage, f"    {meaning}"))
    return [SimpleString(line) for line in (heading, *described)]
