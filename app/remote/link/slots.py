"""Slots: the part of a Cluster that a key belongs to. One function; it knows no node."""

from __future__ import annotations

from binascii import crc_hqx
from typing import Final

SLOTS: Final = 16384


def slot_of(key: bytes) -> int:
    """Return the slot of a key: CRC16 of its hash tag if it has one that is not empty, else of the whole
    key."""
    start = key.find(b"{")
    if start >= 0:
        end = key.find(b"}", start + 1)
        if end > start + 1:
            key = key[start + 1 : end]
    return crc_hqx(key, 0) % SLOTS
