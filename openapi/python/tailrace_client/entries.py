"""The entries that reads return, their conversion from parsed JSON, and the comparison of their ids.

An id is `ms-seq`, both unsigned 64-bit integers. The server owns the rules for ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from tailrace_client.fields import Fields, fields_of

Entry: TypeAlias = tuple[str, Fields]
"""The id of an entry and its fields."""


class Delivery(Protocol):
    """An entry as a group delivered it."""

    @property
    def id(self) -> str:
        """The id of the entry."""
        ...

    @property
    def fields(self) -> Fields | None:
        """The fields; None if the entry was deleted while it was pending."""
        ...

    @property
    def idle_ms(self) -> int:
        """The time since the previous delivery; 0 for a new entry."""
        ...

    @property
    def deliveries(self) -> int:
        """The number of earlier deliveries; 0 for a new entry."""
        ...


class Slice(NamedTuple):
    """The entries that a read returned from one stream. `next`: the position to continue from."""

    entries: list[Delivery]
    next: str


MakeDelivery: TypeAlias = Callable[[str, Fields | None, int, int], Delivery]


def entry_of(value: Mapping[str, Any]) -> Entry:
    """Return one entry."""
    return value["id"], fields_of(value)


def slices_of_page(page: Mapping[str, Any], make: MakeDelivery) -> list[Slice]:
    """Return the slices of the response to a group's read."""
    return [
        Slice([_delivery_of(entry, make) for entry in part["entries"]], part["next"])
        for part in page["streams"]
    ]


def _delivery_of(value: Mapping[str, Any], make: MakeDelivery) -> Delivery:
    fields = None if value.get("deleted") else fields_of(value)
    return make(value["id"], fields, value["idle_ms"], value["deliveries"])


# --- ids ----------------------------------------------------------------------------------------


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
