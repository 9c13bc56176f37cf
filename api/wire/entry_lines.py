"""Decodes NDJSON bodies: the lines of an import, as objects of fields or as whole entries.

`api.wire.imports` reads the body and splits a large one; `api.wire.appends` decodes single entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from pydantic import TypeAdapter

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.appends import EntryToAppend
from tailrace.api.wire.appends import (
    UNREADABLE,
    NewEntries,
    RawEntry,
    fragment_of,
    new_entries,
    require_count,
)
from tailrace.api.wire.bodies import (
    EXPLAINED_BYTES_MAX,
    mismatch,
    parse_body,
    parse_value,
    require_few_elements,
)
from tailrace.api.wire.members import keeps_members, repeated_member
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import BATCH_ENTRIES_MAX, BODY_LINES_MAX, BULK_ELEMENTS_MAX
from tailrace.core.log.entry import BadEntry
from tailrace.core.log.entry_lines import fragments_from_ndjson

_decode_lines: Final = msgspec.json.Decoder(RawEntry).decode_lines
_FIELDS: Final = TypeAdapter(dict[str, str])

_WHOLE_ENTRY: Final = frozenset({"/fields", "/pairs"})
"""If one of these members is not a string, the line is a whole entry rather than an object of fields."""


class LineShape(NamedTuple):
    """How to read the lines of an NDJSON body.

    `entries_of` decodes lines. `check` reads one wrong line again and raises `RequestRefused` with its
    mistake.
    """

    entries_of: Callable[[bytes], NewEntries]
    check: Callable[[bytes], object]


def decode_lines(raw: bytes, shape: LineShape) -> NewEntries:
    """Return the entries of an NDJSON body. Raises `RequestRefused`: 400, 413 or 422. O(bytes)."""
    if len(raw) > BODY_LINES_MAX and raw.count(b"\n") > BODY_LINES_MAX:
        raise too_many_lines()
    require_few_elements(raw, BULK_ELEMENTS_MAX)
    new = decode_some_lines(raw, shape)
    require_count(len(new.fragments))
    return new


def decode_some_lines(raw: bytes, shape: LineShape, first_line: int = 1) -> NewEntries:
    """Return the entries of some lines of a body; `first_line` is the number of the first of them, from 1."""
    try:
        return shape.entries_of(raw)
    except (*UNREADABLE, BadEntry) as error:
        raise _refused_line(raw, shape.check, error, first_line) from None


def _entries_of_fields(raw: bytes) -> NewEntries:
    return NewEntries(fragments_from_ndjson(raw), None)


def _entries_of_whole(raw: bytes) -> NewEntries:
    rows = _decode_lines(raw)
    if len(rows) > BATCH_ENTRIES_MAX:
        require_count(len(rows))
    new = new_entries(rows)
    if not keeps_members(raw, rows) and any(map(repeated_member, filter(bytes.strip, raw.split(b"\n")))):
        raise BadEntry("a line repeats a member")
    return new


def too_many_lines() -> RequestRefused:
    """Return the error for a body with too many lines."""
    return RequestRefused(
        ErrorCode.LIMIT_EXCEEDED, f"the body has too many lines; at most {BODY_LINES_MAX} are allowed"
    )


def _refused_line(
    raw: bytes, check: Callable[[bytes], object], error: Exception, first_line: int
) -> RequestRefused:
    if isinstance(error, BadEntry) and error.too_large:
        return RequestRefused(ErrorCode.ENTRY_TOO_LARGE, str(error))
    for number, line in enumerate(raw.split(b"\n"), first_line):
        try:
            if line.strip():
                _check_size(line)
                check(line)
        except RequestRefused as refusal:
            items = [{**item, "line": number} for item in refusal.errors]
            return RequestRefused(refusal.code, _line_detail(number, refusal), errors=items)
    return mismatch([("", str(error))])


def _line_detail(number: int, refusal: RequestRefused) -> str:
    if refusal.code is not HttpCode.MALFORMED_BODY or "column" not in (refusal.errors or ({},))[0]:
        return f"line {number}: {refusal.detail.removeprefix('the body: ')}"
    mistake = refusal.errors[0]
    return f"line {number} is not valid JSON at column {mistake['column']}: {mistake['detail']}"


def _check_size(line: bytes) -> None:
    if len(line) > EXPLAINED_BYTES_MAX:
        raise mismatch(
            [("", "this line or a later one is invalid; the input is too long to locate the error")]
        )


def _check_fields_line(line: bytes) -> None:
    try:
        parse_value(line, _FIELDS, dict[str, str])
    except RequestRefused as refusal:
        if any(item.get("pointer") in _WHOLE_ENTRY for item in refusal.errors):
            detail = "the line looks like a whole entry; send only the fields, or add `?shape=entry`"
            raise mismatch([("", detail)]) from None
        raise


def _check_entry_line(line: bytes) -> None:
    parse_body(line, EntryToAppend)
    try:
        fragment_of(msgspec.json.decode(line, type=RawEntry))
    except (*UNREADABLE, BadEntry) as error:
        raise mismatch([("", str(error))]) from None


FIELDS_LINES: Final = LineShape(_entries_of_fields, _check_fields_line)
"""Each line is an object of fields. O(bytes), without work for each line in Python."""

ENTRY_LINES: Final = LineShape(_entries_of_whole, _check_entry_line)
"""Each line is a whole entry."""
