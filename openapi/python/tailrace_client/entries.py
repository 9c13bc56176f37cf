"""What reads give, and how it comes out of JSON that has been parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from tailrace_client.fields import Fields, fields_of

Entry: TypeAlias = tuple[str, Fields]
"""An id and its fields."""


class Delivery(Protocol):
    """An entry as a group gave it."""

    @property
    def id(self) -> str:
        """The entry's id."""
        ...

    @property
    def fields(self) -> Fields | None:
        """None where it was deleted while it was pending."""
        ...

    @property
    def idle_ms(self) -> int:
        """How long ago it was delivered last; 0 for a new entry."""
        ...

    @property
    def deliveries(self) -> int:
        """How often it was delivered before this time; 0 for a new entry."""
        ...


class Slice(NamedTuple):
    """What one stream gave to a read. `next`: where to read on."""

    entries: list[Delivery]
    next: str


MakeDelivery: TypeAlias = Callable[[str, Fields | None, int, int], Delivery]


def entry_of(value: Mapping[str, Any]) -> Entry:
    """One entry."""
    return value["id"], fields_of(value)


def slices_of_page(page: Mapping[str, Any], make: MakeDelivery) -> list[Slice]:
    """The answer of a group's read."""
    return [
        Slice([_delivery_of(entry, make) for entry in part["entries"]], part["next"])
        for part in page["streams"]
    ]


def _delivery_of(value: Mapping[str, Any], make: MakeDelivery) -> Delivery:
    fields = None if value.get("deleted") else fields_of(value)
    return make(value["id"], fields, value["idle_ms"], value["deliveries"])
