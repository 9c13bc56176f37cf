"""XGROUP: creates, moves and deletes groups, and creates and deletes consumers.

CREATE and SETID read their options first, then look for the key and the group, then parse the id and check
the number of words. So the command carries an error of the last two checks in `after`.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.commands import (
    CreateConsumer,
    CreateGroup,
    DeleteConsumer,
    DestroyGroup,
    Malformed,
    SetGroupPosition,
    Special,
)
from tailrace.core.grammar.refusals import invalid_argument, subcommand_syntax
from tailrace.core.grammar.request import Parsed, as_count, as_ok
from tailrace.core.grammar.words import Words, deferred
from tailrace.core.stream_id import StreamId, parse_id, parse_position

_CREATE_OPTION_WORDS_MAX: Final = 3
_SETID_OPTION_WORDS: Final = (0, 2)
_UNKNOWN_ENTRIES_READ: Final = -1


def parse_create(words: Words) -> Parsed:
    """``XGROUP CREATE key group <id|$> [MKSTREAM] [ENTRIESREAD n]``."""
    key, group, position = words.take_key(), words.take_group(), words.take()
    fits = words.left <= _CREATE_OPTION_WORDS_MAX
    entries_read: int | None = None
    create_stream = False
    while words.left:
        if words.take_option(b"mkstream"):
            create_stream = True
        else:
            entries_read = _take_entries_read(words)
    after = _create_position(position) if fits else _too_many(words)
    command = CreateGroup(key, group, after, create_stream, entries_read)
    return command, as_ok


def parse_setid(words: Words) -> Parsed:
    """``XGROUP SETID key group <id|$> [ENTRIESREAD n]``; ``-`` and ``+`` are valid ids here (rule 2)."""
    key, group, position = words.take_key(), words.take_group(), words.take()
    fits = words.left in _SETID_OPTION_WORDS
    entries_read: int | None = None
    while words.left:
        entries_read = _take_entries_read(words)
    after = _setid_position(position) if fits else _too_many(words)
    return SetGroupPosition(key, group, after, entries_read), as_ok


def _take_entries_read(words: Words) -> int | None:
    """``ENTRIESREAD n``: None for -1, which means unknown (rule 56). Raises for any other word."""
    if not words.take_option(b"entriesread", 1):
        raise subcommand_syntax("xgroup", words.typed)
    value = words.take_integer()
    if value < _UNKNOWN_ENTRIES_READ:
        raise invalid_argument("value for ENTRIESREAD must be positive or -1")
    return None if value == _UNKNOWN_ENTRIES_READ else value


def _too_many(words: Words) -> Malformed:
    return Malformed(subcommand_syntax("xgroup", words.typed))


def _create_position(raw: bytes) -> StreamId | Special | Malformed:
    return Special.LAST_ID if raw == b"$" else deferred(lambda: parse_id(raw))


def _setid_position(raw: bytes) -> StreamId | Special | Malformed:
    return Special.LAST_ID if raw == b"$" else deferred(lambda: parse_position(raw))


def parse_destroy(words: Words) -> Parsed:
    """``XGROUP DESTROY key group``."""
    key, group = words.take_key(), words.take_group()
    return DestroyGroup(key, group), as_count


def parse_createconsumer(words: Words) -> Parsed:
    """``XGROUP CREATECONSUMER key group consumer``."""
    key, group, consumer = words.take_key(), words.take_group(), words.take_consumer()
    return CreateConsumer(key, group, consumer), as_count


def parse_delconsumer(words: Words) -> Parsed:
    """``XGROUP DELCONSUMER key group consumer``."""
    key, group, consumer = words.take_key(), words.take_group(), words.take_consumer()
    return DeleteConsumer(key, group, consumer), as_count
