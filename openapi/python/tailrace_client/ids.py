"""Entry ids as far as a client compares them: `ms-seq`, both unsigned 64-bit. Their rules are the
server's."""

from __future__ import annotations

from typing import Final

SEQ_MAX: Final = (1 << 64) - 1


def lesser_end(last_id: str, end: str) -> str:
    """The end of a range that ends at `end`, but at `last_id` if that comes first."""
    if end == "+" or _position(last_id) < _position(end.removeprefix("(")):
        return last_id
    return end


def _position(bound: str) -> tuple[int, int]:
    """A time alone ends with all of its sequences."""
    ms, _, seq = bound.partition("-")
    return int(ms), int(seq) if seq else SEQ_MAX
