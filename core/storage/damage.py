"""Checksums around every stored value, and the error that names a value that is not what was stored."""

from __future__ import annotations

from typing import Final
from zlib import crc32

CHECKSUM_BYTES: Final = 4
"""How many of them stand before a body."""


class Damage(Exception):
    """The data directory holds something that was not written so; the text says where and what."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


def sealed(body: bytes, *context: bytes) -> bytes:
    """`body` with a checksum over it and over `context`: the columns under which it is filed."""
    return _checksum(body, context) + body


def opened(raw: object, where: str, *context: bytes) -> bytes:
    """The body that `sealed` made; raises `Damage` naming `where`."""
    if not isinstance(raw, bytes) or len(raw) < CHECKSUM_BYTES:
        raise Damage(where, "not a value of the right kind")
    body = raw[CHECKSUM_BYTES:]
    if raw[:CHECKSUM_BYTES] != _checksum(body, context):
        raise Damage(where, "the checksum does not match")
    return body


def _checksum(body: bytes, context: tuple[bytes, ...]) -> bytes:
    value = crc32(body)
    for part in context:
        value = crc32(part, value)
    return value.to_bytes(CHECKSUM_BYTES, "big")
