"""NDJSON: decodes the lines of an import, as objects of fields or as whole entries, and writes exports
page by page.

A large import is unpacked in a thread and decoded in slices, so that the event loop can serve other
requests. It owns how many large bodies are read at a time, and how long one may block the event loop.
`api.wire.compression` unpacks bodies.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import msgspec
from pydantic import TypeAdapter
from starlette.requests import Request

from tailrace.api.http.disconnect import while_connected
from tailrace.api.ports import StreamStore
from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.appends import EntryToAppend
from tailrace.api.wire.appends import (
    LINE_BYTES_MAX,
    UNREADABLE,
    NewEntries,
    RawEntry,
    entry_too_long,
    fragment_of,
    ids_or_none,
    new_entries,
    require_count,
)
from tailrace.api.wire.bodies import (
    EXPLAINED_BYTES_MAX,
    count_elements,
    mismatch,
    parse_body,
    parse_value,
    require_few_elements,
    too_many_elements,
)
from tailrace.api.wire.compression import Unpacking, encoding_of
from tailrace.api.wire.filtering import EntryFilter, ScanTurns
from tailrace.api.wire.members import keeps_members, repeated_member
from tailrace.api.wire.turns import off_the_loop
from tailrace.core.commands import IdRequest, Range
from tailrace.core.errors import ErrorCode
from tailrace.core.limits import (
    BATCH_ENTRIES_MAX,
    BODY_LINES_MAX,
    BULK_ELEMENTS_MAX,
    FILTER_STEP_BYTES,
    KIB,
    LARGE_IMPORTS_MAX,
    MIB,
)
from tailrace.core.log.entry import BadEntry
from tailrace.core.log.entry_json import FieldChoice, Shape, wire_lines, wire_ndjson
from tailrace.core.log.entry_lines import fragments_from_ndjson
from tailrace.core.one_line import one_line
from tailrace.core.replies import Entries, RangeReply

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


LARGE_BYTES: Final = MIB
"""A body up to this size is decoded at once, in about 10 ms."""

SLICE_BYTES: Final = 256 * KIB
"""How many bytes of a larger body are decoded before other requests are served."""

COUNTED_BYTES: Final = 8 * MIB
"""How many bytes of a body are searched for one byte value before other requests are served."""

INLINE_STEPS: Final = 128
INLINE_BYTES: Final = MIB
"""How much of a compressed body is unpacked on the event loop, in steps and in bytes. Larger bodies continue
in a thread."""


class Imports:
    """Reads the import bodies of one server.

    At most `LARGE_IMPORTS_MAX` large bodies are read at a time, which limits the threads and the unpacked
    bytes in memory.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(LARGE_IMPORTS_MAX)

    async def read(self, request: Request, shape: LineShape) -> NewEntries:
        """Receive the request's body and return its entries.

        Raises `RequestRefused`: 400, 413, 415 or 422; and `ClientDisconnect` if the client disconnects while
        a large body is decoded, which ends the work.
        """
        raw = await request.body()
        encoding = encoding_of(request.headers.getlist("content-encoding"))
        if encoding is None:
            if len(raw) <= LARGE_BYTES:
                return decode_lines(raw, shape)
            return await while_connected(request.scope, request.receive, self._read_large(raw, shape))
        unpacking = Unpacking(raw, encoding)
        unpacking.run(steps=INLINE_STEPS, bytes_max=INLINE_BYTES)
        if unpacking.is_done and len(unpacking.unpacked) <= LARGE_BYTES:
            return decode_lines(bytes(unpacking.unpacked), shape)
        return await while_connected(request.scope, request.receive, self._unpack_large(unpacking, shape))

    async def _read_large(self, raw: bytes, shape: LineShape) -> NewEntries:
        async with self._room:
            return await decode_in_slices(raw, shape)

    async def _unpack_large(self, unpacking: Unpacking, shape: LineShape) -> NewEntries:
        async with self._room:
            await _finish(unpacking)
            return await decode_in_slices(unpacking.unpacked, shape)


async def _finish(unpacking: Unpacking) -> None:
    """Unpack the rest in a thread. If cancelled, wait for the end of the thread before returning."""
    work = asyncio.ensure_future(asyncio.to_thread(unpacking.run))
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        unpacking.is_abandoned = True
        with suppress(Exception):
            await work
        raise


async def _count(raw: bytes | bytearray, byte: bytes) -> int:
    """Count `byte` in the body; other requests are served after every `COUNTED_BYTES`."""
    count = 0
    for begin in range(0, len(raw), COUNTED_BYTES):
        count += raw.count(byte, begin, begin + COUNTED_BYTES)
        await asyncio.sleep(0)
    return count


async def decode_in_slices(raw: bytes | bytearray, shape: LineShape) -> NewEntries:
    """Decode a body as `decode_lines` does, and let other requests run after each slice. O(bytes)."""
    if await _count(raw, b"\n") > BODY_LINES_MAX:
        raise too_many_lines()
    # Counting takes longer than decoding, so only bodies that can have too many are counted.
    uncounted = BULK_ELEMENTS_MAX if await _count(raw, b",") >= BULK_ELEMENTS_MAX else None
    fragments: list[bytes] = []
    ids: list[IdRequest] = []
    begin, line = 0, 1
    while begin < len(raw):
        end = raw.find(b"\n", begin + SLICE_BYTES) + 1 or len(raw)
        if end - begin > SLICE_BYTES + LINE_BYTES_MAX:
            number = line + raw.count(b"\n", begin, begin + SLICE_BYTES)
            raise entry_too_long(f"line {number}")
        part = bytes(memoryview(raw)[begin:end])
        if uncounted is not None:
            uncounted -= count_elements(part, uncounted)
            if not uncounted:
                raise too_many_elements(BULK_ELEMENTS_MAX)
        new = await off_the_loop(len(part) - SLICE_BYTES, partial(decode_some_lines, part, shape, line))
        fragments += new.fragments
        ids += new.ids or [None] * len(new.fragments)
        if len(fragments) > BATCH_ENTRIES_MAX:
            break
        begin, line = end, line + part.count(b"\n")
        await asyncio.sleep(0)
    require_count(len(fragments))
    return NewEntries(fragments, ids_or_none(ids))


EXPORT_PAGE_ENTRIES: Final = 10_000
EXPORT_PAGE_BYTES: Final = MIB
"""The size of one page of an export, in entries and bytes: large enough that the cost of each page is small,
and small enough to send at once."""


class LineForm(NamedTuple):
    """How an export writes an entry. `fields_only`: without its id, as an import reads it. `choice`: the
    fields to write; None for all of them."""

    shape: Shape
    fields_only: bool = False
    choice: FieldChoice | None = None

    def lines(self, entries: Entries) -> bytes:
        """Return the lines of `entries`, at least one."""
        if self.choice is not None:
            stored = [each for each in entries.fragments if each is not None]
            entries = Entries(entries.ids, self.choice.of(stored))
        written = _fields_lines if self.fields_only else wire_ndjson
        return one_line(written(entries, self.shape))


def export_page(query: Range, wanted: EntryFilter | None = None) -> Range:
    """Return `query` limited to one page of an export; to one step of a scan if it has a filter."""
    return Range(
        *(query.key, query.start, query.end),
        count=EXPORT_PAGE_ENTRIES if wanted is None else wanted.filter.step_entries,
        max_bytes=EXPORT_PAGE_BYTES if wanted is None else FILTER_STEP_BYTES,
        with_incarnation=True,
    )


async def exported(
    store: StreamStore,
    query: Range,
    first: RangeReply,
    form: LineForm,
    turns: ScanTurns,
    wanted: EntryFilter | None = None,
) -> AsyncIterator[bytes]:
    """Yield the lines of all pages, starting with `first`. Only one page is in memory at a time. With
    `wanted`, yield only the entries that match.

    The exports of a server take turns, a page each, so that other requests are served between the pages. If
    the stream is deleted, the export ends, also if another stream is created under its key.
    """
    page = first
    while page.entries.ids and page.incarnation == first.incarnation:
        entries = page.entries if wanted is None else await wanted.of(page.entries)
        if entries.ids:
            yield form.lines(entries)
        if not page.more:
            return
        await turns.take(EXPORT_PAGE_ENTRIES)
        reply = await store.execute(
            export_page(Range(query.key, start=page.entries.ids[-1] + 1, end=query.end), wanted)
        )
        assert isinstance(reply, RangeReply)
        page = reply


def _fields_lines(entries: Entries, shape: Shape) -> bytes:
    """Return the fields without ids, one object a line, as an import reads them.

    If a name repeats or bytes are not UTF-8, the line is the whole entry, so that nothing is lost. Readers
    can distinguish the two, because a value of a field is never an object.
    """
    whole = wire_lines(entries, shape)
    lines = [
        fragment if fragment is not None and fragment[:1] == b"{" else line
        for fragment, line in zip(entries.fragments, whole, strict=True)
    ]
    return b"\n".join(lines) + b"\n"
