"""The keyspace: DEL, EXISTS, TYPE, RENAME, COPY, DBSIZE, KEYS, SCAN, FLUSHDB and FLUSHALL.

Every key holds a stream. `core.command_table.keys` owns the access that these commands need.
"""

from __future__ import annotations

import re
from typing import Final

from tailrace.core.commands import (
    CopyKey,
    CountKeys,
    DeleteKeys,
    Flush,
    KeyspaceSize,
    MatchKeys,
    RenameKey,
    ScanKeys,
)
from tailrace.core.errors import syntax_error
from tailrace.core.grammar.refusals import invalid_argument
from tailrace.core.grammar.request import Parsed, Resp, SimpleString, as_count, as_ok
from tailrace.core.grammar.shapes import bulk_list
from tailrace.core.grammar.words import Words, check_key_count, checked_name
from tailrace.core.replies import KeyScan
from tailrace.core.stream_id import U64_MAX

_CURSOR: Final = re.compile(rb"([+-]?)([0-9]{1,20})|")
_INT_MAX: Final = (1 << 31) - 1
_STREAM: Final = SimpleString("stream")
_NONE: Final = SimpleString("none")


def _take_keys(words: Words) -> tuple[bytes, ...]:
    check_key_count(words.left)
    return tuple(checked_name(key, "key") for key in words.take_rest())


def parse_del(words: Words) -> Parsed:
    """``DEL key [key ...]``."""
    keys = _take_keys(words)
    return DeleteKeys(keys), as_count


def parse_exists(words: Words) -> Parsed:
    """``EXISTS key [key ...]``."""
    keys = _take_keys(words)
    return CountKeys(keys), as_count


def parse_type(words: Words) -> Parsed:
    """``TYPE key``."""
    key = words.take_key()
    return CountKeys((key,)), _type


def _type(count: int) -> Resp:
    return _STREAM if count else _NONE


def parse_rename(words: Words) -> Parsed:
    """``RENAME key newkey``."""
    key, new_key = words.take_key(), words.take_key()
    return RenameKey(key, new_key), as_ok


def parse_copy(words: Words) -> Parsed:
    """``COPY source destination [DB n] [REPLACE]``; there is one database, number 0."""
    key, new_key = words.take_key(), words.take_key()
    replace = False
    while words.left:
        if words.take_option(b"replace"):
            replace = True
        elif words.take_option(b"db", 1):
            _check_database(words.take_integer())
        else:
            raise syntax_error()
    return CopyKey(key, new_key, replace), as_count


def _check_database(number: int) -> None:
    if not -_INT_MAX - 1 <= number <= _INT_MAX:
        raise invalid_argument(f"value is out of range, value must between {-_INT_MAX - 1} and {_INT_MAX}")
    if number:
        raise invalid_argument("DB index is out of range")


def parse_dbsize(_words: Words) -> Parsed:
    """``DBSIZE``."""
    return KeyspaceSize(), as_count


def parse_keys(words: Words) -> Parsed:
    """``KEYS pattern``."""
    return MatchKeys(words.take_pattern()), bulk_list


def parse_flush(words: Words) -> Parsed:
    """``FLUSHDB [ASYNC|SYNC]`` and ``FLUSHALL [ASYNC|SYNC]``."""
    if words.left and not (words.take_option(b"sync") or words.take_option(b"async")):
        raise syntax_error()
    if words.left:
        raise syntax_error()
    return Flush(), as_ok


def parse_scan(words: Words) -> Parsed:
    """``SCAN cursor [MATCH pattern] [COUNT n] [TYPE type]``."""
    cursor = _take_cursor(words)
    count = 10
    pattern: bytes | None = None
    wanted = b"stream"
    while words.left:
        if words.take_option(b"match", 1):
            pattern = words.take_pattern()
        elif words.take_option(b"type", 1):
            wanted = words.take().lower()
        elif words.take_option(b"count", 1):
            count = words.take_integer()
            if count < 1:
                raise syntax_error()
        else:
            raise syntax_error()
    to_resp = _scanned if wanted == b"stream" else _scanned_nothing
    return ScanKeys(cursor, count, pattern), to_resp


def _take_cursor(words: Words) -> int:
    """Read the cursor as C's strtoul reads it: a negative number wraps around, and an empty word is 0."""
    match = _CURSOR.fullmatch(words.take())
    value = int(match[2] or 0) if match else U64_MAX + 1
    if match is None or value > U64_MAX:
        raise invalid_argument("invalid cursor")
    return -value & U64_MAX if match[1] == b"-" else value


def _scanned(scan: KeyScan) -> Resp:
    return [b"%d" % scan.cursor, bulk_list(scan.keys)]


def _scanned_nothing(scan: KeyScan) -> Resp:
    """Return the reply for a TYPE other than stream: no keys, and the next cursor."""
    return [b"%d" % scan.cursor, []]
