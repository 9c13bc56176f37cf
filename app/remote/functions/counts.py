"""Delivery counts near the greatest one, as the library stores them on an engine without XNACK.

Such an engine adds one to the greatest count without a check, and functions have no exact numbers above 2^53.
So the library stores the greatest count as a lower number, `_STORED_MAX`, and the counts just below it as the
numbers just below that one. Deliveries by the engine itself can add to it; numbers above it stand for the
greatest count, too. An engine with XNACK stores counts as they are. This module sends nothing.
"""

from __future__ import annotations

from typing import Final

from tailrace.core.deliveries import DELIVERIES_MAX

_STORED_MAX: Final = 9_007_000_000_000_000
"""The number that stands for the greatest count; 199 254 740 991 deliveries can add to it."""

_DISTANCE_MAX: Final = 30_000_000_000
"""How far below the greatest a count is kept exactly. Each XNACK SILENT takes an entry one further."""

_STORED_NEAR: Final = _STORED_MAX - _DISTANCE_MAX
"""The first number that stands for a count near the greatest."""

_INEXACT: Final = 1 << 53
"""From this number on, a stored count stands for itself. Only an engine with XNACK, or another client, stores
such a count."""


def stored_deliveries(count: int) -> int:
    """Return the number that the library stores for a count that a client chose.

    A count that is neither below `_STORED_NEAR` nor near the greatest is stored as `_STORED_NEAR`.
    """
    if count < _STORED_NEAR:
        return count
    return max(_STORED_MAX - (DELIVERIES_MAX - count), _STORED_NEAR)


def visible_deliveries(stored: int) -> int:
    """Return the count that a stored number stands for."""
    if not _STORED_NEAR <= stored < _INEXACT:
        return stored
    return DELIVERIES_MAX - max(_STORED_MAX - stored, 0)
