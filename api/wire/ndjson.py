"""NDJSON on its way out: an export, written page by page.

It owns the export's stream. `api.wire.imports` reads NDJSON.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from tailrace.api.ports import StreamStore
from tailrace.core.commands import Range
from tailrace.core.limits import MIB
from tailrace.core.log.entry_json import Shape, wire_lines, wire_ndjson
from tailrace.core.replies import Entries, RangeReply

EXPORT_PAGE_ENTRIES: Final = 10_000
EXPORT_PAGE_BYTES: Final = MIB
"""A page of an export: enough that the cost of a page does not show, little enough to send at once."""


def export_page(query: Range) -> Range:
    """`query` bounded to one page of an export."""
    return Range(query.key, query.start, query.end, count=EXPORT_PAGE_ENTRIES, max_bytes=EXPORT_PAGE_BYTES)


async def exported(
    store: StreamStore, query: Range, first: RangeReply, shape: Shape, *, fields_only: bool
) -> AsyncIterator[bytes]:
    """The lines of all pages, beginning with `first`. One page is held at a time. Other requests are served
    between the pages, however fast the client reads."""
    page = first
    while page.entries.ids:
        await asyncio.sleep(0)
        yield _fields_lines(page.entries, shape) if fields_only else wire_ndjson(page.entries, shape)
        if not page.more:
            return
        reply = await store.execute(
            export_page(Range(query.key, start=page.entries.ids[-1] + 1, end=query.end))
        )
        assert isinstance(reply, RangeReply)
        page = reply


def _fields_lines(entries: Entries, shape: Shape) -> bytes:
    """The fields alone, one object a line, as `import` takes them.

    An entry that has no such form (a name repeats, or bytes are not UTF-8) is written whole: nothing is
    lost, and the two cannot be mixed up, since the values of fields are never objects.
    """
    whole = wire_lines(entries, shape)
    lines = [
        fragment if fragment is not None and fragment[:1] == b"{" else line
        for fragment, line in zip(entries.fragments, whole, strict=True)
    ]
    return b"\n".join(lines) + b"\n"
