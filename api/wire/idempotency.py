"""Reads idempotency keys from the headers of an append, and computes the fingerprint of its body.

The engine decides what a repeated key means. This module reads the four headers itself and describes them
below for the document: parameters declared with FastAPI would double the time of an append.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final, NamedTuple, TypeAlias

from tailrace.api.problems.table import HttpCode, RequestRefused
from tailrace.api.schemas.base import I64_MAX
from tailrace.api.schemas.texts import shown
from tailrace.core.commands import Idempotency
from tailrace.core.errors import ErrorCode
from tailrace.core.idempotency.compact_name import compact_name

FINGERPRINT_BYTES: Final = 16

_KEY: Final = "Idempotency-Key"
_PRODUCER: Final = "Producer-Id"
_EPOCH: Final = "Producer-Epoch"
_LAYOUT: Final = "Producer-Layout"

_NAMES: Final = {name.lower().encode(): name for name in (_KEY, _PRODUCER, _EPOCH, _LAYOUT)}
"""The names by their form in a parsed head."""

PRODUCER_HEADER_NAMES: Final = frozenset(_NAMES)
"""Names of the headers as a parsed head has them: lower case, as bytes."""

RawHeaders: TypeAlias = Iterable[tuple[bytes, bytes]]

_DECIMAL: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


class ProducerHeaders(NamedTuple):
    """The values of the four headers, checked."""

    producer: bytes
    key: bytes
    epoch: int | None
    layout: bytes | None

    def idempotency(self, body: bytes) -> Idempotency:
        """Return the values for the engine, with the fingerprint of the raw `body`. O(bytes)."""
        fingerprint = blake2b(body, digest_size=FINGERPRINT_BYTES).digest()
        return Idempotency(self.producer, self.key, fingerprint, self.epoch, self.layout)


def producer_of(headers: RawHeaders) -> ProducerHeaders | None:
    """Return the values of the headers, or None without any of them. Names are in lower case, and each of
    the four is there once at most. Raises `RequestRefused` 400."""
    values = {name: value for name, value in headers if name in _NAMES}
    if not values:
        return None
    key, producer, epoch, layout = map(values.get, _NAMES)
    if key is None or producer is None:
        missing = [
            name for given, name in _NAMES.items() if name in (_KEY, _PRODUCER) and given not in values
        ]
        given = next(name for raw, name in _NAMES.items() if raw in values)
        verb = "is" if len(missing) == 1 else "are"
        raise _refusal(
            missing[0], f"{' and '.join(missing)} {verb} missing: {given} needs a key and a producer"
        )
    return ProducerHeaders(
        _name(producer, _PRODUCER),
        _name(key, _KEY),
        None if epoch is None else _epoch(epoch.decode("latin-1")),
        None if layout is None else compact_name(layout),
    )


def idempotency_of(headers: RawHeaders, body: bytes, server_chooses: bool) -> Idempotency | None:  # noqa: FBT001
    """Return the idempotency of an append with these headers and this raw body, or None without a key.

    `server_chooses` is true if the server chooses all ids. Raises `RequestRefused` 400, also if the client
    chooses an id and names no epoch: a key without an epoch expires by the time in the first id, which can be
    any time. O(bytes).
    """
    producer = producer_of(headers)
    if producer is None:
        return None
    if not server_chooses and producer.epoch is None:
        raise RequestRefused(
            ErrorCode.INVALID_ARGUMENT,
            f"{_KEY} can be used with ids of your own only if {_EPOCH} is set: omit `id`, or set it",
        )
    return producer.idempotency(body)


def stored_producer(producer: bytes) -> bytes:
    """Return a producer, or a layout, as the engine stores it."""
    return compact_name(producer)


def _name(name: bytes, header: str) -> bytes:
    """Return the header's value as the engine stores it: at least one byte of any value."""
    if not name:
        raise RequestRefused(HttpCode.INVALID_NAME, f"{header} is empty; it must have at least one byte")
    return compact_name(name)


def _epoch(text: str) -> int:
    if not _DECIMAL.fullmatch(text) or int(text) > I64_MAX:
        raise _refusal(_EPOCH, f"{_EPOCH} must be an integer from 0 to {I64_MAX}, not {shown(text)}")
    return int(text)


def _refusal(header: str, detail: str) -> RequestRefused:
    errors = [{"parameter": header, "in": "header", "detail": detail}]
    return RequestRefused(HttpCode.INVALID_PARAMETER, detail, errors=errors)


# --- how they are documented -----------------------------------------------------------------------


def _header(name: str, description: str, **schema: object) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


PRODUCER_HEADERS: Final = [
    _header(
        _KEY,
        "The idempotency key of the append. A repeated request with the same key and body appends nothing "
        "and returns the ids of the first one.",
        type="string",
        examples=["batch-17"],
    ),
    _header(
        _PRODUCER,
        f"The producer that the key belongs to; required with `{_KEY}`.",
        type="string",
        examples=["timing-gate-1"],
    ),
    _header(
        _EPOCH,
        "The producer's epoch. The stream remembers the keys of this epoch and the previous one without a "
        "time limit. An older epoch fails with 409.",
        type="integer",
        minimum=0,
        maximum=I64_MAX,
        examples=[1],
    ),
    _header(
        _LAYOUT,
        "How the producer splits its batches. The first request of an epoch fixes it; another layout in the "
        "same epoch fails with 409.",
        type="string",
        examples=["4 partitions"],
    ),
]
