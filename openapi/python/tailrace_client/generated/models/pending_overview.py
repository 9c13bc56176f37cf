from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.pending_of_consumer import PendingOfConsumer


T = TypeVar("T", bound="PendingOverview")


@_attrs_define
class PendingOverview:
    """A summary of the pending entries of a group.

    Example:
        {'count': 2, 'min_id': '1692632086370-0', 'max_id': '1692632094485-0', 'consumers': [{'name': 'alice',
            'pending': 2}]}

    """

    count: int
    """ How many entries are pending in the group. """
    min_id: None | str
    """ The smallest pending id; null if no entry is pending. """
    max_id: None | str
    """ The greatest pending id; null if no entry is pending. """
    consumers: list[PendingOfConsumer]
    """ Consumers that have pending entries, in byte order of their names. """

    def to_dict(self) -> dict[str, Any]:
        count = self.count

        min_id: None | str
        min_id = self.min_id

        max_id: None | str
        max_id = self.max_id

        consumers = []
        for consumers_item_data in self.consumers:
            consumers_item = consumers_item_data.to_dict()
            consumers.append(consumers_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "count": count,
                "min_id": min_id,
                "max_id": max_id,
                "consumers": consumers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pending_of_consumer import PendingOfConsumer  # noqa: PLC0415

        d = dict(src_dict)
        count = d.pop("count")

        def _parse_min_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        min_id = _parse_min_id(d.pop("min_id", None))

        def _parse_max_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        max_id = _parse_max_id(d.pop("max_id", None))

        consumers = []
        _consumers = d.pop("consumers")
        for consumers_item_data in _consumers:
            consumers_item = PendingOfConsumer.from_dict(consumers_item_data)

            consumers.append(consumers_item)

        pending_overview = cls(
            count=count,
            min_id=min_id,
            max_id=max_id,
            consumers=consumers,
        )

        return pending_overview
