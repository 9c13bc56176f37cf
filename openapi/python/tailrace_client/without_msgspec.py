"""JSON by the standard library: the same functions as `with_msgspec`, for an installation without the extra
`fast`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tailrace_client.entries import Entry, Slice, entry_of, slices_of_page
from tailrace_client.fields import Fields

_dumps: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(slots=True)
class _Delivery:
    id: str
    fields: Fields | None
    idle_ms: int
    deliveries: int


def encode_json(value: object) -> bytes:
    """Return the value as a JSON body. Raises `UnicodeEncodeError` for text that is not Unicode."""
    return _dumps(value).encode()


def encode_lines(values: Iterable[Any]) -> bytes:
    """Return the values as NDJSON. Raises `UnicodeEncodeError` for text that is not Unicode."""
    return "".join([f"{_dumps(value)}\n" for value in values]).encode()


def entries_of_lines(block: bytes) -> Iterable[Entry]:
    """Return the entries of complete lines, in order."""
    return (entry_of(json.loads(line)) for line in block.splitlines())


def slices_of(raw: bytes) -> list[Slice]:
    """Return the response to a group's read: one slice for each requested stream, in that order."""
    return slices_of_page(json.loads(raw), _Delivery)
