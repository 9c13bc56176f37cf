"""Entries that exceed the limits of an entry in Tailrace: finds them, and leaves them out.

The limits are those of `core.log.entry`, where the server checks the same entry. No fact of a stream shows
the size of its largest entry, so finding them takes a read of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from tailrace.app.cli.migrate.entries import pages, size_of
from tailrace.app.cli.migrate.port import CannotMigrate, Entry, Place, text
from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import BadEntry, fragment_from_flat
from tailrace.core.stream_id import StreamId, format_id

SHOWN_MAX: Final = 20
"""Entries of one stream that are named one by one."""

_JSON_PER_BYTE: Final = 6
"""JSON writes a control character as six characters."""


def excess(entry: Entry) -> str | None:
    """Return in words which limit an entry exceeds; None if it exceeds none. O(fields), rarely O(bytes)."""
    count = len(entry.fields)
    at_most = _JSON_PER_BYTE * (size_of(entry) + count)
    if count <= 2 * FIELDS_PER_ENTRY_MAX and at_most < ENTRY_BYTES_MAX:
        return None
    try:
        fragment_from_flat(entry.fields)
    except BadEntry as error:
        return str(error)
    return None


class Search:
    """A search for such entries in the stream `key`, above `after` up to `last`. Call it again to continue.

    `advance` is called with a number of entries and their bytes.
    """

    def __init__(
        self, source: Place, key: bytes, after: StreamId, last: StreamId, advance: Callable[[int, int], None]
    ) -> None:
        self._source = source
        self._key = key
        self._after = after
        self._last = last
        self._advance = advance
        self._found: list[tuple[StreamId, str]] = []

    def __call__(self) -> None:
        """Read to the end. Raises `PlaceDown` or `CannotMigrate`. O(bytes)."""
        for page in pages(self._source, self._key, self._after, self._last):
            self._found += [(entry.id, why) for entry in page if (why := excess(entry))]
            self._after = page[-1].id
            self._advance(len(page), sum(map(size_of, page)))

    def losses(self) -> Iterator[str]:
        """Yield a loss for each entry, of which the first are named; see `losses`."""
        for value, why in self._found[:SHOWN_MAX]:
            yield f"the entry {format_id(value)}: {why}"
        if len(self._found) > SHOWN_MAX:
            yield f"{len(self._found) - SHOWN_MAX} further entries that are too large"


def within_limits(pages: Iterable[list[Entry]], key: bytes, *, leaves_out: bool) -> Iterator[list[Entry]]:
    """Yield the pages without the entries that exceed a limit. Raises `CannotMigrate` at the first of them
    unless `leaves_out`."""
    for page in pages:
        kept = [entry for entry in page if not _is_left_out(entry, key, leaves_out=leaves_out)]
        if kept:
            yield kept


def _is_left_out(entry: Entry, key: bytes, *, leaves_out: bool) -> bool:
    why = excess(entry)
    if why is not None and not leaves_out:
        raise CannotMigrate(
            f"the target cannot hold the entry {format_id(entry.id)} of {text(key)}: {why}; "
            "--accept-losses leaves it out"
        )
    return why is not None
