"""Helpers for the tests of the grammar: parse a line, and read the error of a line. It contains no tests."""

from __future__ import annotations

import shlex
from typing import TypeVar

import pytest

from tailrace.core import command_table
from tailrace.core.commands import Command, Malformed
from tailrace.core.errors import StreamError
from tailrace.core.grammar import Request
from tailrace.core.log.entry import fragment_from_flat
from tailrace.core.parser import parse_request
from tailrace.core.replies import Entries
from tailrace.core.stream_id import StreamId, make_id, parse_id

C = TypeVar("C", bound=Command)


def request(line: str) -> Request:
    """Return the request that a line contains; words are quoted as in a shell."""
    return parse_request([word.encode() for word in shlex.split(line)])


def command(line: str, kind: type[C]) -> C:
    """Return the command that a line contains, which must be of type `kind`."""
    parsed = request(line).command
    assert isinstance(parsed, kind)
    return parsed


def keys_of(line: str) -> tuple[bytes, ...]:
    """Return the keys that the command of a line names."""
    parsed = request(line).command
    assert parsed is not None
    return tuple(command_table.keys_of(parsed))


def refused(*words: bytes) -> StreamError:
    """Return the error of words that must not parse."""
    with pytest.raises(StreamError) as caught:
        parse_request(words)
    return caught.value


def refusal(line: str) -> str:
    """Return the error line of a line that must not parse."""
    return refused(*(word.encode() for word in shlex.split(line))).line


def late_refusal(argument: object) -> str:
    """Return the error line that an argument carries to the engine as `Malformed`."""
    assert isinstance(argument, Malformed)
    return argument.error.line


def at(text: str) -> StreamId:
    """Return an id as a number."""
    return parse_id(text.encode())


def entries(*ids: int, deleted: bool = False) -> Entries:
    """Return entries ``n-0`` with the one field ``f`` = ``n``, or deleted ones."""
    return Entries(
        [make_id(ms, 0) for ms in ids],
        [None if deleted else fragment_from_flat([b"f", b"%d" % ms]) for ms in ids],
    )
