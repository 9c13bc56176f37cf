"""Entries on their way in: from the raw JSON of an append to the fragments that the engine stores.

It owns the decoding of append bodies, the hottest input of the server: the envelope is decoded with
msgspec, the fields go on as raw bytes, so that a repeated name is seen and nothing is parsed twice.
A body that is refused is read again with its pydantic model, only to say well what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar

import msgspec
from pydantic import BaseModel, TypeAdapter, ValidationError

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.appends import EntryToAppend, Trimming, XaddBatchBody, XaddBody
from tailrace.api.schemas.texts import mistakes
from tailrace.api.wire.bodies import (
    EXPLAINED_BYTES_MAX,
    explained,
    mismatch,
    parse_body,
    parse_value,
    pointer_of,
    require_few_elements,
)
from tailrace.api.wire.parameters import requested_id_of, trim_of
from tailrace.core.commands import IdRequest, Trim
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_ELEMENTS_MAX,
    BODY_LINES_MAX,
    BULK_ELEMENTS_MAX,
    ENTRY_BYTES_MAX,
)
from tailrace.core.log.entry import BadEntry, fragment_from_fields, fragment_from_pairs
from tailrace.core.log.entry_lines import fragments_from_ndjson

PLAIN_BYTES_MAX: Final = 65_536
"""Larger bodies gain nothing from being looked at twice."""

LINE_BYTES_MAX: Final = 2 * ENTRY_BYTES_MAX
"""The longest text of one entry that is decoded at all: with its escapes, twice the largest entry."""

_ABSENT: Final = (b"", b"null")
_PLAIN_BEGIN: Final = b'{"fields":'
_PLAIN_END: Final = b"}"
_PLAIN_SLICE: Final = slice(len(_PLAIN_BEGIN), -len(_PLAIN_END))

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for bytes that it cannot decode, or that nest too deeply."""


class RawEntry(msgspec.Struct, forbid_unknown_fields=True):
    """One entry to append, its fields still as they came. Documented as `EntryToAppend`."""

    fields: msgspec.Raw = msgspec.Raw()
    pairs: msgspec.Raw = msgspec.Raw()
    encoding: Literal["base64"] | None = None
    id: str | None = None


class RawXadd(RawEntry, forbid_unknown_fields=True):
    """The body of `xadd`. Documented as `XaddBody`."""

    trim: dict[str, Any] | None = None
    nomkstream: bool = False
    if_last_id: str | None = None


class RawBatch(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `xadd_batch`. Documented as `XaddBatchBody`."""

    entries: list[RawEntry]
    trim: dict[str, Any] | None = None
    if_last_id: str | None = None


class BatchOptions(Protocol):
    """What a batch asks for beside its entries."""

    trim: dict[str, Any] | None
    if_last_id: str | None


class NewEntries(NamedTuple):
    """Entries to append: `ids` None stands for all chosen by the engine."""

    fragments: list[bytes]
    ids: list[IdRequest] | None


_decode_xadd: Final = msgspec.json.Decoder(RawXadd).decode
_decode_batch: Final = msgspec.json.Decoder(RawBatch).decode
_decode_lines: Final = msgspec.json.Decoder(RawEntry).decode_lines
_FIELDS: Final = TypeAdapter(dict[str, str])

_WHOLE_ENTRY: Final = frozenset({"/fields", "/pairs"})
"""Members that no line of fields has with a value that is no string, unless it is an entry."""

T = TypeVar("T")


def decode_xadd(raw: bytes) -> tuple[RawXadd, NewEntries]:
    """The body of `xadd` and its one entry. Raises `RequestRefused`: 400, 413 or 422."""
    if len(raw) > LINE_BYTES_MAX:
        raise entry_too_long("the body")
    require_few_elements(raw, BODY_ELEMENTS_MAX)
    try:
        body = _decode_xadd(raw)
        return body, _new_entries((body,))
    except (*UNREADABLE, BadEntry) as error:
        raise refusal_of(raw, XaddBody, error) from None


def plain_fragment(raw: bytes) -> bytes | None:
    """The fragment of the one entry in a body that is ``{"fields":{...}}`` and nothing more, as most are:
    its envelope is not decoded, which is half of the work. None of any other, and of what is wrong."""
    if len(raw) > PLAIN_BYTES_MAX or not raw.startswith(_PLAIN_BEGIN) or not raw.endswith(_PLAIN_END):
        return None
    try:
        return fragment_from_fields(raw[_PLAIN_SLICE])
    except (BadEntry, RecursionError):
        return None


def decode_batch(raw: bytes) -> tuple[RawBatch, NewEntries]:
    """The body of `xadd_batch` and its entries. Raises `RequestRefused`: 400, 413 or 422."""
    require_few_elements(raw, BULK_ELEMENTS_MAX)
    try:
        body = _decode_batch(raw)
        require_count(len(body.entries))
        return body, _new_entries(body.entries)
    except (*UNREADABLE, BadEntry) as error:
        raise refusal_of(raw, XaddBatchBody, error) from None


class LineShape(NamedTuple):
    """What a line of an NDJSON body holds. `check` raises the best that can be said of a wrong line."""

    entries_of: Callable[[bytes], NewEntries]
    check: Callable[[bytes], object]


def decode_lines(raw: bytes, shape: LineShape) -> NewEntries:
    """The entries of an NDJSON body. Raises `RequestRefused`: 400, 413 or 422."""
    if raw.count(b"\n") > BODY_LINES_MAX:
        raise too_many_lines()
    require_few_elements(raw, BULK_ELEMENTS_MAX)
    new = decode_some_lines(raw, shape)
    require_count(len(new.fragments))
    return new


def decode_some_lines(raw: bytes, shape: LineShape, first_line: int = 1) -> NewEntries:
    """The entries of some lines of a body, perhaps none. `first_line`: the number of the first of them."""
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
    return _new_entries(rows)


def trimming_of(raw: dict[str, Any] | None) -> Trim | None:
    """The trimming rule of a decoded append body. Raises `RequestRefused` 422."""
    if raw is None:
        return None
    try:
        return trim_of(Trimming.model_validate(raw))
    except ValidationError as error:
        found = mistakes(error.errors(include_url=False), Trimming)
        raise mismatch([(pointer_of(("trim", *place)), text) for place, text in found]) from None


def fragment_of(entry: RawEntry) -> bytes:
    """The fragment of one entry. Raises `BadEntry`."""
    fields, pairs = bytes(entry.fields), bytes(entry.pairs)
    if (fields in _ABSENT) == (pairs in _ABSENT):
        raise BadEntry("exactly one of `fields` and `pairs` is needed")
    if fields not in _ABSENT:
        return fragment_from_fields(fields, base64=entry.encoding is not None)
    return fragment_from_pairs(pairs, base64=entry.encoding is not None)


def _new_entries(entries: Sequence[RawEntry]) -> NewEntries:
    fragments = [fragment_of(entry) for entry in entries]
    return NewEntries(fragments, ids_or_none([requested_id_of(entry.id) for entry in entries]))


def ids_or_none(ids: list[IdRequest]) -> list[IdRequest] | None:
    """The ids as `NewEntries` has them: None where the engine chooses all."""
    return None if all(value is None for value in ids) else ids


def too_many_lines() -> RequestRefused:
    """What to raise for a body of more lines than are allowed, before anything is decoded."""
    return RequestRefused(ErrorCode.LIMIT_EXCEEDED, f"the body has more than {BODY_LINES_MAX} lines")


def entry_too_long(what: str) -> RequestRefused:
    """What to raise for the text of one entry that is longer than is ever decoded."""
    return RequestRefused(
        ErrorCode.ENTRY_TOO_LARGE,
        f"{what} is longer than {LINE_BYTES_MAX} bytes; an entry may take {ENTRY_BYTES_MAX} bytes at most",
    )


def require_count(count: int) -> None:
    """Raises `RequestRefused` where so many entries may not be appended at once."""
    if count == 0:
        raise mismatch([("", "at least one entry is required")])
    if count > BATCH_ENTRIES_MAX:
        raise RequestRefused(
            ErrorCode.LIMIT_EXCEEDED, f"the body has {count} entries; {BATCH_ENTRIES_MAX} are allowed at once"
        )


# --- what was wrong --------------------------------------------------------------------------------


def refusal_of(raw: bytes, model: type[BaseModel], error: Exception) -> RequestRefused:
    """The best that can be said of a body that msgspec or the entry reader refused."""
    if isinstance(error, BadEntry) and error.too_large:
        return RequestRefused(ErrorCode.ENTRY_TOO_LARGE, str(error))
    return explained(raw, model, error)


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
    if refusal.code is not HttpCode.MALFORMED_BODY or not refusal.errors:
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
            detail = "it looks like a whole entry; send the fields alone, or add `?shape=entry`"
            raise mismatch([("", detail)]) from None
        raise


def _check_entry_line(line: bytes) -> None:
    parse_body(line, EntryToAppend)
    try:
        fragment_of(msgspec.json.decode(line, type=RawEntry))
    except (*UNREADABLE, BadEntry) as error:
        raise mismatch([("", str(error))]) from None


FIELDS_LINES: Final = LineShape(_entries_of_fields, _check_fields_line)
"""An object of fields on each line. O(bytes), no work a line."""

ENTRY_LINES: Final = LineShape(_entries_of_whole, _check_entry_line)
"""A whole entry on each line."""
