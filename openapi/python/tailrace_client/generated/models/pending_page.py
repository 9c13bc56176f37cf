from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.pending_item import PendingItem


T = TypeVar("T", bound="PendingPage")


@_attrs_define
class PendingPage:
    """A page of pending entries, in id order.

    Example:
        {'pending': [{'id': '1692632086370-0', 'consumer': 'alice', 'idle_ms': 60000, 'deliveries': 1,
            'delivered_at_ms': 1692632087973}], 'next': '1692632086370-0'}

    """

    pending: list[PendingItem]
    """ The pending entries. """
    next_: None | str
    """ The id of the last entry: send `start=(next` for the next page. Null if the page is not full. """

    def to_dict(self) -> dict[str, Any]:
        pending = []
        for pending_item_data in self.pending:
            pending_item = pending_item_data.to_dict()
            pending.append(pending_item)

        next_: None | str
        next_ = self.next_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pending": pending,
                "next": next_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pending_item import PendingItem  # noqa: PLC0415

        d = dict(src_dict)
        pending = []
        _pending = d.pop("pending")
        for pending_item_data in _pending:
            pending_item = PendingItem.from_dict(pending_item_data)

            pending.append(pending_item)

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next", None))

        pending_page = cls(
            pending=pending,
            next_=next_,
        )

        return pending_page
