"""Idempotency keys: from request headers and the body's bytes to what the engine remembers.

It owns the four headers and the fingerprint. What a repeated key means is the engine's business. The
headers are read by hand and documented below: in a hot request declared ones cost as much as the rest.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from starlette.datastructures import Headers

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

PRODUCER_HEADER_NAMES: Final = frozenset(name.lower().encode() for name in (_KEY, _PRODUCER, _EPOCH, _LAYOUT))
"""As they are in a parsed head."""

_DECIMAL: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


class ProducerHeaders(NamedTuple):
    """What the headers say of the producer, checked."""

    producer: bytes
    key: bytes
    epoch: int | None
    layout: bytes | None

    def idempotency(self, body: bytes) -> Idempotency:
        """The engine's form of it, for a request with this raw `body`. O(bytes)."""
        fingerprint = blake2b(body, digest_size=FINGERPRINT_BYTES).digest()
        return Idempotency(self.producer, self.key, fingerprint, self.epoch, self.layout)


def producer_of(headers: Headers) -> ProducerHeaders | None:
    """What the headers say, or None where they name no key. Raises `RequestRefused` 400."""
    key, producer = headers.get(_KEY), headers.get(_PRODUCER)
    epoch, layout = headers.get(_EPOCH), headers.get(_LAYOUT)
    if key is None and producer is None and epoch is None and layout is None:
        return None
    if key is None or producer is None:
        missing = [name for name in (_KEY, _PRODUCER) if name not in headers]
        given = next(name for name in (_KEY, _PRODUCER, _EPOCH, _LAYOUT) if name in headers)
        verb = "is" if len(missing) == 1 else "are"
        raise _refusal(
            missing[0], f"{' and '.join(missing)} {verb} missing: {given} needs a key and a producer"
        )
    return ProducerHeaders(
        _name(producer, _PRODUCER),
        _name(key, _KEY),
        None if epoch is None else _epoch(epoch),
        None if layout is None else compact_name(layout.encode("latin-1")),
    )


def idempotency_of(headers: Headers, body: bytes, server_chooses: bool) -> Idempotency | None:  # noqa: FBT001
    """What an append with these headers and this raw body asks for, None where it names no key.

    `server_chooses`: all ids. Raises `RequestRefused`, also where a client chose an id.
    """
    producer = producer_of(headers)
    if producer is None:
        return None
    if not server_chooses:
        raise RequestRefused(
            ErrorCode.INVALID_ARGUMENT,
            f"{_KEY} can be used only with ids that the server chooses: omit `id`, or omit the header",
        )
    return producer.idempotency(body)


def _name(text: str, header: str) -> bytes:
    """The header's value as the engine keeps it: any bytes, at least one."""
    if not text:
        raise RequestRefused(HttpCode.INVALID_NAME, f"{header}: at least one byte is needed")
    return compact_name(text.encode("latin-1"))


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
        "The same key again, with the same body, appends nothing and answers the first ids.",
        type="string",
        examples=["batch-17"],
    ),
    _header(_PRODUCER, f"Whose key it is; needed with `{_KEY}`.", type="string", examples=["timing-gate-1"]),
    _header(
        _EPOCH,
        "Keys are kept for this epoch and the one before, whatever the time; an older epoch is a 409.",
        type="integer",
        minimum=0,
        maximum=I64_MAX,
        examples=[1],
    ),
    _header(
        _LAYOUT,
        "Pinned by the first request of an epoch; another one in that epoch is a 409.",
        type="string",
        examples=["4 partitions"],
    ),
]
