"""Ids, entries and maps of RESP2 answers as values of `core.replies`."""

from __future__ import annotations

from collections.abc import Sequence

from tailrace.app.remote.functions.pending import visible_deliveries
from tailrace.app.remote.link.port import Resp
from tailrace.core.errors import ErrorCode, StreamError
from tailrace.core.log.entry import BadEntry, fragment_from_flat
from tailrace.core.replies import Entries
from tailrace.core.stream_id import SEQ_BITS, StreamId


def id_of(raw: Resp) -> StreamId:
    """Return the id that the engine wrote."""
    assert isinstance(raw, bytes)
    ms, _, seq = raw.partition(b"-")
    return int(ms) << SEQ_BITS | int(seq)


def ids_of(raws: Sequence[Resp]) -> list[StreamId]:
    """Return ids."""
    return [id_of(raw) for raw in raws]


def fragment_of(flat: Resp) -> bytes | None:
    """Return the stored form of an entry's fields; None for a deleted entry.

    Raises `StreamError` ENTRY_TOO_LARGE if another program stored an entry that exceeds the limits of
    Tailrace.
    """
    if flat is None:
        return None
    assert isinstance(flat, list)
    try:
        return fragment_from_flat(flat)  # type: ignore[arg-type] # fields are bytes
    except BadEntry as error:
        raise StreamError(ErrorCode.ENTRY_TOO_LARGE, f"ERR {error}") from None


def entries_of(rows: Sequence[Resp]) -> Entries:
    """Return entries as XRANGE and XREAD write them. O(bytes)."""
    ids, fragments = [], []
    idle_ms: list[int] = []
    deliveries: list[int] = []
    for row in rows:
        assert isinstance(row, list)
        value, fields, *delivery = row
        ids.append(id_of(value))  # type: ignore[arg-type] # entries have no errors
        fragments.append(fragment_of(fields))  # type: ignore[arg-type]
        if delivery:
            idle_ms.append(int_of(delivery[0]))  # type: ignore[arg-type]
            deliveries.append(visible_deliveries(int_of(delivery[1])))  # type: ignore[arg-type]
    if len(idle_ms) == len(ids) and ids:
        return Entries(ids, fragments, idle_ms, deliveries)
    return Entries(ids, fragments)


def int_of(raw: Resp) -> int:
    """Return an integer, which some answers write as text."""
    assert isinstance(raw, int | bytes)
    return int(raw)


def map_of(flat: Resp) -> dict[bytes, Resp]:
    """Return a map, which RESP2 writes as a flat list."""
    assert isinstance(flat, list)
    names = flat[0::2]
    return dict(zip(names, flat[1::2], strict=True))  # type: ignore[arg-type] # names are bytes
