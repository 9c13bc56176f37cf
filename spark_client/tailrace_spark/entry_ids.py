"""Entry ids and their order: `ms-seq`, two unsigned 64-bit integers, which compare as a pair of numbers.

This module only computes.
"""

from __future__ import annotations

from typing import Final

SEQ_MAX: Final = (1 << 64) - 1
NUMBER_MAX: Final = (1 << 64) - 1
ZERO_ID: Final = "0-0"
LAST_POSSIBLE_ID: Final = f"{NUMBER_MAX}-{SEQ_MAX}"


def just_below(entry_id: str) -> str:
    """Return the greatest id below this one; `0-0`, which no entry has, stays the same."""
    ms, seq = parsed(entry_id)
    if seq:
        return f"{ms}-{seq - 1}"
    return f"{ms - 1}-{SEQ_MAX}" if ms else ZERO_ID


def just_above(entry_id: str) -> str:
    """Return the least id above this one."""
    ms, seq = parsed(entry_id)
    return f"{ms}-{seq + 1}" if seq < SEQ_MAX else f"{ms + 1}-0"


def later(one: str, other: str) -> str:
    """Return the greater of two ids."""
    return max(one, other, key=parsed)


def earlier(one: str, other: str) -> str:
    """Return the lesser of two ids."""
    return min(one, other, key=parsed)


def parsed(entry_id: str) -> tuple[int, int]:
    """Return an id as a pair of numbers that compares as ids do."""
    ms, _, seq = entry_id.partition("-")
    return int(ms), int(seq)
