"""Reads the entries of a range page by page, and groups entries into batches, both bounded in bytes.

A page starts small and grows as long as its bytes allow, so entries of 16 MiB and of 16 bytes both work.
Entries that exceed the limits of an entry in Tailrace are found and left out. The limits are those of
`core.log.entry`, where the server checks the same entry. No fact of a stream shows the size of its largest
entry, so finding them takes a read of the stream."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Final, TypeVar

from tailrace.app.cli.migrate.port import (
    CannotMigrate,
    Entry,
    Place,
    TooLarge,
    Words,
    accepted,
    entries_of,
    text,
)
from tailrace.core.limits import ENTRY_BYTES_MAX, FIELDS_PER_ENTRY_MAX
from tailrace.core.log.entry import BadEntry, fragment_from_flat
from tailrace.core.stream_id import MAX_ID, StreamId, format_id

PAGE_ENTRIES_FIRST: Final = 100
PAGE_ENTRIES_MAX: Final = 5_000
PAGE_BYTES: Final = 4 * 1024 * 1024
"""The size that a page should have."""

BATCH_ENTRIES_MAX: Final = 1_000
BATCH_BYTES_MAX: Final = 1024 * 1024
"""A batch ends at either. One transaction of this size holds Redis for about 2 ms."""

PLACEHOLDER: Final = (b"deleted", b"1")
"""The fields of a placeholder; it exists until its pending entry exists."""

ItemT = TypeVar("ItemT")


def size_of(entry: Entry) -> int:
    """Return the bytes of names and values."""
    return sum(map(len, entry.fields))


def pages(place: Place, key: bytes, after: StreamId, last: StreamId = MAX_ID) -> Iterator[list[Entry]]:
    """Yield the entries above `after` up to `last`, in pages, none of which is empty."""
    count = PAGE_ENTRIES_FIRST
    while after < last:
        words: Words = (b"XRANGE", key, _id(after + 1), _id(last), b"COUNT", b"%d" % count)
        try:
            page = entries_of(accepted(place.run([words], key)[0], words))
        except TooLarge:
            if count == 1:
                raise CannotMigrate(
                    f"an entry of {text(key)} after {format_id(after)} is too large to read"
                ) from None
            count = max(count // 8, 1)
            continue
        if page:
            yield page
            after = page[-1].id
        if len(page) < count:
            return
        per_entry = max(sum(map(size_of, page)) // len(page), 1)
        count = max(1, min(4 * count, PAGE_ENTRIES_MAX, PAGE_BYTES // per_entry))


def entries(place: Place, key: bytes) -> Generator[Entry, None, None]:
    """Yield all entries of a stream. The next page is read while the caller works on one. Close the
    generator."""
    with closing(read_ahead(pages(place, key, 0))) as ahead:
        for page in ahead:
            yield from page


def with_placeholders(
    found: Iterable[list[Entry]], pending_ids: list[StreamId], after: StreamId, last: StreamId
) -> Iterator[tuple[list[Entry], list[StreamId]]]:
    """Yield each page with placeholders for the ids in `pending_ids` (rising) that have no entry, and their
    ids.

    Only ids above `after` up to `last` count.
    """
    ids = [value for value in pending_ids if after < value <= last]
    at = 0
    for page in found:
        end = at
        while end < len(ids) and ids[end] <= page[-1].id:
            end += 1
        yield _merged(page, ids[at:end])
        at = end
    if at < len(ids):
        yield [Entry(value, PLACEHOLDER) for value in ids[at:]], ids[at:]


def _merged(page: list[Entry], ids: list[StreamId]) -> tuple[list[Entry], list[StreamId]]:
    present = {entry.id for entry in page} if ids else set()
    absent = [value for value in ids if value not in present]
    if not absent:
        return page, absent
    return sorted([*page, *(Entry(value, PLACEHOLDER) for value in absent)]), absent


def batches(page: list[Entry]) -> Iterator[list[Entry]]:
    """Yield the entries of a page in batches."""
    batch: list[Entry] = []
    size = 0
    for entry in page:
        if batch and (len(batch) >= BATCH_ENTRIES_MAX or size >= BATCH_BYTES_MAX):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += size_of(entry)
    if batch:
        yield batch


def read_ahead(source: Iterator[ItemT]) -> Generator[ItemT, None, None]:
    """Yield the items of `source`. A thread takes the next one while the caller works on one.

    Close the generator: until then the thread may use `source`.
    """
    with ThreadPoolExecutor(1) as reader:
        taken = reader.submit(next, source, None)
        while (item := taken.result()) is not None:
            taken = reader.submit(next, source, None)
            yield item


def _id(value: StreamId) -> bytes:
    return format_id(value).encode()


# --- entries that are too large -----------------------------------------------------------------


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
