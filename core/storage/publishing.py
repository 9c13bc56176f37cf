"""Makes a snapshot the checkpoint, in steps of one short transaction each.

A small snapshot is one part, which one step merges into the tables together with the new totals. A large one
is stored part by part (`core.storage.prepared`); then one short step puts the parts into effect, and the
remaining steps merge them, one at a time, and delete what the checkpoint no longer needs. Commits of the
journal run between two steps. After a crash, `merging` finishes what an earlier process began.

    step                        what a start finds after a crash that follows it
    part 1 ... part n stored    the old checkpoint and the whole journal; the parts are ignored
    the totals name n parts     the new checkpoint, as an overlay on the tables of the old one
    part 1 ... part n merged    the same
    the totals name no parts    the new checkpoint in the tables
    journal rows deleted        the same; a start ignores rows that the checkpoint covers

This module never decides when a step runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final

from tailrace.core.storage.damage import sealed
from tailrace.core.storage.draft import Snapshot
from tailrace.core.storage.journal import seq_bytes
from tailrace.core.storage.payloads import payload_context
from tailrace.core.storage.prepared import PART_BYTES, PART_ROWS, Part, read_part, with_parts, write_part
from tailrace.core.storage.schema import get_meta, note_parts, put_meta
from tailrace.core.storage.totals import decode_totals

ROWS_PER_STATEMENT: Final = 100
"""SQLite allows 32 766 values in a statement; more rows than this gain little."""


def put_rows(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[int | bytes, ...]]) -> None:
    """Insert or replace rows, many per statement: after each statement the thread has to wait for the
    interpreter lock, which the event loop also needs."""
    for start in range(0, len(rows), ROWS_PER_STATEMENT):
        some = rows[start : start + ROWS_PER_STATEMENT]
        row_places = f"({', '.join('?' * len(some[0]))})"
        places = ", ".join([row_places] * len(some))
        statement = f"INSERT OR REPLACE INTO {table} VALUES {places}"  # noqa: S608 - our own names
        connection.execute(statement, list(chain.from_iterable(some)))


def grouped_serials(connection: sqlite3.Connection) -> set[int]:
    """Return the serials of all stored streams that have groups.

    A seek in `groups` may compare its key with a row of many pending entries, and SQLite then reads all of
    that row: several milliseconds. So streams without groups must not seek there.
    """
    return {serial for (serial,) in connection.execute("SELECT serial FROM groups")}


def merge(connection: sqlite3.Connection, part: Part, grouped: set[int]) -> None:
    """Write `part` into the tables. `grouped`: as `grouped_serials` returned before the first part."""
    put_rows(connection, "streams", part.streams)
    had_groups = [(serial,) for serial, _ in part.streams if serial in grouped]
    connection.executemany("DELETE FROM groups WHERE serial = ?", had_groups)
    put_rows(connection, "groups", part.groups)
    for table in ("blocks", "payloads"):
        statement = f"DELETE FROM {table} WHERE serial = ? AND first_id = ?"  # noqa: S608 - our own names
        connection.executemany(statement, part.removed)
    put_rows(connection, "blocks", part.heads)
    for table in ("streams", "groups", "blocks", "payloads"):
        places = [(serial,) for serial in part.gone if table != "groups" or serial in grouped]
        connection.executemany(f"DELETE FROM {table} WHERE serial = ?", places)  # noqa: S608 - our own names


FORGOTTEN_ROWS: Final = 10_000
FORGOTTEN_BYTES: Final = 4 << 20
"""The covered journal rows that one transaction deletes: about 10 ms."""

_serial_of: Final = attrgetter("serial")


def publishing(connection: sqlite3.Connection, snapshot: Snapshot) -> Iterator[None]:
    """Make the snapshot the checkpoint. Each step is at most one transaction. Raises `sqlite3.Error`; a start
    then finds the old or the new checkpoint, complete."""
    parts = _parts(connection, snapshot)
    first, second = next(parts, None), next(parts, None)
    if second is None:
        _publish_at_once(connection, snapshot, first or Part())
        yield
    else:
        assert first is not None, "an iterator that ended yields nothing more"
        yield from _publish_in_parts(connection, snapshot, chain((first, second), parts))
    yield from _forget_covered(connection, snapshot.seq)


def _publish_at_once(connection: sqlite3.Connection, snapshot: Snapshot, part: Part) -> None:
    connection.execute("BEGIN IMMEDIATE")
    merge(connection, part, grouped_serials(connection))
    put_meta(connection, "checkpoint", snapshot.totals)
    connection.execute("COMMIT")


def _publish_in_parts(
    connection: sqlite3.Connection, snapshot: Snapshot, parts: Iterable[Part]
) -> Iterator[None]:
    count = 0
    for part in parts:
        count += 1
        connection.execute("BEGIN IMMEDIATE")
        write_part(connection, count, snapshot.seq, part)
        connection.execute("COMMIT")
        yield
    connection.execute("BEGIN IMMEDIATE")
    put_meta(connection, "checkpoint", with_parts(snapshot.totals, count))
    note_parts(connection, has_parts=True)
    connection.execute("COMMIT")
    yield
    yield from merging(connection)


def merging(connection: sqlite3.Connection) -> Iterator[None]:
    """Merge the parts that are in effect, if any, one in each step. Raises `Damage` and `sqlite3.Error`."""
    raw = get_meta(connection, "checkpoint")
    totals = None if raw is None else decode_totals(raw)
    if raw is None or totals is None or not totals.parts:
        return
    grouped = grouped_serials(connection)
    for number in range(1, totals.parts + 1):
        part = read_part(connection, number, totals.seq)
        connection.execute("BEGIN IMMEDIATE")
        merge(connection, part, grouped)
        connection.execute("COMMIT")
        yield
    connection.execute("BEGIN IMMEDIATE")
    put_meta(connection, "checkpoint", with_parts(raw, 0))
    note_parts(connection, has_parts=False)
    connection.execute("COMMIT")
    yield


def _forget_covered(connection: sqlite3.Connection, seq: int) -> Iterator[None]:
    """Delete the journal rows up to `seq` and the stored parts, some in each step."""
    while (last := _end_of_portion(connection, seq)) is not None:
        connection.execute("DELETE FROM journal WHERE seq <= ?", (last,))
        yield


def _end_of_portion(connection: sqlite3.Connection, seq: int) -> int | None:
    rows = connection.execute(
        "SELECT seq, length(body) FROM journal WHERE seq <= ? ORDER BY seq LIMIT ?", (seq, FORGOTTEN_ROWS)
    )
    last, size_bytes = None, 0
    for last, length in rows:  # noqa: B007 - the row that ends the portion
        size_bytes += length
        if size_bytes >= FORGOTTEN_BYTES:
            break
    return last


# --- parts ---------------------------------------------------------------------------------------------


def _parts(connection: sqlite3.Connection, snapshot: Snapshot) -> Iterator[Part]:
    """Divide the snapshot into parts of about `PART_ROWS` rows or `PART_BYTES` bytes, none of them empty."""
    part, row_count, size_bytes = Part(), 0, 0
    for place, row, size in _rows(connection, snapshot):
        if row_count >= PART_ROWS or size_bytes >= PART_BYTES:
            yield part
            part, row_count, size_bytes = Part(), 0, 0
        getattr(part, place).append(row)
        row_count += 1
        size_bytes += size
    if row_count:
        yield part


def _rows(connection: sqlite3.Connection, snapshot: Snapshot) -> Iterator[tuple[str, Any, int]]:
    """Yield each row of the snapshot: its place in a part, the row, and about how many bytes it writes.

    States are in the order of the tables: neighbours share a page, which is then written once.
    """
    for stream in sorted(snapshot.streams, key=_serial_of):
        state = sealed(stream.state, seq_bytes(stream.serial))
        yield "streams", (stream.serial, state), len(state)
        for name, body in sorted(stream.groups.items()):
            group = sealed(body, *payload_context(stream.serial, name))
            yield "groups", (stream.serial, name, group), len(group)
    for serial, first_id in snapshot.removed:
        yield "removed", (serial, first_id), len(first_id)
    for block in snapshot.blocks:
        head = sealed(block.head, *payload_context(block.serial, block.first_id))
        yield "heads", (block.serial, block.first_id, head), len(head)
    stored = {serial for (serial,) in connection.execute("SELECT serial FROM streams")}
    gone = sorted(stored - snapshot.serials)
    for serial in gone:
        for first_id in _first_ids(connection, serial):
            yield "removed", (serial, first_id), len(first_id)
        yield "gone", serial, 0


def _first_ids(connection: sqlite3.Connection, serial: int) -> Iterator[bytes]:
    """Yield the first id of each stored block of a stream; a part's worth of them is read at once."""
    after = b""
    statement = "SELECT first_id FROM blocks WHERE serial = ? AND first_id > ? ORDER BY first_id LIMIT ?"
    while rows := connection.execute(statement, (serial, after, PART_ROWS)).fetchall():
        yield from (first_id for (first_id,) in rows)
        [after] = rows[-1]
