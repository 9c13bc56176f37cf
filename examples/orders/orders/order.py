"""An order, and its form as the fields of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class BadOrder(ValueError):
    """The entry is not an order. No retry can help."""


@dataclass(frozen=True)
class Order:
    """One order. `number` identifies it in all streams, so that no step processes it twice."""

    number: str
    customer: str
    item: str
    cents: int

    def to_fields(self) -> dict[str, str]:
        """Return the fields of an entry. Values are text, so the amount is converted here."""
        return {
            "number": self.number,
            "customer": self.customer,
            "item": self.item,
            "cents": str(self.cents),
        }

    @staticmethod
    def from_fields(fields: Mapping[str, str]) -> Order:
        """Return the order of an entry. Raises `BadOrder`."""
        try:
            return Order(fields["number"], fields["customer"], fields["item"], int(fields["cents"]))
        except KeyError as missing:
            raise BadOrder(f"the order has no field {missing}") from None
        except ValueError:
            raise BadOrder(f"the amount is {fields['cents']!r}; it must be a number of cents") from None
