"""Reads appends of fields without options from JSON frames: the appends of an array, or of a frame each.

Many of them take one decoding and one proof that their fields are entries. It never reads an append that has
options or is invalid: `json_codec` does, with the errors that the client gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Literal

import msgspec

from tailrace.api.problems.table import RequestRefused
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.websocket.codecs import AppendRun, PlainAppend
from tailrace.api.websocket_limits import FRAME_BYTES_MAX, JOINED_FRAME_BYTES_MAX, TURN_REQUESTS_MAX
from tailrace.api.wire.appends import UNREADABLE
from tailrace.api.wire.bodies import require_few_elements
from tailrace.api.wire.members import keeps_members
from tailrace.api.wire.names import name_from_body
from tailrace.core.limits import BULK_ELEMENTS_MAX
from tailrace.core.log.entry import BadEntry
from tailrace.core.log.entry_lines import fragments_from_ndjson

_ID_TYPES: Final = frozenset({int, str})
_I64_MIN: Final = -I64_MAX - 1


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An append of fields without options."""

    id: Any
    op: Literal["append"]
    key: str
    fields: msgspec.Raw


_decode_row: Final = msgspec.json.Decoder(_Row).decode
_decode_rows: Final = msgspec.json.Decoder(list[_Row]).decode


def append_runs(data: str | bytes) -> list[AppendRun] | None:
    """Return the requests of a frame, if it is an array of valid appends. Else return None. O(bytes)."""
    if not isinstance(data, str) or not data.startswith("["):
        return None
    raw = data.encode()
    if len(raw) > FRAME_BYTES_MAX:
        return None
    try:
        require_few_elements(raw, BULK_ELEMENTS_MAX)
        rows = _decode_rows(raw)
        if not keeps_members(raw, rows):
            return None
        fragments = _fragments_of([row.id for row in rows], [row.fields for row in rows])
        return None if fragments is None else list(_runs_of(rows, fragments))
    except (*UNREADABLE, BadEntry, RequestRefused):
        return None


def plain_append(data: str | bytes) -> PlainAppend | None:
    """Return the append of a small frame. Whether its fields are an entry is not known yet. O(bytes)."""
    if not isinstance(data, str) or len(data) > JOINED_FRAME_BYTES_MAX or '"append"' not in data:
        return None
    raw = data.encode()
    try:
        row = _decode_row(raw)
    except UNREADABLE:
        return None
    if not keeps_members(raw, row):
        return None
    return PlainAppend(raw, row.id, row.key, row.fields)


def run_of(appends: Sequence[PlainAppend]) -> AppendRun | None:
    """Return appends to one stream as a run, None if one of them is invalid. O(bytes)."""
    request_ids = [append.request_id for append in appends]
    try:
        key = name_from_body(appends[0].key, None, "key")
        fragments = _fragments_of(request_ids, [append.fields for append in appends])
        return None if fragments is None else AppendRun(key, request_ids, fragments)
    except (*UNREADABLE, BadEntry, RequestRefused):
        return None


def _are_usable(request_ids: Sequence[Any]) -> bool:
    """Return whether all ids are strings or integers that every encoder can write."""
    if not _ID_TYPES.issuperset(map(type, request_ids)):
        return False
    numbers = [value for value in request_ids if type(value) is int]
    return not numbers or (min(numbers) >= _I64_MIN and max(numbers) <= I64_MAX)


def _fragments_of(
    request_ids: Sequence[Any], fields: Sequence[bytes | msgspec.Raw]
) -> Sequence[bytes] | None:
    """Return the entries of appends, None if an id cannot be used. Raises `BadEntry`."""
    fragments = fragments_from_ndjson(b"\n".join(fields))
    return fragments if len(fragments) == len(fields) and _are_usable(request_ids) else None


def _runs_of(rows: Sequence[_Row], fragments: Sequence[bytes]) -> Iterator[AppendRun]:
    """Yield the appends in runs to one stream, of at most one turn each. Raises `RequestRefused`."""
    start = 0
    for text, some in groupby(row.key for row in rows):
        key, stop = name_from_body(text, None, "key"), start + len(list(some))
        for first in range(start, stop, TURN_REQUESTS_MAX):
            part = slice(first, min(first + TURN_REQUESTS_MAX, stop))
            yield AppendRun(key, [row.id for row in rows[part]], fragments[part])
        start = stop
