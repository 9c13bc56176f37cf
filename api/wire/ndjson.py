"""Writes exports: the entries of a stream as NDJSON, page by page.

`api.wire.imports` reads NDJSON.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, NamedTuple

from tailrace.api.ports import StreamStore
from tailrace.api.wire.filtering import EntryFilter, ScanTurns
from tailrace.core.commands import Range
from tailrace.core.limits import FILTER_STEP_BYTES, MIB
from tailrace.core.log.entry_json import FieldChoice, Shape, wire_lines, wire_ndjson
from tailrace.core.one_line import one_line
from tailrace.core.replies import Entries, RangeReply

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
