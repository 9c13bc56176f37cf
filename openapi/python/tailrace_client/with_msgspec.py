"""JSON by msgspec: it reads and writes whole bodies in C, without Python code for each entry.

The types describe almost every entry. If a body contains an entry in another form (pairs, base64, deleted),
it is read again without types, entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tailrace_client.entries import Entry, Slice, entry_of, slices_of_page
from tailrace_client.fields import Fields


class _Entry(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    id: str
    fields: dict[str, str]


class _PlainDelivery(msgspec.Struct, gc=False):
    id: str
    fields: dict[str, str]
    idle_ms: int
    deliveries: int
    encoding: None = None


class _Delivery(msgspec.Struct):
    id: str
    fields: Fields | None
    idle_ms: int
    deliveries: int


class _Slice(msgspec.Struct):
    entries: list[_PlainDelivery]
    next: str


class _Page(msgspec.Struct):
    streams: list[_Slice]


encode_json: Final = msgspec.json.Encoder().encode
_encode_lines: Final = msgspec.json.Encoder().encode_lines
_decode_lines: Final = msgspec.json.Decoder(_Entry).decode_lines
_decode_page: Final = msgspec.json.Decoder(_Page).decode
_id_and_fields: Final = msgspec.structs.astuple


def encode_lines(values: Iterable[Any]) -> bytes:
    """Return the values as NDJSON. Raises `UnicodeEncodeError` for text that is not Unicode."""
    return _encode_lines(values)


def entries_of_lines(block: bytes) -> Iterable[Entry]:
    """Return the entries of complete lines, in order."""
    try:
        return map(_id_and_fields, _decode_lines(block))
    except msgspec.ValidationError:
        return [entry_of(value) for value in msgspec.json.Decoder().decode_lines(block)]


def slices_of(raw: bytes) -> list[Slice]:
    """Return the response to a group's read: one slice for each requested stream, in that order."""
    try:
        return [Slice([*part.entries], part.next) for part in _decode_page(raw).streams]
    except msgspec.ValidationError:
        return slices_of_page(msgspec.json.decode(raw), _Delivery)
