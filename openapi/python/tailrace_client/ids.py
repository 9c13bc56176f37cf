"""Comparison of entry ids in the client. An id is `ms-seq`, both unsigned 64-bit integers. The server owns
the rules for ids."""

from __future__ import annotations

from typing import Final

SEQ_MAX: Final = (1 << 64) - 1


def lesser_end(last_id: str, end: str) -> str:
    """Return the end of a range that ends at `end`, or at `last_id` if that is lower."""
    if end == "+" or _position(last_id) < _position(end.removeprefix("(")):
        return last_id
    return end


def _position(bound: str) -> tuple[int, int]:
    """Return a bound as a pair of numbers. A time without a sequence includes all of its sequences."""
    ms, _, seq = bound.partition("-")
    return int(ms), int(seq) if seq else SEQ_MAX
