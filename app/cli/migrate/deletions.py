"""Deletes from the target what the source does not have: placeholders, trimmed entries, deleted entries.

Entries below the source's first one are removed by a trim, which leaves the max deleted id as it is; the
others by XDEL, as in the source. It never deletes an entry that the source has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

from tailrace.app.cli.migrate.entries import entries
from tailrace.app.cli.migrate.facts import StreamFacts
from tailrace.app.cli.migrate.oversized import excess
from tailrace.app.cli.migrate.port import Place, Words, number, one
from tailrace.core.stream_id import StreamId, format_id

IDS_PER_COMMAND: Final = 1_000


def delete_surplus(
    source: Place,
    target: Place,
    key: bytes,
    facts: StreamFacts,
    placeholders: Sequence[StreamId],
    *,
    complete: bool,
) -> None:
    """Delete trimmed entries and placeholders. `complete`: and all others that the source has not.

    `complete` reads both streams if their lengths differ, so it is for a source that does not change.
    """
    one(target, *_trim(key, facts))
    kept = [value for value in placeholders if facts.first_id is not None and value >= facts.first_id]
    _delete(target, key, kept)
    if complete and number(one(target, b"XLEN", key)) != facts.length:
        _delete(target, key, list(_surplus(source, target, key)))


def _trim(key: bytes, facts: StreamFacts) -> Words:
    if facts.first_id is None:
        return (b"XTRIM", key, b"MAXLEN", b"=", b"0")
    return (b"XTRIM", key, b"MINID", b"=", format_id(facts.first_id).encode())


def _surplus(source: Place, target: Place, key: bytes) -> Iterator[StreamId]:
    """Return the ids of entries of the target that the source has not, or that the target cannot hold: these
    are placeholders. Both are read completely."""
    with closing(entries(source, key)) as wanted, closing(entries(target, key)) as present:
        held = (each for each in wanted if not (target.abilities.bounds_entries and excess(each)))
        expected = next(held, None)
        for entry in present:
            while expected is not None and expected.id < entry.id:
                expected = next(held, None)
            if expected is None or expected.id != entry.id:
                yield entry.id


def _delete(target: Place, key: bytes, ids: Sequence[StreamId]) -> None:
    for start in range(0, len(ids), IDS_PER_COMMAND):
        some = ids[start : start + IDS_PER_COMMAND]
        one(target, b"XDEL", key, *(format_id(value).encode() for value in some))
