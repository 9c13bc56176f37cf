"""The server's part of a checkpoint as bytes: its settings, and how many streams there are.

This module never reads or writes a file.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tailrace.core.keyspace import Keyspace

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.decode


class Totals(msgspec.Struct, frozen=True):
    """The server's part of a checkpoint."""

    seq: int
    """The number of the last journal row that the checkpoint covers."""
    stream_count: int
    """The number of streams in the checkpoint: recovery must find as many."""
    last_serial: int
    """The greatest serial ever used."""
    config: dict[str, int]
    """The settings of CONFIG GET."""


def encode_totals(keyspace: Keyspace, seq: int) -> bytes:
    """Return the totals of `keyspace` as of journal row `seq`."""
    return _encode(Totals(seq, len(keyspace.streams), keyspace.last_serial, keyspace.config))


def decode_totals(raw: bytes) -> Totals:
    """Return the totals: the inverse of `encode_totals`."""
    return _decode(raw, type=Totals)
