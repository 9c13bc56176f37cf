"""Wire model of the limits of groups that deliver in order by key, a part of all limits of the server."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from tailrace.core import order_limits


def _bound(value: int, description: str) -> Any:
    return Field(value, description=description, examples=[value])


class OrderLimits(BaseModel):
    """The limits of groups with `order_by`."""

    held_entries_max: int = _bound(
        order_limits.HELD_ENTRIES_MAX,
        "Entries that a group with `order_by` holds back. At this number it reads no further until one of "
        "them is delivered or deleted.",
    )
    keys_in_flight_max: int = _bound(
        order_limits.KEYS_IN_FLIGHT_MAX,
        "Entries with a value of `order_by` that a group has in flight. At this number it delivers no "
        "further ones until some are acknowledged.",
    )
    ordered_entries_max: int = _bound(
        order_limits.ORDERED_ENTRIES_MAX,
        "Pending and held entries of a group for which `order_by` can be set or changed.",
    )
