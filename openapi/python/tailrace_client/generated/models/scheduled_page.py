from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.scheduled_entry import ScheduledEntry


T = TypeVar("T", bound="ScheduledPage")


@_attrs_define
class ScheduledPage:
    """A page of scheduled entries, in the order in which they are appended.

    Example:
        {'scheduled': [{'scheduled_id': 's1692632207973-1692632147973000', 'deliver_at_ms': 1692632207973, 'fields':
            {'rider': 'Castilla', 'speed': '29.9', 'position': '1', 'location_id': '2'}}], 'next': None}

    """

    scheduled: list[ScheduledEntry]
    """ The entries, by time; entries of equal time in the order of their requests. """
    next_: None | str
    """ Send it as `after` for the next page; null on the last page. """

    def to_dict(self) -> dict[str, Any]:
        scheduled = []
        for scheduled_item_data in self.scheduled:
            scheduled_item = scheduled_item_data.to_dict()
            scheduled.append(scheduled_item)

        next_: None | str
        next_ = self.next_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "scheduled": scheduled,
                "next": next_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.scheduled_entry import ScheduledEntry  # noqa: PLC0415

        d = dict(src_dict)
        scheduled = []
        _scheduled = d.pop("scheduled")
        for scheduled_item_data in _scheduled:
            scheduled_item = ScheduledEntry.from_dict(scheduled_item_data)

            scheduled.append(scheduled_item)

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next", None))

        scheduled_page = cls(
            scheduled=scheduled,
            next_=next_,
        )

        return scheduled_page
